"""Data sets and bags; true labels of training rows do not leave this package."""

from decorrupt.datasets.bags import Bags, make_bags
from decorrupt.datasets.embedded import (
    TEST_SIZE,
    BagDataset,
    load_breast_cancer_bags,
    load_digits_bags,
    load_wine_bags,
)
from decorrupt.datasets.synthetic import (
    CorruptedSources,
    GaussianClasses,
    GaussianData,
    make_corrupted_sources,
    make_gaussian_classes,
)

__all__ = [
    "TEST_SIZE",
    "BagDataset",
    "Bags",
    "CorruptedSources",
    "GaussianClasses",
    "GaussianData",
    "load_breast_cancer_bags",
    "load_digits_bags",
    "load_wine_bags",
    "make_bags",
    "make_corrupted_sources",
    "make_gaussian_classes",
]
