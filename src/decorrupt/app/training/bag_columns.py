"""Which columns describe the bags: one proportion or count, or one per class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from decorrupt.app.tables import TableError
from decorrupt.app.training.inexact_counts import read_noise


@dataclass(frozen=True)
class BagColumns:
    """The columns that options name; `inspect`, `fit` and `evaluate` read bags with them.

    Attributes
    ----------
    bag : str
        The bag of each row; empty if it is to be guessed, as the values are if none is named.
    proportion, count : str or None
        Two classes: share or number of positives.
    proportions, counts : sequence of str
        Shares or numbers of rows with one column per class, whose name is that of the class.
    count_noise : str or None
        Noise of the counts, see :func:`decorrupt.app.training.inexact_counts.read_noise`.
    """

    bag: str = ""
    proportion: str | None = None
    count: str | None = None
    proportions: Sequence[str] = ()
    counts: Sequence[str] = ()
    count_noise: str | None = None

    @property
    def values(self) -> dict[str, str | Sequence[str] | None]:
        """{option: column or columns} of everything but the bag."""
        return {
            "--proportion-column": self.proportion,
            "--count-column": self.count,
            "--proportion-columns": self.proportions,
            "--count-columns": self.counts,
        }

    @property
    def names(self) -> tuple[str, ...]:
        """All columns, none of which is a feature."""
        single = (self.bag, self.proportion, self.count)
        return (*(name for name in single if name), *self.proportions, *self.counts)

    @property
    def has_values(self) -> bool:
        """Whether a column of shares or counts is named."""
        return bool(self.proportion or self.count or self.proportions or self.counts)

    @property
    def are_counts(self) -> bool:
        """Whether the values are numbers of rows, not shares."""
        return bool(self.count or self.counts)

    @property
    def value_names(self) -> list[str]:
        """The columns of shares or counts: one, or one per class."""
        return list(self.proportions or self.counts or [str(self.proportion or self.count)])

    @property
    def value_option(self) -> str:
        """The option that names these columns."""
        return next(option for option, names in self.values.items() if names)

    @property
    def names_classes(self) -> bool:
        """Whether classes have names: one column per class."""
        return bool(self.proportions or self.counts)

    @property
    def names_several_classes(self) -> bool:
        """Whether more than two classes are named."""
        return len(self.proportions or self.counts) > 2

    def check(self, *, has_table: bool) -> None:
        """Raise TableError if they do not describe bags, or without a table of bags not fully."""
        ways = (self.proportion, self.count, self.proportions, self.counts)
        if sum(map(bool, ways)) > 1 or not (has_table or self.has_values):
            raise TableError(
                "give either --proportion-column or --count-column, and not both; for several "
                "classes either --proportion-columns or --count-columns"
            )
        classes = self.proportions or self.counts
        option = "--proportion-columns" if self.proportions else "--count-columns"
        if len(classes) == 1:
            raise TableError(
                f"{option} {classes[0]!r} is one class: name one column per class, at least two"
            )
        if not (has_table or self.bag):
            raise TableError("give the column of the bag with --bag-column")
        twice = [name for place, name in enumerate(classes) if name in classes[:place]]
        if twice or self.bag in classes:
            raise TableError(f"{option} contains {(twice or [self.bag])[0]!r} twice, or the bag")
        if self.count_noise is not None:
            read_noise(self.count_noise)
