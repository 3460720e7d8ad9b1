"""Options, environment and first lines of the pytest sessions that the tests start."""

from __future__ import annotations

# The plugin of this checkout, and no installed plugin.
PLUGIN_OPTIONS = (
    "-p",
    "rankadapters.pytest_plugin",
    "-p",
    "no:cacheprovider",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
)
NO_AUTOLOAD = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"  # environment variable

PREAMBLE = """
import numpy as np
import pytest
import rankadapters as ra

labels, scores, qid = [2, 0, 1, 1, 0], [0.5, 0.9, 0.1, 0.25, 0.75], [1, 1, 1, 2, 2]
tied = [0.5, 0.5, 0.5, 0.25, 0.25]
"""
