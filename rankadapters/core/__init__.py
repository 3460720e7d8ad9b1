"""The metric core: numpy, and numba for speed; no toolkit and no training. docs/internals.md says where to start."""

from __future__ import annotations

__version__ = "0.1.0"
