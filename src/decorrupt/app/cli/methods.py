"""decorrupt methods: the values of --method, as a table."""

from __future__ import annotations

from decorrupt.app.cli.conventions import Json, Output
from decorrupt.app.cli.text import table
from decorrupt.app.training.methods import BAG_METHODS, FOR_TWO_CLASSES, SOURCE_METHODS


def methods(*, json_output: Json = False) -> None:
    """List the methods of `decorrupt fit --method`.

    Example: decorrupt methods
    """
    found = [
        {"name": name, "for": data, "classes": _classes(name, data), "meaning": method.meaning}
        for data, known in (("bags", BAG_METHODS), ("sources", SOURCE_METHODS))
        for name, method in known.items()
    ]
    rows = [[str(value) for value in one.values()] for one in found]
    header = ("--method", "for", "classes", "meaning")
    Output(json_output).result({"methods": found}, table(header, rows, n_text=len(header)))


def _classes(name: str, data: str) -> str:
    # On the command line the labels of sources have two classes; the library takes more.
    return "2" if data == "sources" or name in FOR_TWO_CLASSES else "2 or more"
