"""Feature maps: linear, and low-rank kernel approximation with known error."""

from decorrupt.features.kernels import KERNELS, Kernel, resolve_kernel_gamma
from decorrupt.features.low_rank import CholeskyFactor, pivoted_cholesky
from decorrupt.features.maps import (
    DEFAULT_MAX_RANK,
    DEFAULT_RANK_TOL,
    FeatureMap,
    LinearMap,
    LowRankKernelMap,
    fit_feature_map,
    kernel_scores,
)

__all__ = [
    "DEFAULT_MAX_RANK",
    "DEFAULT_RANK_TOL",
    "KERNELS",
    "CholeskyFactor",
    "FeatureMap",
    "Kernel",
    "LinearMap",
    "LowRankKernelMap",
    "fit_feature_map",
    "kernel_scores",
    "pivoted_cholesky",
    "resolve_kernel_gamma",
]
