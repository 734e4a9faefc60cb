"""Figures fit into a page: its colours, its ids, its policy, its readers."""

from xml.etree import ElementTree

from decorrupt.documents.figures import COLOURS, draw

SVG = "{http://www.w3.org/2000/svg}"
LIGHT, DARK = "#ffffff", "#14171c"


def plot(figure):
    axes = figure.add_subplot()
    axes.plot([1, 2, 3], [1, 3, 2], "o--", label="$a & b")
    axes.fill_between([1, 3], [0, 0], [1, 1], hatch="//", alpha=0.2)
    axes.set_xlabel("x < y")
    axes.legend()


def element(name="one"):
    drawn = draw(plot, name=name, title="T < t", description="D & d")
    return ElementTree.fromstring(drawn)  # noqa: S314 — our own text


def test_it_has_an_alternative_text():
    root = element()
    assert root.get("role") == "img"
    texts = {child.get("id"): child.text for child in root if child.tag != f"{SVG}g"}
    assert [texts[name] for name in root.get("aria-labelledby").split()] == ["T < t", "D & d"]


def test_it_takes_the_pages_colours_and_no_styles():
    root = element()
    colours = {node.get(key) for node in root.iter() for key in ("fill", "stroke")}
    assert "currentColor" in colours
    assert not {"#000000", "#ffffff", "black", "white", "#010203"} & colours
    assert all(node.get("style") is None for node in root.iter())
    assert root.find(f".//{SVG}style") is None
    labels = list(root.iter(f"{SVG}text"))
    assert all(node.get("fill") == "currentColor" for node in labels)
    assert {"$a & b", "x < y"} <= {node.text for node in labels}, "text stays text, dollars too"


def test_two_figures_share_no_ids():
    one, other = ({n.get("id") for n in element(name).iter()} - {None} for name in ("one", "two"))
    assert one
    assert not one & other


def test_the_same_figure_is_the_same_text():
    one, other = (draw(plot, name="n", title="t", description="d") for _ in range(2))
    assert one == other


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_colours_can_be_seen_on_both_papers():
    """WCAG 1.4.11: graphics need a contrast of 3 to 1."""
    assert len(set(COLOURS)) == 8
    for colour in COLOURS:
        assert min(contrast(colour, LIGHT), contrast(colour, DARK)) >= 3, colour
