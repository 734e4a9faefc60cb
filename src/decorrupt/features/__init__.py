"""Feature maps: linear, low-rank kernel with known error, graph diffusion."""

from decorrupt.features.column_scales import check_magnitude, describe_hidden_columns
from decorrupt.features.kernel import (
    DEFAULT_RANK_TOL,
    Kernel,
    as_kernel,
    has_own_gamma,
    kernel_name,
)
from decorrupt.features.kernels import (
    FROM_ALL_ROWS,
    KERNELS,
    OF_DISTANCES,
    OF_SINGLE_ROWS,
    OF_SIZE_ONE,
    ON_COMPONENTS,
    WITHOUT_GAMMA,
    KernelFunction,
    column_means,
    column_variances,
    resolve_kernel_gamma,
    squared_norms,
)
from decorrupt.features.low_rank import CholeskyFactor, pivoted_cholesky
from decorrupt.features.maps import (
    FeatureMap,
    LinearMap,
    LowRankKernelMap,
    NeighbourMap,
    check_gram,
    fit_feature_map,
    kernel_scores,
    without_rows,
)
from decorrupt.features.memory_budget import (
    DEFAULT_MAX_RANK,
    budget_in_bytes,
    default_max_rank,
)
from decorrupt.features.neighbours import diffusion_features, neighbour_means
from decorrupt.features.principal import fit_principal_projection, project
from decorrupt.features.tail_scaler import TailScaler

__all__ = [
    "DEFAULT_MAX_RANK",
    "DEFAULT_RANK_TOL",
    "FROM_ALL_ROWS",
    "KERNELS",
    "OF_DISTANCES",
    "OF_SINGLE_ROWS",
    "OF_SIZE_ONE",
    "ON_COMPONENTS",
    "WITHOUT_GAMMA",
    "CholeskyFactor",
    "FeatureMap",
    "Kernel",
    "KernelFunction",
    "LinearMap",
    "LowRankKernelMap",
    "NeighbourMap",
    "TailScaler",
    "as_kernel",
    "budget_in_bytes",
    "check_gram",
    "check_magnitude",
    "column_means",
    "column_variances",
    "default_max_rank",
    "describe_hidden_columns",
    "diffusion_features",
    "fit_feature_map",
    "fit_principal_projection",
    "has_own_gamma",
    "kernel_name",
    "kernel_scores",
    "neighbour_means",
    "pivoted_cholesky",
    "project",
    "resolve_kernel_gamma",
    "squared_norms",
    "without_rows",
]
