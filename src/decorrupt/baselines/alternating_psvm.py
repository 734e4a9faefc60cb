"""Alternating ∝SVM (Yu et al. 2013): a support vector machine with unknown row labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.svm import SVC
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray
from decorrupt.baselines.support_vector import MAX_ITER, SupportVectorClassifier
from decorrupt.estimators import check_choice, estimator
from decorrupt.observed import Observed, refuse_weights

# C of each stage, relative to the parameter C.
STAGES = np.minimum(1.0, 1e-4 * 1.5 ** np.arange(1, 24))
# LIBSVM's tolerance of the optimality conditions, in units of the score.
SVM_TOL = 1e-4
MAX_ROUNDS = 100  # per stage; usually a few are enough
Labels = NDArray[np.int8]  # −1 and +1


@estimator
class AlternatingPSVMClassifier(SupportVectorClassifier):
    """Support vector machine that guesses the labels inside the bags and refits in turns.

    It minimises ½‖f‖² + C·Σ_i hinge(y_i f(x_i)) + C_p·Σ_k s_k·|p̂_k(y) − p_k| over f and labels y_i
    = ±1, the ∝SVM of Yu et al. (2013). p̂_k(y) is the share of positive labels in bag k. Two steps
    alternate, and each is exact: fit scikit-learn's SVC to the current labels, then choose the best
    labels for its scores. The joint problem has many local minima. C is therefore raised to its
    value in 23 stages, from 1e-4·C by a factor of 1.5, and the alternation runs from several random
    labellings; the result with the lowest objective is kept. The Gram matrix is kept in memory.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the hinge loss.
    C_p : float, default=10.0
        Weight of the difference between a bag's share of positive labels and p_k. If it is small
        compared with C, the minimum gives all rows the same label.
    penalty : {"size", "bag"}, default="size"
        "size": s_k = n_k, the number of rows, as in the authors' code. "bag": s_k = 1, as in their
        paper.
    n_starts : int, default=10
        Number of random labellings to start from, each as close to the proportions as whole rows
        allow. With an even number the two classes are treated symmetrically.
    tol : float, default=1e-2
        A stage ends when a round lowers the objective by no more than this relative amount, or when
        no label changes.
    n_jobs : int or None, default=None
        Number of starts run in parallel; the result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the random starts.

    Attributes
    ----------
    objective_ : float
        The final objective, the lowest of all starts.
    labels_ : ndarray of shape (n_rows,)
        The chosen labels of the training rows, values of `classes_`.
    dual_coef_, landmarks_, coef_, intercept_
        f(x) = Σ_m dual_coef_[m]·k(x, landmarks_[m]) + intercept_, with the support vectors as
        landmarks; or f(x) = ⟨coef_, x⟩ + intercept_ (kernel="linear").
    classes_, class_prior_, kernel_gamma_, n_features_in_, feature_names_in_
        The two classes and their shares among the training rows; γ as a number; the columns.

    See Also
    --------
    InvCalClassifier : A support vector regression of the bags' means, without random starts.
    decorrupt.CountLikelihoodClassifier : The method to start with.

    Examples
    --------
    >>> from decorrupt.baselines import AlternatingPSVMClassifier
    >>> from decorrupt.datasets import load_digits_bags
    >>> data = load_digits_bags(bag_size=8, test_size=1400)
    >>> model = AlternatingPSVMClassifier(n_starts=2, random_state=0)
    >>> model = model.fit(data.X, data.y, bags=data.bags)
    >>> bool(model.score(data.X_test, data.y_test) > 0.8)
    True
    """

    needs_common_probabilities: ClassVar[bool] = True
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"bags": True}

    C: float = 1.0
    C_p: float = 10.0
    penalty: str = "size"
    n_starts: int = 10
    tol: float = 1e-2
    n_jobs: int | None = None
    random_state: Any = None

    # sample_weight is not in the signature: scikit-learn looks there for what can be used.
    def fit(self, X: Any, y: Any, *, bags: Any = None, **refused: Any) -> Self:
        """See :meth:`CorrectedLossClassifier.fit`; weights are refused: single rows get labels."""
        return super().fit(X, y, bags=bags, **refused)

    def check(self) -> None:
        """Raise ValueError if a parameter is invalid regardless of the data."""
        super().check()
        check_choice("penalty", self.penalty, ("size", "bag"))

    def _fit_rows(self, X: Any, observed: Observed) -> tuple[FloatArray, float]:
        refuse_weights(observed.weights, type(self).__name__)
        gram = np.ascontiguousarray(self.kernel_rows(X), dtype=np.float64)  # as LIBSVM reads it
        sizes = observed.sizes if self.penalty == "size" else np.ones(observed.n_bags)
        turns = Alternation(gram, observed, self.C_p * sizes, self.tol)
        starts = turns.random_labels(self.n_starts, check_random_state(self.random_state))
        different = {labels.tobytes(): labels for labels in starts}.values()
        jobs = (delayed(turns.run)(labels, self.C) for labels in different)
        # Threads share K, and LIBSVM releases the interpreter's lock.
        trials = Parallel(n_jobs=self.n_jobs, prefer="threads")(jobs)
        winner = min(trials, key=lambda trial: turns.objective(trial, self.C))
        self.objective_ = turns.objective(winner, self.C)
        self.labels_ = self.classes_[(winner.labels > 0).astype(np.intp)]
        return winner.dual, winner.intercept


@dataclass(frozen=True)
class Trial:
    """Labels, and the machine f = Σ_j dual_j·k(·, x_j) + intercept for which they are the best."""

    labels: Labels
    dual: FloatArray
    intercept: float


@dataclass(frozen=True)
class Alternation:
    """The two steps of ∝SVM in turns; `gram` is K, `bag_costs` are C_p·s_k."""

    gram: FloatArray
    observed: Observed
    bag_costs: FloatArray
    tol: float

    def objective(self, trial: Trial, cost: float) -> float:
        """Return ½‖f‖² + cost·Σ hinge(y_i f_i) + Σ_k C_p·s_k·|p̂_k(y) − p_k|."""
        pull = self.gram @ trial.dual
        losses = np.maximum(0.0, 1.0 - trial.labels * (pull + trial.intercept))
        shares = self.observed.sum_by_bag(trial.labels > 0) / self.observed.sizes
        penalty = self.bag_costs @ np.abs(shares - self.observed.proportions[:, 1])
        return float(0.5 * trial.dual @ pull + cost * losses.sum() + penalty)

    def best_labels(self, scores: FloatArray, cost: float) -> Labels:
        """Return argmin_y cost·Σ_i hinge(y_i f_i) + Σ_k C_p·s_k·|p̂_k(y) − p_k|.

        The R positives of a bag must be its R highest scores. In decreasing order of scores, the
        r-th positive label saves hinge(−f_r) − hinge(f_r) = f_r + clip(f_r, −1, 1), which does not
        increase in r, and changes the penalty by a step that does not decrease in r. The objective
        is therefore convex in R, and row r is positive iff its saving exceeds its step.
        """
        sizes, counts = self.observed.sizes, self.observed.sizes * self.observed.proportions[:, 1]
        order = np.lexsort((-scores, self.observed.row_bag))
        bag = self.observed.row_bag[order]
        rank = np.arange(1, len(bag) + 1) - (np.cumsum(sizes) - sizes)[bag]
        # |t| − |t−1| with t = r − n_k·p_k; in this form rounding cannot make it decrease in r.
        steps = (self.bag_costs / sizes)[bag] * np.clip(2 * (rank - counts[bag]) - 1, -1, 1)
        savings = cost * (scores + np.clip(scores, -1, 1))[order]
        labels = np.empty(len(scores), dtype=np.int8)
        labels[order] = np.where(savings > steps, 1, -1)
        return labels

    def random_labels(self, n_starts: int, random_state: np.random.RandomState) -> list[Labels]:
        """Return random labellings as close to the proportions as whole rows allow.

        Every second labelling uses the negated priorities of the one before. The starts for
        proportions p are then those for 1−p with the classes swapped.
        """
        priorities = random_state.standard_normal(((n_starts + 1) // 2, len(self.gram)))
        # The cost is so small that the scores decide only between counts with the same penalty.
        cost = 1e-6 * float(np.min(self.bag_costs / self.observed.sizes))
        return [self.best_labels(s * p, cost) for p in priorities for s in (1, -1)][:n_starts]

    def run(self, labels: Labels, cost: float) -> Trial:
        """Return the trial after all stages; before the first fit, f is the most frequent label."""
        constant = 1.0 if labels.sum(dtype=int) > 0 else -1.0
        trial = Trial(labels, np.zeros(len(labels)), constant)
        for stage_cost in cost * STAGES:
            trial = self.stage(trial, stage_cost)
        return trial

    def stage(self, trial: Trial, cost: float) -> Trial:
        """Return the trial after rounds at one cost, until the objective no longer decreases.

        A round that does not lower the objective, which LIBSVM's tolerance allows, is discarded.
        """
        value = self.objective(trial, cost)
        for _ in range(MAX_ROUNDS):
            following = self.next_round(trial, cost)
            lower = self.objective(following, cost)
            if not lower < value:
                break
            previous, trial = trial, following
            if np.array_equal(trial.labels, previous.labels) or value - lower <= self.tol * lower:
                break
            value = lower
        return trial

    def next_round(self, trial: Trial, cost: float) -> Trial:
        """Return the machine of the labels (if all are equal, the previous one), and new labels."""
        if trial.labels.min() < trial.labels.max():
            # K and the parameters were validated in fit; do not repeat it in every round.
            with config_context(assume_finite=True, skip_parameter_validation=True):
                svc = SVC(kernel="precomputed", C=cost, tol=SVM_TOL, max_iter=MAX_ITER)
                svc.fit(self.gram, trial.labels)
            dual = np.zeros(len(self.gram))
            dual[svc.support_] = svc.dual_coef_[0]
            trial = Trial(trial.labels, dual, float(svc.intercept_[0]))
        scores = self.gram @ trial.dual + trial.intercept
        return replace(trial, labels=self.best_labels(scores, cost))
