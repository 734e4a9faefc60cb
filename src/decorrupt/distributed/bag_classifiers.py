"""Dask estimators for bags with known label proportions."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.corruption import check_class_strata, check_strata
from decorrupt.corruption.mean_operator import bag_sums
from decorrupt.corruption.strata import BagTable, strata_from_labels, two_classes
from decorrupt.distributed.blocks import Block, Blocks
from decorrupt.distributed.classifier import DaskClassifier, Outcome, Problem, Work
from decorrupt.distributed.corrected import (
    bag_coef,
    corrected_partitions,
    effective_sample_size,
    finish_corrected,
    refuse_unbounded,
)
from decorrupt.distributed.counts import count_problem
from decorrupt.distributed.engine import Engine
from decorrupt.distributed.partition import CHUNK_ROWS
from decorrupt.distributed.summary import BlockCells, Data, read_bags, read_cells
from decorrupt.estimators import (
    CorrectedLossClassifier,
    CountLikelihoodClassifier,
    MeanMapClassifier,
)
from decorrupt.estimators.bag_assumptions import common_classes_notices
from decorrupt.estimators.corrected_loss import AT_THE_MEAN, IDLE_REASONS
from decorrupt.estimators.diagnostics import dropped_strata
from decorrupt.estimators.priors import log_prior
from decorrupt.losses import get_loss
from decorrupt.notices import emit_notices
from decorrupt.risks.bag_effect import (
    check_no_effect_with_ranges,
    observe_with_effect,
    with_bag_effect,
)
from decorrupt.risks.bag_observations import observe_class_counts, observe_strata
from decorrupt.risks.observations import observe_counts
from decorrupt.solvers.count_path import check_solver, starts_to_try

# The start needs few digits; the tolerance is that of the objective per row.
START_TOL = 1e-6


class DaskBagClassifier(DaskClassifier):
    """A Dask estimator for bags; subclasses define `_problem` and `_finish`."""

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"bags": True}

    def fit(self, X: Any, y: Any, *, bags: Any = None) -> Self:
        """Train on bags with known proportions, or on labels.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_rows, n_columns)
            The rows. The blocks of an array may be sparse.
        y : Dask array or series, or the name of a column of X
            The proportion of positives in each row's bag. For several classes: an array or
            dataframe with a column per class, or a list of names of columns of X. Without `bags`:
            class labels.
        bags : Dask array or series, or the name of a column of X, optional
            The bag of each row; a bag may be in several partitions.

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ValueError
            As the estimator without Dask; also if partitions differ in width or dtype, the
            proportion of a bag differs between partitions, or the scheduler cannot be reached.
        OSError
            If rows that do not fit in memory cannot be written to the scratch folder.
        """
        emit_notices(self._train(X, y, bags, "bags"))
        return self

    def _check(self, local: Any) -> None:
        super()._check(local)
        local._check_parameters()

    def _note_assumptions(self, work: Work, local: Any) -> None:
        """Note whether the rows of a class clearly differ between the bags of the sample."""
        if work.data.cells is not None or not local.check_assumptions:
            return
        strata, names = work.sample.strata(work.data.table), work.data.blocks.columns
        for notice in common_classes_notices(work.sample.rows, strata, type(self).__name__, names):
            local._note(notice.category, notice.message)

    def _read(self, engine: Engine, local: Any, blocks: Blocks) -> Data:
        if blocks.has_ids:
            is_noisy = getattr(local, "count_noise", None) is not None
            data = read_bags(engine, blocks, is_noisy=is_noisy)
            table, local.classes_ = self._with_classes(data, local)
            data = replace(data, table=table)
        else:
            data = read_cells(engine, blocks, _label_table)
            local.classes_ = data.cells.classes  # type: ignore[union-attr]
        table = data.table
        if table.n_classes is not None:
            local._check_several_classes(table.n_classes)
        local.score_prior_ = local._score_prior(table)
        local.decision_threshold_ = local._threshold(local.score_prior_)
        return data

    def _with_classes(self, data: Data, local: Any) -> tuple[BagTable, NDArray[Any]]:
        """Return the bags, with one proportion each if there are two classes, and the classes."""
        given, names = data.table, data.blocks.classes
        classes = np.asarray(range(given.n_classes or 2) if names is None else names)
        # The lower ends of two classes are kept apart: they need not sum to 1.
        table = self._observe(
            given if data.upper is not None else two_classes(given), data.upper, local
        )
        if table.n_classes is None:
            check_strata(table.sizes, table.proportions)
        else:
            check_class_strata(table.sizes, table.proportions, classes.tolist())
        return table, classes

    def _observe(self, table: Any, upper: Any, local: Any) -> Any:  # noqa: ARG002
        """Return the bags with what is known about their counts, if the method uses counts."""
        return table

    def _start(self, work: Work, local: Any, problem: Problem) -> FloatArray:  # noqa: ARG002
        """Return the solution for the sample; zero if its bags do not distinguish the classes."""
        rank, columns = work.fitted.rank, np.shape(local.score_prior_)
        strata = work.sample.strata(work.data.table)
        try:
            path = local.fit_path(
                work.sample_features, strata, [local.reg_strength_], objective_tol=START_TOL
            )
        except ValueError:
            return np.zeros((rank + local.fit_intercept, *columns)).ravel()
        start = path.coefs[:, 0]
        if local.fit_intercept:
            start = np.concatenate([start, path.intercepts[:1]])
        return np.asarray(start, dtype=float).ravel()


def _label_table(cells: BlockCells) -> BagTable:
    strata = strata_from_labels(np.arange(len(cells.classes)), cells.classes)
    return BagTable.of(strata.ids, strata.proportions, cells.counts[0])


class DaskCorrectedLossClassifier(DaskBagClassifier):
    """min_f Σ_k a_k·mean_k ℓ(f,1) + b_k·mean_k ℓ(f,−1) + λ‖f‖², over partitions.

    The same problem and solution as :class:`decorrupt.CorrectedLossClassifier` with the same
    features. One pass finds the bags' sizes and proportions, which give the coefficients of every
    row; rows are not shuffled.

    Parameters
    ----------
    client : Client, cluster, str or None, default=None
        A ``dask.distributed`` client, a cluster, or the address of a scheduler. None: the current
        client of this process, or Dask's threads if there is none.
    n_features : int, default=512
        The number of random features or the largest number of landmarks; `max_rank` of the
        kernel can only lower it. Landmarks are chosen from a sample of 20,000 rows.
    max_passes : int, default=1000
        The largest number of passes over the data that the solver makes.
    kernel : str, callable or Kernel, default="rbf"
        As in :class:`decorrupt.CorrectedLossClassifier`; not precomputed, knn or pca_…, which need
        all rows at once. ``Kernel(memory_budget="2GB")`` is what partitions kept in memory may
        take in all workers together: features are kept if they fit, otherwise the rows if they
        fit; otherwise the rows are read in every pass. None: 40 % of the workers' memory, or a
        quarter of this machine's memory.
    loss, kernel_gamma, reg_strength, combine, target_prior, decision, convex, \
