"""Compare scikit-learn's own ranking metrics with ours."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import sklearn.metrics
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from rankadapters import presets
from rankadapters.core.arrays import Array
from rankadapters.core.data.columns import refused_label
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.parity import Toolkit, ToolkitData
from rankadapters.parity.data import refusing
from rankadapters.parity.toolkit import COLUMNS, ROUNDS, Task
from rankadapters.presets.vocabulary import differing, require_expressible

TOP_K = "top_k_accuracy_score"
LEAST_CLASSES = 3  # with two classes, top_k_accuracy_score takes a single score
PARAMETERS = ("k", "log_base")
REFUSE_ONE = ("ndcg_score", "dcg_score", "coverage_error")  # functions that refuse queries with one document


class ScikitLearnToolkit(Toolkit):
    """scikit-learn 1.9.1, sklearn/metrics/_ranking.py: call its functions for each query, and average.

    The query weights are used as `sample_weight`.

    >>> report = check_parity([2, 0, 1], [0.1, 0.7, 0.7], presets.catboost(2), group_sizes=[3])
    >>> print(report.rows[1].reason.splitlines()[0])
    scikit-learn cannot express ties='worst', only ties='average', which matters here. Of no consequence here: ...
    """

    vocabulary = presets.sklearn

    def nearest(self, convention: Convention) -> tuple[Convention, dict[str, Any]]:
        """Return the nearest convention of the same measure; raise an error if there is none."""
        nearest = self.vocabulary.nearest(convention)
        if nearest.measure != convention.measure:
            require_expressible(self.vocabulary.title, convention, nearest)
        words = self.vocabulary.spell(nearest)
        if not differing(convention, nearest):
            return convention, words
        retrieval = [name for name, field in nearest.declared().items() if field.group == "retrieval"]
        return nearest.replace(**{name: getattr(convention, name) for name in retrieval}), words

    def names(self, words: dict[str, Any]) -> tuple[str, str]:
        """Return the function with its cutoff, and a description that says whether it is called for each query."""
        arguments = ", ".join(f"{name}={words[name]}" for name in PARAMETERS if name in words)
        name = f"{words['metric']}({arguments})"
        return name, f"sklearn.metrics.{name}{' of each query' if words.get('pool') == 'queries' else ''}"

    def refuse(self, queries: Queries, words: dict[str, Any]) -> None:
        """Refuse negative labels for `ndcg_score`, and queries that `top_k_accuracy_score` cannot use as a sample."""
        if words["metric"] == "ndcg_score":
            why = "negative, which sklearn's ndcg_score refuses"
            if (queries.labels < 0).any():
                raise refused_label(queries.labels, queries.labels < 0, why, "leave sklearn out")
        if words["metric"] == TOP_K:
            relevant = np.bincount(queries.query_of_row, queries.labels >= 1, queries.n_queries)
            bad = (relevant != 1) | (np.diff(queries.indptr) < LEAST_CLASSES)
            if bad.any():
                query = queries.query_ids[int(np.argmax(bad))]
                msg = f"query {query} is not a sample of sklearn's {TOP_K}: three rows or more, one of label 1."
                raise InputError(msg, hint="drop the query, or leave sklearn out")

    def prepare(self, data: ToolkitData, words: dict[str, Any]) -> ToolkitData:
        """Drop one-document queries if the function refuses them."""
        data = super().prepare(data, words)
        accepted = np.diff(data.queries.indptr) > 1
        if accepted.all() or words["metric"] not in REFUSE_ONE:
            return data
        if not accepted.any():
            msg = "every query has one document, which sklearn's functions refuse."
            raise InputError(msg, hint="leave sklearn out")
        queries, rows = data.queries.subset(np.flatnonzero(accepted))
        note = f"scikit-learn refuses one-document queries: {(~accepted).sum()} left out on both sides."
        return replace(data, queries=queries, scores=data.scores[rows], notes=(note, *data.notes))

    @refusing("sklearn", ValueError)
    def ask(self, data: ToolkitData, words: dict[str, Any]) -> float:
        """Return the function's value over all rows, or the mean of its values over the queries."""
        function, queries, scores = getattr(sklearn.metrics, words["metric"]), data.queries, data.scores
        labels = queries.labels if "k" in words and words["metric"] != TOP_K else (queries.labels >= 1).astype(int)
        weights = np.ones(queries.n_docs) if queries.row_weight is None else queries.row_weight
        keywords = {name: words[name] for name in PARAMETERS if name in words}
        parts = [slice(None)] if words.get("pool") == "rows" else map(slice, queries.indptr[:-1], queries.indptr[1:])
        if "pool" in words:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # our `empty` decides the value of queries without relevant rows
                values = [function(labels[rows], scores[rows], sample_weight=weights[rows]) for rows in parts]
        elif words["metric"] == TOP_K:
            values = [_top_k_accuracy(function, labels[rows], scores[rows], **keywords) for rows in parts]
        else:
            values = [function(labels[None, rows], scores[None, rows], **keywords) for rows in parts]
        counts = np.ones(len(values)) if queries.query_weight is None else queries.query_weight
        return math.fsum(np.asarray(values) * counts) / math.fsum(counts)

    def train(self, task: Task, words: dict[str, Any]) -> tuple[Array, None]:
        """Train a regressor of the labels; scikit-learn has no ranker and logs no metric."""
        del words
        model = HistGradientBoostingRegressor(
            max_iter=ROUNDS, max_leaf_nodes=15, max_features=COLUMNS, early_stopping=False, learning_rate=0.1,
            random_state=task.seed,
        )  # fmt: skip
        # Waiting OpenMP threads spin: on a busy machine a second thread made training ten times slower.
        with threadpool_limits(1, user_api="openmp"):
            model.fit(task.train.X, task.train.labels)
            return np.asarray(model.predict(task.test.X)), None


def _top_k_accuracy(function: Callable[..., float], labels: Array, scores: Array, k: int | None) -> float:
    """Return 1 if the relevant row ranks in the top k, else 0; the query is one sample, its rows are the classes."""
    if k is None or k >= labels.size:
        return 1.0  # without a call, because scikit-learn would warn
    return function([int(np.argmax(labels))], scores[None], k=k, labels=np.arange(labels.size))


TOOLKIT = ScikitLearnToolkit()
check_parity = TOOLKIT.check_parity
