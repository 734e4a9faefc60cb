"""The one error of model files."""


class ModelFileError(ValueError):
    """A model file cannot be read, or a model cannot be written; one line that names the file."""
