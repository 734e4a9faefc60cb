"""Wins, ranks and tests: paired by split, against scipy and against hand-made cases."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from helpers.synthetic_records import LEVELS, full_run, record
from reproduction.published import published_cells
from reproduction.report.columns import all_columns
from reproduction.report.comparison import compare, holm, wilcoxon_p

COLUMNS = all_columns([])


def pair_of(found, one, other):
    (pair,) = [p for p in found["pairs"] if {p["one"], p["other"]} == {one, other}]
    return pair


def own(records):
    return compare(records, "balanced_accuracy", COLUMNS)


def test_levels_decide_wins_and_ranks():
    found = own(full_run())
    pair = pair_of(found, "auto", "mean_map")
    assert (pair["n_cells"], pair["ties"]) == (42, 0)
    assert {pair["wins"], pair["losses"]} == {0, 42}
    assert abs(pair["mean_difference"]) == pytest.approx(LEVELS["auto"] - LEVELS["mean_map"])
    average = found["ranks"]["average"]
    ours = [key for key in sorted(average, key=average.get) if not key.startswith("published:")]
    assert ours == ["auto", "count_likelihood", "mean_map", "corrected_loss", "invcal"]
    assert "supervised" not in average, "the ceiling sees labels and has no rank"
    assert sum(average.values()) == pytest.approx(sum(range(1, len(average) + 1)))


def test_own_methods_are_compared_on_the_splits_both_have():
    """In all repetitions they have in common b is better; its other one is a bad split."""
    cells = published_cells()[:8]
    records = []
    for dataset, size in cells:
        records += [record(dataset, size, "auto", 0, balanced_accuracy=0.6)]
        records += [record(dataset, size, "invcal", 0, balanced_accuracy=0.7)]
        records += [record(dataset, size, "invcal", 1, balanced_accuracy=0.1)]
    pair = pair_of(own(records), "auto", "invcal")
    assert pair["mean_difference"] == pytest.approx(0.1 if pair["one"] == "invcal" else -0.1)


def test_methods_without_a_common_split_are_not_compared():
    cell = published_cells()[0]
    records = [record(*cell, "auto", 0), record(*cell, "invcal", 1)]
    pair = pair_of(own(records), "auto", "invcal")
    assert (pair["n_cells"], pair["mean_difference"], pair["p"]) == (0, None, None)


def test_half_a_percent_is_a_tie():
    cells = published_cells()
    records = []
    for k, cell in enumerate(cells):
        better = 0.004 if k % 2 else 0.006
        records += [record(*cell, "auto", 0, balanced_accuracy=0.8 + better)]
        records += [record(*cell, "invcal", 0, balanced_accuracy=0.8)]
    pair = pair_of(own(records), "auto", "invcal")
    assert pair["ties"] == 21
    assert max(pair["wins"], pair["losses"]) == 21


def test_friedman_and_wilcoxon_are_scipys():
    rng = np.random.default_rng(0)
    values = {name: rng.uniform(0.5, 1, 42) for name in ("auto", "invcal", "mean_map")}
    records = [
        record(*cell, name, 0, balanced_accuracy=float(values[name][k]))
        for name in values
        for k, cell in enumerate(published_cells())
    ]
    found = own(records)
    expected = stats.wilcoxon(values["auto"], values["invcal"], method="approx").pvalue
    assert pair_of(found, "auto", "invcal")["p"] == pytest.approx(expected)
    assert 0 <= found["ranks"]["p"] <= 1
    assert len(found["ranks"]["average"]) == 6
    for pair in found["pairs"]:
        assert pair["p"] <= pair["p_holm"] <= 1


def test_equal_methods_differ_by_chance_only():
    assert wilcoxon_p([0.0] * 10) == 1.0
    assert wilcoxon_p([0.1] * 5) is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_rejects_what_the_step_down_procedure_rejects(p_values):
    """The textbook procedure: from the smallest p on, stop at the first above level/(m−k)."""
    level = 0.05
    rejected = set()
    for step, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[index] * (len(p_values) - step) > level:
            break
        rejected.add(index)
    assert {k for k, p in enumerate(holm(p_values)) if p <= level} == rejected
