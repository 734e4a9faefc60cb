"""Bad input: the message names the argument, the offender and what would be right."""

import warnings

import numpy as np
import pytest

from decorrupt import CorrectedLossClassifier, CorruptedSourcesClassifier, combine_strata

X = np.random.default_rng(0).normal(size=(12, 2))
BAGS = np.repeat(["a", "b", "c"], 4)
Y = np.repeat([0.25, 0.5, 0.75], 4)
LABELS = np.tile([0, 1], 6)


def changed(array, **rows):
    array = array.copy()
    for row, value in rows.items():
        array[int(row[1:])] = value
    return array


BAG_CASES = {
    "proportion above one": (X, changed(Y, r5=1.5), BAGS, r"y\[5\] = 1\.5 \(bag 'b'\).*\[0, 1\]"),
    "negative proportion": (X, changed(Y, r0=-0.1), BAGS, r"y\[0\] = -0\.1 \(bag 'a'\)"),
    "NaN proportion": (X, changed(Y, r9=np.nan), BAGS, r"y\[9\] = nan \(bag 'c'\)"),
    "differs within a bag": (X, changed(Y, r1=0.3), BAGS, r"within bag 'a' \(from 0\.25 to 0\.3\)"),
    "one bag": (X, np.full(12, 0.5), np.zeros(12), r"only one bag: nothing can be learned"),
    "equal proportions": (X, np.full(12, 0.5), BAGS, r"all 3 bags have the same proportion 0\.5"),
    "bags too short": (X, Y, BAGS[:-1], r"inconsistent numbers of samples: \[12, 11\]"),
    "y too short": (X, Y[:-1], BAGS[:-1], r"inconsistent numbers of samples: \[12, 11\]"),
    "missing bag id": (X, Y, [*BAGS[:3].tolist(), None, *BAGS[4:].tolist()], r"bags .* row 3"),
    "words as proportions": (X, np.array(["x"] * 12), BAGS, r"y must hold proportions"),
    "NaN in X": (changed(X, r2=np.nan), Y, BAGS, r"Input X contains NaN"),
    "inf in X": (changed(X, r2=np.inf), Y, BAGS, r"Input X contains infinity"),
}


@pytest.mark.parametrize("case", BAG_CASES)
def test_bad_bags(case):
    rows, y, bags, message = BAG_CASES[case]
    with pytest.raises(ValueError, match=message):
        CorrectedLossClassifier().fit(rows, y, bags=bags)


PARAMETER_CASES = [
    ({"loss": "hinge"}, r"unknown loss 'hinge'.*logistic, squared, huber, sigmoid, unhinged"),
    ({"kernel": "gauss"}, r"unknown kernel 'gauss'.*rbf, exponential, laplacian"),
    ({"solver": "sgd"}, r"unknown solver 'sgd'.*newton, lbfgs, gradient_descent"),
    ({"combine": "average"}, r"unknown method 'average'.*superbag, pairs"),
    ({"combine": "pairs", "pairing": "best"}, r"unknown pairing method 'best'.*sorted"),
    ({"target_prior": 1.0}, r"target_prior=1\.0 must lie strictly between 0 and 1"),
    ({"target_prior": "natural"}, r"target_prior='natural'.*'pooled'"),
    ({"convex": "yes"}, r"unknown convex='yes'.*check, project, ignore"),
    ({"decision": "best"}, r"unknown decision 'best'.*balanced, accuracy"),
    ({"risk_correction": "max"}, r"unknown risk_correction 'max'"),
    ({"reg_strength": -1.0}, r"reg_strength=-1\.0 must be a finite number, at least 0"),
    ({"reg_strength": 0.0}, r"reg_strength=0 with the logistic loss.*falls to −∞"),
    ({"reg_strength": 1e-6, "loss": "squared", "combine": "pairs"}, r"too small for the squared"),
    ({"kernel_gamma": -1.0}, r"kernel_gamma=-1\.0 must be a positive number"),
    ({"kernel_gamma": "wide"}, r"kernel_gamma='wide'.*'scale' or 'auto'"),
    ({"kernel": "precomputed"}, r"precomputed kernel must be a square matrix.*12 × 2"),
    ({"max_rank": 0}, r"max_rank=0 must be a whole number, at least 1, or None"),
    ({"rank_tol": -1}, r"rank_tol=-1 must be a finite number, at least 0"),
    ({"loss": "sigmoid", "target_prior": 0.3}, r"sigmoid loss estimates the sign"),
    ({"solver": "gradient_descent", "step_size": 0.0}, r"step_size=0\.0 must be a positive number"),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("params", "message"), PARAMETER_CASES)
