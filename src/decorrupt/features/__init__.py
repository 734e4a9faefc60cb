"""Feature maps: linear, low-rank kernel with known error, and random Fourier features."""

from decorrupt.features.kernels import KERNELS, Kernel, resolve_kernel_gamma
from decorrupt.features.low_rank import CholeskyFactor, pivoted_cholesky
from decorrupt.features.maps import (
    DEFAULT_RANK_TOL,
    FEATURES,
    FeatureMap,
    LinearMap,
    LowRankKernelMap,
    RandomKernelMap,
    fit_feature_map,
    kernel_scores,
)
from decorrupt.features.memory_budget import DEFAULT_MAX_RANK, budget_in_bytes, default_max_rank
from decorrupt.features.random_fourier import DEFAULT_N_FEATURES, RandomFourierMap

__all__ = [
    "DEFAULT_MAX_RANK",
    "DEFAULT_N_FEATURES",
    "DEFAULT_RANK_TOL",
    "FEATURES",
    "KERNELS",
    "CholeskyFactor",
    "FeatureMap",
    "Kernel",
    "LinearMap",
    "LowRankKernelMap",
    "RandomFourierMap",
    "RandomKernelMap",
    "budget_in_bytes",
    "default_max_rank",
    "fit_feature_map",
    "kernel_scores",
    "pivoted_cholesky",
    "resolve_kernel_gamma",
]
