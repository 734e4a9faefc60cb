"""Columns of numbers in which some cells are not numbers."""

import numpy as np
import pandas as pd
import pytest

from decorrupt.app.tables import TableError
from decorrupt.app.training.columns import choose_features

NUMBERS = [f"{k}.5" for k in range(400)]


def features_of(cells, **options):
    frame = pd.DataFrame({"age": cells, "other": np.arange(len(cells)) % 7})
    return choose_features(frame, roles=[], table="t.csv", **options)


def kind_of(cells, **options):
    return {column.name: column.kind for column in features_of(cells, **options).columns}.get("age")


def with_cells(cells, base=NUMBERS):
    changed = list(base)
    for row, cell in cells.items():
        changed[row - 1] = cell
    return changed


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (
            with_cells({396: "oops"}),
            r"t.csv: column 'age' contains numbers, but 1 of 400 cells are not finite numbers: "
            r"'oops' \(row 396\); repair them, or use --drop age",
        ),
        (
            with_cells({2: "x", 5: "NA", 9: None, 30: "y", 31: "x", 400: "z"}),
            r"4 of 400 .*: 'x' \(row 2\), 'y' \(row 30\), 'x' \(row 31\), …;",
        ),
        (["1,5", "12"] * 9, r"'1,5' \(row 1\), .*; write decimals with a point, without"),
        (
            ["1,234", "12", "5,678", "3"],
            r"read as text: '1,234' \(row 1\), '5,678' \(row 3\); write",
        ),
        (["€ 1.234,50", "2,5 €"] * 9, r"read as text: '€ 1.234,50' \(row 1\)"),
        (["1.5", "12"] * 9, r"read as text: '1.5' \(row 1\), .* write decimals with a point"),
        (["45%", "0.5"] + ["7%"] * 20, r"some with % and some without: '0.5' \(row 2\); write all"),
        ([1.0, np.inf, 2.0, -np.inf], r"2 of 4 .*: 'inf' \(row 2\), '-inf' \(row 4\)"),
        ([1.0, -1e200], r"1 of 2 cells are above 1e\+150 in size: '-1e\+200' \(row 2\); repair"),
    ],
)
def test_the_first_cells_that_are_not_numbers_are_named(cells, message):
    with pytest.raises(TableError, match=message):
        features_of(cells)
    assert kind_of(cells, drop=["age"]) is None


def test_text_is_not_a_column_of_numbers():
    assert kind_of(["0", "1", "2", "3+"] * 9) == "category"
    assert kind_of(["low", "mid", "high"] * 9) == "category"
    assert kind_of(["00007", "00012"] * 9) == "category"
    codes = [f"0{k}" for k in range(1, 10)] + [str(k) for k in range(10, 99)]
    assert "own value" in features_of(codes).left_out["age"]
    assert "own value" in features_of([*codes, "oops"]).left_out["age"]
    half = [f"{k}" if k % 2 else f"n{k}" for k in range(100)]
    assert features_of(half).left_out["age"] == (
        "nearly every row has its own value, and not all values are numbers"
    )


def test_nine_in_ten_different_cells_are_numbers():
    ten = [str(k) for k in range(9)] + ["x"]
    with pytest.raises(TableError, match="'x'"):
        features_of(ten * 3)
    assert kind_of([*ten[1:], "y"] * 3) == "category"
