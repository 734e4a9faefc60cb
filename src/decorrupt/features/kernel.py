"""The parameter object of a kernel and of the features that approximate it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from sklearn.base import BaseEstimator

from decorrupt.features.kernels import KernelFunction, resolve_kernel_gamma

DEFAULT_GAMMA = "scale"
DEFAULT_RANK_TOL = 1e-3


@dataclass(repr=False)
class Kernel(BaseEstimator):
    """A kernel and how it is approximated, for the parameter `kernel` of the estimators.

    A name is enough for most uses: ``kernel="linear"`` is ``kernel=Kernel("linear")``. The object
    has the parameters that are rarely changed. They are also parameters of the estimator, with the
    prefix ``kernel__``.

    ========================== =====================================
    ``rbf``                    exp(−γ‖x−x'‖²), the Gaussian kernel
    ``exponential``            exp(−γ‖x−x'‖), distance not squared
    ``laplacian``              exp(−γ‖x−x'‖₁)
    ``polynomial``             (γ⟨x, x'⟩ + coef0)^degree
    ``linear``                 ⟨x, x'⟩
    ``knn``                    diffusion on the graph of nearest rows
    ``pca_rbf``, ``pca8_rbf``  rbf on 20, or 8, principal components
    ``pca_knn``                knn on 20 principal components
    ``precomputed``            X contains the kernel values
    ========================== =====================================

    All but linear, polynomial and precomputed depend on distances between rows, so columns should
    have similar scales: put :class:`decorrupt.TailScaler` before the classifier in a pipeline.
    `fit` emits UnscaledColumnsWarning if the distances hardly depend on at least half of the
    columns.

    The kernels ``knn`` (10 nearest rows) and ``pca_…`` (half-whitened components) are fitted to
    all training rows, without labels, see :class:`~decorrupt.features.NeighbourMap` and
    :func:`~decorrupt.features.fit_principal_projection`.

    Parameters
    ----------
    name : str or callable, default="rbf"
        One of the names above, or a callable that takes two matrices and returns the kernel of all
        pairs of their rows.
    gamma : float, "scale" or "auto", default="scale"
        γ. "scale" is 1/(n_columns·Var X), where Var X is the mean of the columns' variances;
        "auto" is 1/n_columns. The principal components are scaled to the total variance of X, so γ
        has the same meaning for them. linear, precomputed and the knn kernels do not use it. Give
        γ here or as the estimator's `kernel_gamma`, not in both places.
    degree, coef0 : float, default=3 and 1.0
        Parameters of the polynomial kernel.
    rank_tol : float, default=1e-3
        Relative mean trace error of the low-rank approximation, by the kernel's values at
        landmarks, which are training rows; 0 uses the exact kernel.
    max_rank : int or None, default=None
        The largest rank of the approximation; None means 2,000 for up to 20,000 rows, then
        2,000·(20,000/n_rows)^0.3 with features in single precision, and what `memory_budget`
        allows (no limit if rank_tol is 0). The rank of the knn kernels is at most 101.
    memory_budget : int, str or None, default=None
        The memory that kernel features may take if `max_rank` is None: bytes, or a text such as
        "500MB" or "2GB"; None means a quarter of the machine's memory. If it lowers the rank,
        that is logged, and `kernel_error_` of the estimator is the error that remains.

    Examples
    --------
    >>> from decorrupt import Kernel, MeanMapClassifier
    >>> MeanMapClassifier(kernel=Kernel("polynomial", degree=2))
    MeanMapClassifier(kernel=Kernel(degree=2, name='polynomial'))
    >>> model = MeanMapClassifier(kernel=Kernel(max_rank=256))
    >>> model.set_params(kernel__max_rank=128).kernel.max_rank
    128
    """

    name: Any = "rbf"
    _: KW_ONLY
    gamma: float | str = DEFAULT_GAMMA
    degree: float = 3
    coef0: float = 1.0
    rank_tol: float = DEFAULT_RANK_TOL
    max_rank: int | None = None
    memory_budget: Any = None

    def function(self, X: Any, weights: Any = None) -> KernelFunction:
        """Return k(x, x') with γ as a number, which for "scale" depends on the training rows X."""
        return self.function_at(resolve_kernel_gamma(self.gamma, X, weights))

    def function_at(self, gamma: float) -> KernelFunction:
        """Return k(x, x') for a given γ."""
        return KernelFunction(self.name, gamma, self.degree, self.coef0)


def as_kernel(kernel: Any, kernel_gamma: float | str = DEFAULT_GAMMA) -> Kernel:
    """Return the Kernel that an estimator's parameters `kernel` and `kernel_gamma` describe.

    Raises
    ------
    ValueError
        If γ is set in both.
    """
    if not isinstance(kernel, Kernel):
        return Kernel(kernel, gamma=kernel_gamma)
    if _is_default(kernel_gamma):
        return kernel
    if _is_default(kernel.gamma):
        return replace(kernel, gamma=kernel_gamma)
    raise ValueError(
        f"γ is given twice, as kernel_gamma={kernel_gamma!r} and in kernel=Kernel(…, "
        f"gamma={kernel.gamma!r}): give one of them"
    )


def kernel_name(kernel: Any) -> Any:
    """Return the name, or the callable, of a parameter `kernel`."""
    return kernel.name if isinstance(kernel, Kernel) else kernel


def has_own_gamma(kernel: Any) -> bool:
    """Return whether a parameter `kernel` is an object with a γ other than the default."""
    return isinstance(kernel, Kernel) and not _is_default(kernel.gamma)


def _is_default(gamma: Any) -> bool:
    return isinstance(gamma, str) and gamma == DEFAULT_GAMMA
