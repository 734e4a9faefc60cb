"""Text on a pipe: fixed width, no trailing spaces, everything literal."""

import pytest

from decorrupt.app.cli.text import PIPE_WIDTH, bullets, facts, line, print_text, section, table


@pytest.fixture
def printed(capsys):
    def call(*parts):
        print_text(*parts)
        return capsys.readouterr().out

    return call


def test_tables_align_text_left_and_numbers_right(printed):
    found = printed(section("Bags", table(("bag", "rows"), [("a", "1,000"), ("long name", "5")])))
    assert found == "Bags\n  bag         rows\n  a          1,000\n  long name      5\n"


def test_facts_and_lists(printed):
    found = printed(facts([("rows", "5"), ("columns", "3")]), bullets(["one"]), bullets([]))
    assert found == "rows     5\ncolumns  3\n\n- one\n\n- none\n"


@pytest.mark.parametrize("columns", ["30", "300"])
def test_long_text_is_wrapped_at_a_fixed_width(printed, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    text = "word " * 60
    found = printed(section("Title", text, facts([("name", text)]), bullets([text])))
    longest = max(map(len, found.splitlines()))
    assert PIPE_WIDTH - 10 < longest <= PIPE_WIDTH
    assert found.split().count("word") == 180
    assert all(part == part.rstrip() for part in found.splitlines())


def test_a_line_with_a_path_is_never_broken(printed):
    path = "/long folder" * 20
    assert printed(line(f"Saved in {path}.")) == f"Saved in {path}.\n"


def test_names_from_the_data_are_literal(printed, monkeypatch):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    names = ["[red]a[/red]", ":smile:", "0x1 'quoted' 3.5"]
    found = printed(*names, table(("[b]",), [(name,) for name in names]))
    assert found.count("[red]a[/red]") == found.count(":smile:") == 2
    assert "[b]" in found
    assert "\x1b" not in found
