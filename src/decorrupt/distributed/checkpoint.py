"""The coefficients after every pass, so that an interrupted fit resumes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.atomic import atomic_write

FORMAT = 1


@dataclass(frozen=True)
class Checkpoint:
    """A file with the coefficients, and what identifies the problem they belong to.

    Attributes
    ----------
    path : Path
        The file, in numpy's npz format.
    """

    path: Path

    def seed(self) -> int | None:
        """Return the seed of the interrupted fit; None if there is no file."""
        return int(self._load()["seed"]) if self.path.exists() else None

    def resume(self, problem: Mapping[str, Any]) -> FloatArray | None:
        """Return the coefficients to start from; None if there is no file.

        Raises
        ------
        ValueError
            If the file belongs to another problem; the message names the first difference.
        """
        if not self.path.exists():
            return None
        saved = self._load()
        before, now = json.loads(str(saved["problem"])), json.loads(_to_json(problem))
        for name in sorted({*before, *now}):
            if before.get(name) != now.get(name):
                raise ValueError(
                    f"checkpoint={str(self.path)!r} belongs to another problem: {name} was "
                    f"{before.get(name)!r} and is {now.get(name)!r}. Delete the file, or choose "
                    "another one"
                )
        return np.asarray(saved["coef"])

    def write(self, coef: FloatArray, seed: int, problem: Mapping[str, Any]) -> None:
        """Replace the file; a reader finds either the old or the new one."""
        with atomic_write(self.path, force=True) as temporary, temporary.open("wb") as file:
            np.savez(file, format=FORMAT, coef=coef, seed=seed, problem=_to_json(problem))

    def _load(self) -> dict[str, Any]:
        try:
            with np.load(self.path, allow_pickle=False) as saved:
                return {name: saved[name] for name in ("coef", "seed", "problem")}
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise ValueError(
                f"checkpoint={str(self.path)!r} is not a checkpoint of decorrupt ({error}): delete "
                "the file, or choose another one"
            ) from None


def _to_json(problem: Mapping[str, Any]) -> str:
    return json.dumps(dict(problem), sort_keys=True, default=str)


def digest(*arrays: Any) -> str:
    """Return a short fingerprint of arrays, equal for equal values."""
    found = hashlib.sha256()
    for array in arrays:
        values = np.asarray(array)
        found.update(str(values.shape).encode())
        found.update(repr(values.tolist()).encode() if values.dtype == object else values.tobytes())
    return found.hexdigest()[:16]
