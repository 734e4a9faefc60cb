"""Documents about models, evaluations and data: complete, escaped, small."""

import copy
import html
import re

import numpy as np
import pytest

from decorrupt.app.pages import plots
from decorrupt.app.pages.demo_section import GAP, LEVELS, draw_images
from decorrupt.app.pages.documents import evaluation_document, inspection_document, model_document
from decorrupt.app.pages.provenance import comparison_blocks
from decorrupt.app.pages.wording import MOST_BARS, MOST_COLUMNS
from decorrupt.documents import Section, to_html, to_markdown, to_text
from helpers.model_dicts import (
    EVIL,
    bag_prediction,
    demo_results,
    evaluation,
    held_out,
    inspection,
    model_card,
    source_card,
    source_inspection,
    verdict,
)
from helpers.page_views import check_points_inside, check_references

FIT = "decorrupt fit rows.csv -o model.skops"
DOCUMENTS = {
    "model": lambda: model_document(model_card(), "m.skops", held_out(), compared()),
    "sources": lambda: model_document(source_card(), "m.skops", held_out()),
    "evaluation": lambda: evaluation_document(evaluation(), model_card(), "m.skops"),
    "inspection": lambda: inspection_document(inspection(), FIT),
    "inspected sources": lambda: inspection_document(source_inspection(), FIT),
}


def compared():
    return [Section("comparison", "Comparison", comparison_blocks(demo_results()))]


def model_page(card, results=None):
    return to_html(model_document(card, "m.skops", results))


def evaluation_page(found):
    return to_html(evaluation_document(found, model_card(), "m.skops"))


@pytest.fixture(scope="module", params=DOCUMENTS)
def document(request):
    return DOCUMENTS[request.param]()


@pytest.fixture(scope="module")
def rendered(document):
    return to_html(document)


@pytest.fixture
def no_drawings(monkeypatch):
    """Pages without drawings, for tests of words: drawing is slow."""
    monkeypatch.setattr(plots, "draw_figure", lambda *_, **__: "")


def sections(page):
    """Return the text under each heading, without tags."""
    found = re.findall(r"<section.*?<h2[^>]*>(.*?)</h2>(.*?)</section>", page, flags=re.DOTALL)
    return {html.unescape(title): text_of(body) for title, body in found}


def text_of(body):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())


def test_what_users_wrote_is_escaped(rendered):
    assert EVIL not in rendered
    assert "<script>alert" not in rendered
    assert rendered.count("<script>") == 1, "the page's own"
    assert "&lt;script&gt;alert" in rendered


def test_it_stands_alone(rendered):
    check_points_inside(rendered)
    assert " style=" not in rendered
    assert len(rendered.encode()) < 200_000


def test_ids_are_unique_and_references_have_targets(rendered):
    check_references(rendered)


def test_tables_have_captions_and_figures_alternative_texts(rendered):
    for table in re.findall(r"<table.*?</table>", rendered, flags=re.DOTALL):
        caption = re.search(r"<caption.*?</caption>", table, flags=re.DOTALL)
        assert text_of(caption.group())
        heads = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', table)
        assert heads
        assert all(heads), "no heading is empty"
    for figure in re.findall(r"<figure>.*?</figure>", rendered, flags=re.DOTALL):
        assert re.search(r"<title[^>]*>[^<]+</title><desc[^>]*>[^<]+</desc>", figure)
        assert re.search(r"<figcaption>[^<]+", figure)


def test_every_section_has_content_and_only_the_first_ones_are_open(document):
    assert all(section.blocks for section in document.sections)
    folded = [section.folded for section in document.sections]
    assert not any(folded[:3]), "what matters is open and comes first"
    assert folded.count(False) <= 5


def test_the_verdict_is_first_in_every_rendering(document, rendered):
    first = document.sections[0]
    assert first.name == "verdict"
    words = next(block.text for block in first.blocks)
    assert words in to_markdown(document).split("## ")[1]
    assert words in sections(rendered)["Verdict"]
    text = " ".join(to_text(document.sections, width=100).split())
    assert text.startswith(f"Verdict {words}")


