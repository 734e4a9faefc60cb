"""
Party and candidate in a real election
======================================

Voters in New Zealand have two votes: one for a party, one for a candidate. Totals per polling place
are published, and so is the true table of party × candidate of each district. How close does an
estimate from the totals come? **This example needs data** that are not part of this repository and
prints "skipped" without them: ei.Datasets (Pavía 2022, doi 10.1177/08944393211040808, CC BY 4.0),
which are read from ``$DECORRUPT_DATA/elections``.
"""

# %%
# One district, with rare options merged.
import os
from pathlib import Path

import numpy as np
import pandas as pd

from decorrupt import EcologicalInference

folder = Path(os.environ.get("DECORRUPT_DATA", "")) / "elections"
has_data = (folder / "nz_2014_margins.csv.gz").exists()
if not has_data:
    print("skipped: there are no elections in $DECORRUPT_DATA/elections")


def merged(names, votes):
    """Return "other" for options with less than 3 % of the votes."""
    share = votes.groupby(names).transform("sum") / votes.sum()
    return names.where(share >= 0.03, "other")


def read(file, keys):
    """Return the rows of one district."""
    frame = pd.read_csv(folder / file).query("district == 'Port Hills'")
    for key, names in keys.items():
        chosen = frame.side == key if "side" in frame else frame[key].notna()
        frame.loc[chosen, names] = merged(frame.loc[chosen, names], frame.votes[chosen])
    return frame


# %%
# The totals of the places are all that the model gets.
if has_data:
    margins = read("nz_2014_margins.csv.gz", {"party": "option", "candidate": "option"})
    sides = {
        side: rows.pivot_table("votes", "place", "option", aggfunc="sum", fill_value=0)
        for side, rows in margins.groupby("side")
    }
    model = EcologicalInference().fit(sides["party"].astype(int), sides["candidate"].astype(int))
    print(model.check())

# %%
# The truth, which the model did not see.
if has_data:
    rows = read("nz_2014_truth.csv.gz", {"party": "party", "candidate": "candidate"})
    truth = rows.pivot_table("votes", "party", "candidate", aggfunc="sum", fill_value=0)
    truth = truth.loc[list(model.group_names_), list(model.outcome_names_)].to_numpy()
    wrong = np.abs(model.table_ - truth).sum() / 2 / truth.sum()
    low, high = model.interval()
    print(f"votes in the wrong cell: {wrong:.1%}")
    print(f"cells within their 95 % interval: {np.mean((low <= truth) & (truth <= high)):.0%}")
    ax = model.plot()
    true_rates = truth / truth.sum(axis=1, keepdims=True)
    for r, rates in enumerate(true_rates):
        places = r * (len(rates) + 1) + np.arange(len(rates))
        ax.plot(rates, places, "|", color="black", ms=12, label="truth" if r == 0 else None)
    ax.legend()
