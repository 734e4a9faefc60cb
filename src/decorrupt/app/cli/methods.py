"""decorrupt methods: the values of --method, as a table."""

from __future__ import annotations

from decorrupt.app.cli.conventions import Json, Output
from decorrupt.app.training.methods import BAG_METHODS, FOR_TWO_CLASSES, SOURCE_METHODS


def methods(*, json_output: Json = False) -> None:
    """List the methods of `decorrupt fit --method`.

    Example: decorrupt methods
    """
    found = [
        {"name": name, "for": data, "classes": _classes(name, data), "label": label}
        for data, known in (("bags", BAG_METHODS), ("sources", SOURCE_METHODS))
        for name, label in known.items()
    ]
    from decorrupt.documents import Section, Table

    rows = [list(one.values()) for one in found]
    heads = ("--method", "for", "classes", "label")
    table = Table("methods", "Methods", heads, rows)
    Output(json_output).result({"methods": found}, [Section("methods", "", [table])])


def _classes(name: str, data: str) -> str:
    # On the command line the labels of sources have two classes; the library takes more.
    return "2" if data == "sources" or name in FOR_TWO_CLASSES else "2 or more"
