"""The network as a classifier: scikit-learn's contract, observations, early stopping, modules."""

import pickle
import random

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from decorrupt import BagGridSearchCV, LaplaceNoise, label_posterior, save
from decorrupt.model_files import ModelFileError
from decorrupt.risks import CountRisk
from decorrupt.torch import TorchBagClassifier


def quick(**params):
    return TorchBagClassifier(
        **{
            "lr": 1e-2,
            "max_epochs": 20,
            "early_stopping": False,
            "module__hidden": (16,),
            "random_state": 0,
        }
        | params
    )


SEVEN_DIGITS = ("check_methods_sample_order_invariance", "check_methods_subset_invariance")
# Batches are drawn from the rows, so that repeated rows are in other batches.
EQUAL_BATCHES = "check_sample_weight_equivalence"


class Bottleneck(torch.nn.Module):
    """A user's own network; at module level, so that it can be pickled."""

    def __init__(self, n_columns, n_scores, width=3):
        super().__init__()
        self.first = torch.nn.Linear(n_columns, width)
        self.norm = torch.nn.BatchNorm1d(width)
        self.second = torch.nn.Linear(width, n_scores)

    def forward(self, X):
        return self.second(torch.tanh(self.norm(self.first(X))))


@pytest.mark.filterwarnings("ignore")  # the checks feed degenerate data on purpose
@parametrize_with_checks(
    [
        TorchBagClassifier(lr=3e-2, max_epochs=10, early_stopping=False),
        TorchBagClassifier(lr=3e-2, max_epochs=10),
    ]
)
def test_scikit_learn_compatible(estimator, check):
    if check.func.__name__ in SEVEN_DIGITS:
        pytest.skip("asks for more digits than single precision has; see the next test")
    if check.func.__name__.startswith(EQUAL_BATCHES):
        pytest.skip("repeated rows are in other batches than a row with a weight")
    check(estimator)


def test_the_score_of_a_row_does_not_depend_on_other_rows(bag_data):
    d = bag_data
    model = quick().fit(d.X, d.y, bags=d.bags)
    scores = model.decision_function(d.X)
    alone = [model.decision_function(row[None])[0] for row in d.X]
    assert_allclose(alone, scores, rtol=1e-5, atol=1e-5)
    assert_allclose(model.decision_function(d.X[::-1]), scores[::-1], rtol=1e-5, atol=1e-5)


def test_defaults_learn_the_clean_classes_without_a_warning(bag_data):
    d = bag_data
    model = TorchBagClassifier(random_state=0).fit(d.X, d.y, bags=d.bags)
    assert balanced_accuracy_score(d.labels, model.predict(d.X)) > 0.9
    prob = model.predict_proba(d.X)
    assert_allclose(prob[:, 1], expit(model.decision_function(d.X) + model.decision_threshold_))
    before = label_posterior(np.full(600, d.y.mean()), d.y, bags=d.bags).log_likelihood.sum()
    after = label_posterior(prob[:, 1], d.y, bags=d.bags).log_likelihood.sum()
    assert after > before + 100
    shifted = model.predict_proba(d.X, class_prior=0.1)[:, 1]
    odds = 0.1 / 0.9 * model.class_prior_[0] / model.class_prior_[1]
    assert_allclose(shifted / (1 - shifted), odds * prob[:, 1] / prob[:, 0], rtol=1e-6)


def test_early_stopping_takes_the_best_epoch_on_held_out_bags(bag_data):
    d = bag_data
    model = quick(early_stopping=True, max_epochs=200, lr=0.1, module__hidden=(64, 64))
    model.fit(d.X, d.y, bags=d.bags)
    curve = model.held_out_log_likelihood_
    assert model.n_epochs_ == int(curve.argmax()) + 1
    assert len(curve) == model.n_epochs_ + 30 < 200  # it stopped
    again = clone(model).set_params(early_stopping=False, max_epochs=model.n_epochs_)
    again.fit(d.X, d.y, bags=d.bags)
    assert_array_equal(again.decision_function(d.X), model.decision_function(d.X))
    assert not hasattr(again, "held_out_log_likelihood_")


def test_held_out_bags_are_whole_and_not_trained_on(bag_data, monkeypatch):
    d = bag_data
    taken = []
    take = CountRisk.take

    def record(self, rows):
        taken.append((len(self.observed.row_bag), np.asarray(rows)))
        return take(self, rows)

    monkeypatch.setattr(CountRisk, "take", record)
    quick(early_stopping=True, max_epochs=1).fit(d.X, d.y, bags=d.bags)
    (held_out, training) = (rows for n_rows, rows in taken[:2] if n_rows == 600)
    assert len(held_out) == 120
    assert len(training) == 480
    assert not set(d.bags[held_out]) & set(d.bags[training])


def test_the_same_seed_gives_the_same_network_and_global_random_numbers_stay(bag_data):
    d = bag_data
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = quick().fit(d.X, d.y, bags=d.bags).decision_function(d.X)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(6)
    random.seed(6)
    second = quick().fit(d.X, d.y, bags=d.bags).decision_function(d.X)
    assert_array_equal(first, second)
    other = quick(random_state=1).fit(d.X, d.y, bags=d.bags)
    assert not np.allclose(other.decision_function(d.X), first, atol=1e-3)


