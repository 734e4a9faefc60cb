"""Base class of the Dask estimators: passes over partitions around an estimator without Dask."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from inspect import Parameter, Signature, signature
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from decorrupt._typing import FloatArray
from decorrupt.distributed.blocks import Blocks, read_blocks
from decorrupt.distributed.data import LABELS, Data, read_data
from decorrupt.distributed.engine import Engine
from decorrupt.distributed.features import check_features, largest_rank
from decorrupt.distributed.objective import PartitionedObjective
from decorrupt.distributed.partition import POSTERIORS, PROBABILITIES, Report, partition_report
from decorrupt.distributed.predictions import predict_lazily
from decorrupt.distributed.work import PartitionedRisk, Work
from decorrupt.estimators import LabelAccuracyMixin
from decorrupt.features import resolve_kernel_gamma
from decorrupt.losses import score_shape
from decorrupt.observed import Observed
from decorrupt.solvers import Objective, SolverResult, solve_lbfgs

# Besides the solver's: the bags and columns, the sample, and the report.
OTHER_PASSES = 3
# The start needs few digits; the tolerance is that of the objective per row.
START_TOL = 1e-6


@dataclass(frozen=True)
class Outcome:
    """The solution, the risk without penalty, and one report per partition."""

    result: SolverResult
    risk: float
    reports: list[Report]


def _has_probabilities(estimator: Any) -> bool:
    return hasattr(estimator._new_local(), "predict_proba")


class DaskClassifier(LabelAccuracyMixin, BaseEstimator):
    """A classifier trained by passes over the partitions of Dask arrays or dataframes.

    Subclasses name their estimator without Dask, `_twin`, and define `_observe`, `_problem` and
    `_finish`.
    """

    _twin: ClassVar[Any]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "_twin" in vars(cls):
            cls.__init__ = _init_like(cls._twin)  # type: ignore[method-assign]

    def to_local(self) -> Any:
        """Return the fitted estimator without Dask, with the same predictions.

        It can be saved with :func:`decorrupt.save` and used like any other.
        """
        check_is_fitted(self, "classes_")
        local = self._new_local()
        vars(local).update({k: v for k, v in _fitted(self).items() if k != "n_passes_"})
        return local

    def predict(self, X: Any) -> Any:
        """Return the class of each row of X, lazily and in the partitions of X."""
        return predict_lazily(self.to_local(), "predict", X)

    def decision_function(self, X: Any) -> Any:
        """Return f(x) minus the decision threshold, lazily and in the partitions of X."""
        return predict_lazily(self.to_local(), "decision_function", X)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any, class_prior: Any = None) -> Any:
        """Return P(Y | x), lazily and in the partitions of X.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_rows, n_columns)
            Rows to score.
        class_prior : float or array-like of shape (n_classes,), optional
            The class shares in the population of the rows, as in the estimator without Dask.

        Returns
        -------
        Dask array, or dataframe with a column per class, of shape (n_rows, n_classes)
        """
        return predict_lazily(self.to_local(), "predict_proba", X, class_prior=class_prior)

    def _new_local(self) -> Any:
        params = self.get_params(deep=False)
        del params["client"]
        return clone(self._twin(**params))

    def _train(
        self,
        X: Any,
        y: Any,
        ids: Any,
        name: str,
        *,
        upper: Any = None,
        sample_weight: Any = None,
        **known: Any,
    ) -> None:
        """Fit as `fit` does; `known` is what `_observe` gets besides the data."""
        local = self._new_local()
        local.check()
        check_features(local.chosen_kernel)
        engine = Engine(self.client)
        blocks = read_blocks(X, y, ids, name, upper, sample_weight)
        data = read_data(engine, blocks, self._kind_of_targets(local, blocks))
        _keep_columns(local, data)
        work = Work(engine, local, _kept_rows(engine, local, data), self._seed())
        observed = self._observe(work, **known)
        local.keep_classes(observed)
        partitioned = self._problem(work, observed)
        objective = work.objective(partitioned)
        outcome = self._solved(work, observed, objective)
        self._finish(work, observed, partitioned, outcome)
        self._warn_of_assumptions(work, observed)
        self._take_over(local, objective.n_passes + OTHER_PASSES)

    def _seed(self) -> int:
        """Return the integer from which every step of the fit draws."""
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))

    def _kind_of_targets(self, local: Any, blocks: Blocks) -> str:  # noqa: ARG002
        """Return what y contains, see :func:`read_data`."""
        return LABELS

    @abstractmethod
    def _observe(self, work: Work, **known: Any) -> Observed:
        """Return what is known about the labels: one entry per bag, weighted by its rows."""

    @abstractmethod
    def _problem(self, work: Work, observed: Observed) -> PartitionedRisk:
        """Return the sum to minimise; set λ."""

    @abstractmethod
    def _finish(
        self, work: Work, observed: Observed, partitioned: PartitionedRisk, outcome: Outcome
    ) -> None:
        """Set the attributes that only this method has, and note what the user should know."""

    def _warn_of_assumptions(self, work: Work, observed: Observed) -> None:
        """Warn if the bags of the sample contradict what the method assumes."""

    def _solved(self, work: Work, observed: Observed, objective: PartitionedObjective) -> Outcome:
        """Minimise, keep the solution in the local estimator, and read the data once more."""
        local, tol = work.local, max(self.tol, work.least_tol)
        start = self._start(work, observed, objective.penalised)
        result = solve_lbfgs(objective, start, tol=tol, max_iter=self.max_iter)
        result = replace(result, gradient_tol=tol)
        local.keep(work.sample.rows, work.fitted, result.coef)
        local.keep_result(result)
        report, model = work.engine.dask.delayed(partition_report), objective.shared_model
        sum_of = POSTERIORS if observed.is_inexact else ""
        if getattr(local, "bag_effect_", 0):
            sum_of = PROBABILITIES
        last = result.coef, model, local.decision_threshold_, sum_of
        reports = work.engine.compute([report(part, *last) for part in objective.partitions])
        chosen = np.sum([own.n_chosen for own in reports], axis=0)
        local.warn_if_one_class(np.flatnonzero(chosen), work.data.columns.n_rows)
        value = result.objective - objective.penalised.penalty_and_slope(result.coef)[0]
        return Outcome(result, value, reports)

    def _start(self, work: Work, observed: Observed, penalised: Objective) -> FloatArray:  # noqa: ARG002
        """Return where the solver starts."""
        return sample_solution(work, observed, work.local)

    def _take_over(self, local: Any, n_passes: int) -> None:
        for name in [*_fitted(self)]:
            delattr(self, name)
        self.__dict__.update(_fitted(local), n_passes_=n_passes)


def _init_like(twin: type) -> Any:
    """Return an ``__init__`` with the parameters of `twin` and `client`.

    scikit-learn reads the parameters from its signature.
    """
    this = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    client = Parameter("client", Parameter.KEYWORD_ONLY, default=None)
    expected = Signature([this, *signature(twin).parameters.values(), client])

    def init(self: Any, *args: Any, **given: Any) -> None:
        bound = expected.bind(self, *args, **given)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            setattr(self, name, value)

    init.__signature__ = expected  # type: ignore[attr-defined]
    return init


def sample_solution(work: Work, observed: Observed, local: Any) -> FloatArray:
    """Return the solution for the sample; zero if its bags do not distinguish the classes.

    Parameters
    ----------
    work : Work
        The sample and its features.
    observed : Observed
        What is known about the labels of all rows.
    local : estimator
        Its method is used.
    """
    sample, reg_strengths = work.sample.observed(observed), [local.reg_strength_]
    shape = score_shape(observed.n_classes)
    try:
        path = local.fit_path(work.sample_features, sample, reg_strengths, objective_tol=START_TOL)
    except ValueError:
        return np.zeros((work.fitted.rank + local.fit_intercept, *shape)).ravel()
    start = path.coefs[:, 0]
    if local.fit_intercept:
        start = np.concatenate([start, path.intercepts[:1]])
    return np.asarray(start, dtype=float).ravel()


def _fitted(estimator: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(estimator).items() if name.endswith("_")}


def _keep_columns(local: Any, data: Data) -> None:
    """Set what the local estimator knows about the columns, and γ."""
    columns = data.columns
    local.n_features_in_ = columns.n_columns
    if data.blocks.columns is not None:
        local.feature_names_in_ = np.array(data.blocks.columns, dtype=object)
    gamma = local.chosen_kernel.gamma
    if gamma == "scale":
        variance = columns.variance
        local.kernel_gamma_ = 1 / (columns.n_columns * variance) if variance > 0 else 1.0
    else:
        local.kernel_gamma_ = resolve_kernel_gamma(gamma, np.empty((0, columns.n_columns)))


def _kept_rows(engine: Engine, local: Any, data: Data) -> Data:
    """Keep the rows in memory if they and their features fit, so that they are read once."""
    columns = data.columns
    features = columns.feature_bytes(largest_rank(local.chosen_kernel, columns.n_columns))
    if columns.n_bytes + features > engine.memory():
        return data
    return replace(data, blocks=replace(data.blocks, tasks=engine.persist(data.blocks.tasks)))
