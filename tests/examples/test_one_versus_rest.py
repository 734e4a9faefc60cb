"""One model per class: methods for two classes on the shares of three."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from decorrupt.baselines import AlternatingPSVMClassifier, InvCalClassifier

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "one_versus_rest.py"))
QUICK_PSVM = AlternatingPSVMClassifier(n_starts=1, random_state=0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", [InvCalClassifier(), QUICK_PSVM], ids=str)
def test_the_largest_decision_value_of_all_models_decides(estimator):
    X, y, bags, labels = EXAMPLE["wine_in_bags"]()
    names = np.array(["red", "white", "pink"])  # not sorted
    model = EXAMPLE["fit_one_versus_rest"](estimator, X, y, bags=bags, classes=names)
    by_hand = [clone(estimator).fit(X, share, bags=bags).decision_function(X) for share in y.T]
    assert model.predict(X).tolist() == names[np.argmax(by_hand, axis=0)].tolist()
    assert np.mean(model.predict(X) == names[labels]) > 0.8
