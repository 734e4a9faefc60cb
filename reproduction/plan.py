"""Experiment plans: data sets, bag sizes, methods, repetitions, and the seed of each cell."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

SHIPPED = Path(__file__).parent / "plans"


class Cell(NamedTuple):
    """One training and test run; each cell gets one record."""

    dataset: str
    bag_size: int
    method: str
    repetition: int

    @property
    def seed(self) -> int:
        """Seed of the split and the bags, the same for all methods."""
        return hashed_seed(self.dataset, self.bag_size, self.repetition)


def hashed_seed(*axes: Any) -> int:
    """Return a 32-bit seed that depends only on `axes`, not on the machine."""
    digest = hashlib.sha256("/".join(map(str, axes)).encode()).digest()
    return int.from_bytes(digest[:4], "little")


@dataclass(frozen=True)
class Plan:
    """Data sets × bag sizes × methods × repetitions.

    Attributes
    ----------
    datasets, bag_sizes, methods : tuple
        The axes.
    repetitions : int
        Repetitions of every method that is not in `method_repetitions`.
    method_repetitions : dict of str to int
        Fewer repetitions for expensive methods.
    test_share : float
        Share of the rows held out for testing.
    n_folds : int
        Number of cross-validation folds (of whole bags) for parameter selection.
    """

    datasets: tuple[str, ...]
    bag_sizes: tuple[int, ...]
    methods: tuple[str, ...]
    repetitions: int
    method_repetitions: dict[str, int] = field(default_factory=dict)
    test_share: float = 0.2
    n_folds: int = 5

    @classmethod
    def read(cls, plan: str | Path = "paper") -> Plan:
        """Return a plan of the folder `plans` by its name, or read a TOML file.

        The keys of the file are the attributes of the plan.

        Raises
        ------
        OSError
            If there is no such file.
        ValueError
            If a key is unknown or missing; the message names it and the file.

        Examples
        --------
        >>> Plan.read("paper").bag_sizes
        (2, 4, 8, 16, 32, 64)
        """
        path = SHIPPED / f"{plan}.toml"
        path = path if path.is_file() else Path(plan)
        if not path.is_file():
            names = ", ".join(sorted(file.stem for file in SHIPPED.glob("*.toml")))
            raise FileNotFoundError(f"{plan}: neither a TOML file nor one of the plans {names}")
        try:
            given = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{path}: not TOML: {error}") from error
        known = set(cls.__dataclass_fields__)
        if unknown := sorted(set(given) - known):
            names = ", ".join(sorted(known))
            raise ValueError(f"{path}: unknown key {unknown[0]!r}; known: {names}")
        for name in ("datasets", "bag_sizes", "methods"):
            if not isinstance(given.get(name), list):
                raise ValueError(f"{path}: {name} must be a list")
            given[name] = tuple(given[name])
        if "repetitions" not in given:
            raise ValueError(f"{path}: repetitions is missing")
        return cls(**given)

    def narrowed(self, *, repetitions: int | None = None, **axes: Sequence[Any]) -> Plan:
        """Return the plan restricted to the given `datasets`, `bag_sizes` and `methods`.

        An axis that is not given, or empty, is not restricted.

        Raises
        ------
        ValueError
            If a value is not in the plan; the message names it and the allowed values.
        """
        changes: dict[str, Any] = {}
        for axis, chosen in axes.items():
            known = getattr(self, axis)
            if unknown := [value for value in chosen if value not in known]:
                names = ", ".join(map(str, known))
                raise ValueError(f"{axis}: {unknown[0]!r} is not in the plan; it has {names}")
            changes[axis] = tuple(value for value in known if value in chosen) or known
        if repetitions is not None:
            if repetitions < 1:
                raise ValueError(f"repetitions={repetitions} must be at least 1")
            changes["repetitions"] = min(repetitions, self.repetitions)
        return replace(self, **changes)

    def cells(self) -> Iterator[Cell]:
        """Yield all cells by repetition, so that an interrupted run still has complete tables."""
        for repetition in range(self.repetitions):
            for dataset in self.datasets:
                for bag_size in self.bag_sizes:
                    for method in self.methods:
                        if repetition < self.method_repetitions.get(method, self.repetitions):
                            yield Cell(dataset, bag_size, method, repetition)
