"""Dask estimators for bags with known label proportions."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.distributed.blocks import Blocks
from decorrupt.distributed.classifier import DaskClassifier, Outcome, sample_solution
from decorrupt.distributed.corrected import DaskCorrectedRiskClassifier
from decorrupt.distributed.counts import partition_counts
from decorrupt.distributed.data import LABELS, sources_and_labels
from decorrupt.distributed.partition import risk_and_error
from decorrupt.distributed.work import PartitionedRisk, Work
from decorrupt.estimators import (
    CorrectedLossClassifier,
    CountLikelihoodClassifier,
    MeanMapClassifier,
    needs_common_classes,
    rows_worth,
    warn_if_overfitted,
    warn_of_assumption,
)
from decorrupt.losses import prior_scores, same_constant
from decorrupt.observed import Observed, check_bags, class_columns
from decorrupt.risks import with_bag_effect
from decorrupt.solvers import Objective


class DaskBagClassifier(DaskClassifier):
    """A Dask estimator for bags; subclasses define `_problem` and `_finish`."""

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"bags": True, "sample_weight": True}

    def fit(self, X: Any, y: Any, *, bags: Any = None, sample_weight: Any = None) -> Self:
        """Train on bags with known proportions, or on labels.

        Parameters
        ----------
        X : Dask dataframe or array of shape (n_rows, n_columns)
            The rows. The blocks of an array may be sparse.
        y : name of a column of X, or Dask array with the chunks of X
            The proportion of positives in each row's bag. For several classes: a list of names,
            or an array with a column per class. Without `bags`: class labels.
        bags : as y, optional
            The bag of each row. All rows of a bag are in one partition, as after
            ``X.shuffle(on="bag")``.
        sample_weight : as y, optional
            How many rows each row represents; whole numbers in bags of several classes.

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ValueError
            As the estimator without Dask; also if partitions differ in width or dtype, or a bag
            is in several partitions.
        """
        self._train(X, y, bags, "bags", sample_weight=sample_weight)
        return self

    def _kind_of_targets(self, local: Any, blocks: Blocks) -> str:
        if blocks.ids is None:
            return LABELS
        return (
            "range" if blocks.has_upper else "noisy" if _count_noise(local) is not None else "exact"
        )

    def _observe(self, work: Work, **known: Any) -> Observed:  # noqa: ARG002
        data = work.data
        if data.lower is None:  # the rows of a class are a bag
            _, classes, codes = sources_and_labels(data)
            ids = np.array([f"label {label}" for label in classes[codes].tolist()])
            pure, rows = np.eye(len(classes))[codes], np.arange(len(ids))
            return Observed(np.asarray(classes), ids, rows, pure, weights=data.sizes)
        shares = class_columns(data.lower)
        names = data.blocks.classes
        classes = np.asarray(range(shares.shape[1]) if names is None else names)
        rows = np.arange(len(data.ids))
        table = Observed(classes, data.ids, rows, shares, weights=data.sizes)
        observed = table.with_counts(data.upper, _count_noise(work.local))
        given = observed.proportions if data.lower.ndim == 2 else observed.proportions[:, 1]
        check_bags(data.sizes, given, classes.tolist())
        return observed

    def _warn_of_assumptions(self, work: Work, observed: Observed) -> None:
        """Warn if the rows of a class clearly differ between the bags of the sample."""
        if work.data.lower is None or not needs_common_classes(work.local):
            return
        rows, sample = work.sample.rows, work.sample.observed(observed)
        user, names = type(self).__name__, getattr(work.local, "feature_names_in_", None)
        warn_of_assumption(work.local, rows, sample, user=user, names=names)


def _count_noise(local: Any) -> Any:
    return getattr(local, "count_noise", None)


class DaskCorrectedLossClassifier(DaskCorrectedRiskClassifier, DaskBagClassifier):
    """:class:`decorrupt.CorrectedLossClassifier` over the partitions of Dask data.

    min_f Σ_k a_k·mean_k ℓ(f,1) + b_k·mean_k ℓ(f,−1) + λ‖f‖², over partitions.

    The same problem and solution as :class:`decorrupt.CorrectedLossClassifier` with the same
    features. One pass finds the bags' sizes and proportions, which give the coefficients of every
    row.

    Parameters
    ----------
    client : Client or None, default=None
        A ``dask.distributed`` client. None: the current client of this process, or Dask's threads
        if there is none.
    kernel : str, callable or Kernel, default="rbf"
        As in :class:`decorrupt.CorrectedLossClassifier`; not precomputed, knn or pca_…, which need
        all rows at once. ``Kernel(max_rank=512)``, the default, is the largest number of landmarks,
        which are chosen from a sample of 20,000 rows. Features are kept in memory if they fit into
        40 % of the workers' memory, or a quarter of this machine's; otherwise the rows if they fit;
        otherwise the rows are read in every pass.
    max_iter : int, default=1000
        Maximum number of iterations; an iteration takes one or two passes over the data.
    loss, kernel_gamma, reg_strength, combine, class_prior, decision, \
