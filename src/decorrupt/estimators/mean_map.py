"""Mean map: logistic regression with an estimated mean operator in place of labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from decorrupt._typing import FloatArray
from decorrupt.corruption import (
    Combination,
    RiskTerms,
    Strata,
    combine_strata,
)
from decorrupt.corruption.mean_operator import (
    bag_means,
    check_similarity,
    gaussian_similarity,
    laplacian_combination,
)
from decorrupt.estimators.diagnostics import (
    describe_overfitting,
    is_overfitted,
    within_std_error,
)
from decorrupt.estimators.log_odds import LogOddsClassifier
from decorrupt.estimators.shared_features import SharedFeaturesClassifier
from decorrupt.exceptions import NegativeRiskWarning
from decorrupt.features import FeatureMap
from decorrupt.losses import LogisticLoss
from decorrupt.risks import CorrectedRisk
from decorrupt.risks.corrected import logistic_risk
from decorrupt.solvers import (
    DEFAULT_MAX_ITER,
    DEFAULT_TOL,
    Objective,
    SolverResult,
    is_gradient_descent,
    solve_path,
)

VARIANTS = ("mean", "laplacian", "alternating")
STARTS = ("mean", "laplacian")
LOSS = LogisticLoss()


class MeanMapClassifier(SharedFeaturesClassifier, LogOddsClassifier):
    """min_θ (1/n)·Σ_j log(2·cosh(f_j/2)) − ½⟨θ, m̂⟩ + λ‖θ‖², m̂ an estimate of E[y·z(x)].

    The logistic loss is an even function of f, which needs no labels, minus ½·y·f. Labels enter
    only through the mean operator E[y·z(x)], which is estimated from the bags' means and
    proportions. The objective is convex for all bags, except with "alternating". The variants:

    - "mean": the two class means are the same in all bags, and are estimated by least squares
      weighted by bag size (Quadrianto et al. 2009). It equals :class:`CorrectedLossClassifier`
      with ``combine="least_squares", target_prior="pooled"``.
    - "laplacian": every bag has its own class means, which are similar in similar bags
      (Patrini et al. 2014); see `decorrupt.corruption.mean_operator.laplacian_combination`.
    - "alternating": start from one of the above; label the round(p_k·n_k) rows of every bag with
      the highest scores as positive; refit with logistic regression; repeat until no label changes
      (Patrini et al. 2014). Each step lowers
      min_labels (1/n)·Σ_j log(1+exp(−y_j f_j)) + λ‖θ‖², which is not convex.

    Parameters
    ----------
    variant : {"mean", "laplacian", "alternating"}, default="mean"
        How the mean operator is estimated.
    start : {"mean", "laplacian"}, default="mean"
        Where "alternating" starts.
    similarity : "gaussian" or array of shape (n_bags, n_bags), default="gaussian"
        For "laplacian": how similar the class means of two bags are, with the bags in sorted order
        of their ids. The matrix is symmetric, not negative, dense or sparse; its scale does not
        matter. "gaussian" is exp(−‖mean_k − mean_l‖²/σ²) of the bags' means in feature space,
        where σ² is their mean squared distance; with more than 5,000 bags only the 100 nearest
        bags of each bag are used.
    smoothness : float, default=1.0
        For "laplacian": how strongly the class means of similar bags are pulled together; → ∞
        gives "mean".
    max_rounds : int, default=100
        Maximum number of refits of "alternating".
    kernel, kernel_gamma, tol, max_iter, random_state, check_assumptions
        As in :class:`CorrectedLossClassifier`.
    reg_strength : float or "auto", default="auto"
        λ; above 0 unless every bag is pure, because the estimated risk is unbounded below. "auto"
        as in :class:`CorrectedLossClassifier`; "alternating" has the λ of its start.
    fit_intercept : bool, default=True
        Whether f has an unpenalised intercept.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in the population of the
        training rows.
    solver : {"auto", "newton", "lbfgs", "gradient_descent"} or GradientDescent, default="auto"
        How the objective is minimised, as in :class:`CorrectedLossClassifier`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        "alternating" only: the final label of each training row.
    n_rounds_ : int
        "alternating" only: the number of refits.
    score_prior_ : float
        The share of positives among the training rows.
    n_iter_ : int
        Number of solver iterations, over all refits.
    classes_, decision_threshold_, dual_coef_, landmarks_, feature_coef_, frequencies_, \
