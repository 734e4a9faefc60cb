"""Renamed classes, so that older model files can still be loaded."""

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
}


def update_class_names(schema: Any) -> Any:
    """Return a parsed schema with the current names of its classes."""
    if isinstance(schema, list):
        return [update_class_names(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    node = {key: update_class_names(part) for key, part in schema.items()}
    current = RENAMED.get(f"{node.get('__module__')}.{node.get('__class__')}")
    if current is not None:
        node["__module__"], _, node["__class__"] = current.rpartition(".")
    return node


def pack(members: dict[str, bytes]) -> bytes:
    """Return a zip archive of the members, readable by skops."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression=zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()
