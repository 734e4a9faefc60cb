"""--report hands plain dicts to the page's templates, and writes what these return."""

import json
from types import SimpleNamespace

import pytest

from decorrupt.cli import pages

FAST = ("--method", "mean-map", "--folds", "2")


@pytest.fixture
def given(monkeypatch):
    """What the templates were given; every page is the word "page"."""
    found = {}

    def renderer(name):
        def render(*dicts):
            found[name] = json.loads(json.dumps(dicts, allow_nan=False))
            return "page"

        return render

    names = ("render_model", "render_evaluation", "render_inspection")
    module = SimpleNamespace(**{name: renderer(name) for name in names})
    monkeypatch.setattr(pages, "page_module", lambda: module)
    return found


def test_a_models_page(command, files, tmp_path, given):
    page = tmp_path / "m.html"
    arguments = ["fit", files.rows, files.bags, *files.in_bags, *FAST, "--report", page]
    assert command(*arguments, "-o", tmp_path / "m.skops").code == 0
    assert page.read_text() == "page"
    card, held_out = given["render_model"]
    assert card["method"]["chosen"] == "mean_map"
    assert len(held_out["per_bag"]) == 30
    assert {row["column"] for row in held_out["importance"]} == {"age", "income", "noise", "town"}
    assert sum(held_out["histogram"]["counts"]) == 300
    assert len(held_out["calibration"]) == 5
    assert command(*arguments, "-o", tmp_path / "other.skops").code == 2  # the page exists
    assert not (tmp_path / "other.skops").exists()


def test_an_evaluations_page(command, files, tmp_path, given):
    page = tmp_path / "e.html"
    done = command(
        "evaluate", files.model, files.rows, files.bags, *files.in_bags, "--report", page
    )
    assert done.code == 0, done.err
    found, card = given["render_evaluation"]
    assert found["bags"]["importance_criterion"] == "count_log_likelihood"
    assert card["bags"]["n_bags"] == 30
    command("evaluate", files.model, files.test, "--label-column", "label", "--report", page, "-f")
    assert len(given["render_evaluation"][0]["labels"]["calibration"]) == 10


def test_an_inspections_page(command, files, tmp_path, given):
    page = tmp_path / "i.html"
    assert command("inspect", files.rows, files.bags, *files.in_bags, "--report", page).code == 0
    (found,) = given["render_inspection"]
    assert len(found["bag_shares"]) == 30


def test_where_pages_cannot_be_made_it_is_said_before_the_work(
    command, files, tmp_path, monkeypatch
):
    monkeypatch.setattr(pages, "page_module", lambda: None)
    options = [*files.in_bags, *FAST, "--report", tmp_path / "m.html", "-o", tmp_path / "m.skops"]
    done = command("fit", files.rows, files.bags, *options)
    assert done.code == 2
    assert "decorrupt[cli]" in done.err
    assert list(tmp_path.iterdir()) == []
