"""Base class of the classifiers around any learner: rows as the learner takes them."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import validate_data

from decorrupt.estimators import FLOATS, ScoreClassifier


class AnyLearnerClassifier(ScoreClassifier):
    """A classifier whose scores come from another learner."""

    def _read_rows(self, X: Any, *, reset: bool) -> Any:
        """Return validated rows; data frames stay as they are, with columns of all types."""
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        finite = "allow-nan" if self._takes_missing_values() else True
        return validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=finite
        )

    def _takes_missing_values(self) -> bool:
        return False
