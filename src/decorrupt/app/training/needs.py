"""Check of the columns that a model needs, before the table is read and without pandas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from decorrupt.app.tables import TableError


def need_model_columns(
    known: Sequence[str], columns: Iterable[tuple[str, str]], table: str
) -> None:
    """Raise TableError naming all (name, kind) of `columns` whose names are not in `known`."""
    missing = ", ".join(f"{name!r} ({kind})" for name, kind in columns if name not in known)
    if missing:
        raise TableError(f"{table}: the model needs columns that are missing: {missing}")
