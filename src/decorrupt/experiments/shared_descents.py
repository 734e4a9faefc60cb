"""Many gradient descents on one kernel matrix, all at once and with few products with it.

With α = Kc the paper's step α ← α − η_t·K(g + 2λα) reads c ← c − η_t·(g + 2λKc), f = K²c, and the
logistic loss has g = gain·tanh(f/2) − push, 2·gain = coef_pos + coef_neg, 2·push = coef_pos −
coef_neg. How far one step can move the scores decides how a descent is followed to the next
checkpoint:

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
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from decorrupt.corruption import RiskTerms
from decorrupt.losses import get_loss
from decorrupt.losses.margin import FloatArray

LOSS = get_loss("logistic")
# η times the greatest curvature above which a step can overshoot by more than it corrects.
SWING = 2.0
# Ends of blocks through which is extrapolated into the next block. Swings shake what is
# extrapolated, and the more ends, the more a shake is amplified.
HISTORY = 5
SWINGING_HISTORY = 3
# How far what is extrapolated may relax in a block; the error goes with a power of it.
GLIDING_MOVEMENT = 0.1
WALKING_MOVEMENT = 0.04
# A swing magnifies errors, the more the further it overshoots: what a walk allows falls with the
# tenth power, down to this. Both are experience, not derived.
LEAST_SWINGING_MOVEMENT = 1e-7
# Where so little moves, a block needs no history.
NO_MOVEMENT = 1e-4
# A block has this share of the steps before it, until it is as long as it may be.
GROWTH = 0.25
WALKING_BLOCKS = (10, 25, 50, 100)
# With shorter blocks the products with all of K cost more than walking.
LEAST_GLIDING_BLOCK = 50
# What η times the greatest curvature is at most in the first two regimes.
REGIME_BOUNDS = (GLIDING_MOVEMENT / LEAST_GLIDING_BLOCK, SWING)
POWER_ITERATIONS = 5


@dataclass(frozen=True)
class Descents:
    """η_t = step_size·exp(−step_decay·t) and λ, as columns with one entry a descent."""

    step_size: FloatArray
    step_decay: FloatArray
    reg_strength: FloatArray

    def take(self, chosen: NDArray[np.intp]) -> Descents:
        """Return some of them."""
        columns = (self.step_size, self.step_decay, self.reg_strength)
        return Descents(*(column[chosen] for column in columns))

    def lengths(self, steps: Any) -> FloatArray:
        """Return η_t of every descent (axis 0) and step (axis 1)."""
        return np.asarray(self.step_size * np.exp(-self.step_decay * np.asarray(steps)))

    def extrapolation(self, nodes: Any, n_steps: int) -> FloatArray:
        """Return the Lagrange weights of the nodes (axis 2) at steps 0, 1, … (axis 1).

        Time is counted in Ση, in which a descent goes evenly; up to a factor, which the weights
        do not feel, it looks the same from every step.
        """
        past, ahead = self._travelled(np.asarray(nodes)), self._travelled(np.arange(n_steps))
        away = ahead[:, :, None] - past[:, None, :]
        before, after = np.ones_like(away), np.ones_like(away)
        np.cumprod(away[:, :, :-1], axis=2, out=before[:, :, 1:])
        np.cumprod(away[:, :, :0:-1], axis=2, out=after[:, :, -2::-1])
        gaps = past[:, :, None] - past[:, None, :]
        own = np.arange(past.shape[1])
        gaps[:, own, own] = 1.0
        return np.asarray(before * after / gaps.prod(axis=2)[:, None])

    def _travelled(self, steps: NDArray[np.int_]) -> FloatArray:
        """Return (1 − exp(−decay·t))/decay, t itself without decay."""
        decay = np.maximum(self.step_decay, np.finfo(float).tiny)
        return np.where(self.step_decay < 1e-14, steps, -np.expm1(-decay * steps) / decay)


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
    regimes = np.empty(0, dtype=int)
    groups: list[tuple[NDArray[np.intp], _Regime]] = []
    found = []
    with np.errstate(all="ignore"):  # what leaves the finite numbers is told by the result
        for start, end in pairwise([0, *checkpoints]):
            reach = descents.lengths([start])[:, 0] * problem.top_rate
            before, regimes = regimes, np.digitize(reach, REGIME_BOUNDS, right=True)
            if not np.array_equal(before, regimes):
                groups = [
                    (chosen, REGIMES[k](problem, descents.take(chosen), coefs[chosen], start))
                    for k in np.unique(regimes)[::-1]  # swings ask for the most modes
                    for chosen in [np.flatnonzero(regimes == k)]
                ]
            for chosen, group in groups:
                coefs[chosen] = group.advance(end)
            found.append(gram @ coefs.T)
    return np.stack(found)


class _Problem:
    """K, the coefficients, and how fast the modes of K can relax."""

    def __init__(self, gram: FloatArray, terms: RiskTerms, descents: Descents) -> None:
        self.gram = gram
        self.gain = (terms.coef_pos + terms.coef_neg) / 2
        self.push = (terms.coef_pos - terms.coef_neg) / 2
        self.greatest_penalty = 2 * float(descents.reg_strength.max())
        self.row_curvature = 2 * LOSS.curvature_bound * np.abs(self.gain)
        self._least_rate = np.inf
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

    def rates(self, values: FloatArray) -> FloatArray:
        """Return how fast modes of these eigenvalues relax at most, for η = 1."""
        return np.asarray(values**2 * self.row_curvature.max() + values * self.greatest_penalty)

    def modes(self, least_rate: float) -> tuple[FloatArray, FloatArray]:
        """Return the eigenvalues of K that relax so fast, greatest first, and their vectors."""
        if least_rate < self._least_rate:
            half = self.greatest_penalty / (2 * self.row_curvature.max())
            least = np.sqrt(half**2 + least_rate / self.row_curvature.max()) - half
            values, vectors = eigh(self.gram, subset_by_value=(least, np.inf))
            self._modes = values[::-1], vectors[:, ::-1]
            self._least_rate = least_rate
        return self._modes

    def split(self, n_fast: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the greatest eigenvalues of K, their eigenvectors, and K without them."""
        if n_fast not in self._splits:
            values, modes = self._modes[0][:n_fast], self._modes[1][:, :n_fast]
            slow = self.gram - (modes * values) @ modes.T
            self._splits[n_fast] = values, modes, slow.astype(np.float32)
        return self._splits[n_fast]


