"""The names by which methods are asked for, and the estimators behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# {name: (candidates of AutoLabelProportionsClassifier, what it is)}
BAG_METHODS: dict[str, tuple[Any, str]] = {
    "auto": ("fast", "mean map, corrected loss and count likelihood, chosen by held-out bags"),
    "thorough": ("thorough", "all methods below but pairs, chosen by held-out bags"),
    "corrected": (["corrected_loss"], "the corrected loss with bags combined into superbags"),
    "pairs": ("pairs", "the corrected loss with bags in pairs, as published"),
    "count": (["count_likelihood"], "the exact likelihood of each bag's count of positives"),
    "mean-map": (["mean_map"], "logistic loss with the mean operator estimated from bag means"),
    "set": (["set_classification"], "set classification: tell the bags apart"),
    "matching": (["proportion_matching"], "cross-entropy of known and predicted proportions"),
    "invcal": (["invcal"], "inverse calibration, a support vector baseline"),
    "psvm": (["alternating_psvm"], "alternating ∝SVM, a support vector baseline"),
}
SOURCE_METHODS = {
    "auto": "corrected and forward, chosen by held-out rows",
    "corrected": "the corrected loss with optimal source weights",
    "forward": "the likelihood of the noisy labels",
}
# Kernels that can be computed from a table's rows.
KERNELS = ("linear", "rbf", "exponential", "laplacian", "polynomial")
PAIRS, PUBLISHED_KERNELS = "corrected_loss_pairs", ("rbf",)
# Methods that are, or try, support vector machines: their parameters are others.
WITHOUT_REG_STRENGTH = {"thorough": "invcal and psvm", "invcal": "invcal", "psvm": "psvm"}
# What the library itself calls them.
ALIASES = {
    "corrected-loss": "corrected",
    "label-proportions": "corrected",
    "count-likelihood": "count",
    "set-classification": "set",
    "proportion-matching": "matching",
    "alternating-psvm": "psvm",
}


def method_name(method: str, known: Any) -> str:
    """Return the name under which a method is listed in `known`.

    Raises
    ------
    ValueError
        If there is none; the message lists those there are.
    """
    name = method.lower().replace("_", "-")
    name = ALIASES.get(name, name)
    if name not in known:
        raise ValueError(f"unknown --method {method!r}: choose one of {', '.join(known)}")
    return name


def bag_candidates(name: str, kernels: Sequence[str] | None = None) -> Any:
    """Return what `AutoLabelProportionsClassifier(candidates=…)` is to try.

    "pairs" has the published kernel unless `kernels` are given; other methods take theirs from the
    parameter of the search.
    """
    candidates = BAG_METHODS[name][0]
    if candidates != "pairs":
        return candidates
    from decorrupt.estimators import CorrectedLossClassifier

    pairs = [
        CorrectedLossClassifier(kernel=kernel, combine="pairs", convex="ignore", fit_intercept=True)
        for kernel in kernels or PUBLISHED_KERNELS
    ]
    if len(pairs) == 1:
        return [(PAIRS, pairs[0])]
    return [(f"{PAIRS}_{one.kernel}", one) for one in pairs]
