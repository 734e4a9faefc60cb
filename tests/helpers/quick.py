"""Settings that make the automatic search fast, for tests that do not test the search itself."""

QUICK_GRID = {"reg_strengths": (0.1, 0.01), "kernel_gammas": ("scale",), "cv": 2}
QUICK_SEARCH = {**QUICK_GRID, "kernels": ("linear", "rbf")}
# The same for `decorrupt fit`.
QUICK_FIT = ("--method", "mean-map", "--kernel", "linear", "--reg-strength", 0.01, "--folds", 2)
