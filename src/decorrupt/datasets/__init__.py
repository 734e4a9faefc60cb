"""Data sets and bags; true labels of training rows do not leave this package."""

from decorrupt.datasets.bags import BagDataset, Bags, make_bags
from decorrupt.datasets.embedded import (
    load_breast_cancer_bags,
    load_digits_bags,
    load_wine_bags,
)
from decorrupt.datasets.synthetic import (
    CorruptedSources,
    GaussianData,
    make_corrupted_sources,
    make_gaussian_classes,
)
from decorrupt.datasets.uci import UCI_NAMES, UciDataset, fetch_uci

__all__ = [
    "UCI_NAMES",
    "BagDataset",
    "Bags",
    "CorruptedSources",
    "GaussianData",
    "UciDataset",
    "fetch_uci",
    "load_breast_cancer_bags",
    "load_digits_bags",
    "load_wine_bags",
    "make_bags",
    "make_corrupted_sources",
    "make_gaussian_classes",
]
