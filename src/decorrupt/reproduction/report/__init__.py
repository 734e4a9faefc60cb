"""The report of the paper's experiments: records → summary dict → document → HTML or markdown."""

from decorrupt.reproduction.report.formats import FORMATS, format_report
from decorrupt.reproduction.report.reading import read_finished_run
from decorrupt.reproduction.report.summary import summarise_run

__all__ = ["FORMATS", "format_report", "read_finished_run", "summarise_run"]
