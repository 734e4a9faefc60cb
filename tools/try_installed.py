"""Use decorrupt as installed, without a checkout: ``python -I tools/try_installed.py library``.

`library` checks that the package works without extras; `command-line` trains with the command. Run
it with -I, outside the checkout, so that the installed package is found.
"""

import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path


def library():
    """Train, save and load with the core dependencies only, and find every public name."""
    import numpy as np

    import decorrupt

    for name in decorrupt.__all__:
        getattr(decorrupt, name)
    typed = Path(decorrupt.__file__).with_name("py.typed")
    expect(typed.exists(), "py.typed is installed")
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 2)) + 2 * labels[:, None]
    bags = np.arange(400) // 10
    shares = {bag: labels[bags == bag].mean() for bag in range(40)}
    model = decorrupt.CountLikelihoodClassifier(random_state=0)
    model.fit(X, decorrupt.bag_targets(bags, shares), bags=bags)
    with tempfile.TemporaryDirectory() as folder:
        decorrupt.save(model, Path(folder, "model.skops"))
        again = decorrupt.load(Path(folder, "model.skops"))
    expect((again.predict(X) == model.predict(X)).all(), "a saved model predicts the same")
    expect(model.score(X, labels) > 0.88, "the model is accurate")


def command_line():
    """Run the demonstration with the installed command."""
    command = Path(sys.executable).with_name("decorrupt")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([command, "demo", "--data", "wine", "-o", folder, "-q"], check=True)  # noqa: S603
        expect(Path(folder, "model.html").stat().st_size > 10_000, "the demo writes a page")


def expect(truth, what):
    """Print a check, and stop if it fails."""
    print(f"{'ok' if truth else 'FAILED'}: {what}")
    if not truth:
        raise SystemExit(1)


if __name__ == "__main__":
    place = import_module("decorrupt").__file__
    expect("site-packages" in place, f"decorrupt is installed: {place}")
    {"library": library, "command-line": command_line}[sys.argv[1]]()
