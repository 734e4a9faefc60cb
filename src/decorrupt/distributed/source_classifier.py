"""The Dask estimator for noisy labels of several sources."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.corruption.strata import BagTable
from decorrupt.distributed.blocks import Blocks
from decorrupt.distributed.classifier import DaskClassifier, Outcome, Problem, Work
from decorrupt.distributed.corrected import (
    as_columns,
    corrected_partitions,
    effective_sample_size,
    finish_corrected,
    refuse_unbounded,
)
from decorrupt.distributed.engine import Engine
from decorrupt.distributed.preparation import corrected_risk
from decorrupt.distributed.sample import share_by_source
from decorrupt.distributed.summary import BlockCells, Data, read_cells
from decorrupt.estimators import CorruptedSourcesClassifier
from decorrupt.estimators.class_sources import ClassSources
from decorrupt.estimators.inputs import NoisySources, read_noisy_labels, source_strata
from decorrupt.losses import get_loss
from decorrupt.notices import emit_notices
from decorrupt.solvers import Objective, solve

START_TOL = 1e-6


class DaskCorruptedSourcesClassifier(DaskClassifier):
    """min_f Σ_i (w_i/n_i)·Σ_j ℓ^ρ_i(f(x_ij), ỹ_ij) + λ‖f‖², over partitions.

    The same problem and solution as :class:`decorrupt.CorruptedSourcesClassifier` with the same
    features. One pass counts the labels of each source. Noise rates per row are not available;
    noise_rates="estimate" uses a sample of 20,000 rows, in equal parts from all sources.

    Parameters
    ----------
    client, n_features, max_passes
        As in :class:`DaskCorrectedLossClassifier`.
    noise_rates, class_priors, weights, combine, loss, kernel, kernel_gamma, reg_strength, \
target_prior, decision, convex, risk_correction, fit_intercept, solver, tol, max_iter, \
random_state
        As in :class:`decorrupt.CorruptedSourcesClassifier`.

    Attributes
    ----------
    n_passes_ : int
        Passes over the data.
    noise_rates_, noise_rate_intervals_, class_priors_, source_weights_, classes_, diagnostics_, \
