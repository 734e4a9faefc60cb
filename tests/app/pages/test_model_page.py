"""Pages of models, evaluations and data: complete, escaped, small."""

import copy
import html
import re

import pytest

from decorrupt.app.pages.model_page import render_evaluation, render_inspection, render_model
from decorrupt.app.pages.plots import LONGEST_LABEL, label
from decorrupt.app.pages.wording import MOST_BAGS, MOST_BARS, MOST_COLUMNS, measured
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
)
from helpers.page_views import check_points_inside, check_references

PAGES = {
    "model": lambda: render_model(model_card(), held_out(), demo_results()),
    "sources": lambda: render_model(source_card(), held_out()),
    "evaluation": lambda: render_evaluation(evaluation(), model_card()),
    "inspection": lambda: render_inspection(inspection()),
    "inspected sources": lambda: render_inspection(source_inspection()),
}


@pytest.fixture(scope="module", params=PAGES)
def rendered(request):
    return PAGES[request.param]()


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


def test_the_model_page_says_all():
    found = sections(render_model(model_card(), held_out(), demo_results()))
    assert list(found) == [
        "What the bags satisfy",
        "Summary",
        "Warnings",
        "The data",
        "Methods compared",
        "Comparison with a model trained on labels",
        "Results on held-out bags",
        "Feature importance",
        "Columns",
        "Diagnostics",
        "What it must not be used for",
        "Settings and versions",
    ]
    satisfied = found["What the bags satisfy"]
    assert satisfied.startswith(
        f"Rows of a class look the same (A): no, bags differ most in {EVIL}."
    )
    assert "mean map this model 0.871 0.802 to 0.940" in satisfied
    assert "own bag known bags only 0.654 exact" in satisfied
    assert "the same answer for all rows 0.500" in satisfied
    assert "from the proportions of held-out bags" in satisfied
    assert "0.871 (0.802 to 0.940)" in found["Summary"]
    assert "constant baseline — −0.4100 ± 0.0200" in found["Methods compared"]
    assert "300 rows in 30 bags" in found["Summary"]
    assert "2026-01-02 03:04:05 UTC" in found["Summary"]
    assert found["Warnings"].endswith("is odd.")
    assert "74 labelled rows (24.8 % of all)" in found["The data"]
    methods = found["Methods compared"]
    assert methods.index("corrected loss") < methods.index("mean map 0.950 −0.1050 ± 0.0100")
    assert "new 0.030 −0.3000" in methods, "a method without words is shown by its name"
    assert "kernel_gamma = 0.00174" in methods
    ceiling = found["Comparison with a model trained on labels"]
    assert "114 test rows" in ceiling
    assert "true labels 0.990 ± 0.020 0.980 ± 0.020" in ceiling
    assert f"{EVIL} 5 0.100 0.950 +0.850 1.000" in found["Results on held-out bags"]
    assert f"age 0.0200 0.0005 {EVIL} 0.0010 0.0005" in found["Feature importance"]
    assert "it numbers the rows" in found["Columns"]
    for words in ("not certain", "0.0123", "−0.0500", "overfitted", "too large to be", "42"):
        assert words in found["Diagnostics"]
    limits = found["What it must not be used for"]
    assert limits == "Do not use it for rows of another kind."
    for words in ("decorrupt 0.1.0", "--seed 3 config file", "--force yes", "41.0 % positives"):
        assert words in found["Settings and versions"]
    assert "--sql" not in found["Settings and versions"], "it was not used"


def test_the_worst_bag_stands_first():
    text = sections(render_model(model_card(), held_out()))["Results on held-out bags"]
    first, second = text.index(f"{EVIL} 5 "), text.index("bag 28 38 0.933 0.667 −0.267")
    assert first < second


def test_sources_are_called_groups_and_their_rates_shown():
    page = render_model(source_card(), held_out())
    found = sections(page)
    assert "Results on held-out rows" in found
    assert f"sick {EVIL}" in html.unescape(page)
    assert "nurse 200 0.450 0.050 0.060 0.600" in found["The data"]
    assert f"{EVIL} 200 0.450 0.050 (0.010 to 0.120) 0.060 (0.020 to 0.130)" in found["The data"]
    assert "One dot per group" in found["Results on held-out rows"]


def test_what_intervals_leave_out_and_errors_include_is_on_the_page():
    card = source_card()
    card["sources"]["left_out"] = "The intervals leave out this."
    card["method"]["std_error_includes"] = "± includes that."
    found = sections(render_model(card, held_out()))
    assert "where it was estimated. The intervals leave out this." in found["The data"]
    assert "no true label was used. ± includes that." in found["Results on held-out rows"]


