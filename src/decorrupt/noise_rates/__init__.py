"""Estimation of unknown noise rates."""

from decorrupt.noise_rates.annotators import (
    AnnotatorEstimate,
    estimate_noise_rates_from_annotators,
)
from decorrupt.noise_rates.audit import estimate_noise_rates_from_audit
from decorrupt.noise_rates.estimate import estimate_noise_rates
from decorrupt.noise_rates.result import NoiseRateEstimate

__all__ = [
    "AnnotatorEstimate",
    "NoiseRateEstimate",
    "estimate_noise_rates",
    "estimate_noise_rates_from_annotators",
    "estimate_noise_rates_from_audit",
]
