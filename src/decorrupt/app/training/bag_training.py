"""Training on bags with known proportions or counts of the classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from decorrupt.app.training.held_out import (
    MOST_JUDGED_ROWS,
    Judged,
    checks_of,
    expected_of,
    held_out_results,
    without_assumed,
)
from decorrupt.app.training.inexact_counts import check_method
from decorrupt.app.training.model_card import ModelCard
from decorrupt.app.training.results import plain
from decorrupt.app.training.roles import BagRows
from decorrupt.app.training.settings import (
    BAG_METHODS,
    Settings,
    bag_candidates,
    check_several_classes,
    method_name,
)
from decorrupt.app.training.summary import summarize_bags, warn_of_bag_columns, warn_of_bags
from decorrupt.app.training.words import warnings_on_bags
from decorrupt.estimators import decision_threshold
from decorrupt.losses import probabilities
from decorrupt.model_selection import AutoLabelProportionsClassifier, bag_folds
from decorrupt.observed import Observed
from decorrupt.splitters import Fold

WHOLE_BAGS, ROWS_OF_BAGS = "whole bags", "rows of every bag"


class BagTraining:
    """What is particular about training on bags.

    Parameters
    ----------
    rows : BagRows
        From :func:`decorrupt.app.training.roles.read_bags`.
    settings : Settings
        Settings of the training.
    """

    situation = "bags"
    importance_criterion = "count_log_likelihood"

    def __init__(self, rows: BagRows, settings: Settings) -> None:
        self.settings, self.method = settings, method_name(settings.method, BAG_METHODS)
        observed = rows.observed
        if settings.class_names is not None and not rows.are_named:
            observed = replace(observed, classes=np.array(settings.class_names))
        if observed.n_classes > 2:
            check_several_classes(self.method)
        if observed.is_inexact:
            check_method(self.method, "ranges or noise of counts")
        self.frame = rows.table.frame
        self.bag_column = next(iter(rows.roles), "bag")
        self.judged_on = self.observed = observed
        self.class_names = [str(name) for name in observed.classes]
        self.folds = bag_folds(observed, n_splits=settings.n_folds, random_state=settings.seed)
        self.n_folds = len(self.folds)
        train, test = (observed.row_bag[part] for part in self.folds[0])
        whole = not np.isin(test, train).any()
        self.held_out = WHOLE_BAGS if whole else ROWS_OF_BAGS

    def estimator(self) -> AutoLabelProportionsClassifier:
        """Return the automatic choice, restricted to what the settings allow."""
        return AutoLabelProportionsClassifier(
            candidates=bag_candidates(self.method),
            cv=self.folds,
            **self.settings.search_parameters(),
        )

    def targets(self) -> tuple[Any, dict[str, Any]]:
        """Return what `fit` learns from; bags by number, a saved model must not name them."""
        n_bags, n_classes = self.observed.proportions.shape
        return replace(self.observed, ids=np.arange(n_bags), classes=np.arange(n_classes)), {}

    def training_folds(self) -> tuple[Observed, list[Fold]]:
        """Return what is known about the training rows, and the folds."""
        return self.observed, self.folds

    def early_warnings(self, names: Sequence[str]) -> list[str]:
        """Return warnings about columns and bags."""
        own = warn_of_bag_columns(self.frame, names, self.observed)
        return [*own, *warn_of_bags(self.observed)]

    def judge(self, search: Any, preprocessor: Any) -> Judged:
        """Return the held-out results, the accuracy to expect and the tests of the assumptions."""
        rows, observed = self.observed.single_rows(MOST_JUDGED_ROWS, self.settings.seed)
        scores = search.held_out_scores_[rows]
        found = (
            scores - decision_threshold(self.settings.decision, search.class_prior_),
            probabilities(scores),
        )
        report = search.assumptions_
        checks = None if report is None else checks_of(report, preprocessor)
        results = without_assumed(held_out_results(observed, *found, counts=True), checks)
        # The leaderboard has it, for the model with its bag effect.
        del results["criteria"]["count_log_likelihood"]
        return Judged(results, expected_of(search.accuracy_), checks)

    def card_fields(self, search: Any, judged: Judged) -> dict[str, Any]:
        """Return the fields of the card that only models of bags have."""
        baselines = [plain(one) for one in search.leaderboard_.baselines if "score" in one]
        fields = {
            "bags": summarize_bags(self.observed),
            "bag_column": self.bag_column,
            "scoring": search.scoring,
            "baselines": baselines,
        }
        return fields if judged.checks is None else fields | {"assumptions": judged.checks}

    def warnings(self, card: ModelCard) -> list[str]:
        """Return warnings for users of this model."""
        return warnings_on_bags(card)
