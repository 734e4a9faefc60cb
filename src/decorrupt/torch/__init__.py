"""Neural networks on bags and noisy sources, with PyTorch: losses, a sampler, a classifier.

The public names are listed in ``__init__.pyi``. PyTorch itself is imported when one of them is
first used; ``pip install 'decorrupt[torch]'`` installs it.
"""

from typing import Any

import lazy_loader

_find, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    try:
        return _find(name)
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "torch":
            raise
        raise ImportError(
            f"decorrupt.torch.{name} needs PyTorch: pip install 'decorrupt[torch]'"
        ) from error
