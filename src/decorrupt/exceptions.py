"""The warnings of this library, one class for each thing a user may want to silence or catch."""


class NonConvexRiskWarning(UserWarning):
    """The objective is not convex, and the solver did not stop at a minimum of it."""


class NegativeRiskWarning(UserWarning):
    """The corrected training risk is below zero by more than noise explains: overfitting."""


class OneClassWarning(UserWarning):
    """The fitted model predicts one class for all training rows, which have two."""


class DroppedBagsWarning(UserWarning):
    """Some bags carry no weight in the risk, so their rows were not used."""


class SkippedFoldWarning(UserWarning):
    """A fold's held-out bags all have one proportion: a criterion cannot be computed there."""


class RoundedCountsWarning(UserWarning):
    """Some proportions are not a count of their bag's rows, not even a rounded one."""


class InexactPairingWarning(UserWarning):
    """A pairing meant to be optimal is proved so only up to its ``shortfall``."""


class UninformativeRatesWarning(UserWarning):
    """Noise rates may sum to one, where a label says nothing about the class."""
