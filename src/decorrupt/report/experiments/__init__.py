"""The page of the paper's experiments: records become a plain dict, and that a document."""

from decorrupt.report.endings import format_of
from decorrupt.report.experiments.document import experiment_document
from decorrupt.report.experiments.formats import FORMATS, format_report
from decorrupt.report.experiments.reading import read_finished_run
from decorrupt.report.experiments.summary import summarise_run

__all__ = [
    "FORMATS",
    "experiment_document",
    "format_of",
    "format_report",
    "read_finished_run",
    "summarise_run",
]
