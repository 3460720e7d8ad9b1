"""Import scipy.stats only when a function needs it."""

from __future__ import annotations

from typing import Any

from rankadapters.core.errors import MissingToolkitError


def scipy_stats() -> Any:
    """Return scipy.stats, or raise an error that names the extra to install."""
    try:
        from scipy import stats
    except ImportError:
        raise MissingToolkitError.of("scipy", "audit") from None
    return stats
