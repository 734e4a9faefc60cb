"""fit and predict on Parquet files in partitions, and tables that do not fit in memory."""

import numpy as np
import pandas as pd
import pytest

from decorrupt import features, load
from decorrupt.app.cli import engines

pytest.importorskip("distributed")
# Dask's own reader of Parquet files uses what pandas 4 will remove.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")
BY_DASK = ("--engine", "dask", "--bag-column", "bag", "--proportion-column", "rate")
FAST = ("--method", "mean-map", "--kernel", "linear", "--folds", "2", "--drop", "truth")
N_FILES, FILE_ROWS, BAG_SIZE = 4, 50_000, 25


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """200,000 rows in four Parquet files, with a column of text and missing numbers."""
    made = tmp_path_factory.mktemp("parquet")
    for number in range(N_FILES):
        rng = np.random.default_rng(number)
        bags = rng.permutation(FILE_ROWS) // BAG_SIZE
        shares = rng.choice([0.1, 0.3, 0.7, 0.9], FILE_ROWS // BAG_SIZE)
        truth = rng.random(FILE_ROWS) < shares[bags]
        number_ = rng.normal(size=FILE_ROWS) + 2 * truth
        number_[::100] = np.nan
        table = pd.DataFrame(
            {
                "size": number_,
                "kind": np.where(truth ^ (rng.random(FILE_ROWS) < 0.3), "wool", "silk"),
                "bag": [f"{number}-{bag}" for bag in bags],
                "rate": (np.bincount(bags, truth) / BAG_SIZE)[bags],
                "truth": truth.astype(int),
            }
        )
        table.to_parquet(made / f"{number}.parquet", index=False)
    return made


def test_a_folder_of_parquet_files_end_to_end(command, folder, tmp_path):
    model, output = tmp_path / "m.skops", tmp_path / "predictions"
    page = ("--report", tmp_path / "page.html")
    done = command("fit", folder, *BY_DASK, *FAST, "--memory", "1GB", *page, "-o", model)
    assert done.code == 0, done.err
    assert "200,000" in done.out
    assert "from a sample of 20,000 rows in 800 bags" in done.err
    assert load(model)[-1].class_prior_ == pytest.approx([0.5, 0.5], abs=0.02)
    done = command(
        "predict", model, folder, "--engine", "dask", "--proba", "--keep", "truth,bag", "-o", output
    )
    assert done.code == 0, done.err
    found = pd.read_parquet(output)
    assert len(found) == N_FILES * FILE_ROWS
    assert list(found.columns) == ["truth", "bag", "prediction", "probability"]
    assert (found.prediction == found.truth).mean() > 0.8
    again = command("predict", model, folder, "--engine", "dask", "-o", output)
    assert again.code == 2
    assert "exists" in again.err
    one = tmp_path / "one.csv"
    assert command("predict", model, folder / "0.parquet", "-o", one).code == 0
    by_file = pd.read_parquet(output / "part-00000.parquet").prediction
    assert pd.read_csv(one).prediction.tolist() == by_file.tolist()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--bag-column", "bag", "--proportion-column", "rate"), "needs --engine dask"),
        ((*BY_DASK, "--engine", "spark"), "--engine 'spark': choose memory or dask"),
        ((*BY_DASK, "--method", "invcal"), "--method invcal cannot be used with --engine dask"),
        ((*BY_DASK, "--method", "much"), "unknown --method 'much'"),
        ((*BY_DASK, "--kernel", "knn"), "--kernel knn is made from all rows at once"),
        ((*BY_DASK, "--features", "much"), "there is no column 'much' (--features)"),
        ((*BY_DASK, "--sql", "select * from rows"), "--sql cannot be used with --engine dask"),
        ((*BY_DASK, "--count-column", "n"), "either --proportion-column or --count-column"),
        (("bags.csv", *BY_DASK), "bags.csv: no such file"),
        ((*BY_DASK[:4], "--proportion-column", "truth"), "column 'truth' contains 0 and 1 for bag"),
        ((*BY_DASK[:4], "--count-column", "much"), "'much' (--count-column)"),
        ((*BY_DASK, "--bag-column", "sack"), "'sack'"),
        ((*BY_DASK, "--memory", "much"), "memory_budget='much'"),
        (("--label-column", "kind", "--engine", "dask"), "--engine dask is for bags"),
        (("--scheduler", "tcp://x:1", "--bag-column", "bag"), "--scheduler needs --engine dask"),
    ],
)
def test_wrong_options_are_one_line(command, folder, tmp_path, arguments, words):
    done = command("fit", folder, *arguments, "-o", tmp_path / "m.skops")
    assert done.code == 2
    assert words in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Rows in two Parquet files, whose bags are described in many ways."""
    folder = tmp_path_factory.mktemp("small")
    rng = np.random.default_rng(0)
    bag = np.arange(900) // 9
    shares = rng.dirichlet(np.ones(3), 100)[bag]
    kind = (rng.random((900, 1)) > shares.cumsum(axis=1)).sum(axis=1)
    rows = pd.DataFrame(rng.normal(size=(900, 2)) + np.eye(3, 2)[kind], columns=["a", "b"])
    rows = rows.assign(bag=bag)
    counts = pd.crosstab(bag, kind).add_prefix("kind ")
    counts.columns.name = None
    bags = counts.reset_index(names="bag").assign(n=counts["kind 1"])
    bags["vague"] = [f"<{n + 2}" if n < 3 else str(n) for n in bags.n]
    bags["noisy"] = bags.n + np.round(rng.laplace(scale=1.0, size=100), 2)
    bags = bags.assign(share=bags.n / 9, most=(bags.n + 1).clip(0, 9) / 9)
    paths = {
        name: folder / name for name in ("rows.csv", "bags.csv", "long.csv", "parquet", "full")
    }
    rows.to_csv(paths["rows.csv"], index=False)
    bags.to_csv(paths["bags.csv"], index=False)
    long = bags.melt("bag", list(counts), "class, or kind", "number")
    long.to_csv(paths["long.csv"], index=False)
    for name, table in {"parquet": rows, "full": rows.merge(bags, on="bag")}.items():
        paths[name].mkdir()
        order = np.random.default_rng(1).permutation(900)
        table.iloc[order[:500]].to_parquet(paths[name] / "0.parquet", index=False)
        table.iloc[order[500:]].to_parquet(paths[name] / "1.parquet", index=False)
    return paths


@pytest.mark.parametrize(
    ("table", "given"),
    [
        ("bags.csv", ("--proportion-column", "share")),
        ("bags.csv", ("--count-column", "n")),
        ("bags.csv", ("--count-column", "vague")),
        ("bags.csv", ("--count-column", "noisy", "--count-noise", "laplace:1")),
        ("bags.csv", ("--proportion-column", "share", "--upper-column", "most")),
        ("bags.csv", ("--count-columns", "kind 0,kind 1,kind 2")),
        ("bags.csv", ("--count-columns", "kind 0,kind 1,kind 2", "--count-noise", "laplace:0.5")),
        ("long.csv", ("--class-column", "class, or kind", "--count-column", "number")),
        (None, ("--count-column", "vague")),
        (None, ("--count-columns", "kind 0,kind 1,kind 2")),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.WeakEvidenceWarning")
def test_the_same_model_from_every_description_of_bags(command, small, tmp_path, table, given):
    others = [] if table is None else [small[table]]
    options = ("--bag-column", "bag", *given, "--features", "a,b")
    method = ("--method", "count-likelihood", "--kernel", "linear", "--reg-strength", "0.01")
    method += ("--ensemble", "best", "--folds", "2", "--seed", "0")
    found = []
    for name in ("local", "dask"):
        rows = small["full" if table is None else "parquet"]
        if name == "local":
            rows = tmp_path / "rows.parquet"
            pd.read_parquet(small["full" if table is None else "parquet"]).to_parquet(rows)
        model, output = tmp_path / f"{name}.skops", tmp_path / f"{name}.csv"
        engine = () if name == "local" else ("--engine", "dask")
        done = command("fit", rows, *others, *options, *method, *engine, "-o", model)
        assert done.code == 0, done.err
        done = command("predict", model, small["rows.csv"], "--proba", "-o", output)
        assert done.code == 0, done.err
        found.append(pd.read_csv(output).drop(columns="prediction").to_numpy())
    local, by_dask = found
    # Of noisy counts the share of positives is estimated, and not in the same way.
    np.testing.assert_allclose(by_dask, local, atol=1e-2 if "--count-noise" in given else 2e-3)
    assert local.std(axis=0).min() > 0.05


def test_an_empty_cell_is_refused(command, tmp_path):
    rows = pd.DataFrame({"a": [1.0, 2, 3, 4], "bag": list("uuvv"), "rate": [0.5, np.nan, 0, 0]})
    rows.to_parquet(tmp_path / "rows.parquet")
    done = command("fit", tmp_path / "rows.parquet", *BY_DASK, "-o", tmp_path / "m.skops")
    assert done.code == 2
    assert "column 'rate' is empty in bag 'u'" in done.err
    rows.assign(bag=["u", None, "v", None], rate=0.5).to_parquet(tmp_path / "rows.parquet")
    done = command("fit", tmp_path / "rows.parquet", *BY_DASK, "-o", tmp_path / "m.skops")
    assert "column 'bag' is empty in 2 rows" in done.err


def test_ranges_of_several_classes_are_refused(command, small, tmp_path):
    bags = pd.read_csv(small["bags.csv"]).assign(**{"kind 1": "0-9", "kind 2": "0-9"})
    bags.to_csv(tmp_path / "bags.csv", index=False)
    classes = ("--bag-column", "bag", "--count-columns", "kind 0,kind 1,kind 2")
    place = (small["parquet"], tmp_path / "bags.csv")
    done = command("fit", *place, *classes, "--engine", "dask", "-o", tmp_path / "m.skops")
    assert done.code == 2
    assert "DaskCountLikelihoodClassifier from Python" in done.err


def test_messages_name_what_the_user_gave(command, small, tmp_path):
    """Not the sample, its rows or its columns."""
    rows, given = small["parquet"], ("--bag-column", "bag", "--engine", "dask")
    end = ("-o", tmp_path / "m.skops")
    vague = ("--count-column", "vague", "--method", "mean-map")
    done = command("fit", rows, small["bags.csv"], *given, *vague, *end)
    assert done.code == 2
    assert "cannot be used with ranges or noise of counts" in done.err
    share = ("--proportion-column", "share")
    done = command("fit", rows, small["bags.csv"], *given, *share, "--drop", "a,b", *end)
    assert f"a sample of {rows}: no column is left to learn from" in done.err
    pd.read_csv(small["bags.csv"]).iloc[:50].to_csv(tmp_path / "bags.csv", index=False)
    done = command("fit", rows, tmp_path / "bags.csv", *given, *share, *end)
    assert f"{rows}: bag '50' is not in column 'bag'" in done.err


def test_no_parquet_files(command, tmp_path):
    done = command("fit", tmp_path, *BY_DASK, "-o", tmp_path / "m.skops")
    assert done.code == 2
    assert "there is no such Parquet file or folder of *.parquet files" in done.err


def test_a_failed_prediction_leaves_nothing_behind(command, files, folder, tmp_path):
    done = command("predict", files.model, folder, "--engine", "dask", "-o", tmp_path / "out")
    assert done.code == 2
    assert not list(tmp_path.iterdir())


def test_a_table_that_does_not_fit_is_refused_before_it_is_read(command, files, monkeypatch):
    monkeypatch.setattr(engines, "LARGE_FILE", 10)
    monkeypatch.setattr(features, "machine_memory", lambda: 1000)
    done = command("fit", files.rows, files.bags, *files.in_bags, "-o", "never.skops")
    assert done.code == 2
    assert "this machine has" in done.err
    assert "--engine dask" in done.err
