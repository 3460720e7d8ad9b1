"""Audits that explain a gap, identify a published number, order models, profile data and probe functions.

The folder of each function is named after its result: `explain` is in `explanation`.
"""

from __future__ import annotations

from rankadapters.audit.explanation.explanation import Explanation
from rankadapters.audit.explanation.gap import explain
from rankadapters.audit.identification.chance import Chance
from rankadapters.audit.identification.further_numbers import Telling
from rankadapters.audit.identification.matches import Match, Matches
from rankadapters.audit.identification.published_number import identify
from rankadapters.audit.ordering.ordering import order
from rankadapters.audit.ordering.report import Change, Comparison, OrderReport
from rankadapters.audit.probing.probing import probe
from rankadapters.audit.probing.report import Probe
from rankadapters.audit.profiling.data_profile import DataProfile
from rankadapters.audit.profiling.field_effects import Effect
from rankadapters.audit.profiling.profiling import profile
from rankadapters.audit.web_page import page

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
    "Telling",
    "explain",
    "identify",
    "order",
    "page",
    "probe",
    "profile",
]


def __dir__() -> list[str]:
    """Return only the public names, for completion."""
    return sorted(__all__)
