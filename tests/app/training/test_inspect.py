import json

import numpy as np
import pandas as pd
import pytest

from decorrupt.app.training.bag_columns import BagColumns
from decorrupt.app.training.columns import choose_features
from decorrupt.app.training.inspect import inspect_bags, inspect_sources
from decorrupt.app.training.roles import read_bags
from decorrupt.app.training.table import Table


def inspected(rows, bags):
    columns = BagColumns("bag", proportion="rate")
    data = read_bags(Table(rows, "rows.csv"), Table(bags, "bags.csv"), columns)
    features = choose_features(rows, roles=data.roles)
    return inspect_bags(data, features, seed=0)


def test_numbers_by_hand():
    rows = pd.DataFrame(
        {"bag": ["a"] * 4 + ["b"] * 4 + ["c"] * 8, "x": (np.arange(16) * 7.0 % 16) ** 2}
    )
    bags = pd.DataFrame({"bag": ["a", "b", "c"], "rate": [1.0, 0.0, 0.5]})
    found = inspected(rows, bags)
    details = found["bag_details"]
    # V = 4·¼ + 4·¼ + 0 = 2, worth 8 labelled rows: those of the pure bags.
    assert found["bags"]["information"] == pytest.approx(2)
    assert found["bags"]["effective_sample_size"] == pytest.approx(8)
    assert [bag["share"] for bag in details["shares"]] == pytest.approx([0.5, 0.5, 0])
    assert details["n_informative"] == 2
    assert (details["average"], details["too_small"]) == (["c"], [])
    assert found["verdict"]["word"] == "check it with labels"
    assert found["verdict"]["why"].endswith("they are worth about 8 labelled rows")
    json.dumps(found, allow_nan=False)


def test_uninformative_bags_have_their_true_reason():
    """A tiny bag is too small whatever its share; a large one has the share of all rows."""
    rng = np.random.default_rng(0)
    sizes, shares = [1000, 1000, 1000, 4, 1], [0.1, 0.9, 0.5, 0.5, 1.0]
    rows = pd.DataFrame({"bag": np.repeat(list("abcde"), sizes), "x": rng.normal(size=3005)})
    found = inspected(rows, pd.DataFrame({"bag": list("abcde"), "rate": shares}))
    assert found["bag_details"]["too_small"] == ["e (1 row)", "d (4 rows)"]
    assert found["bag_details"]["average"] == ["c"]


def test_a_small_bag_that_matters_has_no_reason():
    rows = pd.DataFrame(
        {"bag": np.repeat(list("abc"), [40, 40, 5]), "x": (np.arange(85) * 37.0 % 85) ** 2}
    )
    bags = pd.DataFrame({"bag": list("abc"), "rate": [0.4, 0.6, 1.0]})
    details = inspected(rows, bags)["bag_details"]
    assert (details["average"], details["too_small"]) == ([], [])


def test_one_sided_proportions_have_no_convex_objective():
    rows = pd.DataFrame(
        {"bag": np.repeat(list("abcdef"), 10), "x": (np.arange(60) * 37.0 % 60) ** 2}
    )
    bags = pd.DataFrame({"bag": list("abcdef"), "rate": [0.1, 0.2, 0.3, 0.1, 0.2, 0.4]})
    found = inspected(rows, bags)
    convexity = found["bag_details"]["convexity"]
    assert not convexity["superbag"]
    assert convexity["floor"] > 0


def test_bags_by_a_column_are_said_to_differ_in_it():
    rows = pd.DataFrame({"bag": np.repeat(list("abcdef"), 10), "income": np.arange(60.0) ** 2})
    bags = pd.DataFrame({"bag": list("abcdef"), "rate": [0.4, 0.1, 0.3, 0.1, 0.2, 0.4]})
    found = inspected(rows, bags)
    assert found["assumptions"]["classes_differ"]
    assert found["assumptions"]["columns"] == ["income"]


def test_warnings_in_words():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"bag": [*np.repeat(list("abc"), 10), "d"], "x": rng.normal(size=31)})
    rows["region"] = rows["bag"].map({"a": "n", "b": "s", "c": "s", "d": "n"})
    rows["gaps"] = np.where(np.arange(31) % 4 == 0, rows["x"], np.nan)
    bags = pd.DataFrame({"bag": list("abcd"), "rate": [0.33, 0.5, 0.52, 1.0]})
    said = " | ".join(inspected(rows, bags)["warnings"])
    assert "in 2 bags (the first is 'a') the proportion does not give a whole number" in said
    assert "1 bag of one row" in said
    assert "same in all rows of a bag: 'region'" in said
    assert "most values are missing: 'gaps'" in said


def test_good_bags_are_usable_without_warnings(bag_table):
    found = inspected(bag_table.rows, bag_table.bags)
    assert found["verdict"]["word"] == "usable"
    assert found["warnings"] == []


def test_sources_are_weighed(source_rows):
    features = choose_features(source_rows.table.frame, roles=source_rows.roles)
    found = inspect_sources(source_rows, features)
    nurse, rule = found["sources"]["sources"]
    # 200·(.9)² and 400·(.5)²/(1.1)²: c² of Theorem 2.
    weights = np.array([200 * 0.81, 400 * 0.25 / 1.21])
    assert [nurse["weight"], rule["weight"]] == pytest.approx(weights / weights.sum())
    assert found["sources"]["effective_sample_size"] == pytest.approx(weights.sum())
    json.dumps(found, allow_nan=False)
