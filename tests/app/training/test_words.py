"""Sentences about assumptions, accuracy and limits of use, with the user's names of columns."""

import numpy as np
import pandas as pd
import pytest

from decorrupt.app.training.columns import choose_features
from decorrupt.app.training.held_out import checks_of, column_of_features, without_assumed
from decorrupt.app.training.preprocess import make_preprocessor, prepare
from decorrupt.app.training.words import (
    classes_sentence,
    limits_of_use,
    method_sentence,
    warnings_on_bags,
    warnings_on_sources,
)
from decorrupt.assumptions import check_observed_assumptions
from decorrupt.observed import Observed, class_columns
from helpers.model_dicts import assumptions, model_card, source_card, verdict


def checks(*, classes, chances, **others):
    return assumptions() | {"classes_differ": classes, "chances_differ": chances} | others


@pytest.mark.parametrize(
    ("classes", "chances", "words"),
    [
        (True, True, "one method tolerates both, count likelihood with a bag effect"),
        (True, False, "mean map and corrected loss do not tolerate this"),
        (True, None, "mean map and corrected loss do not tolerate this"),
        (False, True, "auto uses methods that tolerate this"),
        (None, True, "auto uses methods that tolerate this"),
        (False, False, "all methods can be used"),
        (None, None, "what could not be tested can fail: auto compares the methods on held-out"),
        (None, False, "what could not be tested can fail"),
        (False, None, "what could not be tested can fail"),
    ],
)
def test_what_the_tests_mean_for_the_method(classes, chances, words):
    assert method_sentence(checks(classes=classes, chances=chances)).startswith(words)


def fitted_preprocessor(frame):
    features = choose_features(frame, roles=[])
    prepared = prepare(frame, features.columns)
    return make_preprocessor(features.columns, len(frame)).fit(prepared), prepared


def test_features_have_the_names_of_the_users_columns():
    """Levels, rare levels, missing values, and names that begin with another name."""
    n_rows = 200
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(size=n_rows),
            "age_group": rng.choice(["18_30", "31"], n_rows),
            "sex": rng.choice(["Female", "Male"], n_rows),
            "sex_at_birth": rng.choice(["Female", "Male"], n_rows),
            "dest": ["Paris"] * 99 + ["Rome"] * 99 + ["Bonn", "Linz"],
            "missingindicator_x": rng.normal(size=n_rows),
            "x__y": rng.normal(size=n_rows),
            "member": rng.random(n_rows) < 0.5,
        }
    )
    frame.loc[:20, ["age", "missingindicator_x", "sex"]] = None
    transformer, prepared = fitted_preprocessor(frame)
    found = column_of_features(transformer)
    matrix = transformer.transform(prepared)
    assert len(found) == matrix.shape[1]
    assert set(found) == set(frame)
    n_features = {name: found.count(name) for name in frame}
    # Numbers: value and missing indicator; categories: one per level, rare or missing.
    assert n_features == {
        "age": 2,
        "age_group": 2,
        "sex": 3,
        "sex_at_birth": 2,
        "dest": 3,
        "missingindicator_x": 2,
        "x__y": 1,
        "member": 1,
    }
    for place, name in enumerate(found):
        if name in ("sex", "age_group", "sex_at_birth", "dest"):
            by_level = pd.crosstab(frame[name].fillna("none"), matrix[:, place])
            assert (by_level > 0).sum(axis=1).max() == 1, f"feature {place} is not of {name}"


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("sex", ("Female", "Male")),
        ("age_group", ("30_40", "40_50")),
        ("dest", ("common", "infrequent_sklearn")),
        ("income", (1.0, None)),
    ],
)
def test_the_column_that_differs_is_named_as_the_user_wrote_it(column, values):
    """Bags differ in one column only, of any kind; the name has no level and no suffix."""
    rng, n_bags, size = np.random.default_rng(0), 20, 30
    bag = np.repeat(np.arange(n_bags), size)
    choice = (rng.random(len(bag)) < np.where(bag % 2, 0.9, 0.1)[:]).astype(int)
    frame = pd.DataFrame({"age": rng.normal(size=len(bag)), "other": rng.normal(size=len(bag))})
    frame[column] = np.array(values, dtype=object)[choice]
    if column == "income":
        frame[column] = frame[column].astype(float) * rng.normal(size=len(bag))
    labels = rng.random(len(bag)) < 0.3 + 0.4 * rng.random(n_bags)[bag]
    shares = class_columns(np.bincount(bag, labels) / size)
    observed = Observed(np.array([0, 1]), np.arange(n_bags), bag, shares)
    transformer, prepared = fitted_preprocessor(frame)
    report = check_observed_assumptions(
        transformer.transform(prepared), observed, None, random_state=0
    )
    found = checks_of(report, transformer)
    assert found["classes_differ"]
    assert found["columns"][0] == column
    assert len(set(found["columns"])) == len(found["columns"]) <= 3
    assert classes_sentence(found).endswith(f"mostly in {' and '.join(found['columns'])}")


