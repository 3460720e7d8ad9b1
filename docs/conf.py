"""Sphinx settings: the documentation is built with warnings as errors."""

import rankadapters

project = "rankadapters"
author = "The rankadapters developers"
copyright = "2026, The rankadapters developers"
release = rankadapters.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

# A numpydoc docstring already gives every parameter's type and shape, better than an annotation can.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False

html_theme = "furo"
html_title = "rankadapters"