risk_correction, fit_intercept, solver, tol, max_iter, random_state, check_assumptions
        As in :class:`decorrupt.CorrectedLossClassifier`. The solver is L-BFGS; convex="check" does
        not look for points that are not minima, and the assumptions are checked on a sample of
        20,000 rows.

    Attributes
    ----------
    n_passes_ : int
        Passes over the data: those of the solver, and three for the bags, a sample and the
        diagnostics.
    classes_, diagnostics_, score_prior_, decision_threshold_, dual_coef_, landmarks_, coef_, \
feature_coef_, frequencies_, intercept_, kernel_gamma_, reg_strength_, n_iter_, solver_, \
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

    def _problem(self, work: Work, local: Any) -> Problem:
        self._note_assumptions(work, local)
        table, loss = work.data.table, get_loss(local.loss)
        combination = local._combine(table)
        coef, dropped = bag_coef(combination, table), {}
        self._set_reg_strength(work, local, effective_sample_size(coef, table.sizes))
        refuse_unbounded(local, coef)
        if table.n_classes is None:
            reason = IDLE_REASONS.get(local.combine, AT_THE_MEAN)
            dropped = dropped_strata(table, combination, reason)
        parts = corrected_partitions(work, coef, loss, local.risk_correction)
        return Problem(parts, coef, local.risk_correction, dropped=dropped)

    def _finish(self, work: Work, local: Any, problem: Problem, outcome: Outcome) -> None:
        finish_corrected(work, local, problem, outcome, "bags")


