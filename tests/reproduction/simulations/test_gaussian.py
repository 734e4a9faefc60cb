"""Gaussian classes: closed forms against integration and sampling."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from decorrupt.losses import get_loss
from reproduction.simulations.gaussian import GaussianClasses


@pytest.mark.parametrize("mean", [0.3, 1.0, 2.0])
class TestOnTheLine:
    def test_bayes_risk_is_an_integral(self, mean):
        def integrand(x):
            return norm.pdf(x, loc=mean) * np.logaddexp(0, -2 * mean * x)

        expected, _ = quad(integrand, -15, 15, epsabs=1e-13)
        assert GaussianClasses((mean,)).bayes_risk == pytest.approx(expected, rel=1e-9)

    def test_bayes_error_is_an_integral(self, mean):
        def integrand(x):
            return 0.5 * min(norm.pdf(x, loc=mean), norm.pdf(x, loc=-mean))

        expected = quad(integrand, -15, 0)[0] + quad(integrand, 0, 15)[0]
        assert GaussianClasses((mean,)).bayes_error == pytest.approx(expected, rel=1e-9)

    def test_cells_agree_with_the_closed_forms(self, mean):
        classes = GaussianClasses((mean,))
        for slope, intercept in [(2 * mean, 0.0), (1.0, 0.7), (-3.0, 0.2)]:

            def score(points, slope=slope, intercept=intercept):
                return slope * points[:, 0] + intercept

            assert classes.score_risk(score) == pytest.approx(
                classes.linear_risk([slope], intercept), rel=1e-5
            )
            assert classes.score_error(score) == pytest.approx(
                classes.linear_error([slope], intercept), abs=1e-3
            )

    def test_nothing_beats_the_bayes_score(self, mean):
        classes = GaussianClasses((mean,))
        risks = [classes.linear_risk([s], b) for s in np.linspace(0, 6, 13) for b in (-0.3, 0, 0.3)]
        assert min(risks) >= classes.bayes_risk - 1e-12


class TestInThePlane:
    classes = GaussianClasses((0.6, -0.8))

    def test_the_distance_decides(self):
        assert self.classes.bayes_error == GaussianClasses((1.0,)).bayes_error

    @pytest.mark.parametrize("loss", ["logistic", "sigmoid", "squared"])
    def test_linear_risk_and_error_against_draws(self, loss):
        rng = np.random.default_rng(0)
        labels = np.repeat([1, -1], 200_000)
        scores = self.classes.draw(labels, rng) @ [1.0, 0.5] + 0.3
        values = get_loss(loss).value(labels * scores)
        found = self.classes.linear_risk([1.0, 0.5], 0.3, loss=get_loss(loss))
        assert found == pytest.approx(values.mean(), abs=5 * values.std() / np.sqrt(len(labels)))
        error = np.mean(labels * scores < 0)
        assert self.classes.linear_error([1.0, 0.5], 0.3) == pytest.approx(error, abs=4e-3)
