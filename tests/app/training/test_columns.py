"""test_columns"""

import numpy as np
import pandas as pd
import pytest

from decorrupt.app.tables import TableError
from decorrupt.app.training.columns import Column, choose_features, column_kind
from decorrupt.app.training.preprocess import (
    folded_levels,
    heavy_tailed,
    known_levels,
    make_preprocessor,
    prepare,
)

N_ROWS = 60


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "number": rng.normal(size=N_ROWS),
            "code": rng.integers(1, 4, N_ROWS),
            "flag": rng.random(N_ROWS) < 0.5,
            "flag_with_gaps": pd.array([True, False, None] * (N_ROWS // 3), dtype="boolean"),
            "level": np.array(["low", "mid", "high"])[np.arange(N_ROWS) % 3],
            "same": 7,
            "nothing": np.nan,
            "row": np.arange(N_ROWS) + 100,
            "customer": [f"c{k:04d}" for k in range(N_ROWS)],
            "opened": [f"2024-01-{1 + k % 28:02d}" for k in range(N_ROWS)],
            "opened_at": pd.date_range("2024-01-01", periods=N_ROWS),
            "items": [[1, 2]] * N_ROWS,
            "bag": np.arange(N_ROWS) // 10,
        }
    )


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("number", "number"),
        ("code", "number"),
        ("flag", "boolean"),
        ("flag_with_gaps", "boolean"),
        ("level", "category"),
        ("same", "constant"),
        ("nothing", "empty"),
        ("row", "row numbers"),
        ("customer", "names"),
        ("opened", "dates"),
        ("opened_at", "dates"),
        ("items", "nested"),
    ],
)
def test_kinds(frame, column, kind):
    assert column_kind(frame[column]) == kind


def test_a_column_of_one_value_and_gaps_tells_something():
    assert column_kind(pd.Series(["yes", None, "yes"])) == "category"
    assert column_kind(pd.Series([1.0, np.nan, 1.0])) == "number"


def test_all_usable_columns_are_taken_and_the_others_named_with_the_reason(frame):
    features = choose_features(frame, roles=["bag"], drop=["code"])
    assert features.names == ["number", "flag", "flag_with_gaps", "level"]
    assert list(features.left_out) == [
        "same",
        "nothing",
        "row",
        "customer",
        "opened",
        "opened_at",
        "items",
    ]
    assert "one value" in features.left_out["same"]
    assert "days" in features.left_out["opened"]
    gaps = next(column for column in features.columns if column.name == "flag_with_gaps")
    assert gaps.n_missing == N_ROWS // 3


def test_what_cannot_be_done_is_said(frame):
    with pytest.raises(TableError, match=r"t.csv: there is no column 'x' \(--drop\)"):
        choose_features(frame, roles=["bag"], drop=["x"], table="t.csv")
    with pytest.raises(TableError, match=r"t.csv: no column is left to learn from .*one value"):
        choose_features(frame[["bag", "same"]], roles=["bag"], table="t.csv")


def test_blanks_are_no_part_of_a_category_and_case_is_warned_about():
    frame = pd.DataFrame({"smokes": ["yes", "Yes ", " yes", "no"] * 9})
    features = choose_features(frame, roles=[])
    (smokes,) = features.columns
    assert (smokes.kind, smokes.n_distinct) == ("category", 3)
    words = "column 'smokes': categories that differ only in case: 'Yes', 'yes'"
    assert features.warnings == (words,)
    assert prepare(frame, features.columns)["smokes"].tolist()[:3] == ["yes", "Yes", "yes"]


# --- columns of numbers in which some cells are not numbers


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


# --- preprocessing


COLUMNS = (
    Column("age", "number", 0, 3),
    Column("member", "boolean", 0, 2),
    Column("town", "category", 0, 3),
)


