"""The page of the paper's experiments: records become a plain dict, and that a document."""

from decorrupt.documents.endings import format_of
from decorrupt.reproduction.report.document import experiment_document
from decorrupt.reproduction.report.formats import FORMATS, format_report
from decorrupt.reproduction.report.reading import read_finished_run
from decorrupt.reproduction.report.summary import summarise_run

__all__ = [
    "FORMATS",
    "experiment_document",
    "format_of",
    "format_report",
    "read_finished_run",
    "summarise_run",
]
