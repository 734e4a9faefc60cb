"""The methods of the report: one column each, published numbers beside our runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from decorrupt.glossary import BAG_METHODS, BAG_SEARCHES

BEST_PUBLISHED = "best published"
# Readable without colour.
MARKS = {"better": "▲", "worse": "▼", "same": "="}


@dataclass(frozen=True)
class Column:
    """One method in all tables and plots.

    Attributes
    ----------
    key : str
        The method's name in the records; ``published:<name>`` for published numbers.
    label : str
        Its name on the page.
    group : str
        The heading above its column.
    meaning : str
        What it does, in one or two sentences.
    against : str or None
        The key it is compared with, `BEST_PUBLISHED`, or None.
    """

    key: str
    label: str
    group: str
    meaning: str = ""
    against: str | None = None

    @property
    def short(self) -> str:
        """The label without the group's name: "rerun" for "InvCal, rerun"."""
        return self.label.split(", ")[-1]

    @property
    def is_published(self) -> bool:
        """Whether the numbers are published ones, not from our runs."""
        return self.key.startswith("published:")

    @property
    def sees_labels(self) -> bool:
        """Whether it is the supervised upper reference, which is not ranked."""
        return self.key in ("supervised", "supervised_forest")


_CORRECTED, _INVCAL, _PSVM = (
    BAG_METHODS[name] for name in ("corrected_loss", "invcal", "alternating_psvm")
)
_OURS, _CEILING, _OTHER = "Ours", "With labels", "Others"


def _ours(name: str, label: str, meaning: str) -> Column:
    return Column(name, label, _OURS, meaning, BEST_PUBLISHED)


COLUMNS = (
    Column(
        "published:corrected_loss",
        "corrected loss, published",
        _CORRECTED,
        "The paper’s own method, numbers as published. Each bag with a high proportion of "
        "positives is paired with one with a low proportion. A pair is treated as one sample whose "
        "labels are wrong at known rates, and the loss is corrected to be unbiased.",
    ),
    Column(
        "corrected_loss_published",
        "corrected loss, rerun",
        _CORRECTED,
        "The same method, run by us as the paper describes it: gradient descent, 216 settings, "
        "selected by the corrected loss.",
        "published:corrected_loss",
    ),
    Column(
        "corrected_loss",
        "corrected loss, improved",
        _CORRECTED,
        "The corrected loss of all bags together instead of pairs, with a solver that reaches the "
        "minimum, and settings selected by a criterion that is bounded from below.",
        "published:corrected_loss",
    ),
    Column(
        "published:invcal",
        "InvCal, published",
        _INVCAL,
        "Numbers as the paper prints them. Support vector regression on the means of the bags "
        "(Rüping 2010).",
    ),
    Column(
        "invcal",
        "InvCal, rerun",
        _INVCAL,
        "The same method, run by us with the paper’s grid and selection criterion.",
        "published:invcal",
    ),
    Column(
        "published:alternating_psvm",
        "∝SVM, published",
        _PSVM,
        "Numbers as the paper prints them. Alternates between training a support vector machine "
        "and choosing labels that agree with the bags (Yu et al. 2013).",
    ),
    Column(
        "alternating_psvm",
        "∝SVM, rerun",
        _PSVM,
        "The same method, run by us with the paper’s grid and selection criterion.",
        "published:alternating_psvm",
    ),
    _ours(
        "mean_map",
        BAG_METHODS["mean_map"],
        "Estimates the means of the classes from the means of the bags, and fits a logistic "
        "regression to them. Fast and convex.",
    ),
    _ours(
        "count_likelihood",
        BAG_METHODS["count_likelihood"],
        "Maximises the likelihood of the number of positives in each bag, or of the numbers of "
        "several classes.",
    ),
    _ours(
        "auto",
        BAG_SEARCHES["auto"],
        "Averages count likelihood and mean map over kernels and penalties, weighted by how well "
        "each explains the counts of held-out bags.",
    ),
    Column(
        "supervised",
        "supervised ceiling",
        _CEILING,
        "The same kernel model trained on all true labels: not a competitor, but a reference for "
        "what the data allow.",
    ),
)


# Methods that the paper's plan does not have; shown if the records contain them.
FURTHER_COLUMNS = (
    Column(
        "convex_psvm",
        "∝SVM, convex",
        _PSVM,
        "Trains a support vector machine on a weighted mean of label vectors that agree with the "
        "bags, a convex relaxation (Yu et al. 2013). Run in some cells only.",
        "alternating_psvm",
    ),
    _ours(
        "em_forest",
        BAG_METHODS["em"],
        "Fits a random forest to the probabilities of the labels given the bags' counts, which a "
        "kernel model and the forest itself estimate on held-out bags.",
    ),
    Column(
        "supervised_forest",
        "supervised forest",
        _CEILING,
        "The forest of EM trained on all true labels: a reference for what forests reach.",
    ),
)


def all_columns(methods: Iterable[str]) -> list[Column]:
    """Return the paper's columns, and one for every other method in the records, by group."""
    names = set(methods)
    further = [column for column in FURTHER_COLUMNS if column.key in names]
    known = {column.key for column in (*COLUMNS, *further)}
    others = [Column(name, name, _OTHER, "", BEST_PUBLISHED) for name in sorted(names - known)]
    groups = list(dict.fromkeys(column.group for column in (*COLUMNS, *others)))
    return sorted([*COLUMNS, *further, *others], key=lambda column: groups.index(column.group))
