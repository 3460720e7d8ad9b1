"""Sphinx settings: the documentation is built with warnings as errors."""

import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import executed
import links
from sphinx.addnodes import pending_xref
from sphinx.pycode.parser import VariableCommentPicker
from sphinx.util.logging import getLogger

import rankadapters

project = "rankadapters"
author = "The rankadapters developers"
copyright = "2026, The rankadapters developers"
release = rankadapters.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3

nb_custom_formats = {".md": "executed.read"}
nb_execution_mode = "force"
nb_execution_excludepatterns = executed.still()
nb_execution_in_temp = True
nb_execution_show_tb = True
nb_execution_timeout = 600  # seconds a block; a machine may be slow, and compile first
nb_merge_streams = True

# The signature has the types, the numpydoc docstring the shapes, which an annotation cannot say.
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
autodoc_member_order = "bysource"
VariableCommentPicker.is_overload = lambda *_: False  # one signature for a function, not one for each type it returns
default_role = "code"  # what stands between backquotes in a docstring
napoleon_google_docstring = False

html_theme = "furo"
html_title = "rankadapters"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {"light_logo": "logo.svg", "dark_logo": "logo-dark.svg", "sidebar_hide_name": True}
html_favicon = "_static/icon.svg"

# A card shows the site in a message or a post. It needs the site's own address.
html_baseurl = os.environ.get("READTHEDOCS_CANONICAL_URL", "")
if html_baseurl:
    myst_html_meta = {
        "property=og:title": "rankadapters",
        "property=og:description": "One NDCG, under a convention that you declare, in every toolkit",
        "property=og:image": f"{html_baseurl}_static/card.png",
        "name=twitter:card": "summary_large_image",
    }

if os.environ.get("RANKADAPTERS_OFFLINE"):  # else `sphinx-build -b linkcheck` asks other sites too
    linkcheck_ignore = [r"https?://"]


def check_site(app, error):
    """Warn of links that lead nowhere and of pictures without a text."""
    if error is None and app.builder.name == "html":
        for fault in links.faults(Path(app.outdir)):
            getLogger(__name__).warning(fault)


# How toolkits call an object, or how it prints itself: for the reader of the code alone.
INTERNAL_MEMBERS = {
    "after_iteration", "after_training", "before_training", "bind", "blocks", "cells", "covers", "divides_weights",
    "idle", "is_max_optimal", "get_final_error", "lower", "needs_positions", "rounding", "unify", "uses_weights",
}  # fmt: skip


def skip_internal_members(app, what, name, obj, skip, options):  # noqa: ARG001, PLR0917 - as Sphinx calls it
    """Leave out of the reference what only toolkits and our own tables call."""
    return True if name in INTERNAL_MEMBERS else None


def end_code(app, what, name, obj, options, lines):  # noqa: ARG001, PLR0917 - as Sphinx calls it
    """Let letters follow code, as the plural of a name does, and keep the first line of a property whole."""
    if what == "property":
        lines.insert(0, "")  # else napoleon takes what stands before a colon for its type
    lines[:] = [re.sub(r"(?<![`\w])`([^`]+)`(?=\w)", r"`\1`\\ ", line) for line in lines]


def unlink_words(app, doctree):  # noqa: ARG001 - as Sphinx calls it
    """Link the word `optional` of a type to nothing, instead of to an attribute of that name."""
    for reference in doctree.findall(pending_xref):
        if reference["reftarget"] == "optional":
            reference["reftarget"] = "(optional)"


def setup(app):
    """Run the pages, and check them when they are written."""
    executed.prepare(app)
    app.connect("builder-inited", executed.keep_outputs, priority=900)  # after myst-nb has set them
    app.connect("autodoc-skip-member", skip_internal_members)
    app.connect("autodoc-process-docstring", end_code, priority=400)  # before napoleon
    app.connect("doctree-read", unlink_words)
    app.connect("build-finished", check_site)
