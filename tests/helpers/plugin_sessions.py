"""What the sessions that are tested are started with."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
# The checkout's plugin and no installed one.
LOADED = (
    "-p",
    "rankadapters.pytest_plugin",
    "-p",
    "no:cacheprovider",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
)
AUTOLOAD = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"

DATA = """
import numpy as np
import pytest
import rankadapters as ra

labels, scores, qid = [2, 0, 1, 1, 0], [0.5, 0.9, 0.1, 0.25, 0.75], [1, 1, 1, 2, 2]
tied = [0.5, 0.5, 0.5, 0.25, 0.25]
"""
