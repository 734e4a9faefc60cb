"""Training on noisy labels with known or estimated noise rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from decorrupt.app.training.columns import Features, column_cards
from decorrupt.app.training.held_out import held_out_results
from decorrupt.app.training.limits import not_to_be_used
from decorrupt.app.training.methods import SOURCE_METHODS, method_name
from decorrupt.app.training.model_card import MethodCard, ModelCard
from decorrupt.app.training.preprocess import folded_levels, make_preprocessor, prepare
from decorrupt.app.training.results import now, plain
from decorrupt.app.training.source_roles import SourceRows, named_strata
from decorrupt.app.training.summary import summarize_sources
from decorrupt.app.training.train import (
    CLASSIFIER,
    FEW_CLEAN_ROWS,
    Settings,
    TrainedModel,
    chance_warning,
    class_shares,
    collected_warnings,
    diagnostics_of,
    n_landmarks,
    versions,
)
from decorrupt.estimators import decision_threshold
from decorrupt.losses import probabilities
from decorrupt.model_selection import (
    NOISY_LABELS,
    SOURCE_KERNELS,
    AutoSourcesClassifier,
    FoldedData,
    out_of_fold,
    source_folds,
)
from decorrupt.noise_rates import RateError

INCLUDES = (
    "± includes the uncertainty of the estimated noise rates as resampling shows it, not the "
    "error of the rates where the classes overlap everywhere."
)


def train_sources(rows: SourceRows, features: Features, settings: Settings) -> TrainedModel:
    """Train on noisy labels; the likelihood of held-out labels weights the models.

    Parameters
    ----------
    rows : SourceRows
        From :func:`decorrupt.app.training.source_roles.read_sources`; without rates they are
        estimated from the labels.
    features : Features
        The columns to use.
    settings : Settings
        Settings of the training.
    """
    name = method_name(settings.method, SOURCE_METHODS)
    prepared = prepare(rows.table.frame, features.columns, table=rows.table.name)
    preprocessor = make_preprocessor(features.columns, len(prepared))
    y, sources = rows.labels.is_pos.astype(int), rows.sources.astype(str)
    search = AutoSourcesClassifier(
        candidates=None if name == "auto" else (name.replace("-", "_"),),
        noise_rates=rows.rates or "estimate",
        source_priors=rows.class_priors,
        cv=settings.n_folds,
        reg_strengths=settings.reg_strengths,
        kernels=settings.kernels or SOURCE_KERNELS,
        kernel_gammas=settings.kernel_gammas,
        decision=settings.decision,
        n_jobs=settings.n_jobs,
        random_state=settings.seed,
        ensemble=settings.ensemble,
        time_budget=settings.time_budget,
    )
    model = Pipeline([("preprocess", preprocessor), (CLASSIFIER, search)])
    said: list[str] = list(rows.warnings)
    with collected_warnings(said):
        search.fit(preprocessor.fit_transform(prepared), y, sources=sources)
    estimate = search.noise_rate_estimate_
    noisy = rows.noisy(search.noise_rates_ or {})
    strata = named_strata(noisy)
    prior = search.class_prior_
    held_out_scores = search.__dict__.pop("held_out_scores_")  # rows are not saved in a model
    covariance = None if estimate is None else estimate.covariance
    results = held_out_results(
        strata,
        held_out_scores - decision_threshold(settings.decision, prior),
        probabilities(held_out_scores),
        counts=False,
        rate_error=RateError.of(noisy, covariance),
    )
    estimator = search.estimators_[0]
    card = ModelCard(
        created=now(),
        versions=versions(),
        columns=column_cards(features, folded_levels(preprocessor)),
        left_out=dict(features.left_out),
        situation="sources",
        class_shares=class_shares((rows.labels.negative, rows.labels.positive), prior),
        sources=summarize_sources(noisy, _source_weights(search.estimators_), estimate),
        method=MethodCard(
            asked=name,
            chosen=search.best_method_,
            parameters=plain(search.best_params_),
            n_models=len(search.estimators_),
            decision=settings.decision,
            n_folds=settings.n_folds,
            held_out="rows",
            estimator=type(estimator).__name__,
            n_landmarks=n_landmarks(estimator),
            noise_rates="given" if rows.rates else "estimated",
            std_error_includes="" if estimate is None else INCLUDES,
        ),
        leaderboard=plain(search.leaderboard_.rows),
        scoring=NOISY_LABELS,
        gain_in_nats=search.gain_in_nats_,
        criteria=results["criteria"],
        diagnostics=diagnostics_of(estimator),
        warnings=said,
        not_for=[],
        configuration={},
        configuration_from={},
    )
    card["warnings"] += _source_warnings(card)
    card["not_for"] = not_to_be_used(card)

    def fold_models() -> list[tuple[Any, Any]]:
        folds = source_folds(noisy, settings.n_folds, settings.seed)
        data = FoldedData(prepared, noisy.observed(), folds)
        average = clone(
            Pipeline([("preprocess", preprocessor), (CLASSIFIER, search.best_estimator_)])
        )
        return out_of_fold(average, data, class_prior=prior, n_jobs=settings.n_jobs).models

    return TrainedModel(model, card, results, prepared, strata, fold_models, counts=False)


def _source_weights(members: Sequence[Any]) -> dict[Any, float] | None:
    """Return the weights of the sources in the first member that has them: corrected losses do."""
    found = (getattr(member, "source_weights_", None) for member in members)
    return next((weights for weights in found if weights is not None), None)


def _source_warnings(card: ModelCard) -> list[str]:
    said = []
    if card["method"]["noise_rates"] == "estimated":
        said.append(
            "the noise rates were estimated from the labels: this is valid only if some rows are "
            "certainly positive, some certainly negative, and the errors depend on the class only"
        )
    if card["sources"]["effective_sample_size"] < FEW_CLEAN_ROWS:
        worth = card["sources"]["effective_sample_size"]
        said.append(
            f"the noisy labels are worth about {worth:.0f} clean labels: expect a low accuracy"
        )
    accuracy = card["criteria"]["corrected_accuracy"]
    return said + chance_warning(accuracy["value"], accuracy["std_error"])
