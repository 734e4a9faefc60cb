"""Parameters, class names and folds of decorrupt fit, and bags by several columns."""

import json

import numpy as np
import pandas as pd
import pytest

from decorrupt.app.pages.documents import model_document
from decorrupt.app.training import methods
from decorrupt.estimators import CorruptedSourcesClassifier, ForwardSourcesClassifier
from decorrupt.features import KERNELS as LIBRARY_KERNELS
from decorrupt.features import WITHOUT_GAMMA
from decorrupt.features.kernels import FROM_ALL_ROWS
from decorrupt.model_files import load_with_metadata
from decorrupt.model_selection.candidates import resolve_candidates
from helpers.quick import QUICK_FIT


@pytest.fixture
def model(tmp_path):
    return tmp_path / "m.skops"


@pytest.fixture
def fitted(command, files, model):
    """Fit the bags with options: the card."""

    def call(*options):
        bags = (files.rows, files.bags, *files.in_bags)
        done = command("fit", *bags, *options, "--json", "--force", "-o", model)
        assert done.code == 0, done.err
        return json.loads(done.out)

    return call


@pytest.mark.parametrize("method", ["mean-map", "corrected-loss-pairs"])
@pytest.mark.parametrize("kernel", ["linear", "laplacian", "knn", "pca_rbf"])
def test_parameters_are_fixed_as_given(fitted, model, method, kernel):
    gamma = [] if kernel in ("linear", "knn") else ["--kernel-gamma", "0.25"]
    card = fitted(
        "--method", method, "--folds", 2, "--kernel", kernel, "--reg-strength", "0.04", *gamma
    )
    (row,) = card["leaderboard"]
    estimator = load_with_metadata(str(model))[0][-1].best_estimator_
    estimator = getattr(estimator, "estimator_", estimator)  # inside the calibrated model
    assert row["params"]["reg_strength"] == estimator.reg_strength == 0.04
    assert estimator.kernel == kernel
    assert estimator.kernel_gamma == 0.25 or not gamma


def test_several_values_are_searched(fitted):
    card = fitted(*QUICK_FIT, "--reg-strength", "1e-3,1e3")
    assert card["method"]["parameters"]["reg_strength"] == 1e-3  # 1e3 allows a constant only


def test_sources_take_parameters_too(command, files, model):
    labels = ["--label-column", "says", "--positive-label", "sick", "--source-column", "who"]
    options = ["--noise-rates", files.rates, "--method", "forward", "--folds", 2, "--json"]
    arguments = ["fit", files.noisy, *labels, *options, "-o", model, "--force"]
    card = json.loads(command(*arguments, "--kernel", "linear", "--reg-strength", "0.3").out)
    assert card["method"]["parameters"] == {"kernel": "linear", "reg_strength": 0.3}
    card = json.loads(
        command(
            *arguments, "--kernel", "rbf", "--kernel-gamma", "0.5", "--reg-strength", "0.3,0.03"
        ).out
    )
    assert card["method"]["parameters"]["kernel_gamma"] == 0.5
    assert card["method"]["parameters"]["reg_strength"] in (0.3, 0.03)
    done = command(*arguments, "--negative-label", "well")
    assert "--negative-label cannot be used for training on sources" in done.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--method", "invcal", "--reg-strength", "1"], "no reg_strength in invcal"),
        (["--method", "alternating-psvm", "--reg-strength", "1"], "in alternating-psvm"),
        (["--method", "thorough", "--reg-strength", "1"], "in invcal and alternating-psvm"),
        (["--kernel", "cosine"], "--kernel 'cosine': choose among linear, rbf"),
        (["--kernel", "linear", "--kernel-gamma", "1"], "cannot be used with --kernel linear"),
        (["--kernel", "knn", "--kernel-gamma", "1"], "cannot be used with --kernel knn"),
        (["--method", "invcal", "--kernel", "pca_rbf"], "cannot be used with --method invcal"),
        (["--kernel-gamma", "0"], "--kernel-gamma '0' must be a positive number"),
        (["--kernel-gamma", "small"], "--kernel-gamma 'small' must be a positive number"),
        (["--reg-strength", "-1"], "--reg-strength '-1' must be a positive number"),
        (["--reg-strength", "0.1,inf"], "--reg-strength 'inf' must be a positive number"),
        (["--negative-label", "no"], "--negative-label needs --positive-label"),
        (["--positive-label", "a", "--negative-label", "a"], "cannot be called 'a'"),
        (["--output", "m.pkl"], "'m.pkl': a model's name must end in .skops"),
    ],
)
def test_what_a_method_does_not_take_is_refused(command, files, model, options, words):
    done = command("fit", files.rows, files.bags, *files.in_bags, "-o", model, *options)
    assert done.code == 2
    assert words in done.err
    assert not model.exists()


