"""The paper's experiments: plans, records and runs."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from decorrupt.reproduction.plan import Cell, Plan

if TYPE_CHECKING:
    from decorrupt.reproduction.methods import METHODS
    from decorrupt.reproduction.records import append_record, read_records
    from decorrupt.reproduction.run import run_cell, run_plan
    from decorrupt.reproduction.session import Session, run_session

__all__ = [
    "METHODS",
    "Cell",
    "Plan",
    "Session",
    "append_record",
    "read_records",
    "run_cell",
    "run_plan",
    "run_session",
]

# Imported on first use, so that a plan can be checked without importing scikit-learn.
_HOMES = {
    "METHODS": "methods",
    "Session": "session",
    "append_record": "records",
    "read_records": "records",
    "run_cell": "run",
    "run_plan": "run",
    "run_session": "session",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'decorrupt.reproduction' has no attribute {name!r}")
    return getattr(import_module(f"decorrupt.reproduction.{_HOMES[name]}"), name)
