"""How pages are looked at in the browser tests."""

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
BACKGROUND = "() => getComputedStyle(document.body).backgroundColor"


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
    ink = page.locator("figure > svg text").first.evaluate("e => getComputedStyle(e).fill")
    shade = sum(int(part) for part in ink[4:-1].split(","))
    assert (shade > 500) if dark else (shade < 250), "plots follow the page"
