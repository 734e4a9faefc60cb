"""Configuration of the documentation site, which ``make docs`` builds."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

import decorrupt

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "_extensions")]

import api_pages  # noqa: E402 — found on the path above

api_pages.write_index_pages(HERE / "api")

project = "decorrupt"
author = "The decorrupt developers"
project_copyright = author
version = release = decorrupt.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "api_pages",
    "command_reference",
    "mathml",
    "page_meta",
    "picture_links",
]
exclude_patterns = ["_build", "_templates", "gallery/**/*.ipynb"]
templates_path = ["_templates"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
nitpicky = True
smartquotes = False  # names of options and types contain -- and quotes
default_role = "code"  # `name` in a docstring
# Types in docstrings are prose; only roles written in a docstring or page are checked.
nitpick_ignore_regex = [(r"py:.*", r"(?!decorrupt).*")]
suppress_warnings = ["config.cache"]  # the settings of the gallery contain an object

# Markdown pages
myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline", "dollarmath"]
myst_heading_anchors = 3
# Links to files outside docs/, as they are written for readers of the repository, and their pages.
OUTSIDE = {
    "../CONTRIBUTING.md": "contribute/contributing.md",
    "../README.md": "index.md",
    "../results/paper/report.md": "evidence/paper_tables.md",
}

# API reference
autosummary_generate = True
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"
autodoc_mock_imports = ["torch"]  # large: the site is built without it
numpydoc_show_class_members = False

# Gallery: every plot_*.py of examples/ is run; other examples are scripts for the command line.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "plot_",
    "ignore_pattern": r"^(?!.*plot_).*\.py$",
    "within_subsection_order": "FileNameSortKey",
    "minigallery_sort_order": "gallery_order.position",
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,  # that page would load scripts from other hosts
    "min_reported_time": 5,
    "matplotlib_animations": False,
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("decorrupt",),
    "reference_url": {"decorrupt": None},
    "inspect_global_variables": False,
    "copyfile_regex": "",
    "capture_repr": (),  # examples print what they show
}

# Pages: nothing is loaded from another host.
html_theme = "pydata_sphinx_theme"
html_title = "decorrupt"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_extra_path = ["llms.txt"]
html_context = {"default_mode": "auto"}
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # summaries are fetched, which a browser forbids without a server
html_theme_options = {
    "logo": {
        "text": "decorrupt",
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo_dark.svg",
    },
    "header_links_before_dropdown": 5,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "show_nav_level": 2,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def link_outside_files(app: Any, docname: str, source: list[str]) -> None:
    """Replace links to files outside docs/ with links to the pages that contain them."""
    depth = "../" * docname.count("/")
    for path, page in OUTSIDE.items():
        pattern = rf"\]\((?:\.\./)*{re.escape(path.removeprefix('../'))}\)"
        source[0] = re.sub(pattern, f"]({depth}{page})", source[0])


def skip_foreign_members(
    app: Any,
    what: str,
    name: str,
    member: Any,
    skip: bool,
    options: Any,
) -> bool | None:
    """Leave out what classes inherit from scikit-learn and Python, which is documented there."""
    module = getattr(getattr(member, "fget", member), "__module__", None) or "decorrupt"
    return True if skip or not module.startswith("decorrupt") else None


def show_own_arguments(
    app: Any,
    what: str,
    name: str,
    obj: Any,
    options: Any,
    signature: str,
    return_annotation: str,
) -> tuple[str, None] | None:
    """Show the arguments of classes whose base is mocked: autodoc finds those of the mock."""
    if what != "class" or signature != "(*args, **kwargs)":
        return None
    _, *own = inspect.signature(obj.__init__).parameters.values()
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in own]
    return str(inspect.Signature(plain)), None


def escape_formulas(
    app: Any,
    what: str,
    name: str,
    obj: Any,
    options: Any,
    lines: list[str],
) -> None:
    """Escape | and a final underscore: docstrings contain |x| and coef_, and no substitutions."""
    is_code = False
    for place, line in enumerate(lines):
        is_code = line.lstrip().startswith(">>>") or (is_code and bool(line.strip()))
        if not is_code:
            parts = re.split(r"(`[^`]*`)", line)
            parts[::2] = [re.sub(r"\||(?<=\w)_(?!\w)", r"\\\g<0>", part) for part in parts[::2]]
            lines[place] = "".join(parts)


def find_public_name(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """Resolve a role that names an object without the package in which it is documented."""
    python = env.get_domain("py")
    if node.get("refdomain") != "py":
        return None
    last = node["reftarget"].rpartition(".")[2]
    found = [
        name
        for name in python.objects
        if name.startswith("decorrupt.") and name.endswith(f".{last}")
    ]
    if not found:
        return None
    return python.resolve_xref(
        env, node["refdoc"], app.builder, "obj", min(found, key=len), node, contnode
    )


def setup(app: Any) -> None:
    """Connect the hooks above."""
    app.connect("autodoc-process-signature", show_own_arguments)
    app.connect("autodoc-process-docstring", escape_formulas, priority=900)  # after numpydoc
    app.connect("missing-reference", find_public_name)
    app.connect("source-read", link_outside_files)
    app.connect("autodoc-skip-member", skip_foreign_members)
