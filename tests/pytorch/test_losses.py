"""The losses: values of the numpy risks, gradients by finite differences, and refusals."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.special import expit, softmax

from decorrupt import label_posterior
from decorrupt.corruption import combine_bags, row_coefficients
from decorrupt.losses import class_loss, score_shape
from decorrupt.observed import Observed, class_columns, matrix_of_rates
from decorrupt.risks import CorrectedRisk, ProportionRisk
from decorrupt.torch import corrected_loss, count_loss, forward_loss, proportion_loss
from oracles.counts import convolved_count, enumerate_class_counts, row_risk

SIZES = np.array([1, 2, 5, 3, 30])
BAGS = np.random.default_rng(0).permutation(np.repeat(np.arange(5), SIZES))
COUNTS = np.array([1, 1, 2, 0, 12])
CLASS_COUNTS = np.array([[0, 1, 0], [1, 0, 1], [2, 2, 1], [0, 0, 3], [10, 12, 8]])
PAIR = np.array([[0.9, 0.1], [0.3, 0.7]])
MATRIX = np.array([[0.8, 0.1, 0.1], [0.0, 0.7, 0.3], [0.2, 0.2, 0.6]])


def scores(n_classes=2, dtype=torch.float64):
    shape = (len(BAGS), *score_shape(n_classes))
    values = np.random.default_rng(1).normal(scale=2, size=shape)
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def numbers(n_classes=2):
    return scores(n_classes).detach().numpy()


def noisy_labels(n_classes):
    return np.random.default_rng(2).integers(0, n_classes, len(BAGS))


def observed(n_classes):
    shares = {2: class_columns(COUNTS / SIZES), 3: CLASS_COUNTS / SIZES[:, None]}[n_classes]
    return Observed(np.arange(n_classes), np.arange(5), BAGS, shares)


def coefficients(n_classes):
    """Return the coefficients of the rows: some are negative."""
    bags = observed(n_classes)
    return row_coefficients(combine_bags(SIZES, bags.proportions), bags)


LOSSES = {
    "count, two classes": (2, lambda f: count_loss(f, *map(torch.tensor, (BAGS, COUNTS)))),
    "count, three classes": (3, lambda f: count_loss(f, *map(torch.tensor, (BAGS, CLASS_COUNTS)))),
    "proportion, two classes": (
        2,
        lambda f: proportion_loss(f, *map(torch.tensor, (BAGS, COUNTS / SIZES))),
    ),
    "proportion, three classes": (
        3,
        lambda f: proportion_loss(f, *map(torch.tensor, (BAGS, CLASS_COUNTS / SIZES[:, None]))),
    ),
    "corrected, two classes": (
        2,
        lambda f: corrected_loss(f, torch.tensor(coefficients(2))),
    ),
    "corrected, three classes": (3, lambda f: corrected_loss(f, torch.tensor(coefficients(3)))),
    "forward, two classes": (
        2,
        lambda f: forward_loss(f, *map(torch.tensor, (noisy_labels(2), PAIR))),
    ),
    "forward, three classes": (
        3,
        lambda f: forward_loss(f, *map(torch.tensor, (noisy_labels(3), MATRIX))),
    ),
}


def numpy_risk(name):
    """Return the same risk of the numpy library."""
    kind, _, classes = name.partition(", ")
    n_classes = 2 if classes == "two classes" else 3
    if kind == "proportion":
        return ProportionRisk(observed(n_classes))
    if kind == "corrected":
        return CorrectedRisk(coefficients(n_classes), class_loss("logistic", n_classes))
    transition = {2: PAIR, 3: MATRIX}[n_classes]
    return row_risk(transition[:, noisy_labels(n_classes)].T)


for_all = pytest.mark.parametrize("name", LOSSES)


@for_all
def test_gradients_are_those_of_finite_differences(name):
    n_classes, loss = LOSSES[name]
    assert torch.autograd.gradcheck(loss, scores(n_classes))


@for_all
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_values_and_gradients_keep_their_type(name, dtype):
    n_classes, loss = LOSSES[name]
    logits = scores(n_classes, dtype)
    value = loss(logits)
    (3 * value).backward()
    assert value.dtype == logits.grad.dtype == dtype
    exact = scores(n_classes)
    loss(exact).backward()
    assert_allclose(value.item(), loss(exact).item(), rtol=1e-5)
    assert_allclose(logits.grad, 3 * exact.grad, atol=1e-5)


@pytest.mark.parametrize("name", [name for name in LOSSES if not name.startswith("count")])
def test_values_and_slopes_are_those_of_the_numpy_risks(name):
    n_classes, loss = LOSSES[name]
    logits = scores(n_classes)
    value = loss(logits)
    value.backward()
    expected, slope = numpy_risk(name).value_and_slope(numbers(n_classes))
    assert_allclose(value.item(), expected, atol=1e-6)
    assert_allclose(logits.grad, slope, atol=1e-6)


def test_count_loss_of_two_classes_is_that_of_convolved_counts():
    logits = scores()
    value = count_loss(logits, torch.tensor(BAGS), torch.tensor(COUNTS))
    value.backward()
    total, slope = 0.0, np.zeros(len(BAGS))
    for bag, count in enumerate(COUNTS):
        rows = np.equal(BAGS, bag)
        if count:
            log_prob, slope[rows] = convolved_count(numbers()[rows], count)
        else:
            log_prob, slope[rows] = np.log(expit(-numbers()[rows])).sum(), -expit(numbers()[rows])
        total += log_prob
    assert_allclose(value.item(), -total / len(BAGS), atol=1e-6)
    assert_allclose(logits.grad, -slope / len(BAGS), atol=1e-6)


def test_count_loss_of_three_classes_is_that_of_all_labellings():
    small = BAGS < 4
    logits = scores(3)
    value = count_loss(logits[small], torch.tensor(BAGS[small]), torch.tensor(CLASS_COUNTS))
    value.backward()
    total = 0.0
    for bag in range(4):
        rows = np.equal(BAGS, bag)
        log_prob, slope = enumerate_class_counts(numbers(3)[rows], CLASS_COUNTS[bag])
        assert_allclose(logits.grad[rows], -slope / small.sum(), atol=1e-6)
        total += log_prob
    assert_allclose(value.item(), -total / small.sum(), atol=1e-6)
    assert (logits.grad[~small] == 0).all()


def test_count_loss_has_the_likelihood_of_the_label_posterior():
    shares = (CLASS_COUNTS / SIZES[:, None])[BAGS]
    found = label_posterior(softmax(numbers(3), axis=1), shares, bags=BAGS)
    value = count_loss(scores(3), torch.tensor(BAGS), torch.tensor(CLASS_COUNTS))
    assert_allclose(value.item(), -found.log_likelihood.sum() / len(BAGS), atol=1e-6)


def test_two_columns_are_log_odds():
    both = torch.stack([torch.zeros(len(BAGS)), scores().detach()], dim=1) + 5
    counts = torch.tensor(np.column_stack([SIZES - COUNTS, COUNTS]))
    expected = count_loss(scores(), torch.tensor(BAGS), torch.tensor(COUNTS))
    found = count_loss(both, torch.tensor(BAGS), counts)
    assert_allclose(found.item(), expected.item(), rtol=1e-12)


def test_bags_of_one_row_are_cross_entropy():
    labels = torch.tensor(noisy_labels(3))
    bags, one_hot = torch.arange(len(BAGS)), torch.eye(3)[labels]
    expected = torch.nn.functional.cross_entropy(scores(3), labels).item()
    for found in (
        count_loss(scores(3), bags, one_hot),
        proportion_loss(scores(3), bags, one_hot),
        corrected_loss(scores(3), one_hot.double() / len(BAGS)),
        forward_loss(scores(3), labels, torch.eye(3)),
    ):
        assert_allclose(found.item(), expected, rtol=1e-6)


@pytest.mark.parametrize("loss", [count_loss, proportion_loss])
def test_bags_outside_the_batch_are_ignored(loss):
    rows = (BAGS == 4) | (BAGS == 1)
    given = COUNTS if loss is count_loss else COUNTS / SIZES
    part = loss(scores()[rows], torch.tensor(BAGS[rows]), torch.tensor(given))
    renumbered = torch.tensor((BAGS[rows] == 4).astype(int))
    alone = loss(scores()[rows], renumbered, torch.tensor(given[[1, 4]]))
    assert part.item() == alone.item()


def test_large_scores_stay_finite():
    for n_classes, loss in LOSSES.values():
        logits = (1e3 * scores(n_classes)).detach().requires_grad_()
        value = loss(logits)
        value.backward()
        assert torch.isfinite(value)
        assert torch.isfinite(logits.grad).all()


def test_one_transition_per_row():
    flips = np.random.default_rng(3).uniform(0, 0.4, size=(len(BAGS), 2))
    each = matrix_of_rates(*flips.T)
    found = forward_loss(scores(), torch.tensor(noisy_labels(2)), torch.tensor(each))
    given = each[np.arange(len(BAGS)), :, noisy_labels(2)]
    expected = row_risk(given).value_and_slope(numbers())[0]
    assert_allclose(found.item(), expected, atol=1e-6)


ZEROS = torch.zeros(3)
BAD = {
    "part of a bag": (
        lambda: count_loss(ZEROS, torch.tensor([0, 7, 7]), torch.tensor([0] * 7 + [3])),
        r"counts\[7\] = 3\.0 is not possible: the batch contains 2 rows of bag 7",
    ),
    "not a whole count": (
        lambda: count_loss(ZEROS, torch.tensor([0, 0, 0]), torch.tensor([1.5])),
        r"counts\[0\] = 1\.5",
    ),
    "class counts that do not sum to the rows": (
        lambda: count_loss(torch.zeros(3, 3), torch.tensor([0, 0, 0]), torch.tensor([[1, 1, 0]])),
        r"counts\[0\] = \[1\.0, 1\.0, 0\.0\].*sum to the number of rows",
    ),
    "a column of scores": (
        lambda: count_loss(torch.zeros(3, 1), torch.tensor([0, 0, 0]), torch.tensor([1])),
        r"logits have shape \(3, 1\).*squeeze\(1\)",
    ),
    "class counts with log-odds": (
        lambda: count_loss(ZEROS, torch.tensor([0, 0, 0]), torch.tensor([[1, 2]])),
        r"counts have shape \(1, 2\) and logits \(3,\)",
    ),
    "bag without a count": (
        lambda: proportion_loss(ZEROS, torch.tensor([0, 1, 2]), torch.tensor([0.5, 0.5])),
        r"bag_index must contain one number from 0 to 1, an index of proportions",
    ),
    "bag numbers that are not whole": (
        lambda: proportion_loss(ZEROS, torch.tensor([0.0, 1, 0]), torch.tensor([0.5, 0.5])),
        r"bag_index",
    ),
    "no negative coefficients": (
        lambda: corrected_loss(ZEROS, torch.ones(3)),
        r"coef has shape \(3,\) and logits \(3,\): give one row of 2 coefficients",
    ),
    "coefficients of other rows": (
        lambda: corrected_loss(ZEROS, torch.ones(2, 2)),
        r"coef has shape \(2, 2\) and logits \(3,\)",
    ),
    "matrix of another number of classes": (
        lambda: forward_loss(ZEROS, torch.tensor([0, 1, 1]), torch.eye(3)),
        r"transition has shape \(3, 3\): give T\[y, ỹ\] of shape \(2, 2\)",
    ),
    "label out of range": (
        lambda: forward_loss(ZEROS, torch.tensor([0, 1, 2]), torch.eye(2)),
        r"noisy_label must contain one class number from 0 to 1",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_refusals(case):
    call, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        call()