@pytest.mark.usefixtures("no_drawings")
def test_the_model_page_says_all():
    found = sections(to_html(DOCUMENTS["model"]()))
    assert found["Verdict"] == (
        f"Check it with labels: your groups differ in {EVIL}. "
        "Next: label about 240 new rows, which shows the accuracy to ±0.03. "
        "decorrupt evaluate m.skops labelled_rows.csv --label-column label --positive-label LABEL"
    )
    said = {
        "Accuracy to expect": (
            "balanced accuracy 0.871 (95% interval 0.80 to 0.94) "
            "evidence that it is better than guessing strong",
            f"guessing by ward {EVIL} 0.654 (for known bags only)",
        ),
        "What speaks against it": ("is odd.",),
        "Comparison": ("true labels 0.990 ± 0.020 0.980 ± 0.020",),
        "Assumption checks": ("(A) rows of a class look the same in every bag 0.005",),
        "Results on held-out bags": ("30 bags; mean absolute difference 0.1",),
        "Feature importance": (f"age 0.0200 0.0005 {EVIL} 0.0010 0.0005", "−0.0004"),
        "The data": ("74 labelled rows (24.8 % of all)",),
        "Columns": ("it numbers the rows", "number, heavy tail"),
        "Methods compared": (
            "mean map 0.950 −0.1050 ± 0.0100",
            "new 0.030 −0.3000",  # a method without words is shown by its name
            "constant baseline — −0.4100 ± 0.0200",
            "kernel_gamma = 0.00174",
        ),
        "What it must not be used for": ("Do not use it for rows of another kind.",),
        "Settings and versions": ("decorrupt 0.1.0", "--seed 3", "2026-01-02 03:04:05 UTC"),
    }
    assert list(found) == ["Verdict", *said]
    for section, words in said.items():
        assert all(text in found[section] for text in words), found[section]
    assert "--sql" not in found["Settings and versions"], "it was not used"


@pytest.mark.parametrize(
    ("word", "tone", "next_step"),
    [
        ("usable", "good", "decorrupt predict m.skops new_rows.csv -o predictions.csv"),
        ("check it with labels", "unsure", "label about 1,200 new rows"),
        ("do not use", "bad", "collect more bags, or bags whose shares differ more"),
    ],
)
def test_every_verdict_has_its_colour_and_next_step(word, tone, next_step):
    card = model_card() | {"verdict": verdict(word, "because", n_labels=1200)}
    page = model_page(card)
    assert f'<p class="{tone}">{word.capitalize()}: because.</p>' in page
    assert next_step in sections(page)["Verdict"]
    coloured = to_text(model_document(card, "m.skops").sections, width=100, colour=True)
    code = {"good": "\x1b[1;32m", "unsure": "\x1b[1;33m", "bad": "\x1b[1;31m"}[tone]
    assert f"{code}{word.capitalize()}: because." in coloured


def test_the_positive_label_is_asked_for_where_the_classes_have_no_names():
    for card in (source_card(), model_card() | {"class_shares": {"no": 0.6, "yes": 0.4}}):
        assert sections(model_page(card))["Verdict"].endswith("--label-column label")


def test_a_warning_that_the_verdict_contains_is_not_repeated():
    why = verdict()["why"]
    card = model_card() | {"warnings": [why, "b", "b", "a"]}
    assert sections(model_page(card))["What speaks against it"] == "B. A."
    assert "What speaks against it" not in sections(model_page(card | {"warnings": [why]}))


@pytest.mark.usefixtures("no_drawings")
def test_sources_are_called_groups_and_their_rates_shown():
    page = model_page(source_card(), held_out())
    found = sections(page)
    assert "Results on held-out rows" in found
    assert f"sick {EVIL}" in html.unescape(page)
    assert "nurse 200 0.450 0.050 0.060 0.600" in found["The data"]
    assert f"{EVIL} 200 0.450 0.050 (0.010 to 0.120) 0.060 (0.020 to 0.130)" in found["The data"]
    assert "One dot per group" in found["Results on held-out rows"]


@pytest.mark.usefixtures("no_drawings")
def test_the_evaluation_says_all():
    found = sections(evaluation_page(evaluation()))
    for section, words in {
        "Verdict": ("Usable: balanced accuracy 0.810 (0.770 to 0.850).",),
        "Accuracy": ("from the shares of these bags, without labels 0.871 (95% interval",),
        "With true labels": ("no 170 0.800 ± 0.020 0.700 ± 0.020", f"yes {EVIL} 30 100"),
        "Measures and calibration": ("Brier score lower is better 0.830 ± 0.020",),
        "Without labels, bag by bag": ("log-likelihood of counts per row higher is better −0.110",),
        "What speaks against it": ("unknown in training",),
        "What it must not be used for": ("Do not use it",),
    }.items():
        assert all(text in found[section] for text in words), found[section]


