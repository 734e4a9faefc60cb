"""The worked example says what it promises."""

import runpy
from functools import partial
from pathlib import Path

from decorrupt import noise_rates

EXAMPLE = Path(__file__).parents[2] / "examples" / "weak_labels.py"


def test_rates_help(capsys, monkeypatch):
    # Few repetitions: the estimates themselves do not depend on them.
    for name, fewer in {
        "estimate_noise_rates": {"n_bootstrap": 10},
        "estimate_noise_rates_from_annotators": {"n_bootstrap": 10},
    }.items():
        monkeypatch.setattr(noise_rates, name, partial(getattr(noise_rates, name), **fewer))
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    accuracy = {line[:44].strip(): line[44:] for line in lines if "0." in line[44:49]}
    naive = float(accuracy["no rates: labels taken as correct"])
    for way in ("50 checked rows each", "200 shared rows", "labels and features"):
        assert float(accuracy[way]) > naive + 0.05
