"""The Dask estimator for noisy labels of several sources."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from decorrupt.distributed.corrected import DaskCorrectedRiskClassifier
from decorrupt.distributed.data import sources_and_labels
from decorrupt.distributed.work import Work
from decorrupt.estimators import CorruptedSourcesClassifier
from decorrupt.observed import Observed, read_sources, refuse_weights


class DaskCorruptedSourcesClassifier(DaskCorrectedRiskClassifier):
    """:class:`decorrupt.CorruptedSourcesClassifier` over the partitions of Dask data.

    min_f Σ_i (w_i/n_i)·Σ_j ℓ^ρ_i(f(x_ij), ỹ_ij) + λ‖f‖², over partitions.

    The same problem and solution as :class:`decorrupt.CorruptedSourcesClassifier` with the same
    features. One pass counts the labels of each source. Noise rates per row are not available;
    noise_rates="estimate" uses a sample of 20,000 rows, in equal parts from all sources.

    Parameters
    ----------
    client, kernel, max_iter
        As in :class:`DaskCorrectedLossClassifier`.
    combine, loss, kernel_gamma, reg_strength, class_prior, decision, risk_correction, \
fit_intercept, tol, random_state
        As in :class:`decorrupt.CorruptedSourcesClassifier`.

    Attributes
    ----------
    n_passes_ : int
        Passes over the data.
    noise_rates_, noise_rate_intervals_, source_priors_, source_weights_, classes_, diagnostics_, \
class_prior_, decision_threshold_, dual_coef_, landmarks_, coef_, \
intercept_, kernel_gamma_, reg_strength_, n_iter_, n_features_in_, feature_names_in_
        As in :class:`decorrupt.CorruptedSourcesClassifier`.
    """

    _twin = CorruptedSourcesClassifier
    __metadata_request__fit: ClassVar[dict[str, bool]] = {
        "sources": True,
        "noise_rates": True,
        "source_priors": True,
        "sample_weight": True,
    }

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sources: Any = None,
        noise_rates: Any = None,
        source_priors: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Train on rows whose labels y were flipped at known rates.

        Parameters
        ----------
        X : Dask dataframe or array of shape (n_rows, n_columns)
            The rows. The blocks of an array may be sparse.
        y : name of a column of X, or Dask array with the chunks of X
            Noisy labels; of two values the larger is the positive class.
        sources : as y, optional
            The source of each row. None: one source.
        noise_rates, source_priors : optional
            As in :meth:`decorrupt.CorruptedSourcesClassifier.fit`.
        sample_weight : as y, optional
            How many rows each row represents.

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ValueError
            As the estimator without Dask; also if partitions differ in width or dtype.
        """
        known = {"rates": noise_rates, "priors": source_priors}
        self._train(X, y, sources, "sources", sample_weight=sample_weight, **known)
        return self

    def _observe(self, work: Work, **known: Any) -> Observed:
        """Return one entry per source and label, with its number of rows."""
        data, local = work.data, work.local
        sources, classes, codes = sources_and_labels(data)
        given = None if data.blocks.ids is None else sources
        rates = _known_rates(work, known["rates"], classes, codes, given)
        read = read_sources(codes, classes, given, rates, known["priors"])
        observed = Observed.of_sources(classes, read, data.sizes)
        local.keep_sources(observed)
        return observed


def _known_rates(
    work: Work,
    rates: Any,
    classes: NDArray[Any],
    codes: NDArray[np.intp],
    sources: NDArray[Any] | None,
) -> Any:
    """Return rates by source or for all rows; estimated from the sample if they are not given."""
    one_matrix = (len(classes), len(classes))
    if hasattr(rates, "to_delayed") or (np.ndim(rates) > 1 and np.shape(rates) != one_matrix):
        raise ValueError(
            "noise_rates per row are not available with Dask: give rates by source, one pair or "
            "matrix, 'estimate' or None"
        )
    if not isinstance(rates, str):
        return rates
    refuse_weights(work.sample.weights, f"noise_rates={rates!r}")
    rows, pairs = work.sample.rows, work.sample.codes
    by_row = None if sources is None else sources[pairs]
    return work.local.estimate_rates(rows, classes[codes[pairs]], rates, by_row, None)
