import pytest

from decorrupt.distributed import sample

pytest.importorskip("distributed")


@pytest.fixture(autouse=True)
def a_small_sample(monkeypatch):
    """A start that is not the solution already."""
    monkeypatch.setattr(sample, "SAMPLE_ROWS", 120)
    monkeypatch.setattr(sample, "ROWS_PER_BAG", 30)
