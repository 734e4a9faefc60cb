"""The built documentation site in a real browser: complete, offline, readable on a phone."""

from pathlib import Path

import pytest

from helpers.page_views import BACKGROUND, VIEWS, opened

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
PAGES = {
    "index.html": "Classifiers when nobody has clean labels",
    "choose/which_method.html": "Which method",
    "understand/label_proportions.html": "Label proportions",
    "evidence/index.html": "Evidence",
    "evidence/elections.html": "Tables of margins: real elections and a survey",
    "gallery/index.html": "All examples",
    "gallery/plot_bag_size.html": "Bag size against accuracy",
    "api/index.html": "Python",
    "api/generated/decorrupt.CountLikelihoodClassifier.html": "CountLikelihoodClassifier",
    # Pages with long names or formulas in a line of text
    "api/generated/decorrupt.estimate_noise_rates_from_annotators.html": "estimate_noise_rates",
    "api/generated/decorrupt.model_selection.BagCalibrationDisplay.html": "BagCalibrationDisplay",
    "understand/kernels.html": "Kernels and penalty",
    "theory/corrected_risk.html": "The corrected risk",
    "evidence/speed.html": "Speed",
    "reference/command_line.html": "The command line",
}
# By how many pixels the text is wider than its column, which would scroll sideways.
OVERFLOW = """() => {
  const text = document.querySelector(".bd-article-container");
  return text.scrollWidth - text.clientWidth;
}"""

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
        assert page.evaluate(OVERFLOW) == 0
        box = title.bounding_box()
        assert box["x"] + box["width"] <= screen
        shade = sum(int(part) for part in page.evaluate(BACKGROUND)[4:-1].split(","))
        assert (shade < 150) if view["color_scheme"] == "dark" else (shade > 700)


def test_a_figure_is_a_link_to_its_file(browser):
    with opened(browser, f"{SITE.as_uri()}/evidence/speed.html", **VIEWS["phone"]) as (page, _, _):
        link = page.locator('a:has(> img[src$="growth.svg"])')
        address = link.evaluate("link => link.href")
        assert Path(address.removeprefix("file://")).is_file()


def test_pages_name_a_picture_only_with_an_absolute_address():
    text = (SITE / "index.html").read_text()
    assert 'property="og:description"' in text
    assert all("://" in line for line in text.splitlines() if "og:image" in line)


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
