"""Training on noisy labels: rates known or estimated, method and parameters by held-out rows."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from decorrupt._typing import FloatArray
from decorrupt.app.training.columns import Features, column_cards
from decorrupt.app.training.held_out import criteria, held_out_results, out_of_fold
from decorrupt.app.training.limits import not_to_be_used
from decorrupt.app.training.methods import SOURCE_METHODS, method_name
from decorrupt.app.training.model_card import ClassNames, MethodCard, ModelCard
from decorrupt.app.training.preprocess import folded_levels, make_preprocessor, prepare
from decorrupt.app.training.rate_error import INCLUDES, STEP, RateError
from decorrupt.app.training.results import now, plain
from decorrupt.app.training.source_roles import SourceRows
from decorrupt.app.training.summary import source_strata, summarize_sources
from decorrupt.app.training.train import (
    CLASSIFIER,
    FEW_CLEAN_ROWS,
    Settings,
    TrainedModel,
    chance_warning,
    collected_warnings,
    diagnostics_of,
    n_landmarks,
    versions,
)
from decorrupt.corruption import Strata
from decorrupt.estimators import CorruptedSourcesClassifier, ForwardSourcesClassifier
from decorrupt.estimators.inputs import read_sources as noisy_sources
from decorrupt.estimators.inputs import source_priors
from decorrupt.features import resolve_kernel_gamma
from decorrupt.model_selection import WithinBagKFold, corrected_accuracy
from decorrupt.model_selection.candidates import kernel_settings
from decorrupt.model_selection.criteria import Estimate
from decorrupt.model_selection.splitters import Fold
from decorrupt.noise_rates import NoiseRateEstimate, estimate_noise_rates
from decorrupt.notices import train_quietly
from decorrupt.progress import log_step, track

KERNELS_TRIED = ("rbf",)
REG_STRENGTHS = (1e-1, 1e-2, 1e-3, 1e-4)
# Multiples of kernel_gamma="scale".
GAMMA_FACTORS = (0.1, 1.0)


@dataclass(frozen=True)
class Noise:
    """Rates of every source, where they come from, and the priors they are used with."""

    rates: dict[str, tuple[float, float]]
    estimate: NoiseRateEstimate | None
    given_priors: dict[str, float] | None
    priors: dict[str, float]
    pooled: float


def train_sources(rows: SourceRows, features: Features, settings: Settings) -> TrainedModel:
    """Train on noisy labels; the balanced accuracy of held-out rows, corrected, is the judge.

    Parameters
    ----------
    rows : SourceRows
        From :func:`decorrupt.app.training.source_roles.read_sources`; without rates they are
        estimated from the labels.
    features : Features
        The columns to use.
    settings : Settings
        How to train.
    """
    name = method_name(settings.method, SOURCE_METHODS)
    prepared = prepare(rows.table.frame, features.columns, table=rows.table.name)
    preprocessor = make_preprocessor(features.columns, len(prepared))
    y, sources = rows.labels.is_pos.astype(int), rows.sources.astype(str)
    said: list[str] = list(rows.warnings)
    with collected_warnings(said):
        matrix = preprocessor.fit_transform(prepared)
        noise = _noise(rows, matrix, y, sources, settings.seed)
    strata = source_strata(sources, rows.labels.is_pos, noise.rates, noise.priors)
    cv = WithinBagKFold(settings.n_folds, shuffle=True, random_state=settings.seed)
    folds = list(cv.split(matrix, None, bags=strata.row_stratum))
    methods = ("corrected", "forward") if name == "auto" else (name,)
    rate_error = _rate_error(noise, strata, y, sources)
    tried = _search(methods, matrix, y, sources, noise, rate_error, folds, settings)
    leaderboard = _leaderboard(tried)
    best = next(row for row in leaderboard if row["chosen"])
    estimator = _template(best["method"], noise, settings.seed, settings.decision)
    estimator.set_params(**best["params"])
    with collected_warnings(said):
        fitted = clone(estimator).fit(matrix, y, sources=sources)
    judged = out_of_fold(
        Pipeline([("preprocess", clone(preprocessor)), (CLASSIFIER, estimator)]),
        prepared,
        y,
        folds,
        noise.pooled,
        settings.n_jobs,
        sources=sources,
    )
    results = held_out_results(strata, judged.decisions, judged.probabilities, counts=False)
    results["criteria"] = rate_error.added_to(
        results["criteria"],
        lambda at: criteria(at, judged.decisions, judged.probabilities, counts=False),
    )
    summary = summarize_sources(
        sources,
        rows.labels.is_pos,
        noise.rates,
        noise.pooled,
        getattr(fitted, "source_weights_", None),
        noise.estimate,
    )
    card = ModelCard(
        created=now(),
        versions=versions(),
        columns=column_cards(features, folded_levels(preprocessor)),
        left_out=dict(features.left_out),
        situation="sources",
        classes=ClassNames(negative=rows.labels.negative, positive=rows.labels.positive),
        sources=summary,
        training_prior=noise.pooled,
        method=MethodCard(
            asked=name,
            chosen=best["method"],
            parameters=plain(best["params"]),
            decision=settings.decision,
            n_folds=settings.n_folds,
            held_out="rows",
            estimator=type(fitted).__name__,
            n_landmarks=n_landmarks(fitted),
            noise_rates="given" if rows.rates else "estimated",
            std_error_includes="" if noise.estimate is None else INCLUDES,
        ),
        leaderboard=plain(leaderboard),
        scoring="corrected_accuracy",
        criteria=results["criteria"],
        diagnostics=diagnostics_of(fitted),
        warnings=said,
        not_for=[],
        configuration={},
        configuration_from={},
    )
    card["warnings"] += _source_warnings(card)
    card["not_for"] = not_to_be_used(card)
    model = Pipeline([("preprocess", preprocessor), (CLASSIFIER, fitted)])
    return TrainedModel(model, card, results, prepared, strata, judged, counts=False)


def _noise(
    rows: SourceRows, matrix: Any, y: NDArray[np.int_], sources: NDArray[Any], seed: int
) -> Noise:
    rates, estimate = rows.rates, None
    if rates is None:
        estimate = estimate_noise_rates(matrix, y, sources=sources, random_state=seed)
        rates = {str(source): (pair[0], pair[1]) for source, pair in _pairs(estimate.rates)}
        log_step("estimated the noise rates")
    return _noise_at(rates, rows.class_priors, y, sources, estimate)


def _noise_at(
    rates: dict[str, tuple[float, float]],
    class_priors: dict[str, float] | None,
    y: NDArray[np.int_],
    sources: NDArray[Any],
    estimate: NoiseRateEstimate | None = None,
) -> Noise:
    noisy = noisy_sources(2 * y - 1, sources, rates)
    priors = source_priors(class_priors, noisy)
    return Noise(
        rates=rates,
        estimate=estimate,
        given_priors=class_priors,
        priors={str(source): prior for source, prior in noisy.by_source(priors).items()},
        pooled=float(np.average(priors, weights=noisy.sizes)),
    )


def _rate_error(
    noise: Noise, strata: Strata, y: NDArray[np.int_], sources: NDArray[Any]
) -> RateError:
    covariance = None if noise.estimate is None else noise.estimate.covariance
    if covariance is None:
        return RateError(strata, (), np.zeros((0, 0)))
    flips = np.array(list(noise.rates.values())).ravel()
    moved = []
    for step in STEP * np.eye(len(flips)):
        pairs = (flips + step).reshape(-1, 2).tolist()
        rates = {source: (pos, neg) for source, (pos, neg) in zip(noise.rates, pairs, strict=True)}
        at_rates = _noise_at(rates, noise.given_priors, y, sources)
        moved.append(source_strata(sources, y == 1, rates, at_rates.priors))
    return RateError(strata, moved, covariance)


def _pairs(rates: dict[Any, Any]) -> Any:
    return ((source, [float(rate) for rate in pair]) for source, pair in rates.items())


def _template(method: str, noise: Noise, seed: int, decision: str) -> Any:
    common: dict[str, Any] = {
        "noise_rates": noise.rates,
        "class_priors": noise.given_priors,
        "fit_intercept": True,
        "random_state": seed,
    }
    if method == "forward":
        return ForwardSourcesClassifier(**common, decision=decision)
    target = 0.5 if decision == "balanced" else "pooled"
    return CorruptedSourcesClassifier(
        **common, decision=decision, target_prior=target, convex="ignore"
    )


def _search(
    methods: tuple[str, ...],
    matrix: FloatArray,
    y: NDArray[np.int_],
    sources: NDArray[Any],
    noise: Noise,
    rate_error: RateError,
    folds: list[Fold],
    settings: Settings,
) -> list[dict[str, Any]]:
    """Return every configuration's corrected accuracy on held-out rows, all folds together."""
    grid = [(method, params) for method in methods for params in _grid(matrix, settings)]
    tried = []
    for method, params in track(grid, "trying methods", len(grid)):
        began = time.perf_counter()
        # Whatever the model is to decide for in the end, candidates are compared balanced.
        template = _template(method, noise, settings.seed, "balanced").set_params(**params)
        scores = Parallel(n_jobs=settings.n_jobs)(
            delayed(_fit_and_score)(template, matrix, y, sources, fold) for fold in folds
        )
        decisions = np.empty(len(y))
        for (_, test), own in zip(folds, scores, strict=True):
            decisions[test] = own
        score, std_error = _accuracy(decisions, rate_error)
        seconds = time.perf_counter() - began
        tried.append(
            {
                "method": method,
                "params": params,
                "score": score,
                "std_error": std_error,
                "seconds": seconds,
            }
        )
    return tried


