"""scikit-learn's own ranking metrics, compared with ours."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import sklearn
import sklearn.metrics
from numpy.typing import NDArray

from rankadapters.core import presets
from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.presets.tool import differing, require_expressible
from rankadapters.core.queries import Queries
from rankadapters.parity import Held, Toolkit
from rankadapters.parity.data import in_order, refused

Array = NDArray[Any]


class ScikitLearnToolkit(Toolkit):
    """scikit-learn: its functions are asked for each query, and averaged.

    `ndcg_score` and `dcg_score` refuse one-document queries, which are left out on both sides, as the reason says, and
    the former negative labels. A query's weight is `sample_weight`.

    References
    ----------
    scikit-learn 1.9.1, sklearn/metrics/_ranking.py.

    Examples
    --------
    >>> report = check_parity([2, 0, 1], [0.1, 0.7, 0.7], presets.catboost(2), group_sizes=[3])
    >>> print(report.rows[1].reason.splitlines()[0])
    scikit-learn cannot express ties='worst', only ties='average', which matters here. Of no consequence here: ...
    """

    vocabulary = presets.sklearn
    version: ClassVar[str] = sklearn.__version__

    def nearest(self, convention: Convention) -> tuple[Convention, dict[str, Any]]:
        """Give the nearest convention of the same measure, and refuse where there is none."""
        nearest = self.vocabulary.nearest(convention)
        if nearest.measure != convention.measure:
            require_expressible(self.title, convention, nearest)
        words = self.vocabulary.spell(nearest)
        if not differing(convention, nearest):
            return convention, words
        kept = [name for name, kind in nearest.declared().items() if kind.group == "retrieval"]
        return nearest.replace(**{name: getattr(convention, name) for name in kept}), words

    def metric(self, words: dict[str, Any]) -> str:
        """Give its own name of the function, with the cutoff."""
        return f"{words['metric']}({', '.join(f'k={words[name]}' for name in words if name == 'k')})"

    def source(self, words: dict[str, Any]) -> str:
        """Say how it is asked, metric and parameters."""
        each = " of each query" if words.get("pool") == "queries" else ""
        return f"sklearn.metrics.{self.metric(words)}{each}"

    def refuse(self, queries: Queries, words: dict[str, Any]) -> None:
        """Name the negative labels that `ndcg_score` refuses."""
        if words["metric"] == "ndcg_score" and (queries.labels < 0).any():
            row = int(np.argmax(queries.labels < 0))
            msg = (
                f"labels[{row}] is {queries.labels[row]:g}, negative, which sklearn's ndcg_score refuses.\n"
                "Hint: leave sklearn out."
            )
            raise InputError(msg, row=row)

    def hold(self, queries: Queries, scores: Array, words: dict[str, Any]) -> Held:
        """Leave the one-document queries out, which `ndcg_score` and `dcg_score` refuse."""
        together, rows = in_order(queries)
        sizes = np.diff(together.indptr)
        alone = int((sizes == 1).sum())
        if not alone or "k" not in words:
            return Held(queries=together, scores=scores[rows])
        if alone == sizes.size:
            msg = "every query has one document, which sklearn's functions refuse.\nHint: leave sklearn out."
            raise InputError(msg)
        left, kept = together.take(np.flatnonzero(sizes > 1))
        note = f"scikit-learn refuses one-document queries: {alone} left out on both sides."
        return Held(queries=left, scores=scores[rows][kept], notes=(note,))

    def ask(self, held: Held, words: dict[str, Any]) -> float:
        """Call the function: once for all rows, or for each query."""
        function, queries = getattr(sklearn.metrics, words["metric"]), held.queries
        labels = queries.labels if "k" in words else (queries.labels >= 1).astype(int)
        weights, pool = queries.row_weight, words.get("pool")
        cutoff = {name: words[name] for name in words if name == "k"}
        try:
            if pool == "rows":
                return float(function(labels, held.scores, sample_weight=weights))
            parts = list(map(slice, queries.indptr[:-1], queries.indptr[1:]))
            if pool == "queries":
                by_query = [None if weights is None else weights[rows] for rows in parts]
                pairs = zip(parts, by_query, strict=True)
                values = [function(labels[rows], held.scores[rows], sample_weight=w) for rows, w in pairs]
            else:
                values = [function(labels[None, rows], held.scores[None, rows], **cutoff) for rows in parts]
        except ValueError as error:
            raise refused("sklearn", error) from error
        counts = np.ones(len(values)) if queries.query_weight is None else queries.query_weight
        return math.fsum(np.asarray(values) * counts) / math.fsum(counts)


TOOLKIT = ScikitLearnToolkit()
check_parity = TOOLKIT.check_parity