def card_of_bags(**changes):
    card = model_card() | {"bag_column": "ward", "diagnostics": None}
    card["assumptions"] = checks(classes=False, chances=False)
    for name, entries in changes.items():
        card[name] = (card[name] or {}) | entries
    return card


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"assumptions": {"classes_differ": None, "chances_differ": True, "bag_effect": 0.1}},
            "about 10 points",
        ),
        (
            {"expected": {"better_than_group_rate": 0.5}},
            "guessing each row by its ward scores 0.654",
        ),
        ({"bags": {"effective_sample_size": 12.3}}, "worth about 12 labelled rows"),
        ({"diagnostics": {"is_convex": False}}, "several minima"),
        ({"assumptions": {"classes_differ": True}}, "mean-map is wrong for groups that differ"),
    ],
)
def test_one_warning_for_each_finding_on_bags(changes, words):
    assert warnings_on_bags(card_of_bags()) == []
    (warning,) = warnings_on_bags(card_of_bags(**changes))
    assert words in warning


def test_no_warning_where_it_does_not_apply():
    suited = {"method": {"chosen": "count_likelihood"}, "assumptions": {"classes_differ": True}}
    assert warnings_on_bags(card_of_bags(**suited)) == []
    mixtures = {"classes_differ": False, "chances_differ": True, "bag_effect": 0.17}
    assert warnings_on_bags(card_of_bags(assumptions=mixtures)) == [], "as it must be"
    card = card_of_bags(bags={"effective_sample_size": 1.0})
    card["class_shares"] = dict.fromkeys("abc", 1 / 3)
    assert warnings_on_bags(card) == [], "for several classes it describes the mean map only"
    del card["assumptions"]
    assert warnings_on_bags(card) == [], "of inexact counts"


def test_other_warnings_on_sources():
    card = source_card() | {"noise_rates": "estimated"}
    card["sources"]["effective_sample_size"] = 20.0
    estimated, few = warnings_on_sources(card)
    assert "estimated from the labels" in estimated
    assert "worth about 20 clean ones" in few


@pytest.mark.parametrize("word", ["usable", "do not use"])
def test_limits_of_use(word):
    card = model_card() | {"verdict": verdict(word)}
    limits = limits_of_use(card)
    assert ("until an evaluation shows that it beats chance" in limits) == (word == "do not use")
    assert any("the rows of a class look different" in limit for limit in limits)
    assert any("share of positives is not near 41.0%" in limit for limit in limits)
    assert "12 training rows" in limits[-1]
    card["method"] |= {"chosen": "count_likelihood", "n_landmarks": 0}
    limits = limits_of_use(card)
    assert any("P(class | columns) differs from training" in limit for limit in limits)
    assert "decorrupt evaluate" in limits[-1]


def test_limits_of_models_of_sources_and_several_classes():
    card = source_card() | {"class_shares": dict.fromkeys("abc", 1 / 3)}
    limits = limits_of_use(card)
    assert "for sources with noise rates other than in training" in limits[0]
    assert any("shares of the classes are not near" in limit for limit in limits)


@pytest.mark.parametrize("differ", [True, None, False])
def test_a_calibration_that_assumes_common_classes_needs_a_test_that_passed(differ):
    results = {"criteria": {}, "calibration": ["bin"]}
    kept = without_assumed(results, checks(classes=differ, chances=False))
    assert kept["calibration"] == (["bin"] if differ is False else [])
    assert results["calibration"] == ["bin"], "the input is unchanged"
    assert without_assumed(results, None)["calibration"] == []
