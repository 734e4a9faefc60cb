"""Forward correction: maximum likelihood of noisy labels from sources with known rates."""

from __future__ import annotations

from decorrupt.estimators._estimator import estimator
from decorrupt.estimators.kernel_classifier import KernelClassifier
from decorrupt.estimators.sources import SourceFitMixin
from decorrupt.observed import Observed
from decorrupt.risks import noisy_label_risk
from decorrupt.solvers import Problem, prior_start


@estimator
class ForwardSourcesClassifier(SourceFitMixin, KernelClassifier):
    """Kernel classifier that makes the noisy labels of several sources most likely.

    It minimises −(1/n)·Σ_j log P_i(ỹ_j | x_j) + λ‖f‖² over rows j of all sources i. σ(f) is
    P(Y=1|x) among the training rows of all sources together; for several classes softmax(f)_c is
    P(Y=c|x), and the penalty is 2λ‖f‖². The class prior π_i of a source gives P_i(y|x) ∝
    P(y|x)·π_i(y)/π(y), and its flip rates T_i give P_i(ỹ|x) = Σ_y T_i(y, ỹ)·P_i(y|x).

    The objective is bounded below and weights the sources by their information; there are no
    weights to choose. It assumes that the model can represent P(Y=1|x); the corrected loss of
    :class:`CorruptedSourcesClassifier` is unbiased without this assumption. It is not convex; the
    solver starts from the score of the prior. With one source and without priors it is the forward
    correction of Patrini et al. (2017).

    After training the intercept is shifted so that the mean probabilities of the training rows are
    their known class shares. Otherwise the probabilities of a penalised fit are often far off: the
    penalty moves the scores to where the sigmoid is steepest.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        Seed of the kernel's random pivots, and of estimated noise rates.

    Attributes
    ----------
    class_prior_ : ndarray of shape (n_classes,)
        The class shares among the training rows, computed from `source_priors_`.

    See Also
    --------
    CorruptedSourcesClassifier : Unbiased for any model, with a corrected loss.
    CostWeightedSourcesClassifier : Any learner with weights for noisy labels.
    AutoSourcesClassifier : Compares the methods for sources on held-out rows and averages them.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import ForwardSourcesClassifier
    >>> from decorrupt.corruption import corrupt_labels
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 600)                  # not used in training
    >>> X = rng.normal(size=(600, 2)) + 2 * labels[:, None]
    >>> sources = np.where(np.arange(600) < 300, "nurse", "rule")
    >>> rates = {"nurse": (0.05, 0.1), "rule": (0.4, 0.2)}
    >>> noisy = corrupt_labels(labels, [rates[source] for source in sources], random_state=0)
    >>> model = ForwardSourcesClassifier(reg_strength=0.01, random_state=0)
    >>> model = model.fit(X, noisy, sources=sources, noise_rates=rates)
    >>> bool(model.score(X, labels) > 0.85)
    True
    """

    def problem(self, observed: Observed) -> Problem:
        """Return the likelihood of the noisy labels."""
        prior = observed.class_prior
        risk = noisy_label_risk(observed, prior)
        return Problem(risk, observed.n_rows, prior_start(prior), match_prior=prior)
