"""How pages write numbers."""

import pytest

from decorrupt.documents.formats import count, duration, number, p_value, signed, value_cell


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (number(None), "—"),
        (number(-0.12345), "−0.123"),
        (number(2.0, 1), "2.0"),
        (signed(0.5, 1), "+0.5"),
        (signed(-0.5, 1), "−0.5"),
        (p_value(0.0004), "< 0.001"),
        (p_value(0.05), "0.050"),
        (count(1, "bag"), "1 bag"),
        (count(0, "bag"), "0 bags"),
        (count(12_345, "row"), "12,345 rows"),
        (duration(119.94), "119.9 s"),
        (duration(120), "2 min"),
        (duration(7200), "2.0 h"),
    ],
)
def test_texts(text, expected):
    assert text == expected


def test_a_cell_is_sorted_by_more_digits_than_it_shows():
    assert value_cell(-0.12345678) == {"text": "−0.123", "sort": "-0.123456780"}
    assert value_cell(0.25, signed)["text"] == "+0.250"
    assert value_cell(None) is None
