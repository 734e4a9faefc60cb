"""Bags with shares or counts of named classes."""

import numpy as np
import pandas as pd
import pytest

from decorrupt import LaplaceNoise
from decorrupt.app.tables import TableError, join_names, split_names
from decorrupt.app.training.bag_columns import BagColumns
from decorrupt.app.training.roles import match_classes, read_bags
from decorrupt.app.training.source_roles import read_labels, read_sources
from decorrupt.app.training.table import Table
from helpers.three_parties import PARTIES, make_party_tables

WIDE = BagColumns("bag", proportions=PARTIES)
COUNTS = BagColumns("bag", counts=PARTIES)


@pytest.fixture
def tables():
    return make_party_tables()


def read(tables, bags, columns, **options):
    table = None if bags is None else Table(bags, "bags.csv")
    return read_bags(Table(tables.rows, "rows.csv"), table, columns, **options)


def test_wide_and_counted_tables_give_the_same_bags(tables):
    in_rows = tables.rows.merge(tables.wide, on="bag")
    wanted = tables.wide[list(PARTIES)].to_numpy()
    for found in (
        read(tables, tables.wide.sample(frac=1, random_state=0), WIDE),
        read(tables, tables.counts, COUNTS),
        read_bags(Table(in_rows, "rows.csv"), None, WIDE),
    ):
        assert found.classes == list(PARTIES)
        assert found.are_named
        np.testing.assert_allclose(found.observed.proportions, wanted)
        assert found.observed.row_proportions.shape == (240, 3)
    assert set(found.roles) == {"bag", *PARTIES}


def test_rounded_shares_are_rescaled(tables):
    rounded = tables.wide.assign(**{name: tables.wide[name].round(2) for name in PARTIES})
    found = read(tables, rounded, WIDE)
    np.testing.assert_allclose(found.observed.proportions.sum(axis=1), 1, rtol=1e-12)


def test_counts_of_a_sample_are_shares_with_a_warning(tables):
    more = tables.counts.assign(**{name: 10 * tables.counts[name] for name in PARTIES})
    found = read(tables, more, COUNTS)
    np.testing.assert_allclose(found.observed.proportions, tables.wide[list(PARTIES)])
    (said,) = found.warnings
    assert "in 30 of 30 bags" in said
    assert "'p00': 80 and 8" in said


def test_two_classes_have_two_shares(tables):
    two = tables.wide.assign(other=tables.wide["blue"] + tables.wide["green"])
    found = read(tables, two, BagColumns("bag", proportions=("other", "red")))
    np.testing.assert_allclose(found.observed.proportions, two[["other", "red"]])
    assert found.classes == ["other", "red"]
    swapped = match_classes(found, ("red", "other"), are_named=True)
    np.testing.assert_allclose(swapped.observed.proportions, two[["red", "other"]])
    assert swapped.classes == ["red", "other"]


def suppressed(column, limit=4):
    return [f"<{limit}" if count < limit else str(count) for count in column]


def test_cells_of_class_counts_can_be_ranges(tables):
    wide = tables.counts.assign(**{name: suppressed(tables.counts[name]) for name in PARTIES})
    in_rows = tables.rows.merge(wide, on="bag")
    counts = tables.counts[list(PARTIES)].to_numpy()
    for found in (
        read(tables, wide, COUNTS, takes_ranges=True),
        read_bags(Table(in_rows, "rows.csv"), None, COUNTS, takes_ranges=True),
    ):
        observed = found.observed.counts
        assert ((observed.lower <= counts) & (counts <= observed.upper)).all()
        assert (observed.lower < observed.upper).any()
        np.testing.assert_allclose(found.observed.proportions.sum(axis=1), 1)
        assert "bags have a range instead of a count" in found.warnings[0]
    with pytest.raises(TableError, match=r"bags.csv, row .*'<4', which is not a count"):
        read(tables, wide, COUNTS)


def test_ranges_that_the_other_counts_determine_are_exact(tables):
    cells = tables.counts.assign(red=suppressed(tables.counts["red"]))
    found = read(tables, cells, COUNTS, takes_ranges=True)
    assert not found.observed.is_inexact
    assert not found.warnings
    np.testing.assert_allclose(found.observed.proportions, tables.wide[list(PARTIES)])


