"""scikit-learn's own ranking metrics, compared with ours."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import sklearn.metrics

from rankadapters.core import presets
from rankadapters.core.data.columns import Array
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.presets.tool import differing, require_expressible
from rankadapters.parity import Toolkit, ToolkitData
from rankadapters.parity.data import refuse_labels, refusing

TOP_K = "top_k_accuracy_score"
LEAST_CLASSES = 3  # of two classes it takes one score
PARAMETERS = ("k", "log_base")
REFUSE_ONE = ("ndcg_score", "dcg_score", "coverage_error")  # queries of one document


class ScikitLearnToolkit(Toolkit):
    """scikit-learn 1.9.1, sklearn/metrics/_ranking.py: its functions are asked for each query, and averaged.

    A query's weight is `sample_weight`.

    >>> report = check_parity([2, 0, 1], [0.1, 0.7, 0.7], presets.catboost(2), group_sizes=[3])
    >>> print(report.rows[1].reason.splitlines()[0])
    scikit-learn cannot express ties='worst', only ties='average', which matters here. Of no consequence here: ...
    """

    vocabulary = presets.sklearn

    def nearest(self, convention: Convention) -> tuple[Convention, dict[str, Any]]:
        """Give the nearest convention of the same measure, and refuse where there is none."""
        nearest = self.vocabulary.nearest(convention)
        if nearest.measure != convention.measure:
            require_expressible(self.vocabulary.title, convention, nearest)
        words = self.vocabulary.spell(nearest)
        if not differing(convention, nearest):
            return convention, words
        kept = [name for name, kind in nearest.declared().items() if kind.group == "retrieval"]
        return nearest.replace(**{name: getattr(convention, name) for name in kept}), words

    def names(self, words: dict[str, Any]) -> tuple[str, str]:
        """Give the function with its cutoff, and say whether it is called for each query."""
        given = ", ".join(f"{name}={words[name]}" for name in PARAMETERS if name in words)
        name = f"{words['metric']}({given})"
        return name, f"sklearn.metrics.{name}{' of each query' if words.get('pool') == 'queries' else ''}"

    def refuse(self, queries: Queries, words: dict[str, Any]) -> None:
        """Take labels from 0 on in `ndcg_score`, and one class of several in `top_k_accuracy_score`."""
        if words["metric"] == "ndcg_score":
            why = "negative, which sklearn's ndcg_score refuses"
            refuse_labels(queries, queries.labels < 0, why, "leave sklearn out")
        if words["metric"] == TOP_K:
            relevant = np.bincount(queries.query_of_row, queries.labels >= 1, queries.n_queries)
            bad = (relevant != 1) | (np.diff(queries.indptr) < LEAST_CLASSES)
            if bad.any():
                who = queries.query_ids[int(np.argmax(bad))]
                what = f"query {who} is not a sample of sklearn's {TOP_K}: three rows or more, one of label 1"
                raise InputError(f"{what}.\nHint: drop the query, or leave sklearn out.")

    def prepare(self, held: ToolkitData, words: dict[str, Any]) -> ToolkitData:
        """Leave the one-document queries out of what refuses them."""
        held = super().prepare(held, words)
        several = np.diff(held.queries.indptr) > 1
        if several.all() or words["metric"] not in REFUSE_ONE:
            return held
        if not several.any():
            msg = "every query has one document, which sklearn's functions refuse.\nHint: leave sklearn out."
            raise InputError(msg)
        queries, kept = held.queries.take(np.flatnonzero(several))
        note = f"scikit-learn refuses one-document queries: {(~several).sum()} left out on both sides."
        return replace(held, queries=queries, scores=held.scores[kept], notes=(note, *held.notes))

    @refusing("sklearn", ValueError)
    def ask(self, held: ToolkitData, words: dict[str, Any]) -> float:
        """Call the function: once for all rows, or for each query, as a row of its own where it takes a cutoff."""
        function, queries, scores = getattr(sklearn.metrics, words["metric"]), held.queries, held.scores
        labels = queries.labels if "k" in words and words["metric"] != TOP_K else (queries.labels >= 1).astype(int)
        weights = np.ones(queries.n_docs) if queries.row_weight is None else queries.row_weight
        given = {name: words[name] for name in PARAMETERS if name in words}
        parts = [slice(None)] if words.get("pool") == "rows" else map(slice, queries.indptr[:-1], queries.indptr[1:])
        if "pool" in words:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that no row is relevant, of which our `empty` says what it counts
                values = [function(labels[rows], scores[rows], sample_weight=weights[rows]) for rows in parts]
        elif words["metric"] == TOP_K:
            values = [_top_k_accuracy(function, labels[rows], scores[rows], **given) for rows in parts]
        else:
            values = [function(labels[None, rows], scores[None, rows], **given) for rows in parts]
        counts = np.ones(len(values)) if queries.query_weight is None else queries.query_weight
        return math.fsum(np.asarray(values) * counts) / math.fsum(counts)


def _top_k_accuracy(function: Callable[..., float], labels: Array, scores: Array, k: int | None) -> float:
    """Ask of one sample whether its class, the row of label 1, is among the top k."""
    if k is None or k >= labels.size:
        return 1.0  # which scikit-learn warns about
    return function([int(np.argmax(labels))], scores[None], k=k, labels=np.arange(labels.size))


TOOLKIT = ScikitLearnToolkit()
check_parity = TOOLKIT.check_parity