def test_a_linear_module_finds_the_maximum_of_the_count_likelihood(bag_data):
    """Without hidden units the network is the linear model, whose gradient is zero there."""
    d = bag_data
    model = quick(module__hidden=(), max_epochs=400, lr=0.05, bags_per_batch=60)
    prob = model.fit(d.X, d.y, bags=d.bags).predict_proba(d.X)[:, 1]
    posterior = label_posterior(prob, d.y, bags=d.bags).posterior
    columns = np.column_stack([np.ones(600), model.columns_.transform(d.X)])
    assert_allclose(columns.T @ (prob - posterior) / 600, 0, atol=2e-3)


def test_three_classes_and_their_names():
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 3, 600)
    X = rng.normal(size=(600, 2)) + 3 * np.eye(3)[labels][:, :2]
    bags = np.arange(600) // 6
    y = pd.DataFrame(np.eye(3)[labels], columns=["a", "b", "c"]).groupby(bags).transform("mean")
    model = quick(max_epochs=60).fit(X, y, bags=bags)
    assert model.decision_function(X).shape == (600, 3)
    assert (model.predict(X) == np.array(["a", "b", "c"])[labels]).mean() > 0.85


def test_sources_are_the_forward_loss(source_data):
    d = source_data
    model = quick().fit(d.X, d.noisy, sources=d.sources, noise_rates=d.rates)
    assert balanced_accuracy_score(d.labels, model.predict(d.X)) > 0.88


def test_ranges_and_noisy_counts(bag_data):
    d = bag_data
    low, high = np.maximum(d.y - 0.1, 0), np.minimum(d.y + 0.1, 1)
    ranges = quick().fit(d.X, low, bags=d.bags, upper=high)
    assert balanced_accuracy_score(d.labels, ranges.predict(d.X)) > 0.85
    noise = np.random.default_rng(0).laplace(scale=1.5, size=60)[d.bags] / 10
    noisy = quick(count_noise=LaplaceNoise(1.5)).fit(d.X, d.y + noise, bags=d.bags)
    assert balanced_accuracy_score(d.labels, noisy.predict(d.X)) > 0.85


def test_frames_with_categories_and_missing_values(bag_data):
    d = bag_data
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"first": d.X[:, 0], "second": d.X[:, 1]})
    frame["colour"] = np.where(d.labels & (rng.random(600) < 0.8), "red", "blue")
    frame.loc[rng.random(600) < 0.2, "first"] = np.nan
    model = quick().fit(frame, d.y, bags=d.bags)
    assert balanced_accuracy_score(d.labels, model.predict(frame)) > 0.85


def test_sparse_rows_and_single_precision(bag_data):
    d = bag_data
    rows = sparse.csr_matrix(d.X)
    model = quick().fit(rows, d.y, bags=d.bags)
    assert balanced_accuracy_score(d.labels, model.predict(rows)) > 0.85
    single = d.X.astype(np.float32)
    assert quick().fit(single, d.y, bags=d.bags).decision_function(single).dtype == np.float32


def test_an_own_module_is_cloned_searched_and_pickled(bag_data):
    d = bag_data
    model = quick(module=Bottleneck, module__hidden=None)
    with pytest.raises(TypeError, match="hidden"):
        model.fit(d.X, d.y, bags=d.bags)
    model = TorchBagClassifier(
        Bottleneck, module__width=5, max_epochs=20, lr=1e-2, early_stopping=False, random_state=0
    )
    assert clone(model).get_params() == model.get_params()
    search = BagGridSearchCV(model, {"module__width": [2, 4]}, cv=2)
    search.fit(d.X, d.y, bags=d.bags)
    best = search.best_estimator_
    assert best.module_.first.out_features == search.best_params_["module__width"]
    assert not best.module_.training
    again = pickle.loads(pickle.dumps(best))  # noqa: S301 — our own bytes
    assert_array_equal(again.decision_function(d.X), best.decision_function(d.X))


def test_the_weights_are_a_state_dict(bag_data, tmp_path):
    d = bag_data
    model = quick().fit(d.X, d.y, bags=d.bags)
    torch.save(model.module_.state_dict(), tmp_path / "weights.pt")
    other = quick(random_state=1, max_epochs=1).fit(d.X, d.y, bags=d.bags)
    other.module_.load_state_dict(torch.load(tmp_path / "weights.pt", weights_only=True))
    assert_array_equal(other.decision_function(d.X), model.decision_function(d.X))
    with pytest.raises(ModelFileError, match=r"the model cannot be stored"):
        save(model, tmp_path / "model.skops")


BAD = {
    "lr": ({"lr": 0}, r"lr=0 must be a positive number"),
    "max_epochs": ({"max_epochs": 2.5}, r"max_epochs=2\.5"),
    "bags_per_batch": ({"bags_per_batch": 0}, r"bags_per_batch=0"),
    "early_stopping": ({"early_stopping": "no"}, r"early_stopping='no'"),
    "diverged": ({"lr": 1e30}, r"the loss is .* in epoch .*: lower lr"),
    "module of one score too many": (
        {"module": lambda n, k, **_: torch.nn.Linear(n, k + 1)},
        r"the module returns shape \(\d+, 2\): it must return \(\d+, 1\)",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_wrong_parameters_are_refused_by_name(case, bag_data):
    params, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        quick(**params).fit(bag_data.X, bag_data.y, bags=bag_data.bags)


def test_unknown_parameters_are_refused():
    with pytest.raises(TypeError, match=r"no parameter 'hidden'.*begin with 'module__'"):
        TorchBagClassifier(hidden=(3,))
    with pytest.raises(ValueError, match="hidden"):
        TorchBagClassifier().set_params(hidden=(3,))
