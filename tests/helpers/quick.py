"""Settings that make the automatic search fast, for tests that do not test the search itself."""

from functools import partialmethod
from unittest.mock import patch

QUICK_GRID = {"reg_strengths": (0.1, 0.01), "kernel_gammas": ("scale",), "cv": 2}
QUICK_SEARCH = {**QUICK_GRID, "kernels": ("linear", "rbf")}
QUICK_SETTINGS = {"n_folds": 2, "kernels": ("linear",), "reg_strengths": (0.01,)}
# The fastest `decorrupt fit`.
QUICK_FIT = ("--method", "mean-map")


def quick_commands():
    """Let commands in this process train with QUICK_SETTINGS."""
    from decorrupt.app.training.settings import Settings

    return patch.object(Settings, "__init__", partialmethod(Settings.__init__, **QUICK_SETTINGS))
