"""Where noise rates come from when nobody knows them, and what their uncertainty does."""

from decorrupt.noise_rates.estimate import RATE_METHODS, estimate_noise_rates
from decorrupt.noise_rates.mixture import SourceMixture
from decorrupt.noise_rates.result import NoiseRateEstimate

__all__ = ["RATE_METHODS", "NoiseRateEstimate", "SourceMixture", "estimate_noise_rates"]