score_prior_, decision_threshold_, dual_coef_, landmarks_, coef_, feature_coef_, frequencies_, \
intercept_, kernel_gamma_, reg_strength_, n_iter_, solver_, n_features_in_, feature_names_in_
        As in :class:`decorrupt.CorruptedSourcesClassifier`.
    """

    _twin = CorruptedSourcesClassifier
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sources": True, "noise_rates": True}

    def fit(self, X: Any, y: Any, *, sources: Any = None, noise_rates: Any = None) -> Self:
        """Train on rows whose labels y were flipped at known rates.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_rows, n_columns)
            The rows. The blocks of an array may be sparse.
        y : Dask array or series, or the name of a column of X
            Noisy labels; of two values the larger is the positive class.
        sources : Dask array or series, or the name of a column of X, optional
            The source of each row. None: one source.
        noise_rates : mapping, pair or matrix, optional
            Replaces the parameter `noise_rates`.

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ValueError
            As the estimator without Dask; also if partitions differ in width or dtype, or the
            scheduler cannot be reached.
        """
        self._rates = self.noise_rates if noise_rates is None else noise_rates
        try:
            emit_notices(self._train(X, y, sources, "sources"))
        finally:
            del self._rates
        return self

    def _read(self, engine: Engine, local: Any, blocks: Blocks) -> Data:
        data = read_cells(engine, blocks, _cell_table)
        local.classes_ = data.cells.classes  # type: ignore[union-attr]
        if data.table.n_classes is not None:
            local._check_several_classes(data.table.n_classes)
        return data

    def _problem(self, work: Work, local: Any) -> Problem:
        counts = work.data.table.sizes
        present = np.flatnonzero(counts)
        noisy = self._noisy(work, local, present)
        priors = local._read_priors(noisy)
        strata = source_strata(noisy, priors)
        table = BagTable.of(strata.ids, strata.proportions, counts[present])
        coef = _coef(local, noisy, priors, table)
        self._set_reg_strength(work, local, effective_sample_size(coef, table.sizes))
        refuse_unbounded(local, coef)
        of_cells = np.zeros((len(counts), coef.shape[1]))
        of_cells[present] = coef
        correction = local.risk_correction
        parts = corrected_partitions(work, of_cells, get_loss(local.loss), correction)
        return Problem(parts, coef, correction, table=table)

    def _noisy(
        self, work: Work, local: Any, present: NDArray[np.intp]
    ) -> NoisySources | ClassSources:
        """Return one entry per source and label, with its number of rows."""
        labels, sources = _cells(work.data, present)
        local.noise_rate_intervals_ = None
        rates = self._known_rates(work, local)
        noisy = read_noisy_labels(labels, local.classes_, sources, rates)
        local.noise_rates_ = noisy.rates_by_source
        return replace(noisy, multiplicity=work.data.table.sizes[present])

    def _known_rates(self, work: Work, local: Any) -> Any:
        rates, n_classes = self._rates, len(local.classes_)
        one_matrix = (n_classes, n_classes)
        if hasattr(rates, "to_delayed") or (np.ndim(rates) > 1 and np.shape(rates) != one_matrix):
            raise ValueError(
                "noise_rates per row are not available with Dask: give rates by source, one pair "
                "or matrix, 'estimate' or None"
            )
        if not isinstance(rates, str):
            return rates
        labels, sources = _cells(work.data, work.sample.codes)
        return local._estimate(work.sample.rows, local.classes_[labels], sources, rates)

    def _share_to_draw(self, data: Data, seed: int) -> FloatArray:  # noqa: ARG002
        assert data.cells is not None  # noqa: S101 — sources always have cells
        return share_by_source(data.cells.counts)

    def _start(self, work: Work, local: Any, problem: Problem) -> FloatArray:
        """Return the solution for the sample, in which a cell's rows represent all its rows."""
        sizes, codes = work.data.table.sizes, work.sample.codes
        weight = (sizes / np.maximum(np.bincount(codes, minlength=len(sizes)), 1))[codes]
        place = np.cumsum(sizes > 0) - 1
        coef = weight[:, None] * problem.coef[place[codes]]
        risk = corrected_risk(coef, get_loss(local.loss), local.risk_correction)
        n_classes, matrix = work.data.table.n_classes, work.sample_features
        objective = Objective(matrix, risk, local.reg_strength_, local.fit_intercept, n_classes)
        return solve(objective, solver="lbfgs", tol=local.tol, objective_tol=START_TOL).coef

    def _finish(self, work: Work, local: Any, problem: Problem, outcome: Outcome) -> None:
        finish_corrected(work, local, problem, outcome, "strata")


def _cell_table(cells: BlockCells) -> BagTable:
    """Return the cells; their proportions are not known before the rates are."""
    n_cells, n_classes = cells.counts.size, len(cells.classes)
    shape = (n_cells, n_classes) if n_classes > 2 else n_cells
    return BagTable.of(np.arange(n_cells), np.full(shape, 1 / n_classes), cells.counts.ravel())


def _coef(
    local: Any, noisy: NoisySources | ClassSources, priors: FloatArray, table: BagTable
) -> FloatArray:
    """Return the coefficients of each cell's rows, see :func:`corrected_risk`."""
    is_by_source = local.combine == "sources"
    if isinstance(noisy, ClassSources):
        by_source, by_strata = local._coef_by_source, local._coef_by_strata
        return np.asarray(by_source(noisy, priors) if is_by_source else by_strata(noisy, table))
    by_source, by_strata = local._terms_by_source, local._terms_by_strata
    return as_columns(by_source(noisy, priors) if is_by_source else by_strata(noisy, table))


def _cells(data: Data, codes: NDArray[np.intp]) -> tuple[NDArray[np.intp], Any]:
    """Return the numbers of the labels and the sources of some cells; None without sources."""
    assert data.cells is not None  # noqa: S101 — sources always have cells
    source, label = np.unravel_index(codes, data.cells.counts.shape)
    return label, data.cells.sources[source] if data.blocks.has_ids else None
