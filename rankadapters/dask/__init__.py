"""Dask: the declared metric of the rows of all workers."""

from __future__ import annotations

from rankadapters.core.errors import MissingToolkitError

try:
    import dask.dataframe  # noqa: F401 - whether it is there, before our own modules ask for it
except ImportError as error:
    raise MissingToolkitError.of("dask", "dask") from error

from rankadapters.dask.actor_exchange import exchange
from rankadapters.dask.evaluation import evaluate, per_query

__all__ = ["evaluate", "exchange", "per_query"]


def __dir__() -> list[str]:
    """List the public names alone, for completion."""
    return sorted(__all__)
