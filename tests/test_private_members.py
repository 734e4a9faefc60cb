"""Packages use each other through their `__init__`: no private members, no inner modules."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import decorrupt

ROOT = Path(decorrupt.__file__).parent
REPRODUCTION = Path(__file__).parents[1] / "reproduction"
PACKAGES = sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))
# Imported in functions, module by module, because they need an extra; the application exports
# nothing.
INNER_MODULES = {"app", "distributed", "torch"}
# Underscored names of other libraries that are documented, or have no public form.
OF_OTHER_LIBRARIES = {
    "_asdict",  # of named tuples
    "_get_global_client",  # distributed's client, if there is one
    "_meta",  # the types of a Dask frame
    "_num_samples",  # rows of anything that scikit-learn takes
    "_safe_indexing",  # rows of arrays, sparse matrices and data frames
    "_safe_split",  # the same, and the columns of a precomputed kernel
}


def nodes_of(folder):
    """Return the syntax nodes of all files below a folder."""
    files = sorted(folder.rglob("*.py"))
    return [node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8")))]


NODES = {package: nodes_of(ROOT / package) for package in PACKAGES}
NODES["reproduction"] = nodes_of(REPRODUCTION)


def imports(nodes):
    """Return (module, name) of every name that is imported from a module."""
    found = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    return [(node.module or "", one.name) for node in found for one in node.names]


@pytest.mark.parametrize("package", NODES)
def test_private_members_are_those_of_the_package_itself(package):
    bound, used = set(), set()
    for node in NODES[package]:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.Attribute):
            is_own = ast.unparse(node.value) in ("self", "cls", "super()")  # or inherited
            (bound if is_own or isinstance(node.ctx, ast.Store) else used).add(node.attr)
    used |= {name for _, name in imports(NODES[package])}
    private = {name for name in used if name.startswith("_") and not name.endswith("__")}
    assert private <= bound | OF_OTHER_LIBRARIES


@pytest.mark.parametrize("package", NODES)
def test_nobody_imports_past_the_init_of_another_package(package):
    allowed = {package, *INNER_MODULES}
    parts = {tuple(module.split(".")) for module, _ in imports(NODES[package])}
    inner = [one for one in parts if one[0] == "decorrupt" and len(one) > 2]
    assert [one for one in inner if one[1] not in allowed] == []


def test_reproduction_imports_public_names_only():
    for module, name in imports(NODES["reproduction"]):
        if f"{module}.".startswith("decorrupt.") and module != "decorrupt.glossary":
            assert name in getattr(import_module(module), "__all__", ()), f"{module}.{name}"
