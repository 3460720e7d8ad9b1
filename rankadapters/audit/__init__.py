"""Audits: why two numbers differ, which convention made a number, whether it changes who wins, what matters here.

Each is a folder, and a function of the same name: `rankadapters.audit.explain` is the function.
"""

from __future__ import annotations

import sys
from types import ModuleType

from rankadapters.audit.explain import explain
from rankadapters.audit.explain.explanation import Explanation
from rankadapters.audit.identify import identify
from rankadapters.audit.identify.chance import Chance
from rankadapters.audit.identify.further_numbers import Telling
from rankadapters.audit.identify.matches import Match, Matches
from rankadapters.audit.order import order
from rankadapters.audit.order.report import Change, Comparison, OrderReport
from rankadapters.audit.page import page
from rankadapters.audit.profile import profile
from rankadapters.audit.profile.data_profile import DataProfile
from rankadapters.audit.profile.field_effects import Effect
from rankadapters.audit.probing.probing import probe
from rankadapters.audit.probing.report import Probe

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
    "probe",
    "page",
    "profile",
]


def __dir__() -> list[str]:
    """List the public names alone, for completion."""
    return sorted(__all__)


class _Audits(ModuleType):
    """A package whose functions keep their names: importing a folder would set the attribute of that name."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Audits