def test_noisy_counts_of_classes(tables):
    noisy = tables.counts.assign(blue=tables.counts["blue"] - 1.5)
    columns = BagColumns("bag", counts=PARTIES, count_noise="laplace:2")
    found = read(tables, noisy, columns)
    np.testing.assert_allclose(found.observed.counts.lower, noisy[list(PARTIES)])
    assert found.observed.counts.noise[0] == LaplaceNoise(2.0)
    np.testing.assert_allclose(found.observed.proportions.sum(axis=1), 1)
    two = BagColumns("bag", counts=PARTIES[:2], count_noise="laplace:2")
    with pytest.raises(TableError, match="--count-noise with two classes is the noise of one"):
        read(tables, tables.counts, two)


@pytest.mark.parametrize(
    ("values", "noise", "message"),
    [
        (
            {"red": "7-3"},
            None,
            r"^bags.csv: the range of bag 'p00', class 'red' has its lower end",
        ),
        ({"red": "<3", "blue": "1.5"}, None, r"^bags.csv: the count of class 'blue' is 1.5"),
        ({"red": "<3"}, "laplace:2", "--count-noise cannot be combined with counts that are"),
    ],
)
def test_ranges_that_are_not_possible(tables, values, noise, message):
    bags = changed(tables.counts, 0, **values)
    columns = BagColumns("bag", counts=PARTIES, count_noise=noise)
    with pytest.raises(TableError, match=message):
        read(tables, bags, columns, takes_ranges=True)


def changed(table, row, **values):
    table = table.copy()
    for name, value in values.items():
        table[name] = table[name].astype(object)
        table.loc[table.index[row], name] = value
    return table


@pytest.mark.parametrize(
    ("make", "columns", "words"),
    [
        (
            lambda t: changed(t.wide, 4, blue=0.9, green=0.5, red=0.5),
            WIDE,
            r"shares of bag 'p04' sum to 1.9.*'blue', 'green', 'red'.*within 0.015",
        ),
        (
            lambda t: t.wide.assign(**{name: 100 * t.wide[name] for name in PARTIES}),
            WIDE,
            "divide percentages by 100",
        ),
        (lambda t: changed(t.wide, 2, blue="?"), WIDE, "row 3: column 'blue' contains '\\?'"),
        (
            lambda t: t.wide.assign(blue=0.0, green=t.wide["blue"] + t.wide["green"]),
            WIDE,
            "class 'blue' has share 0 in every bag",
        ),
        (lambda t: changed(t.counts, 3, red=-1), COUNTS, "class 'red' is -1 for bag 'p03'"),
        (lambda t: changed(t.counts, 3, red=1.5), COUNTS, "class 'red' is 1.5 .* whole number"),
        (
            lambda t: changed(t.counts, 3, blue=0, green=0, red=0),
            COUNTS,
            "all counts of bag 'p03' are 0",
        ),
    ],
)
def test_bad_bags_are_refused_by_name(tables, make, columns, words):
    with pytest.raises(TableError, match=words):
        read(tables, make(tables), columns)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (BagColumns("bag", proportions=("a",)), "'a' is one class"),
        (BagColumns("bag", proportions=("a", "b", "a")), "contains 'a' twice"),
        (BagColumns("bag", counts=("a", "bag")), "contains 'bag'"),
    ],
)
def test_options_that_do_not_describe_bags(columns, words):
    with pytest.raises(TableError, match=words):
        columns.check(has_table=True)


def test_other_classes_than_the_models_are_named(tables):
    found = read(tables, tables.wide, WIDE)
    with pytest.raises(TableError, match="no class 'green' in the model"):
        match_classes(found, ("blue", "lime", "red"), are_named=True)
    with pytest.raises(TableError, match="class 'grey' is missing in the bags"):
        match_classes(found, (*PARTIES, "grey"), are_named=True)


# --- noisy sources


ROWS = pd.DataFrame(
    {"x": [1.0, 2, 3, 4], "says": [0, 1, 1, 0], "who": ["nurse", "rule", "rule", "nurse"]}
)
RATES = pd.DataFrame({"source": ["rule", "nurse"], "flip_pos": [0.4, 0.1], "flip_neg": [0.2, 0.0]})


