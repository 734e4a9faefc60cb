"""Features of rows, described by a kernel: linear, low-rank with known error, graph diffusion."""

from decorrupt.features.columns import (
    TailScaler,
    check_magnitude,
    column_means,
    column_variances,
    describe_hidden_columns,
)
from decorrupt.features.kernel import (
    FROM_ALL_ROWS,
    KERNELS,
    OF_DISTANCES,
    OF_SINGLE_ROWS,
    ON_COMPONENTS,
    WITHOUT_GAMMA,
    Kernel,
    as_kernel,
    kernel_name,
    resolve_kernel_gamma,
    squared_norms,
)
from decorrupt.features.maps import (
    FeatureMap,
    fit_feature_map,
    kernel_scores,
)

__all__ = [
    "FROM_ALL_ROWS",
    "KERNELS",
    "OF_DISTANCES",
    "OF_SINGLE_ROWS",
    "ON_COMPONENTS",
    "WITHOUT_GAMMA",
    "FeatureMap",
    "Kernel",
    "TailScaler",
    "as_kernel",
    "check_magnitude",
    "column_means",
    "column_variances",
    "describe_hidden_columns",
    "fit_feature_map",
    "kernel_name",
    "kernel_scores",
    "resolve_kernel_gamma",
    "squared_norms",
]
