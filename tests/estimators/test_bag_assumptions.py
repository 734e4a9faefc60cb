import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from decorrupt import (
    BagGridSearchCV,
    CorrectedLossClassifier,
    CountLikelihoodClassifier,
    MeanMapClassifier,
)
from decorrupt.baselines import InvCalClassifier
from decorrupt.exceptions import BagAssumptionWarning

# The violation also makes corrected risks negative.
pytestmark = pytest.mark.filterwarnings("ignore::decorrupt.exceptions.NegativeRiskWarning")

NEED_COMMON_CLASSES = [
    CorrectedLossClassifier(random_state=0),
    MeanMapClassifier(random_state=0),
    InvCalClassifier(),
]


def in_bags(bags_of):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    labels = rng.random(400) < 1 / (1 + np.exp(-2 * X[:, 0]))
    bags = bags_of(X, rng) // 20
    return X, (np.bincount(bags, labels) / 20)[bags], bags


@pytest.fixture
def by_feature():
    return in_bags(lambda X, _: np.argsort(np.argsort(X[:, 0])))


@pytest.fixture
def at_random():
    return in_bags(lambda X, rng: rng.permutation(len(X)))


@pytest.mark.parametrize("model", NEED_COMMON_CLASSES, ids=lambda model: type(model).__name__)
def test_methods_that_assume_common_classes_warn(model, by_feature, at_random):
    X, y, bags = by_feature
    with pytest.warns(BagAssumptionWarning, match=f"{type(model).__name__}.*column 0 differ"):
        model.fit(X, y, bags=bags)
    with warnings.catch_warnings():
        warnings.simplefilter("error", BagAssumptionWarning)
        X, y, bags = at_random
        model.fit(X, y, bags=bags)
        model.fit(X, (X[:, 0] > 0).astype(int))


def test_count_likelihood_does_not_need_them(by_feature):
    X, y, bags = by_feature
    CountLikelihoodClassifier(random_state=0).fit(X, y, bags=bags)


def test_a_pipeline_names_the_column(by_feature):
    X, y, bags = by_feature
    pd = pytest.importorskip("pandas")
    model = make_pipeline(StandardScaler(), MeanMapClassifier()).set_output(transform="pandas")
    with pytest.warns(BagAssumptionWarning, match="column 'income'"):
        model.fit(pd.DataFrame(X, columns=["income", "age"]), y, meanmapclassifier__bags=bags)


@pytest.mark.parametrize(
    "search",
    [
        BagGridSearchCV(CorrectedLossClassifier(), {"reg_strength": [0.1]}, cv=2),
        BagGridSearchCV(
            make_pipeline(StandardScaler(), CountLikelihoodClassifier()),
            {"countlikelihoodclassifier__reg_strength": [0.1]},
            cv=2,
        ),
    ],
    ids=["method and criterion", "criterion only"],
)
def test_searches_warn_once(search, by_feature):
    X, y, bags = by_feature
    with pytest.warns(BagAssumptionWarning) as caught:
        search.fit(X, y, bags=bags)
    assert sum(issubclass(one.category, BagAssumptionWarning) for one in caught) == 1