def rows(**changes):
    return Table(ROWS.assign(**changes), "rows.csv")


def rates(**changes):
    return Table(RATES.assign(**changes), "rates.csv")


@pytest.mark.parametrize(
    ("labels", "positive", "expected"),
    [
        ([0, 1, 1, 0], None, [False, True, True, False]),
        ([-1, 1.0, 1, -1], None, [False, True, True, False]),
        ([False, True, True, False], None, [False, True, True, False]),
        (["bad", "good", "good", "bad"], "bad", [True, False, False, True]),
        ([1, 2, 3, 4], "2,3", [False, True, True, False]),
        ([1.0, 2.0, 2.0, 1.0], "2", [False, True, True, False]),
    ],
)
def test_labels(labels, positive, expected):
    assert read_labels(rows(says=labels), "says", positive).is_pos.tolist() == expected


def test_classes_keep_their_names():
    found = read_labels(rows(says=["b", "a", "b", "a"]), "says", "a")
    assert (found.negative, found.positive) == ("b", "a")
    assert read_labels(rows(says=[1, 2, 3, 2]), "says", "2").negative == "not 2"


def test_sources_with_rates_and_priors():
    found = read_sources(
        rows(), rates(class_prior=[0.3, 0.6]), label_column="says", source_column="who"
    )
    assert found.sources.tolist() == ["nurse", "rule", "rule", "nurse"]
    assert found.rates == {"nurse": (0.1, 0.0), "rule": (0.4, 0.2)}
    assert found.class_priors == {"nurse": 0.6, "rule": 0.3}
    assert found.roles == ("says", "who")


def test_one_source_needs_no_name():
    one = Table(pd.DataFrame({"flip_pos": [0.1], "flip_neg": [0.2]}), "rates.csv")
    found = read_sources(rows(), one, label_column="says")
    assert found.rates == {"all rows": (0.1, 0.2)}


@pytest.mark.parametrize(
    ("table", "noise", "positive", "message"),
    [
        (rows(says=["a", "b", "a", "b"]), rates(), None, "'a', 'b': give the positive label"),
        (rows(says=[1, 2, 1, 2]), rates(), None, "--positive-label"),
        (rows(says=["a", "b", "a", "b"]), rates(), "c", "has no label 'c'"),
        (rows(says=["a", "a", "a", "a"]), rates(), "a", "the positive label only"),
        (rows(says=[0, None, 1, 1]), rates(), None, "rows.csv, row 2: column 'says' is empty"),
        (rows(who=["nurse", None, "rule", "rule"]), rates(), None, "row 2: column 'who' is empty"),
        (
            rows(),
            rates(source=["rule", "rule"]),
            None,
            "rates.csv, row 2: source 'rule' is already",
        ),
        (rows(), rates(source=["rule", "x"]), None, "no rates for source 'nurse' of rows.csv"),
        (rows(), rates(flip_pos=[0.8, 0.1]), None, "rates.csv, row 1: source 'rule' has flip_pos"),
        (rows(), rates(flip_neg=["x", 0.1]), None, "row 1: column 'flip_neg' contains 'x'"),
        (rows(), rates(class_prior=[3, 0.1]), None, "column 'class_prior' contains 3"),
    ],
)
def test_bad_tables_are_named_with_column_and_row(table, noise, positive, message):
    with pytest.raises(TableError, match=message):
        read_sources(
            table, noise, label_column="says", source_column="who", positive_label=positive
        )


def test_a_source_of_the_rates_without_rows_is_a_warning():
    more = pd.concat([RATES, RATES[:1].assign(source="clerk")])
    found = read_sources(rows(), Table(more, "rates.csv"), label_column="says", source_column="who")
    assert found.warnings == ("rows.csv has no rows of source 'clerk', which rates.csv lists",)
    with pytest.raises(TableError, match="did you mean 'Nurse'"):
        read_sources(
            rows(), rates(source=["rule", "Nurse"]), label_column="says", source_column="who"
        )


def test_lists_of_names():
    for names in (["a"], ["a, b", "c"], ['say "yes"', "x"], ["old\nage", "a\rb", "c"]):
        assert split_names(join_names(names)) == names
