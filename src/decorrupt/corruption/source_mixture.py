"""A noisy source as two mixtures of the clean classes, and the ROC slopes that identify them."""

from __future__ import annotations

from dataclasses import dataclass

from decorrupt.corruption.weights import noisy_share
from decorrupt.observed import NoiseRates


@dataclass(frozen=True)
class SourceMixture:
    """P̃₊ = γ₊P₊ + (1−γ₊)P₋ and P̃₋ = γ₋P₊ + (1−γ₋)P₋, the two noisy classes of a source.

    q = P(Ỹ=1) is known from the labels. Given q, three parametrisations are equivalent: (γ₊, γ₋);
    the flip rates (ρ₊, ρ₋), which also give the class prior π; and the slopes of the ROC curve of
    P̃₊ against P̃₋ at its two ends.

    Parameters
    ----------
    share_pos : float in (0, 1)
        q, the share of positive labels.
    proportion_pos : float
        γ₊ = P(Y=1 | Ỹ=1), the share of positive labels that are right.
    proportion_neg : float
        γ₋ = P(Y=1 | Ỹ=−1), the share of negative labels that are wrong; below γ₊.

    Examples
    --------
    >>> from decorrupt.corruption import SourceMixture
    >>> mixture = SourceMixture.of_rates(0.5, (0.2, 0.2))
    >>> mixture.proportion_pos, round(mixture.proportion_neg, 3)
    (0.8, 0.2)
    """

    share_pos: float
    proportion_pos: float
    proportion_neg: float

    def __post_init__(self) -> None:
        if not 0 < self.share_pos < 1:
            raise ValueError(f"share_pos={self.share_pos!r} must lie strictly between 0 and 1")
        if not 0 <= self.proportion_neg < self.proportion_pos <= 1:
            raise ValueError(
                f"proportion_pos={self.proportion_pos!r} and proportion_neg="
                f"{self.proportion_neg!r} must be shares with proportion_neg below proportion_pos"
            )

    @classmethod
    def of_rates(cls, class_prior: float, rates: NoiseRates | tuple[float, float]) -> SourceMixture:
        """Return γ₊ = π(1−ρ₊)/q and γ₋ = πρ₊/(1−q), with q = π(1−ρ₊) + (1−π)ρ₋."""
        if not 0 < class_prior < 1:
            raise ValueError(f"class_prior={class_prior!r} must lie strictly between 0 and 1")
        flip_pos, flip_neg = NoiseRates.of(rates)
        share_pos = float(noisy_share(class_prior, flip_pos, flip_neg))
        return cls(
            share_pos,
            class_prior * (1 - flip_pos) / share_pos,
            class_prior * flip_pos / (1 - share_pos),
        )

    @property
    def slopes(self) -> tuple[float, float]:
        """κ₊ = κ(P̃₊|P̃₋) = (1−γ₊)/(1−γ₋) and κ₋ = κ(P̃₋|P̃₊) = γ₋/γ₊.

        κ(F|H) = inf F(S)/H(S) over sets S. κ₊ is attained on sets with negatives only: it is the
        slope of the ROC curve at its upper end. κ₋ is attained on sets with positives only: it is
        one over the slope at the lower end.
        """
        return (
            (1 - self.proportion_pos) / (1 - self.proportion_neg),
            self.proportion_neg / self.proportion_pos,
        )

    @property
    def class_prior(self) -> float:
        """π = qγ₊ + (1−q)γ₋."""
        return self.share_pos * self.proportion_pos + (1 - self.share_pos) * self.proportion_neg

    @property
    def rates(self) -> NoiseRates:
        """ρ₊ = (1−q)γ₋/π and ρ₋ = q(1−γ₊)/(1−π)."""
        prior = self.class_prior
        return NoiseRates(
            (1 - self.share_pos) * self.proportion_neg / prior,
            self.share_pos * (1 - self.proportion_pos) / (1 - prior),
        )