def test_the_evaluation_says_all():
    found = sections(render_evaluation(evaluation(), model_card()))
    assert "from the model's own probabilities" in found["What the bags satisfy"]
    assert "balanced accuracy 0.810 ± 0.020" in found["Summary"]
    labels = found["With true labels"]
    assert "130 of 300 rows are positive" in labels
    assert " positive 100 76.9 %, correct 30 23.1 %, wrong" in labels
    assert " negative 17 10.0 %, wrong 153 90.0 %, correct" in labels
    assert "Brier score lower is better 0.830 ± 0.020" in labels
    assert "Calibration" in labels
    assert "Predicted and known proportions" in found["Without labels, bag by bag"]
    assert "unknown in training" in found["Warnings"]
    assert "is odd" in found["Warnings in training"]
    assert "Do not use it" in found["What it must not be used for"]


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        (0.41, "with 41.0 % positives."),
        (0.6, "here it is 43.3 %, so expect them too high"),
        (0.2, "too low"),
    ],
)
def test_probabilities_for_another_population(prior, words):
    found = evaluation()
    negative, positive = found["labels"]["class_shares"]
    found["labels"]["class_shares"] = {negative: 1 - prior, positive: prior}
    assert words in sections(render_evaluation(found, model_card()))["With true labels"]


def test_the_inspection_says_all():
    found = sections(render_inspection(inspection()))
    assert next(iter(found)) == "What the bags satisfy"
    assert "--method auto" in found["Summary"]
    assert "0.710 (0.802 to 0.940)" in found["Summary"]
    bags = found["The bags one by one"]
    assert "3 of 5 bags contribute 90 %" in bags
    assert "b0 10 0.900 40.0 %" in bags
    assert "1 of 5 bags contribute next to nothing" in bags
    assert "from reg_strength 0.0345 on" in found["Is the objective convex?"]


@pytest.mark.parametrize(
    ("convexity", "words"),
    [
        ({"exists": True, "superbag": True, "floor": 0.0}, "Yes: the corrected loss is convex"),
        ({"exists": False, "superbag": False, "floor": 0.5}, "on the same side of 0.5"),
    ],
)
def test_convexity_in_words(convexity, words):
    data = inspection()
    data["bag_details"]["convexity"] = convexity
    found = sections(render_inspection(data))
    assert words in found["Is the objective convex?"]


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
    page = render_model(model_card(), held_out() | {"calibration_slope": slope})
    text = " ".join(" ".join(sections(page).values()).split())
    assert f"Calibration slope: {slope:.3f}.".replace("-", "−") in text
    assert words in text
    assert ("Here the probabilities" in text) == (slope != 1.1)


def test_what_could_not_be_computed_is_a_dash():
    nothing = {"value": None, "std_error": None}
    results = held_out() | {"criteria": dict.fromkeys(held_out()["criteria"], nothing)}
    results["calibration"] = []
    del results["calibration_slope"]
    results["importance"] = [{"column": "age", "drop": None, "std_error": None}]
    page = render_model(source_card(), results)
    found = sections(page)
    assert "estimated balanced accuracy, held-out data —" in found["Summary"]
    assert "Calibration" not in page
    assert "Feature importance" not in found


def test_dicts_are_left_as_they_were():
    given = model_card(), held_out(), demo_results(), evaluation(), inspection()
    before = copy.deepcopy(given)
    render_model(*given[:3])
    render_evaluation(given[3], given[0])
    render_inspection(given[4])
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
    page = render_model(card, results)
    assert len(page.encode()) < 1_000_000
    found = sections(page)
    assert f"{MOST_COLUMNS} of 5,000 columns" in found["Columns"]
    assert f"{MOST_BAGS} of 20,000 bags" in found["Results on held-out bags"]
    assert "The plot shows 600 of them" in found["Results on held-out bags"]
    assert f"{MOST_BARS} of 5,000 columns" in found["Feature importance"]
    assert page == render_model(card, results), "the same dots every time"


def test_large_data_make_a_small_page():
    found = inspection()
    found["bag_details"]["shares"] = [
        {"bag": f"b{k}", "size": 5, "proportion": 0.3, "share": 1 / 20_000} for k in range(20_000)
    ]
    found["bag_details"]["uninformative"] = [f"b{k}" for k in range(10_000)]
    page = render_inspection(found)
    assert len(page.encode()) < 200_000
    assert "and 9,980 more" in page


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("age", "age"),
        ("a\x00b\x1b", "a b "),
        ("x" * 30, "x" * (LONGEST_LABEL - 1) + "…"),
        ("x" * LONGEST_LABEL, "x" * LONGEST_LABEL),
        ("", ""),
    ],
)
def test_labels_of_bars(name, shown):
    assert label(name) == shown


def test_wide_signs_take_twice_the_room():
    cut = label("収" * 30)
    assert cut.count("収") == (LONGEST_LABEL - 1) // 2
    assert cut.endswith("…")


def test_measured():
    assert measured({"value": -0.12345, "std_error": 0.01}) == "−0.123 ± 0.010"
    assert measured({"value": 0.5, "std_error": None}) == "0.500"
    assert measured({"value": None, "std_error": None}) == "—"
