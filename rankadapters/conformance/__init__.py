"""Test implementations of a convention, in any language, on generated cases."""

from __future__ import annotations

from rankadapters.conformance.checking import Conformance, ConformanceError, Failure, check
from rankadapters.conformance.programs import Program
from rankadapters.conformance.vectors import Vector, Vectors, vectors

__all__ = ["Conformance", "ConformanceError", "Failure", "Program", "Vector", "Vectors", "check", "vectors"]


def __dir__() -> list[str]:
    """Return only the public names, for completion."""
    return sorted(__all__)
