"""What the steps of a fit share: the engine, the data, the sample and its features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse

from decorrupt.distributed.data import Data
from decorrupt.distributed.engine import Engine
from decorrupt.distributed.features import RowFeatures, fit_features
from decorrupt.distributed.objective import PartitionedObjective
from decorrupt.distributed.partition import ScoreModel, keep_features
from decorrupt.distributed.sample import Sample, draw_sample
from decorrupt.features import FeatureMap


@dataclass(frozen=True)
class PartitionedRisk:
    """The sum to minimise.

    Attributes
    ----------
    partitions : list of Delayed
        :class:`decorrupt.distributed.Partition` each.
    correction : str or None
        The risk correction.
    bag_problem : Problem
        The problem of the estimator without Dask with one entry per bag instead of per row, of a
        corrected risk.
    """

    partitions: list[Any]
    correction: str | None = None
    bag_problem: Any = None


@dataclass(frozen=True)
class Work:
    """What the steps of a fit share.

    Attributes
    ----------
    engine : Engine
        Where the passes run.
    local : estimator
        The estimator without Dask that is fitted.
    data : Data
        The blocks and their bags.
    seed : int
        From which every step draws.
    """

    engine: Engine
    local: Any
    data: Data
    seed: int

    @cached_property
    def sample(self) -> Sample:
        """Some rows; reading them is one pass."""
        return draw_sample(self.engine, self.data, self.seed)

    @cached_property
    def _maps(self) -> tuple[FeatureMap, RowFeatures]:
        rows, weights = self.sample.rows, self.sample.weights
        return fit_features(self.local, self.data.columns, rows, weights, self.seed)

    @property
    def fitted(self) -> FeatureMap:
        """The feature map fitted to the sample."""
        return self._maps[0]

    @property
    def features(self) -> RowFeatures:
        """What new rows need of the feature map."""
        return self._maps[1]

    @cached_property
    def sample_features(self) -> Any:
        """The features of the sample."""
        return self.features.transform(self.sample.rows)

    def fits(self, n_bytes: float) -> bool:
        """Return whether so many bytes may be kept in memory."""
        return n_bytes <= self.engine.memory()

    def set_reg_strength(self, n_rows: float) -> None:
        """Set λ for a risk that is worth `n_rows` labelled rows."""
        self.local.reg_strength_ = self.local.strength(n_rows, self._kernel_size)

    def _kernel_size(self) -> float:
        if self.fitted.is_linear:
            is_centred = np.ndim(self.fitted.centre) > 0
            return self.data.columns.mean_squared_norm(centred=is_centred)
        diagonal = self.local.kernel_function().diagonal(self.sample.rows)
        return float(np.average(diagonal, weights=self.sample.weights))

    def objective(self, risk: PartitionedRisk) -> PartitionedObjective:
        """Return the objective; features are kept in memory if they fit, otherwise rows."""
        local, engine, rank = self.local, self.engine, self.fitted.rank
        n_classes = len(local.classes_)
        n_sums = 1 if risk.correction is None else n_classes
        model = ScoreModel(self.features, rank, local.fit_intercept, n_classes, n_sums)
        partitions = risk.partitions
        if self.fits(self.data.columns.feature_bytes(rank)):
            keep, features = engine.dask.delayed(keep_features), engine.dask.delayed(self.features)
            partitions = engine.persist([keep(part, features) for part in partitions])
            model = replace(model, features=None)
        elif self.fits(self.data.columns.n_bytes):
            partitions = engine.persist(partitions)
        return PartitionedObjective(engine, partitions, model, local.reg_strength_, risk.correction)

    @property
    def least_tol(self) -> float:
        """The gradient norm below which single precision shows no further decrease."""
        if self.data.columns.dtype != np.float32:
            return 0.0
        values = self.sample_features
        stored = values.data if issparse(values) else values
        size = float(np.sqrt(np.sum(np.square(stored, dtype=float))))
        return float(np.sqrt(np.finfo(np.float32).eps) / 4 * size / np.sqrt(values.shape[0]))
