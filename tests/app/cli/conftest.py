"""The command as a function, and files on disk to run it on."""

from types import SimpleNamespace

import pytest

from decorrupt.app.cli.app import run
from helpers.hidden_labels import make_bag_table, make_source_table
from helpers.quick import QUICK_FIT, quick_commands


@pytest.fixture(autouse=True)
def quick_search():
    """Training tries one setting of each method in two folds."""
    with quick_commands():
        yield


@pytest.fixture
def command(capsys):
    """Run a command: its exit code, what it printed, what it said."""

    def call(*arguments):
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, out=printed.out, err=printed.err)

    return call


@pytest.fixture
def quick_demo(monkeypatch):
    """Demos of all data that try one method with one setting."""
    from decorrupt.app.training import demo
    from decorrupt.app.training.settings import Settings

    for name in ("breast-cancer", "digits", "wine"):
        monkeypatch.setitem(demo.SETTINGS, name, Settings("mean-map"))


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Tables of both situations as CSV, and a model trained on the bags."""
    folder = tmp_path_factory.mktemp("tables")
    bags, sources = make_bag_table(), make_source_table()
    bags.rows.to_csv(folder / "rows.csv", index=False)
    bags.bags.to_csv(folder / "bags.csv", index=False)
    bags.test.assign(label=bags.test_labels, id=range(200)).to_csv(folder / "test.csv", index=False)
    sources.rows.to_csv(folder / "noisy.csv", index=False)
    sources.rates.to_csv(folder / "rates.csv", index=False)
    paths = {path.stem: path for path in folder.iterdir()}
    model = folder / "model.skops"
    bag_options = ("--bag-column", "bag", "--proportion-column", "rate")
    arguments = ["fit", paths["rows"], paths["bags"], *bag_options, *QUICK_FIT, "--quiet"]
    with quick_commands():
        assert run([str(one) for one in [*arguments, "-o", model]]) == 0
    return SimpleNamespace(
        **paths,
        model=model,
        folder=folder,
        tables=bags,
        in_bags=bag_options,
        given=(paths["rows"], paths["bags"], *bag_options),
        fit=("fit", paths["rows"], paths["bags"], *bag_options, *QUICK_FIT),
    )
