"""Collection of the tests: those of `decorrupt.torch` need PyTorch, see `make test-torch`.

They are in tests/pytorch: `import torch` would import a folder tests/torch where
PyTorch is not installed, because tests/ is on the path.
"""

from importlib.util import find_spec

if find_spec("torch") is None:
    collect_ignore = ["src/decorrupt/torch", "tests/pytorch"]
