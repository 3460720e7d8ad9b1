"""scikit-learn: scorers, splitters and a meta-estimator that know which rows form a query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankadapters.core.declaration.guesses import hints
from rankadapters.core.errors import MissingToolkitError

try:
    import sklearn  # noqa: F401 - checked first, so that the error names the extra to install
except ImportError as error:
    raise MissingToolkitError.of("scikit-learn", "sklearn") from error

from rankadapters.sklearn.metrics import QueryScorer, native_metric, query_scorer, read_metric
from rankadapters.sklearn.parity import check_parity
from rankadapters.sklearn.ranker import QueryRanker
from rankadapters.sklearn.rows import CutQueriesWarning
from rankadapters.sklearn.splitters import QueryKFold, QueryShuffleSplit, StratifiedQueryKFold

__all__ = [
    "CutQueriesWarning",
    "QueryKFold",
    "QueryRanker",
    "QueryScorer",
    "QueryShuffleSplit",
    "StratifiedQueryKFold",
    "check_parity",
    "native_metric",
    "query_scorer",
    "read_metric",
]


if not TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = hints(__name__, __all__)


def __dir__() -> list[str]:
    """Return only the public names, for completion."""
    return sorted(__all__)
