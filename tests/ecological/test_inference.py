"""EcologicalInference on simulated places, and what it refuses."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from decorrupt import (
    CountLikelihoodClassifier,
    EcologicalInference,
    GaussianNoise,
    load,
    save,
)
from decorrupt.ecological.check import _composition_p_value
from decorrupt.ecological.margins import read_margins
from decorrupt.ecological.model import Layout, fit_rates
from decorrupt.ecological.posterior import people_covariance

RATES = np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])


def simulate(seed=0, n_places=60, size=200, rates=RATES, spread=0.0, slope=0.0):
    """Return groups, outcomes and the table of places.

    `spread` is the standard deviation of the rates between places, `slope` how the rate of the
    first outcome grows with the share of the first group.
    """
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(len(rates), 1.5), n_places)
    groups = np.array([rng.multinomial(size, share) for share in shares])
    tables = np.zeros((n_places, *rates.shape), dtype=int)
    for b, own in enumerate(groups):
        local = rates + spread * rng.normal(size=rates.shape)
        local[:, 0] += slope * (shares[b, 0] - 1 / len(rates))
        local = np.clip(local, 1e-3, None)
        local /= local.sum(axis=1, keepdims=True)
        tables[b] = [rng.multinomial(n, p) for n, p in zip(own, local, strict=True)]
    return groups, tables.sum(axis=1), tables.sum(axis=0)


def error_of(table, truth):
    return np.abs(table - truth).sum() / 2 / truth.sum()


def test_constant_rates_are_found():
    groups, outcomes, table = simulate()
    model = EcologicalInference().fit(groups, outcomes)
    assert error_of(model.table_, table) < 0.02
    assert model.overdispersion_ == pytest.approx(1, abs=0.35)


def test_intervals_cover_tables_of_the_model():
    covered = []
    for seed in range(12):
        groups, outcomes, table = simulate(seed, n_places=40)
        low, high = EcologicalInference(n_draws=100).fit(groups, outcomes).interval(0.9)
        covered += ((low <= table) & (table <= high)).ravel().tolist()
    assert 0.86 <= np.mean(covered) <= 0.99


def test_intervals_cover_rates_that_vary_between_places():
    covered = []
    for seed in range(12):
        groups, outcomes, table = simulate(seed, n_places=40, spread=0.07)
        low, high = EcologicalInference(n_draws=100).fit(groups, outcomes).interval(0.9)
        covered += ((low <= table) & (table <= high)).ravel().tolist()
    assert 0.8 <= np.mean(covered) <= 0.99


def kings_places(kind, seed=0, n_places=100, size=80, rates=(0.8, 0.3)):
    """Return 2 × 2 precincts with rates that are constant, vary, or depend on the composition."""
    rng = np.random.default_rng(seed)
    share = rng.uniform(0.1, 0.9, n_places)
    first = rng.binomial(size, share)
    rates = np.tile(rates, (n_places, 1))
    if kind == "varying":
        rates += 0.1 * rng.normal(size=rates.shape)
    if kind == "composition":
        rates[:, 0] += 0.6 * (share - 0.5)
    groups = np.column_stack([first, size - first])
    yes = rng.binomial(groups, np.clip(rates, 0, 1))
    outcomes = np.column_stack([yes.sum(axis=1), size - yes.sum(axis=1)])
    return groups, outcomes, yes.sum(axis=0) / groups.sum(axis=0)


@pytest.mark.parametrize(("kind", "allowed"), [("constant", 0.02), ("varying", 0.04)])
def test_kings_precincts(kind, allowed):
    groups, outcomes, rates = kings_places(kind)
    model = EcologicalInference().fit(groups, outcomes)
    np.testing.assert_allclose(model.rates_[:, 0], rates, atol=allowed)
    low, high = model.interval(function="rates")
    assert (low[:, 0] <= rates).all()
    assert (rates <= high[:, 0]).all()
    assert model.check().verdict != "do not use"


def test_varying_rates_near_0_and_1_are_pulled_together_and_reported():
    bias = {}
    for kind in ("constant", "varying"):
        groups, outcomes, rates = kings_places(kind, n_places=1000, rates=(0.95, 0.05))
        model = EcologicalInference().fit(groups, outcomes)
        bias[kind] = model.rates_[:, 0] - rates
        check = model.check()
        assert check.verdict == ("usable" if kind == "constant" else "check")
        assert ("near 0 and 1" in str(check)) == (kind == "varying")
    np.testing.assert_allclose(bias["constant"], 0, atol=0.008)
    np.testing.assert_allclose(bias["varying"], [-0.015, 0.015], atol=0.008)


def test_equal_groups_with_much_data_are_usable():
    groups, outcomes, _ = kings_places("constant", n_places=1000, size=500, rates=(0.5, 0.5))
    check = EcologicalInference().fit(groups, outcomes).check()
    assert check.verdict == "usable", str(check)


def test_places_of_one_group_each_show_the_table_without_a_model():
    rng = np.random.default_rng(0)
    first = np.where(rng.random(100) < 0.5, rng.binomial(1000, 0.98, 100), 10)
    groups = np.column_stack([first, 1000 - first])
    rates = np.array([0.55, 0.45]) + 0.12 * rng.normal(size=groups.shape)
    yes = rng.binomial(groups, np.clip(rates, 0, 1)).sum(axis=1)
    check = EcologicalInference().fit(groups, np.column_stack([yes, 1000 - yes])).check()
    assert check.explained < 1 / 3
    assert check.verdict == "usable", str(check)


def test_many_rare_options_do_not_change_what_groups_explain():
    groups, outcomes, _ = kings_places("varying", size=1000)
    rng = np.random.default_rng(1)
    rare = [rng.binomial(counts[:, 0], 0.03) for counts in [groups, outcomes] for _ in range(4)]
    first, second = np.stack(rare[:4]).T, np.stack(rare[4:]).T
    many_groups = np.column_stack([groups[:, 0] - first.sum(axis=1), groups[:, 1], first])
    many_outcomes = np.column_stack([outcomes[:, 0] - second.sum(axis=1), outcomes[:, 1], second])
    few, many = (
        EcologicalInference(n_draws=20).fit(*table).check()
        for table in [(groups, outcomes), (many_groups, many_outcomes)]
    )
    assert abs(few.explained - many.explained) < 0.1


def test_rates_that_depend_on_the_composition_are_reported():
    """Only a dependence that differs between groups can be seen in totals."""
    checks = [
        EcologicalInference(n_draws=10).fit(*kings_places(kind)[:2]).check()
        for kind in ("constant", "composition")
    ]
    assert checks[0].composition_p_value > 0.01
    assert checks[1].composition_p_value < 0.001


def test_groups_that_explain_nothing_are_not_to_be_used():
    rng = np.random.default_rng(0)
    groups = rng.multinomial(500, [0.5, 0.5], 50)
    yes = rng.binomial(500, rng.uniform(0.3, 0.7, 50))
    outcomes = np.column_stack([yes, 500 - yes])
    check = EcologicalInference().fit(groups, outcomes).check()
    assert check.verdict == "do not use"
    assert check.explained < 0.2
    assert "do not use" in str(check)


def test_it_is_the_count_likelihood_with_weights():
    """Without over-dispersion, the rates are those of the classifier on one row per cell."""
    groups, outcomes, _ = simulate(n_places=80)
    layout = Layout(read_margins(groups, outcomes), np.empty((80, 0)))
    rates = fit_rates(layout)
    assert rates.dispersion.max() < 1.5
    total = groups.sum()
    model = CountLikelihoodClassifier(kernel="linear", reg_strength=1 / (4 * total))
    shares = np.repeat(outcomes / groups.sum(axis=1)[:, None], 3, axis=0)
    rows, bags = np.tile(np.eye(3), (80, 1)), np.repeat(np.arange(80), 3)
    model.fit(rows, shares, bags=bags, sample_weight=groups.ravel())
    fitted = model.predict_proba(np.eye(3), class_prior=model.class_prior_)
    np.testing.assert_allclose(fitted, rates.prob[0], atol=0.01)


def test_the_gradient_is_that_of_the_objective():
    from decorrupt.ecological.model import _Whitened

    groups, outcomes, _ = simulate(n_places=10)
    for votes in (outcomes, np.column_stack([outcomes[:, 0], outcomes[:, 1:].sum(axis=1)])):
        layout = Layout(read_margins(groups, votes), np.random.default_rng(1).normal(size=(10, 1)))
        rates = fit_rates(layout)
        objective = _Whitened(rates, np.eye(rates.coef.size))
        at = np.random.default_rng(0).normal(size=rates.coef.size) / 5
        _, gradient = objective.value_and_gradient(at)
        steps = 1e-5 * np.eye(len(at))
        numeric = [
            (objective.value_and_gradient(at + h)[0] - objective.value_and_gradient(at - h)[0])
            / 2e-5
            for h in steps
        ]
        np.testing.assert_allclose(gradient, numeric, atol=1e-6)


def test_people_vary_within_the_margins_only():
    groups, outcomes, _ = simulate(n_places=10)
    rates = fit_rates(Layout(read_margins(groups, outcomes), np.empty((10, 0))))
    covariance = people_covariance(rates).reshape(3, 3, 3, 3)
    assert np.abs(covariance.sum(axis=1)).max() < 1e-6 * covariance.max()
    assert np.abs(covariance.sum(axis=0)).max() < 0.02 * covariance.max()  # but for rounding


def test_covariates_of_places_change_all_groups():
    rng = np.random.default_rng(0)
    groups = rng.integers(50, 400, (80, 2))
    age = rng.normal(size=80)
    rates = 1 / (1 + np.exp(-(np.array([1.0, -1.0]) + 1.5 * age[:, None])))
    table = rng.binomial(groups, rates)
    outcomes = np.column_stack([table.sum(axis=1), (groups - table).sum(axis=1)])
    plain = EcologicalInference(n_draws=20).fit(groups, outcomes)
    model = EcologicalInference(n_draws=20).fit(groups, outcomes, covariates=age[:, None])
    assert model.overdispersion_ < 2 < plain.overdispersion_
    found = model.place_tables_[:, 0, 0]
    assert np.corrcoef(found / groups[:, 0], rates[:, 0])[0, 1] > 0.95


@pytest.mark.parametrize("noise", [None, 5.0])
def test_draws_are_possible_tables(noise):
    """Also of a group with few people in places that vary much."""
    groups, outcomes, _ = simulate(spread=0.15, size=500)
    small = np.minimum(groups[:, 2], 2)
    groups = np.column_stack([groups[:, 0] + groups[:, 2] - small, groups[:, 1], small])
    model = EcologicalInference(count_noise=noise).fit(groups, outcomes)
    people = groups.sum(axis=0)
    np.testing.assert_allclose(model.draws_.sum(axis=2), np.tile(people, (200, 1)))
    assert model.draws_.min() >= 0
    if noise is None:
        votes = np.tile(outcomes.sum(axis=0), (200, 1))
        np.testing.assert_allclose(model.draws_.sum(axis=1), votes, rtol=1e-3)
        low, high = model.bounds_
        assert (model.draws_ >= low - 1).all()
        assert (model.draws_ <= high + 1).all()


def test_the_level_of_the_test_of_composition_if_places_vary():
    p_values = []
    for seed in range(120):
        rng = np.random.default_rng(seed)
        sizes = rng.lognormal(5, 1, 60).astype(int) + 20
        groups = np.array([rng.multinomial(n, rng.dirichlet([2, 2])) for n in sizes])
        rates = rng.beta(np.array([7, 3]) * 6, np.array([3, 7]) * 6, (60, 2))
        yes = rng.binomial(groups, rates).sum(axis=1)
        layout = Layout(
            read_margins(groups, np.column_stack([yes, sizes - yes])), np.empty((60, 0))
        )
        p_values.append(_composition_p_value(fit_rates(layout)))
    assert np.mean(np.array(p_values) < 0.05) < 0.12


def test_groups_that_explain_nothing_with_noise_and_with_a_covariate():
    rng = np.random.default_rng(1)
    groups = rng.integers(50, 150, (60, 2))
    column = rng.normal(size=60)
    sizes = groups.sum(axis=1)
    yes = rng.binomial(sizes, 1 / (1 + np.exp(-column)))
    outcomes = np.column_stack([yes, sizes - yes])
    known = EcologicalInference().fit(groups, outcomes, covariates=column[:, None])
    assert known.check().verdict == "do not use"
    noisy = EcologicalInference(count_noise=10.0)
    noisy.fit(groups, outcomes + 10 * rng.normal(size=(60, 2)))
    assert noisy.check().explained < 0.2
    same = rng.binomial(sizes, 0.5)
    check = EcologicalInference().fit(groups, np.column_stack([same, sizes - same])).check()
    assert 0 <= check.explained <= 1


def test_a_check_of_few_noisy_people():
    groups, outcomes, _ = simulate(n_places=40, size=6)
    rng = np.random.default_rng(0)
    noisy = outcomes + 10 * rng.normal(size=outcomes.shape)
    check = EcologicalInference(count_noise=10.0).fit(groups, noisy).check()
    assert 0 <= check.halves_differ <= 1
    assert 0 <= check.undetermined <= 1


def test_the_check_does_not_depend_on_the_order_of_places():
    groups, outcomes, _ = simulate(spread=0.1)
    order = np.random.default_rng(3).permutation(60)
    first = EcologicalInference().fit(groups, outcomes).check()
    second = EcologicalInference().fit(groups[order], outcomes[order]).check()
    assert second.halves_differ == pytest.approx(first.halves_differ, rel=1e-3)


def test_the_check_does_not_depend_on_the_order_of_groups_and_outcomes():
    for seed in range(4):
        groups, outcomes, _ = simulate(seed, n_places=30, spread=0.1)
        one, two = (
            EcologicalInference(n_draws=20).fit(*table).check()
            for table in [(groups, outcomes), (groups[:, ::-1], outcomes[:, ::-1])]
        )
        assert one.halves_differ == pytest.approx(two.halves_differ, abs=1e-4)


@pytest.mark.parametrize("noise", [None, GaussianNoise(5.0)])
def test_a_saved_model_can_be_checked(noise, tmp_path):
    groups, outcomes, _ = simulate(0, n_places=30)
    model = EcologicalInference(n_draws=20, count_noise=noise).fit(groups, outcomes)
    save(model, tmp_path / "table.skops")
    again = load(tmp_path / "table.skops")
    assert str(again.check()) == str(model.check())
    np.testing.assert_array_equal(again.interval(), model.interval())


def test_a_function_of_the_table_cannot_change_the_draws():
    groups, outcomes, _ = simulate(0, n_places=30)
    model = EcologicalInference(n_draws=20).fit(groups, outcomes)
    before = model.draws_.copy()
    model.interval(function=lambda table: np.divide(table, 2, out=table))
    np.testing.assert_array_equal(model.draws_, before)


def test_two_places():
    check = EcologicalInference().fit([[30, 20], [10, 40]], [[25, 25], [10, 40]]).check()
    assert "too few places to test it" in str(check)


def test_frames_are_matched_by_their_index():
    groups, outcomes, _ = simulate()
    names = [f"p{k}" for k in range(60)]
    groups, outcomes = (pd.DataFrame(side, index=names) for side in (groups, outcomes))
    model = EcologicalInference().fit(groups, outcomes)
    shuffled = outcomes.sample(frac=1, random_state=0)
    same = EcologicalInference().fit(groups, shuffled)
    np.testing.assert_array_equal(same.table_, model.table_)
    with pytest.raises(ValueError, match="different places in their index, for example 'p0'"):
        EcologicalInference().fit(groups, outcomes.rename({"p0": "q"}))
    covariates = pd.DataFrame({"x": np.arange(60.0)})
    with pytest.raises(ValueError, match="covariates have different places"):
        EcologicalInference().fit(groups, outcomes, covariates=covariates)


def test_noisy_outcomes():
    groups, outcomes, table = simulate()
    noisy = outcomes + np.random.default_rng(0).normal(scale=6, size=outcomes.shape)
    model = EcologicalInference(count_noise=GaussianNoise(6.0)).fit(groups, noisy)
    assert error_of(model.table_, table) < 0.05
    np.testing.assert_allclose(model.place_tables_.sum(axis=2), groups, rtol=1e-7)
    assert model.check().verdict == "usable"


def test_frames_keep_their_names():
    groups, outcomes, _ = simulate(n_places=12)
    index = [f"ward {k}" for k in range(12)]
    left = pd.DataFrame(groups, columns=["a", "b", "c"], index=index)
    right = pl.DataFrame(outcomes, schema=["x", "y", "z"])
    model = EcologicalInference().fit(left, right)
    assert model.group_names_ == ("a", "b", "c")
    assert model.outcome_names_ == ("x", "y", "z")
    assert model.place_names_[0] == "ward 0"
    frame = model.to_frame()
    assert frame.loc[1, ["group", "outcome"]].tolist() == ["a", "y"]
    assert frame.table.sum() == pytest.approx(groups.sum())
    assert ((frame.rate_low <= frame.rate) & (frame.rate <= frame.rate_high)).all()
    assert ((frame.bound_low <= frame.rate + 1e-9) & (frame.rate <= frame.bound_high + 1e-9)).all()
    assert "<th>a (" in model._repr_html_()
    assert "<th>a (" in model._repr_mimebundle_()["text/html"]
    assert "EcologicalInference" in EcologicalInference()._repr_html_()


def test_interval_of_a_function():
    groups, outcomes, _ = simulate(n_places=20)
    model = EcologicalInference(n_draws=50).fit(groups, outcomes)
    low, high = model.interval(0.5, function=lambda table: table[0, 0] / table[0].sum())
    rates = model.interval(0.5, function="rates")
    assert low == pytest.approx(rates[0, 0, 0], rel=1e-3)
    assert high == pytest.approx(rates[1, 0, 0], rel=1e-3)
    wider = model.interval(0.95)
    assert (wider[0] <= model.interval(0.5)[0]).all()


def test_the_same_seed_gives_the_same_draws():
    groups, outcomes, _ = simulate(n_places=12)
    fits = [EcologicalInference(n_draws=6).fit(groups, outcomes) for _ in range(2)]
    np.testing.assert_array_equal(fits[0].draws_, fits[1].draws_)
    other = EcologicalInference(n_draws=6, random_state=1).fit(groups, outcomes)
    assert not np.array_equal(other.draws_, fits[0].draws_)


def test_the_rest_can_be_an_outcome():
    groups, outcomes, table = simulate(n_places=30)
    model = EcologicalInference(other="abstention").fit(groups, outcomes[:, :2])
    assert model.outcome_names_[-1] == "abstention"
    assert error_of(model.table_, table) < 0.03


def test_rounded_totals_are_made_equal():
    groups, outcomes, _ = simulate(n_places=12)
    groups[0, 0] += 1
    model = EcologicalInference(n_draws=20).fit(groups, outcomes)
    np.testing.assert_allclose(model.place_tables_.sum(axis=1), outcomes, atol=1e-6)


def changed(groups, outcomes, *, where, to):
    copies = {"groups": groups.astype(float), "outcomes": outcomes.astype(float)}
    side, *index = where
    copies[side][tuple(index)] = to
    return copies["groups"], copies["outcomes"]


@pytest.mark.parametrize(
    ("where", "to", "message"),
    [
        (("groups", 2, 1), -1, "place '2' has -1 in 'group 1'.*at least 0"),
        (("outcomes", 3, 0), 1.5, "outcomes: place '3' has 1.5 in 'outcome 0'"),
        (("groups", 0, 0), np.nan, "place '0' has nan"),
        (("outcomes", 1, 0), 0, "place '1' has 200 people in groups and .*other='abstention'"),
        (("groups", slice(None), 1), 0, "group 'group 1' has no people in any place"),
        (("outcomes", slice(None), 2), 0, "outcome 'outcome 2' has no people"),
    ],
)
def test_bad_counts_are_refused_by_name(where, to, message):
    groups, outcomes, _ = simulate(n_places=12)
    with pytest.raises(ValueError, match=message):
        EcologicalInference().fit(*changed(groups, outcomes, where=where, to=to))


def test_other_bad_input_is_refused():
    groups, outcomes, _ = simulate(n_places=12)
    fit = EcologicalInference().fit
    empty = groups.copy(), outcomes.copy()
    for side in empty:
        side[4] = 0
    with pytest.raises(ValueError, match="place '4' has no people"):
        fit(*empty)
    with pytest.raises(ValueError, match="one place"):
        fit(groups[:1], outcomes[:1])
    with pytest.raises(ValueError, match="3 groups and 2 places: merge rare groups"):
        fit(groups[:2], outcomes[:2])
    with pytest.raises(ValueError, match="one group, 'group 0'"):
        fit(groups.sum(axis=1, keepdims=True), outcomes)
    with pytest.raises(ValueError, match="12 places and outcomes 11"):
        fit(groups, outcomes[:11])
    with pytest.raises(ValueError, match="would be negative"):
        EcologicalInference(other="rest").fit(groups, 2 * outcomes)
    with pytest.raises(ValueError, match="already an outcome"):
        EcologicalInference(other="outcome 1").fit(groups, outcomes)
    with pytest.raises(ValueError, match="contains text"):
        fit(np.full((3, 2), "x"), outcomes[:3])
    with pytest.raises(ValueError, match="covariates: column 0 is the same"):
        fit(groups, outcomes, covariates=np.ones((12, 1)))
    with pytest.raises(ValueError, match="5 covariates, 3 groups and 12 places: give at most 4"):
        fit(groups, outcomes, covariates=np.random.default_rng(0).normal(size=(12, 5)))
    with pytest.raises(ValueError, match="n_draws=1"):
        EcologicalInference(n_draws=1).fit(groups, outcomes)


def test_pictures():
    pytest.importorskip("matplotlib").use("agg")
    import matplotlib.pyplot as plt

    groups, outcomes, _ = kings_places("constant", n_places=20)
    model = EcologicalInference(n_draws=10).fit(groups, outcomes)
    assert len(model.plot(kind="tomography").lines) == 21
    labels = [label.get_text() for label in model.plot().get_yticklabels()]
    assert labels[0] == "group 0: outcome 0"
    with pytest.raises(ValueError, match="unknown kind"):
        model.plot(kind="pie")
    three = EcologicalInference(n_draws=20).fit(*simulate(n_places=8)[:2])
    with pytest.raises(ValueError, match="3 × 3"):
        three.plot(kind="tomography")
    plt.close("all")
