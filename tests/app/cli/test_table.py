"""decorrupt table: the table of groups and outcomes from totals of places."""

import json
import re

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def places(tmp_path):
    """A wide table of 40 places, and the same as a long one."""
    rng = np.random.default_rng(0)
    groups = rng.integers(20, 150, (40, 2))
    tables = np.array(
        [[rng.multinomial(n, p) for n, p in zip(own, RATES, strict=True)] for own in groups]
    )
    wide = pd.DataFrame(np.column_stack([groups, tables.sum(axis=1)]), columns=COLUMNS)
    wide.insert(0, "ward", [f"w{k}" for k in range(40)])
    wide.to_csv(tmp_path / "wide.csv", index=False)
    wide.rename(columns={"dem": "Ardern, Jacinda"}).to_csv(tmp_path / "comma.csv", index=False)
    twice = wide["ward"].where(wide.index != 2, "w0")
    wide.assign(ward=twice).to_csv(tmp_path / "twice.csv", index=False)
    long = wide.melt("ward", var_name="option", value_name="votes")
    long["side"] = np.where(long.option.isin(COLUMNS[:2]), "race", "vote")
    long.rename(columns={"ward": "place"}).to_csv(tmp_path / "long.csv", index=False)
    return tmp_path


RATES = [[0.9, 0.05, 0.05], [0.2, 0.4, 0.4]]
COLUMNS = ["white", "black", "dem", "rep", "abstain"]
SIDES = ("--groups", "white,black", "--outcomes", "dem,rep,abstain")


def test_rates_of_a_wide_and_a_long_table(command, places):
    done = command("table", places / "wide.csv", *SIDES, "--place-column", "ward", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["verdict"] == "usable"
    assert found["outcomes"] == ["dem", "rep", "abstain"]
    np.testing.assert_allclose(found["rates"], RATES, atol=0.05)
    assert np.less_equal(found["rates_low"], found["rates"]).all()
    sides = ("--groups", "race", "--outcomes", "vote")
    same = json.loads(command("table", places / "long.csv", *sides, "--json").out)
    by_name = [same["outcomes"].index(name) for name in found["outcomes"]]
    rates = np.array(same["rates"])[[same["groups"].index(name) for name in found["groups"]]]
    np.testing.assert_allclose(rates[:, by_name], found["rates"], atol=0.01)


def test_the_verdict_comes_first_and_the_page_has_everything(command, places):
    page = places / "table.html"
    done = command("table", places / "wide.csv", *SIDES, "--report", page)
    assert done.out.startswith("Verdict\n  Usable")
    text = page.read_text(encoding="utf-8")
    assert text.index("Usable") < text.index("Goodman")
    assert "<image" not in text  # which the page's security policy would not show
    assert "Duncan and Davis" in text


def test_three_places_and_control_characters(command, places):
    frame = pd.read_csv(places / "wide.csv").rename(columns={"black": "bl\x1b[31mack"})
    frame[:3].to_csv(places / "few.csv", index=False)
    sides = ("--groups", "white,bl\x1b[31mack", "--outcomes", "dem,rep,abstain")
    done = command("table", places / "few.csv", *sides, "--report", places / "p.html", "-v")
    assert done.code == 0, done.err
    assert "too few places to test it" in done.out
    assert "\x1b[31mack" not in done.out
    assert (places / "p.html").exists()


def test_people_without_an_outcome(command, places):
    sides = ("--groups", "white,black", "--outcomes", "dem,rep")
    done = command("table", places / "wide.csv", *sides)
    assert done.code == 2
    assert "place '1'" in done.err
    assert "--other abstention" in done.err
    noisy = command("table", places / "wide.csv", *sides, "--count-noise", "gaussian:1")
    assert noisy.code == 2
    assert "more than noise explains" in noisy.err
    done = command("table", places / "wide.csv", *sides, "--other", "abstention", "--json")
    assert json.loads(done.out)["outcomes"][-1] == "abstention"


@pytest.mark.parametrize(
    ("file", "options", "message"),
    [
        ("wide.csv", ("--groups", "white,green", "--outcomes", "dem"), "green"),
        ("long.csv", ("--groups", "sex", "--outcomes", "vote"), "no rows of 'sex'.*race, vote"),
        ("wide.csv", (*SIDES, "--count-noise", "cauchy:1"), "cauchy"),
        (
            "comma.csv",
            ("--groups", "white,black", "--outcomes", "Ardern, Jacinda,rep"),
            "'Ardern'.*did you mean 'Ardern, Jacinda'.* must be in double quotes",
        ),
        ("twice.csv", (*SIDES, "--place-column", "ward"), "row 3: place 'w0' is already in row 1"),
    ],
)
def test_bad_input_is_one_line(command, places, file, options, message):
    done = command("table", places / file, *options)
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert re.search(message, done.err)
