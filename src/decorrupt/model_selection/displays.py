"""Plots in the style of scikit-learn's displays: each keeps the numbers that it draws.

``from_estimator`` computes the numbers and draws them; ``plot`` draws them again, for example into
axes of your own. matplotlib is imported when a figure has to be made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from decorrupt.extras import import_pyplot
from decorrupt.model_selection.calibration import (
    CalibrationBin,
    calibration_curve_from_proportions,
)
from decorrupt.model_selection.leaderboard import describe_params
from decorrupt.observed import as_observed


class AxesDisplay:
    """A plot that draws into given axes or into a new figure, kept as `ax_` and `figure_`."""

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None, **style: Any) -> Self:
        """Draw the numbers.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw. Default: a new figure.
        **style
            Passed to matplotlib, such as ``color="black"``.

        Raises
        ------
        ImportError
            If a figure is needed and matplotlib is not installed
            (``pip install 'decorrupt[report]'``).
        """
        if ax is None:
            _, ax = import_pyplot("plot()").subplots(layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        self._draw(ax, **style)
        return self

    def _draw(self, ax: Any, **style: Any) -> None:
        raise NotImplementedError


@dataclass
class BagCalibrationDisplay(AxesDisplay):
    """The share of a class among rows of similar probability, ± two standard errors, from bags.

    Attributes
    ----------
    bins : list of CalibrationBin
        From :func:`decorrupt.model_selection.calibration_curve_from_proportions`.
    label : object
        The class.
    """

    bins: Sequence[CalibrationBin]
    label: Any = "positives"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        bags: Any,
        label: Any = None,
        n_bins: int = 5,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Estimate the calibration of a model without labels, and draw it.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier of decorrupt, or a pipeline that ends with one.
        X, y, bags
            As in `fit`. Rows that the model was not fitted to show how good it is.
        label : object, optional
            The class, one of `classes_`. Default: the last.
        n_bins : int, default=5
            Number of bins; they have about equal numbers of rows.
        ax, **style
            As in `plot`.
        """
        observed, classes = as_observed(y, bags=bags, check=False), list(estimator.classes_)
        if label is not None and label not in classes:
            raise ValueError(
                f"label={label!r} is not a class of the model: choose one of {classes}"
            )
        c = len(classes) - 1 if label is None else classes.index(label)
        chances = estimator.predict_proba(X, class_prior=observed.inner_prior)[:, c]
        shares = observed.proportions[observed.row_bag, c]
        bins = calibration_curve_from_proportions(shares, chances, bags=bags, n_bins=n_bins)
        return cls(bins, classes[c]).plot(ax, **style)

    def _draw(self, ax: Any, **style: Any) -> None:
        colour = ax.xaxis.label.get_color()  # that of the axes' text
        ax.plot([0, 1], [0, 1], color=colour, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
        predicted, shares, std_errors = (
            [getattr(one, name) for one in self.bins]
            for name in ("predicted", "share", "std_error")
        )
        look = {"fmt": "o", "capsize": 3} | style
        ax.errorbar(predicted, shares, 2 * np.array(std_errors), **look)
        ax.set_xlabel("predicted probability")
        ax.set_ylabel(f"share of {self.label}", parse_math=False)


@dataclass
class LeaderboardDisplay(AxesDisplay):
    """Scores of the methods that a search compared, ± one standard error, the best weight on top.

    Attributes
    ----------
    names : list of str
        Method and parameters.
    scores, std_errors : list of float
        On held-out data.
    chosen : list of bool
        Whether the row is part of the model; others are hollow.
    constant : float
        The score of the class shares alone; NaN if it is not known.
    """

    names: list[str]
    scores: list[float]
    std_errors: list[float]
    chosen: list[bool]
    constant: float = field(default=float("nan"))

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, n_rows: int = 12, ax: Any = None, **style: Any
    ) -> Self:
        """Draw the first rows of a search's `leaderboard_`.

        Parameters
        ----------
        estimator : classifier
            A fitted automatic choice.
        n_rows : int, default=12
            How many rows to show.
        ax, **style
            As in `plot`.
        """
        table = estimator.leaderboard_
        rows = list(table)[:n_rows]
        constants = [one["score"] for one in table.baselines if one["method"] == "constant"]
        return cls(
            [f"{row.method} {describe_params(row.params)}".strip() for row in rows],
            [row.score for row in rows],
            [row.std_error for row in rows],
            [row.chosen for row in rows],
            *constants[:1],
        ).plot(ax, **style)

    def _draw(self, ax: Any, **style: Any) -> None:
        places = np.arange(len(self.names))
        colour = ax.xaxis.label.get_color()
        ax.errorbar(self.scores, places, xerr=self.std_errors, fmt="none", ecolor=colour)
        for is_chosen in (True, False):
            rows = places[np.array(self.chosen) == is_chosen]
            look = {"edgecolors": "C0", "facecolors": "C0" if is_chosen else "white", "zorder": 3}
            ax.scatter(np.array(self.scores)[rows], rows, **(look | style))
        if np.isfinite(self.constant):
            ax.axvline(self.constant, color=colour, linestyle="--", label="class shares alone")
            ax.legend()
        ax.set_yticks(places, self.names, parse_math=False)
        ax.invert_yaxis()
        ax.set_xlabel("score on held-out data")
