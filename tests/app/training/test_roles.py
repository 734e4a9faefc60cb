import numpy as np
import pandas as pd
import pytest

from decorrupt.app.tables import TableError
from decorrupt.app.training.roles import Table, read_bags

ROWS = pd.DataFrame(
    {"town": ["a", "a", "b", "b", "b"], "age": [1, 2, 3, 4, 5], "share": [0.5, 0.5, 1, 1, 1.0]}
)
BAGS = pd.DataFrame({"town": ["b", "a", "c"], "rate": [1.0, 0.5, 0.1], "yes": [3, 1, 9]})


def rows(**changes):
    return Table(ROWS.assign(**changes), "rows.csv")


def bags(frame=BAGS):
    return Table(frame, "bags.csv")


def test_proportions_from_the_rows_themselves():
    found = read_bags(rows(), bag_column="town", proportion_column="share")
    assert found.y.tolist() == [0.5, 0.5, 1, 1, 1]
    assert found.strata.ids.tolist() == ["a", "b"]
    assert found.roles == ("town", "share")


@pytest.mark.parametrize("column", [{"proportion_column": "rate"}, {"count_column": "yes"}])
def test_proportions_and_counts_from_a_second_table(column):
    found = read_bags(rows(), bags(), bag_column="town", **column)
    assert found.y.tolist() == [0.5, 0.5, 1, 1, 1]
    assert found.roles == ("town",)
    assert found.warnings == ("1 of 3 bags in bags.csv have no rows: not used",)


def test_bags_are_joined_whatever_types_the_files_gave_their_names():
    with_numbers = rows(town=[1.0, 1.0, 2.0, 2.0, 2.0])
    by_text = bags(pd.DataFrame({"town": ["2", "1"], "rate": [1.0, 0.5]}))
    found = read_bags(with_numbers, by_text, bag_column="town", proportion_column="rate")
    assert found.y.tolist() == [0.5, 0.5, 1, 1, 1]


@pytest.mark.parametrize(
    ("table", "second", "options", "message"),
    [
        (rows(), None, {}, "either --proportion-column or --count-column"),
        (
            rows(),
            None,
            {"proportion_column": "share", "count_column": "share"},
            "either --proportion-column or --count-column",
        ),
        (rows(), None, {"proportion_column": "p"}, "rows.csv: there is no column 'p'"),
        (rows(), bags(), {"proportion_column": "share"}, "bags.csv: there is no column 'share'"),
        (
            rows(town=["a", None, "b", "b", "b"]),
            None,
            {"proportion_column": "share"},
            "rows.csv, row 2: column 'town' is empty",
        ),
        (
            rows(share=[0.5, 0.5, 1, 1, 0.9]),
            None,
            {"proportion_column": "share"},
            "rows.csv, row 5: column 'share' contains 0.9, but bag 'b' has 1 in row 3",
        ),
        (
            rows(share=[50, 50, 100, 100, 100]),
            None,
            {"proportion_column": "share"},
            "contains 50 for bag 'a': .*divide percentages by 100",
        ),
        (
            rows(share=["x", "x", "y", "y", "y"]),
            None,
            {"proportion_column": "share"},
            "rows.csv, row 1: column 'share' contains 'x', which is not a proportion",
        ),
        (
            rows(share=["0,5", "0,5", "1", "1", "1"]),
            None,
            {"proportion_column": "share"},
            r"contains '0,5', which is not a proportion; if the comma .* --decimal ,",
        ),
        (
            rows(share=[0.5, np.nan, 1, 1, 1]),
            None,
            {"proportion_column": "share"},
            "rows.csv, row 2: column 'share' is empty",
        ),
        (
            rows(share=0.5),
            None,
            {"proportion_column": "share"},
            "rows.csv: column 'share': all 2 bags have the same proportion",
        ),
        (
            rows(),
            bags(BAGS.assign(yes=[4, 1, 0])),
            {"count_column": "yes"},
            "bags.csv: column 'yes' contains 4 for bag 'b' of 3 rows",
        ),
        (
            rows(),
            bags(BAGS.assign(town=["b", "a", "b"])),
            {"proportion_column": "rate"},
            "bags.csv, row 3: bag 'b' is already in row 1",
        ),
        (
            rows(town=["a", "a", "b", "b", "z"]),
            bags(),
            {"proportion_column": "rate"},
            "rows.csv, row 5: bag 'z' is not in column 'town' of bags.csv",
        ),
        (
            rows(),
            bags(BAGS.rename(columns={"town": "name"})),
            {"proportion_column": "rate"},
            r"bags.csv: there is no column 'town' \(--bag-column\)",
        ),
    ],
)
def test_bad_tables_are_named_with_column_and_row(table, second, options, message):
    with pytest.raises(TableError, match=message):
        read_bags(table, second, bag_column="town", **options)
