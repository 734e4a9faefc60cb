"""The built documentation site in a real browser: complete, offline, readable on a phone."""

from pathlib import Path

import pytest

from helpers.page_views import BACKGROUND, VIEWS, opened

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
PAGES = {
    "index.html": "Classifiers when nobody has clean labels",
    "learn/python.html": "First model in Python",
    "choose/which_method.html": "Which method",
    "howto/tables_of_margins.html": "Tables of margins",
    "understand/label_proportions.html": "Label proportions",
    "understand/glossary.html": "Glossary",
    "evidence/index.html": "Evidence",
    "evidence/elections.html": "Tables of margins: real elections and a survey",
    "gallery/index.html": "All examples",
    "gallery/plot_bag_size.html": "Bag size against accuracy",
    "api/index.html": "Python",
    "api/generated/decorrupt.CountLikelihoodClassifier.html": "CountLikelihoodClassifier",
    "theory/corrected_risk.html": "The corrected risk",
    "reference/command_line.html": "The command line",
}

pytestmark = pytest.mark.skipif(
    not (SITE / "index.html").exists(), reason="the site is not built: make docs-quick"
)


def unexpected(messages):
    """Return the messages on the console that are not the theme's protocol."""
    return [message for message in messages if not message.startswith("[PST]")]


@pytest.fixture(params=["desktop", "phone dark"])
def view(request):
    return VIEWS[request.param]


@pytest.mark.parametrize("address", PAGES)
def test_a_page_is_complete_alone_and_fits_the_screen(browser, view, address):
    with opened(browser, f"{SITE.as_uri()}/{address}", **view) as (page, requests, complaints):
        title = page.locator("h1").first
        assert title.inner_text().strip().startswith(PAGES[address])
        assert not [url for url in requests if not url.startswith(("file:", "data:"))]
        assert not unexpected(complaints)
        screen = view["viewport"]["width"]
        assert page.evaluate("document.documentElement.scrollWidth") <= screen
        box = title.bounding_box()
        assert box["x"] + box["width"] <= screen
        shade = sum(int(part) for part in page.evaluate(BACKGROUND)[4:-1].split(","))
        assert (shade < 150) if view["color_scheme"] == "dark" else (shade > 700)


def test_search_finds_pages(browser, view):
    address = f"{SITE.as_uri()}/search.html?q=superbag"
    with opened(browser, address, **view) as (page, _, complaints):
        links = page.locator("#search-results li a")
        links.first.wait_for()
        assert "superbag" in " ".join(links.all_inner_texts()).lower()
        assert not unexpected(complaints)


def test_the_gallery_shows_every_example(browser):
    examples = list((SITE.parents[2] / "examples").glob("plot_*.py"))
    with opened(browser, f"{SITE.as_uri()}/gallery/index.html") as (page, _, _):
        assert page.locator(".sphx-glr-thumbcontainer").count() == len(examples)


def test_no_page_loads_anything_from_another_host():
    for file in SITE.rglob("*.html"):
        text = file.read_text()
        for tag in ("<script src", "<link href", '<link rel="stylesheet" href', "<img src"):
            assert f'{tag}="http' not in text, f"{file.name}: {tag}"
