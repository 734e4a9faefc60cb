"""Trees in model files: they load and predict, and no index of a damaged one is used."""

import io
import json
import zipfile

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeRegressor

from decorrupt import EMClassifier, load, save
from decorrupt.model_files import ModelFileError


@pytest.mark.parametrize(
    "learner",
    [None, ExtraTreesClassifier(5, min_samples_leaf=3), LogisticRegression()],
    ids=["forest", "extra-trees", "logistic"],
)
def test_a_model_around_any_learner_is_saved(learner, bag_data, tmp_path):
    d = bag_data
    model = EMClassifier(learner, cv=2, random_state=0).fit(d.X, d.y, bags=d.bags)
    save(model, tmp_path / "m.skops")
    again = load(tmp_path / "m.skops")
    np.testing.assert_allclose(again.predict_proba(d.X), model.predict_proba(d.X))


def test_learners_outside_the_list_are_named(bag_data, tmp_path):
    d = bag_data
    model = EMClassifier(HistGradientBoostingClassifier(max_iter=5), cv=2, random_state=0)
    model.fit(d.X, d.y, bags=d.bags)
    advice = r"HistGradientBoostingClassifier.*joblib\.dump"
    with pytest.raises(ModelFileError, match=advice):
        save(model, tmp_path / "m.skops")


def one_tree(folder):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    bags = np.arange(80) // 2
    model = EMClassifier(DecisionTreeRegressor(max_depth=3), cv=2, random_state=0)
    save(model.fit(X, rng.random(40).round()[bags], bags=bags), folder / "m.skops")
    return folder / "m.skops"


def rewritten(path, change):
    """Write the file again with its tree's nodes, and its schema, changed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(members["schema.json"])
    for name, content in members.items():
        if name.endswith(".npy"):
            array = np.load(io.BytesIO(content))
            if array.dtype.names:
                change(array, schema)
                buffer = io.BytesIO()
                np.save(buffer, array)
                members[name] = buffer.getvalue()
    members["schema.json"] = json.dumps(schema).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def set_node(field, value):
    def change(nodes, _):
        nodes[field][0] = value

    return change


def set_columns(_, schema):
    schema["content"]["content"]["estimator_"]["content"]["content"]["n_features_in_"][
        "content"
    ] = "1"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (set_node("left_child", 10**6), "not below it"),
        (set_node("right_child", 0), "not below it"),
        (set_node("right_child", -5), "not below it"),
        (set_node("feature", 2), "column that does not exist"),
        (set_node("feature", -3), "column that does not exist"),
        (set_columns, "trees of \\[2\\] columns in a model of 1"),
    ],
)
def test_damaged_trees_are_refused(change, reason, tmp_path):
    path = rewritten(one_tree(tmp_path), change)
    with pytest.raises(ModelFileError, match=reason):
        load(path)


def test_an_unchanged_tree_loads(tmp_path):
    load(rewritten(one_tree(tmp_path), lambda *_: None))
