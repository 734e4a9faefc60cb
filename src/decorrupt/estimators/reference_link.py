"""The link from the diagram of an estimator in a notebook to its page in the reference."""

from __future__ import annotations

import os

import decorrupt

VARIABLE = "DECORRUPT_DOCS"


class ReferenceLinkMixin:
    """Links to the site at ``$DECORRUPT_DOCS``, where `make docs` was published; else no link.

    scikit-learn shows it as the question mark of the diagram.
    """

    _doc_link_module = "decorrupt"

    @property
    def _doc_link_template(self) -> str:
        site = os.environ.get(VARIABLE, "").rstrip("/")
        return f"{site}/api/generated/{{page}}.html" if site else ""

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        package, module, *_ = type(self).__module__.split(".")
        name = type(self).__name__
        place = package if name in decorrupt.__all__ else f"{package}.{module}"
        return {"page": f"{place}.{name}"}
