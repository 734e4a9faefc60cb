"""Several classes from the tables to the page, on the command line."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from decorrupt.app.cli.app import run
from helpers.quick import QUICK_FIT, quick_commands
from helpers.three_parties import PARTIES, make_party_tables

WIDE = ("--bag-column", "bag", "--proportion-columns", "blue,green,red")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables of three parties, and a model trained on the wide one."""
    folder, tables = tmp_path_factory.mktemp("parties"), make_party_tables()
    for name in ("rows", "wide", "counts", "test"):
        getattr(tables, name).to_csv(folder / f"{name}.csv", index=False)
    fit = ["fit", folder / "rows.csv", folder / "wide.csv", *WIDE, *QUICK_FIT, "--quiet"]
    outputs = ["-o", folder / "model.skops", "--report", folder / "model.html"]
    with quick_commands():
        assert run([str(one) for one in fit + outputs]) == 0
    return folder


@pytest.fixture(autouse=True)
def there(folder, monkeypatch):
    monkeypatch.chdir(folder)


def test_predict_writes_one_probability_per_class(command):
    command("predict", "model.skops", "test.csv", "--proba", "--keep", "party", "-o", "p.csv", "-f")
    found = pd.read_csv("p.csv")
    probabilities = found[[f"probability_{name}" for name in PARTIES]].to_numpy()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (found["prediction"] == found["party"]).mean() > 0.8


def test_evaluate_with_labels_counts_by_class(command):
    done = command("evaluate", "model.skops", "test.csv", "--label-column", "party", "--json")
    labels = json.loads(done.out)["labels"]
    table = np.array(labels["confusion"])
    command("predict", "model.skops", "test.csv", "--keep", "party", "-o", "p.csv", "-f")
    wanted = pd.crosstab(*(pd.read_csv("p.csv")[name] for name in ("party", "prediction")))
    np.testing.assert_array_equal(table, wanted.to_numpy())
    recalls = np.diag(table) / table.sum(axis=1)
    np.testing.assert_allclose([one["recall"]["value"] for one in labels["classes"]], recalls)
    assert labels["metrics"]["macro_recall"]["value"] == pytest.approx(recalls.mean())
    assert labels["metrics"]["accuracy"]["value"] == pytest.approx(np.trace(table) / 120)
    text = command("evaluate", "model.skops", "test.csv", "--label-column", "party").out
    assert "Confusion matrix" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("evaluate model.skops test.csv --label-column age", "not a class of the"),
        (
            "evaluate model.skops rows.csv counts.csv --bag-column bag --count-column red",
            "the model has 3 classes",
        ),
        ("predict model.skops test.csv --class-prior 0.3", "blue=SHARE"),
        ("predict model.skops test.csv --class-prior blue=1,red=1,green=1", "sum to 1"),
    ],
)
def test_what_is_not_possible_is_one_line(command, arguments, words):
    done = command(*arguments.split())
    assert done.code == 2
    assert words in done.err
    assert done.err.count("\n") == 1


def test_the_pages_name_every_class(command):
    page = Path("model.html").read_text(encoding="utf-8")
    assert "One dot per bag and class" in page
    assert "Feature importance" in page
    shares = page.split('<table id="held-out-classes"')[1].split("</table>")[0]
    assert all(f'<th scope="row">{name}</th>' in shares for name in PARTIES)
    assert "positives" not in page.split("What it must not be used for")[0].split("Columns")[0]
    done = command(
        *("evaluate", "model.skops", "test.csv", "--label-column", "party"),
        *("--report", "e.html", "--force"),
    )
    assert done.code == 0
    assert "Confusion matrix: true classes in rows" in Path("e.html").read_text(encoding="utf-8")
    report = ("--report", "i.html", "--force")
    assert command("inspect", "rows.csv", "wide.csv", *WIDE, *report).code == 0
    assert "hardest to distinguish" in Path("i.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("quick_demo")
def test_the_page_of_the_digits_shows_bags_as_images(command):
    done = command("demo", "-o", "out", "--quiet", "--force")
    assert done.code == 0
    assert done.out.startswith("Handwritten digits: 1,408 rows of 10 classes in 44 bags.")
    assert "Comparison with a model trained on labels" in done.out
    assert "true labels (upper limit)" in done.out
    page = Path("out/model.html").read_text(encoding="utf-8")
    assert page.count("32 images</h3>") == 3
    assert "Recall per class" in page
    assert re.search(r"Confusion matrix on \d+ test rows", page)
    assert len(page) < 1_500_000


def test_classes_with_a_comma(command):
    table = pd.read_csv("wide.csv").rename(columns={"red": "red, or pink"})
    table.to_csv("comma.csv", index=False)
    columns = ("--bag-column", "bag", "--proportion-columns", 'blue,green,"red, or pink"')
    fitted = command("fit", "rows.csv", "comma.csv", *columns, *QUICK_FIT, "-o", "comma.skops")
    assert fitted.code == 0, fitted.err
    prior = 'blue=0.2,green=0.3,"red, or pink=0.5"'
    done = command("predict", "comma.skops", "test.csv", "--class-prior", prior, "--proba")
    assert done.code == 0, done.err
    assert '"probability_red, or pink"' in done.out.splitlines()[0]
    done = command("predict", "comma.skops", "test.csv", "--class-prior", "blue=1")
    assert '"red, or pink=SHARE"' in done.err
