"""Interim: sorted pairing only, until the full module arrives."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class BagPairs:
    """Interim."""

    pos: Any
    neg: Any
    gap: Any
    weight: Any
    unpaired: Any
    shortfall: float = 0.0


def pair_bags(proportions, sizes=None, *, method="auto", random_state=None):  # type: ignore
    """Interim."""
    if method not in ("auto", "sorted", "matching", "random"):
        raise ValueError(f"unknown method {method!r}: choose one of auto, sorted, matching, random")
    p = np.asarray(proportions, float)
    n = np.ones(len(p)) if sizes is None else np.asarray(sizes, float)
    o = np.argsort(p, kind="stable")
    h = len(p) // 2
    neg, pos = o[:h], o[::-1][:h]
    gap = p[pos] - p[neg]
    keep = gap > 0
    neg, pos, gap = neg[keep], pos[keep], gap[keep]
    w = n[pos] * n[neg] / (n[pos] + n[neg]) * gap**2
    un = np.setdiff1d(np.arange(len(p)), np.r_[neg, pos])
    return BagPairs(pos, neg, gap, w / w.sum(), un)
