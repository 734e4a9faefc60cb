"""Diagrams of estimators link to our reference."""

from importlib import import_module

import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from decorrupt import CountLikelihoodClassifier
from decorrupt.baselines import InvCalClassifier
from helpers.estimators import ALL, name_of


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
