"""The metric core: it needs only numpy, uses numba for speed, and does not depend on any toolkit or on training.

`tests/oracles/` defines the same metrics in plain Python.
"""

from __future__ import annotations

__version__ = "1.0.0"
