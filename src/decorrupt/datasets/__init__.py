"""Data sets and bags; true labels of training rows do not leave this package."""

from decorrupt.datasets.bag_cases import BAG_CASES, GaussianBags, make_gaussian_bags
from decorrupt.datasets.bags import BagDataset, Bags, make_bags
from decorrupt.datasets.design import design_bags
from decorrupt.datasets.embedded import (
    TEST_SIZE,
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

__all__ = [
    "BAG_CASES",
    "TEST_SIZE",
    "BagDataset",
    "Bags",
    "CorruptedSources",
    "GaussianBags",
    "GaussianData",
    "design_bags",
    "load_breast_cancer_bags",
    "load_digits_bags",
    "load_wine_bags",
    "make_bags",
    "make_corrupted_sources",
    "make_gaussian_bags",
    "make_gaussian_classes",
]
