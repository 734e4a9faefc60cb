"""Noisy labels that contradict the stated noise rates."""

import numpy as np
import pandas as pd
import pytest

from decorrupt import (
    AutoSourcesClassifier,
    CorruptedSourcesClassifier,
    CostWeightedSourcesClassifier,
    EMClassifier,
    ForwardSourcesClassifier,
)
from decorrupt.exceptions import ContradictedRatesWarning
from decorrupt.observed import Observed, Sources, rate_notices
from helpers.class_sources import RATES, three_classes
from helpers.quick import QUICK_SEARCH


def sources_of_counts(counts, matrices, given_priors=None):
    """Return sources with given counts of noisy labels, one entry per source and label."""
    counts, matrices = np.asarray(counts), np.asarray(matrices, dtype=float)
    n_sources, n_classes = counts.shape
    row_source = np.repeat(np.arange(n_sources), n_classes)
    labels = np.tile(np.arange(n_classes), n_sources)
    classes, ids = np.arange(n_classes), np.arange(n_sources)
    sources = Sources(ids, matrices, row_source, labels, given_priors)
    return Observed.of_sources(classes, sources, counts.ravel())


def flips(flip_pos, flip_neg):
    return [[1 - flip_neg, flip_neg], [flip_pos, 1 - flip_pos]]


def test_shares_that_no_class_prior_gives():
    """With flips of 0.3, between 30 and 70 % of the labels are positive."""
    for n_positive, is_reported in ((300, False), (280, False), (150, True), (850, True)):
        found = rate_notices(
            sources_of_counts([[1000 - n_positive, n_positive]], [flips(0.3, 0.3)])
        )
        assert bool(found) is is_reported
    (message,) = found
    assert "shares of the labels [0, 1] are 0.15, 0.85, and the closest" in message
    assert "with any class prior are 0.30, 0.70" in message


def test_sources_whose_class_priors_contradict_each_other():
    """Rates 0.1 and 0.3, and a common prior of 0.5; swapped pairs imply 0.25 and 0.75."""
    counts = [[450, 550], [650, 350]]
    pairs = [flips(0.0, 0.1), flips(0.4, 0.1)]
    assert not rate_notices(sources_of_counts(counts, pairs))
    (message,) = rate_notices(sources_of_counts(counts, pairs[::-1]))
    assert "with one class prior for all sources" in message
    assert message.endswith("give source_priors")
    own = np.array([[0.25, 0.75], [0.75, 0.25]])
    assert not rate_notices(sources_of_counts(counts, pairs[::-1], own))


def test_rates_that_are_nearly_right_are_not_reported():
    """A million rows reject rates that are wrong by 0.01; that is no news to anyone."""
    counts = [[500_000, 500_000], [490_000, 510_000]]
    assert not rate_notices(sources_of_counts(counts, [flips(0.1, 0.1)] * 2))


def test_small_sources_are_not_tested():
    assert not rate_notices(sources_of_counts([[0, 49]], [flips(0.4, 0.1)]))
    assert rate_notices(sources_of_counts([[0, 50]], [flips(0.4, 0.1)]))


@pytest.mark.parametrize("prior", [(1 / 3, 1 / 3, 1 / 3), (0.9, 0.08, 0.02), (1.0, 0.0, 0.0)])
@pytest.mark.parametrize(("n_sources", "n_rows"), [(1, 200), (3, 100), (20, 60)])
def test_right_rates_are_hardly_ever_reported(n_sources, n_rows, prior):
    """The level is 1e-4; 0 of 18,000 cases were reported in a run of 2,000 per setting."""
    rng = np.random.default_rng(n_sources)
    n_reported = 0
    for _ in range(500):
        matrices = 0.6 * np.eye(3) + 0.4 * rng.dirichlet(np.ones(3), (n_sources, 3))
        shares = np.einsum("c,scl->sl", prior, matrices)
        counts = rng.multinomial(n_rows, shares / shares.sum(axis=1, keepdims=True))
        n_reported += bool(rate_notices(sources_of_counts(counts, matrices)))
    assert n_reported == 0


ORDER = [1, 2, 0]
MODELS = [
    CorruptedSourcesClassifier(random_state=0),
    ForwardSourcesClassifier(random_state=0),
    CostWeightedSourcesClassifier(costs="equal", random_state=0),
    EMClassifier(random_state=0, cv=2),
    AutoSourcesClassifier(random_state=0, **QUICK_SEARCH),
]


@pytest.mark.filterwarnings("error::decorrupt.exceptions.ContradictedRatesWarning")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_permuted_rows_are_reported_by_every_method(model):
    d = three_classes(600)
    model.fit(d.X, d.noisy, sources=d.sources, noise_rates=RATES)
    permuted = {source: matrix[ORDER] for source, matrix in RATES.items()}
    with pytest.raises(
        ContradictedRatesWarning, match="row 0, of class 0, looks like that of class 1"
    ):
        model.fit(d.X, d.noisy, sources=d.sources, noise_rates=permuted)
    prefers_class_0 = np.array([[0.9, 0.05, 0.05], [0.5, 0.45, 0.05], [0.5, 0.05, 0.45]])
    with pytest.raises(ContradictedRatesWarning, match="contradict the noise_rates"):
        model.fit(d.X, d.noisy, sources=d.sources, noise_rates=RATES | {"crowd": prefers_class_0})


@pytest.mark.parametrize("form", ["index", "column", "polars"])
def test_rates_in_a_data_frame_are_by_source(source_data, form):
    d = source_data
    frame = pd.DataFrame(d.rates, index=["flip_pos", "flip_neg"]).T[["flip_neg", "flip_pos"]]
    if form != "index":
        frame = frame.reset_index(names="source")
    if form == "polars":
        frame = pytest.importorskip("polars").from_pandas(frame)
    model = ForwardSourcesClassifier(random_state=0)
    assert model.fit(d.X, d.noisy, sources=d.sources, noise_rates=frame).noise_rates_ == d.rates


def test_data_frames_of_rates_that_cannot_be_read(source_data):
    d = source_data
    frame = pd.DataFrame(d.rates, index=["flip_pos", "flip_neg"]).T
    model = ForwardSourcesClassifier()

    def refused(frame, message, sources=d.sources):
        with pytest.raises(ValueError, match=message):
            model.fit(d.X, d.noisy, sources=sources, noise_rates=frame)

    refused(frame.drop("rule"), "no entry for source 'rule'")
    refused(pd.concat([frame, frame]), "more than once")
    refused(frame.set_axis(["a", "b"], axis=1), "a data frame with the columns source, flip_pos")
    refused(pytest.importorskip("polars").from_pandas(frame), "add a column 'source'")
    by_row = frame.loc[d.sources].reset_index(drop=True)
    refused(by_row, "one entry per source. For rates per row", np.arange(900) % 3)
    refused(by_row, "no sources", None)
    rows = np.arange(len(by_row))
    assert model.fit(d.X, d.noisy, sources=rows, noise_rates=by_row).noise_rates_.keys() == {*rows}