def test_bad_parameters(params, message):
    y = np.repeat([0.6, 0.7, 0.9], 4)
    with pytest.raises(ValueError, match=message):
        CorrectedLossClassifier(**params).fit(X, y, bags=BAGS)


def test_proportions_without_bags_point_to_bags():
    with pytest.raises(ValueError, match="pass bags= as well"):
        CorrectedLossClassifier().fit(X, Y + 0.01)


@pytest.mark.parametrize("model", [CorrectedLossClassifier(), CorruptedSourcesClassifier()])
def test_third_class(model):
    with pytest.raises(ValueError, match="y has 3 classes"):
        model.fit(X, np.tile([0, 1, 2], 4))


@pytest.mark.parametrize("model", [CorrectedLossClassifier(), CorruptedSourcesClassifier()])
def test_single_class(model):
    with pytest.raises(ValueError, match="only one class"):
        model.fit(X, np.zeros(12))


def test_empty_bag():
    with pytest.raises(ValueError, match="sizes of bag 1 is 0: an empty bag"):
        combine_strata([3, 0], [0.2, 0.8])


def test_bags_in_predict_are_no_argument():
    model = CorrectedLossClassifier(reg_strength=0.1).fit(X, Y + 0.01 * (BAGS == "a"), bags=BAGS)
    assert len(model.predict(X)) == 12


SOURCES = np.tile(["s", "t"], 6)
SOURCE_CASES = [
    ({"s": (0.1, 0.1)}, SOURCES, r"no entry for source 't' \(they have: 's'\)"),
    (
        {"s": (0.6, 0.4), "t": (0, 0)},
        SOURCES,
        r"source 's': flip_pos \+ flip_neg = 1 must be below",
    ),
    ({"s": (-0.1, 0.4), "t": (0, 0)}, SOURCES, r"source 's': flip_pos=-0\.1 is not a rate"),
    ({"s": (0.1,), "t": (0, 0)}, SOURCES, r"source 's'.*pair \(flip_pos, flip_neg\)"),
    ({"s": (0.1, 0.1)}, None, r"fit got no sources"),
    (None, SOURCES, r"2 sources but no noise_rates"),
    (np.full((12, 2), 0.5), None, r"noise_rates of row 0 are \[0\.5, 0\.5\].*below 1"),
    (np.full((11, 2), 0.1), None, r"must have shape \(12, 2\)"),
    ((0.1, 0.1), SOURCES[:-1], r"inconsistent numbers of samples"),
]


@pytest.mark.parametrize(("rates", "sources", "message"), SOURCE_CASES)
def test_bad_sources(rates, sources, message):
    with pytest.raises(ValueError, match=message):
        CorruptedSourcesClassifier().fit(X, LABELS, sources=sources, noise_rates=rates)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"weights": "best"}, r"unknown scheme 'best'.*optimal, exact"),
        ({"weights": "exact"}, r"needs class_priors"),
        ({"class_priors": {"s": 0.5}}, r"class_priors have no entry for source 't'"),
        ({"class_priors": 1.0}, r"class_priors of source 's' is 1"),
        ({"combine": "sum"}, r"unknown method 'sum'"),
        ({"target_prior": 2}, r"target_prior=2"),
    ],
)
def test_bad_source_parameters(params, message):
    rates = {"s": (0.1, 0.1), "t": (0.2, 0.1)}
    with pytest.raises(ValueError, match=message):
        CorruptedSourcesClassifier(noise_rates=rates, **params).fit(X, LABELS, sources=SOURCES)


def test_good_input_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CorruptedSourcesClassifier(reg_strength=0.1).fit(X, LABELS)
