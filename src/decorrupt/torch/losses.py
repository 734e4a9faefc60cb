"""Losses for networks that learn from counts, proportions, corrected risks or noisy labels.

All are functions of logits: log-odds f of shape (n,), P(Y=1|x) = σ(f), or scores of shape (n, K),
P(Y=c|x) = softmax(f)_c. They have the values of the risks in :mod:`decorrupt.risks`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import log_softmax, logsigmoid

from decorrupt.observed import Observed
from decorrupt.risks import ScoreRisk, count_risk


class _RiskOfScores(torch.autograd.Function):
    """The value of a risk that numpy computes; its backward pass is the slope of the risk."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, risk: ScoreRisk) -> Tensor:
        value, slope = risk.value_and_slope(logits.detach().cpu().double().numpy())
        ctx.save_for_backward(torch.as_tensor(slope).to(logits))
        return logits.new_tensor(value)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (slope,) = ctx.saved_tensors
        return gradient * slope, None


def risk_loss(logits: Tensor, risk: ScoreRisk) -> Tensor:
    """Return risk(logits), to be differentiated once: by p − w if it is a likelihood."""
    return _RiskOfScores.apply(logits, risk)


def count_loss(logits: Tensor, bag_index: Tensor, counts: Tensor) -> Tensor:
    """Return the loss of exact counts of bags: their negative log-likelihood per row.

    −(1/n)·Σ_k log P(Σ_{j∈k} Y_j = c_k), whose gradient in f_j is (p_j − w_j)/n.

    w_j = P(Y_j=1 | count) is the label posterior, see :func:`decorrupt.label_posterior`. It is
    computed with numpy on the CPU, in double precision; only the logits leave the device. Bags of
    up to 256 rows are exact, for several classes those of up to 9 rows.

    Parameters
    ----------
    logits : Tensor of shape (n_rows,) or (n_rows, n_classes)
        Log-odds, or one score per class.
    bag_index : Tensor of int, shape (n_rows,)
        The number of each row's bag, an index of `counts`. All rows of a bag must be in the batch,
        see :class:`BagBatchSampler`.
    counts : Tensor of shape (n_bags,) or (n_bags, n_classes)
        The positive rows of each bag, or the rows of each class. Bags without a row in the batch
        are ignored, so `counts` can be those of all bags.

    Returns
    -------
    Tensor
        A number, which can be differentiated once.

    Raises
    ------
    ValueError
        If shapes do not match, or a count is not possible with the rows of its bag.

    Examples
    --------
    >>> import torch
    >>> from decorrupt.torch import count_loss
    >>> logits = torch.zeros(3, requires_grad=True)
    >>> loss = count_loss(logits, torch.tensor([0, 0, 1]), torch.tensor([1, 0]))
    >>> loss.backward()                            # two bags: P = 1/2 and 1/2, three rows
    >>> round(loss.item(), 4), logits.grad.tolist()
    (0.4621, [-0.0, -0.0, 0.1666666716337204])
    """
    _check_bags(logits, bag_index, counts, "counts")
    present, bags, sizes = np.unique(
        bag_index.cpu().numpy(), return_inverse=True, return_counts=True
    )
    given = counts.detach().cpu().double().numpy()[present]
    by_class = given if given.ndim == 2 else np.column_stack([sizes - given, given])
    for bag in np.flatnonzero(~_is_possible(by_class, sizes))[:1]:
        raise ValueError(
            f"counts[{present[bag]}] = {given[bag].tolist()} is not possible: the batch contains "
            f"{sizes[bag]} rows of bag {present[bag]}. Give batches of whole bags and whole "
            "counts, which sum to the number of rows if there is one per class"
        )
    classes, shares = np.arange(by_class.shape[1]), by_class / sizes[:, None]
    return risk_loss(_scores(logits), count_risk(Observed(classes, present, bags, shares)))


def proportion_loss(logits: Tensor, bag_index: Tensor, proportions: Tensor) -> Tensor:
    """Return the loss of proportions of bags: proportion matching.

    −Σ_k (n_k/n)·Σ_c γ_kc·log m_kc, m_kc = mean_{j∈k} P(Y_j=c).

    Parameters
    ----------
    logits, bag_index
        As in :func:`count_loss`. If only a part of a bag is in the batch, its mean is that of the
        part.
    proportions : Tensor of shape (n_bags,) or (n_bags, n_classes)
        The share of positives of each bag, or the share of each class. Bags without a row in the
        batch are ignored.

    Examples
    --------
    >>> import torch
    >>> from decorrupt.torch import proportion_loss
    >>> loss = proportion_loss(torch.zeros(2), torch.tensor([0, 0]), torch.tensor([0.5]))
    >>> round(loss.item(), 4)                                      # log 2
    0.6931
    """
    _check_bags(logits, bag_index, proportions, "proportions")
    present, bags, sizes = torch.unique(bag_index, return_inverse=True, return_counts=True)
    shares = proportions[present].to(logits)
    if shares.ndim == 1:
        shares = torch.stack([1 - shares, shares], dim=1)
    log_prob = _log_probabilities(logits)
    # log Σ exp of each bag and class, without overflow or underflow
    each = bags[:, None].expand_as(log_prob)
    largest = torch.full_like(shares, -torch.inf).scatter_reduce(0, each, log_prob.detach(), "amax")
    total = torch.zeros_like(shares).index_add(0, bags, (log_prob - largest[bags]).exp())
    log_mean = largest + (total / sizes[:, None]).log()
    return -(shares * log_mean * sizes[:, None]).sum() / len(logits)


