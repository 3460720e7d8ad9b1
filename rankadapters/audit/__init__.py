"""Audits that explain a gap, identify a published number, order models, profile data and probe functions.

The module of each function is named after its result: `explain` is in `explanation`.
"""

from __future__ import annotations

from rankadapters.audit.explanation import Explanation, explain
from rankadapters.audit.identification import identify
from rankadapters.audit.matches import Chance, Match, Matches
from rankadapters.audit.order_report import Change, Comparison, OrderReport
from rankadapters.audit.ordering import order
from rankadapters.audit.probing import Probe, probe
from rankadapters.audit.profiling import DataProfile, Effect, profile
from rankadapters.audit.segment_order_report import SegmentOrderReport
from rankadapters.audit.web_page import page
from rankadapters.core.declaration.guesses import list_public

__all__ = [
    "Chance",
    "Change",
    "Comparison",
    "DataProfile",
    "Effect",
    "Explanation",
    "Match",
    "Matches",
    "OrderReport",
    "Probe",
    "SegmentOrderReport",
    "explain",
    "identify",
    "order",
    "page",
    "probe",
    "profile",
]

list_public(__name__)
