"""scikit-learn: scorers, splitters and a meta-estimator that know which rows form a query."""

from __future__ import annotations

from rankadapters.core.declaration.guesses import list_public
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

list_public(__name__)
