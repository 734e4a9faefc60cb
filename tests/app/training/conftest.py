import pytest

from decorrupt.app.training.bag_columns import BagColumns
from decorrupt.app.training.columns import choose_features
from decorrupt.app.training.roles import read_bags
from decorrupt.app.training.settings import Settings
from decorrupt.app.training.source_roles import read_sources
from decorrupt.app.training.table import Table
from decorrupt.app.training.train import train
from helpers.hidden_labels import make_bag_table, make_source_table


@pytest.fixture(scope="session")
def bag_table():
    return make_bag_table()


@pytest.fixture(scope="session")
def bag_rows(bag_table):
    return read_bags(
        Table(bag_table.rows, "rows.csv"),
        Table(bag_table.bags, "bags.csv"),
        BagColumns("bag", count="positives"),
    )


@pytest.fixture(scope="session")
def trained(bag_rows):
    features = choose_features(bag_rows.table.frame, roles=bag_rows.roles)
    return train(bag_rows, features, Settings("mean-map", seed=1))


@pytest.fixture(scope="session")
def source_table():
    return make_source_table()


@pytest.fixture(scope="session")
def source_rows(source_table):
    return read_sources(
        Table(source_table.rows, "rows.csv"),
        Table(source_table.rates, "rates.csv"),
        label_column="says",
        source_column="who",
        positive_label="sick",
    )
