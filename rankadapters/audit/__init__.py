"""Audits: why two numbers differ, which convention made a number, whether it changes who wins, what matters here."""

from __future__ import annotations

from rankadapters.audit.effects import Effect
from rankadapters.audit.explanation import Explanation, explain
from rankadapters.audit.matching import Match, Matches, identify
from rankadapters.audit.order_report import Change, Comparison, OrderReport
from rankadapters.audit.ordering import order
from rankadapters.audit.page import page
from rankadapters.audit.profiling import DataProfile, profile
from rankadapters.audit.telling import Telling

__all__ = [
    "Change",
    "Comparison",
    "DataProfile",
    "Effect",
    "Explanation",
    "Match",
    "Matches",
    "OrderReport",
    "Telling",
    "explain",
    "identify",
    "order",
    "page",
    "profile",
]
