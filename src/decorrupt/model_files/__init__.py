"""Model files: saved without pickle, loaded from a fixed list of types."""

from decorrupt.model_files.envelope import ModelFileError
from decorrupt.model_files.store import load, load_with_metadata, save

__all__ = ["ModelFileError", "load", "load_with_metadata", "save"]
