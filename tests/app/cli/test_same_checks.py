"""`inspect` and `fit` refuse the same input with the same words."""

import re

import numpy as np
import pytest

IN_BAGS = ["--bag-column", "bag", "--proportion-column", "rate"]
LABELS = ["--label-column", "says", "--positive-label", "sick", "--source-column", "who"]
SOURCES = [*LABELS, "--noise-rates", "rates.csv"]


@pytest.fixture
def folder(files, tmp_path, monkeypatch):
    rows, bags = files.tables.rows, files.tables.bags
    rows.assign(age=rows["age"].where(rows.index != 4, np.inf)).to_csv(
        tmp_path / "inf.csv", index=False
    )
    rows.assign(age=rows["age"].astype(object).where(rows.index != 4, "oops")).to_csv(
        tmp_path / "oops.csv", index=False
    )
    bags.assign(rate=bags["rate"].astype(str).str.replace(".", ",")).to_csv(
        tmp_path / "commas.csv", index=False
    )
    rows.assign(people=0.5).to_csv(tmp_path / "half.csv", index=False)
    bags.assign(rate=0.5).to_csv(tmp_path / "equal.csv", index=False)
    bags.iloc[1:].to_csv(tmp_path / "few.csv", index=False)
    for name in ("rows", "bags", "noisy", "rates"):
        (tmp_path / f"{name}.csv").write_bytes(getattr(files, name).read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["inf.csv", "bags.csv", *IN_BAGS],
            "column 'age' contains numbers, but 1 of .* 'inf' .row 5",
        ),
        (["oops.csv", "bags.csv", *IN_BAGS], "'oops' .row 5.; .*--drop age"),
        (["rows.csv", "commas.csv", *IN_BAGS], "use --decimal ,"),
        (["rows.csv", "equal.csv", *IN_BAGS], "have the same proportion"),
        (["rows.csv", "few.csv", *IN_BAGS], "is not in column 'bag' of few.csv"),
        (["rows.csv", "none.csv", *IN_BAGS], "none.csv: no such file"),
        (["rows.csv", "bags.csv", *IN_BAGS, "--drop", "x"], "no column 'x'"),
        (
            ["half.csv", "bags.csv", *IN_BAGS, "--weight-column", "people"],
            "half.csv, row 1: column 'people' contains 0.5",
        ),
        (["rows.csv", "bags.csv", *IN_BAGS, "--features", "bag"], "'bag' has another role"),
        (["rows.csv", "bags.csv", *IN_BAGS, "--decimal", "x"], "'x' is not a decimal mark"),
        (["rows.csv", "bags.csv", *IN_BAGS, "--count-column", "positives"], "and not both"),
        (["rows.csv", "bags.csv", *IN_BAGS, "--label-column", "town"], "give either --bag-column"),
        (
            ["rows.csv", "bags.csv", *IN_BAGS, "--source-column", "town"],
            "--source-column cannot be used",
        ),
        (["rows.csv", "bags.csv", *IN_BAGS, "--noise-rates", "rates.csv"], "--noise-rates cannot"),
        (
            ["rows.csv", "bags.csv", *IN_BAGS, "--estimate-noise-rates"],
            "--estimate-noise-rates can",
        ),
        (["rows.csv"], "give either --bag-column"),
        (["noisy.csv", *SOURCES, "--bag-column", "who"], "give either --bag-column"),
        (["noisy.csv", "bags.csv", *SOURCES], "the table BAGS cannot be used"),
        (["noisy.csv", *SOURCES, "--count-column", "x"], "--count-column cannot be used"),
        (["noisy.csv", *LABELS], "give either --noise-rates"),
        (["noisy.csv", *SOURCES, "--estimate-noise-rates"], "give either --noise-rates"),
        (["noisy.csv", *SOURCES[2:], "--label-column", "x"], "no column 'x'"),
        (["noisy.csv", *LABELS, "--noise-rates", "bags.csv"], "there is no column 'flip_pos'"),
    ],
)
def test_the_error_line_is_the_same(command, folder, arguments, words):
    inspected = command("inspect", *arguments)
    fitted = command("fit", *arguments, "-o", "m.skops")
    assert inspected.code == fitted.code == 2
    assert inspected.err.replace("decorrupt inspect", "decorrupt fit") == fitted.err
    assert re.search(words, fitted.err), fitted.err
    assert not (folder / "m.skops").exists()
