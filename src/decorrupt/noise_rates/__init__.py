"""Estimation of unknown noise rates, and sensitivity of models to their uncertainty."""

from decorrupt.noise_rates.annotators import (
    AnnotatorEstimate,
    estimate_noise_rates_from_annotators,
)
from decorrupt.noise_rates.audit import estimate_noise_rates_from_audit
from decorrupt.noise_rates.estimate import RATE_METHODS, estimate_noise_rates
from decorrupt.noise_rates.result import NoiseRateEstimate
from decorrupt.noise_rates.sensitivity import Sensitivity, sensitivity

__all__ = [
    "RATE_METHODS",
    "AnnotatorEstimate",
    "NoiseRateEstimate",
    "Sensitivity",
    "estimate_noise_rates",
    "estimate_noise_rates_from_annotators",
    "estimate_noise_rates_from_audit",
    "sensitivity",
]
