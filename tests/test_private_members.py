"""Packages use each other through their `__init__`: no private members, no inner modules."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import decorrupt

ROOT = Path(decorrupt.__file__).parent
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(ROOT.rglob("*.py"))}
# Underscored names of other libraries that are documented, or have no public form.
OF_OTHER_LIBRARIES = {
    "_asdict",  # of named tuples
    "_get_global_client",  # distributed's client, if there is one
    "_meta",  # the types of a Dask frame
    "_safe_indexing",  # rows of arrays, sparse matrices and data frames
    "_safe_split",  # the same, and the columns of a precomputed kernel
}
# They are imported in functions, module by module, because they need an extra.
LAZY = {"distributed", "torch"}


def package_of(path):
    """Return the folder below decorrupt that contains a file; "" for a module of decorrupt."""
    folders = path.relative_to(ROOT).parts[:-1]
    return folders[0] if folders else ""


def is_private(name):
    return name.startswith("_") and not name.endswith("__")


def is_own(value):
    """Return whether an expression is self, cls or super()."""
    called = value.func if isinstance(value, ast.Call) else value
    return isinstance(called, ast.Name) and called.id in ("self", "cls", "super")


def private_definitions(tree):
    """Return the private names that a module binds, also as attributes and methods."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.id if isinstance(node, ast.Name) else node.attr)
    return set(filter(is_private, names))


def private_uses(tree):
    """Return (line, name, package it is imported from or None) of private members of others."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr) and not is_own(node.value):
            found.append((node.lineno, node.attr, None))
        elif isinstance(node, ast.ImportFrom):
            _, package, *_ = f"{node.module}..".split(".")
            names = [one.name for one in node.names if is_private(one.name)]
            found += [(node.lineno, name, package) for name in names]
    return found


def imported_modules(tree):
    """Return (line, module) of every import."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found.append((node.lineno, node.module or ""))
        elif isinstance(node, ast.Import):
            found += [(node.lineno, one.name) for one in node.names]
    return found


DEFINED = {path: private_definitions(tree) for path, tree in TREES.items()}
# A package whose `__init__` exports nothing is a folder of modules.
EXPORTING = {
    path.parent.name
    for path, tree in TREES.items()
    if path.name == "__init__.py"
    and path.parent.parent == ROOT
    and any(isinstance(node, ast.Name) and node.id == "__all__" for node in ast.walk(tree))
}


def test_no_private_member_of_another_package():
    found = []
    for path, tree in TREES.items():
        package = package_of(path)
        homes = {
            name: {package_of(other) for other, names in DEFINED.items() if name in names}
            for _, name, _ in private_uses(tree)
        }
        found += [
            f"{path.relative_to(ROOT)}:{line} {name}"
            for line, name, source in private_uses(tree)
            if name not in OF_OTHER_LIBRARIES
            and (homes[name] if source is None else {source}) != {package}
        ]
    assert not found


@pytest.mark.parametrize("package", sorted(EXPORTING - LAZY))
def test_nobody_imports_past_the_init_of(package):
    found = [
        f"{path.relative_to(ROOT)}:{line} {module}"
        for path, tree in TREES.items()
        if package_of(path) != package
        for line, module in imported_modules(tree)
        if module.startswith(f"decorrupt.{package}.")
    ]
    assert not found


def test_reproduction_imports_public_names_only():
    found = []
    for path in sorted((Path(__file__).parents[1] / "reproduction").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found += [f"{path.name}:{line} {name}" for line, name, _ in private_uses(tree)]
        found += [
            f"{path.name}:{node.lineno} {node.module}.{one.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("decorrupt.")
            if node.module != "decorrupt.glossary"  # labels and meanings of methods, for all pages
            for one in node.names
            if one.name not in getattr(import_module(node.module), "__all__", ())
        ]
    assert [line for line in found if line.split()[1] not in OF_OTHER_LIBRARIES] == []
