"""Settings that make the automatic search fast, for tests that do not test the search itself."""

from contextlib import contextmanager

import pytest

QUICK_GRID = {"reg_strengths": (0.1, 0.01), "kernel_gammas": ("scale",), "cv": 2}
QUICK_SEARCH = {**QUICK_GRID, "kernels": ("linear", "rbf")}
# The same for `decorrupt fit`.
QUICK_FIT = ("--method", "mean-map", "--kernel", "linear", "--reg-strength", 0.01, "--folds", 2)


@contextmanager
def few_trees():
    """Refine averages with forests of 5 trees instead of 100: faster to fit, save and load."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("decorrupt.model_selection.forest_round.N_TREES", 5)
        yield
