"""Pages of the commands in a real browser: complete, alone, readable on a phone, on paper too."""

import contextlib

import pytest

from decorrupt.app.cli.app import run
from helpers.hidden_labels import make_bag_table, make_source_table
from helpers.page_views import (
    UNFOLD,
    VIEWS,
    check_headings_and_captions,
    check_print,
    check_shades,
    check_texts,
    check_width,
    opened,
    show,
)
from helpers.quick import quick_commands
from helpers.synthetic_records import full_run
from helpers.three_parties import make_party_tables
from reproduction.report import format_report

NASTY = "<script>document.title='taken'</script> & Größe"
# What is drawn on each page.
PLOTS = {
    "model": {"agreement", "calibration"},
    "sources": {"agreement", "calibration"},
    "evaluation": {"agreement", "calibration"},
    "labels": {"calibration"},
    "inspection": set(),
    "classes": {"agreement"},
    "class-labels": {"calibration"},
    "report": {*"0123456", "plot"},
}


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    """Every kind of page, made by the commands from files on disk."""
    folder = tmp_path_factory.mktemp("pages")
    bags, sources = make_bag_table(), make_source_table()
    bags.rows.rename(columns={"noise": NASTY}).to_csv(folder / "rows.csv", index=False)
    bags.bags.to_csv(folder / "bags.csv", index=False)
    test = bags.test.rename(columns={"noise": NASTY}).assign(label=bags.test_labels)
    test.to_csv(folder / "test.csv", index=False)
    sources.rows.to_csv(folder / "noisy.csv", index=False)
    sources.rates.to_csv(folder / "rates.csv", index=False)
    parties = make_party_tables()
    parties.rows.to_csv(folder / "voters.csv", index=False)
    parties.wide.rename(columns={"red": NASTY}).to_csv(folder / "precincts.csv", index=False)
    test = parties.test.replace({"party": {"red": NASTY}})
    test.to_csv(folder / "asked.csv", index=False)
    with quick_commands():
        make_pages(folder)
    (folder / "report.html").write_text(format_report(full_run(), ".html"), encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in PLOTS}


def make_pages(folder):
    in_bags = [folder / "rows.csv", folder / "bags.csv", "--bag-column", "bag"]
    in_bags += ["--proportion-column", "rate"]
    by_sources = [folder / "noisy.csv", "--label-column", "says", "--positive-label", "sick"]
    by_sources += ["--source-column", "who", "--noise-rates", folder / "rates.csv"]
    parties = [folder / "voters.csv", folder / "precincts.csv", "--bag-column", "bag"]
    parties += ["--proportion-columns", f"blue,green,{NASTY}"]
    parties += ["--method", "mean-map"]
    model = folder / "model.skops"
    three = folder / "three.skops"
    by_label = [model, folder / "test.csv", "--label-column", "label"]
    for name, arguments in {
        "model": ["fit", *in_bags, "--method", "corrected-loss", "-o", model, "--report"],
        "sources": ["fit", *by_sources, "-o", folder / "sources.skops", "--report"],
        "evaluation": ["evaluate", model, *in_bags, "--report"],
        "labels": ["evaluate", *by_label, "--positive-label", 1, "--report"],
        "inspection": ["inspect", *in_bags, "--report"],
        "classes": ["fit", *parties, "-o", three, "--report"],
        "class-labels": [
            *("evaluate", three, folder / "asked.csv", "--label-column", "party"),
            "--report",
        ],
    }.items():
        asked = [*arguments, folder / f"{name}.html", "--quiet"]
        assert run([str(one) for one in asked]) == 0


@pytest.fixture(scope="module", params=PLOTS)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def loaded(browser, addresses, name):
    """A page, with all it asked for and complained of; loaded once for all views and tests.

    All sections are open.
    """
    with opened(browser, addresses[name]) as found:
        found[0].evaluate(UNFOLD)
        yield found


@pytest.fixture(params=VIEWS)
def view(request, loaded):
    show(loaded[0], **VIEWS[request.param])
    return loaded


def test_pages_are_alone_and_fit_the_screen(view, name, addresses):
    page, requests, complaints = view
    page.mouse.wheel(0, 20_000)
    page.wait_for_timeout(50)
    assert requests == [addresses[name]]
    assert complaints == []
    assert "taken" not in page.title(), "a column's name is not run"
    check_width(page)


def test_plots_are_seen_and_their_texts_can_be_read(view, name):
    page, *_ = view
    width = page.viewport_size["width"]
    plots = page.locator("figure > svg")
    drawn = {label.split("-title")[0].split("-")[-1] for label in labels_of(plots)}
    assert drawn == PLOTS[name]
    for plot in plots.all():
        box = plot.bounding_box()
        assert box["width"] >= 300
        assert box["height"] >= 150
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    check_texts(page)


def labels_of(plots):
    return [plot.get_attribute("aria-labelledby").split()[0] for plot in plots.all()]


def test_dark_and_light(view, request):
    page, *_ = view
    check_shades(page, dark="dark" in request.node.callspec.params["view"])


