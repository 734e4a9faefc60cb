"""Classes that were renamed or moved, so that model files saved before can still be loaded."""

from __future__ import annotations

import io
import zipfile
from typing import Any

# {full name in older files: full name now}
RENAMED = {
    "decorrupt.estimators.label_proportions.LabelProportionsClassifier": (
        "decorrupt.estimators.corrected_loss.CorrectedLossClassifier"
    ),
    "decorrupt.model_selection.path_cv.LabelProportionsClassifierCV": (
        "decorrupt.model_selection.path_cv.CorrectedLossClassifierCV"
    ),
}


def with_new_names(schema: Any) -> Any:
    """Return a parsed schema with the names that its classes have now."""
    if isinstance(schema, list):
        return [with_new_names(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    node = {key: with_new_names(part) for key, part in schema.items()}
    now = RENAMED.get(f"{node.get('__module__')}.{node.get('__class__')}")
    if now is not None:
        node["__module__"], _, node["__class__"] = now.rpartition(".")
    return node


def pack(members: dict[str, bytes]) -> bytes:
    """Return a zip archive of the members, as skops reads it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression=zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()
