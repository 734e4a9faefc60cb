"""What `fit` says about a time budget that was too small."""

import json
from pathlib import Path

# Eight configurations: two kernels and four penalties.
SEARCH = ("--method", "mean-map", "--kernel", "linear,rbf", "--folds", 2)


def test_a_budget_that_is_used_up(command, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["fit", files.rows, files.bags, *files.in_bags, *SEARCH, "--report", "m.html"]
    done = command(*arguments, "--time-budget", 1e-6, "-o", "m.skops", "--json")
    assert done.code == 0, done.err
    card = json.loads(done.out)
    method = card["method"]
    assert method["n_compared"] < method["n_configurations"] / 2
    found = f"{method['n_compared']} of {method['n_configurations']} configurations"
    assert any(f"only {found}" in line for line in card["warnings"])
    assert "without feature importance: the time budget is used up" in done.err
    page = Path("m.html").read_text(encoding="utf-8")
    assert f"enough for {found}" in page
    assert "Feature importance" not in page
    assert f"nly {found}" in command("explain", "m.skops").out


def test_without_a_budget_all_are_compared(command, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["fit", files.rows, files.bags, *files.in_bags, *SEARCH, "--json"]
    method = json.loads(command(*arguments, "-o", "m.skops").out)["method"]
    assert method["n_compared"] == method["n_configurations"] > 1
