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


def rename_types(schema: Any) -> bool:
    """Write the names of today into a parsed schema; return whether any had changed."""
    if isinstance(schema, list):
        return any([rename_types(part) for part in schema])
    if not isinstance(schema, dict):
        return False
    changed = any([rename_types(part) for part in schema.values()])
    now = RENAMED.get(f"{schema.get('__module__')}.{schema.get('__class__')}")
    if now is None:
        return changed
    schema["__module__"], _, schema["__class__"] = now.rpartition(".")
    return True


def pack(members: dict[str, bytes]) -> bytes:
    """Return a zip archive of the members, as skops reads it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression=zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()
