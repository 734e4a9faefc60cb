"""Wrong options and tables are refused by one line that names them, before any training.

The messages about the content of tables are tested in tests/app/training and tests/app/tables; here
are those about options, and for each reader one, which shows that it reaches the user.
"""

import json
import os
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

from helpers.three_parties import make_party_tables

HEAVY = ("numpy", "scipy", "sklearn", "pandas", "matplotlib", "jinja2", "duckdb")
BAGS = "rows.csv bags.csv --bag-column bag --proportion-column rate"
COUNTS = "rows.csv bags.csv --bag-column bag --count-column positives"
LABELS = "--label-column says --positive-label sick --source-column who"
SOURCES = f"noisy.csv {LABELS} --noise-rates rates.csv"
WIDE = "voters.csv wide.csv --bag-column bag --proportion-columns"
# What `inspect` and `fit` share: both refuse it with the same words. First what is refused before
# tables are read, then one mistake for each reader.
TRAINING_OPTIONS = [
    ("rows.csv", "give either --bag-column .bags. or --label-column .sources."),
    ("no.csv bags.csv", "no.csv: no such file"),
    (". bags.csv", r"\. is not a file"),
    ("- - --bag-column bag", "rows and bags cannot both come from standard input"),
    (f"{BAGS} --count-column positives", "either --proportion-column or --count-column"),
    (f"{BAGS} --noise-rates rates.csv", "--noise-rates cannot be used for training on bags"),
    (f"{SOURCES} --bag-column who", "give either --bag-column"),
    (f"{SOURCES} --count-noise laplace:2", "--count-noise cannot be used for training on sources"),
    (f"noisy.csv bags.csv {LABELS}", "the table BAGS cannot be used for training on sources"),
    (f"{COUNTS} --count-noise laplace", "'laplace': give one of laplace:SCALE"),
    (f"{WIDE} blue,green,red --count-column x", "and not both"),
    (f"{BAGS} --report p.pdf", "'p.pdf': a page is HTML, its name must end in .html"),
]
TRAINING_TABLES = [
    (f"{WIDE} blue,green,red --positive-label x", "--positive-label cannot be used where classes"),
    (
        "rows.csv bags.csv --bag-column baag --proportion-column rate",
        "rows.csv: there is no column 'baag' .--bag-column.; the columns are 'bag', 'age', "
        "'income', 'noise', 'town'; did you mean 'bag'?",
    ),
    (f"{WIDE} blue,gren,red", "there is no column 'gren'"),
    ("oops.csv bags.csv", "column 'age' contains numbers, but 1 of .* 'oops' .row 5"),
    ("rows.csv bags.csv --weight-column age", "rows.csv, row 1: column 'age' contains"),
    (f"noisy.csv {LABELS} --noise-rates bags.csv", "bags.csv: there is no column 'flip_pos'"),
    ("rows.csv bags.csv --sql 'select nothing from rows'", "nothing"),
]
OPTIONS = [
    ("fit", "ROWS"),
    ("fit rows.csv", "--output"),
    (f"fit {BAGS} -o m.pkl", "'m.pkl': a model's name must end in .skops"),
    (f"fit {BAGS} -o m.skops --fold 2", "--fold"),
    (f"fit {BAGS} -o m.skops --jobs 0", "0 parallel fits are not possible"),
    (f"fit {BAGS} -o m.skops --report ./m.skops", "named for two outputs"),
    (f"fit {BAGS} -o m.skops --method magic", "unknown --method 'magic': choose one of auto"),
    (f"fit {BAGS} -o m.skops --decision best", "--decision 'best': choose balanced or accuracy"),
    (f"fit {WIDE} blue,green,red -o m.skops --method invcal", "--method invcal is for two classes"),
    (
        f"fit {COUNTS} --count-noise gaussian:3 --method mean-map -o m.skops",
        "--method mean-map needs exact counts .* choose count-likelihood or em",
    ),
    ("nonsense", "nonsense"),
    ("explain no.skops", "no.skops: no such file"),
    ("predict no.skops test.csv", "no.skops: no such file"),
    ("predict model.skops test.csv --class-prior blue=x", "'blue=x' is not a share"),
    ("evaluate model.skops no.csv --label-column label", "no.csv: no such file"),
    ("evaluate model.skops test.csv", "give --label-column, or --bag-column"),
    ("demo --data iris", "'iris': choose one of breast-cancer, digits, wine"),
    ("table no.csv --groups a --outcomes b", "no.csv"),
]
TABLES = [
    ("table rows.csv --groups '' --outcomes a", "--groups names no column"),
    ("table rows.csv --groups age,income --outcomes income", "'income' is in --groups and in"),
    ("table rows.csv --groups 'a\nb' --outcomes income", "is not a list of names"),
    ("predict model.skops rates.csv -o p.csv", "missing: 'age' .number., .*'town' .category."),
    ("predict model.skops oops.csv -o p.csv", "oops.csv, row 5: column 'age' contains 'oops'"),
    ("evaluate model.skops rows.csv --label-column town", "'north', 'south': give the positive"),
]


@pytest.fixture(scope="module")
def folder(files, tmp_path_factory):
    """The tables of `files`, and some that are wrong."""
    folder = tmp_path_factory.mktemp("bad")
    for path in files.folder.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    rows, parties = files.tables.rows, make_party_tables()
    oops = rows["age"].astype(object).where(np.arange(300) != 4, "oops")
    tables = {
        "oops": rows.assign(age=oops),
        "voters": parties.rows,
        "wide": parties.wide,
    }
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    return folder


@pytest.fixture
def refused(command, folder, monkeypatch):
    """Run a command that must be refused; return its error line."""

    def call(arguments):
        monkeypatch.chdir(folder)
        before = sorted(folder.iterdir())
        done = command(*shlex.split(arguments))
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: ")
        assert done.err.count("\n") == 1, done.err
        assert sorted(folder.iterdir()) == before
        return done.err

    return call


@pytest.mark.parametrize(("arguments", "words"), TRAINING_OPTIONS + TRAINING_TABLES)
def test_inspect_and_fit_refuse_with_the_same_line(refused, arguments, words):
    inspected = refused(f"inspect {arguments}")
    assert re.search(words, inspected), inspected
    fitted = refused(f"fit {arguments} -o m.skops")
    assert inspected.replace("decorrupt inspect", "decorrupt fit") == fitted


@pytest.mark.parametrize(("arguments", "words"), OPTIONS + TABLES)
def test_other_commands(refused, arguments, words):
    said = refused(arguments)
    assert re.search(words, said), said


# Runs commands; prints of each which heavy modules it loaded.
CODE = f"""
import contextlib, io, json, shlex, sys
from decorrupt.app.cli.app import run
found = []
for arguments in json.load(sys.stdin):
    with contextlib.redirect_stderr(io.StringIO()):
        run(shlex.split(arguments))
    found.append([name for name in {HEAVY!r} if name in sys.modules])
print(json.dumps(found))
"""


def test_options_and_names_of_files_are_checked_before_anything_heavy_is_loaded(folder):
    commands = [f"fit {one} -o m.skops" for one, _ in TRAINING_OPTIONS]
    commands += [one for one, _ in OPTIONS]
    done = subprocess.run(  # noqa: S603 — our own code
        [sys.executable, "-c", CODE],
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env=os.environ,
    )
    loaded = zip(commands, json.loads(done.stdout), strict=True)
    assert [one for one in loaded if one[1]] == []
