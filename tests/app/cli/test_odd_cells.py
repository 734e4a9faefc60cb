"""Cells as people write them: money, per cent, codes, blanks, huge numbers, ids of bags."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from helpers.quick import QUICK_FIT


@pytest.fixture
def tables(files, tmp_path, monkeypatch):
    """The rows and bags as frames, and a function that writes them and runs a command."""
    monkeypatch.chdir(tmp_path)
    return files.tables.rows.copy(), files.tables.bags.copy()


@pytest.fixture
def run_both(command):
    """Run `inspect` and `fit` on two frames; return what both print to stderr."""

    def call(rows, bags, code=0):
        rows.to_csv("rows.csv", index=False)
        bags.to_csv("bags.csv", index=False)
        inspected = command("inspect", "rows.csv", "bags.csv", "--json")
        fitted = command("fit", "rows.csv", "bags.csv", *QUICK_FIT, "-o", "m.skops", "--json", "-f")
        assert (inspected.code, fitted.code) == (code, code), fitted.err
        if code:
            assert inspected.err == fitted.err
            return fitted.err
        found = json.loads(inspected.out)
        kinds = {one["name"]: one["kind"] for one in found["columns"]}
        return inspected.err, kinds, found["warnings"]

    return call


@pytest.mark.parametrize("huge", [1e308, -1e200])
def test_a_number_whose_square_overflows_is_named(command, files, tables, run_both, huge):
    rows, bags = tables
    rows.loc[17, "age"] = huge
    said = run_both(rows, bags, code=2)
    assert (
        f"column 'age' contains numbers, but 1 of 300 cells are above 1e+150 in size: '{huge}'"
        in said
    )
    assert "(row 18); repair them, or use --drop age" in said
    new = command("predict", files.model, "rows.csv")
    assert new.code == 2
    assert (
        f"rows.csv, row 18: column 'age' contains '{huge}', but the model was trained on" in new.err
    )


def test_money_and_per_cent_are_numbers_in_training_and_prediction(command, tables, run_both):
    rows, bags = tables
    rows["age"] = [f"${value:,.2f}" for value in 1000 * rows["age"]]
    rows["noise"] = [f"{value:.1f}%" for value in 100 * rows["noise"]]
    rows["fee"] = [f"€ {k % 7}" for k in range(300)]
    said, kinds, _ = run_both(rows, bags)
    assert kinds == {"town": "category"} | dict.fromkeys(
        ["age", "income", "noise", "fee"], "number"
    )
    assert "note: rows.csv: money is read as numbers: 'age', 'fee'\n" in said
    assert "note: rows.csv: per cent is read as shares, 15% as 0.15: 'noise'\n" in said
    assert command("predict", "m.skops", "rows.csv", "--proba", "-o", "text.csv").code == 0
    for name in ("age", "noise", "fee"):
        rows[name] = rows[name].str.replace("[$€%, ]", "", regex=True).astype(float)
    rows["noise"] /= 100
    rows.to_csv("numbers.csv", index=False)
    assert command("predict", "m.skops", "numbers.csv", "--proba", "-o", "numbers-p.csv").code == 0
    pd.testing.assert_frame_equal(pd.read_csv("text.csv"), pd.read_csv("numbers-p.csv"))


def test_per_cent_of_bags_are_proportions(tables, run_both):
    rows, bags = tables
    bags["rate"] = [f"{100 * rate:.0f}%" for rate in bags["rate"]]
    said, *_ = run_both(rows, bags)
    assert "note: bags.csv: per cent is read as shares, 15% as 0.15: 'rate'\n" in said


def test_some_numbers_with_and_some_without_per_cent_are_refused(tables, run_both):
    rows, bags = tables
    rows["noise"] = [f"{100 * value:.1f}" + "%" * (k != 4) for k, value in enumerate(rows["noise"])]
    said = run_both(rows, bags, code=2)
    assert re.search(
        r"column 'noise' contains numbers, some with % and some without: .*\(row 5\)", said
    )


def test_zero_padded_codes_are_categories(tables, run_both):
    rows, bags = tables
    rows["code"] = [f"{k % 9:05d}" for k in range(300)]
    rows["zip"] = [f"{99998 + k % 4:06d}" for k in range(300)]
    _, kinds, _ = run_both(rows, bags)
    assert kinds["code"] == kinds["zip"] == "category"


def test_blanks_are_no_part_of_a_category_and_case_is_warned_about(command, tables, run_both):
    rows, bags = tables
    rows["smokes"] = np.resize(["yes", "Yes ", " yes", "no"], 300)
    said, kinds, _ = run_both(rows, bags)
    assert kinds["smokes"] == "category"
    words = "warning: column 'smokes': categories that differ only in case: 'Yes', 'yes'"
    assert words in said
    columns = json.loads(command("inspect", "rows.csv", "bags.csv", "--json").out)["columns"]
    assert {one["name"]: one["n_distinct"] for one in columns}["smokes"] == 3
    rows.assign(smokes="no  ").to_csv("new.csv", index=False)
    assert command("predict", "m.skops", "new.csv", "-o", "p.csv").err == ""


def test_a_size_that_contradicts_the_rows_is_a_warning(tables, run_both):
    rows, bags = tables
    right = bags.assign(Rows=10)
    assert not any("Rows" in one for one in run_both(rows, right)[2])
    wrong = right.assign(Rows=np.where(np.arange(30) < 2, 12, 10))
    (said,) = (one for one in run_both(rows, wrong)[2] if "Rows" in one)
    assert said == (
        "column 'Rows' of bags.csv contradicts the number of rows of 2 bags (the first is 'bag00': "
        "12 and 10): are rows missing?"
    )


@pytest.mark.parametrize("other", ["BAG07", " bag07 ", "bag０７"])
def test_an_id_of_a_bag_that_is_nearly_the_same_is_named(tables, run_both, other):
    rows, bags = tables
    bags.loc[7, "bag"] = other
    said = run_both(rows, bags, code=2)
    assert "bag 'bag07' is not in column 'bag' of bags.csv" in said
    assert f"did you mean {other!r}? It differs in case, blanks or Unicode form" in said


def test_a_source_of_the_rates_without_rows_is_a_warning(command, files, tmp_path):
    rates = pd.read_csv(files.rates)
    idle = pd.DataFrame({"source": ["clerk"], "flip_pos": [0.1], "flip_neg": [0.1]})
    pd.concat([rates, idle]).to_csv(tmp_path / "rates.csv", index=False)
    label = ("--label-column", "says", "--positive-label", "sick", "--source-column", "who")
    options = (files.noisy, *label, "--noise-rates", tmp_path / "rates.csv")
    inspected = command("inspect", *options)
    assert inspected.code == 0, inspected.err
    assert "no rows of source 'clerk'" in " ".join(inspected.out.split())
    fitted = command("fit", *options, "--method", "plain", "-o", tmp_path / "m.skops")
    assert "no rows of source 'clerk'" in " ".join(fitted.out.split()).lower()
    rates.replace({"source": {"nurse": "Nurse"}}).to_csv(tmp_path / "rates.csv", index=False)
    assert "did you mean 'Nurse'?" in command("inspect", *options).err
