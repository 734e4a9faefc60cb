"""How well data show that a model is better than guessing, in words."""

from __future__ import annotations

from decorrupt.exceptions import WeakEvidenceWarning
from decorrupt.model_selection.accuracy import MODERATE, STRONG, WEAK, AccuracyEstimate
from decorrupt.notices import Notice

SENTENCES = {
    STRONG: "the data clearly show that the model is better than guessing",
    MODERATE: "the data show that the model is better than guessing",
    WEAK: "the model is probably better than guessing, but the data do not show it",
}
NOT_BETTER = "the data do not show that the model is better than guessing"


def describe_evidence(accuracy: AccuracyEstimate) -> str:
    """Return one sentence about the evidence, with the accuracy."""
    return f"{SENTENCES.get(accuracy.evidence, NOT_BETTER)}: balanced accuracy {accuracy}"


def evidence_notices(accuracy: AccuracyEstimate) -> list[Notice]:
    """Return a notice if the interval of the accuracy contains that of guessing."""
    if accuracy.low > accuracy.guessing:
        return []
    advice = "; check it on labelled rows"
    return [Notice(WeakEvidenceWarning, describe_evidence(accuracy) + advice)]
