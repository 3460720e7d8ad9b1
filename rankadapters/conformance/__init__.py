"""Test implementations of a convention, in any language, on generated cases."""

from __future__ import annotations

from rankadapters.conformance.checking import Conformance, ConformanceError, Failure, check
from rankadapters.conformance.programs import Program
from rankadapters.conformance.vectors import Vector, Vectors, vectors
from rankadapters.core.declaration.guesses import list_public

__all__ = ["Conformance", "ConformanceError", "Failure", "Program", "Vector", "Vectors", "check", "vectors"]

list_public(__name__)