def corrected_loss(logits: Tensor, coef: Tensor) -> Tensor:
    """Return the corrected logistic risk of rows with one coefficient per class.

    −Σ_j Σ_c coef[j, c]·log P(Y_j=c).

    The coefficients contain the weights of the rows, so this is a sum, not a mean: see
    :func:`decorrupt.corruption.combine_bags` for those of bags and
    :func:`decorrupt.corruption.row_coefficients` for those of their rows. Some are negative, so the
    loss of a flexible network has no lower bound: stop early.

    Parameters
    ----------
    logits : Tensor of shape (n_rows,) or (n_rows, n_classes)
        Log-odds, or one score per class.
    coef : Tensor of shape (n_rows, n_classes)
        The coefficients of all classes; for log-odds those of the negative and the positive class.

    Examples
    --------
    >>> import torch
    >>> from decorrupt.torch import corrected_loss
    >>> coef = torch.tensor([[-0.5, 1.5], [1.5, -0.5]])
    >>> round(corrected_loss(torch.zeros(2), coef).item(), 4)    # 2·log 2
    1.3863
    """
    _check_logits(logits)
    log_prob = _log_probabilities(logits)
    if coef.shape != log_prob.shape:
        raise ValueError(
            f"coef has shape {tuple(coef.shape)} and logits {tuple(logits.shape)}: give one row of "
            f"{log_prob.shape[1]} coefficients for each of the {len(logits)} rows"
        )
    return -(coef.to(logits) * log_prob).sum()


def forward_loss(logits: Tensor, noisy_label: Tensor, transition: Tensor) -> Tensor:
    """Return the loss of noisy labels: their negative log-likelihood per row.

    −(1/n)·Σ_j log Σ_y P(y|x_j)·T[y, ỹ_j].

    Parameters
    ----------
    logits : Tensor of shape (n_rows,) or (n_rows, n_classes)
        Log-odds, or one score per class, of the true class.
    noisy_label : Tensor of int, shape (n_rows,)
        The number of the noisy class; of two classes 0 and 1.
    transition : Tensor of shape (n_classes, n_classes) or (n_rows, n_classes, n_classes)
        T[y, ỹ] = P(Ỹ=ỹ | Y=y), rows sum to 1; for all rows, or one matrix per row (that of its
        source). For two classes [[1−ρ₋, ρ₋], [ρ₊, 1−ρ₊]].

    Examples
    --------
    >>> import torch
    >>> from decorrupt.torch import forward_loss
    >>> transition = torch.tensor([[0.9, 0.1], [0.3, 0.7]])
    >>> round(forward_loss(torch.zeros(1), torch.tensor([1]), transition).item(), 4)    # −log 0.4
    0.9163
    """
    _check_logits(logits)
    log_prob = _log_probabilities(logits)
    n_rows, n_classes = log_prob.shape
    if transition.shape not in ((n_classes, n_classes), (n_rows, n_classes, n_classes)):
        raise ValueError(
            f"transition has shape {tuple(transition.shape)}: give T[y, ỹ] of shape "
            f"({n_classes}, {n_classes}), or one such matrix per row"
        )
    if noisy_label.shape != (n_rows,) or not _is_index(noisy_label, n_classes):
        raise ValueError(
            f"noisy_label must contain one class number from 0 to {n_classes - 1} for each of the "
            f"{n_rows} rows"
        )
    each = transition.to(log_prob).expand(n_rows, n_classes, n_classes)
    given = each[torch.arange(n_rows, device=each.device), :, noisy_label.long()]
    return -torch.logsumexp(log_prob + given.log(), dim=1).mean()


def _scores(logits: Tensor) -> Tensor:
    """Return the scores of the risks in numpy: two columns become log-odds."""
    return logits[:, 1] - logits[:, 0] if logits.shape[1:] == (2,) else logits


def _log_probabilities(logits: Tensor) -> Tensor:
    """Return log P(Y=c|x) with one column per class, two for log-odds."""
    if logits.ndim == 2:
        return log_softmax(logits, dim=1)
    return torch.stack([logsigmoid(-logits), logsigmoid(logits)], dim=1)


def _check_logits(logits: Tensor) -> None:
    if logits.ndim != 1 and not (logits.ndim == 2 and logits.shape[1] > 1):
        raise ValueError(
            f"logits have shape {tuple(logits.shape)}: give log-odds of shape (n_rows,), such as "
            "logits.squeeze(1), or one column per class"
        )


def _check_bags(logits: Tensor, bag_index: Tensor, by_bag: Tensor, name: str) -> None:
    _check_logits(logits)
    if by_bag.shape[1:] != logits.shape[1:]:
        raise ValueError(
            f"{name} have shape {tuple(by_bag.shape)} and logits {tuple(logits.shape)}: give one "
            "value per bag for log-odds, and one column per class otherwise"
        )
    if bag_index.shape != logits.shape[:1] or not _is_index(bag_index, len(by_bag)):
        raise ValueError(
            f"bag_index must contain one number from 0 to {len(by_bag) - 1}, an index of {name}, "
            f"for each of the {len(logits)} rows"
        )


def _is_index(values: Tensor, length: int) -> bool:
    return not values.is_floating_point() and bool(((values >= 0) & (values < length)).all())


def _is_possible(counts: NDArray[Any], sizes: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return whether the class counts of each bag are whole and its rows can have them."""
    are_whole = (counts == np.rint(counts)) & (counts >= 0)
    return np.asarray(are_whole.all(axis=1) & (counts.sum(axis=1) == sizes))
