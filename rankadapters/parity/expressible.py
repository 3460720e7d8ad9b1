"""The nearest convention that a toolkit can express."""

from __future__ import annotations

from collections.abc import Callable

from rankadapters.core.convention import Convention
from rankadapters.core.errors import UnsupportedConventionError


def nearest_expressible(native_metric: Callable[[Convention], object], convention: Convention) -> Convention:
    """Ask a toolkit's `native_metric` for the nearest convention that it can express.

    Parameters
    ----------
    native_metric : callable
        Takes a convention, and raises through `require_expressible` where the toolkit cannot express it.
    convention : Convention
        What is wanted.

    Returns
    -------
    Convention
        The convention itself where the toolkit expresses it.
    """
    try:
        native_metric(convention)
    except UnsupportedConventionError as error:
        if error.nearest is None:
            raise
        # A nearest that names only what stands in the way may yet differ in a field that follows from it.
        return nearest_expressible(native_metric, error.nearest)
    return convention
