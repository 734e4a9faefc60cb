"""What notebooks show: tables of escaped text, and diagrams that link to our reference."""

import re
from dataclasses import replace
from importlib import import_module
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from decorrupt import AssumptionReport, CorrectedLossClassifier, CountLikelihoodClassifier
from decorrupt.baselines import InvCalClassifier
from decorrupt.model_selection import AccuracyEstimate, Leaderboard
from decorrupt.notebook import html_table
from helpers.estimators import ALL, name_of

HOSTILE = "<script>alert('&')</script>"
ROW = {"method": HOSTILE, "params": {HOSTILE: HOSTILE}, "score": -1.25, "std_error": 0.5}
ROW |= {"seconds": 2.0, "chosen": True, "weight": 0.75}


def cells(html):
    """Return the texts of all cells; fails unless the HTML is well formed."""
    return ["".join(cell.itertext()) for cell in ElementTree.fromstring(html).iter("td")]  # noqa: S314


def leaderboard():
    constant = {"method": "constant", "score": -2.0, "std_error": 0.1}
    return Leaderboard([ROW], baselines=[constant], notes=[HOSTILE])


def diagnostics(bag_data):
    bags = np.array([f"{HOSTILE}{bag}" for bag in bag_data.bags], dtype=object)
    model = CorrectedLossClassifier(kernel="linear", combine="pairs")
    found = model.fit(bag_data.X, bag_data.y, bags=bags).diagnostics_
    found.dropped = {HOSTILE: [HOSTILE]}
    return found


def report():
    return AssumptionReport(None, None, np.array([3, 4]), 2, (HOSTILE,))


def test_every_table_escapes_its_text(bag_data):
    for shown in (leaderboard(), diagnostics(bag_data), report()):
        html = shown._repr_html_()
        ElementTree.fromstring(html)  # noqa: S314 — our own text
        assert "<script" not in html
        assert "http" not in html
    assert HOSTILE in cells(leaderboard()._repr_html_())


def test_the_leaderboard_shows_its_numbers():
    html = leaderboard()._repr_html_()
    assert cells(html)[2:6] == ["0.750", "-1.2500", "0.5000", "2.0"]
    assert "baseline constant: score -2.0000 ± 0.1000" in html


def test_the_accuracy_shows_its_interval_and_evidence():
    shown = AccuracyEstimate(0.9, 0.8, 0.95, 0.95, (0.9, 0.9), 0.5, 1.0, 0.6, 1.0)
    html = shown._repr_html_()
    assert cells(html)[:6] == [
        "balanced accuracy",
        "0.900",
        "95% interval",
        "0.800 to 0.950",
        "evidence that it is better than guessing",
        "strong",
    ]
    assert "mean recall" in replace(shown, recalls=(0.9, 0.9, 0.9))._repr_html_()


def test_the_diagnostics_show_what_print_shows(bag_data):
    found = diagnostics(bag_data)
    names, values = cells(found._repr_html_())[::2], cells(found._repr_html_())[1::2]
    for line, name, value in zip(str(found).splitlines(), names, values, strict=True):
        assert re.fullmatch(rf"{re.escape(name)}\s+{re.escape(value)}", line)


def test_a_report_without_tests_has_no_table_head():
    html = report()._repr_html_()
    assert "<thead>" not in html
    assert "cannot be tested" in html


def test_a_table_by_hand():
    html = html_table("a < b", ["x"], [[1], ["&"]], ["note"])
    assert "a &lt; b" in html
    assert cells(html) == ["1", "&"]
    assert "<div>note</div>" in html


@pytest.mark.parametrize(
    ("model", "page"),
    [
        (CountLikelihoodClassifier(), "decorrupt.CountLikelihoodClassifier"),
        (InvCalClassifier(), "decorrupt.baselines.InvCalClassifier"),
    ],
)
def test_a_diagram_links_to_the_published_site(model, page, monkeypatch):
    monkeypatch.setenv("DECORRUPT_DOCS", "https://docs.example/")
    link = f"https://docs.example/api/generated/{page}.html"
    assert link in make_pipeline(StandardScaler(), model)._repr_html_()
    monkeypatch.delenv("DECORRUPT_DOCS")
    assert model._get_doc_link() == ""
    assert page not in model._repr_html_()


@pytest.mark.parametrize("model", ALL, ids=name_of)
def test_the_page_of_a_link_is_where_the_class_is_imported_from(model):
    place, _, name = model._doc_link_url_param_generator()["page"].rpartition(".")
    assert getattr(import_module(place), name) is type(model)
