"""The default λ: a Gaussian prior on the log-odds, for any kernel and any number of rows."""

from __future__ import annotations

from collections.abc import Callable

AUTO = "auto"
# C, the variance of the log-odds before training: log-odds of ±3 (probabilities of .05 and .95) are
# within one standard deviation for counts, within two for noisy labels. Both were decided on the
# data sets of benchmarks/default_strength.py, by balanced accuracy and log loss of test rows; see
# docs/evidence/penalty.md.
COUNT_PRIOR_VARIANCE = 10.0
NOISY_PRIOR_VARIANCE = 3.0


def resolve_reg_strength(
    reg_strength: float | str,
    *,
    prior_variance: float,
    n_rows: float,
    kernel_size: Callable[[], float],
) -> float:
    """Return λ as a number; "auto" is λ = s/(2·C·n).

    The mean loss of n labelled rows plus λ‖f‖² is 1/n times the negative log-posterior of f under a
    Gaussian prior with covariance k/(2λn). With this λ the prior variance of f(x) is C, on average
    over the rows. scikit-learn's LogisticRegression(C/s) has the same prior with kernel="linear".

    Parameters
    ----------
    reg_strength : float or "auto"
        The parameter of the estimator.
    prior_variance : float
        C.
    n_rows : float
        n, the number of labelled rows that the data are worth. A mean negative log-likelihood
        accounts for the information in the observations: n is the number of rows. A corrected risk
        is an unbiased but noisier estimate of the mean loss: n is its effective sample size, 4V for
        bags in a superbag (:func:`decorrupt.theory.information`).
    kernel_size : callable
        Returns s, the mean of k(x, x); called for "auto" only.
    """
    if reg_strength == AUTO:
        return kernel_size() / (2 * prior_variance * n_rows)
    return float(reg_strength)
