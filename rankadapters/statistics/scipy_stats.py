"""scipy.stats, imported when it is first needed."""

from __future__ import annotations

from typing import Any

from rankadapters.core.errors import MissingToolkitError


def scipy_stats() -> Any:
    """Import scipy.stats, or name the extra that brings it."""
    try:
        from scipy import stats
    except ImportError:
        raise MissingToolkitError.of("scipy", "audit") from None
    return stats
