"""Sphinx settings: the documentation is built with warnings as errors."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import tables

import rankadapters

project = "rankadapters"
author = "The rankadapters developers"
copyright = "2026, The rankadapters developers"
release = rankadapters.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "generated"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

# A numpydoc docstring already gives every parameter's type and shape, better than an annotation can.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False

html_theme = "furo"
html_title = "rankadapters"


def setup(app):
    """Make the tables before the pages that include them are read."""
    app.connect("builder-inited", tables.write)
