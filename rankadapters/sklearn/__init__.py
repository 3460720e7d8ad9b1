"""scikit-learn: a scorer that knows which rows form a query, in every search and cross-validation."""

from __future__ import annotations

from rankadapters.core.errors import MissingToolkitError

try:
    import sklearn  # noqa: F401 - whether it is there, before our own modules ask for it
except ImportError as error:
    raise MissingToolkitError.of("scikit-learn", "sklearn") from error

from rankadapters.sklearn.scorer import QueryScorer, query_scorer

__all__ = ["QueryScorer", "query_scorer"]
