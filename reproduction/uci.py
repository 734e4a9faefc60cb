"""The paper's seven data sets and Adult as binary tasks, read from the folder $DECORRUPT_DATA.

Each is `<name>.csv.gz` or `<name>.csv`, with a header row and the class in the last column.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

UCI_LICENCE = "CC BY 4.0"


class Source(NamedTuple):
    """Description of one data set; the sha256 is of the uncompressed CSV."""

    n_features: int
    positive_classes: tuple[str, ...]
    reference: str
    page: str
    sha256: str


def _sources() -> dict[str, Source]:
    lines = Path(__file__).with_name("uci.csv").read_text(encoding="utf-8").splitlines()
    return {
        row.pop("name"): Source(
            int(row.pop("n_features")), tuple(row.pop("positive_classes").split()), **row
        )
        for row in csv.DictReader(lines)
    }


UCI_SOURCES = _sources()


@dataclass(frozen=True, eq=False)
class UciDataset:
    """A data set as a binary task.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        Floats; for adult and german_categorical an object array with codes as strings, numbers as
        floats and NaN for missing values.
    y : ndarray of int, shape (n_rows,)
        1 if the original class is one of the positive classes, else 0.
    original_classes : ndarray of str, shape (n_rows,)
        The original class of each row, for tasks with several classes.
    feature_names : tuple of str
        The columns of X.
    """

    X: NDArray[Any]
    y: NDArray[np.int_]
    original_classes: NDArray[np.str_]
    feature_names: tuple[str, ...]


def read_uci(name: str) -> UciDataset:
    """Return a data set of `UCI_SOURCES`.

    Raises
    ------
    ValueError
        If the name is unknown.
    OSError
        If there is no file, or it has the wrong sha256.
    """
    if name not in UCI_SOURCES:
        raise ValueError(f"unknown data set {name!r}: choose one of {', '.join(UCI_SOURCES)}")
    source, folder = UCI_SOURCES[name], Path(os.environ.get("DECORRUPT_DATA", ""))
    path = next((p for p in folder.glob(f"{name}.csv*") if p.suffix in (".csv", ".gz")), None)
    if path is None:
        raise OSError(
            f"{name}.csv.gz is not in $DECORRUPT_DATA ({folder}); its page: {source.page}"
        )
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if hashlib.sha256(content).hexdigest() != source.sha256:
        raise OSError(f"{path} is not the file of the paper's experiments: its sha256 differs")
    header, *rows = csv.reader(content.decode().splitlines())
    cells = np.array(rows)
    return UciDataset(
        X=_features(cells[:, :-1]),
        y=np.isin(cells[:, -1], source.positive_classes).astype(int),
        original_classes=cells[:, -1],
        feature_names=tuple(header[:-1]),
    )


def _features(cells: NDArray[np.str_]) -> NDArray[Any]:
    try:
        return cells.astype(float)
    except ValueError:  # codes among the numbers
        features = cells.astype(object)
        for k, column in enumerate(cells.T):
            if not any(cell[:1].isalpha() for cell in column):
                features[:, k] = column.astype(float)
        features[cells == ""] = np.nan
        return features
