"""Scores, probabilities and priors: the one place where two and several classes differ."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit, logit, logsumexp, softmax

from decorrupt.losses import (
    balanced_scores,
    chosen_classes,
    likelihood_and_slope,
    likelihood_curvature,
    log_probabilities,
    mix_scores,
    only_two_classes,
    prior_scores,
    prior_shift,
    probabilities,
    score_shape,
    scores_of,
    scores_of_probabilities,
    shift_prior,
    slope_in_scores,
)
from decorrupt.losses.scores import (
    label_likelihood_and_slope,
    posterior_of_slope,
    score_columns,
    with_padding,
)
from oracles.dense_risk import central_differences

PRIOR = {2: np.array([0.3, 0.7]), 3: np.array([0.2, 0.5, 0.3])}
OTHER = {2: np.array([0.9, 0.1]), 3: np.array([0.6, 0.1, 0.3])}
any_classes = pytest.mark.parametrize("n_classes", [2, 3])


def draw(n_classes, n_rows=8, seed=0, scale=2.0):
    """Return scores with one column per class, and as the library has them."""
    columns = scale * np.random.default_rng(seed).normal(size=(n_rows, n_classes))
    return columns, columns[:, 1] - columns[:, 0] if n_classes == 2 else columns


class TestProbabilities:
    @any_classes
    def test_they_have_one_column_per_class(self, n_classes):
        columns, scores = draw(n_classes)
        assert scores.shape == (8, *score_shape(n_classes))
        assert_allclose(probabilities(scores), softmax(columns, axis=1), rtol=1e-12)
        assert_allclose(np.exp(log_probabilities(scores)), softmax(columns, axis=1), rtol=1e-12)

    @any_classes
    def test_scores_come_back(self, n_classes):
        columns, scores = draw(n_classes)
        for log_prob in (log_probabilities(scores), columns):
            back = scores_of(log_prob)
            assert back.shape == scores.shape
            assert_allclose(probabilities(back), probabilities(scores), rtol=1e-12)
        back = scores_of_probabilities(probabilities(scores))
        assert_allclose(probabilities(back), probabilities(scores), rtol=1e-12)
        if n_classes == 2:
            assert_allclose(back, scores, rtol=1e-9)

    @any_classes
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_the_precision_is_kept(self, n_classes, dtype):
        _, scores = draw(n_classes)
        prob = probabilities(scores.astype(dtype))
        assert prob.dtype == dtype
        assert scores_of_probabilities(prob).dtype == dtype
        assert log_probabilities(scores.astype(dtype)).dtype == np.float64

    @any_classes
    def test_far_scores_keep_their_logarithms(self, n_classes):
        scores = np.array([-1e4, 1e4]) if n_classes == 2 else np.array([[1e4, 0, 0], [0, 1e4, 0.0]])
        log_prob = log_probabilities(scores)
        assert np.isfinite(log_prob).all()
        assert_allclose(log_prob[0], [0, *[-1e4] * (n_classes - 1)])

    @any_classes
    @pytest.mark.parametrize("dtype", [np.float32, np.float64, int])
    def test_certain_probabilities_have_finite_scores(self, n_classes, dtype):
        scores = scores_of_probabilities(np.eye(n_classes, dtype=dtype))
        assert np.isfinite(scores).all()
        assert chosen_classes(scores).tolist() == list(range(n_classes))
        near = scores_of_probabilities(np.eye(n_classes), 0.01)
        assert_allclose(probabilities(near).max(axis=1), 0.99, atol=0.01)


class TestPriors:
    @any_classes
    def test_the_score_of_a_prior_has_its_probabilities(self, n_classes):
        scores = np.array([prior_scores(PRIOR[n_classes])])
        assert_allclose(probabilities(scores), [PRIOR[n_classes]])
        if n_classes == 2:
            assert prior_scores(PRIOR[2]) == pytest.approx(logit(0.7))

    @any_classes
    def test_shifting_multiplies_probabilities_by_the_ratio_of_shares(self, n_classes):
        columns, scores = draw(n_classes)
        before, after = PRIOR[n_classes], OTHER[n_classes]
        expected = softmax(columns, axis=1) * after / before
        expected /= expected.sum(axis=1, keepdims=True)
        assert_allclose(probabilities(shift_prior(scores, before, after)), expected, rtol=1e-10)
        assert shift_prior(scores.astype(np.float32), before, after).dtype == np.float32

    @any_classes
    def test_balanced_scores_are_those_of_equal_classes(self, n_classes):
        _, scores = draw(n_classes)
        before, equal = PRIOR[n_classes], np.full(n_classes, 1 / n_classes)
        expected = probabilities(shift_prior(scores, before, equal))
        assert_allclose(probabilities(balanced_scores(scores, before)), expected, rtol=1e-10)

    @any_classes
    @given(seed=st.integers(0, 1000), scale=st.sampled_from([0.1, 2.0, 30.0]))
    def test_a_shift_makes_the_mean_probability_the_prior(self, n_classes, seed, scale):
        _, scores = draw(n_classes, 40, seed, scale)
        shift = prior_shift(scores, PRIOR[n_classes])
        means = probabilities(scores + shift).mean(axis=0)
        assert_allclose(means, PRIOR[n_classes], atol=1e-6)
        if n_classes > 2:  # a constant added to all scores would change nothing
            assert abs(shift.mean()) < 1e-6


class TestDecisions:
    def test_of_two_classes_ties_are_negative(self):
        assert chosen_classes(np.array([-1.0, 0.0, 2.0])).tolist() == [0, 0, 1]

    def test_of_several_classes_the_largest_wins(self):
        assert chosen_classes(np.array([[0.0, 2.0, 1.0], [3.0, 2.0, 3.0]])).tolist() == [1, 0]


class TestSlopes:
    @any_classes
    def test_from_log_probabilities_to_scores(self, n_classes):
        """The chain rule, against differences of a smooth function of the log-probabilities."""
        _, scores = draw(n_classes)
        weights = np.random.default_rng(1).normal(size=(8, n_classes))

        def value(flat):
            return np.sum(np.sin(weights * log_probabilities(flat.reshape(scores.shape))))

        log_prob = log_probabilities(scores)
        slope = slope_in_scores(weights * np.cos(weights * log_prob), np.exp(log_prob))
        assert slope.shape == scores.shape
        assert_allclose(slope.ravel(), central_differences(value, scores.ravel()), atol=1e-7)

    @any_classes
    def test_of_the_likelihood_of_an_observation(self, n_classes):
        columns, scores = draw(n_classes)
        given_class = np.random.default_rng(2).uniform(size=(8, n_classes))
        given_class[0, 0] = 0.0
        with np.errstate(divide="ignore"):
            log_given = np.log(given_class)
        value, slope = likelihood_and_slope(scores, log_given)
        prob = softmax(columns, axis=1)
        assert_allclose(np.exp(value), (prob * given_class).sum(axis=1), rtol=1e-12)
        posterior = prob * given_class / (prob * given_class).sum(axis=1, keepdims=True)
        assert_allclose(posterior_of_slope(scores, slope), posterior, atol=1e-12)
        numeric = central_differences(
            lambda flat: likelihood_and_slope(flat.reshape(scores.shape), log_given)[0].sum(),
            scores.ravel(),
        )
        assert_allclose(slope.ravel(), numeric, atol=1e-7)

    def test_the_curvature_is_the_loss_of_variance(self):
        _, scores = draw(2)
        log_given = np.log(np.random.default_rng(2).uniform(size=(8, 2)))
        found = likelihood_curvature(scores, log_given)
        bend = central_differences(lambda f: likelihood_and_slope(f, log_given)[1], scores)
        assert_allclose(found, -np.diag(bend), atol=1e-7)

    def test_there_is_no_curvature_of_several_classes(self):
        with pytest.raises(ValueError, match=r"risk of 3 classes is not compatible with .*newton"):
            likelihood_curvature(np.zeros((2, 3)), np.zeros((2, 3)))

    @any_classes
    def test_of_the_likelihood_of_a_label(self, n_classes):
        columns, scores = draw(n_classes)
        labels = np.arange(8) % n_classes
        value, slope = label_likelihood_and_slope(scores, labels)
        expected = columns[np.arange(8), labels] - logsumexp(columns, axis=1)
        assert_allclose(value, expected, rtol=1e-10)
        away = np.eye(n_classes)[labels] - softmax(columns, axis=1)
        assert_allclose(slope, score_columns(away), atol=1e-12)


@any_classes
def test_a_mixture_of_models_mixes_probabilities(n_classes):
    members = [draw(n_classes, seed=seed)[1] for seed in range(3)]
    weights = np.array([0.2, 0.5, 0.3])
    expected = sum(w * probabilities(own) for w, own in zip(weights, members, strict=True))
    found = mix_scores(members, weights)
    assert found.shape == members[0].shape
    assert_allclose(probabilities(found), expected, rtol=1e-10)


def test_padding_is_a_row_that_is_never_positive():
    padded = with_padding(np.array([1.0, -2.0], dtype=np.float32))
    assert padded.dtype == np.float64
    assert padded.tolist() == [1.0, -2.0, -np.inf]
    assert expit(padded[-1]) == 0
    assert with_padding(np.zeros((2, 3))).shape == (2, 3)


def test_what_is_for_two_classes_only():
    only_two_classes(2, "pairing", "use something else")
    with pytest.raises(ValueError, match=r"Only binary .* by pairing, and y has 3 classes: use so"):
        only_two_classes(3, "pairing", "use something else")
