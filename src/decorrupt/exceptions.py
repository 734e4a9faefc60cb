"""Warning classes of this library, one per condition that a user may want to filter."""

__all__ = [
    "BagAssumptionWarning",
    "ContradictedRatesWarning",
    "DroppedBagsWarning",
    "InexactPairingWarning",
    "NegativeRiskWarning",
    "NonConvexRiskWarning",
    "OneClassWarning",
    "RoundedCountsWarning",
    "SkippedFoldWarning",
    "UninformativeRatesWarning",
    "UnscaledColumnsWarning",
    "WeakEvidenceWarning",
]


class NonConvexRiskWarning(UserWarning):
    """The objective is not convex, and the solver did not stop at a minimum."""


class NegativeRiskWarning(UserWarning):
    """The corrected training risk is below zero by more than noise explains: overfitting."""


class OneClassWarning(UserWarning):
    """The fitted model predicts the same class for all training rows, which contain two."""


class DroppedBagsWarning(UserWarning):
    """Some bags have no weight in the risk, so their rows were not used."""


class SkippedFoldWarning(UserWarning):
    """The held-out bags of a fold have equal proportions: a criterion is not computable there."""


class RoundedCountsWarning(UserWarning):
    """Some proportions are not possible with their bag's number of rows, even if rounded."""


class InexactPairingWarning(UserWarning):
    """More than 1,000 bags of unequal size are paired near the optimum, not at it."""


class UninformativeRatesWarning(UserWarning):
    """Noise rates may sum to 1, where labels contain no information about the class."""


class BagAssumptionWarning(UserWarning):
    """The bags differ in a way that the method assumes they do not, by a test at the 1 % level."""


class WeakEvidenceWarning(UserWarning):
    """The interval of the estimated accuracy contains that of guessing."""


class ContradictedRatesWarning(UserWarning):
    """The noisy labels contradict the stated noise rates, or a matrix has its rows in disorder."""


class UnscaledColumnsWarning(UserWarning):
    """Distances between rows hardly depend on most columns, and the kernel depends on distances."""
