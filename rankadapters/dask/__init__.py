"""Compute declared metrics over Dask DataFrames, and sum them over the workers of a training."""

from __future__ import annotations

from rankadapters.core.declaration.guesses import list_public
from rankadapters.core.errors import MissingToolkitError

try:
    import dask.dataframe  # noqa: F401 - fail here if it is missing, before our modules import it
    import distributed  # noqa: F401 - as above
except ImportError as error:
    raise MissingToolkitError.of((error.name or "dask").partition(".")[0], "dask") from error

from rankadapters.dask.evaluation import DaskFrame
from rankadapters.dask.queue_exchange import exchange

evaluate = DaskFrame.evaluate
per_query = DaskFrame.per_query

__all__ = ["evaluate", "exchange", "per_query"]

list_public(__name__)