class DaskMeanMapClassifier(DaskBagClassifier):
    """min_θ (1/n)·Σ_j log(2·cosh(f_j/2)) − ½⟨θ, m̂⟩ + λ‖θ‖², over partitions.

    The same problem and solution as :class:`decorrupt.MeanMapClassifier` with the same features.
    Rows are not shuffled. variant="laplacian" takes one more pass, for the means of the bags, and
    keeps one mean per bag in memory; variant="alternating" is not available.

    Parameters
    ----------
    client, n_features, max_passes
        As in :class:`DaskCorrectedLossClassifier`.
    variant, start, similarity, smoothness, max_rounds, kernel, kernel_gamma, reg_strength, \
fit_intercept, decision, solver, tol, max_iter, random_state, check_assumptions
        As in :class:`decorrupt.MeanMapClassifier`; the assumptions are checked on a sample of
        20,000 rows.

    Attributes
    ----------
    n_passes_ : int
        Passes over the data.
    classes_, score_prior_, decision_threshold_, dual_coef_, landmarks_, coef_, feature_coef_, \
frequencies_, intercept_, kernel_gamma_, reg_strength_, n_iter_, solver_, n_features_in_, \
feature_names_in_
        As in :class:`decorrupt.MeanMapClassifier`.
    """

    _twin = MeanMapClassifier

    def _check(self, local: Any) -> None:
        super()._check(local)
        if local.variant == "alternating":
            raise ValueError(
                "variant='alternating' labels all rows of a bag at once and is not available with "
                "Dask: choose 'mean' or 'laplacian', or DaskCountLikelihoodClassifier"
            )

    def _problem(self, work: Work, local: Any) -> Problem:
        self._note_assumptions(work, local)
        table = work.data.table
        combination = local._combination(local.variant, table, lambda: _bag_means(work))
        coef = bag_coef(combination, table)
        self._set_reg_strength(work, local, effective_sample_size(coef, table.sizes))
        local._refuse_unbounded(table)
        return Problem(corrected_partitions(work, coef, get_loss("logistic")), coef)

    def _finish(self, work: Work, local: Any, problem: Problem, outcome: Outcome) -> None:
        finish_corrected(work, local, problem, outcome, None)


def _bag_means(work: Work) -> FloatArray:
    """Return the mean features of every bag, shape (n_bags, rank)."""
    data, delayed = work.data, work.engine.dask.delayed
    features = delayed(work.features)
    tasks = [
        delayed(_bag_sums)(block, data.codes_of, features, len(bags), work.fitted.rank)
        for block, bags in zip(data.blocks.tasks, data.bags_of, strict=True)
    ]
    sums = np.zeros((len(data.table.ids), work.fitted.rank))
    for part, bags in zip(work.engine.compute(tasks), data.bags_of, strict=True):
        np.add.at(sums, bags, part)
    return np.asarray(sums / data.table.sizes[:, None])


def _bag_sums(block: Block, codes_of: Any, features: Any, n_bags: int, rank: int) -> FloatArray:
    sums = np.zeros((n_bags, rank))
    if not n_bags or not block.rows.shape[0]:
        return sums
    codes = codes_of(block)
    for start in range(0, len(codes), CHUNK_ROWS):
        some = slice(start, start + CHUNK_ROWS)
        sums += bag_sums(features.transform(block.rows[some]), codes[some], n_bags)
    return sums


