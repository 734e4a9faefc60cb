"""Boosted trees on bags, with LightGBM."""

from __future__ import annotations

import math
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from decorrupt._typing import FloatArray
from decorrupt.corruption import quick_violation
from decorrupt.estimators import check_two_or_more
from decorrupt.losses import prior_scores, score_shape
from decorrupt.meta.folds import Fold, bag_folds, seed
from decorrupt.meta.objective import gradient_and_hessian
from decorrupt.meta.observed_classifier import ObservedClassifier
from decorrupt.meta.start import check_numbers, fit_columns, fit_start, make_columns
from decorrupt.observed import Observed
from decorrupt.progress import log_step, track
from decorrupt.risks import LabelLikelihood

# A fold stops after this many rounds without a better held-out likelihood.
PATIENCE = 50
# A leaf needs at most this part of few rows; otherwise no tree would have a split.
LEAF_PARTS = 5


class BoostedCountClassifier(ObservedClassifier):
    """Boosted trees that make the known counts of bags, or noisy labels, most likely.

    The log-odds are f = start(x) + Σ_t η·tree_t(x), with trees fitted to g = p − w with the Hessian
    bound p(1−p). w_j = P(Y_j=1 | observation) is the label posterior, so g is the gradient of the
    negative count likelihood in the log-odds of row j. p(1−p) is an upper bound of the Hessian, so
    that the Newton step of a tree is a descent step. Several classes have one tree per class and
    round. The start is the constant logit(π), where the rows of a class look the same in every bag
    (a test at the 1 % level); otherwise, for example in bags formed by a column, trees cannot
    extrapolate to held-out bags, and it is the start of :class:`EMClassifier`, a linear or an rbf
    model. Needs LightGBM: ``pip install "decorrupt[boosting]"``.

    Parameters
    ----------
    n_estimators : int, default=400
        The largest number of rounds; the number without early stopping.
    learning_rate : float, default=0.05
        η.
    num_leaves : int, default=8
        The most leaves of a tree.
    early_stopping : bool, default=True
        Whether the number of rounds is chosen by the likelihood of held-out bags: it is the round
        with the largest sum over the folds.
    min_child_samples : int, default=40
        The fewest rows of a leaf, with weights about so many; at most a fifth of the rows.
    subsample, colsample_bytree : float in (0, 1], default=0.8
        The share of rows and of columns that each tree uses.
    reg_lambda : float, default=0.0
        L2 penalty of the leaves.
    cv : int, default=5
        Number of folds of whole bags for early stopping; fewer if there are fewer bags.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in the population of the
        training rows.
    random_state : int, RandomState or None
        Seed of folds and trees.
    count_noise : GaussianNoise, LaplaceNoise, GeometricNoise, float, mapping or None, default=None
        Noise in the counts of the bags, see :func:`label_posterior`.
    n_jobs : int or None
        Threads of LightGBM; None: all.

    Attributes
    ----------
    n_estimators_ : int
        The number of rounds.
    held_out_log_likelihood_ : ndarray of shape (n_rounds,), optional
        Σ log P(observation) of held-out bags after each round, with early stopping.
    model_text_ : str
        The trees, in LightGBM's text format.
    intercept_ : float or ndarray of shape (n_classes,)
        logit(π), or log π of several classes: the constant start.
    start_ : LikelihoodStart or None
        The fitted start, if it is not the constant; `columns_` is the transformer of its columns.
    class_prior_ : ndarray of shape (n_classes,)
        π, the class shares among the training rows.
    classes_ : ndarray of shape (n_classes,)
        After training on bags: the column names of y, or 0, 1, …; otherwise the labels. Of two
        classes the second is the positive class.
    decision_threshold_ : float or ndarray of shape (n_classes,)
        What `predict` subtracts from the log-odds.
    n_features_in_, feature_names_in_
        Columns seen in fit.

    See Also
    --------
    count_objective : The same objective for your own XGBoost or LightGBM model.
    EMClassifier : Any learner, fitted to the posteriors of the labels.
    CountLikelihoodClassifier : The same likelihood of the counts, with kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import BoostedCountClassifier
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 600)                  # not used in training
    >>> X = rng.normal(size=(600, 2)) + 2 * labels[:, None]
    >>> bags = np.arange(600) // 10
    >>> y = np.bincount(bags, labels)[bags] / 10
    >>> model = BoostedCountClassifier(n_estimators=100, cv=3, random_state=0)
    >>> bool(model.fit(X, y, bags=bags).score(X, labels) > 0.85)
    True
    """

    def __init__(
        self,
        n_estimators: int = 400,
        learning_rate: float = 0.05,
        num_leaves: int = 8,
        early_stopping: bool = True,
        *,
        min_child_samples: int = 40,
        subsample: float = 0.8,
        colsample_bytree: float = 0.8,
        reg_lambda: float = 0.0,
        cv: int = 5,
        decision: str = "balanced",
        random_state: Any = None,
        count_noise: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.early_stopping = early_stopping
        self.min_child_samples = min_child_samples
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.reg_lambda = reg_lambda
        self.cv = cv
        self.decision = decision
        self.random_state = random_state
        self.count_noise = count_noise
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        import_lightgbm()

    def _fit_observed(
        self, X: Any, likelihood: LabelLikelihood, random: np.random.RandomState
    ) -> None:
        rows = _as_trees_take_them(X)
        settings = self._settings(likelihood.observed, seed(random))
        self.__dict__.pop("held_out_log_likelihood_", None)
        self.n_estimators_ = self.n_estimators
        check_two_or_more("cv", self.cv)
        folds = bag_folds(likelihood.observed, self.cv, random)
        self.intercept_ = prior_scores(likelihood.class_prior)
        start = self._fit_start(X, likelihood, folds, settings["seed"])
        if self.early_stopping:
            self.held_out_log_likelihood_ = self._held_out(rows, likelihood, start, folds, settings)
            self.n_estimators_ = int(self.held_out_log_likelihood_.argmax()) + 1
            log_step(f"early stopping chose {self.n_estimators_} rounds")
        booster, scores = _boost(rows, likelihood, start, self.n_estimators_, settings)
        self.model_text_ = booster.model_to_string()
        self._booster = import_lightgbm().Booster(model_str=self.model_text_)
        self._note_one_class(scores)

    def _fit_start(
        self, X: Any, likelihood: LabelLikelihood, folds: list[Fold], random_state: int
    ) -> FloatArray:
        """Fit the start; return its scores, of a model those of held-out rows."""
        observed = likelihood.observed
        self.columns_: Any = None
        self.start_: Any = None
        shape = (len(observed.row_bag), *score_shape(observed.n_classes))
        constant: FloatArray = np.zeros(shape) + self.intercept_
        if observed.sources is not None or observed.is_inexact:
            return constant
        columns = make_columns(X)
        fit_columns(columns, X, observed.weights)
        rows = columns.transform(X)
        if quick_violation(rows, observed) is None:
            return constant
        self.columns_ = columns
        self.start_, held_out = fit_start(rows, observed, folds, random_state)
        return held_out

    def _settings(self, observed: Observed, random_seed: int) -> dict[str, Any]:
        smallest_leaf = min(self.min_child_samples, max(1, observed.n_rows // LEAF_PARTS))
        # LightGBM counts rows without their weights.
        share_of_rows = len(observed.row_bag) / observed.n_rows
        return {
            "learning_rate": self.learning_rate,
            "num_leaves": self.num_leaves,
            "min_data_in_leaf": max(1, round(smallest_leaf * share_of_rows)),
            "feature_pre_filter": False,
            "min_data_in_bin": 1,
            "bagging_fraction": self.subsample,
            "bagging_freq": int(self.subsample < 1),
            "feature_fraction": self.colsample_bytree,
            "lambda_l2": self.reg_lambda,
            "objective": "none",  # gradients are passed to every round
            "num_class": math.prod(score_shape(observed.n_classes)),
            "num_threads": self.n_jobs or 0,
            "seed": random_seed,
            "deterministic": True,
            "force_row_wise": True,
            "verbosity": -1,
        }

    def _held_out(
        self,
        rows: Any,
        likelihood: LabelLikelihood,
        start: FloatArray,
        folds: list[Fold],
        settings: dict[str, Any],
    ) -> FloatArray:
        """Return the log-likelihood of held-out bags after every round, summed over the folds."""
        curves = []
        for train, test in track(folds, "early stopping on folds", len(folds)):
            curve: list[float] = []
            _boost(
                _take(rows, train),
                likelihood.take(train),
                start[train],
                self.n_estimators,
                settings,
                (_take(rows, test), likelihood.take(test), start[test], curve),
            )
            curves.append(curve)
        shortest = min(map(len, curves))
        return np.asarray(np.sum([curve[:shortest] for curve in curves], axis=0))

    def _score(self, X: Any) -> FloatArray:
        if "_booster" not in self.__dict__:  # after loading: the text is all that is saved
            self._booster = import_lightgbm().Booster(model_str=self.model_text_)
        raw = self._booster.predict(_as_trees_take_them(X), raw_score=True)
        if self.start_ is None:
            return np.asarray(np.asarray(raw) + self.intercept_)
        check_numbers(X)
        return np.asarray(raw + self.start_.raw_scores(self.columns_.transform(X)))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_booster"}

    def _takes_missing_values(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def import_lightgbm() -> Any:
    """Return the module; a missing one is reported with the extra that contains it."""
    try:
        import lightgbm
    except ImportError as error:
        raise ImportError(
            "BoostedCountClassifier needs LightGBM: pip install 'decorrupt[boosting]'"
        ) from error
    return lightgbm


def _as_trees_take_them(X: Any) -> Any:
    """Return rows for LightGBM: text columns become categories, and names plain."""
    if not hasattr(X, "columns"):
        return X
    if not hasattr(X, "iloc"):  # LightGBM takes no frames of other libraries
        frame = nw.from_native(X)
        if all(dtype.is_numeric() for dtype in frame.schema.values()):
            return frame.to_numpy()
        X = frame.to_pandas()
    for name in X.columns:
        if X[name].dtype.kind in "mM":
            raise ValueError(f"column {name!r} of X contains dates or times: make numbers of them")
    # LightGBM takes no text, and no names with brackets or commas.
    plain = X.set_axis([f"column_{k}" for k in range(X.shape[1])], axis=1)
    texts = [name for name in plain.columns if plain[name].dtype.kind in "OSUT"]
    return plain.astype(dict.fromkeys(texts, "category")) if texts else plain


def _take(rows: Any, some: Any) -> Any:
    return rows.iloc[some] if hasattr(rows, "iloc") else rows[some]


def _boost(
    rows: Any,
    likelihood: LabelLikelihood,
    start: FloatArray,
    n_rounds: int,
    settings: dict[str, Any],
    held_out: tuple[Any, LabelLikelihood, FloatArray, list[float]] | None = None,
) -> tuple[Any, FloatArray]:
    """Return the booster and the scores of its training rows.

    With `held_out` (rows, observations, start, list), the list gets the log-likelihood after each
    round.
    """
    lightgbm = import_lightgbm()
    data = _dataset(rows, start, settings).construct()
    if not any(data.feature_num_bin(column) for column in range(data.num_feature())):
        raise ValueError(f"no column of X varies in {len(start)} rows: trees cannot split them")
    booster = lightgbm.Booster(settings, data)
    if held_out is not None:
        other_rows, tested, other_start, curve = held_out
        booster.add_valid(_dataset(other_rows, other_start, settings, data), "held out")

    def gradients(raw: FloatArray, _data: Any) -> tuple[FloatArray, FloatArray]:
        gradient, hessian = gradient_and_hessian(likelihood, raw)
        return gradient.astype(np.float32), hessian.astype(np.float32)

    for _ in track(range(n_rounds), "boosting rounds", n_rounds):
        is_finished = booster.update(fobj=gradients)
        if held_out is not None:
            booster.eval_valid(lambda raw, _data: _measure(tested, raw, curve))
            if is_finished or _is_over(curve):
                break
        elif is_finished:
            break
    booster.free_dataset()
    return booster, np.asarray(booster.predict(rows, raw_score=True)) + start


def _measure(
    tested: LabelLikelihood, raw: FloatArray, curve: list[float]
) -> tuple[str, float, bool]:
    curve.append(tested.log_likelihood(raw))
    return "log-likelihood", curve[-1], True


def _is_over(curve: list[float]) -> bool:
    """Return whether the last rounds did not improve the likelihood."""
    return len(curve) - 1 - int(np.argmax(curve)) >= PATIENCE


def _dataset(rows: Any, scores: FloatArray, settings: dict[str, Any], reference: Any = None) -> Any:
    if not hasattr(rows, "iloc") and not sparse.issparse(rows):
        rows = np.ascontiguousarray(rows)
    return import_lightgbm().Dataset(
        rows,
        label=np.zeros(len(scores)),  # not used: the gradients contain what is known
        init_score=scores,
        reference=reference,
        params=settings,
        free_raw_data=False,
    )
