"""The dict behind the page: every number of it, gaps and failures included."""

import statistics

import pytest

from helpers.synthetic_records import FAILED_CELL, LEVELS, MISSING_CELL, full_run
from reproduction.published import published_cells, published_numbers
from reproduction.report.columns import COLUMNS
from reproduction.report.summary import summarise_run


@pytest.fixture(scope="module")
def summary():
    return summarise_run(full_run())


def rows(summary, metric="balanced_accuracy"):
    return {(row["dataset"], row["bag_size"]): row for row in summary["tables"][metric]["rows"]}


@pytest.mark.parametrize(("metric", "number"), [("balanced_accuracy", 1), ("accuracy", 2)])
def test_all_cells_and_methods_are_there_but_the_two_that_are_not(summary, metric, number):
    assert summary["tables"][metric]["number"] == number
    found = rows(summary, metric)
    assert list(found) == published_cells()
    keys = {column.key for column in COLUMNS}
    for cell, row in found.items():
        gone = {hole[2] for hole in (FAILED_CELL, MISSING_CELL) if hole[:2] == cell}
        assert set(row["values"]) == keys - gone


def test_means_and_deviations_are_those_of_the_repetitions(summary):
    value = rows(summary)["cnae", 16]["values"]["auto"]
    own = [LEVELS["auto"], LEVELS["auto"] - 0.001]
    assert value["mean"] == pytest.approx(statistics.fmean(own))
    assert value["std"] == pytest.approx(statistics.stdev(own))
    assert value["n"] == 2
    printed = rows(summary)["cnae", 16]["values"]["published:invcal"]
    assert (printed["mean"], printed["std"]) == published_numbers()[
        "balanced_accuracy", "cnae", 16, "invcal"
    ][:2]


def test_differences_are_from_the_printed_number_of_the_same_method(summary):
    row = rows(summary)["cnae", 16]["values"]
    for ours, printed in [
        ("corrected_loss", "corrected_loss"),
        ("corrected_loss_published", "corrected_loss"),
        ("invcal", "invcal"),
        ("alternating_psvm", "alternating_psvm"),
    ]:
        apart = row[ours]["mean"] - row[f"published:{printed}"]["mean"]
        assert row[ours]["difference"] == pytest.approx(apart)
        assert row[ours]["verdict"] == "better"


def test_our_other_methods_are_held_against_the_best_printed_number(summary):
    for cell, row in rows(summary).items():
        best = max(
            published_numbers()["balanced_accuracy", *cell, name].mean
            for name in ("corrected_loss", "invcal", "alternating_psvm")
        )
        assert row["best_published"] == best
        assert row["values"]["auto"]["difference"] == pytest.approx(
            row["values"]["auto"]["mean"] - best
        )
        assert "difference" not in row["values"]["supervised"]


def test_the_best_of_a_row_is_marked_and_never_the_ceiling(summary):
    for row in rows(summary).values():
        best = [key for key, value in row["values"].items() if value["best"]]
        assert "supervised" not in best
        top = max(v["mean"] for k, v in row["values"].items() if k != "supervised")
        assert all(row["values"][key]["mean"] == pytest.approx(top, abs=1e-4) for key in best)
        assert best


def test_the_headline_counts_cells_below_the_best_printed(summary):
    below = [c for c in published_cells() if rows(summary)[c]["best_published"] > 0.9695]
    headline = summary["headline"]
    assert headline["n_at_least"] == 42 - len(below)
    assert [(c["dataset"], c["bag_size"]) for c in headline["below"]] == below


def test_means_are_compared_over_the_same_cells(summary):
    means = summary["tables"]["balanced_accuracy"]["means"]
    assert means["published:corrected_loss"]["mean"] == pytest.approx(0.7236, abs=5e-5)
    assert means["auto"]["mean"] - means["auto"]["difference"] == pytest.approx(0.7633, abs=5e-5)
    holed = means[MISSING_CELL[2]]
    assert (holed["n_cells"], holed["n_compared"]) == (41, 41)
    common = summary["tables"]["balanced_accuracy"]["common_means"]
    assert common["n_cells"] == 40
    assert common["means"]["auto"] == pytest.approx(LEVELS["auto"] - 0.0005)


def test_deviations_beyond_two_are_listed(summary):
    cells = [one for one in summary["agreement"]["cells"] if one["method"] == "invcal"]
    assert len(cells) == 42
    (cell,) = (c for c in cells if (c["dataset"], c["bag_size"]) == ("banknote", 2))
    # printed .9994 ± .0013; ours .89 and .889
    squares = (0.001**2 / 2 + 4 * 0.0013**2) / 5
    assert cell["pooled"] == pytest.approx((0.8895 - 0.9994) / squares**0.5, rel=1e-3)
    assert cell["deviates"]
    counts = summary["agreement"]["methods"]["invcal"]
    assert counts["n_deviating"] == sum(cell["deviates"] for cell in cells)
    suspect = [c for c in summary["agreement"]["cells"] if c["suspect"]]
    assert {(c["dataset"], c["method"]) for c in suspect} == {("contraceptive", "alternating_psvm")}
