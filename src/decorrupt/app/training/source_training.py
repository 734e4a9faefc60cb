"""Training on noisy labels of sources with known or estimated noise rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from decorrupt.app.training.held_out import MOST_JUDGED_ROWS, Judged, expected_of, held_out_results
from decorrupt.app.training.model_card import ModelCard
from decorrupt.app.training.settings import SOURCE_METHODS, Settings, method_name
from decorrupt.app.training.source_roles import SourceRows, named_strata
from decorrupt.app.training.summary import summarize_sources
from decorrupt.app.training.words import warnings_on_sources
from decorrupt.estimators import decision_threshold
from decorrupt.losses import probabilities
from decorrupt.model_selection import AutoSourcesClassifier, WithinBagKFold
from decorrupt.observed import Observed
from decorrupt.splitters import Fold


class SourceTraining:
    """What is particular about training on sources.

    Parameters
    ----------
    rows : SourceRows
        From :func:`decorrupt.app.training.source_roles.read_sources`; without rates they are
        estimated from the labels.
    settings : Settings
        Settings of the training.
    """

    situation, held_out = "sources", "rows"
    importance_criterion = "corrected_accuracy"
    # The labels with their rates, which may be estimated: known after `judge`.
    noisy: Observed

    def __init__(self, rows: SourceRows, settings: Settings) -> None:
        self.settings, self.method = settings, method_name(settings.method, SOURCE_METHODS)
        self.rows, self.n_folds = rows, settings.n_folds
        self.class_names = [rows.labels.negative, rows.labels.positive]

    def estimator(self) -> AutoSourcesClassifier:
        """Return the automatic choice, restricted to what the settings allow."""
        return AutoSourcesClassifier(
            candidates=None if self.method == "auto" else (self.method.replace("-", "_"),),
            cv=self.n_folds,
            **self.settings.search_parameters(),
        )

    def targets(self) -> tuple[Any, dict[str, Any]]:
        """Return the arguments of `fit`."""
        known = {
            "sources": self.rows.sources.astype(str),
            "noise_rates": self.rows.rates or "estimate",
            "source_priors": self.rows.class_priors,
        }
        if self.rows.table.weights is not None:
            known["sample_weight"] = self.rows.table.weights
        return self.rows.labels.is_pos.astype(int), known

    def training_folds(self) -> tuple[Observed, list[Fold]]:
        """Return what is known about the training rows, and the folds; after `judge`."""
        cv = WithinBagKFold(self.n_folds, shuffle=True, random_state=self.settings.seed)
        strata = self.judged_on.row_bag
        return self.noisy, list(cv.split(strata, bags=strata))

    def early_warnings(self, names: Sequence[str]) -> list[str]:  # noqa: ARG002 - as for bags
        """Return warnings about columns and bags: none."""
        return []

    @property
    def judged_on(self) -> Observed:
        """The rows of each source and label as bags of known proportion."""
        return named_strata(self.noisy)

    def judge(self, search: Any, preprocessor: Any) -> Judged:  # noqa: ARG002 - as for bags
        """Return the held-out results."""
        self.noisy = self.rows.noisy(search.noise_rates_ or {})
        rows, strata = self.judged_on.single_rows(MOST_JUDGED_ROWS, self.settings.seed)
        scores = search.held_out_scores_[rows]
        results = held_out_results(
            strata,
            scores - decision_threshold(self.settings.decision, search.class_prior_),
            probabilities(scores),
            counts=False,
        )
        return Judged(results, expected_of(search.accuracy_, has_bags=False))

    def card_fields(self, search: Any, judged: Judged) -> dict[str, Any]:  # noqa: ARG002 - as for bags
        """Return the fields of the card that only models of sources have."""
        weights = (getattr(member, "source_weights_", None) for member in search.estimators_)
        # Of the first member that has them: corrected losses do.
        own = next((one for one in weights if one is not None), None)
        return {
            "sources": summarize_sources(self.noisy, own, search.noise_rate_estimate_),
            "scoring": "noisy_label_log_likelihood",
            "noise_rates": "given" if self.rows.rates else "estimated",
        }

    def warnings(self, card: ModelCard) -> list[str]:
        """Return warnings for users of this model."""
        return warnings_on_sources(card)
