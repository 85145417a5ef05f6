"""How the site is built: `make docs`, then docs/_site/index.html."""

import os
import re
from pathlib import Path

import vbrand

os.environ.setdefault("OMP_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parents[1]

project, author, copyright = "vbrand", "the maintainers of vbrand", "the maintainers of vbrand"
version = release = vbrand.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["_site", "gallery/*.ipynb"]
nitpicky = False
suppress_warnings = ["config.cache"]

highlight_language = "none"  # blocks that name no language are output

html_theme = "furo"
html_title = "vbrand"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {"source_edit_link": ""}
html_show_sphinx = False

myst_heading_anchors = 3
myst_enable_extensions = ["deflist"]
# pages that are also read on their own name files of the repository: those are in no page of the site
myst_url_schemes = ("http", "https", "mailto")

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "capture_repr": ("_repr_html_",),
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 3600,
    "remove_config_comments": True,
    "within_subsection_order": "FileNameSortKey",
}

# the pages of the repository that lie beside docs/, and their names on the site
BESIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}


def _links(app, document, text):
    """Point links to pages beside docs/ at their copies on the site."""
    page = text[0]
    for name, own in BESIDE.items():
        page = page.replace(f"](../{name}", f"]({own}")
    text[0] = page


def _included(app, path, parent, text):
    """Do the same in a page that is included from beside docs/, whose links begin at the root."""
    page = text[0]
    for name, own in BESIDE.items():
        page = page.replace(f"]({name}", f"]({own}")
    text[0] = re.sub(r"\]\(docs/", "](", page)


def setup(app):
    """Connect what mends links."""
    app.connect("source-read", _links)
    app.connect("include-read", _included)