def test_the_lists_of_parameters_are_those_of_the_library():
    assert set(methods.KERNELS) == set(LIBRARY_KERNELS) - {"precomputed"}
    assert set(methods.KERNELS) - set(methods.PAIR_KERNELS) == set(FROM_ALL_ROWS)
    assert set(methods.KERNELS_WITHOUT_GAMMA) == set(WITHOUT_GAMMA) - {"precomputed"}
    for name in methods.BAG_METHODS:
        tried = resolve_candidates(methods.bag_candidates(name))
        parameters = [one.estimator.get_params() for one in tried]
        has_kernel = [{"kernel", "kernel_gamma"} <= set(one) for one in parameters]
        assert has_kernel == [name not in methods.WITHOUT_KERNEL] * len(parameters)
        lacking = [one for one in parameters if "reg_strength" not in one]
        assert bool(lacking) == (name in methods.WITHOUT_REG_STRENGTH)
    for estimator in (CorruptedSourcesClassifier(), ForwardSourcesClassifier()):
        assert {"kernel", "kernel_gamma", "reg_strength"} <= set(estimator.get_params())


def test_classes_of_bags_have_names(command, files, fitted, model, tmp_path):
    card = fitted(*QUICK_FIT, "--positive-label", "sick", "--negative-label", "well")
    assert list(card["class_shares"]) == ["well", "sick"]
    told = set(command("predict", model, files.test).out.split()[1:])
    assert told == {"sick", "well"}
    lead = model_document(card, "m.skops").lead
    assert lead.startswith("This model classifies rows as “well” or “sick”.")
    named = pd.read_csv(files.test)
    named["label"] = np.where(named["label"] == 1, "sick", "well")
    named.to_csv(tmp_path / "named.csv", index=False)
    done = command("evaluate", model, tmp_path / "named.csv", "--label-column", "label", "--json")
    found = json.loads(done.out)["labels"]
    assert [one["name"] for one in found["classes"]] == ["well", "sick"]
    assert found["metrics"]["accuracy"]["value"] > 0.8


def test_the_negative_class_is_named_after_the_positive_one(fitted):
    card = fitted(*QUICK_FIT, "--positive-label", "sick")
    assert list(card["class_shares"]) == ["not sick", "sick"]


def test_more_folds_than_bags_are_said_to_be_fewer(fitted):
    card = fitted("--method", "mean-map", "--folds", 40, "--kernel", "linear")
    assert "--folds 40 is more than the number of bags: 30 folds are used" in card["warnings"]
    assert card["method"]["n_folds"] == 30


def test_advice_names_the_option(command, files, model):
    options = ["--method", "mean-map", "--folds", 2, "--kernel", "rbf", "--kernel-gamma", "100"]
    bags = (files.rows, files.bags, *files.in_bags)
    done = command("fit", *bags, *options, "--reg-strength", "1e-9", "-o", model, "--verbose")
    assert "Raise --reg-strength" in " ".join(done.out.split())


@pytest.fixture
def labelled(tmp_path):
    """Rows whose bag is a region and a year; two rows lack one of them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": range(60),
            "region": np.repeat(["a/b", "a", None], [29, 30, 1]),
            "year": [None, *(2020 + rng.integers(0, 3, 59))],
            "label": rng.integers(0, 2, 60),
        }
    )
    frame.to_csv(tmp_path / "labelled.csv", index=False)
    return frame


def test_bags_by_several_columns(command, labelled, tmp_path):
    rows, bags = tmp_path / "rows.csv", tmp_path / "bags.csv"
    outputs = ["-o", rows, "--bags-output", bags, "--label-column", "label"]
    arguments = ["bags", tmp_path / "labelled.csv", *outputs, "--by", "region,year"]
    done = command(*arguments)
    assert done.code == 2
    assert "row 60: column 'region' is empty" in done.err
    assert "--drop-missing-bags" in done.err
    done = command(*arguments, "--drop-missing-bags")
    assert done.code == 0, done.err
    assert "rows dropped, bag missing  2" in done.out
    cut, shares = pd.read_csv(rows), pd.read_csv(bags)
    assert list(cut) == ["bag", "id"]
    kept = labelled.dropna()
    true = kept.groupby(["region", "year"])["label"].mean()
    assert len(true) == len(shares) == cut["bag"].nunique()
    share = cut.merge(shares, on="bag").set_index("id")["1"]
    for number, region, year, _ in kept.itertuples(index=False):
        assert share[number] == pytest.approx(true[region, year])


def test_dropping_rows_without_bags_needs_by(command, labelled, tmp_path):
    outputs = ["-o", "r.csv", "--bags-output", "b.csv", "--label-column", "label"]
    done = command("bags", tmp_path / "labelled.csv", *outputs, "--drop-missing-bags")
    assert done.code == 2
    assert "give one of --bag-size, --sizes and --by" in done.err
    done = command(
        "bags", tmp_path / "labelled.csv", *outputs, "--bag-size", 5, "--drop-missing-bags"
    )
    assert "--drop-missing-bags goes with --by" in done.err
