"""A neural network on bags and noisy sources, as a scikit-learn classifier."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from decorrupt._typing import FloatArray
from decorrupt.losses import chosen_classes, prior_scores, score_shape
from decorrupt.meta import ObservedClassifier, bag_folds, check_numbers, make_columns, seed
from decorrupt.progress import log_step
from decorrupt.risks import CountRisk
from decorrupt.torch.losses import risk_loss
from decorrupt.torch.training import MLP, BagBatchSampler, train

# One part of this many is held out for early stopping.
PARTS = 5
# Training stops after this many epochs without a better held-out likelihood.
PATIENCE = 30
# Rows that are scored at once: limits the memory of their hidden units.
SCORED_ROWS = 65_536
MODULE_PREFIX = "module__"


class TorchBagClassifier(ObservedClassifier):
    """A PyTorch network that makes what is known about the labels most likely.

    f(x) = log π + network(columns of x), trained to minimise −(1/n)·Σ log P(observation).

    The gradient of the loss in the log-odds of row j is (p_j − w_j)/n, where w_j is the label
    posterior, see :func:`decorrupt.label_posterior`; so a network learns from everything that can
    be observed about labels: counts, ranges and noisy counts of bags, and noisy labels of sources
    (for these it is the forward loss). Needs PyTorch: ``pip install "decorrupt[torch]"``.

    Parameters
    ----------
    module : callable or None, default=None
        The class of the network, or a function that returns it: called as
        ``module(n_columns, n_scores, **params)``. It maps a float32 tensor of shape
        (n_rows, n_columns) to (n_rows, n_scores); n_scores is 1 for two classes, and otherwise
        the number of classes. None: :class:`MLP`.
    lr : float, default=1e-3
        The learning rate of AdamW.
    max_epochs : int, default=200
        The largest number of epochs; the number without early stopping.
    bags_per_batch : int, default=32
        Whole bags per batch. A row outside the bags is a bag of one row.
    early_stopping : bool, default=True
        Whether the number of epochs is chosen by the likelihood of a held-out fifth of the bags.
        Training stops after 30 epochs without a better one; then all bags are used for the
        best number of epochs, from the same initial weights.
    device : str, default="auto"
        The device for training. "auto": "cuda" if it is available, otherwise "cpu".
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in the population of the
        training rows.
    random_state : int, RandomState or None
        Seed of the initial weights, the batches and the held-out bags.
    count_noise : GaussianNoise, LaplaceNoise, GeometricNoise, float, mapping or None, default=None
        Noise in the counts of the bags, see :func:`decorrupt.label_posterior`.
    **module__params
        Parameters of the network, with the prefix ``module__``, such as ``module__hidden=(32,)``;
        `set_params` and searches take them as well.

    Attributes
    ----------
    module_ : torch.nn.Module
        The trained network, on the CPU. ``module_.state_dict()`` contains its weights. Predictions
        are made on the device to which it is moved.
    columns_ : transformer
        Scales the columns of X, fills in missing numbers and encodes categories.
    n_epochs_ : int
        The number of epochs.
    held_out_log_likelihood_ : ndarray of shape (n_tried_epochs,), optional
        Σ log P(observation) of the held-out bags after each epoch, with early stopping.
    intercept_ : float or ndarray of shape (n_classes,)
        log π: logit of the share of positives, or the logarithms of the class shares.
    class_prior_ : ndarray of shape (n_classes,)
        π, the class shares among the training rows.
    classes_, decision_threshold_, n_features_in_, feature_names_in_
        As in :class:`decorrupt.CorrectedLossClassifier`.

    Notes
    -----
    The model can be pickled. :func:`decorrupt.save` refuses it, because a network is code.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt.torch import TorchBagClassifier
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 600)                  # not used in training
    >>> X = rng.normal(size=(600, 2)) + 2 * labels[:, None]
    >>> bags = np.arange(600) // 10
    >>> y = np.bincount(bags, labels)[bags] / 10
    >>> model = TorchBagClassifier(max_epochs=30, module__hidden=(16,), random_state=0)
    >>> bool(model.fit(X, y, bags=bags).score(X, labels) > 0.85)
    True
    """

    def __init__(
        self,
        module: Callable[..., Any] | None = None,
        *,
        lr: float = 1e-3,
        max_epochs: int = 200,
        bags_per_batch: int = 32,
        early_stopping: bool = True,
        device: str = "auto",
        decision: str = "balanced",
        random_state: Any = None,
        count_noise: Any = None,
        **module__params: Any,
    ) -> None:
        self.module = module
        self.lr = lr
        self.max_epochs = max_epochs
        self.bags_per_batch = bags_per_batch
        self.early_stopping = early_stopping
        self.device = device
        self.decision = decision
        self.random_state = random_state
        self.count_noise = count_noise
        for name in module__params:
            if not name.startswith(MODULE_PREFIX):
                raise TypeError(
                    f"TorchBagClassifier has no parameter {name!r}; parameters of the network "
                    f"begin with {MODULE_PREFIX!r}"
                )
        self.__dict__.update(module__params)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, including those of the network that are set."""
        own = {name: value for name, value in vars(self).items() if _is_of_module(name)}
        return dict(super().get_params(deep)) | own

    def set_params(self, **params: Any) -> Self:
        """Set parameters, including those of the network."""
        self.__dict__.update({name: value for name, value in params.items() if _is_of_module(name)})
        super().set_params(**{k: value for k, value in params.items() if not _is_of_module(k)})
        return self

    def _fit_observed(self, X: Any, likelihood: CountRisk, random: np.random.RandomState) -> None:
        device = self._device()
        self.columns_ = make_columns(X)
        columns = _tensor(self.columns_.fit_transform(X), device)
        self.intercept_ = prior_scores(likelihood.class_prior)
        self.__dict__.pop("held_out_log_likelihood_", None)
        self.n_epochs_ = self.max_epochs
        first_seed = seed(random)
        # The caller's random numbers do not change.
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            if self.early_stopping:
                curve = self._held_out(columns, likelihood, first_seed, random)
                self.held_out_log_likelihood_ = curve
                self.n_epochs_ = int(curve.argmax()) + 1
                log_step(f"early stopping chose {self.n_epochs_} epochs")
            self._fit_network(columns, likelihood, first_seed, n_epochs=self.n_epochs_)
        self.module_.cpu()
        scores = self._scores(columns)
        self.warn_if_one_class(chosen_classes(scores - self.decision_threshold_), len(scores))

    def _held_out(
        self,
        columns: Tensor,
        likelihood: CountRisk,
        first_seed: int,
        random: np.random.RandomState,
    ) -> FloatArray:
        """Return the log-likelihood of held-out bags after each epoch."""
        train_rows, test_rows = bag_folds(likelihood.observed, PARTS, random)[0]
        tested = likelihood.take(test_rows)
        curve: list[float] = []

        def is_over() -> bool:
            curve.append(tested.log_likelihood(self._scores(columns[test_rows])))
            return len(curve) - 1 - int(np.argmax(curve)) >= PATIENCE

        self._fit_network(
            columns[train_rows],
            likelihood.take(train_rows),
            first_seed,
            n_epochs=self.max_epochs,
            is_over=is_over,
        )
        return np.array(curve)

    def _fit_network(
        self, columns: Tensor, likelihood: CountRisk, first_seed: int, **epochs: Any
    ) -> None:
        """Train a new network; its weights and batches depend on the seed alone."""
        torch.manual_seed(first_seed)
        make = MLP if self.module is None else self.module
        params = {
            name.removeprefix(MODULE_PREFIX): value
            for name, value in self.get_params(deep=False).items()
            if _is_of_module(name)
        }
        self.module_ = make(columns.shape[1], self._n_scores, **params).to(columns.device)
        intercept = _tensor(self.intercept_, columns.device)

        def batch_loss(outputs: Tensor, rows: Sequence[int]) -> Tensor:
            logits = self._as_scores(outputs) + intercept
            return risk_loss(logits, likelihood.take(np.asarray(rows)))

        train(
            self.module_,
            columns,
            batch_loss,
            batches=BagBatchSampler(
                likelihood.observed.row_bag, self.bags_per_batch, seed=first_seed
            ),
            optimizer=torch.optim.AdamW(self.module_.parameters(), lr=self.lr),
            **epochs,
        )

    def _score(self, X: Any) -> FloatArray:
        check_numbers(X)
        return self._scores(_tensor(self.columns_.transform(X)))

    def _scores(self, columns: Tensor) -> FloatArray:
        """Return the scores of scaled columns, on the device of the network."""
        device = next(self.module_.parameters()).device
        with torch.no_grad():
            outputs = [self.module_(some.to(device)).cpu() for some in columns.split(SCORED_ROWS)]
        scores = self._as_scores(torch.cat(outputs)).double().numpy()
        return np.asarray(scores + self.intercept_)

    def _as_scores(self, outputs: Tensor) -> Tensor:
        """Return log-odds of shape (n_rows,), or one score per class."""
        n_rows, n_scores = len(outputs), self._n_scores
        if outputs.shape != (n_rows, n_scores):
            raise ValueError(
                f"the module returns shape {tuple(outputs.shape)}: it must return "
                f"({n_rows}, {n_scores}), see the parameter module"
            )
        return outputs.reshape(n_rows, *score_shape(len(self.classes_)))

    @property
    def _n_scores(self) -> int:
        return math.prod(score_shape(len(self.classes_)))

    def _device(self) -> torch.device:
        if self.device == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return torch.device(self.device)

    def _takes_missing_values(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _is_of_module(name: str) -> bool:
    return name.startswith(MODULE_PREFIX)


def _tensor(values: Any, device: Any = None) -> Tensor:
    """Return a float32 tensor; sparse rows become dense."""
    dense = values.toarray() if sparse.issparse(values) else values
    return torch.as_tensor(np.asarray(dense), dtype=torch.float32, device=device)
