import pandas as pd
import pytest

from decorrupt.app.tables import TableError, join_names, split_names
from decorrupt.app.training.source_roles import read_labels, read_sources
from decorrupt.app.training.table import Table

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
