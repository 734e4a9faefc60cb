"""How much held-out data say: the gain of a model over the constant, in nats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from decorrupt.exceptions import WeakEvidenceWarning
from decorrupt.notices import Notice

# Below this gain no method was better than chance in a way that could be trusted, see the guide.
WEAK_EVIDENCE = 5.0


@dataclass(frozen=True)
class Evidence:
    """The words for what is observed about labels.

    Attributes
    ----------
    observed : str
        What a model explains.
    constant : str
        What the constant explains it by.
    data : str
        What determines the classifier.
    """

    observed: str
    constant: str
    data: str

    def describe(self, gain_in_nats: float) -> str:
        """Return one sentence about the gain of a model over the constant."""
        gain = f"{gain_in_nats:.1f} nats"
        if gain_in_nats < 0:
            return (
                f"the model explains {self.observed} no better than {self.constant} alone "
                f"({gain}): it is no better than guessing"
            )
        if gain_in_nats < WEAK_EVIDENCE:
            return (
                f"the model explains {self.observed} hardly better than {self.constant} alone "
                f"({gain}, less than {WEAK_EVIDENCE:g}): {self.data} are too little "
                "evidence for a reliable classifier"
            )
        return f"the model explains {self.observed} better than {self.constant} alone, by {gain}"

    def notes(self, gain_in_nats: float) -> list[str]:
        """Return the sentence for a leaderboard; none if the gain is not known."""
        return [] if np.isnan(gain_in_nats) else [self.describe(gain_in_nats)]

    def notices(self, gain_in_nats: float) -> list[Notice]:
        """Return a notice if the gain is below 5 nats."""
        if np.isnan(gain_in_nats) or gain_in_nats >= WEAK_EVIDENCE:
            return []
        return [Notice(WeakEvidenceWarning, self.describe(gain_in_nats))]


BAG_EVIDENCE = Evidence("the counts of held-out bags", "the class shares", "these bags")
SOURCE_EVIDENCE = Evidence("held-out noisy labels", "the shares of the labels", "these labels")