def _grid(matrix: FloatArray, settings: Settings) -> list[dict[str, Any]]:
    """Return the parameters to try, from the smoothest model on."""
    if settings.kernel_gammas is None:
        scale = resolve_kernel_gamma("scale", matrix)
        kernel_gammas = [factor * scale for factor in GAMMA_FACTORS]
    else:
        kernel_gammas = [resolve_kernel_gamma(value, matrix) for value in settings.kernel_gammas]
    return [
        setting | {"reg_strength": reg_strength}
        for setting in kernel_settings(settings.kernels or KERNELS_TRIED, kernel_gammas)
        for reg_strength in settings.reg_strengths or REG_STRENGTHS
    ]


def _accuracy(decisions: FloatArray, rate_error: RateError) -> tuple[float, float]:
    """Return the corrected accuracy, its error that of the rows and of the rates together."""

    def at(strata: Strata) -> Estimate:
        return corrected_accuracy(strata.row_proportions, decisions, bags=strata.row_stratum)

    score, std_error = at(rate_error.strata)
    (from_rates,) = rate_error.of(lambda strata: [at(strata).value])
    return score, float(np.hypot(std_error, from_rates))


def _fit_and_score(template: Any, matrix: Any, y: Any, sources: Any, fold: Fold) -> FloatArray:
    train, test = fold
    model = clone(template)
    train_quietly(model, matrix[train], y[train], sources=sources[train])
    return np.asarray(model.decision_function(matrix[test]))


def _leaderboard(tried: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each method at its best; of equal scores the smoother, which comes first, wins."""
    best: dict[str, dict[str, Any]] = {}
    for row in tried:
        if row["method"] not in best or row["score"] > best[row["method"]]["score"]:
            best[row["method"]] = row
    seconds = {method: sum(r["seconds"] for r in tried if r["method"] == method) for method in best}
    ranked = sorted(best.values(), key=lambda row: -row["score"])
    return [
        row | {"seconds": seconds[row["method"]], "chosen": place == 0}
        for place, row in enumerate(ranked)
    ]


def _source_warnings(card: ModelCard) -> list[str]:
    said = []
    if card["method"]["noise_rates"] == "estimated":
        said.append(
            "the noise rates were estimated from the labels: this is valid only if some rows are "
            "certainly positive, some certainly negative, and the errors depend on the class only"
        )
    if card["sources"]["effective_sample_size"] < FEW_CLEAN_ROWS:
        worth = card["sources"]["effective_sample_size"]
        said.append(f"the noisy labels are worth about {worth:.0f} clean ones: expect little")
    accuracy = card["criteria"]["corrected_accuracy"]
    return said + chance_warning(accuracy["value"], accuracy["std_error"])
