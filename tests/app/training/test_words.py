from dataclasses import replace

import numpy as np
import pytest

from decorrupt import check_assumptions
from decorrupt.app.training.assumptions import (
    accuracy_in_words,
    baseline_warnings,
    in_words,
    only_possible,
    with_names,
)

EXPECTED = {"value": 0.8, "low": 0.7, "high": 0.9, "level": 0.95, "basis": "corrected"}
EXPECTED |= {"method": "mean_map", "constant": 0.5, "group_rate": 0.6}


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    labels = rng.random(300) < 1 / (1 + np.exp(-2 * X[:, 0]))
    bags = np.argsort(np.argsort(X[:, 0])) // 20
    found = check_assumptions(X, (np.bincount(bags, labels) / 20)[bags], bags=bags, random_state=0)
    return replace(found, column_names=("income", "age"))


def test_words_name_columns_and_methods(report):
    classes, counts, methods = in_words(report)
    assert classes.endswith("no, bags differ most in income (p = 0.005)")
    assert "not contradicted" in counts
    assert methods.startswith("Methods that this allows: count likelihood, proportion matching")


def test_few_bags_cannot_be_tested(report):
    words = in_words(replace(report, class_means=None, count_dispersion=None))
    assert [line.endswith("not testable with these bags") for line in words] == [
        True,
        True,
        False,
    ]


def test_names_replace_column_numbers(report):
    assert with_names("means of column 1 differ", report) == "means of age differ"


def test_accuracy_and_baseline(report):
    words = accuracy_in_words(EXPECTED, report, 2)
    assert "0.800 (95% interval 0.700 to 0.900), estimated from the proportions" in words[0]
    assert words[1].endswith("0.600 in known bags, the same answer for all rows 0.5")


def test_accuracy_from_the_model_is_labelled_with_the_test_beside_it(report):
    words = accuracy_in_words(EXPECTED | {"basis": "model"}, report, 2)
    assert "not a confidence interval), a rough guide" in words[0]
    assert "own calibrated probabilities" in words[0]
    assert "if (B) holds, which is not contradicted (p =" in words[0]
    assert words[1].endswith("they need (A): bags differ most in income")


def test_an_impossible_estimate_contradicts_the_assumption(report):
    accepted = replace(report, class_means=replace(report.class_means, p_value=0.5))
    words = accuracy_in_words(EXPECTED | {"basis": "model"}, accepted, 2)
    assert "outside the possible range; bags differ most in income" in words[1]


@pytest.mark.parametrize(
    ("changed", "n_said", "word"),
    [
        ({}, 0, ""),
        ({"low": 0.49}, 1, "not clearly better than chance"),
        ({"group_rate": 0.81}, 1, "the rate of their own bag gives 0.810"),
        ({"low": 0.3, "constant": 1 / 3}, 1, "mean recall"),
    ],
)
def test_warnings_on_baselines(changed, n_said, word):
    said = baseline_warnings(EXPECTED | changed, 3 if "constant" in changed else 2)
    assert len(said) == n_said
    assert word in " ".join(said)


def test_only_possible_estimates_are_shown():
    names = ("corrected_accuracy", "corrected_risk", "proportion_risk")
    values = zip(names, (1.03, -0.02, 0.2), strict=True)
    results = {"criteria": {name: {"value": v, "std_error": 0.1} for name, v in values}}
    results["calibration"] = ["bin"]
    kept = only_possible(results, EXPECTED)
    assert [kept["criteria"][name]["value"] for name in names] == [1.0, 0.0, 0.2]
    assert kept["calibration"] == ["bin"]
    kept = only_possible(results, EXPECTED | {"basis": "model"})
    assert [kept["criteria"][name]["value"] for name in names] == [None, None, 0.2]
    assert kept["calibration"] == []
    assert results["criteria"]["corrected_risk"]["value"] == -0.02, "the input is unchanged"
