"""Why two conventions give two numbers."""

from rankadapters.audit.explain.gap import explain

__all__ = ["explain"]
