"""Renamed classes and removed parameters, so that older model files can still be loaded."""

from __future__ import annotations

import io
import zipfile
from typing import Any

# {full name in older files: current full name}
RENAMED = {
    "decorrupt.estimators.label_proportions.LabelProportionsClassifier": (
        "decorrupt.estimators.corrected_loss.CorrectedLossClassifier"
    ),
    "decorrupt.model_selection.path_cv.LabelProportionsClassifierCV": (
        "decorrupt.model_selection.path_cv.CorrectedLossClassifierCV"
    ),
    "decorrupt.model_selection.splitters.BagKFold": "decorrupt.splitters.BagKFold",
    "decorrupt.model_selection.splitters.WithinBagKFold": "decorrupt.splitters.WithinBagKFold",
}
# {current full name: parameters of older files that no longer exist}
REMOVED_PARAMETERS = {
    "decorrupt.estimators.count_likelihood.CountLikelihoodClassifier": ("proportion_noise",),
}


def update_class_names(schema: Any) -> Any:
    """Return a parsed schema with the current names of its classes and without old parameters."""
    if isinstance(schema, list):
        return [update_class_names(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    node = {key: update_class_names(part) for key, part in schema.items()}
    current = RENAMED.get(f"{node.get('__module__')}.{node.get('__class__')}")
    if current is not None:
        node["__module__"], _, node["__class__"] = current.rpartition(".")
    for name in REMOVED_PARAMETERS.get(f"{node.get('__module__')}.{node.get('__class__')}", ()):
        _remove_attribute(node, name)
    return node


def _remove_attribute(node: dict[str, Any], name: str) -> None:
    """Remove an attribute of a stored object, and the type of its key."""
    state = node.get("content")
    if not isinstance(state, dict):
        return
    attributes = state.get("content")
    if not isinstance(attributes, dict) or name not in attributes:
        return
    place = list(attributes).index(name)
    del attributes[name]
    key_types = state.get("key_types")
    if isinstance(key_types, dict) and isinstance(key_types.get("content"), list):
        del key_types["content"][place : place + 1]


def pack(members: dict[str, bytes]) -> bytes:
    """Return a zip archive of the members, readable by skops."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression=zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()
