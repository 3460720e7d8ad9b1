"""Parity: whether a source's number and ours are the same under one convention, and why not where they are not."""

from __future__ import annotations

from rankadapters.parity.checks import check_value, crosscheck
from rankadapters.parity.held import Held
from rankadapters.parity.models import ModelRow, ModelsReport, crosscheck_models
from rankadapters.parity.report import ParityError, ParityReport
from rankadapters.parity.rows import ParityRow, QueryDifferences, Verdict
from rankadapters.parity.toolkit import Toolkit

__all__ = [
    "Held",
    "ModelRow",
    "ModelsReport",
    "ParityError",
    "ParityReport",
    "ParityRow",
    "QueryDifferences",
    "Toolkit",
    "Verdict",
    "check_value",
    "crosscheck",
    "crosscheck_models",
]


def __dir__() -> list[str]:
    """List the public names alone, for completion."""
    return sorted(__all__)
