"""Check of scikit-learn's trees in a model file, whose compiled code uses indices unchecked."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt.model_files.envelope import ModelFileError
from decorrupt.model_files.trusted import TREE, TREE_MODELS

# The columns of a tree's nodes; the only structured arrays in a model file.
NODE_FIELDS = (
    "left_child",
    "right_child",
    "feature",
    "threshold",
    "impurity",
    "n_node_samples",
    "weighted_n_node_samples",
    "missing_go_to_left",
)
NO_CHILD = -1
MAX_OUTPUTS = 100_000


def check_trees(schema: Any, members: dict[str, bytes], name: str) -> None:
    """Raise ModelFileError unless every tree refers only to its own nodes and columns.

    A child comes after its parent and before the end, a split uses one of the columns that the
    model around the tree expects, and the arrays have the shapes that the tree is created with.
    """
    try:
        _columns_under(schema, members)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        reason = " ".join(str(error).split())
        raise ModelFileError(f"{name} is damaged: a tree with wrong nodes ({reason})") from None


def _columns_under(part: Any, members: dict[str, bytes]) -> set[int]:
    """Check all trees in a part of the schema; return their numbers of columns."""
    if isinstance(part, list):
        return set().union(*(_columns_under(one, members) for one in part))
    if not isinstance(part, dict):
        return set()
    found = set().union(*(_columns_under(one, members) for one in part.values()))
    full_name = f"{part.get('__module__')}.{part.get('__class__')}"
    if full_name == TREE and "__loader__" in part:
        return found | {_check_tree(part, members)}
    if full_name in TREE_MODELS and found:
        expected = _number(part["content"]["content"]["n_features_in_"])
        if found != {expected}:
            raise ValueError(f"trees of {sorted(found)} columns in a model of {expected}")
    return found


def _check_tree(node: dict[str, Any], members: dict[str, bytes]) -> int:
    n_columns, n_classes, n_outputs = node["__reduce__"]["args"]["content"]
    columns, outputs = _number(n_columns), _number(n_outputs)
    sizes = _array(n_classes, members)
    if not 0 < outputs <= MAX_OUTPUTS or sizes.shape != (outputs,) or sizes.dtype.kind != "i":
        raise ValueError("one number of classes per output is needed")
    if not ((sizes >= 1) & (sizes <= MAX_OUTPUTS)).all():
        raise ValueError("the numbers of classes must be positive")
    state = node["content"]["content"]
    nodes, values = _array(state["nodes"], members), _array(state["values"], members)
    n_nodes = _number(state["node_count"])
    if nodes.dtype.names != NODE_FIELDS or nodes.shape != (n_nodes,) or n_nodes < 1:
        raise ValueError("the nodes do not have the expected columns or number")
    if values.shape != (n_nodes, outputs, int(sizes.max())):
        raise ValueError("the values do not belong to the nodes")
    _check_nodes(nodes, columns)
    return columns


def _check_nodes(nodes: NDArray[Any], n_columns: int) -> None:
    left, right, column = (nodes[name] for name in ("left_child", "right_child", "feature"))
    is_leaf = left == NO_CHILD
    own = np.arange(len(nodes))
    children = np.stack([left, right])[:, ~is_leaf]
    if not ((children > own[~is_leaf]) & (children < len(nodes))).all():
        raise ValueError("a node refers to a node that is not below it")
    if not ((column[~is_leaf] >= 0) & (column[~is_leaf] < n_columns)).all():
        raise ValueError("a node splits a column that does not exist")


def _number(node: dict[str, Any]) -> int:
    value = json.loads(node["content"])
    if type(value) is not int:
        raise ValueError(f"{value!r} is not a whole number")
    return value


def _array(node: dict[str, Any], members: dict[str, bytes]) -> NDArray[Any]:
    found: NDArray[Any] = np.load(io.BytesIO(members[node["file"]]), allow_pickle=False)
    return found
