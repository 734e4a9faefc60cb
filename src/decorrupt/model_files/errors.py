"""Error class of model files."""


class ModelFileError(ValueError):
    """A model file cannot be read, or a model cannot be written; the message names the file."""


class UntrustedTypesError(ModelFileError):
    """A model file contains types that are not in the fixed list."""
