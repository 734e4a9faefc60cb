"""The alternation of ∝SVM: fit a support vector machine to labels, then choose the labels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed
from sklearn import config_context
from sklearn.svm import SVC

from decorrupt._typing import FloatArray
from decorrupt.baselines.psvm_labels import Labels, ProportionPenalty, best_labels, hinge

# LIBSVM's tolerance of the optimality conditions, in units of the score.
SVM_TOL = 1e-4
MAX_ROUNDS = 100  # per stage; usually a few are enough


@dataclass(frozen=True)
class Machine:
    """f = Σ_j dual_j·k(·, x_j) + b, a support vector machine.

    Attributes
    ----------
    dual : ndarray of shape (n_rows,)
        Zero except for the support vectors.
    intercept : float
        b.
    scores : ndarray of shape (n_rows,)
        f at the training rows.
    half_norm : float
        ½‖f − b‖².
    converged : bool
        Whether LIBSVM converged.
    """

    dual: FloatArray
    intercept: float
    scores: FloatArray
    half_norm: float
    converged: bool = True


@dataclass(frozen=True)
class Trial:
    """The current state of one start.

    Attributes
    ----------
    machine : Machine
        The support vector machine.
    labels : ndarray of −1 and +1, shape (n_rows,)
        The labels.
    history : tuple of (float, float)
        The stage's cost and the objective with that cost, per round so far.
    """

    machine: Machine
    labels: Labels
    history: tuple[tuple[float, float], ...] = ()

    def objective(self, penalty: ProportionPenalty, cost: float) -> float:
        """Return ½‖f‖² + cost·Σ hinge(y_i f_i) + penalty(y)."""
        losses = cost * float(hinge(self.labels * self.machine.scores).sum())
        return self.machine.half_norm + losses + penalty.value(self.labels)


def stage_costs(cost: float, annealing: tuple[float, float] | None) -> list[float]:
    """Return the costs C* of the stages, a geometric sequence above start·C that ends with C."""
    if annealing is None:
        return [cost]
    start, factor = annealing
    n_steps = int(np.ceil(np.log(1 / start) / np.log(factor)))
    return [cost * min(1.0, start * factor**k) for k in range(1, n_steps)] + [cost]


def alternate(
    gram: FloatArray,
    penalty: ProportionPenalty,
    starts: list[Labels],
    costs: list[float],
    *,
    tol: float,
    max_iter: int = -1,
    n_jobs: int | None = None,
) -> list[Trial]:
    """Return the result of the alternation with rising costs for every start.

    Starts with the same labels at the end of a stage are continued only once.

    Parameters
    ----------
    gram : ndarray of shape (n_rows, n_rows)
        K, in double precision and C order.
    penalty : ProportionPenalty
        The penalty of the bags.
    starts : list of ndarray of −1 and +1
        Labellings to start from.
    costs : list of float
        C* of each stage.
    tol : float
        A stage ends when a round lowers the objective by no more than this relative amount.
    max_iter : int
        Maximum number of LIBSVM iterations per machine; −1 for no limit.
    n_jobs : int or None
        Number of starts run in parallel, in threads: LIBSVM releases the interpreter's lock.
    """
    trials = [Trial(constant_machine(labels), labels) for labels in starts]
    with Parallel(n_jobs=n_jobs, prefer="threads") as pool:
        for cost in costs:
            distinct = {trial.labels.tobytes(): trial for trial in reversed(trials)}
            ended = pool(
                delayed(run_stage)(gram, penalty, trial, cost, tol, max_iter)
                for trial in distinct.values()
            )
            reached = dict(zip(distinct, ended, strict=True))
            trials = [reached[trial.labels.tobytes()] for trial in trials]
    return trials


def run_stage(
    gram: FloatArray,
    penalty: ProportionPenalty,
    trial: Trial,
    cost: float,
    tol: float,
    max_iter: int = -1,
) -> Trial:
    """Return the trial after alternating at one cost until the objective no longer decreases.

    A round that does not lower the objective, which LIBSVM's tolerance allows, is discarded. A
    trial whose machine did not converge is not continued: higher costs need even more iterations.
    """
    if not trial.machine.converged:
        return trial
    value = trial.objective(penalty, cost)
    for _ in range(MAX_ROUNDS):
        machine = refit(gram, trial, cost, max_iter)
        labels = best_labels(machine.scores, penalty, cost)
        following = replace(trial, machine=machine, labels=labels)
        lower = following.objective(penalty, cost)
        if not lower < value:
            break
        is_done = np.array_equal(labels, trial.labels) or value - lower <= tol * lower
        trial = replace(following, history=(*trial.history, (cost, lower)))
        value = lower
        if is_done or not machine.converged:
            break
    return trial


class _SilentSVC(SVC):
    """An SVC that does not warn if `fit_status_` is not 0; the caller does."""

    def _warn_from_fit_status(self) -> None:
        pass


def refit(gram: FloatArray, trial: Trial, cost: float, max_iter: int = -1) -> Machine:
    """Return the support vector machine of the labels, or the old one if all labels are equal."""
    labels = trial.labels
    if (labels == labels[0]).all():
        return trial.machine
    # K and the parameters were validated in fit; do not repeat it in every round.
    with config_context(assume_finite=True, skip_parameter_validation=True):
        svc = _SilentSVC(kernel="precomputed", C=cost, tol=SVM_TOL, max_iter=max_iter)
        svc.fit(gram, labels)
    dual = np.zeros(len(labels))
    dual[svc.support_] = svc.dual_coef_[0]
    centred = gram @ dual
    intercept = float(svc.intercept_[0])
    half_norm = 0.5 * float(dual @ centred)
    return Machine(dual, intercept, centred + intercept, half_norm, svc.fit_status_ == 0)


def constant_machine(labels: Labels) -> Machine:
    """Return the constant f = ±1 with the sign of most labels, the machine before the first fit."""
    intercept = 1.0 if labels.sum(dtype=int) > 0 else -1.0
    return Machine(np.zeros(len(labels)), intercept, np.full(len(labels), intercept), 0.0)