risk_correction, fit_intercept, tol, random_state
        As in :class:`decorrupt.CorrectedLossClassifier`. The solver is L-BFGS; whether it stopped
        at a minimum is not checked, and the assumptions are checked on a sample of 20,000 rows.

    Attributes
    ----------
    n_passes_ : int
        Passes over the data: those of the solver, and three for the bags, a sample and the
        diagnostics.
    classes_, diagnostics_, class_prior_, decision_threshold_, dual_coef_, landmarks_, coef_, \
intercept_, kernel_gamma_, reg_strength_, n_iter_, \
n_features_in_, feature_names_in_
        As in :class:`decorrupt.CorrectedLossClassifier`.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from decorrupt import bag_targets
    >>> from decorrupt.distributed import DaskCorrectedLossClassifier
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 400)                  # not used in training
    >>> X = rng.normal(size=(400, 2)) + 2 * labels[:, None]
    >>> bags = np.arange(400) // 10
    >>> y = bag_targets(bags, {bag: labels[bags == bag].mean() for bag in range(40)})
    >>> X, y, bags = (da.from_array(values, chunks=100) for values in (X, y, bags))
    >>> model = DaskCorrectedLossClassifier(kernel="linear", reg_strength=0.01).fit(X, y, bags=bags)
    >>> bool((model.predict(X).compute() == labels).mean() > 0.85)
    True
    """

    _twin = CorrectedLossClassifier


class DaskMeanMapClassifier(DaskCorrectedRiskClassifier, DaskBagClassifier):
    """:class:`decorrupt.MeanMapClassifier` over the partitions of Dask data.

    min_θ (1/n)·Σ_j log(2·cosh(f_j/2)) − ½⟨θ, m̂⟩ + λ‖θ‖², over partitions.

    The same problem and solution as :class:`decorrupt.MeanMapClassifier` with the same features.

    Parameters
    ----------
    client, kernel, max_iter
        As in :class:`DaskCorrectedLossClassifier`.
    kernel_gamma, reg_strength, fit_intercept, decision, tol, random_state
        As in :class:`decorrupt.MeanMapClassifier`; the assumptions are checked on a sample of
        20,000 rows.

    Attributes
    ----------
    n_passes_ : int
        Passes over the data.
    classes_, class_prior_, decision_threshold_, dual_coef_, landmarks_, coef_, \
