"""The installed toolkits side by side: their own numbers for given scores, or for the small models that they train."""

from __future__ import annotations

from rankadapters.crosscheck.checks import CrossCheck, ModelRow, check, check_models
from rankadapters.crosscheck.toolkits import TOOLKITS

__all__ = ["TOOLKITS", "CrossCheck", "ModelRow", "check", "check_models"]


def __dir__() -> list[str]:
    """List the public names alone, for completion."""
    return sorted(__all__)
