"""Audits: why two numbers differ, which convention made a number, whether it changes who wins, what matters here."""

from __future__ import annotations

from rankadapters.audit.effects import Effect
from rankadapters.audit.explanation import Explanation, explain
from rankadapters.audit.profiling import DataProfile, profile

__all__ = ["DataProfile", "Effect", "Explanation", "explain", "profile"]
