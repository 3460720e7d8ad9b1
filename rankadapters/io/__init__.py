"""Readers for ranking files; errors name file and line."""

from __future__ import annotations

from rankadapters.core.declaration.guesses import list_public
from rankadapters.io.features import read_features
from rankadapters.io.judgments import Judgments
from rankadapters.io.letor import read_letor
from rankadapters.io.qrels import from_qrels
from rankadapters.io.table_files import read_table
from rankadapters.io.trec import read_trec

__all__ = ["Judgments", "from_qrels", "read_features", "read_letor", "read_table", "read_trec"]

list_public(__name__)
