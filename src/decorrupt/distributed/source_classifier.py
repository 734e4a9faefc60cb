"""The Dask estimator for noisy labels of several sources."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.distributed.blocks import Blocks
from decorrupt.distributed.corrected import DaskCorrectedRiskClassifier
from decorrupt.distributed.data import Data, class_labels, read_labelled
from decorrupt.distributed.engine import Engine
from decorrupt.distributed.sample import share_by_source
from decorrupt.distributed.work import Work
from decorrupt.estimators import CorruptedSourcesClassifier
from decorrupt.notices import emit_notices
from decorrupt.observed import Observed, factorize, read_sources


class DaskCorruptedSourcesClassifier(DaskCorrectedRiskClassifier):
    """min_f Σ_i (w_i/n_i)·Σ_j ℓ^ρ_i(f(x_ij), ỹ_ij) + λ‖f‖², over partitions.

    The same problem and solution as :class:`decorrupt.CorruptedSourcesClassifier` with the same
    features. One pass counts the labels of each source. Noise rates per row are not available;
    noise_rates="estimate" uses a sample of 20,000 rows, in equal parts from all sources.

    Parameters
    ----------
    client, n_features, max_passes
        As in :class:`DaskCorrectedLossClassifier`.
    noise_rates, source_priors, weights, combine, loss, kernel, kernel_gamma, reg_strength, \
class_prior, decision, convex, risk_correction, fit_intercept, solver, tol, max_iter, \
random_state
        As in :class:`decorrupt.CorruptedSourcesClassifier`.

    Attributes
    ----------
    n_passes_ : int
        Passes over the data.
    noise_rates_, noise_rate_intervals_, source_priors_, source_weights_, classes_, diagnostics_, \
class_prior_, decision_threshold_, dual_coef_, landmarks_, coef_, feature_coef_, frequencies_, \
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

    def _read(self, engine: Engine, local: Any, blocks: Blocks) -> Data:  # noqa: ARG002
        return read_labelled(engine, blocks)

    def _share_to_draw(self, data: Data, seed: int) -> FloatArray:  # noqa: ARG002
        return share_by_source(factorize(_sources(data), "sources")[1], data.sizes)

    def _observe(self, work: Work) -> Observed:
        """Return one entry per source and label, with its number of rows."""
        data, local = work.data, work.local
        classes, codes = class_labels(data)
        sources = _sources(data) if data.blocks.has_ids else None
        rates = self._known_rates(work, classes, codes, sources)
        noisy = read_sources(codes, classes, sources, rates, local.source_priors)
        noisy = replace(noisy, weights=data.sizes)
        local.keep_sources(noisy)
        return noisy.observed()

    def _known_rates(
        self, work: Work, classes: NDArray[Any], codes: NDArray[np.intp], sources: Any
    ) -> Any:
        rates, one_matrix = self._rates, (len(classes), len(classes))
        if hasattr(rates, "to_delayed") or (np.ndim(rates) > 1 and np.shape(rates) != one_matrix):
            raise ValueError(
                "noise_rates per row are not available with Dask: give rates by source, one pair "
                "or matrix, 'estimate' or None"
            )
        if not isinstance(rates, str):
            return rates
        rows, pairs = work.sample.rows, work.sample.codes
        by_row = None if sources is None else sources[pairs]
        return work.local.estimate_rates(rows, classes[codes[pairs]], by_row, rates)


def _sources(data: Data) -> NDArray[Any]:
    """Return the source of every pair of source and label; 0 without sources."""
    sources = np.zeros(len(data.ids), dtype=object)
    if data.blocks.has_ids:
        sources[:] = [source for source, _ in data.ids.tolist()]
    return sources
