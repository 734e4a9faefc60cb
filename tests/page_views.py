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
