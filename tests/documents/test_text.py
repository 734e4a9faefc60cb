"""Documents as text: wrapped at a width, aligned, everything literal, commands whole."""

import re

import pytest

from decorrupt.documents import Command, Facts, Figure, Panels, Section, Table, Text, to_text

LONG = "word " * 60
COMMAND = f"decorrupt fit '{'long name ' * 20}.csv' --bag-column branch -o model.skops"


def text_of(*blocks, title="", width=80, colour=False):
    return to_text([Section("name", title, blocks)], width=width, colour=colour)


def never_drawn():
    raise AssertionError("a terminal shows no figures")


def test_tables_align_text_left_and_numbers_right():
    rows = [["a", 1000, {"text": "0.50", "sort": 0.5}], ["long name", 5, None]]
    table = Table("bags", "The bags. More words.", ["bag", "rows", "share"], rows)
    assert text_of(table, title="Title") == (
        "Title\n"
        "  The bags\n"
        "  bag          rows   share\n"
        "  ─────────────────────────\n"
        "  a           1,000    0.50\n"
        "  long name       5       –\n"
    )


def test_a_column_with_a_word_is_not_a_column_of_numbers():
    table = Table("t", "Caption", ["value"], [["none"], [5]])
    assert text_of(table).splitlines()[-2:] == ["none", "5"]


def test_cells_have_their_second_and_third_line_beside_them():
    cell = {"text": "0.5", "under": "± 0.1", "change": "+0.2", "strong": True, "sort": 0.5}
    table = Table("t", "Caption", ["value"], [[cell]], footer=[["mean"]])
    assert text_of(table).splitlines()[-2:] == ["0.5 ± 0.1 +0.2", "mean".rjust(14)]


@pytest.mark.parametrize("width", [30, 80, 100])
def test_long_text_is_wrapped_at_the_width(width):
    blocks = (
        Text(LONG),
        Text(LONG, "note"),
        Facts([("name", LONG)]),
        Table("t", LONG, ["a", LONG], [["b", LONG]]),
    )
    found = text_of(*blocks, title="Title", width=width)
    lines = found.splitlines()
    assert width - 10 < max(map(len, lines)) <= width
    assert found.split().count("word") == 6 * 60, "no word is lost or broken"
    assert all(line == line.rstrip() for line in lines)


def test_what_wraps_is_aligned_under_its_first_line():
    found = text_of(Text("12345 " * 4, "note"), Facts([("term", "12345 " * 4)]), width=20)
    assert [line.index("12345") for line in found.splitlines()] == [2, 2, 6, 6]


@pytest.mark.parametrize("title", ["", "Title"])
@pytest.mark.parametrize("width", [10, 80])
def test_a_command_is_never_broken(title, width):
    assert len(COMMAND) > 200
    found = text_of(Text("Next: train."), Command(COMMAND), title=title, width=width)
    assert found.splitlines()[-1].strip() == COMMAND
    assert found.endswith(f"  {COMMAND}\n")


def test_figures_are_left_out_and_not_drawn():
    figure = Figure(never_drawn, "A caption", "A heading")
    blocks = [figure, Panels([figure])]
    assert text_of(Text("Words."), *blocks) == "Words.\n"
    assert text_of(*blocks, title="Plots") == "\n", "a heading of nothing is not shown"


def test_sections_are_indented_below_their_title_and_empty_ones_left_out():
    sections = [
        Section("a", "One", [Text("a")]),
        Section("b", "Empty", []),
        Section("c", "", [Text("c")]),
        Section("d", "Two", [Text("d")], folded=True),
    ]
    assert to_text(sections, width=80) == "One\n  a\n\nc\n\nTwo\n  d\n"


def test_names_from_the_data_are_literal():
    names = ["[red]a[/red]", ":smile:", "0x1 'quoted' 3.5", "[/]", "a\\[b]"]
    blocks = [
        *(block(name) for name in names for block in (Text, Command)),
        *(Text(name, tone) for name in names for tone in ("note", "faint", "bad")),
        Facts([(name, name) for name in names]),
        Table("t", names[0], [names[0]], [[name] for name in names]),
        Table("t", names[0], [names[0]], [[{"text": name, "under": name}] for name in names]),
    ]
    found = text_of(*blocks, title=names[0])
    for name in names:
        assert found.count(name) >= 10, name
    assert "\x1b" not in found


def test_colour_changes_nothing_but_colour():
    blocks = (
        Text("Usable: because.", "good"),
        Text("Faint.", "faint"),
        Table("t", "Caption", ["a"], [[{"text": "bold", "strong": True}]]),
    )
    coloured, plain = (text_of(*blocks, title="Title", colour=colour) for colour in (True, False))
    assert "\x1b[1;32mUsable: because.\x1b[0m" in coloured
    lines = [line.rstrip() for line in re.sub(r"\x1b\[[\d;]*m", "", coloured).splitlines()]
    assert lines == plain.splitlines()
