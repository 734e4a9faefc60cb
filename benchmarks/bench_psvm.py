"""Alternating ∝SVM, one start, against llp-learn 1.6.0's alterSVMRBF(num_exec=1).

llp-learn is installed into a temporary virtual environment, not with the versions it requires but
with the numpy, scipy, scikit-learn and joblib of this environment, and timed in a separate process:
its `fit` against ours, once for each of three problems of 300 rows × 5 in 30 bags, after a warm-up.
We use its conventions: s_k = 1 (penalty="bag"), C raised from 1e-4·C by a factor of 1.5 per stage.
It computes ½‖f‖² with kernel γ = 1/columns regardless of its γ, so γ = 1/columns here. One function
evaluates the objectives of both models, each with the best labels for its own scores. Accuracies
are of the training rows, whose labels neither side has. If llp-learn cannot be installed (no
network), our time is shown without a bar.
"""

import json
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

from decorrupt.baselines import AlternatingPSVMClassifier
from measuring import Figure, run, seconds_of

ROWS, COLUMNS, BAGS = 300, 5, 30
C, C_P, GAMMA = 1.0, 10.0, 1 / COLUMNS
SEEDS = range(3)
BAR = 30.0
LLP_LEARN = "llp-learn==1.6.0"
NEEDED = [f"{name}=={version(name)}" for name in ("numpy", "scipy", "scikit-learn", "joblib")]
LLP_LEARN_SCRIPT = """
import json, sys, time
import numpy as np
from llp_learn.alter import alterSVMRBF

def fit(problem, seed):
    model = alterSVMRBF(C={C}, C_p={C_P}, gamma={GAMMA}, num_exec=1, random_state=seed)
    start = time.process_time()
    model.fit(problem["X"], problem["bags"], problem["shares"])
    seconds = time.process_time() - start
    svc = model.model
    return dict(
        seconds=seconds,
        dual=svc.dual_coef_[0].tolist(),
        rows=svc.support_vectors_.tolist(),
        scores=svc.decision_function(problem["X"]).tolist(),
    )

problems = [np.load(path) for path in sys.argv[2:]]
fit(problems[0], 0)
with open(sys.argv[1], "w") as out:
    json.dump([fit(problem, seed) for seed, problem in enumerate(problems)], out)
"""


def problem(seed):
    X, y = make_classification(ROWS, COLUMNS, n_informative=4, n_redundant=1, random_state=seed)
    bags = np.random.default_rng(seed).permutation(ROWS) % BAGS
    shares = np.bincount(bags, y) / np.bincount(bags)
    X = StandardScaler().fit_transform(X)
    return {"X": X, "bags": bags, "shares": shares, "labels": y}


def objective(data, rows, dual, scores):
    """½‖f‖² + C·Σ hinge + C_p·Σ_k |p̂_k − p_k|, minimised over the count of positives per bag."""
    gram = rbf_kernel(rows, gamma=GAMMA)
    total = 0.5 * dual @ gram @ dual
    for bag, share in enumerate(data["shares"]):
        ranked = np.sort(scores[data["bags"] == bag])[::-1]
        total += min(
            C * np.maximum(0, 1 - ranked[:count]).sum()
            + C * np.maximum(0, 1 + ranked[count:]).sum()
            + C_P * abs(count / len(ranked) - share)
            for count in range(len(ranked) + 1)
        )
    return total


def accuracy(data, scores):
    return np.mean((scores > 0) == data["labels"])


def ours(data, seed):
    """Return (seconds, objective, accuracy)."""
    model = AlternatingPSVMClassifier(
        C=C, C_p=C_P, penalty="bag", kernel_gamma=GAMMA, n_starts=1, tol=1e-4, random_state=seed
    )
    y = data["shares"][data["bags"]]
    ((seconds, _),) = seconds_of(lambda: model.fit(data["X"], y, bags=data["bags"]), repeats=1)
    scores = model.decision_function(data["X"])
    value = objective(data, model.landmarks_, model.dual_coef_, scores)
    if not np.isclose(value, model.objective_):
        raise AssertionError(
            f"objective_ is {model.objective_}, but the evaluated objective is {value}"
        )
    return seconds, value, accuracy(data, scores)


def theirs(problems, folder):
    """Return (seconds, objective, accuracy) for each problem; None if it cannot be installed."""
    python = folder / "env" / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in (
        [sys.executable, "-m", "venv", str(folder / "env")],
        [*pip, "--no-deps", LLP_LEARN],
        [*pip, *NEEDED],
    ):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            last = (done.stderr.strip() or "no message").splitlines()[-1]
            print(f"skipped: {LLP_LEARN} could not be installed ({last})")
            return None
    paths = [folder / f"{seed}.npz" for seed in SEEDS]
    for path, data in zip(paths, problems, strict=True):
        np.savez(path, **data)
    script = folder / "fit.py"
    script.write_text(LLP_LEARN_SCRIPT.format(C=C, C_P=C_P, GAMMA=GAMMA))
    command = [str(python), str(script), str(folder / "out.json"), *map(str, paths)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    fits = json.loads((folder / "out.json").read_text())
    return [
        (
            fit["seconds"],
            objective(data, np.array(fit["rows"]), np.array(fit["dual"]), np.array(fit["scores"])),
            accuracy(data, np.array(fit["scores"])),
        )
        for fit, data in zip(fits, problems, strict=True)
    ]


def measure(_quick):
    problems = [problem(seed) for seed in SEEDS]
    with tempfile.TemporaryDirectory() as folder:
        llp_learn = theirs(problems, Path(folder))
    ours(problems[0], 0)
    mine = np.mean([ours(data, seed) for seed, data in zip(SEEDS, problems, strict=True)], axis=0)
    if llp_learn is None:
        yield Figure("seconds per fit, ours", mine[0], note=f"{LLP_LEARN} is not available")
        return
    their = np.mean(llp_learn, axis=0)
    what = f"llp-learn / alternating ∝SVM, {ROWS} rows in {BAGS} bags"
    note = f"{mine[0]:.3f} s; {mine[2]:.3f} correct, llp-learn {their[2]:.3f}"
    yield Figure(what, their[0] / mine[0], at_least=BAR, note=note)
    what = "mean objective, ours / llp-learn"
    yield Figure(what, mine[1] / their[1], at_most=1.0, note=f"{mine[1]:.2f} and {their[1]:.2f}")


if __name__ == "__main__":
    run(measure)