frequency_centre_, projection_, coef_, intercept_, kernel_gamma_, reg_strength_, kernel_rank_, \
kernel_error_, solver_, n_features_in_, feature_names_in_
        As in :class:`CorrectedLossClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import bag_targets
    >>> from decorrupt.estimators.mean_map import MeanMapClassifier
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 400)                  # not used in training
    >>> X = rng.normal(size=(400, 2)) + 2 * labels[:, None]
    >>> bags = np.arange(400) // 10
    >>> shares = {bag: labels[bags == bag].mean() for bag in range(40)}
    >>> model = MeanMapClassifier(variant="alternating", reg_strength=0.01, random_state=0)
    >>> model = model.fit(X, bag_targets(bags, shares), bags=bags)
    >>> bool(model.score(X, labels) > 0.85)
    True
    """

    _needs_common_classes = True

    def __init__(
        self,
        *,
        variant: str = "mean",
        start: str = "mean",
        similarity: Any = "gaussian",
        smoothness: float = 1.0,
        max_rounds: int = 100,
        kernel: Any = "rbf",
        kernel_gamma: float | str = "scale",
        reg_strength: float | str = "auto",
        fit_intercept: bool = True,
        decision: str = "balanced",
        solver: Any = "auto",
        tol: float = DEFAULT_TOL,
        max_iter: int = DEFAULT_MAX_ITER,
        random_state: Any = None,
        check_assumptions: bool = True,
    ) -> None:
        self.variant = variant
        self.start = start
        self.similarity = similarity
        self.smoothness = smoothness
        self.max_rounds = max_rounds
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.reg_strength = reg_strength
        self.fit_intercept = fit_intercept
        self.decision = decision
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.check_assumptions = check_assumptions

    def _fit_features(self, X: Any, features: FeatureMap, strata: Strata) -> FloatArray:
        start = self.start if self.variant == "alternating" else self.variant
        combination = self._combination(start, strata, lambda: bag_means(features.matrix, strata))
        risk: Any = logistic_risk(combination, strata)
        self._set_reg_strength(X, features, risk.effective_sample_size)
        self._refuse_unbounded(strata)
        result, scores = self._fit_scores(X, features, risk)
        if self.variant == "alternating":
            return self._alternate(X, features, strata, result.coef, scores)
        self._note_unconverged(result)
        value = risk.value_and_slope(scores)[0]
        std_error = within_std_error(risk.row_values(scores), strata)
        if is_overfitted(value, std_error):
            self._note(NegativeRiskWarning, describe_overfitting(value, std_error))
        return scores

    def _check_several_classes(self, n_classes: int) -> None:
        if self.variant != "mean":
            raise ValueError(
                f"Only binary classification is supported by variant={self.variant!r}, and y has "
                f"{n_classes} classes: use variant='mean'"
            )

    def _check_parameters(self) -> None:
        for name, known in (("variant", VARIANTS), ("start", STARTS)):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"unknown {name} {getattr(self, name)!r}: choose one of {', '.join(known)}"
                )

    @property
    def has_path(self) -> bool:
        """Whether a λ path replaces separate fits: not for "alternating", whose labels vary."""
        return bool(self.variant != "alternating")

    def _path(
        self, matrix: Any, strata: Strata, reg_strengths: Sequence[float], options: dict[str, Any]
    ) -> list[SolverResult]:
        combination = self._combination(self.variant, strata, lambda: bag_means(matrix, strata))
        risk = logistic_risk(combination, strata)
        objective = Objective(matrix, risk, reg_strengths[0], self.fit_intercept, strata.n_classes)
        return solve_path(objective, reg_strengths, **options)

    def _combination(
        self, start: str, strata: Strata, means: Callable[[], FloatArray]
    ) -> Combination:
        """Return the combination of bag means; `means` computes their features if needed."""
        sizes = strata.sizes.astype(float)
        if start == "mean":
            return combine_strata(
                sizes, strata.proportions, method="least_squares", target_prior="pooled"
            )
        if isinstance(self.similarity, str):
            if self.similarity != "gaussian":
                raise ValueError(
                    f"unknown similarity {self.similarity!r}: give 'gaussian' or a matrix"
                )
            similarity = gaussian_similarity(means())
        else:
            similarity = check_similarity(self.similarity, len(sizes))
        combination, converged = laplacian_combination(
            sizes, strata.proportions, similarity, self.smoothness
        )
        if not converged:
            self._note(
                ConvergenceWarning,
                f"the solver for the bags' class means did not converge at "
                f"smoothness={self.smoothness:g}: raise smoothness, or give a similarity that "
                "connects the bags",
            )
        return combination

    def _refuse_unbounded(self, strata: Strata) -> None:
        # Unless all bags are pure, the bag with the lowest proportion has a negative coefficient.
        is_pure = np.isin(strata.proportions, (0.0, 1.0)).all()
        has_minimum = self.reg_strength_ > 0 or is_pure
        if has_minimum or is_gradient_descent(self.solver):
            return
        raise ValueError(
            f"reg_strength={self.reg_strength_!r} with bags that are not pure: the estimated risk "
            "is unbounded below, so it has no minimum. Set reg_strength above 0"
        )

    def _alternate(
        self, X: Any, features: FeatureMap, strata: Strata, coef: FloatArray, scores: FloatArray
    ) -> FloatArray:
        """Label and refit in turn, starting from `scores`; keep the model with stable labels."""
        counts = positives_per_bag(strata)
        is_pos = label_top_rows(scores, strata, counts)
        rounds: list[_Round] = []
        n_iter, seen, is_over = self.n_iter_, set(), False
        while not is_over and len(rounds) < self.max_rounds:
            seen.add(is_pos.tobytes())
            terms = RiskTerms(is_pos / len(is_pos), ~is_pos / len(is_pos))
            result, scores = self._fit_scores(X, features, CorrectedRisk(terms, LOSS), coef)
            coef, n_iter = result.coef, n_iter + result.n_iter
            relabelled = label_top_rows(scores, strata, counts)
            is_stable = np.array_equal(relabelled, is_pos)
            rounds.append(_Round(not is_stable, result, scores, is_pos))
            # Each round lowers the objective, so earlier labels recur only through rounding errors.
            is_over = relabelled.tobytes() in seen
            is_pos = relabelled
        if not is_over:
            self._note(
                ConvergenceWarning,
                f"the labels still changed after max_rounds={self.max_rounds} refits; the best "
                "round is kept. Raise max_rounds or reg_strength",
            )
        best = min(rounds, key=lambda each: (each.changes, each.result.objective))
        self._note_unconverged(best.result)
        self._keep(X, features, best.result.coef)
        self.labels_ = self.classes_[best.is_pos.astype(np.intp)]
        self.n_rounds_, self.n_iter_ = len(rounds), n_iter
        return best.scores


@dataclass(frozen=True)
class _Round:
    """One refit: whether its scores change the labels, its solution, scores and labels."""

    changes: bool
    result: SolverResult
    scores: FloatArray
    is_pos: NDArray[np.bool_]


def positives_per_bag(strata: Strata) -> NDArray[np.intp]:
    """Return round(p_k·n_k).

    Raises
    ------
    ValueError
        If all rows would have the same label: a classifier needs two classes.
    """
    counts: NDArray[np.intp] = np.rint(strata.proportions * strata.sizes).astype(np.intp)
    if not 0 < counts.sum() < len(strata.row_stratum):
        raise ValueError(
            "every bag's p_k·n_k rounds to " + ("0" if counts.sum() == 0 else "its size") + ", so "
            "variant='alternating' would give all rows the same label; use larger bags or "
            "variant='mean'"
        )
    return counts


def label_top_rows(
    scores: FloatArray, strata: Strata, counts: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Return whether each row is among the counts[k] highest scores of its bag k."""
    order = np.lexsort((-scores, strata.row_stratum))
    first = np.cumsum(strata.sizes) - strata.sizes
    bag = strata.row_stratum[order]
    is_pos = np.empty(len(scores), dtype=bool)
    is_pos[order] = np.arange(len(scores)) - first[bag] < counts[bag]
    return is_pos
