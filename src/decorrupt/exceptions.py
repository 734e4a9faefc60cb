"""The warnings of this library, one class for each thing a user may want to silence or catch."""


class NonConvexRiskWarning(UserWarning):
    """The objective is not convex at this reg_strength: another minimum may exist."""


class NegativeRiskWarning(UserWarning):
    """The corrected training risk fell below zero, which no true risk does: overfitting."""


class DroppedBagsWarning(UserWarning):
    """Some bags carry no weight in the risk, so their rows were not used."""


class SkippedFoldWarning(UserWarning):
    """A fold's held-out bags all have one proportion: a criterion cannot be computed there."""


class RoundedCountsWarning(UserWarning):
    """Some proportions are no whole number of their bag's rows: the nearest count was taken."""


class InexactPairingWarning(UserWarning):
    """A pairing meant to be optimal is proved so only up to its ``shortfall``."""


class UninformativeRatesWarning(UserWarning):
    """Noise rates may sum to one, where a label says nothing about the class."""
