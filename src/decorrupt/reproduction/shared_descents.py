"""Many gradient descents on one kernel matrix, all at once and with few products with it.

With α = Kc the paper's step α ← α − η_t·K(g + 2λα) reads c ← c − η_t·(g + 2λKc), f = K²c, and the
logistic loss has g = gain·tanh(f/2) − push, 2·gain = coef_pos + coef_neg, 2·push = coef_pos −
coef_neg. How far one step can move the scores decides how a descent is followed, together with the
others of its kind:

- Gliding descents hardly move in many steps. tanh(f/2) is known exactly at the ends of blocks and
  extrapolated inside the next: the method of Adams and Bashforth, with the paper's steps summed
  in place of an integral.
- Walking descents move fast in a few modes of K only. These modes take every step; the scores
  that all others add are extrapolated.
- Swinging descents walk with steps so long that a deviation can grow. They walk on all but the
  very slow modes, and in double precision.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from decorrupt._typing import FloatArray
from decorrupt.corruption import RiskTerms
from decorrupt.losses import get_loss

LOSS = get_loss("logistic")
# A descent's reach is η times the greatest curvature: above this a step can overshoot by more than
# it corrects.
SWING = 2.0
# Ends of blocks through which is extrapolated into the next block. The more there are, the more
# their rounding is amplified.
GLIDING_HISTORY = 6
WALKING_HISTORY = 5
# How far what is extrapolated may relax in a block; the error goes with a power of it.
GLIDING_MOVEMENT = 0.07
WALKING_MOVEMENT = 0.04
# A swing magnifies errors, the more the further it overshoots: what a walk allows falls with this
# power, down to the least. Both are experience, not derived.
SWING_POWER = 15
LEAST_SWINGING_MOVEMENT = 1e-9
# A block in which only so much glides, or in a walk only this share of what may, needs no history.
NO_MOVEMENT = 3e-4
NO_SHARE = 2.5e-6
# Any other has at most this share of all steps before it, and no more steps than the descents have
# taken together.
GROWTH = 0.25
WALKING_BLOCKS = (10, 25, 50, 100)
# Products with fewer modes hardly cost less, and more steps at once leave the cache.
MODES_AT_ONCE = 8
LEAST_MODES = 16
STEPS_AT_ONCE = 25
# The reach up to which a descent glides: beyond, blocks are so short that their products with all
# of K cost more than walking; the second, if others walk and it can go along.
GLIDING = 0.002
GLIDING_NOT_WALKING_ALONG = 5e-5
POWER_ITERATIONS = 5


@dataclass(frozen=True)
class Descents:
    """η_t = step_size·exp(−step_decay·t) and λ, as columns with one entry a descent."""

    step_size: FloatArray
    step_decay: FloatArray
    reg_strength: FloatArray

    def take(self, chosen: NDArray[Any]) -> Descents:
        """Return some of them."""
        columns = (self.step_size, self.step_decay, self.reg_strength)
        return Descents(*(column[chosen] for column in columns))

    def lengths(self, steps: Any) -> FloatArray:
        """Return η_t of every descent (axis 0) and step (axis 1)."""
        return np.asarray(self.step_size * np.exp(-self.step_decay * np.asarray(steps)))

    def extrapolation(self, nodes: tuple[int, ...], n_steps: int) -> FloatArray:
        """Return the Lagrange weights of the nodes (axis 2) at steps 0, 1, … (axis 1)."""
        decays, which = np.unique(self.step_decay, return_inverse=True)
        return _lagrange_weights(tuple(decays.tolist()), nodes, n_steps)[which.ravel()]


@lru_cache(maxsize=128)  # the same blocks come back in every kernel and fold
def _lagrange_weights(
    decays: tuple[float, ...], nodes: tuple[int, ...], n_steps: int
) -> FloatArray:
    """Return the weights for every decay (axis 0).

    Time is counted in Ση, in which a descent goes evenly; up to a factor, which the weights do not
    feel, it looks the same from every step.
    """
    past, ahead = (_travelled(decays, np.asarray(t)) for t in (nodes, np.arange(n_steps)))
    away = ahead[:, :, None] - past[:, None, :]
    before, after = np.ones_like(away), np.ones_like(away)
    np.cumprod(away[:, :, :-1], axis=2, out=before[:, :, 1:])
    np.cumprod(away[:, :, :0:-1], axis=2, out=after[:, :, -2::-1])
    gaps = past[:, :, None] - past[:, None, :]
    own = np.arange(past.shape[1])
    gaps[:, own, own] = 1.0
    return np.asarray(before * after / gaps.prod(axis=2)[:, None])


def _travelled(decays: tuple[float, ...], steps: NDArray[np.int_]) -> FloatArray:
    """Return (1 − exp(−decay·t))/decay, t itself without decay, for every decay (axis 0)."""
    column = np.maximum(decays, np.finfo(float).tiny)[:, None]
    return np.where(column < 1e-14, steps, -np.expm1(-column * steps) / column)


def descend_together(
    gram: FloatArray, terms: RiskTerms, descents: Descents, checkpoints: list[int]
) -> FloatArray:
    """Return α of every checkpoint (axis 0) and every descent (axis 2), started at zero.

    Parameters
    ----------
    gram : ndarray of shape (n_rows, n_rows)
        K, no entry negative.
    terms : RiskTerms
        coef_pos and coef_neg of Σ_j coef_pos·ℓ(f_j,1) + coef_neg·ℓ(f_j,−1), ℓ the logistic loss.
    descents : Descents
        Step lengths and penalties.
    checkpoints : list of int
        Numbers of steps, in ascending order.
    """
    problem = _Problem(gram, terms, descents)
    coefs = np.zeros((len(descents.step_size), len(gram)))
    groups: dict[int, tuple[NDArray[np.intp], _Regime]] = {}
    found = []
    with np.errstate(all="ignore"):  # what leaves the finite numbers is told by the result
        for start, end in pairwise(_stops(problem, descents, checkpoints)):
            regimes = problem.regimes(descents, start)
            before, groups = groups, {}
            for k in np.unique(regimes)[::-1]:  # swings ask for the most modes
                chosen = np.flatnonzero(regimes == k)
                if k in before and np.isin(chosen, before[k][0]).all():
                    members, group = before[k]
                    group.keep(np.isin(members, chosen))
                else:
                    group = REGIMES[k](problem, descents.take(chosen), coefs[chosen], start)
                groups[k] = chosen, group
                coefs[chosen] = group.advance(end)
            if end in checkpoints:
                found.append(gram @ coefs.T)
    return np.stack(found)


def _stops(problem: _Problem, descents: Descents, checkpoints: list[int]) -> list[int]:
    """Return zero, the checkpoints, and where between them to put the descents together anew."""
    last = checkpoints[-1]
    calm = [int(step) + 1 for step in problem.swinging_steps(descents) if 0 < step < last - 1]
    doubled = [2**k for k in range(int(np.log2(last)) + 1)]
    stops = [0]
    for step in sorted({*calm, *doubled, *checkpoints}):
        now, then = (problem.regimes(descents, t) for t in (stops[-1], step))
        if step in checkpoints or not np.array_equal(now, then):
            stops.append(step)
    return stops


class _Problem:
    """K, the coefficients, and how fast the modes of K can relax."""

    def __init__(self, gram: FloatArray, terms: RiskTerms, descents: Descents) -> None:
        self.gram = gram
        self.gain = (terms.coef_pos + terms.coef_neg) / 2
        self.push = (terms.coef_pos - terms.coef_neg) / 2
        self.greatest_penalty = 2 * float(descents.reg_strength.max())
        self.row_curvature = 2 * LOSS.curvature_bound * np.abs(self.gain)
        self._least_value = np.inf
        self._modes: tuple[FloatArray, FloatArray]
        self._splits: dict[int, tuple[FloatArray, FloatArray, FloatArray]] = {}

    @cached_property
    def top_rate(self) -> float:
        """The greatest curvature, bounded from above as Collatz and Wielandt bound it."""
        bound, vector = np.inf, np.ones(len(self.gram))
        for _ in range(POWER_ITERATIONS):
            pull = self.gram @ vector
            curved = self.gram @ (self.row_curvature * pull) + self.greatest_penalty * pull
            bound = min(bound, float(np.max(curved / vector)))
            vector = np.maximum(curved / curved.max(), np.finfo(float).eps)
        return bound

    def regimes(self, descents: Descents, step: int) -> NDArray[np.intp]:
        """Return the number of every descent's regime at a step."""
        reach = descents.lengths([step])[:, 0] * self.top_rate
        gliding = GLIDING_NOT_WALKING_ALONG if (reach > GLIDING).any() else GLIDING
        return np.asarray(np.digitize(reach, (gliding, SWING), right=True))

    def swinging_steps(self, descents: Descents) -> FloatArray:
        """Return how long every descent swings, negative if it never does."""
        swing = np.log(descents.step_size * self.top_rate / SWING)
        return np.asarray(swing / np.maximum(descents.step_decay, np.finfo(float).tiny))[:, 0]

    def walk(self, length: float) -> tuple[int, int, int]:
        """Return the number of fast modes, the first and the longest block for steps so long.

        The number costs least: a mode costs every step what a row costs once a block, and twice
        that in the double precision of swings.
        """
        swing = np.maximum(length * self.top_rate / SWING, 1.0)
        movement = max(WALKING_MOVEMENT / swing**SWING_POWER, LEAST_SWINGING_MOVEMENT)
        blocks = np.array(WALKING_BLOCKS)
        curved = length * blocks * self.row_curvature.max() / movement
        # The penalty pulls evenly: what it moves need not be kept the closer in a swing.
        pulled = length * blocks * self.greatest_penalty / WALKING_MOVEMENT / 2
        least_values = 1 / (pulled + np.sqrt(pulled**2 + curved))  # curved·v² + 2·pulled·v = 1
        values, _ = self.modes(float(least_values.min()))
        counts = np.searchsorted(-values, -least_values)
        counts = np.maximum(-(-counts // MODES_AT_ONCE) * MODES_AT_ONCE, LEAST_MODES)
        counts = np.minimum(counts, len(values))
        best = np.argmin(counts * (2 if swing > 1 else 1) + len(self.gram) / blocks)
        n_fast, block = int(counts[best]), int(blocks[best])
        extrapolated = values[n_fast] if n_fast < len(values) else least_values.min()
        share = curved[best] * extrapolated**2 + (2 * pulled[best] * extrapolated) ** 2
        first_block = max(int(block * NO_SHARE / share), 1)
        return n_fast, first_block, max(block, first_block)

    def modes(self, least_value: float) -> tuple[FloatArray, FloatArray]:
        """Return the eigenvalues of K above this, and perhaps more, greatest first; the vectors."""
        if least_value < self._least_value:
            values, vectors = eigh(self.gram, subset_by_value=(least_value, np.inf))
            self._modes = values[::-1], vectors[:, ::-1]
            self._least_value = least_value
        return self._modes

    def split(self, n_fast: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the greatest eigenvalues of K, their eigenvectors, and K without them."""
        if n_fast not in self._splits:
            values, modes = self._modes[0][:n_fast], self._modes[1][:, :n_fast]
            slow = self.gram - (modes * values) @ modes.T
            self._splits[n_fast] = values, modes, slow.astype(np.float32)
        return self._splits[n_fast]


class _Regime(ABC):
    """Descents followed together, a block of steps at a time."""

    # What is extrapolated comes from K without its fast modes, in blocks of so many steps.
    slow_matrix: FloatArray
    first_block: int
    longest_block: int
    history: int

    def __init__(
        self, problem: _Problem, descents: Descents, coefs: FloatArray, start: int
    ) -> None:
        self.problem, self.descents, self.coefs = problem, descents, coefs
        self.start, self.step = start, start
        self.greatest_length = float(descents.lengths([start]).max())
        # Where blocks ended, with Kc and the signal there.
        self.past: deque[tuple[int, FloatArray, FloatArray]] = deque(maxlen=self.history)

    def keep(self, stays: NDArray[np.bool_]) -> None:
        """Go on with some of the descents only."""
        self.descents, self.coefs = self.descents.take(stays), self.coefs[stays]
        past = ((step, pull[stays], signal[stays]) for step, pull, signal in self.past)
        self.past = deque(past, maxlen=self.history)

    def advance(self, end: int) -> FloatArray:
        """Return c after step number `end`."""
        while self.step < end:
            pull = self.coefs.astype(self.slow_matrix.dtype, copy=False) @ self.slow_matrix
            self.past.append((self.step, pull, self._signal(pull @ self.slow_matrix)))
            growing = int(min(GROWTH * self.step, self.step - self.start))
            block = max(growing, self.first_block)
            self._take(min(block, self.longest_block, end - self.step))
        return self.coefs

    def _take(self, n_steps: int) -> None:
        nodes, pulls, signals = zip(*self.past, strict=True)
        lengths = self.descents.lengths(np.arange(self.step, self.step + n_steps))
        ago = tuple(node - self.step for node in nodes)
        weights = self.descents.extrapolation(ago, n_steps)
        summed_pulls = _sum_extrapolated(np.stack(pulls, axis=1), lengths, weights)
        self.coefs -= self.problem.gain * self._sum_tanhs(
            np.stack(signals, axis=1), lengths, weights
        )
        self.coefs += self.problem.push * lengths.sum(axis=1, keepdims=True)
        self.coefs -= 2 * self.descents.reg_strength * summed_pulls
        self.step += n_steps

    @abstractmethod
    def _signal(self, scores: FloatArray) -> FloatArray:
        """Return what to extrapolate, from the scores of K without its fast modes."""

    @abstractmethod
    def _sum_tanhs(
        self, signals: FloatArray, lengths: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Return Σ_t η_t·tanh(f_t/2) over the steps of a block.

        Parameters
        ----------
        signals : ndarray of shape (n_descents, n_nodes, n_rows)
            The past.
        lengths : ndarray of shape (n_descents, n_steps)
            η_t.
        weights : ndarray of shape (n_descents, n_steps, n_nodes)
            Of the past at every step.
        """


class _Gliding(_Regime):
    history = GLIDING_HISTORY

    def __init__(
        self, problem: _Problem, descents: Descents, coefs: FloatArray, start: int
    ) -> None:
        super().__init__(problem, descents, coefs, start)
        # What glides only now has walked along modes so steep that rounding would move it on them.
        has_walked = problem.regimes(descents, 0).any()
        self.slow_matrix = problem.gram.astype(np.float64 if has_walked else np.float32)
        reach = max(self.greatest_length * problem.top_rate, np.finfo(float).eps)
        self.first_block = max(int(NO_MOVEMENT / reach), 1)
        self.longest_block = int(GLIDING_MOVEMENT / reach)

    def _signal(self, scores: FloatArray) -> FloatArray:
        scores /= 2
        return np.tanh(scores, out=scores)

    def _sum_tanhs(
        self, signals: FloatArray, lengths: FloatArray, weights: FloatArray
    ) -> FloatArray:
        return _sum_extrapolated(signals, lengths, weights)


class _Walking(_Regime):
    precision: type[np.floating[Any]] = np.float32
    history = WALKING_HISTORY

    def __init__(
        self, problem: _Problem, descents: Descents, coefs: FloatArray, start: int
    ) -> None:
        super().__init__(problem, descents, coefs, start)
        n_fast, self.first_block, self.longest_block = problem.walk(self.greatest_length)
        self.values, self.modes, self.slow_matrix = problem.split(n_fast)
        self.fast = coefs @ self.modes
        self.coefs = coefs - self.fast @ self.modes.T
        to_signal = -np.square(self.values)[:, None] * self.modes.T
        self.to_signal = np.ascontiguousarray(to_signal, self.precision)
        to_slopes = problem.gain[:, None] * self.modes
        self.to_slopes = np.ascontiguousarray(to_slopes, self.precision)
        self.push = problem.push @ self.modes

    def keep(self, stays: NDArray[np.bool_]) -> None:
        super().keep(stays)
        self.fast = self.fast[stays]

    def advance(self, end: int) -> FloatArray:
        coefs = super().advance(end)
        return np.asarray(coefs + (self.fast - coefs @ self.modes) @ self.modes.T)

    def _signal(self, scores: FloatArray) -> FloatArray:
        return np.negative(scores, out=scores)

    def _sum_tanhs(
        self, signals: FloatArray, lengths: FloatArray, weights: FloatArray
    ) -> FloatArray:
        signals, weights = (a.astype(self.precision, copy=False) for a in (signals, weights))
        summed = np.zeros(signals[:, 0].shape)
        for first in range(0, lengths.shape[1], STEPS_AT_ONCE):
            few = slice(first, first + STEPS_AT_ONCE)
            summed += self._sum_few_tanhs(signals, lengths[:, few], weights[:, few])
        return summed

    def _sum_few_tanhs(
        self, signals: FloatArray, lengths: FloatArray, weights: FloatArray
    ) -> FloatArray:
        columns = np.ascontiguousarray(lengths.T)[:, :, None]
        kept = 1 - 2 * columns * self.descents.reg_strength * self.values
        pushes = columns * self.push
        tanhs = np.empty((len(columns), len(signals), signals.shape[2]), self.precision)
        by_descent = tanhs.transpose(1, 0, 2)
        np.matmul(weights, signals, out=by_descent)
        added = np.empty_like(tanhs[0])
        for tanh, keep, push, column in zip(tanhs, kept, pushes, columns, strict=True):
            fast = self.fast.astype(self.precision, copy=False)
            tanh += np.matmul(fast, self.to_signal, out=added)
            # tanh(f/2) = 2/(1 + exp(−f)) − 1, and exp takes half the time of tanh.
            np.exp(tanh, out=tanh)
            tanh += 1
            np.divide(2, tanh, out=tanh)
            tanh -= 1
            self.fast *= keep
            self.fast += push
            self.fast -= column * (tanh @ self.to_slopes)
        return np.asarray((lengths[:, None].astype(self.precision) @ by_descent)[:, 0])


class _Swinging(_Walking):
    precision = np.float64


REGIMES = (_Gliding, _Walking, _Swinging)


def _sum_extrapolated(past: FloatArray, lengths: FloatArray, weights: FloatArray) -> FloatArray:
    """Return Σ_t η_t·Σ_k weights_tk·past_k of every descent."""
    summed = (lengths[:, None] @ weights).astype(past.dtype, copy=False)
    return np.asarray((summed @ past)[:, 0])
