"""Check of a model file's schema before any object is created."""

from __future__ import annotations

from typing import Any

from decorrupt.model_files.envelope import ModelFileError, UntrustedTypesError
from decorrupt.model_files.trusted import KEY_TYPES, NULL_ATTRIBUTES, trusted_types

PROTOCOL = 2  # of skops; older protocols use other loaders
ARRAY_FILES = {"NdArrayNode": ".npy", "SparseMatrixNode": ".npz"}


def check_schema(schema: Any, name: str) -> None:
    """Raise ModelFileError unless every node of a schema is of a trusted type and well formed.

    Every dictionary of the JSON is checked, at any depth, so that nothing unchecked is loaded.

    Parameters
    ----------
    schema : object
        The parsed schema.json.
    name : str
        Name of the file in error messages.
    """
    if not isinstance(schema, dict) or "__loader__" not in schema:
        raise ModelFileError(f"{name} is damaged: its schema describes no object")
    if schema.get("protocol") != PROTOCOL:
        raise ModelFileError(
            f"{name} was written with protocol {schema.get('protocol')!r} of skops, but only "
            f"{PROTOCOL} is supported: install the version of skops that wrote it, or save the "
            "model again"
        )
    audit = _Audit(name)
    audit.count_nodes(schema)
    if audit.untrusted:
        raise UntrustedTypesError(
            f"{name} contains types that decorrupt does not load: "
            f"{', '.join(sorted(audit.untrusted))}. No code of the file was run"
        )


class _Audit:
    def __init__(self, name: str) -> None:
        self.name = name
        self.untrusted: set[str] = set()
        self.sizes: dict[int, int] = {}

    def count_nodes(self, value: Any) -> int:
        """Check all nodes in a part of the schema and return their number."""
        if isinstance(value, list):
            return sum(map(self.count_nodes, value))
        if not isinstance(value, dict):
            return 0
        size = sum(map(self.count_nodes, value.values()))
        if "__loader__" not in value:
            return size
        self._check_node(value)
        self._check_identity(value, size + 1)
        return size + 1

    def _check_node(self, node: dict[str, Any]) -> None:
        loader, module, name = (node.get(key) for key in ("__loader__", "__module__", "__class__"))
        full_name = f"{module}.{name}"
        if full_name not in trusted_types().get(str(loader), ()):
            is_wrong_loader = any(full_name in names for names in trusted_types().values())
            self.untrusted.add(f"{full_name} with {loader}" if is_wrong_loader else full_name)
        elif loader in ARRAY_FILES and node.get("type") != "json":
            if not str(node.get("file")).endswith(ARRAY_FILES[loader]):
                raise self._damaged("an array in a file of the wrong kind")
        elif loader == "DictNode":
            self._check_keys(node)
        elif loader == "ObjectNode" and not isinstance(node.get("content"), dict):
            raise self._damaged(f"a {name} without its attributes")
        for attribute in NULL_ATTRIBUTES.get(full_name, ()):
            if _attribute(node, attribute) != "null":
                self.untrusted.add(f"{name}({attribute}=…)")

    def _check_keys(self, node: dict[str, Any]) -> None:
        key_types = node.get("key_types")
        if not isinstance(key_types, dict) or not isinstance(key_types.get("content"), list):
            raise self._damaged("a dictionary without key types")
        for key in key_types["content"]:
            full_name = f"{key.get('__module__')}.{key.get('__class__')}" if key else "None"
            if full_name not in KEY_TYPES:
                self.untrusted.add(f"dict with keys of type {full_name}")

    def _check_identity(self, node: dict[str, Any], size: int) -> None:
        """Raise ModelFileError if two nodes with the same id have different sizes.

        skops loads a node with a known id as the earlier node with that id. If both have the same
        number of nodes, the object is not larger than the file and cannot contain itself.
        """
        identity = node.get("__id__")
        if identity is None:
            return
        if not isinstance(identity, int) or self.sizes.setdefault(identity, size) != size:
            raise self._damaged("one id for two different objects")

    def _damaged(self, reason: str) -> ModelFileError:
        return ModelFileError(f"{self.name} is damaged: {reason}")


def _attribute(node: dict[str, Any], attribute: str) -> Any:
    """Return the stored text of an object's attribute; None if it is not plain text."""
    try:
        return node["content"]["content"][attribute]["content"]
    except (KeyError, TypeError):
        return None
