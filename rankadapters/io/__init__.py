"""Readers for ranking files; errors name file and line. TREC runs can be written too."""

from __future__ import annotations

from rankadapters.io.annotation import annotate_run
from rankadapters.io.features import read_features
from rankadapters.io.judgments import Judgments, ScoredJudgments
from rankadapters.io.letor import read_letor, stream_letor
from rankadapters.io.table import read_table
from rankadapters.io.trec import read_trec

__all__ = [
    "Judgments", "ScoredJudgments", "annotate_run", "read_features", "read_letor", "read_table", "read_trec",
    "stream_letor",
]  # fmt: skip


def __dir__() -> list[str]:
    """Return only the public names, for completion."""
    return sorted(__all__)
