"""The documentation site; ``make docs`` builds it with warnings as errors."""

import hinge

project = "hinge"
author = "The hinge developers"
copyright = "The hinge developers, BSD-3-Clause"
version = release = hinge.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.mathjax", "numpydoc", "myst_parser"]
exclude_patterns = ["_build"]
highlight_language = "none"

myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence"]
myst_heading_anchors = 3

# Types are in the docstrings, in words that say more than the annotations do.
autodoc_typehints = "none"
toc_object_entries = False
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = "hinge"
html_static_path = ["_static"]
html_css_files = ["hinge.css"]
html_show_sourcelink = False
# Pages without pages below them have nothing to show in a side bar.
html_sidebars = {page: [] for page in ("get_started", "releases")}
html_theme_options = {
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
