import numpy as np
import pandas as pd
import pytest

from decorrupt.app.tables import TableError
from decorrupt.app.training.columns import choose_features, column_kind
from decorrupt.app.training.preprocess import prepare

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
