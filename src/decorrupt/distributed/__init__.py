"""The methods on data that do not fit in memory, or are on many machines, with Dask.

The public names are listed in ``__init__.pyi``. Dask itself is imported when it is first needed;
``pip install 'decorrupt[dask]'`` installs it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