class _Regime(ABC):
    """Descents from one checkpoint to the next, a block of steps at a time."""

    # What is extrapolated comes from K without its fast modes, in blocks of so many steps.
    slow_matrix: FloatArray
    first_block: int
    longest_block: int
    history = HISTORY

    def __init__(
        self, problem: _Problem, descents: Descents, coefs: FloatArray, start: int
    ) -> None:
        self.problem, self.descents, self.coefs = problem, descents, coefs
        self.start, self.step = start, start
        self.greatest_length = float(descents.lengths([start]).max())
        # Where blocks ended, with Kc and the signal there.
        self.past: deque[tuple[int, FloatArray, FloatArray]] = deque(maxlen=self.history)
        self._weights: dict[tuple[int, ...], FloatArray] = {}

    def advance(self, end: int) -> FloatArray:
        """Return c after step number `end`."""
        while self.step < end:
            pull = self.coefs.astype(self.slow_matrix.dtype, copy=False) @ self.slow_matrix
            self.past.append((self.step, pull, self._signal(pull @ self.slow_matrix / 2)))
            growing = max(int(GROWTH * (self.step - self.start)), self.first_block)
            self._take(min(growing, self.longest_block, end - self.step))
        return self.coefs

    def _take(self, n_steps: int) -> None:
        nodes, pulls, signals = zip(*self.past, strict=True)
        lengths = self.descents.lengths(np.arange(self.step, self.step + n_steps))
        weights = self._extrapolation(nodes, n_steps)
        summed_pulls = _sum_extrapolated(np.stack(pulls, axis=1), lengths, weights)
        self.coefs -= self.problem.gain * self._sum_tanhs(
            np.stack(signals, axis=1), lengths, weights
        )
        self.coefs += self.problem.push * lengths.sum(axis=1, keepdims=True)
        self.coefs -= 2 * self.descents.reg_strength * summed_pulls
        self.step += n_steps

    def _extrapolation(self, nodes: tuple[int, ...], n_steps: int) -> FloatArray:
        key = (n_steps, *(node - self.step for node in nodes))
        if key not in self._weights:
            self._weights[key] = self.descents.extrapolation(key[1:], n_steps)
        return self._weights[key]

    @abstractmethod
    def _signal(self, half_scores: FloatArray) -> FloatArray:
        """Return what to extrapolate, from half the scores of K without its fast modes."""

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
    def __init__(
        self, problem: _Problem, descents: Descents, coefs: FloatArray, start: int
    ) -> None:
        super().__init__(problem, descents, coefs, start)
        # What glides only now has walked along modes so steep that rounding would move it on them.
        has_walked = descents.step_size.max() * problem.top_rate > REGIME_BOUNDS[0]
        self.slow_matrix = problem.gram.astype(np.float64 if has_walked else np.float32)
        reach = max(self.greatest_length * problem.top_rate, np.finfo(float).eps)
        self.first_block = max(int(NO_MOVEMENT / reach), 1)
        self.longest_block = int(GLIDING_MOVEMENT / reach)

    def _signal(self, half_scores: FloatArray) -> FloatArray:
        return np.tanh(half_scores, out=half_scores)

    def _sum_tanhs(
        self, signals: FloatArray, lengths: FloatArray, weights: FloatArray
    ) -> FloatArray:
        return _sum_extrapolated(signals, lengths, weights)


