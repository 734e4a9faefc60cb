"""The balanced accuracy of a model without labels, from draws of P(y|x)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array
from threadpoolctl import threadpool_limits

from decorrupt._typing import FloatArray
from decorrupt.corruption import quick_violation
from decorrupt.estimators import FLOATS
from decorrupt.exceptions import WeakEvidenceWarning, warn
from decorrupt.features import Kernel, fit_feature_map
from decorrupt.losses import chosen_classes
from decorrupt.model_selection.baselines import group_rate_accuracy
from decorrupt.model_selection.count_posterior import (
    BAG_EFFECT_SCALE,
    BAG_EFFECTS,
    draw_probabilities,
    find_modes,
    mode_weights,
)
from decorrupt.model_selection.draw_likelihoods import CountLikelihood, Likelihood, RowLikelihood
from decorrupt.observed import Observed, as_observed

# Feature maps of the count model, see `_views`.
N_VIEWS = 4
# Features of each view: with fewer per class, a good model of many classes seems to be wrong.
RANK, RANK_PER_CLASS = 40, 8
# Of all classes but one; fewer features if there would be more.
MOST_COEFFICIENTS = 720
FEW = 5
# More columns are reduced to their principal components.
MOST_COLUMNS = 200
# Of the rbf kernel on standardised columns, as a multiple of 1/(number of columns).
RBF_FACTOR = 0.3
# Of more rows a sample is used: rows of every bag if bags are few, otherwise whole bags.
MOST_ROWS, FEW_BAGS = 3000, 100
# Of rows that represent many, a sample of so many single ones is used.
MOST_SINGLE_ROWS = 100_000
# Of the shares: bags that differ by so much are perhaps mixtures of the same classes.
LARGE_EFFECT = 0.1
# Rows × bags of the likelihood of bags as mixtures.
MOST_CELLS = 5_000_000
# The interval is this many times as wide as that of the draws, so that 95 % intervals cover the
# truth in 97 % of the development cases of benchmarks/accuracy_coverage.py.
CALIBRATION = 1.3
STRONG, MODERATE, WEAK, NONE = "strong", "moderate", "weak", "none"
SENTENCES = {
    STRONG: "the data clearly show that the model is better than guessing",
    MODERATE: "the data show that the model is better than guessing",
    WEAK: "the model is probably better than guessing, but the data do not show it",
    NONE: "the data do not show that the model is better than guessing",
}
# Evidence is weak, not none, if so many draws are better than guessing.
PROBABLY_BETTER = 0.8


@dataclass(frozen=True)
class AccuracyEstimate:
    """The balanced accuracy of a model, for several classes the mean recall, with an interval.

    Attributes
    ----------
    value, low, high : float
        The mean of the draws, and the ends of the interval.
    level : float
        The nominal coverage of the interval; what was measured is in docs/evidence/accuracy.md.
    recalls : tuple of float
        The recall of each class.
    guessing : float
        The accuracy of guessing, 1 over the number of classes.
    better : float
        The share of the draws in which the model is better than guessing.
    group_rate : float
        The accuracy of guessing each row by the share of its bag, for the rows of these bags:
        :func:`decorrupt.model_selection.group_rate_accuracy`.
    better_than_group_rate : float
        The share of the draws in which the model is better than that.
    """

    value: float
    low: float
    high: float
    level: float
    recalls: tuple[float, ...]
    guessing: float
    better: float
    group_rate: float
    better_than_group_rate: float

    @property
    def evidence(self) -> str:
        """How well the data show that the model is better than guessing, in one word.

        "strong": the interval is above guessing by at least half of the estimated gain. "moderate":
        the interval is above guessing. "weak": it contains guessing, but at least 80 % of the draws
        are better. "none": otherwise.
        """
        if self.low > (self.guessing + self.value) / 2:
            return STRONG
        if self.low > self.guessing:
            return MODERATE
        return WEAK if self.better >= PROBABLY_BETTER else NONE

    def __str__(self) -> str:
        interval = f"{self.level:.0%} interval {self.low:.3f} to {self.high:.3f}"
        return f"{self.value:.3f} ({interval}), evidence: {self.evidence}"


def describe_evidence(accuracy: AccuracyEstimate) -> str:
    """Return one sentence about the evidence, with the accuracy."""
    return f"{SENTENCES[accuracy.evidence]}: balanced accuracy {accuracy}"


def warn_of_evidence(accuracy: AccuracyEstimate) -> None:
    """Warn if the interval of the accuracy contains that of guessing."""
    if accuracy.low <= accuracy.guessing:
        advice = "; check it on labelled rows"
        warn(describe_evidence(accuracy) + advice, WeakEvidenceWarning)


def estimate_accuracy(
    model: Any,
    X: Any,
    y: Any,
    *,
    bags: Any = None,
    upper: Any = None,
    sources: Any = None,
    noise_rates: Any = None,
    sample_weight: Any = None,
    level: float = 0.95,
    random_state: Any = None,
) -> AccuracyEstimate:
    """Return the balanced accuracy to expect from a fitted classifier, without labels.

    The decisions of the model are fixed; P(y|x) is drawn from its posterior given the bags (or
    noisy labels), under count models that are linear in the columns, linear with a preference for
    the first principal components, or smooth (rbf kernel), with several prior variances and bag
    effects, weighted by their evidence. If bags differ in P(y|x) but class distributions seem to be
    common, the likelihood is that of mixtures. The interval is for as many new rows as are given.

    Parameters
    ----------
    model : estimator
        A fitted classifier with `decision_function`; for several classes its columns are in the
        order of those of y.
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The rows, usually those of the fit.
    y, bags, upper, sources, noise_rates, sample_weight
        What is known about their labels, as in `fit`, or as y an Observed, which contains all of
        it. Noise of counts is that of the model's `count_noise`.
    level : float in (0, 1), default=0.95
        Nominal coverage of the interval.
    random_state : int, RandomState or None
        Seed of the draws.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import CountLikelihoodClassifier, estimate_accuracy
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 400)                  # not used
    >>> X = rng.normal(size=(400, 2)) + 2 * labels[:, None]
    >>> bags = np.arange(400) // 10
    >>> y = np.bincount(bags, labels)[bags] / 10
    >>> model = CountLikelihoodClassifier(random_state=0).fit(X, y, bags=bags)
    >>> found = estimate_accuracy(model, X, y, bags=bags, random_state=0)
    >>> bool(found.low < model.score(X, labels) < found.high), found.evidence
    (True, 'strong')
    """
    known = {"bags": bags, "upper": upper, "sources": sources, "noise_rates": noise_rates}
    noise = None if bags is None else getattr(model, "count_noise", None)
    observed = as_observed(y, **known, count_noise=noise, sample_weight=sample_weight)
    return _observed_accuracy(model, *observed.used(X), level, check_random_state(random_state))


def _observed_accuracy(
    model: Any, X: Any, observed: Observed, level: float, rng: np.random.RandomState
) -> AccuracyEstimate:
    group_rate = group_rate_accuracy(observed)
    single, observed = observed.single_rows(MOST_SINGLE_ROWS, rng)
    sampled = _sampled_rows(observed, rng)
    rows = single[sampled]
    chosen = chosen_classes(np.asarray(model.decision_function(X)))[rows]
    if hasattr(model, "steps"):
        X = model[:-1].transform(X)
    X = check_array(X, accept_sparse="csr", dtype=FLOATS)[rows]
    part = observed.take(sampled)
    with threadpool_limits(1, user_api="blas"):  # products of small matrices
        prob = probability_draws(X, part, _whole_sizes(observed, part), rng)
    return _estimate(_recalls(prob, chosen, rng), group_rate, level)


def probability_draws(
    X: Any, observed: Observed, sizes: NDArray[np.intp], rng: np.random.RandomState
) -> FloatArray:
    """Return draws of P(Y=c|x) of all rows, shape (n_classes, n_rows, n_draws).

    `sizes` are the rows of each bag, of which `observed` may have a part.
    """
    matrices = _views(X, _rank(observed.n_classes), rng)
    if observed.is_of_sources:
        likelihoods: list[Likelihood] = [RowLikelihood.of_sources(observed)]
    elif (sizes == 1).all() and observed.counts.is_exact.all():
        likelihoods = [RowLikelihood.of_labels(observed)]
    else:
        likelihoods = [
            CountLikelihood(observed, sizes, effect, -0.5 * (effect / BAG_EFFECT_SCALE) ** 2)
            for effect in BAG_EFFECTS
        ]
    modes = find_modes(matrices, likelihoods, observed.inner_prior)
    effects = np.array([getattr(mode.likelihood, "bag_effect", 0.0) for mode in modes])
    if mode_weights(modes) @ (effects >= LARGE_EFFECT) > 0.5 and _are_mixtures(X, observed):
        mixtures = RowLikelihood.of_mixtures(observed)
        modes = find_modes(matrices, [mixtures], observed.inner_prior)
    return draw_probabilities(modes, rng)


def _rank(n_classes: int) -> int:
    wanted = max(RANK, RANK_PER_CLASS * n_classes)
    return max(min(wanted, MOST_COEFFICIENTS // (n_classes - 1)), FEW)


def _are_mixtures(X: Any, observed: Observed) -> bool:
    """Return whether it can be tested that class distributions are common, and is not rejected."""
    n_cells = observed.n_bags * len(observed.row_bag)
    is_testable = observed.n_bags >= 2 * observed.n_classes + 2 and not observed.is_inexact
    return is_testable and n_cells <= MOST_CELLS and quick_violation(X, observed) is None


def _sampled_rows(observed: Observed, rng: np.random.RandomState) -> NDArray[np.intp]:
    n_rows = len(observed.row_bag)
    if n_rows <= MOST_ROWS:
        return np.arange(n_rows)
    if observed.n_bags <= FEW_BAGS or observed.is_of_sources:
        return np.sort(rng.choice(n_rows, MOST_ROWS, replace=False))
    order = rng.permutation(observed.n_bags)
    n_bags = int(np.searchsorted(np.cumsum(observed.sizes[order]), MOST_ROWS)) + 1
    return np.flatnonzero(np.isin(observed.row_bag, order[:n_bags]))


def _whole_sizes(observed: Observed, part: Observed) -> NDArray[np.intp]:
    """Return the rows of the bags of which `part` has some."""
    if observed.is_of_sources:
        return part.sizes
    place = dict(zip(observed.ids.tolist(), observed.sizes.tolist(), strict=True))
    return np.array([place[bag] for bag in part.ids.tolist()])


def _views(X: Any, rank: int, rng: np.random.RandomState) -> list[FloatArray]:
    """Return four feature matrices of mean squared length 1.

    Principal components; the same, each multiplied by its singular value; the first few alone, so
    that the draws vary as much as a simple truth would where bags are few; an rbf kernel.
    """
    X = _scaled(X, rng)
    left, values, _ = np.linalg.svd(X, full_matrices=False)
    left, values = left[:, :rank], values[:rank]
    kernel = Kernel("rbf", gamma=RBF_FACTOR / X.shape[1], max_rank=rank)
    smooth = np.asarray(fit_feature_map(X, kernel, random_state=rng).matrix, dtype=float)
    linear = left * values
    views = [linear, linear * values, linear[:, :FEW], smooth - smooth.mean(axis=0)]
    return [view / np.sqrt(np.mean(np.sum(view**2, axis=1)) or 1.0) for view in views]


def _scaled(X: Any, rng: np.random.RandomState) -> FloatArray:
    """Return centred columns of variance 1; columns with two values have these at distance 2.

    So a rare category has the same prior as a frequent one, not a larger one.
    """
    if sparse.issparse(X):
        X = X.toarray() if X.shape[1] <= MOST_COLUMNS else _projected(X, rng)
    X = np.asarray(X, dtype=float)
    low, high = X.min(axis=0), X.max(axis=0)
    is_binary = ((low == X) | (high == X)).all(axis=0)
    scale = np.where(is_binary, (high - low) / 2, X.std(axis=0))
    X = (X - X.mean(axis=0))[:, high > low] / scale[high > low]
    return X if X.shape[1] <= MOST_COLUMNS else _projected(X, rng)


def _projected(X: Any, rng: np.random.RandomState) -> FloatArray:
    return np.asarray(TruncatedSVD(MOST_COLUMNS, random_state=rng).fit_transform(X))


def _recalls(prob: FloatArray, chosen: NDArray[np.intp], rng: np.random.RandomState) -> FloatArray:
    """Return the recalls of every class and draw.

    Labels are drawn from the probabilities: a share of so many rows varies by chance.
    """
    labels = np.sum(rng.uniform(size=prob.shape[1:]) > np.cumsum(prob, axis=0)[:-1], axis=0)
    recalls = []
    for c in range(len(prob)):
        is_own = labels == c
        hits = np.sum(is_own & (chosen == c)[:, None], axis=0)
        recalls.append(hits / np.maximum(is_own.sum(axis=0), 1))
    return np.array(recalls)


def _estimate(recalls: FloatArray, group_rate: float, level: float) -> AccuracyEstimate:
    accuracy = recalls.mean(axis=0)
    value = accuracy.mean()
    ends = np.quantile(accuracy, [(1 - level) / 2, (1 + level) / 2])
    low, high = np.clip(value + CALIBRATION * (ends - value), 0, 1)
    guessing = 1 / len(recalls)
    return AccuracyEstimate(
        value=float(value),
        low=float(low),
        high=float(high),
        level=level,
        recalls=tuple(recalls.mean(axis=1).tolist()),
        guessing=guessing,
        better=float(np.mean(accuracy > guessing)),
        group_rate=group_rate,
        better_than_group_rate=float(np.mean(accuracy > group_rate)),
    )
