"""Readers of files: what cannot be read is named by file and line."""

from __future__ import annotations

from rankadapters.io.features import read_features
from rankadapters.io.judgments import Judgments, ScoredJudgments
from rankadapters.io.letor import read_letor
from rankadapters.io.letor_files import stream_letor
from rankadapters.io.table import read_table
from rankadapters.io.trec import read_trec

__all__ = ["Judgments", "ScoredJudgments", "read_features", "read_letor", "read_table", "read_trec", "stream_letor"]


def __dir__() -> list[str]:
    """List the public names alone, for completion."""
    return sorted(__all__)
