"""The evaluation sets of an `EvalCallback`: arrays, or DMatrices that the user may change."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import xgboost as xgb

from rankadapters.callbacks.dataset_columns import DatasetColumns
from rankadapters.callbacks.metrics import panels_of
from rankadapters.core.data.columns import shared_index
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, brief
from rankadapters.xgboost.metrics import columns_of, query_weights

if TYPE_CHECKING:
    from rankadapters.core.evaluation.panel import Panel


def named_sets(evals: Any) -> list[tuple[Any, str]]:
    """Return evaluation sets as a list, after checking their form."""
    pairs = list(evals) if isinstance(evals, (list, tuple)) else []
    if any(not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[1], str) for pair in pairs):  # noqa: PLR2004
        pairs = []
    if not pairs or len({name for _, name in pairs}) < len(pairs):
        problem = f"evals={brief(evals)} is not a list of (data, name) with different names"
        raise InputError(f"{problem}.\nHint: [((X, y, qid), 'valid')].")
    return pairs


class EvaluationSet:
    """An evaluation set: the DMatrix to predict on, and the evaluators that know the labels."""

    def __init__(
        self,
        data: Any,
        names: dict[Convention, str],
        missing: float,
        n_threads: int | None,
        refuse_count: Callable[[int], None],
    ) -> None:
        self._names, self._n_threads, self._refuse_count = names, n_threads, refuse_count
        self._columns: DatasetColumns | None = None
        self._is_fixed = not isinstance(data, xgb.DMatrix)  # the user can change a DMatrix later
        if not self._is_fixed:
            self.dmatrix = data
            self.panels()
            return
        if not isinstance(data, tuple) or len(data) not in {3, 4}:
            problem = f"{brief(data)} is not an evaluation set"
            allowed = "a DMatrix, (X, y, qid) and (X, y, qid, query_weight)"
            raise InputError(f"{problem}; allowed are {allowed}.\nHint: [((X, y, qid), 'valid')].")
        features, labels, qid, *weight = data
        shared_index({"X": features, "labels": labels, "qid": qid})
        self.has_weights = any(column is not None for column in weight)
        self._panels = self._bound(partial(_bind, labels, qid, weight[0] if weight else None))
        self.dmatrix = xgb.DMatrix(features, missing=missing, enable_categorical=True)

    def panels(self) -> list[Panel]:
        """Return the evaluators, which are rebuilt if the user has changed the columns of the DMatrix."""
        if self._is_fixed:
            return self._panels
        columns = columns_of(self.dmatrix)
        if self._columns is None or not self._columns.equals(columns):
            self._columns, self.has_weights = columns.copied(), columns.weights is not None
            self._panels = self._bound(columns.queries(query_weights))
        return self._panels

    def _bound(self, bind: Callable[[str | None], Queries]) -> list[Panel]:
        def counted(weighting: str | None) -> Queries:
            queries = bind(weighting)
            self._refuse_count(queries.n_queries)
            return queries

        return panels_of(self._names, counted, self._n_threads)


def _bind(labels: Any, qid: Any, weight: Any, weighting: str | None) -> Queries:
    queries = Queries(labels, qid=qid, query_weight=weight)
    by_query = queries.query_weight
    if by_query is None or weighting == "query_weight":
        return queries
    return queries.with_weights(row_weight=queries.per_row(by_query) if weighting == "row_weight" else None)
