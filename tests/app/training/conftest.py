import pytest

from helpers.hidden_labels import make_bag_table, make_source_table


@pytest.fixture(scope="session")
def bag_table():
    return make_bag_table()


@pytest.fixture(scope="session")
def source_table():
    return make_source_table()
