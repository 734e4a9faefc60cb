"""Which columns describe bags, guessed from their names and values."""

import pandas as pd
import pytest

from decorrupt.app.tables import TableError
from decorrupt.app.training.bag_columns import BagColumns
from decorrupt.app.training.guess import guess_columns
from decorrupt.app.training.table import Table

ROWS = Table(pd.DataFrame({"precinct": ["a", "b"], "age": [30, 40]}), "voters.csv")


def guessed(columns=None, rows=ROWS, **bags):
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
