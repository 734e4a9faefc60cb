import numpy as np
import pandas as pd
import pytest

from decorrupt.app.tables import TableError
from decorrupt.app.training.columns import Column, choose_features
from decorrupt.app.training.preprocess import (
    folded_levels,
    heavy_tailed,
    known_levels,
    make_preprocessor,
    prepare,
)

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


def test_numbers_text_and_booleans_of_any_file_form_make_the_same_columns():
    as_csv = pd.DataFrame({"age": [1, 2], "member": [True, False], "town": [1, 2]})
    as_jsonl = pd.DataFrame({"age": ["1", "2"], "member": [1, 0], "town": ["1", "2"]})
    pd.testing.assert_frame_equal(prepare(as_csv, COLUMNS), prepare(as_jsonl, COLUMNS))


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


def test_a_table_of_categories_has_no_heavy_tails():
    frame = pd.DataFrame({"level": ["a", "b"] * 20})
    (column,) = choose_features(frame, roles=[]).columns
    transformer = make_preprocessor([column], 40).fit(prepare(frame, [column]))
    assert heavy_tailed(transformer) == set()
