"""Verdicts on cards made by hand, and the number of labels that would show the accuracy."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decorrupt.app.training.columns import choose_features
from decorrupt.app.training.held_out import column_of_features, without_assumed
from decorrupt.app.training.preprocess import make_preprocessor, prepare
from decorrupt.app.training.verdict import (
    AVOID,
    CHECK,
    FEWEST_LABELS,
    HALF_WIDTH,
    USABLE,
    judge_bags,
    judge_labels,
    judge_model,
    judge_new_bags,
    judge_sources,
    labels_needed,
)
from decorrupt.app.training.words import (
    limits_of_use,
    method_sentence,
    warnings_on_bags,
    warnings_on_sources,
)
from helpers.model_dicts import (
    assumptions,
    bag_summary,
    class_result,
    evaluation,
    expected,
    measured,
    model_card,
    source_card,
    source_summary,
    verdict,
)

FINE = {"classes_differ": False, "chances_differ": False}


def good_card(**changes):
    """Return the card of a usable model, with changes of its entries."""
    card = model_card()
    card["assumptions"] |= FINE
    for name, entries in changes.items():
        card[name] = card[name] | entries if isinstance(entries, dict) else entries
    return card


def verdict_of(card):
    found = judge_model(card)
    return found["word"], found["why"]


NONE = {"value": 0.48, "low": 0.4, "high": 0.6, "evidence": "none"}
WEAK = {"low": 0.5, "evidence": "weak"}


@pytest.mark.parametrize(
    ("changes", "word", "why"),
    [
        ({}, USABLE, "the bags show that it is better than guessing"),
        ({"expected": NONE}, AVOID, "probably not better than guessing"),
        ({"expected": WEAK}, CHECK, "do not show that it is better than guessing"),
        ({"assumptions": {"chances_differ": None}}, CHECK, "these bags cannot show whether"),
        ({"expected": {"low": 0.6, "high": 0.9}}, CHECK, "only known to lie between 0.60 and 0.90"),
        ({"expected": {"better_than_group_rate": 0.79}}, CHECK, "guessing each row by its bag"),
    ],
)
def test_what_is_against_a_model_of_bags(changes, word, why):
    found = verdict_of(good_card(**changes))
    assert found[0] == word
    assert why in found[1]


def test_inexact_counts_cannot_be_tested():
    card = good_card()
    del card["assumptions"]
    word, why = verdict_of(card)
    assert word == CHECK
    assert "the counts are not exact" in why


def test_unexplained_differences_between_bags_need_labels():
    """The posterior allows for other columns, but hardly for what no column shows."""
    columns = {"classes_differ": True, "chances_differ": False}
    assert verdict_of(good_card(assumptions=columns))[0] == USABLE
    effect = columns | {"chances_differ": True, "bag_effect": 0.07}
    word, why = verdict_of(good_card(assumptions=effect))
    assert word == CHECK
    assert "about 7 points for reasons that no column shows" in why
    mixtures = effect | {"classes_differ": False}
    assert verdict_of(good_card(assumptions=mixtures))[0] == USABLE


@pytest.mark.parametrize(
    ("found", "word"),
    [
        ({}, USABLE),
        ({"expected": expected() | WEAK}, CHECK),
        ({"assumptions": assumptions() | FINE | {"chances_differ": None}}, CHECK),
    ],
)
@pytest.mark.parametrize("card", [good_card(expected=WEAK), source_card()])
def test_new_bags_are_judged_as_those_of_training(card, found, word):
    bags = {"expected": expected(), "assumptions": assumptions() | FINE}
    found = bags | {"bag_summary": bag_summary()} | found
    assert judge_new_bags(card, found)["word"] == word


def test_several_classes_are_compared_with_their_own_guess():
    third = {"guessing": 1 / 3, "group_rate": 0.4}
    shares = {"class_shares": {"a": 0.3, "b": 0.3, "c": 0.4}}
    card = good_card(expected=third | {"value": 0.45, "low": 0.35, "high": 0.55}) | shares
    assert verdict_of(card)[0] == USABLE
    card = good_card(expected=third | {"value": 0.45, "low": 0.33, "high": 0.55}) | shares
    assert verdict_of(card)[0] == CHECK


@pytest.mark.parametrize(
    ("changes", "word", "why"),
    [
        ({}, USABLE, "the labels show that it is better than guessing"),
        ({"expected": NONE}, AVOID, "probably not better"),
        ({"expected": WEAK}, CHECK, "do not show that it is better"),
        ({"noise_rates": "estimated"}, CHECK, "the noise rates are estimates"),
    ],
)
def test_verdicts_on_models_of_sources(changes, word, why):
    card = source_card()
    for name, entries in changes.items():
        card[name] = card[name] | entries if isinstance(entries, dict) else entries
    found = verdict_of(card)
    assert found[0] == word
    assert why in found[1]


@pytest.mark.parametrize(
    ("value", "std_error", "word", "why"),
    [
        (0.8, 0.02, USABLE, "balanced accuracy 0.800 (0.760 to 0.840), guessing gives 0.5"),
        (0.6, 0.06, CHECK, "too few labels to tell: balanced accuracy 0.600"),
        (0.889, 0.135, CHECK, "too few labels to tell: balanced accuracy 0.889 (0.619 to 1.000)"),
        (0.48, 0.02, AVOID, "balanced accuracy 0.480 (0.440 to 0.520)"),
        (None, None, CHECK, "the labelled rows do not contain all classes"),
    ],
)
def test_verdicts_from_labels(value, std_error, word, why):
    labels = evaluation()["labels"]
    found = judge_labels(labels, measured(value, std_error))
    assert found["word"] == word
    assert found["why"].startswith(why) or why in found["why"]


def test_training_data_cannot_make_a_model_usable_that_labels_do_not():
    labels, few = evaluation()["labels"], measured(0.73, 0.12)
    found = judge_labels(labels, few, measured(0.8, 0.02))
    assert found["word"] == CHECK
    assert "0.730 (0.490 to 0.970)" in found["why"]
    found = judge_labels(labels, measured(0.76, 0.04), measured(0.79, 0.015))
    assert (found["word"], found["n_labels"]) == (USABLE, 0)
    assert "0.790 (0.760 to 0.820)" in found["why"]
    few = measured(0.875, 0.121)  # above guessing, but too few to tell more
    assert judge_labels(labels, few)["word"] == CHECK
    assert judge_labels(labels, few, measured(0.917, 0.018))["word"] == USABLE


def test_verdicts_from_labels_of_several_classes():
    labels = evaluation()["labels"]
    labels["classes"] = [class_result(name, 100, 100) for name in "abc"]
    labels["class_shares"] = dict.fromkeys("abc", 1 / 3)
    found = judge_labels(labels, measured(0.42, 0.03))
    assert found["word"] == USABLE
    assert "mean recall 0.420 (0.360 to 0.480), guessing gives 0.333" in found["why"]


@pytest.mark.parametrize(
    ("bags", "checks", "word", "why"),
    [
        ({}, FINE, USABLE, "the shares of the bags differ, they are worth about 74 labelled"),
        ({"effective_sample_size": 29.0}, FINE, CHECK, "differ little: they are worth about 29"),
        ({}, {"classes_differ": True, "columns": ["age"]}, USABLE, "mostly in age; `fit` uses"),
        (
            {},
            {"classes_differ": True, "columns": ["age"], "chances_differ": True},
            CHECK,
            "mostly in age",
        ),
        ({"n_bags": 4}, FINE, CHECK, "only 4 bags"),
        ({}, None, CHECK, "the counts are not exact"),
    ],
)
def test_verdicts_on_bags_before_training(bags, checks, word, why):
    checks = None if checks is None else assumptions() | FINE | checks
    found = judge_bags(bag_summary() | bags, checks)
    assert found["word"] == word
    assert why in found["why"]


@pytest.mark.parametrize(
    ("worth", "estimated", "word"),
    [(229.0, False, USABLE), (229.0, True, CHECK), (29.0, False, AVOID), (29.0, True, AVOID)],
)
def test_verdicts_on_sources_before_training(worth, estimated, word):
    found = judge_sources(source_summary() | {"effective_sample_size": worth}, estimated=estimated)
    assert found["word"] == word
    assert (f"worth about {worth:.0f}" in found["why"]) == (word != CHECK)


@pytest.mark.parametrize("accuracy", [0.6, 0.75, 0.9])
def test_labels_needed_are_those_of_a_binomial_interval(accuracy):
    """For balanced classes the variance is r(1−r)/n, that of one binomial share."""
    n_rows = 1.96**2 * accuracy * (1 - accuracy) / HALF_WIDTH**2
    assert n_rows <= labels_needed(accuracy, [0.5, 0.5]) < n_rows + 100


@pytest.mark.parametrize("accuracy", [0.6, 0.85])
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.8, 0.2), (0.6, 0.3, 0.1)])
def test_so_many_labels_show_the_accuracy(accuracy, shares):
    """95 % of the measured accuracies are within the promised half width."""
    rng, n_rows = np.random.default_rng(0), labels_needed(accuracy, list(shares))
    counts = rng.multinomial(n_rows, shares, size=4000)
    recalls = rng.binomial(counts, accuracy) / np.maximum(counts, 1)
    apart = np.abs(recalls.mean(axis=1) - accuracy)
    assert np.quantile(apart, 0.95) == pytest.approx(HALF_WIDTH, rel=0.12)


accuracies = st.one_of(st.none(), st.floats(0, 1))


@given(accuracies, st.floats(0.02, 0.5), st.floats(0.02, 0.5))
def test_a_rarer_class_needs_more_labels(accuracy, one, other):
    rare, common = sorted((one, other))
    needed = [labels_needed(accuracy, [1 - share, share]) for share in (rare, common)]
    assert needed[0] >= needed[1] >= FEWEST_LABELS
    assert needed[0] == labels_needed(accuracy, [rare, 1 - rare]), "the order does not matter"


@given(accuracies, st.lists(st.floats(0, 1), min_size=2, max_size=5))
def test_any_shares_give_a_number_to_ask_for(accuracy, shares):
    n_rows = labels_needed(accuracy, shares)
    assert FEWEST_LABELS <= n_rows <= 60_000
    assert n_rows % 10 == 0
    assert math.isfinite(n_rows)


# --- sentences


def checks(*, classes, chances, **others):
    return assumptions() | {"classes_differ": classes, "chances_differ": chances} | others


@pytest.mark.parametrize(
    ("classes", "chances", "words"),
    [
        (True, True, "one method tolerates both, count likelihood with a bag effect"),
        (True, False, "mean map and corrected loss do not tolerate this"),
        (False, True, "auto uses methods that tolerate this"),
        (False, False, "all methods can be used"),
        (None, None, "what could not be tested can fail: auto compares the methods on held-out"),
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


@pytest.mark.parametrize("differ", [True, None, False])
def test_a_calibration_that_assumes_common_classes_needs_a_test_that_passed(differ):
    results = {"criteria": {}, "calibration": ["bin"]}
    kept = without_assumed(results, checks(classes=differ, chances=False))
    assert kept["calibration"] == (["bin"] if differ is False else [])
    assert results["calibration"] == ["bin"], "the input is unchanged"
    assert without_assumed(results, None)["calibration"] == []
