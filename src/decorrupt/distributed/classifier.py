"""Base class of the Dask estimators: passes over partitions around an estimator without Dask."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from decorrupt._typing import FloatArray
from decorrupt.corruption.strata import BagTable
from decorrupt.distributed.blocks import Blocks, read_blocks
from decorrupt.distributed.engine import Engine, connect
from decorrupt.distributed.features import fit_features
from decorrupt.distributed.large_bags import LargeBags
from decorrupt.distributed.objective import PartitionedObjective, minimise
from decorrupt.distributed.parameters import OWN_DEFAULTS, init_like
from decorrupt.distributed.partition import ScoreModel, keep_features
from decorrupt.distributed.predictions import predict_lazily
from decorrupt.distributed.report import Report, partition_report
from decorrupt.distributed.sample import Sample, draw_sample, share_by_bag
from decorrupt.distributed.shuffle import scratch_folder
from decorrupt.distributed.summary import Data
from decorrupt.estimators.default_strength import resolve_reg_strength
from decorrupt.estimators.inputs import check_upper_has_bags
from decorrupt.estimators.parameters import check_count, check_parameters
from decorrupt.features import FeatureMap, LinearMap
from decorrupt.features.kernels import resolve_kernel_gamma
from decorrupt.notices import Notice
from decorrupt.solvers.result import SolverResult

DASK_SOLVERS = ("auto", "lbfgs")
# Besides the solver's: the bags and columns, the sample, and the report.
OTHER_PASSES = 3


@dataclass(frozen=True)
class Problem:
    """The sum to minimise.

    Attributes
    ----------
    partitions : list of Delayed
        :class:`decorrupt.distributed.Partition` each.
    coef : ndarray of shape (n_bags, n_classes) or None
        The coefficients of a corrected risk.
    correction : str or None
        The risk correction.
    large_bags : LargeBags or None
        Bags larger than a partition.
    dropped : dict
        Bags without weight, by reason.
    table : BagTable or None
        The strata that `coef` belong to, if they are not the bags of the first pass.
    is_vague : bool
        Whether counts are noisy or ranges, so that the class shares are known after the fit only.
    """

    partitions: list[Any]
    coef: Any = None
    correction: str | None = None
    large_bags: LargeBags | None = None
    dropped: dict[str, list[Any]] = field(default_factory=dict)
    table: BagTable | None = None
    is_vague: bool = False


@dataclass(frozen=True)
class Outcome:
    """The solution, the risk without penalty, and one report per partition."""

    result: SolverResult
    risk: float
    reports: list[Report]


@dataclass(frozen=True)
class Work:
    """What the steps of a fit share."""

    engine: Engine
    data: Data
    sample: Sample
    folder: Path
    features: Any
    fitted: FeatureMap
    memory_budget: Any

    def fits(self, n_bytes: float) -> bool:
        """Return whether so many bytes may be kept in memory."""
        return n_bytes <= self.engine.memory(self.memory_budget)

    @cached_property
    def sample_features(self) -> Any:
        """The features of the sample."""
        return self.features.transform(self.sample.rows)

    @property
    def rows_fit(self) -> bool:
        """Whether all rows may be kept in memory."""
        return self.fits(self.data.columns.n_bytes)


class DaskClassifier(ClassifierMixin, BaseEstimator):
    """A classifier trained by passes over the partitions of Dask arrays or dataframes.

    Subclasses name their estimator without Dask, `_twin`, and define `_read` and `_problem`.
    """

    _twin: ClassVar[Any]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "_twin" in vars(cls):
            cls.__init__ = init_like(cls._twin)  # type: ignore[method-assign]

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
        own = set(OWN_DEFAULTS)
        params = {k: v for k, v in self.get_params(deep=False).items() if k not in own}
        return clone(self._twin(**params))

    def _train(self, X: Any, y: Any, ids: Any, name: str, upper: Any = None) -> list[Notice]:
        check_upper_has_bags(upper, ids)
        local = self._new_local()
        self._check(local)
        seed = self._seed()
        with connect(self.client) as engine, scratch_folder(engine) as folder:
            data = self._read(engine, local, read_blocks(X, y, ids, name, upper))
            self._set_columns(local, data)
            data = self._kept(engine, local, data)
            work = self._features(engine, local, data, folder, seed)
            problem = self._problem(work, local)
            objective = self._objective(work, local, problem)
            start = self._start(work, local, problem)
            tol = max(self.tol, self._least_tol(work))
            result = minimise(objective, start, tol=tol, max_iter=self.max_iter)
            local._keep(work.sample.rows, work.fitted, result.coef)
            local.solver_, local.n_iter_ = "lbfgs", result.n_iter
            local._note_unconverged(result)
            reports = self._reports(work, local, objective, result.coef, problem.is_vague)
            outcome = Outcome(result, objective.risk(result.coef), reports)
            self._finish(work, local, problem, outcome)
        self._take_over(local, objective.n_passes + OTHER_PASSES)
        notices: list[Notice] = local._take_notices()
        return notices

    def _check(self, local: Any) -> None:
        check_parameters(local)
        check_count("n_features", self.n_features)
        check_count("max_passes", self.max_passes)
        if local.solver not in DASK_SOLVERS:
            raise ValueError(
                f"solver={local.solver!r} needs all rows at once: choose one of "
                f"{', '.join(DASK_SOLVERS)}"
            )

    def _seed(self) -> int:
        """Return the integer from which every step of the fit draws."""
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))

    @abstractmethod
    def _read(self, engine: Engine, local: Any, blocks: Blocks) -> Data:
        """Read the first pass; set the classes, prior and threshold of the local estimator."""

    @abstractmethod
    def _problem(self, work: Work, local: Any) -> Problem:
        """Return the sum to minimise; set λ."""

    @abstractmethod
    def _start(self, work: Work, local: Any, problem: Problem) -> FloatArray:
        """Return where the solver starts: the solution for the sample."""

    @abstractmethod
    def _finish(self, work: Work, local: Any, problem: Problem, outcome: Outcome) -> None:
        """Set the attributes that only this method has, and note what the user should know."""

    def _set_columns(self, local: Any, data: Data) -> None:
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

    def _kept(self, engine: Engine, local: Any, data: Data) -> Data:
        """Keep the rows in memory if they and their features fit, so that they are read once."""
        columns = data.columns
        kernel = local.chosen_kernel
        rank = columns.n_columns if kernel.name == "linear" else self.n_features
        features = columns.n_rows * rank * columns.dtype.itemsize
        if columns.n_bytes + features > engine.memory(kernel.memory_budget):
            return data
        return replace(data, blocks=replace(data.blocks, tasks=engine.persist(data.blocks.tasks)))

    def _share_to_draw(self, data: Data, seed: int) -> FloatArray:
        """Return the share of the rows of each bag, or cell, that the sample contains."""
        return share_by_bag(data.table.sizes, seed)

    def _features(self, engine: Engine, local: Any, data: Data, folder: Path, seed: int) -> Work:
        sample = draw_sample(engine, data, self._share_to_draw(data, seed), seed)
        kernel = local.chosen_kernel
        limit = min(self.n_features, kernel.max_rank or self.n_features)
        fitted, features = fit_features(local, data.columns, sample.rows, limit, seed)
        return Work(engine, data, sample, folder, features, fitted, kernel.memory_budget)

    def _objective(self, work: Work, local: Any, problem: Problem) -> PartitionedObjective:
        engine, columns, rank = work.engine, work.data.columns, work.fitted.rank
        n_classes, n_sums = work.data.table.n_classes, 1 if problem.correction is None else 2
        model = ScoreModel(work.features, rank, local.fit_intercept, n_classes, n_sums)
        partitions = problem.partitions
        if work.fits(columns.n_rows * rank * columns.dtype.itemsize):
            keep, features = engine.dask.delayed(keep_features), engine.dask.delayed(work.features)
            partitions = engine.persist([keep(part, features) for part in partitions])
            model = replace(model, features=None)
        elif work.rows_fit:
            partitions = engine.persist(partitions)
        return PartitionedObjective(
            engine,
            partitions,
            model,
            penalty=local.reg_strength_ * (1 if n_classes is None else 2),
            correction=problem.correction,
            large_bags=problem.large_bags,
            max_passes=self.max_passes,
        )

    def _set_reg_strength(self, work: Work, local: Any, n_rows: float) -> None:
        """Set λ for a risk that is worth `n_rows` labelled rows; `_problem` calls it."""

        def kernel_size() -> float:
            if isinstance(work.fitted, LinearMap):
                return work.data.columns.mean_squared_norm(centred=np.ndim(work.fitted.centre) > 0)
            return float(np.mean(local._kernel().diagonal(work.sample.rows)))

        local.reg_strength_ = resolve_reg_strength(
            local.reg_strength,
            prior_variance=local._prior_variance,
            n_rows=n_rows,
            kernel_size=kernel_size,
        )

    def _least_tol(self, work: Work) -> float:
        """Return the gradient norm below which single precision shows no further decrease."""
        if work.data.columns.dtype != np.float32:
            return 0.0
        values = work.sample_features
        stored = values.data if issparse(values) else values
        size = float(np.sqrt(np.sum(np.square(stored, dtype=float))))
        return float(np.sqrt(np.finfo(np.float32).eps) / 4 * size / np.sqrt(values.shape[0]))

    def _reports(
        self,
        work: Work,
        local: Any,
        objective: PartitionedObjective,
        coef: FloatArray,
        is_vague: bool,
    ) -> list[Report]:
        """Read the data once more: predicted classes and the noise of the risk."""
        make, model = work.engine.dask.delayed(partition_report), objective.shared_model
        # A shuffle makes fewer partitions if blocks are empty; its reports are not by bag.
        pairs = zip(objective.partitions, map(len, work.data.bags_of), strict=False)
        threshold = local.decision_threshold_
        tasks = [make(part, coef, model, threshold, n, is_vague) for part, n in pairs]
        reports = work.engine.compute(tasks)
        chosen = np.sum([report.n_chosen for report in reports], axis=0)
        local._note_predicted(np.flatnonzero(chosen), work.data.columns.n_rows)
        return reports

    def _take_over(self, local: Any, n_passes: int) -> None:
        for name in [*_fitted(self)]:
            delattr(self, name)
        self.__dict__.update(_fitted(local), n_passes_=n_passes)


def _fitted(estimator: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(estimator).items() if name.endswith("_")}
