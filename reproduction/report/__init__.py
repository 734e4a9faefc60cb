"""The report: records → summary, a dict of all numbers → document → HTML, markdown or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from decorrupt.documents import to_html, to_markdown
from reproduction.records import Record
from reproduction.report.document import experiment_document
from reproduction.report.summary import summarise_run

FORMATS = {
    ".html": lambda summary: to_html(experiment_document(summary)),
    ".md": lambda summary: to_markdown(experiment_document(summary)),
    ".json": lambda summary: json.dumps(summary, ensure_ascii=False, indent=1) + "\n",
}


def check_format(path: str) -> str:
    """Return the key of :data:`FORMATS` for a file name; raise ValueError if there is none."""
    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        raise ValueError(f"{path}: the report's name must end in one of {', '.join(FORMATS)}")
    return ending


def format_report(records: Sequence[Record], ending: str) -> str:
    """Return the report of `records` in one of :data:`FORMATS`."""
    return FORMATS[ending](summarise_run(records))