def test_columns_are_found_by_name_and_brought_to_their_types():
    frame = pd.DataFrame(
        {
            "town": [1, 2.0, None],
            "other": 0,
            "member": ["True", "no", None],
            "age": ["1", "2.5", None],
        }
    )
    prepared = prepare(frame, COLUMNS)
    assert list(prepared) == ["age", "member", "town"]
    np.testing.assert_array_equal(prepared["age"], [1, 2.5, np.nan])
    np.testing.assert_array_equal(prepared["member"], [1, 0, np.nan])
    assert prepared["town"].tolist()[:2] == ["1", "2"]
    assert np.isnan(prepared["town"].iloc[2])


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"town": ["a"]}, r"missing: 'age' \(number\), 'member' \(boolean\)"),
        (
            {"age": [1, "old"], "member": True, "town": "a"},
            "t.csv, row 12: column 'age' contains 'old', but the model was trained on numbers",
        ),
        ({"age": [1, np.inf], "member": True, "town": "a"}, "column 'age' contains 'inf'"),
        ({"age": [1], "member": ["maybe"], "town": "a"}, "trained on true and false"),
    ],
)
def test_what_does_not_fit_is_named(frame, message):
    with pytest.raises(TableError, match=message):
        prepare(pd.DataFrame(frame), COLUMNS, table="t.csv", first_row=11)


def test_imputation_indicators_scaling_and_folding_by_hand():
    frame = pd.DataFrame(
        {
            "x": [1.0, 3.0, np.nan, 5.0] * 10,
            "level": (["a"] * 18 + ["b"] * 18 + ["rare1", "rare2", "rare1", None]),
        }
    )
    features = choose_features(frame, roles=[])
    prepared = prepare(frame, features.columns)
    transformer = make_preprocessor(features.columns, len(frame)).fit(prepared)
    matrix = transformer.transform(prepared)
    # x scaled, where it was missing, a, b, and one column for rare1, rare2 and missing.
    assert matrix.shape == (40, 5)
    filled = np.where(np.isnan(prepared["x"]), 3.0, prepared["x"])
    np.testing.assert_allclose(matrix[:, 0], (filled - filled.mean()) / filled.std())
    assert matrix[:, 1].argmax() == 2
    np.testing.assert_array_equal(matrix[:, 2:].sum(axis=1), 1)
    assert folded_levels(transformer) == {"level": 3}
    assert known_levels(transformer)["level"] == {"a", "b", "rare1", "rare2", "(missing)"}


def test_unseen_levels_join_the_rare_ones():
    frame = pd.DataFrame({"level": ["a"] * 20 + ["b"] * 20 + ["rare"] * 2})
    (column,) = choose_features(frame, roles=[]).columns
    transformer = make_preprocessor([column], len(frame)).fit(prepare(frame, [column]))
    seen = transformer.transform(prepare(pd.DataFrame({"level": ["rare", "a"]}), [column]))
    new = transformer.transform(prepare(pd.DataFrame({"level": ["new", "a"]}), [column]))
    np.testing.assert_array_equal(seen, new)


def test_heavy_tails_are_compressed_and_named():
    rng = np.random.default_rng(0)
    delay = np.where(rng.random(400) < 0.1, np.nan, np.exp(2 * rng.normal(size=400)))
    frame = pd.DataFrame(
        {"age": rng.normal(40, 10, 400), "delay": delay, "late": rng.random(400) < 0.01}
    )
    columns = choose_features(frame, roles=[]).columns
    prepared = prepare(frame, columns)
    transformer = make_preprocessor(columns, 400).fit(prepared)
    assert heavy_tailed(transformer) == {"delay"}
    column = np.where(np.isnan(delay), np.nanmedian(delay), delay)
    assert (
        transformer.transform(prepared)[:, 1].max() < (column.max() - column.mean()) / column.std()
    )
    far = prepare(pd.DataFrame({"age": [1e150], "delay": [-1e150], "late": [True]}), columns)
    assert np.isfinite(transformer.transform(far)).all()
