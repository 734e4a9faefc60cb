"""Bags and sources with hidden labels, and their Dask forms."""

import os
import signal
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np

import decorrupt
from decorrupt import bag_targets, distributed
from decorrupt.corruption import corrupt_labels


@dataclass
class BagRows:
    X: Any
    y: Any
    bags: Any
    labels: Any

    def dask(self, chunks=170):
        """X, y and bags with equal chunks of rows."""
        return as_dask(*self[:3], chunks=chunks)

    def __getitem__(self, part):
        return (self.X, self.y, self.bags, self.labels)[part]


def bag_rows(n_rows=600, bag_size=10, n_classes=2, seed=0):
    """Bags of different proportions, one after the other."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n_rows)
    X = rng.normal(size=(n_rows, 4))
    X[np.arange(n_rows), labels] += 1.5
    order = np.argsort(labels + 1.5 * rng.normal(size=n_rows))
    bags = np.empty(n_rows, dtype=int)
    bags[order] = np.arange(n_rows) // bag_size
    shares = np.array(
        [np.bincount(labels[bags == b], minlength=n_classes) for b in np.unique(bags)]
    )
    shares = shares / shares.sum(axis=1, keepdims=True)
    y = bag_targets(bags, shares[:, 1] if n_classes == 2 else shares)
    rows = np.argsort(bags, kind="stable")
    return BagRows(X[rows], y[rows], bags[rows], labels[rows])


RATES = {"nurse": (0.05, 0.1), "rule": (0.3, 0.2), "web": (0.2, 0.0)}


# Transition matrices of three classes.
MATRICES = {
    "nurse": [[0.8, 0.1, 0.1], [0.0, 1.0, 0.0], [0.2, 0.2, 0.6]],
    "rule": [[0.7, 0.3, 0.0], [0.1, 0.8, 0.1], [0.1, 0.0, 0.9]],
    "web": [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]],
}


def source_rows(n_rows=600, seed=0, rates=RATES, n_classes=2):
    """Rows, noisy labels and sources with these rates."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n_rows)
    X = rng.normal(size=(n_rows, 4))
    X = X + labels[:, None] if n_classes == 2 else X + 1.5 * np.eye(4)[labels]
    sources = np.array(list(rates))[rng.integers(0, len(rates), n_rows)]
    noisy = labels.copy()
    for source, own in rates.items():
        noisy[sources == source] = corrupt_labels(labels[sources == source], own, random_state=0)
    return X, noisy, sources


def as_dask(*several, chunks=170):
    """Return the Dask form of several arrays, with equal chunks of rows."""
    return [da.from_array(values, chunks=(chunks, *values.shape[1:])) for values in several]


def pair(name, **params):
    """Return the Dask estimator and its twin, both solving their problem exactly."""
    params = {"tol": 1e-9, "reg_strength": 1e-2, "random_state": 0} | params
    return getattr(distributed, f"Dask{name}")(**params), getattr(decorrupt, name)(**params)


def read_or_die(rows, trap):
    """Return the rows; the worker that finds the trap dies.

    Workers import this module by name: a test module they cannot.
    """
    try:
        trap.unlink()
    except FileNotFoundError:
        return rows
    return os.kill(os.getpid(), signal.SIGKILL)
