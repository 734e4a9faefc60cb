"""test_roles"""

import numpy as np
import pandas as pd
import pytest

from decorrupt.app.tables import TableError
from decorrupt.app.training.bag_columns import BagColumns
from decorrupt.app.training.guess import guess_columns
from decorrupt.app.training.roles import read_bags
from decorrupt.app.training.table import Table
from decorrupt.observed import LaplaceNoise

ROWS = pd.DataFrame(
    {"town": ["a", "a", "b", "b", "b"], "age": [1, 2, 3, 4, 5], "share": [0.5, 0.5, 1, 1, 1.0]}
)
BAGS = pd.DataFrame({"town": ["b", "a", "c"], "rate": [1.0, 0.5, 0.1], "yes": [3, 1, 9]})


def rows(**changes):
    return Table(ROWS.assign(**changes), "rows.csv")


def bags(frame=BAGS):
    return Table(frame, "bags.csv")


def read(table, second=None, *, takes_ranges=False, **columns):
    return read_bags(table, second, BagColumns("town", **columns), takes_ranges=takes_ranges)


def positives(found):
    return found.observed.row_proportions[:, 1].tolist()


def test_proportions_from_the_rows_themselves():
    found = read(rows(), proportion="share")
    assert positives(found) == [0.5, 0.5, 1, 1, 1]
    assert found.observed.ids.tolist() == ["a", "b"]
    assert found.roles == ("town", "share")


@pytest.mark.parametrize("column", [{"proportion": "rate"}, {"count": "yes"}])
def test_proportions_and_counts_from_a_second_table(column):
    found = read(rows(), bags(), **column)
    assert positives(found) == [0.5, 0.5, 1, 1, 1]
    assert found.roles == ("town",)
    assert found.warnings == ("1 of 3 bags in bags.csv has no rows: not used",)


def test_bags_are_joined_whatever_types_the_files_gave_their_names():
    with_numbers = rows(town=[1.0, 1.0, 2.0, 2.0, 2.0])
    by_text = bags(pd.DataFrame({"town": ["2", "1"], "rate": [1.0, 0.5]}))
    found = read(with_numbers, by_text, proportion="rate")
    assert positives(found) == [0.5, 0.5, 1, 1, 1]


@pytest.mark.parametrize(
    ("cells", "ends"),
    [
        (["<2", "3", "0"], ([0, 3], [1, 3])),
        (["< 2", " 3 ", "0"], ([0, 3], [1, 3])),
        (["≤1", "2-3", "0"], ([0, 2], [1, 3])),
        (["0–1", "2 – 3", "0"], ([0, 2], [1, 3])),
        (["2", "<5", "0"], ([2, 0], [2, 3])),  # b has 3 rows
    ],
)
def test_cells_of_counts_can_be_ranges(cells, ends):
    table = bags(pd.DataFrame({"town": ["a", "b", "c"], "yes": cells}))
    found = read(rows(), table, count="yes", takes_ranges=True)
    reported = found.observed.counts
    assert (reported.lower[:, 1].tolist(), reported.upper[:, 1].tolist()) == ends
    shares = found.observed.proportions[:, 1]
    np.testing.assert_allclose(shares, np.mean(ends, axis=0) / [2, 3])
    assert "bags have a range instead of a count" in found.warnings[-1]
    with pytest.raises(TableError, match="which is not a count"):
        read(rows(), table, count="yes")


def test_noisy_counts_need_not_be_possible():
    table = bags(BAGS.assign(yes=[4.5, -1, 0]))
    found = read(rows(), table, count="yes", count_noise="laplace:2")
    assert found.observed.counts.lower[:, 1].tolist() == [-1, 4.5]
    assert found.observed.counts.noise == [LaplaceNoise(2.0)] * 2
    assert found.observed.proportions[:, 1].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"town": ["a", None, None, None, "b"]},
            "rows.csv: column 'town' is empty in 3 of 5 rows: most rows belong to no bag",
        ),
        (
            {"town": ["a", None, "b", "b", "b"], "share": [0.5, 0.5, 1, 1, 0.9]},
            "rows.csv, row 5: column 'share' contains 0.9, but bag 'b' has 1 in row 3",
        ),
        ({"share": [50, 50, 100, 100, 100]}, "contains 50 for bag 'a': .*divide percentages by"),
        (
            {"share": ["x", "x", "y", "y", "y"]},
            "rows.csv, row 1: column 'share' contains 'x', which is not a proportion",
        ),
        (
            {"share": ["0,5", "0,5", "1", "1", "1"]},
            "contains '0,5', which is not a proportion; write decimals with a point",
        ),
        ({"share": [0.5, np.nan, 1, 1, 1]}, "rows.csv, row 2: column 'share' is empty"),
        ({"share": 0.5}, "rows.csv: column 'share': all 2 bags have the same proportion"),
    ],
)
def test_bad_shares_in_the_rows_are_named_with_column_and_row(changes, message):
    with pytest.raises(TableError, match=message):
        read(rows(**changes), proportion="share")


