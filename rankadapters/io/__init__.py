"""Readers of files: what cannot be read is named by file and line."""

from __future__ import annotations

from rankadapters.io.judgments import Judgments, ScoredJudgments
from rankadapters.io.letor import read_letor
from rankadapters.io.letor_stream import stream_letor
from rankadapters.io.svmlight import read_svmlight
from rankadapters.io.table import read_table
from rankadapters.io.trec import read_trec

__all__ = ["Judgments", "ScoredJudgments", "read_letor", "read_svmlight", "read_table", "read_trec", "stream_letor"]


def __dir__() -> list[str]:
    """List the public names alone, for completion."""
    return sorted(__all__)