class DaskCountLikelihoodClassifier(DaskBagClassifier):
    """min_f −(1/n)·Σ_k log P(Σ_{j∈k} Y_j = c_k) + λ‖f‖², over partitions.

    The same problem as :class:`decorrupt.CountLikelihoodClassifier` with the same features. The
    likelihood needs all rows of a bag: if bags cross partitions, the rows are shuffled once, and
    kept in memory or in a scratch folder. A bag with more rows than the largest partition (and
    more than 256) is never brought together: its count has a normal approximation with the mean
    Σp and the variance Σp(1−p) + 1/12, and an evaluation takes two passes; noise adds its
    variance. Only bags with a range (`upper`) are brought together whatever their size. Bags with
    one class only need no shuffle. The solver starts at the best solution for a sample of the bags.

    Parameters
    ----------
    client, n_features, max_passes
        As in :class:`DaskCorrectedLossClassifier`.
    kernel, kernel_gamma, reg_strength, large_bags, count_noise, bag_effect, starts, \
fit_intercept, decision, solver, tol, max_iter, random_state
        As in :class:`decorrupt.CountLikelihoodClassifier`; `starts` are those of the sample's fit,
        in which a range counts as its middle, and bag_effect="estimate" uses the sample.

    Attributes
    ----------
    n_passes_ : int
        Passes over the data.
    log_likelihood_ : float
        Σ_k log P(c_k) at the solution.
    bag_effect_ : float
        The standard deviation of the bag effect, given or estimated.
    n_large_bags_ : int
        The number of bags that are larger than a partition.
    classes_, score_prior_, decision_threshold_, dual_coef_, landmarks_, coef_, feature_coef_, \
frequencies_, intercept_, kernel_gamma_, reg_strength_, n_iter_, solver_, n_features_in_, \
feature_names_in_
        As in :class:`decorrupt.CountLikelihoodClassifier`.
    """

    _twin = CountLikelihoodClassifier
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"bags": True, "upper": True}

    def fit(self, X: Any, y: Any, *, bags: Any = None, upper: Any = None) -> Self:
        """Train on bags with known, rounded, noisy or bounded proportions, or on labels.

        Parameters
        ----------
        X, y, bags
            As in :meth:`DaskCorrectedLossClassifier.fit`.
        upper : Dask array or series, or the name of a column of X, optional
            The upper end of the range of each row's bag; y is then the lower end. As in
            :meth:`decorrupt.CountLikelihoodClassifier.fit`.

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ValueError, OSError
            As in :meth:`DaskCorrectedLossClassifier.fit`; also if a range contains no whole number
            of rows.
        """
        emit_notices(self._train(X, y, bags, "bags", upper))
        return self

    def _check(self, local: Any) -> None:
        super()._check(local)
        starts_to_try(local.starts, several_classes=False)
        check_solver(local.solver)

    def _observe(self, table: Any, upper: Any, local: Any) -> Any:
        check_no_effect_with_ranges(local.bag_effect, upper)
        shares, observed = observe_strata(table, upper=upper, count_noise=local.count_noise)
        return replace(shares, observed=observed)

    def _problem(self, work: Work, local: Any) -> Problem:
        table = work.data.table
        noise = local.count_noise if work.data.cells is None else None
        self._set_reg_strength(work, local, work.data.columns.n_rows)
        local.bag_effect_ = self._effect(work, local)
        total, observed = with_bag_effect(table, noise, local.bag_effect_), table.observed
        if local.bag_effect_:
            observed = observe_with_effect(table, observed, total)
        if observed is None:
            observe = observe_counts if table.n_classes is None else observe_class_counts
            observed = observe(table, count_noise=total)
        parts, large_bags = count_problem(work, observed, local.large_bags)
        local._note_rounded(table, table.observed, noise)
        is_vague = noise is not None or work.data.upper is not None
        return Problem(parts, large_bags=large_bags, is_vague=is_vague)

    def _effect(self, work: Work, local: Any) -> float:
        if work.data.cells is not None:  # labels have none
            return 0.0
        strata = work.sample.strata(work.data.table)
        options = {"objective_tol": START_TOL, **local._solver_options()}
        found = local._effect(
            work.sample_features, strata, local.reg_strength_, options, local.count_noise
        )
        return float(found)

    def _start(self, work: Work, local: Any, problem: Problem) -> FloatArray:
        known = copy(local).set_params(bag_effect=local.bag_effect_)
        start = super()._start(work, known, problem)
        if work.data.table.n_classes is not None and local.fit_intercept:
            # A constant added to all scores changes nothing; it is that of the local estimator.
            intercepts = start[-work.data.table.n_classes :]
            intercepts += log_prior(local.score_prior_).mean() - intercepts.mean()
        return start

    def _finish(self, work: Work, local: Any, problem: Problem, outcome: Outcome) -> None:
        n_rows = work.data.columns.n_rows
        local.log_likelihood_ = -outcome.risk * n_rows
        if problem.is_vague:
            shares = np.sum([report.expected for report in outcome.reports], axis=0) / n_rows
            local._set_prior(shares if work.data.table.n_classes else shares[1])
        local.start_ = "sample"
        large = problem.large_bags
        local.n_large_bags_ = 0 if large is None else len(large.codes)
