"""The package as a newcomer meets it."""

import runpy
from pathlib import Path

import decorrupt

ROOT = Path(__file__).parent.parent


def test_every_public_name_is_there_and_documented():
    for name in decorrupt.__all__:
        assert getattr(decorrupt, name).__doc__, name


def test_the_demo_prints_both_models(capsys):
    runpy.run_path(str(ROOT / "examples" / "breast_cancer_bags.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert "the bags' proportions only" in printed
    assert "the true labels (the ceiling)" in printed
    assert "* chosen: the most stable" in printed
