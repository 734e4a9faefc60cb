"""`import decorrupt` costs nothing, and its three lists of names agree."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import decorrupt


def typed_imports():
    """{name: module} as the type checker sees them."""
    tree = ast.parse(Path(decorrupt.__file__).read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    return {alias.name: node.module for node in block.body for alias in node.names}


def test_the_names_the_checker_sees_are_those_that_are_imported():
    homes = {name: f"decorrupt.{module}" for name, module in decorrupt._MODULE_OF.items()}
    assert typed_imports() == homes | {"theory": "decorrupt"}
    assert sorted(decorrupt.__all__) == sorted(typed_imports())


def test_importing_the_package_imports_nothing_else():
    code = "import sys, decorrupt; print([m for m in ('numpy', 'sklearn') if m in sys.modules])"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 — ours
    assert done.stdout.strip() == "[]"


def test_names_and_subpackages_are_found_and_others_are_not():
    assert decorrupt.corruption.bag_targets is decorrupt.bag_targets
    assert set(decorrupt.__all__) <= set(dir(decorrupt))
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = decorrupt.nonsense