class _Walking(_Regime):
    precision: type[np.floating[Any]] = np.float32
    first_block = 1

    def __init__(
        self, problem: _Problem, descents: Descents, coefs: FloatArray, start: int
    ) -> None:
        super().__init__(problem, descents, coefs, start)
        n_fast, self.longest_block = self._choose_block()
        self.values, self.modes, self.slow_matrix = problem.split(n_fast)
        self.fast = coefs @ self.modes
        self.coefs = coefs - self.fast @ self.modes.T
        to_half_scores = np.square(self.values)[:, None] * self.modes.T / 2
        self.to_half_scores = np.ascontiguousarray(to_half_scores, self.precision)
        to_slopes = problem.gain[:, None] * self.modes
        self.to_slopes = np.ascontiguousarray(to_slopes, self.precision)
        self.push = problem.push @ self.modes

    def _choose_block(self) -> tuple[int, int]:
        """Return the number of fast modes and the block that cost least.

        A mode costs every step what a row costs once a block.
        """
        movement = self._movement()
        values, vectors = self.problem.modes(
            movement / (max(WALKING_BLOCKS) * self.greatest_length)
        )
        reach = self.problem.rates(values) * self.greatest_length
        n_fast = {b: int(np.sum(reach * b > movement)) for b in WALKING_BLOCKS}
        block = min(n_fast, key=lambda b: n_fast[b] + len(vectors) / b)
        return n_fast[block], block

    def _movement(self) -> float:
        """Return how far an extrapolated mode may relax in a block."""
        return WALKING_MOVEMENT

    def advance(self, end: int) -> FloatArray:
        coefs = super().advance(end)
        return np.asarray(coefs + (self.fast - coefs @ self.modes) @ self.modes.T)

    def _signal(self, half_scores: FloatArray) -> FloatArray:
        return half_scores

    def _sum_tanhs(
        self, signals: FloatArray, lengths: FloatArray, weights: FloatArray
    ) -> FloatArray:
        n_descents, n_steps = lengths.shape
        tanhs = np.empty((n_steps, n_descents, signals.shape[2]), self.precision)
        by_descent = tanhs.transpose(1, 0, 2)
        signals = signals.astype(self.precision, copy=False)
        np.matmul(weights.astype(self.precision, copy=False), signals, out=by_descent)
        columns = lengths.T[:, :, None]
        kept = 1 - 2 * columns * self.descents.reg_strength * self.values
        pushes = columns * self.push
        added = np.empty_like(tanhs[0])
        for step, scores in enumerate(tanhs):
            np.matmul(self.fast.astype(self.precision, copy=False), self.to_half_scores, out=added)
            scores += added
            self._tanh(scores)
            self.fast *= kept[step]
            self.fast += pushes[step]
            self.fast -= columns[step] * (scores @ self.to_slopes)
        return np.asarray((lengths[:, None].astype(self.precision) @ by_descent)[:, 0])

    @staticmethod
    def _tanh(x: FloatArray) -> None:
        """Put tanh(x) in place of x."""
        np.tanh(x, out=x)


class _Swinging(_Walking):
    precision = np.float64
    history = SWINGING_HISTORY

    def _movement(self) -> float:
        reach = self.greatest_length * self.problem.top_rate
        return max(WALKING_MOVEMENT * (SWING / reach) ** 10, LEAST_SWINGING_MOVEMENT)

    @staticmethod
    def _tanh(x: FloatArray) -> None:
        # Half the time of tanh, and its rounding near zero is far below what matters.
        x *= -2
        np.exp(x, out=x)
        x += 1
        np.divide(2, x, out=x)
        x -= 1


REGIMES = (_Gliding, _Walking, _Swinging)


def _sum_extrapolated(past: FloatArray, lengths: FloatArray, weights: FloatArray) -> FloatArray:
    """Return Σ_t η_t·Σ_k weights_tk·past_k of every descent."""
    summed = (lengths[:, None] @ weights).astype(past.dtype, copy=False)
    return np.asarray((summed @ past)[:, 0])
