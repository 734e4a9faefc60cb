"""How much a model moves within the intervals of what it was told."""

import numpy as np
import pytest

from decorrupt import CorrectedLossClassifier, CorruptedSourcesClassifier
from decorrupt.estimators.forward_sources import ForwardSourcesClassifier
from decorrupt.noise_rates import estimate_noise_rates_from_audit, sensitivity

MODEL = CorruptedSourcesClassifier(reg_strength=0.05, random_state=0)
BAG_MODEL = CorrectedLossClassifier(reg_strength=0.1, random_state=0)


def boxes(rates, width):
    """Return intervals of a half-width around the rates."""
    return {
        source: {
            name: (max(rate - width, 0), rate + width)
            for name, rate in zip(("flip_pos", "flip_neg"), pair, strict=True)
        }
        for source, pair in rates.items()
    }


def moved(data, width, **options):
    options = {"n_draws": 4, "random_state": 0} | options
    return sensitivity(
        MODEL, data.X, data.noisy, sources=data.sources, noise_rates=data.rates,
        intervals=boxes(data.rates, width), **options,
    )  # fmt: skip


def test_points_change_nothing(source_data):
    found = moved(source_data, 0.0)
    assert (found.flip_share == 0).all()
    assert found.criterion_range == pytest.approx((found.criterion, found.criterion))


def test_the_model_as_given(source_data):
    d = source_data
    found = moved(d, 0.05)
    model = MODEL.set_params(noise_rates=None).fit(
        d.X, d.noisy, sources=d.sources, noise_rates=d.rates
    )
    np.testing.assert_array_equal(found.predictions, model.predict(d.X))
    assert found.criterion == pytest.approx(model.diagnostics_.training_risk)


def test_corners_first_and_draws_inside(source_data):
    d = source_data
    found = moved(d, 0.04, n_draws=6)
    # Sources in sorted order: crowd (.2, .3), expert (.05, .05), rule (.4, .1).
    assert found.parameter_names[:2] == ["flip_pos of source 'crowd'", "flip_neg of source 'crowd'"]
    centre = np.array([0.2, 0.3, 0.05, 0.05, 0.4, 0.1])
    np.testing.assert_allclose(found.settings[0], centre - 0.04)
    np.testing.assert_allclose(found.settings[1], centre + 0.04)
    np.testing.assert_allclose(found.settings[2], centre + np.tile([-0.04, 0.04], 3))
    assert found.settings.shape == (10, 6)
    assert (np.abs(found.settings - centre) <= 0.04 + 1e-12).all()


def test_flips_and_criterion_are_those_of_the_refits(source_data):
    d = source_data
    found = moved(d, 0.05)
    changed = []
    for setting, criterion in zip(found.settings, found.criterion_refits, strict=True):
        rates = dict(zip(["crowd", "expert", "rule"], setting.reshape(3, 2), strict=True))
        model = MODEL.fit(d.X, d.noisy, sources=d.sources, noise_rates=rates)
        changed.append(model.predict(d.X) != found.predictions)
        assert criterion == pytest.approx(model.diagnostics_.training_risk)
    np.testing.assert_allclose(found.flip_share, np.mean(changed, axis=0))
    np.testing.assert_allclose(found.refit_flips, np.mean(changed, axis=1))


def test_wider_intervals_move_more(source_data):
    narrow, wide = moved(source_data, 0.01), moved(source_data, 0.1)
    assert narrow.flip_share.mean() < wide.flip_share.mean()
    assert np.ptp(narrow.criterion_range) < np.ptp(wide.criterion_range)
    assert (wide.flip_share <= 1).all()


def test_an_estimate_brings_its_own_intervals(source_data):
    d = source_data
    audit = np.arange(len(d.labels)) < 300
    found = estimate_noise_rates_from_audit(
        y_noisy=d.noisy[audit], y_true=d.labels[audit], sources=d.sources[audit]
    )
    out = sensitivity(
        MODEL, d.X, d.noisy, sources=d.sources, noise_rates=found, n_draws=2, random_state=0
    )
    low = [
        found.intervals[s][f][0] for s in ("crowd", "expert", "rule") for f in found.intervals[s]
    ]
    np.testing.assert_allclose(out.settings[0], low)
    assert "rows that change class in any refit" in str(out)


