"""The paper's experiments: a plan becomes cells, cells become records."""

from decorrupt.experiments.methods import METHODS
from decorrupt.experiments.plan import Cell, Plan
from decorrupt.experiments.records import append_record, read_records
from decorrupt.experiments.run import run_cell, run_plan

__all__ = [
    "METHODS",
    "Cell",
    "Plan",
    "append_record",
    "read_records",
    "run_cell",
    "run_plan",
]