VAGUE = {"count": "yes", "takes_ranges": True}


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        (
            {"yes": ["2-1", "1", "0"]},
            VAGUE,
            "column 'yes': the range of bag 'b' has its lower end",
        ),
        (
            {"yes": ["about 2", "1", "0"]},
            VAGUE,
            "bags.csv, row 1: column 'yes' contains 'about 2', which is not a count",
        ),
        (
            {"yes": [4, 1, 0]},
            {"count": "yes"},
            "bags.csv: column 'yes' contains 4 for bag 'b' of 3 rows",
        ),
        (
            {"town": ["b", "a", "b"]},
            {"proportion": "rate"},
            "bags.csv, row 3: bag 'b' is already in row 1",
        ),
        (
            {"town": ["z", "a", "c"]},
            {"proportion": "rate"},
            "rows.csv, row 3: bag 'b' is not in column 'town' of bags.csv",
        ),
        *(
            (
                {"town": [other, "a", "c"]},
                {"proportion": "rate"},
                f"did you mean '{other}'. It differs in case, blanks or Unicode form",
            )
            for other in ("B", " b ", "ｂ")
        ),
    ],
)
def test_bad_tables_of_bags_are_named_with_column_and_row(changes, options, message):
    with pytest.raises(TableError, match=message):
        read(rows(), bags(BAGS.assign(**changes)), **options)


def test_rows_without_a_bag_are_left_out_with_a_note():
    weights = np.array([1, 2, 3, 4, 5])
    found = read_bags(
        Table(ROWS.assign(town=["a", None, "b", "b", "a"]), "rows.csv", weights=weights),
        bags(),
        BagColumns("town", proportion="rate"),
    )
    assert positives(found) == [0.5, 1, 1, 0.5]
    assert found.observed.sizes.tolist() == [6, 7]
    assert found.table.frame["age"].tolist() == [1, 3, 4, 5]
    assert found.table.weights.tolist() == [1, 3, 4, 5]
    assert found.notes == (
        "rows.csv: column 'town' is empty in 1 of 5 rows, which belong to no bag and are not used",
    )


def test_a_size_that_contradicts_the_rows_is_a_warning():
    columns = {"proportion": "rate"}
    found = read(rows(), bags(BAGS.assign(Rows=[3, 2, 9])), **columns)
    assert found.warnings == ("1 of 3 bags in bags.csv has no rows: not used",)
    found = read(rows(), bags(BAGS.assign(Rows=[4, 2, 9])), **columns)
    assert found.warnings[1] == (
        "column 'Rows' of bags.csv contradicts the number of rows of 1 bags (the first is 'b': 4 "
        "and 3): are rows missing?"
    )


# --- guessed columns


ROWS_GUESS = Table(pd.DataFrame({"precinct": ["a", "b"], "age": [30, 40]}), "voters.csv")


def guessed(columns=None, rows=ROWS_GUESS, **bags):
    table = Table(pd.DataFrame({"precinct": ["a", "b"]} | bags), "precincts.csv")
    return guess_columns(columns or BagColumns(), rows, table)


@pytest.mark.parametrize(
    ("name", "field"),
    [
        *(("share", "proportion"), ("Rate", "proportion"), ("PROPORTION", "proportion")),
        *(("vote_share", "proportion"), ("default_rate", "proportion")),
        *(("count", "count"), ("Yes_Count", "count")),
    ],
)
def test_a_column_with_a_telling_name(name, field):
    columns, notes = guessed(**{name: [0, 1], "wealth": [3, 4], "country": ["x", "y"]})
    assert columns == BagColumns("precinct", **{field: name})
    assert notes == [
        f"bag column: precinct, {field} column: {name} (guessed; give --bag-column and "
        f"--{field}-column to change)"
    ]


def test_what_options_name_is_not_guessed():
    given = BagColumns("precinct", count="share")
    assert guessed(given, share=[3, 4], rate=[1, 2]) == (given, [])
    columns, (note,) = guessed(BagColumns(proportion="wealth"), wealth=[0.1, 0.2], rate=[1, 2])
    assert columns == BagColumns("precinct", proportion="wealth")
    assert "--proportion-column" not in note


def test_numbers_that_sum_to_one_are_shares_of_classes():
    shares = {"size": [5, 6], "no": [0.33, 1], "yes": [0.67, 0]}
    columns, (note,) = guessed(**shares)
    assert columns == BagColumns("precinct", proportions=["no", "yes"])
    assert "proportion columns: no, yes" in note
    with pytest.raises(TableError, match=r"no column is called .*'size', 'no', 'yes'"):
        guessed(**shares | {"yes": [0.5, 0]})
    with pytest.raises(TableError, match="no column is called"):
        guessed(**shares | {"no": [-1, 1], "yes": [2, 0]})


def test_several_candidates_are_listed():
    with pytest.raises(TableError, match=r"precincts\.csv: the columns 'share', 'count' could all"):
        guessed(share=[0.1, 0.2], count=[1, 2])
    with pytest.raises(TableError, match="have the columns 'precinct', 'age' in common"):
        guessed(age=[1, 2], share=[0.1, 0.2])
    with pytest.raises(TableError, match="have no column in common"):
        guessed(rows=Table(pd.DataFrame({"age": [1]}), "voters.csv"), share=[0.1, 0.2])
