"""The columns of the report: the paper's three methods as printed, ours beside them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from decorrupt.glossary import BAG_METHODS, BAG_SEARCHES, Method

BEST_PUBLISHED = "best published"


@dataclass(frozen=True)
class Column:
    """One method as it stands in every table and plot.

    Attributes
    ----------
    key : str
        The method's name in the records; of a printed method ``published:<name>``.
    label, short : str
        Its name by itself, and under the heading of its group.
    group : str
        The heading.
    meaning : str
        What it does, in a sentence or two.
    against : str or None
        The key it is compared with, `BEST_PUBLISHED`, or None.
    """

    key: str
    label: str
    short: str
    group: str
    meaning: str = ""
    against: str | None = None

    @property
    def is_published(self) -> bool:
        """Whether the numbers are printed ones, not of our runs."""
        return self.key.startswith("published:")

    @property
    def sees_labels(self) -> bool:
        """Whether it is the ceiling, which is no competitor."""
        return self.key == "supervised"


_CORRECTED, _INVCAL, _PSVM = (
    BAG_METHODS[name].label for name in ("corrected_loss", "invcal", "alternating_psvm")
)
_OURS, _CEILING, _OTHER = "Ours", "Ceiling", "Others"


def _ours(name: str, method: Method) -> Column:
    return Column(name, method.label, method.label, _OURS, method.meaning, BEST_PUBLISHED)


COLUMNS = (
    Column(
        "published:corrected_loss",
        "corrected loss, published",
        "published",
        _CORRECTED,
        "The paper’s own method, numbers as printed. Bags are paired, a rich one with a poor one; "
        "each pair is read as one sample whose labels are wrong at known rates, and the loss is "
        "corrected so that it is right on average.",
    ),
    Column(
        "corrected_loss_published",
        "corrected loss, rerun",
        "rerun",
        _CORRECTED,
        "The same method run by us as the paper describes it: gradient descent, its 216 settings, "
        "chosen by the corrected loss.",
        "published:corrected_loss",
    ),
    Column(
        "corrected_loss",
        "corrected loss, improved",
        "improved",
        _CORRECTED,
        "The same idea, done better: all bags weighed together instead of pairs, a solver that "
        "reaches the minimum, and a choice of settings that cannot be fooled by a loss below zero.",
        "published:corrected_loss",
    ),
    Column(
        "published:invcal",
        "InvCal, published",
        "published",
        _INVCAL,
        f"Numbers as the paper prints them. {BAG_METHODS['invcal'].meaning}",
    ),
    Column(
        "invcal",
        "InvCal, rerun",
        "rerun",
        _INVCAL,
        "The same method run by us, with the paper’s grid and choice of settings.",
        "published:invcal",
    ),
    Column(
        "published:alternating_psvm",
        "∝SVM, published",
        "published",
        _PSVM,
        f"Numbers as the paper prints them. {BAG_METHODS['alternating_psvm'].meaning}",
    ),
    Column(
        "alternating_psvm",
        "∝SVM, rerun",
        "rerun",
        _PSVM,
        "The same method run by us, with the paper’s grid and choice of settings.",
        "published:alternating_psvm",
    ),
    _ours("mean_map", BAG_METHODS["mean_map"]),
    _ours("count_likelihood", BAG_METHODS["count_likelihood"]),
    _ours("auto", BAG_SEARCHES["auto"]),
    Column(
        "supervised",
        "supervised ceiling",
        "supervised",
        _CEILING,
        "The same kernel model told every true label: no competitor, but a mark of what the data "
        "allow.",
    ),
)


def all_columns(methods: Iterable[str]) -> list[Column]:
    """Return the known columns, and one for every other method that the records name."""
    known = {column.key for column in COLUMNS}
    others = sorted(set(methods) - known)
    return [*COLUMNS, *(Column(name, name, name, _OTHER, "", BEST_PUBLISHED) for name in others)]
