"""--report writes the page that is rendered from the results."""

import json

import pytest

from decorrupt.app.cli import pages
from decorrupt.app.pages import documents

DOCUMENTS = ("model_document", "evaluation_document", "inspection_document")


@pytest.fixture
def given(monkeypatch):
    """The records of each document in order; every page is the word "page"."""
    found = {name: [] for name in DOCUMENTS}

    def watched(name, make):
        def document(*records):
            found[name].append(json.loads(json.dumps(records, allow_nan=False)))
            return make(*records)

        return document

    for name in DOCUMENTS:
        monkeypatch.setattr(documents, name, watched(name, getattr(documents, name)))
    monkeypatch.setattr("decorrupt.documents.to_html", lambda _: "page", raising=False)
    return found


def test_a_models_page(command, files, tmp_path, given):
    page = tmp_path / "m.html"
    arguments = [*files.fit, "--report", page]
    assert command(*arguments, "-o", tmp_path / "m.skops").code == 0
    assert page.read_text() == "page"
    card, _, held_out = given["model_document"][0]
    assert card["method"]["chosen"] == "mean_map"
    assert len(held_out["per_bag"]) == 30
    assert {row["column"] for row in held_out["importance"]} == {"age", "income", "noise", "town"}
    assert sum(held_out["histogram"]["counts"]) == 300
    assert len(held_out["calibration"]) == 5
    assert command(*arguments, "-o", tmp_path / "other.skops").code == 2  # the page exists
    assert not (tmp_path / "other.skops").exists()


def test_an_evaluations_page(command, files, tmp_path, given):
    page = tmp_path / "e.html"
    done = command("evaluate", files.model, *files.given, "--report", page)
    assert done.code == 0, done.err
    found, card, _ = given["evaluation_document"][0]
    assert found["bags"]["importance_criterion"] == "count_log_likelihood"
    assert card["bags"]["n_bags"] == 30
    command("evaluate", files.model, files.test, "--label-column", "label", "--report", page, "-f")
    assert len(given["evaluation_document"][-1][0]["labels"]["calibration"]) == 10


def test_an_inspections_page(command, files, tmp_path, given):
    page = tmp_path / "i.html"
    assert command("inspect", *files.given, "--report", page).code == 0
    ((found, fit),) = given["inspection_document"]
    assert fit.startswith("decorrupt fit ")
    assert len(found["bag_details"]["shares"]) == 30


@pytest.fixture
def broken(monkeypatch):
    """A page of which no part can be rendered."""

    def render(_):
        raise KeyError("no such\ntemplate")

    monkeypatch.setattr("decorrupt.documents.to_html", render, raising=False)


def warns_of(page, done):
    lines = [line for line in done.err.splitlines() if str(page) in line]
    return len(lines) == 1 and lines[0].startswith("warning: ") and "KeyError" in lines[0]


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
@pytest.mark.usefixtures("broken")
def test_a_page_that_fails_leaves_the_model(command, files, tmp_path, quiet):
    page, model = tmp_path / "m.html", tmp_path / "m.skops"
    done = command(*files.fit, "--report", page, "-o", model, *quiet)
    assert done.code == 1
    assert warns_of(page, done)
    assert f"  model: {model}\n" in done.out
    assert str(page) not in done.out
    assert not page.exists()
    assert command("predict", model, files.test).code == 0


@pytest.mark.usefixtures("broken", "quick_demo")
def test_a_page_that_fails_leaves_the_results_of_other_commands(command, files, tmp_path):
    page = tmp_path / "model.html"
    done = command("demo", "--data", "wine", "-o", tmp_path, "--json")
    assert (done.code, warns_of(page, done)) == (1, True)
    assert json.loads(done.out)["page"] is None
    assert command("explain", tmp_path / "model.skops").code == 0
    for name in (["evaluate", files.model], ["inspect"]):
        done = command(*name, *files.given, "--report", page)
        assert (done.code, warns_of(page, done)) == (1, True)
        assert done.out.startswith("Verdict\n")


def test_where_pages_cannot_be_made_it_is_said_before_the_work(
    command, files, tmp_path, monkeypatch
):
    monkeypatch.setattr(pages, "can_make_pages", lambda: False)
    done = command(*files.fit, "--report", tmp_path / "m.html", "-o", tmp_path / "m.skops")
    assert done.code == 2
    assert "decorrupt[cli]" in done.err
    assert list(tmp_path.iterdir()) == []
