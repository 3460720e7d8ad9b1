"""The metric core: numpy, and numba for speed; it knows no toolkit and no training.

`tests/oracles/` says in plain Python what it computes.
"""

from __future__ import annotations

__version__ = "1.0.0"
