"""Several classes with a method for two: one model per class, each against the rest.

InvCal and ∝SVM are for two classes. Column c of the shares is what they need to separate class c
from the rest, and scikit-learn's OneVsRestClassifier combines the fitted models: the largest
decision value decides. OneVsRestClassifier.fit itself needs labels, so its models are fitted here.

Run it: python examples/one_versus_rest.py
"""

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import LabelBinarizer, scale

from decorrupt.baselines import AlternatingPSVMClassifier, InvCalClassifier


def fit_one_versus_rest(estimator, X, y, *, bags, classes=None):
    """Return a OneVsRestClassifier of clones of `estimator`, fitted on the columns of y."""
    classes = np.arange(y.shape[1]) if classes is None else np.asarray(classes)
    order = np.argsort(classes)  # LabelBinarizer sorts its classes
    model = OneVsRestClassifier(estimator)
    model.estimators_ = [clone(estimator).fit(X, y[:, c], bags=bags) for c in order]
    model.label_binarizer_ = LabelBinarizer().fit(classes)
    model.classes_ = model.label_binarizer_.classes_
    return model


def wine_in_bags(bag_size=8, seed=0):
    """Return rows, shares of the three classes, bags, and the labels, which no model sees."""
    X, labels = load_wine(return_X_y=True)
    bags = np.random.default_rng(seed).permutation(len(labels)) // bag_size
    counts = np.array([np.bincount(bags, labels == c) for c in range(3)]).T
    shares = counts / counts.sum(axis=1, keepdims=True)
    return scale(X), shares[bags], bags, labels


def main():
    """Print how many rows each method labels correctly."""
    X, y, bags, labels = wine_in_bags()
    for estimator in (InvCalClassifier(), AlternatingPSVMClassifier(random_state=0)):
        model = fit_one_versus_rest(estimator, X, y, bags=bags)
        share = np.mean(model.predict(X) == labels)
        print(f"{type(estimator).__name__}: {share:.3f} of the training rows are right")


if __name__ == "__main__":
    main()
