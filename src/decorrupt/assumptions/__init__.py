"""Tests of what the bags satisfy: common class distributions, common P(y|x)."""

from decorrupt.assumptions.check import check_assumptions, check_observed_assumptions
from decorrupt.assumptions.report import AssumptionReport, ColumnDispersion

__all__ = [
    "AssumptionReport",
    "ColumnDispersion",
    "check_assumptions",
    "check_observed_assumptions",
]
