"""The schema of a model file, judged before anything in it is built."""

from __future__ import annotations

from typing import Any

from decorrupt.model_files.errors import ModelFileError
from decorrupt.model_files.trusted import KEY_TYPES, NULL_ATTRIBUTES, trusted_types

PROTOCOL = 2  # of skops; older ones have loaders of their own
ARRAY_FILES = {"NdArrayNode": ".npy", "SparseMatrixNode": ".npz"}


def check_schema(schema: Any, name: str) -> None:
    """Raise ModelFileError unless every node of a schema is of a trusted type and well formed.

    Every dictionary of the JSON is looked at, wherever it stands: what is not looked at cannot be
    loaded.

    Parameters
    ----------
    schema : object
        The parsed schema.json.
    name : str
        What error messages call the file.
    """
    if not isinstance(schema, dict) or "__loader__" not in schema:
        raise ModelFileError(f"{name} is damaged: its schema describes no object")
    if schema.get("protocol") != PROTOCOL:
        raise ModelFileError(
            f"{name} was written with protocol {schema.get('protocol')!r} of skops, and only "
            f"{PROTOCOL} is read: install the version of skops it names, or save the model again"
        )
    audit = _Audit(name)
    audit.count_nodes(schema)
    if audit.untrusted:
        raise ModelFileError(
            f"{name} holds what decorrupt does not load: {', '.join(sorted(audit.untrusted))}. "
            "Nothing of it was run"
        )


class _Audit:
    def __init__(self, name: str) -> None:
        self.name = name
        self.untrusted: set[str] = set()
        self.sizes: dict[int, int] = {}

    def count_nodes(self, value: Any) -> int:
        """Return the number of nodes in a part of the schema, each of them checked."""
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
            self.untrusted.add(f"{full_name} by {loader}" if is_wrong_loader else full_name)
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
            raise self._damaged("a dictionary without types of its keys")
        for key in key_types["content"]:
            full_name = f"{key.get('__module__')}.{key.get('__class__')}" if key else "None"
            if full_name not in KEY_TYPES:
                self.untrusted.add(f"dict with keys of type {full_name}")

    def _check_identity(self, node: dict[str, Any], size: int) -> None:
        """Let an id stand for parts of one size only.

        skops reads a part whose id it has met as the part it met. If both have the same number of
        nodes, the object is never larger than the file that describes it, and never contains
        itself.
        """
        identity = node.get("__id__")
        if identity is None:
            return
        if not isinstance(identity, int) or self.sizes.setdefault(identity, size) != size:
            raise self._damaged("one id for two different objects")

    def _damaged(self, reason: str) -> ModelFileError:
        return ModelFileError(f"{self.name} is damaged: {reason}")


def _attribute(node: dict[str, Any], attribute: str) -> Any:
    """Return the stored text of an object's attribute, None if it is not that simple."""
    try:
        return node["content"]["content"][attribute]["content"]
    except (KeyError, TypeError):
        return None
