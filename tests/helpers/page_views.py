"""How pages are looked at, in the browser and as text."""

import re
from contextlib import contextmanager
from itertools import pairwise

VIEWS = {
    "desktop": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "desktop dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
    "phone dark": {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
}
TEXTS = """
() => [...document.querySelectorAll("figure > svg")].map((plot) =>
  [plot, ...plot.querySelectorAll("text")].map((part) => {
    const { left, right, top, bottom } = part.getBoundingClientRect();
    return { left, right, top, bottom, size: parseFloat(getComputedStyle(part).fontSize)
      * plot.getBoundingClientRect().width / plot.viewBox.baseVal.width };
  }))
"""
HEADING_LEVELS = """
() => [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].map((h) => Number(h.tagName[1]))
"""
UNFOLD = "() => { for (const one of document.querySelectorAll('details')) one.open = true; }"
# The elements that reach beyond the right edge of the screen, but for those in boxes that scroll.
TOO_WIDE = """
() => [...document.querySelectorAll("body *")].filter((element) =>
    element.getBoundingClientRect().right > document.documentElement.clientWidth + 1
    && !element.closest(".scroll, svg"))
  .map((element) => element.outerHTML.slice(0, 120))
"""
BACKGROUND = "() => getComputedStyle(document.body).backgroundColor"


@contextmanager
def opened(browser, address, **options):
    """Give the page at an address, with all it asks for and complains of."""
    context = browser.new_context(**options)
    page = context.new_page()
    requests, complaints = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address)
    yield page, requests, complaints
    context.close()


def show(page, viewport, color_scheme):
    """Show a loaded page in one of the views."""
    page.set_viewport_size(viewport)
    page.emulate_media(media="screen", color_scheme=color_scheme)


def check_width(page):
    """Nothing is wider than the screen; wide tables scroll in a box of their own."""
    width = page.viewport_size["width"]
    assert page.evaluate(TOO_WIDE) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for region in page.locator(".scroll").all():
        box = region.bounding_box()
        assert box["x"] + box["width"] <= width


def overlap(one, other):
    """Return by how many pixels two boxes run into each other."""
    across = min(one["right"], other["right"]) - max(one["left"], other["left"])
    along = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
    return min(across, along)


def check_texts(page):
    """Texts of plots are large enough, inside their plot, and apart."""
    for frame, *texts in page.evaluate(TEXTS):
        assert len(texts) > 5
        for k, one in enumerate(texts):
            assert one["size"] >= 9
            assert frame["left"] - 1 <= one["left"]
            assert one["right"] <= frame["right"] + 1
            assert not [other for other in texts[:k] if overlap(one, other) > 3]


def check_shades(page, dark):
    """Page and plots are both dark, or both light."""
    shade = sum(int(part) for part in page.evaluate(BACKGROUND)[4:-1].split(","))
    assert (shade < 150) if dark else (shade > 700)
    for text in page.locator("figure > svg text").all()[:1]:
        ink = text.evaluate("e => getComputedStyle(e).fill")
        shade = sum(int(part) for part in ink[4:-1].split(","))
        assert (shade > 500) if dark else (shade < 250), "plots follow the page"


def check_headings_and_captions(page):
    """Headings go down level by level, and tables have captions and heads."""
    levels = page.evaluate(HEADING_LEVELS)
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for table in page.locator("table").all():
        assert table.locator("caption").inner_text().strip()
        assert table.locator("th[scope=col]").count() > 0


def check_print(page):
    """On paper it is black on white and whole."""
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(BACKGROUND) == "rgb(255, 255, 255)"
    assert page.locator("nav").count() == 0 or page.locator("nav").is_hidden()
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")


def check_points_inside(html):
    """Nothing is fetched from elsewhere."""
    bare = re.sub(r'xmlns(:xlink)?="[^"]*"', "", html)
    assert not re.findall(r"https?:|src=|url\((?!#)|@import|<link", bare.replace("-src", ""))


def check_references(html):
    """Ids are unique, and whatever is referred to is there."""
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    used = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', html)
    labels = re.findall(r'aria-labelledby="([^"]+)"', html)
    for name in [one or other for one, other in used] + " ".join(labels).split():
        assert name in ids, name
