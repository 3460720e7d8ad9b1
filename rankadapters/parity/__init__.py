"""Parity: compare a source's number with ours under one convention, and explain a difference."""

from __future__ import annotations

from rankadapters.core.declaration.guesses import list_public
from rankadapters.parity.checks import check_value, crosscheck
from rankadapters.parity.letor import letor_mean_ndcg
from rankadapters.parity.models import crosscheck_models
from rankadapters.parity.report import ParityError, ParityReport, ParityRow, QueryDifferences, Verdict
from rankadapters.parity.toolkit import Toolkit, ToolkitData

__all__ = [
    "ParityError",
    "ParityReport",
    "ParityRow",
    "QueryDifferences",
    "Toolkit",
    "ToolkitData",
    "Verdict",
    "check_value",
    "crosscheck",
    "crosscheck_models",
    "letor_mean_ndcg",
]

list_public(__name__)
