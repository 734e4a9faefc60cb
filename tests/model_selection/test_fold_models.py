"""The models of a search's folds are those whose held-out scores were compared."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from decorrupt import AutoLabelProportionsClassifier, AutoSourcesClassifier, load, save
from decorrupt.estimators import CountLikelihoodClassifier
from decorrupt.losses import unclipped_scores
from decorrupt.model_selection import bag_permutation_importance

QUICK = {
    "kernels": ("linear", "rbf"),
    "kernel_gammas": ("scale",),
    "reg_strengths": (1e-2, 1e-4),
    "cv": 3,
    "check_assumptions": False,
    "random_state": 0,
}


def held_out_scores(search, X):
    """Return the scores of all rows by the models that have not seen them."""
    scores = np.full(len(X), np.nan)
    for model, test in search.fold_models(X):
        some = X.iloc[test] if hasattr(X, "iloc") else X[test]
        proba = model.predict_proba(some, class_prior=search.class_prior_)
        scores[test] = unclipped_scores(proba)
    return scores


@pytest.mark.parametrize("ensemble", ["average", "best"])
@pytest.mark.parametrize("as_frame", [False, True])
def test_they_give_the_held_out_scores(bag_data, ensemble, as_frame):
    d = bag_data
    X = pd.DataFrame(d.X, columns=["a", "b"]) if as_frame else d.X
    search = AutoLabelProportionsClassifier(**QUICK | {"ensemble": ensemble})
    search.fit(X, d.y, bags=d.bags)
    # The comparison uses single precision.
    assert_allclose(held_out_scores(search, X), search.held_out_scores_, rtol=1e-4, atol=1e-4)


def test_nothing_is_fitted_again(bag_data, monkeypatch):
    d = bag_data
    search = AutoLabelProportionsClassifier(**QUICK).fit(d.X, d.y, bags=d.bags)

    def refuse(*args, **kwargs):
        raise AssertionError("a model is fitted again")

    monkeypatch.setattr(CountLikelihoodClassifier, "problem_over", refuse)
    monkeypatch.setattr(CountLikelihoodClassifier, "fit_feature_map", refuse)
    models = search.fold_models(d.X)
    found = bag_permutation_importance(models, d.X, d.y, bags=d.bags)
    assert all(one.drop > 0 for one in found)


def test_members_without_a_path_are_fitted_on_the_folds(bag_data):
    d = bag_data
    options = {"cv": 3, "check_assumptions": False, "random_state": 0}
    search = AutoLabelProportionsClassifier(candidates=["em"], **options)
    search.fit(d.X, d.y, bags=d.bags)
    models = search.fold_models(d.X)
    assert sorted(np.concatenate([rows for _, rows in models])) == list(range(len(d.y)))
    assert all(model.score(d.X[rows], d.labels[rows]) > 0.8 for model, rows in models)


def test_sources(source_data):
    d = source_data
    search = AutoSourcesClassifier(kernels=("linear",), cv=3, random_state=0)
    search.fit(d.X, d.noisy, sources=d.sources, noise_rates=d.rates)
    models = search.fold_models(d.X)
    assert len(models) == 3
    assert all(model.score(d.X[rows], d.labels[rows]) > 0.8 for model, rows in models)


def test_a_saved_search_has_no_models_of_folds(bag_data, tmp_path):
    d = bag_data
    search = AutoLabelProportionsClassifier(**QUICK).fit(d.X, d.y, bags=d.bags)
    save(search, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    assert_allclose(loaded.predict_proba(d.X), search.predict_proba(d.X))
    with pytest.raises(ValueError, match="not saved in files"):
        loaded.fold_models(d.X)
