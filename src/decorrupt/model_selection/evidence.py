"""How much the counts of held-out bags say: the gain of a model over the constant, in nats."""

from __future__ import annotations

import numpy as np

from decorrupt.exceptions import WeakEvidenceWarning
from decorrupt.notices import Notice

# Below this gain no method was better than chance in a way that could be trusted, see the guide.
WEAK_EVIDENCE = 5.0


def describe_evidence(gain_in_nats: float) -> str:
    """Return one sentence about the gain of a model's held-out counts over the constant."""
    gain = f"{gain_in_nats:.1f} nats"
    if gain_in_nats < 0:
        return (
            f"the model explains the counts of held-out bags no better than the class shares alone "
            f"({gain}): guessing is as good"
        )
    if gain_in_nats < WEAK_EVIDENCE:
        return (
            f"the model explains the counts of held-out bags hardly better than the class shares "
            f"alone ({gain}, less than {WEAK_EVIDENCE:g}): these bags hardly determine a classifier"
        )
    return (
        f"the model explains the counts of held-out bags better than the class shares alone, by "
        f"{gain}"
    )


def evidence_notes(gain_in_nats: float) -> list[str]:
    """Return the sentence for a leaderboard; none if the gain is not known."""
    return [] if np.isnan(gain_in_nats) else [describe_evidence(gain_in_nats)]


def weak_evidence_notices(gain_in_nats: float) -> list[Notice]:
    """Return a notice if the gain is below 5 nats."""
    if np.isnan(gain_in_nats) or gain_in_nats >= WEAK_EVIDENCE:
        return []
    return [Notice(WeakEvidenceWarning, describe_evidence(gain_in_nats))]
