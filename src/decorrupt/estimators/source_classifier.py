"""Base class of the estimators for noisy labels of several sources."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length

from decorrupt._typing import FloatArray
from decorrupt.estimators.inputs import read_labels
from decorrupt.estimators.score_classifier import ScoreClassifier
from decorrupt.notices import Notice, emit_notices


class SourceClassifier(ScoreClassifier):
    """A classifier trained on labels flipped at known rates; subclasses define `_fit_sources`."""

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sources": True, "noise_rates": True}

    def fit(self, X: Any, y: ArrayLike, *, sources: Any = None, noise_rates: Any = None) -> Self:
        """Train on rows whose labels y were flipped at known rates.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,)
            Noisy labels with two values; the larger is the positive class.
        sources : array-like of shape (n_rows,), optional
            The source of each row; any hashable ids. None: one source.
        noise_rates : array of shape (n_rows, 2), mapping or pair, optional
            Replaces the parameter `noise_rates`; an array gives one pair of rates per row.

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ValueError
            If a source has no rates, the two rates of a source sum to 1 or more, or a parameter is
            invalid.

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before it converged.
        OneClassWarning
            If the model predicts one class for all training rows.
        NegativeRiskWarning, NonConvexRiskWarning
            Methods with a corrected risk only, see `decorrupt.exceptions`.
        """
        emit_notices(self._train(X, y, sources=sources, noise_rates=noise_rates))
        return self

    def _train(
        self, X: Any, y: ArrayLike, *, sources: Any = None, noise_rates: Any = None
    ) -> list[Notice]:
        """Fit and return the warnings instead of emitting them; searches call it in threads."""
        self._take_notices()  # discard those of an earlier fit that failed
        X = self._read_rows(X, reset=True)
        check_consistent_length(X, y)
        self.classes_, labels = read_labels(y)
        noise_rates = self.noise_rates if noise_rates is None else noise_rates
        self._note_one_class(self._fit_sources(X, labels, sources, noise_rates))
        return self._take_notices()

    @abstractmethod
    def _fit_sources(
        self, X: Any, labels: NDArray[np.int_], sources: Any, noise_rates: Any
    ) -> FloatArray:
        """Train on validated rows with labels −1 and +1; return their raw scores."""
