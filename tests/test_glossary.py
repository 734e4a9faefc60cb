"""The glossary has every method and measure of the library, and nothing else."""

from pathlib import Path

import numpy as np

from decorrupt import glossary
from decorrupt.app.training.evaluate import evaluate_labels
from decorrupt.app.training.predict import Predictions
from decorrupt.app.training.settings import BAG_METHODS, PAIRS, SOURCE_METHODS, bag_candidates
from decorrupt.model_selection.auto_sources import SOURCE_CANDIDATES
from decorrupt.model_selection.candidates import (
    ANY_LEARNER,
    CANDIDATES,
    resolve_candidates,
    takes_several_classes,
)
from decorrupt.model_selection.scorers import CRITERIA, LOWER_IS_BETTER, NOISY_LABELS


def test_methods_of_bags():
    assert set(glossary.BAG_METHODS) == {*CANDIDATES, *ANY_LEARNER, PAIRS}
    for name in glossary.BAG_METHODS:
        (candidate,) = resolve_candidates(bag_candidates(name.replace("_", "-")))
        assert candidate.name == name


def test_methods_of_sources():
    assert set(glossary.SOURCE_METHODS) == set(SOURCE_CANDIDATES)


def test_command_line_names_are_the_library_names_with_hyphens():
    library = {*glossary.BAG_METHODS, *glossary.BAG_SEARCHES}
    assert {name.replace("-", "_") for name in BAG_METHODS} == library
    assert {name.replace("-", "_") for name in SOURCE_METHODS} == {
        *glossary.SOURCE_METHODS,
        *glossary.SOURCE_SEARCHES,
    }


def test_criteria_and_which_direction_is_better():
    assert set(glossary.CRITERIA) == {*CRITERIA, NOISY_LABELS}
    for name, criterion in glossary.CRITERIA.items():
        assert (criterion.better == glossary.LOWER) == (name in LOWER_IS_BETTER)


def test_metrics():
    found = [
        evaluate_labels(
            Predictions(np.arange(k), np.eye(k), np.eye(k)),
            np.arange(k),
            dict.fromkeys("abc"[:k], 1 / k),
        )
        for k in (2, 3)
    ]
    names = {name for one in found for name in one["metrics"]}
    assert names == set(glossary.METRICS)


def test_the_page_names_everything():
    page = (Path(__file__).parents[1] / "docs" / "understand" / "glossary.md").read_text()
    methods = {**glossary.BAG_METHODS, **glossary.BAG_SEARCHES, **glossary.SOURCE_METHODS}
    for name in {*methods, *glossary.CRITERIA, *glossary.METRICS}:
        assert f"`{name}`" in page, name


def test_two_classes_only_is_what_the_estimators_say():
    for name, candidate in CANDIDATES.items():
        takes_several = takes_several_classes(candidate.estimator)
        assert takes_several == (name not in glossary.FOR_TWO_CLASSES), name