def test_headings_captions_and_names(loaded):
    page, *_ = loaded
    show(page, **VIEWS["desktop"])
    check_headings_and_captions(page)
    for button in page.locator("button").all():
        assert button.inner_text().strip()
    for drawing in page.locator("svg").all():
        assert drawing.locator("> title").text_content().strip()
    for section in page.locator("section").all():
        content = section.locator("> details > *" if section.locator("details").count() else "> *")
        assert content.count() > 1, "no heading without content"


def test_on_paper_it_is_black_on_white_and_whole(loaded):
    page, *_ = loaded
    show(page, **VIEWS["desktop dark"])
    check_print(page)


@pytest.fixture
def on_phone(browser, addresses):
    """A page just loaded on a phone."""
    with contextlib.ExitStack() as open_pages:

        def load(name, anchor=""):
            address = addresses[name] + anchor
            return open_pages.enter_context(opened(browser, address, **VIEWS["phone"]))[0]

        yield load


@pytest.mark.parametrize("name", [one for one in PLOTS if one != "report"], indirect=True)
def test_details_are_closed_at_first_and_the_verdict_is_seen(on_phone, name):
    page = on_phone(name)
    folded = page.locator("details")
    assert folded.count() > 2
    assert not any(one.evaluate("e => e.open") for one in folded.all())
    title = page.locator("main h2").first
    if name != "evaluation":  # of bags without labels
        assert title.inner_text() == "Verdict"
        assert page.locator("p.good, p.unsure, p.bad").count() == 1
    assert title.bounding_box()["y"] < 844, "on the first screen"
    assert not page.locator("details table").first.is_visible()
    check_width(page)


def test_a_click_or_key_opens_a_section(on_phone):
    page = on_phone("model")
    summary = page.locator("summary", has_text="Results on held-out bags")
    table = page.locator("#held-out-criteria")
    summary.click()
    assert table.is_visible()
    summary.press("Enter")
    assert not table.is_visible()


def test_a_link_to_a_folded_section_opens_it(on_phone):
    page = on_phone("model", "#held-out")
    assert page.locator("#held-out-criteria").is_visible()
    assert page.locator("details[open]").count() == 1
    page.evaluate("location.hash = '#importance'")
    page.locator("#model-drops").wait_for()
    assert page.locator("details[open]").count() == 2
    page.evaluate("location.hash = '#nowhere'")


def test_a_wide_table_shows_that_it_scrolls(on_phone):
    page = on_phone("model", "#methods")
    wide = page.locator(".scroll:has(#leaderboard)")
    page.locator(".scrolls:has(#leaderboard)").wait_for()
    assert wide.evaluate("e => e.scrollWidth > e.clientWidth")
    hint = "e => getComputedStyle(e, '::before').content"
    assert "scroll sideways" in wide.evaluate(hint)
    page.set_viewport_size(VIEWS["desktop"]["viewport"])
    page.locator(".scroll:not(.scrolls):has(#leaderboard)").wait_for()
    assert wide.evaluate(hint) == "none"


def test_printed_pages_are_unfolded(on_phone):
    page = on_phone("model")
    page.emulate_media(media="print")
    assert page.locator("details[open]").count() == 0
    heights = page.locator("details table").evaluate_all("all => all.map((e) => e.clientHeight)")
    assert min(heights) > 20


# --- what only the report of the reproduction has

CELLS = """
(table) => [...document.querySelectorAll(`#${table} tbody tr`)].map(
  (row) => [...row.cells].map((cell) => cell.innerText.trim()))
"""


@pytest.fixture
def report(browser, addresses):
    """The report, loaded for one test that uses it."""
    with opened(browser, addresses["report"], **VIEWS["desktop"]) as (page, *_):
        yield page


def test_sorting_by_keyboard(report):
    before = report.evaluate(CELLS, "paper-table-1")
    button = report.locator("#paper-table-1 tr.columns th").nth(3).get_by_role("button")
    head = report.locator("#paper-table-1 tr.columns th").nth(3)
    button.focus()
    for key, order in (("Enter", "ascending"), ("Space", "descending")):
        report.keyboard.press(key)
        assert head.get_attribute("aria-sort") == order
        rows = report.evaluate(CELLS, "paper-table-1")
        assert rows[-1][3] == "—", "missing values are last in both orders"
        values = [float(row[3].split()[0]) for row in rows[:-1]]
        assert values == sorted(values, reverse=order == "descending")
    report.locator("#paper-table-1 tr.columns th").nth(1).get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") is None
    sizes = [int(row[1]) for row in report.evaluate(CELLS, "paper-table-1")]
    assert sizes == sorted(sizes), "sizes sort as numbers"
    assert sorted(before) == sorted(report.evaluate(CELLS, "paper-table-1")), "no row is lost"


def test_the_first_tab_skips_to_the_content(report):
    report.keyboard.press("Tab")
    link = report.locator("a.skip")
    assert link.evaluate("e => e === document.activeElement")
    assert link.bounding_box()["x"] >= 0
    report.keyboard.press("Enter")
    assert report.evaluate("() => document.activeElement.id") == "content"


def test_without_scripts_all_is_there_and_no_button(browser, addresses):
    with opened(browser, addresses["report"], java_script_enabled=False) as (page, *_):
        assert page.locator("#paper-table-1 tbody tr").count() == 42
        assert page.locator("button").count() == 0
