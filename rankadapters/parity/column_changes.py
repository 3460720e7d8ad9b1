"""Explain a difference by common mistakes with whole columns of the data; `base` is our number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.binding.gains import passes_threshold
from rankadapters.core.data.columns import Floats
from rankadapters.core.data.queries import Queries
from rankadapters.core.measures import RR
from rankadapters.parity.changes import Changes
from rankadapters.parity.rows import OurNumber

DECIMALS = range(1, 7)  # numbers of decimals to which a file may have rounded scores

ColumnChanges = Iterator[tuple[str, dict[str, Any]]]  # a description of the mistake, and the changed columns


def different_columns(base: OurNumber) -> Changes:
    """Evaluate the convention on the columns as changed by each mistake in turn."""
    queries = base.queries
    everything_ranked = queries.retrieved is None and queries.judged is None
    searches = [_scores, _last_relevant, *([_labels, _groups] if everything_ranked else [_unretrieved_rows])]
    changes = (change for search in searches for change in search(base))
    return Changes.of((f"the value {text}", base.changed(**changed)) for text, changed in changes)


def _scores(base: OurNumber) -> ColumnChanges:
    yield "of the scores negated", {"scores": -base.scores}
    for decimals in DECIMALS:
        yield f"of the scores rounded to {decimals} decimals", {"scores": np.round(base.scores, decimals)}


def _labels(base: OurNumber) -> ColumnChanges:
    """Yield labels or scores in a different order of rows, labels swapped with scores, and labels as 0 and 1."""
    queries, scores, labels = base.queries, base.scores, base.queries.labels
    for text, order in _orders(base).items():
        if order is not None and not np.array_equal(order, np.arange(queries.n_docs)):
            yield f"of the labels {text}, the scores as they are", {"queries": queries.with_labels(labels[order])}
            if text.endswith("by query"):
                yield f"of the scores {text}, the labels as they are", {"scores": scores[order]}
    yield "of labels and scores swapped", {"queries": queries.with_labels(scores), "scores": labels}
    yield "of the labels as 0 and 1", {"queries": queries.with_labels((labels > 0) * 1.0)}


def _orders(base: OurNumber) -> dict[str, NDArray[Any] | None]:
    """Return the row orders in which columns are often passed by mistake; None for an order that is impossible."""
    queries = base.queries
    rows, by_query = np.arange(queries.n_docs), queries.query_of_row
    reversed_rows, ranking = np.empty_like(rows), np.empty_like(rows)
    reversed_rows[queries.rows] = np.lexsort((-rows, by_query))
    ranking[queries.rows] = np.lexsort((rows, -base.scores, by_query))
    return {
        "in reverse order": rows[::-1],
        "of each query in reverse order": reversed_rows,
        "in the order of the ranking": ranking,
        "moved down by one row": np.roll(rows, 1),
        "moved up by one row": np.roll(rows, -1),
        "grouped by query": queries.rows,
        "sorted by query": _by_id(queries),
    }


def _groups(base: OurNumber) -> ColumnChanges:
    """Yield the rows grouped into wrong queries, such as by group sizes in a different order."""
    queries = base.queries
    sizes, of_row = np.diff(queries.indptr), queries.query_of_row
    starts = np.flatnonzero(np.diff(of_row, prepend=-1))
    by_size, ids = np.argsort(-sizes, kind="stable"), _by_id(queries)
    sizes_by_order = {
        "in the order in which they appear": sizes,
        "from the largest": sizes[by_size],
        "in the order of their ids": None if ids is None else _sizes_by(of_row[ids]),
    }
    weights = queries.query_weight
    for order, variant_sizes in sizes_by_order.items():
        if variant_sizes is not None and not (queries.order is None and np.array_equal(variant_sizes, sizes)):
            text = f"of the sizes of the queries, {order}, laid over rows that are not in that order"
            yield text, {"queries": regrouped(queries, variant_sizes, weights)}
    if queries.order is not None:
        runs = np.diff(starts, append=of_row.size)
        of_runs = None if weights is None else weights[of_row[starts]]
        yield "of every run of rows of one query taken as a query", {"queries": regrouped(queries, runs, of_runs)}
    if queries.n_queries > 1:
        whole = regrouped(queries, np.array([queries.n_docs]), None)
        yield "with all rows taken as one query", {"queries": whole}


def _unretrieved_rows(base: OurNumber) -> ColumnChanges:
    retrieved = base.queries.retrieved
    if retrieved is None:
        return
    queries = Queries(
        base.queries.labels, qid=base.queries.query_of_row, query_weight=base.queries.query_weight,
        judged=base.queries.judged,
    )  # fmt: skip
    scores = np.where(retrieved, base.scores, 0).astype(base.scores.dtype)
    yield (
        "of the rows that were not retrieved, ranked by a score of 0",
        {"queries": _ranked_docids(queries, base.queries), "scores": scores},
    )


def _last_relevant(base: OurNumber) -> ColumnChanges:
    """Yield labels in which only the last relevant row of each query stays relevant."""
    convention, queries = base.convention, base.queries
    if not isinstance(convention, RR):
        return
    rows = np.lexsort((np.arange(queries.n_docs), -base.scores, queries.query_of_row))
    ranks = np.arange(rows.size) - np.repeat(queries.indptr[:-1], np.diff(queries.indptr))
    relevant = passes_threshold(queries.labels, convention.relevant)
    top = rows[relevant[rows] & (ranks < (convention.k or rows.size))]
    last = np.full(queries.n_queries, -1)
    last[queries.query_of_row[top]] = top  # later assignments win, so this is the last of each query
    labels = np.where(relevant, queries.labels.min() - 1, queries.labels)
    labels[last[last >= 0]] = queries.labels[last[last >= 0]]
    yield "of the last relevant row taken for the first", {"queries": queries.with_labels(labels)}


def regrouped(queries: Queries, sizes: NDArray[Any], query_weight: Floats | None) -> Queries:
    """Return the rows, in the caller's order, as queries of the given sizes."""
    part = Queries(queries.labels, group_sizes=sizes, query_weight=query_weight, row_weight=queries.row_weight)
    return _ranked_docids(part, queries)


def _ranked_docids(part: Queries, queries: Queries) -> Queries:
    return part if queries.docid_rank is None else part.with_docid_ranks(queries.docid_rank)


def _by_id(queries: Queries) -> NDArray[np.intp] | None:
    """Return the rows sorted by query id; None if the ids cannot be sorted."""
    try:
        _, ranks = np.unique(queries.query_ids, return_inverse=True)
    except TypeError:
        return None
    return np.argsort(ranks[queries.query_of_row], kind="stable")


def _sizes_by(of_row: NDArray[Any]) -> NDArray[np.int64]:
    return np.diff(np.flatnonzero(np.diff(of_row, prepend=-1)), append=of_row.size)
