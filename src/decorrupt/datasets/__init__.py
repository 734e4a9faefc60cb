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
from decorrupt.datasets.uci import UCI_LICENCE, UCI_NAMES, UCI_SOURCES, UciDataset, fetch_uci

__all__ = [
    "BAG_CASES",
    "TEST_SIZE",
    "UCI_LICENCE",
    "UCI_NAMES",
    "UCI_SOURCES",
    "BagDataset",
    "Bags",
    "CorruptedSources",
    "GaussianBags",
    "GaussianData",
    "UciDataset",
    "design_bags",
    "fetch_uci",
    "load_breast_cancer_bags",
    "load_digits_bags",
    "load_wine_bags",
    "make_bags",
    "make_corrupted_sources",
    "make_gaussian_bags",
    "make_gaussian_classes",
]
