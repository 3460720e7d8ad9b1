"""scikit-learn's own `ndcg_score` and `dcg_score`, held against ours."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Never

import numpy as np
import sklearn
import sklearn.metrics
from numpy.typing import NDArray

from rankadapters.core import presets
from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.keywords import GROUPS, refuse_other_names
from rankadapters.core.measures import DCG, NDCG
from rankadapters.core.presets.tool import spec_of
from rankadapters.core.queries import Queries, as_queries
from rankadapters.core.texts import as_convention
from rankadapters.parity import Held, ParityReport, Route, Toolkit, require_expressible
from rankadapters.parity.checking import compare
from rankadapters.parity.data import bind, in_order, refuse_retrieval

Array = NDArray[Any]

SKLEARN = Toolkit(name="scikit-learn", package="sklearn", version=sklearn.__version__)


def check_parity(
    labels: object,
    scores: object,
    convention: Convention | str,
    *,
    qid: object = None,
    group_sizes: object = None,
    query_weight: object = None,
    **other: Never,
) -> ParityReport:
    """Hold scikit-learn's own NDCG or DCG of these scores against ours.

    `ndcg_score`, or `dcg_score` for a DCG, is asked for each query and averaged. Where scikit-learn cannot express the
    convention, the two are compared under the nearest that it can, and a second row states our value under the
    declared one: equal where nothing in the data depends on the fields that it cannot express.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels; with a Queries, no other column is taken.
    scores : array-like, shape (n_docs,)
        Predicted scores, higher is better.
    convention : Convention or str
        What is declared.
    qid, group_sizes, query_weight
        As in `Queries`. A query's weight is scikit-learn's `sample_weight`.

    Returns
    -------
    ParityReport
        scikit-learn's value against ours, which must agree to 1e-9; then the declared convention, if that is another.
        Both functions refuse one-document queries, which are left out on both sides, as the reason says.

    Raises
    ------
    InputError
        The data has no value under the convention, or scikit-learn refuses it: negative labels in an NDCG, nothing but
        one-document queries.

    References
    ----------
    scikit-learn 1.9.1, sklearn/metrics/_ranking.py.

    Examples
    --------
    >>> from rankadapters import presets
    >>> report = check_parity([2, 0, 1], [0.1, 0.7, 0.7], presets.catboost(2), group_sizes=[3])
    >>> print(report.rows[1].reason.splitlines()[0])
    scikit-learn cannot express ties='worst', only ties='average', which matters here. Of no consequence here: ...
    """
    convention = as_convention(convention)
    refuse_other_names(other, GROUPS)
    queries = as_queries(labels, qid=qid, group_sizes=group_sizes, query_weight=query_weight)
    refuse_retrieval(queries, "scikit-learn")
    queries, array = bind(queries, scores, convention, {})
    nearest = _nearest(convention)
    held = _held(queries, array, nearest)
    metric, options = spec_of(presets.sklearn.spell(nearest), "metric", {})
    function = getattr(sklearn.metrics, metric)
    ask = partial(_ask, function, options["k"]) if "k" in options else partial(_ask_binary, function, options)
    said = ", ".join(f"{name}={value}" for name, value in options.items() if name == "k")
    each = " of each query" if options.get("pool") == "queries" else ""
    route = Route(source=f"sklearn.metrics.{metric}({said}){each}", ask=ask)
    return compare(SKLEARN, [route], held, declared=convention, nearest=nearest)


def _nearest(convention: Convention) -> Convention:
    nearest = presets.sklearn.nearest(convention)
    if nearest.measure != convention.measure:
        require_expressible("scikit-learn", convention, nearest)
    return nearest.replace(**{
        name: getattr(convention, name) for name, kind in nearest.declared().items() if kind.group == "retrieval"
    })  # fmt: skip


def _held(queries: Queries, scores: Array, nearest: Convention) -> Held:
    together, rows = in_order(queries)
    scores = scores[rows]
    if not isinstance(nearest, (NDCG, DCG)):
        return Held(queries=together, scores=scores)
    if isinstance(nearest, NDCG) and (together.labels < 0).any():
        row = int(np.argmax(queries.labels < 0))
        msg = (
            f"labels[{row}] is {queries.labels[row]:g}, negative, which sklearn's ndcg_score refuses.\n"
            "Hint: leave sklearn out."
        )
        raise InputError(msg)
    sizes = np.diff(together.indptr)
    alone = int((sizes == 1).sum())
    if not alone:
        return Held(queries=together, scores=scores)
    return _without_single(together, scores, sizes, alone)


def _without_single(queries: Queries, scores: Array, sizes: Array, alone: int) -> Held:
    if alone == sizes.size:
        msg = "every query has one document, which sklearn's functions refuse.\nHint: leave sklearn out."
        raise InputError(msg)
    kept, several = np.repeat(sizes > 1, sizes), sizes > 1
    left, _ = queries.take(np.flatnonzero(several))
    note = f"scikit-learn refuses one-document queries: {alone} left out on both sides."
    return Held(queries=left, scores=scores[kept], notes=(note,))


def _ask(function: Any, k: int | None, queries: Queries, scores: Array) -> float:
    bounds = map(slice, queries.indptr[:-1], queries.indptr[1:])
    try:
        values = [function(queries.labels[None, rows], scores[None, rows], k=k) for rows in bounds]
    except ValueError as error:
        msg = f"sklearn refuses: {str(error).rstrip('.')}.\nHint: mend the data, or leave sklearn out."
        raise InputError(msg) from error
    weights = np.ones(len(values)) if queries.query_weight is None else queries.query_weight
    return math.fsum(np.asarray(values) * weights) / math.fsum(weights)


def _ask_binary(function: Any, options: dict[str, Any], queries: Queries, scores: Array) -> float:
    """Ask a function of relevant rows: of all rows, of each query, or of queries as rows of a matrix."""
    relevant = (queries.labels >= 1).astype(int)
    bounds = map(slice, queries.indptr[:-1], queries.indptr[1:])
    by_row = queries.row_weight
    try:
        if options.get("pool") == "rows":
            return float(function(relevant, scores, sample_weight=by_row))
        if options:
            parts = [(relevant[part], scores[part], None if by_row is None else by_row[part]) for part in bounds]
            return math.fsum(function(y, s, sample_weight=w) for y, s, w in parts) / len(parts)
        values = [function(relevant[None, part], scores[None, part]) for part in bounds]
    except ValueError as error:
        msg = f"sklearn refuses: {str(error).rstrip('.')}.\nHint: mend the data, or leave sklearn out."
        raise InputError(msg) from error
    weights = np.ones(len(values)) if queries.query_weight is None else queries.query_weight
    return math.fsum(np.asarray(values) * weights) / math.fsum(weights)
