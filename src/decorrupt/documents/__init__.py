"""Self-contained HTML pages, and the same content in markdown.

The public names are listed in ``__init__.pyi``. Jinja2 and matplotlib are imported when they are
first needed.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
