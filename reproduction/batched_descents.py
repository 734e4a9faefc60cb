"""Several gradient descents on one kernel matrix, run as one batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from reproduction import FloatArray

# Eigenvectors of K along which no score can move further than this are left out.
NEGLIGIBLE = 1e-10


@dataclass(frozen=True)
class Descents:
    """Step lengths η_t = step_size·exp(−step_decay·t) and λ, one entry per descent."""

    step_size: FloatArray
    step_decay: FloatArray
    reg_strength: FloatArray

    def lengths(self, n_steps: int) -> FloatArray:
        """Return η_t of every step (axis 0) and descent (axis 1)."""
        steps = np.arange(n_steps)[:, None]
        return np.asarray(self.step_size * np.exp(-self.step_decay * steps))


def descend_together(
    gram: FloatArray, coef: FloatArray, descents: Descents, checkpoints: list[int]
) -> FloatArray:
    """Return α at every checkpoint (axis 0) of every descent (axis 2), started at zero.

    With the eigenvectors U and eigenvalues v of K, f = Kα = U·s, the paper's step
    α ← α − η_t·K(g + 2λα) is

        s ← s − η_t·(v²·Uᵀg + 2λ·v·s),        g = gain·tanh(f/2) − push,

    where 2·gain and 2·push are the sum and the difference of the coefficients of the positive and
    the negative class. A step of all descents takes one product with U and one with Uᵀ.

    Parameters
    ----------
    gram : ndarray of shape (n_rows, n_rows)
        K.
    coef : ndarray of shape (n_rows, 2)
        The coefficients of Σ_j coef[j, 1]·ℓ(f_j,1) + coef[j, 0]·ℓ(f_j,−1), ℓ the logistic loss.
    descents : Descents
        Step lengths and penalties.
    checkpoints : list of int
        Numbers of steps, in ascending order.
    """
    neg, pos = coef.T
    gain, push = (pos + neg) / 2, (pos - neg) / 2
    lengths = descents.lengths(checkpoints[-1])
    values, vectors = eigh(gram)
    # |g| ≤ |gain| + |push|, and the penalty only shrinks the scores.
    farthest = lengths.sum(axis=0).max() * np.linalg.norm(np.abs(gain) + np.abs(push))
    kept = values**2 * farthest > NEGLIGIBLE
    values, vectors = values[kept, None], np.ascontiguousarray(vectors[:, kept])
    to_slopes = values**2 * (vectors.T * gain)
    pushes = values**2 * (vectors.T @ push)[:, None]
    pulls = 2 * descents.reg_strength * values
    scores, found = np.zeros_like(pulls), []
    with np.errstate(all="ignore"):  # non-finite results are caught by the criterion
        for step, length in enumerate(lengths, start=1):
            tanhs = np.tanh(vectors @ (scores / 2))
            scores -= length * (to_slopes @ tanhs - pushes + pulls * scores)
            if step in checkpoints:
                found.append(vectors @ (scores / values))
    return np.stack(found)
