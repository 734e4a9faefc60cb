"""The report as HTML, markdown or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from decorrupt.documents import to_html, to_markdown
from decorrupt.reproduction.records import Record
from decorrupt.reproduction.report.document import experiment_document
from decorrupt.reproduction.report.summary import summarise_run


def _json(summary: dict[str, Any]) -> str:
    return json.dumps(summary, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


FORMATS: dict[str, Callable[[dict[str, Any]], str]] = {
    "html": lambda summary: to_html(experiment_document(summary)),
    "markdown": lambda summary: to_markdown(experiment_document(summary)),
    "json": _json,
}


def format_report(records: Sequence[Record], form: str) -> str:
    """Return the report of `records` in one of :data:`FORMATS`."""
    return FORMATS[form](summarise_run(records))
