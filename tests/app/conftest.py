import pytest


@pytest.fixture(scope="module", autouse=True)
def _few_trees(few_trees):
    """No test of the application is about the forest."""