@pytest.mark.usefixtures("no_drawings")
@pytest.mark.parametrize(
    ("slope", "words"),
    [
        (1.1, "1 is best."),
        (1.6, "Here the probabilities are too close to the middle."),
        (0.3, "Here the probabilities are too close to 0 and 1."),
        (-0.2, "Here the probabilities do not agree with the counts."),
    ],
)
def test_the_calibration_slope_in_words(slope, words):
    page = model_page(model_card(), held_out() | {"calibration_slope": slope})
    assert words in text_of(page)


@pytest.mark.usefixtures("no_drawings")
def test_what_could_not_be_computed_is_a_dash():
    nothing = {"value": None, "std_error": None}
    results = held_out() | {"criteria": dict.fromkeys(held_out()["criteria"], nothing)}
    results["calibration"] = []
    del results["calibration_slope"]
    results["importance"] = [{"column": "age", "drop": None, "std_error": None}]
    card = source_card()
    card["criteria"] = results["criteria"]
    page = model_page(card, results)
    found = sections(page)
    assert "lower is better —" in found["Results on held-out rows"]
    assert "Calibration" not in page
    assert "Feature importance" not in found


@pytest.mark.usefixtures("no_drawings")
def test_records_are_left_as_they_were():
    given = model_card(), held_out(), evaluation(), inspection()
    before = copy.deepcopy(given)
    card, results, found, inspected = given
    for document in (
        model_document(card, "m.skops", results),
        evaluation_document(found, card, "m.skops"),
        inspection_document(inspected, FIT),
    ):
        to_html(document), to_markdown(document), to_text(document.sections, width=80)
    assert given == before


def test_a_large_model_makes_a_small_page():
    card, results = model_card(), held_out()
    card["columns"] = [card["columns"][0] | {"name": f"c{k}"} for k in range(5000)]
    card["left_out"] = {f"d{k}": "it numbers the rows" for k in range(5000)}
    results["per_bag"] = [
        bag_prediction(f"b{k}", 5, k / 2e4, k / 2e4 + 0.01, classified=0.5) for k in range(20_000)
    ]
    results["importance"] = [
        {"column": f"c{k}", "drop": 1 / (k + 1), "std_error": 0.01} for k in range(5000)
    ]
    page = model_page(card, results)
    assert len(page.encode()) < 1_000_000
    found = sections(page)
    assert f"{MOST_COLUMNS} of 5,000 columns" in found["Columns"]
    assert "The plot shows 600 dots" in found["Results on held-out bags"]
    assert f"{MOST_BARS} of 5,000 columns" in found["Feature importance"]
    assert page == model_page(card, results), "the same dots every time"


# --- images as SVG


def painted(svg, shape):
    """Return the image that the rectangles of an SVG paint, by a reading of its own."""
    canvas = np.zeros(shape)
    for opacity, path in re.findall(r'fill-opacity="([^"]+)" d="([^"]*)"', svg):
        for x, y, width, back in re.findall(r"M(\d+) (\d+)h(\d+)v1H(\d+)z", path):
            assert back == x
            canvas[int(y), int(x) : int(x) + int(width)] += float(opacity)
    return canvas


def test_every_pixel_has_its_grey_level_and_is_painted_once():
    images = np.random.default_rng(0).integers(0, LEVELS + 1, (11, 4, 5)).astype(float)
    images[0, 0, 0] = LEVELS
    svg = draw_images(images, "bag", "A <bag>", "1 × a & 2 × b")
    canvas = painted(svg, (2 * 4 + GAP, 8 * 5 + 7 * GAP))
    for place, image in enumerate(images):
        top, left = place // 8 * (4 + GAP), place % 8 * (5 + GAP)
        np.testing.assert_allclose(canvas[top : top + 4, left : left + 5], image / LEVELS)
    assert canvas.sum() == images.sum() / LEVELS
    assert "A &lt;bag&gt;" in svg
    assert "1 × a &amp; 2 × b" in svg