intercept_, kernel_gamma_, reg_strength_, n_iter_, n_features_in_, \
feature_names_in_
        As in :class:`decorrupt.MeanMapClassifier`.
    """

    _twin = MeanMapClassifier

    def _finish(
        self,
        work: Work,
        observed: Observed,  # noqa: ARG002
        partitioned: PartitionedRisk,  # noqa: ARG002
        outcome: Outcome,
    ) -> None:
        warn_if_overfitted(*risk_and_error(outcome.reports, work.data))


class DaskCountLikelihoodClassifier(DaskBagClassifier):
    """:class:`decorrupt.CountLikelihoodClassifier` over the partitions of Dask data.

    min_f −(1/n)·Σ_k log P(Σ_{j∈k} Y_j = c_k) + λ‖f‖², over partitions.

    The same problem as :class:`decorrupt.CountLikelihoodClassifier` with the same features. The
    solver starts at the best solution for a sample of the bags.

    Parameters
    ----------
    client, kernel, max_iter
        As in :class:`DaskCorrectedLossClassifier`.
    kernel_gamma, reg_strength, large_bags, count_noise, bag_effect, fit_intercept, \
decision, tol, random_state
        As in :class:`decorrupt.CountLikelihoodClassifier`; bag_effect="estimate" uses the sample.

    Attributes
    ----------
    n_passes_ : int
        Passes over the data.
    log_likelihood_ : float
        Σ_k log P(c_k) at the solution.
    bag_effect_ : float
        The standard deviation of the bag effect, given or estimated.
    classes_, class_prior_, decision_threshold_, dual_coef_, landmarks_, coef_, \
intercept_, kernel_gamma_, reg_strength_, n_iter_, n_features_in_, \
feature_names_in_
        As in :class:`decorrupt.CountLikelihoodClassifier`.
    """

    _twin = CountLikelihoodClassifier
    __metadata_request__fit: ClassVar[dict[str, bool]] = {
        "bags": True,
        "upper": True,
        "sample_weight": True,
    }

    def fit(
        self, X: Any, y: Any, *, bags: Any = None, upper: Any = None, sample_weight: Any = None
    ) -> Self:
        """Train on bags with known, rounded, noisy or bounded proportions, or on labels.

        Parameters
        ----------
        X, y, bags, sample_weight
            As in :meth:`DaskCorrectedLossClassifier.fit`.
        upper : as y, optional
            The upper end of the range of each row's bag; y is then the lower end. As in
            :meth:`decorrupt.CountLikelihoodClassifier.fit`.

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ValueError
            As in :meth:`DaskCorrectedLossClassifier.fit`; also if a range contains no whole number
            of rows.
        """
        self._train(X, y, bags, "bags", upper=upper, sample_weight=sample_weight)
        return self

    def _problem(self, work: Work, observed: Observed) -> PartitionedRisk:
        local = work.local
        work.set_reg_strength(observed.n_rows)
        local.bag_effect_ = self._effect(work, observed)
        table = with_bag_effect(observed, local.bag_effect_)
        work.set_reg_strength(rows_worth(table))
        if work.data.lower is not None:
            # Rounded shares are read with the digits of all of them, not per partition.
            table = replace(table, inexact=table.counts)
        return partition_counts(work, table, local.large_bags)

    def _effect(self, work: Work, observed: Observed) -> float:
        local = work.local
        effect = local.effect_of(observed)
        if effect == "estimate":
            sample = work.sample.observed(observed)
            effect = local.estimate_effect(sample, work.sample_features, local.reg_strength_)
        return float(effect)

    def _start(self, work: Work, observed: Observed, penalised: Objective) -> FloatArray:
        known = copy(work.local).set_params(bag_effect=work.local.bag_effect_)
        start = sample_solution(work, observed, known)
        _, intercept = penalised.split(start)
        intercept[...] = same_constant(intercept, prior_scores(observed.class_prior))
        return start

    def _finish(
        self,
        work: Work,
        observed: Observed,
        partitioned: PartitionedRisk,  # noqa: ARG002
        outcome: Outcome,
    ) -> None:
        shares = None
        if observed.is_inexact or work.local.bag_effect_:
            sums = np.sum([report.expected for report in outcome.reports], axis=0)
            shares = sums / observed.n_rows
        work.local.describe_counts(observed, outcome.risk, shares)
