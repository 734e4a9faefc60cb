"""Alternating ∝SVM (Yu et al. 2013): a support vector machine with unknown row labels."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray
from decorrupt.baselines.psvm_alternation import alternate, stage_costs
from decorrupt.baselines.psvm_labels import PENALTIES, labels_at_random, proportion_penalty
from decorrupt.baselines.support_vector import (
    DEFAULT_MAX_ITER,
    SupportVectorClassifier,
    gram_matrix,
)
from decorrupt.estimators import check_choice
from decorrupt.observed import Observed, refuse_weights

DEFAULT_ANNEALING = (1e-4, 1.5)


class AlternatingPSVMClassifier(SupportVectorClassifier):
    """Support vector machine that guesses the labels inside the bags and refits in turns.

    It minimises ½‖f‖² + C·Σ_i hinge(y_i f(x_i)) + C_p·Σ_k s_k·|p̂_k(y) − p_k| over f and labels y_i
    = ±1, the ∝SVM of Yu et al. (2013). p̂_k(y) is the share of positive labels in bag k. Two steps
    alternate, and each is exact: fit a support vector machine to the current labels, then choose
    the best labels for its scores. The joint problem has many local minima. C is therefore raised
    to its value in stages, and the alternation runs from several random labellings; the result with
    the lowest objective is kept.

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
    annealing : (start, factor) or None, default=(1e-4, 1.5)
        C of the first stage is start·C; each stage multiplies it by factor until C is reached.
        None: one stage.
    tol : float, default=1e-2
        A stage ends when a round lowers the objective by no more than this relative amount, or when
        no label changes.
    max_iter : int, default=100_000
        Maximum number of LIBSVM iterations per support vector machine.
    kernel : str, callable or Kernel, default="rbf"
        rbf, exponential, laplacian, polynomial, linear, precomputed, or a callable that takes two
        matrices and returns the kernel of all their rows. A :class:`decorrupt.Kernel` also sets
        `degree` and `coef0`; the kernel is exact, so its other options are not used. The whole Gram
        matrix is kept in memory.
    kernel_gamma : float, "scale" or "auto", default="scale"
        The kernel's width parameter; "scale" is 1/(n_columns·Var X), "auto" is 1/n_columns.
    n_jobs : int or None, default=None
        Number of starts run in parallel; the result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the random starts.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        [0, 1] after training on bags, otherwise the two labels; the second is the positive class.
    objective_ : float
        The final objective, the lowest of all starts.
    start_objectives_ : ndarray of shape (n_starts,)
        The final objective of each start.
    labels_ : ndarray of shape (n_rows,)
        The final labels of the training rows, values of `classes_`.
    objective_history_ : ndarray of shape (n_iter_, 2)
        Per round of the best start: C of the stage, and the objective with that C. The objective
        never increases within a stage.
    n_iter_ : int
        Number of rounds of the best start.
    dual_coef_, landmarks_ : ndarray
        f(x) = Σ_m dual_coef_[m]·k(x, landmarks_[m]) + intercept_: the support vectors (kernel
        models).
    coef_ : ndarray of shape (n_columns,)
        f(x) = ⟨coef_, x⟩ + intercept_ (kernel="linear").
    intercept_ : float
        b, which is not penalised.
    kernel_gamma_ : float
        The kernel parameter as a number.
    class_prior_ : ndarray of shape (2,)
        The class shares among the training rows.
    n_features_in_, feature_names_in_
        Columns seen in fit.

    See Also
    --------
    ConvexPSVMClassifier : A convex relaxation of the same problem, without random starts.
    decorrupt.CountLikelihoodClassifier : The method to start with.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import bag_targets
    >>> from decorrupt.baselines import AlternatingPSVMClassifier
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 400)                  # not used in training
    >>> X = rng.normal(size=(400, 2)) + 2 * labels[:, None]
    >>> bags = np.arange(400) // 10
    >>> shares = {bag: labels[bags == bag].mean() for bag in range(40)}
    >>> model = AlternatingPSVMClassifier(n_starts=2, random_state=0)
    >>> model = model.fit(X, bag_targets(bags, shares), bags=bags)
    >>> bool(model.score(X, labels) > 0.85)
    True
    """

    needs_common_probabilities = True
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"bags": True}

    def __init__(
        self,
        *,
        C: float = 1.0,
        C_p: float = 10.0,
        penalty: str = "size",
        n_starts: int = 10,
        annealing: tuple[float, float] | None = DEFAULT_ANNEALING,
        tol: float = 1e-2,
        max_iter: int = DEFAULT_MAX_ITER,
        kernel: Any = "rbf",
        kernel_gamma: float | str = "scale",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.C_p = C_p
        self.penalty = penalty
        self.n_starts = n_starts
        self.annealing = annealing
        self.tol = tol
        self.max_iter = max_iter
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.n_jobs = n_jobs
        self.random_state = random_state

    # sample_weight is not in the signature: scikit-learn looks there for what can be used.
    def fit(self, X: Any, y: ArrayLike, *, bags: Any = None, **refused: Any) -> Self:
        """See :meth:`CorrectedLossClassifier.fit`; weights are refused: single rows get labels."""
        super().fit(X, y, bags=bags, **refused)
        return self

    def _fit_bags(self, X: Any, observed: Observed) -> FloatArray:
        refuse_weights(observed.weights, type(self).__name__)
        rows = self._training_rows(X)
        penalty = proportion_penalty(observed, self.C_p, self.penalty)
        starts = labels_at_random(penalty, self.n_starts, check_random_state(self.random_state))
        trials = alternate(
            gram_matrix(rows.matrix, self.kernel_function()),
            penalty,
            starts,
            stage_costs(self.C, self.annealing),
            tol=self.tol,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
        )
        self.start_objectives_ = np.array([trial.objective(penalty, self.C) for trial in trials])
        winner = trials[int(np.argmin(self.start_objectives_))]
        self.objective_ = float(self.start_objectives_.min())
        self.labels_ = self.classes_[(winner.labels > 0).astype(np.intp)]
        self.objective_history_ = np.array(winner.history).reshape(-1, 2)
        self.n_iter_ = len(winner.history)
        if not winner.machine.converged:
            self._note_max_iter()
        self._keep_dual(rows, winner.machine.dual, winner.machine.intercept)
        return winner.machine.scores

    def _check_parameters(self) -> None:
        check_choice("penalty", self.penalty, PENALTIES)
        if self.annealing is not None and not _is_schedule(self.annealing):
            raise ValueError(
                f"annealing={self.annealing!r}: give a pair (start, factor) with start above 0 and "
                "at most 1 and factor above 1, or None"
            )


def _is_schedule(annealing: Any) -> bool:
    if not isinstance(annealing, tuple | list) or len(annealing) != 2:
        return False
    start, factor = annealing
    return bool(0 < start <= 1 and 1 < factor < np.inf)
