"""Readers for ranking files; errors name file and line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankadapters.core.declaration.guesses import hints
from rankadapters.io.features import read_features
from rankadapters.io.judgments import Judgments
from rankadapters.io.letor import read_letor
from rankadapters.io.table import read_table
from rankadapters.io.trec import read_trec

__all__ = ["Judgments", "read_features", "read_letor", "read_table", "read_trec"]


if not TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = hints(__name__, __all__)


def __dir__() -> list[str]:
    """Return only the public names, for completion."""
    return sorted(__all__)
