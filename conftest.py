"""Collection of the tests: those of `decorrupt.torch` need PyTorch, see `make test-torch`."""

from importlib.metadata import PackageNotFoundError, version

try:
    version("torch")  # `import torch` could find the folder tests/torch
except PackageNotFoundError:
    collect_ignore = ["src/decorrupt/torch", "tests/torch"]
