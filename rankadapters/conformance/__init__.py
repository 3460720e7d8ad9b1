"""Test implementations of a convention, in any language, on generated cases."""

from __future__ import annotations

from functools import partial

from rankadapters.conformance.checking import Conformance, ConformanceError, Failure, check
from rankadapters.conformance.programs import Program
from rankadapters.conformance.vectors import Vector, Vectors, vectors

__all__ = ["Conformance", "ConformanceError", "Failure", "Program", "Vector", "Vectors", "check", "vectors"]

__dir__ = partial(sorted, __all__)  # completion shows only public names
