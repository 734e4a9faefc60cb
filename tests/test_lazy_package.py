"""`import decorrupt` costs nothing, and finds its public names when they are used."""

import subprocess
import sys

import pytest

import decorrupt


def test_importing_the_package_imports_nothing_else():
    code = "import sys, decorrupt; print([m for m in ('numpy', 'sklearn') if m in sys.modules])"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 — ours
    assert done.stdout.strip() == "[]"


def test_names_and_subpackages_are_found_and_others_are_not():
    assert decorrupt.theory.information is not None
    assert decorrupt.datasets.load_breast_cancer_bags is not None
    assert set(decorrupt.__all__) <= set(dir(decorrupt))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = decorrupt.nonsense


def test_without_pytorch_the_extra_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("decorrupt.torch.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert "count_loss" in decorrupt.torch.__all__
    for name in decorrupt.torch.__all__:
        with pytest.raises(ImportError, match=rf"{name} needs PyTorch: .*decorrupt\[torch\]"):
            getattr(decorrupt.torch, name)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = decorrupt.torch.nonsense
