"""The metric core: it needs only numpy, is faster with numba, and knows no toolkit and no training.

`tests/oracles/` defines the same metrics in plain Python.
"""

from __future__ import annotations

__version__ = "1.0.0"