def test_one_source_without_a_name(source_data):
    d = source_data
    out = sensitivity(
        MODEL, d.X, d.noisy, noise_rates={"all rows": (0.2, 0.15)},
        intervals={"all rows": {"flip_pos": (0.1, 0.3), "flip_neg": (0.1, 0.2)}},
        n_draws=0, X_new=d.X[:7], random_state=0,
    )  # fmt: skip
    assert out.flip_share.shape == (7,)
    assert len(out.settings) == 4


@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.NegativeRiskWarning")
def test_boxes_beyond_a_coin_are_drawn_back(source_data):
    d = source_data
    out = sensitivity(
        MODEL, d.X, d.noisy, noise_rates={0: (0.4, 0.4)},
        intervals={0: {"flip_pos": (0.3, 0.6), "flip_neg": (0.3, 0.6)}},
        n_draws=0, random_state=0,
    )  # fmt: skip
    assert np.isfinite(out.criterion_refits).all()


def test_models_without_diagnostics_and_ones_own_criterion(source_data):
    d = source_data
    model = ForwardSourcesClassifier(reg_strength=0.05, random_state=0)
    keep = {
        "sources": d.sources, "noise_rates": d.rates, "intervals": boxes(d.rates, 0.02),
        "n_draws": 0, "random_state": 0,
    }  # fmt: skip
    assert np.isnan(sensitivity(model, d.X, d.noisy, **keep).criterion)
    out = sensitivity(model, d.X, d.noisy, **keep, criterion=lambda fitted: fitted.class_prior_[1])
    assert out.criterion_range[0] < out.criterion < out.criterion_range[1]


def test_bags_by_one_number_or_one_by_one(bag_data):
    d = bag_data
    keep = {"bags": d.bags, "n_draws": 3, "random_state": 0}
    found = sensitivity(BAG_MODEL, d.X, d.y, intervals=0.05, **keep)
    np.testing.assert_allclose(found.settings[0], np.maximum(d.shares - 0.05, 0))
    np.testing.assert_allclose(found.settings[1], np.minimum(d.shares + 0.05, 1))
    ends = {bag: (max(s - 0.05, 0), min(s + 0.05, 1)) for bag, s in enumerate(d.shares)}
    again = sensitivity(BAG_MODEL, d.X, d.y, intervals=ends, **keep)
    np.testing.assert_allclose(again.settings, found.settings)
    np.testing.assert_allclose(again.flip_share, found.flip_share)
    assert found.parameter_names[0] == "proportion of bag 0"


def test_the_model_given_is_left_alone(bag_data):
    d = bag_data
    model = CorrectedLossClassifier(reg_strength=0.1)
    sensitivity(model, d.X, d.y, bags=d.bags, intervals=0.01, n_draws=0)
    assert not hasattr(model, "classes_")


BAD = [
    ({}, r"give noise_rates and intervals, both as mappings by source"),
    ({"noise_rates": {"s": (0.1, 0.1)}}, r"give noise_rates and intervals"),
    ({"noise_rates": {"s": (0.1, 0.1), "t": (0, 0)}, "intervals": {}}, r"2 sources: give sources="),
    (
        {"noise_rates": {"s": (0.1, 0.1)}, "intervals": {}},
        r"intervals have no entry for source 's'",
    ),
    (
        {
            "noise_rates": {"s": (0.1, 0.1)},
            "intervals": {"s": {"flip_pos": (0.2, 0.1), "flip_neg": (0, 1)}},
        },
        r"intervals of source 's', flip_pos are \(0\.2, 0\.1\).*low ≤ high",
    ),
    ({"n_draws": -1}, r"n_draws=-1 must be at least 0"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_bad_input(source_data, options, message):
    with pytest.raises(ValueError, match=message):
        sensitivity(MODEL, source_data.X, source_data.noisy, **options)


@pytest.mark.parametrize(
    ("intervals", "message"),
    [
        (None, r"intervals=None: for bags give"),
        (-0.1, r"intervals=-0\.1: for bags give"),
        ({0: (0, 1)}, r"intervals have no entry for bag 1"),
        (dict.fromkeys(range(60), (0.5, 1.2)), r"intervals of bag 0 are \(0\.5, 1\.2\)"),
        (dict.fromkeys(range(60), (0.5, 0.6)), r"refit 0, with proportion of bag 0 = 0\.5, cannot"),
    ],
)
def test_bad_bag_intervals(bag_data, intervals, message):
    d = bag_data
    with pytest.raises(ValueError, match=message):
        sensitivity(BAG_MODEL, d.X, d.y, bags=d.bags, intervals=intervals)
