"""Cells as people write them: money and per cent."""

import json

import pandas as pd
import pytest

from helpers.quick import QUICK_FIT


@pytest.fixture
def tables(files, tmp_path, monkeypatch):
    """The rows and bags as frames, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    return files.tables.rows.copy(), files.tables.bags.copy()


def test_money_and_per_cent_are_numbers_in_training_and_prediction(command, tables):
    rows, bags = tables
    rows["age"] = [f"${value:,.2f}" for value in 1000 * rows["age"]]
    rows["noise"] = [f"{value:.1f}%" for value in 100 * rows["noise"]]
    rows["fee"] = [f"€ {k % 7}" for k in range(300)]
    bags["rate"] = [f"{100 * rate:.0f}%" for rate in bags["rate"]]
    rows.to_csv("rows.csv", index=False)
    bags.to_csv("bags.csv", index=False)
    inspected = command("inspect", "rows.csv", "bags.csv", "--json")
    kinds = {one["name"]: one["kind"] for one in json.loads(inspected.out)["columns"]}
    numbers = dict.fromkeys(["age", "income", "noise", "fee"], "number")
    assert kinds == {"town": "category"} | numbers
    assert "note: rows.csv: money is read as numbers: 'age', 'fee'\n" in inspected.err
    assert "note: rows.csv: per cent is read as shares, 15% as 0.15: 'noise'\n" in inspected.err
    assert "note: bags.csv: per cent is read as shares, 15% as 0.15: 'rate'\n" in inspected.err
    fitted = command("fit", "rows.csv", "bags.csv", *QUICK_FIT, "-o", "m.skops")
    assert fitted.code == 0, fitted.err
    assert command("predict", "m.skops", "rows.csv", "--proba", "-o", "text.csv").code == 0
    for name in ("age", "noise", "fee"):
        rows[name] = rows[name].str.replace("[$€%, ]", "", regex=True).astype(float)
    rows["noise"] /= 100
    rows.to_csv("numbers.csv", index=False)
    assert command("predict", "m.skops", "numbers.csv", "--proba", "-o", "numbers-p.csv").code == 0
    pd.testing.assert_frame_equal(pd.read_csv("text.csv"), pd.read_csv("numbers-p.csv"))
