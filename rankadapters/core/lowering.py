"""Lowering: a convention and its queries become arrays, so that no kernel knows a convention."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankadapters.core._kernels.measures import query_values, ranked_gains
from rankadapters.core._kernels.sorting import order_within
from rankadapters.core.columns import Array
from rankadapters.core.convention import NDCG, Convention, Discounted
from rankadapters.core.errors import InputError
from rankadapters.core.gains import FLOAT64_INTEGERS, gains_of, narrowed
from rankadapters.core.policies import Settled, Sizes, settle
from rankadapters.core.queries import Queries

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NO_ORDER: Ints = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows, query by query: `order` lists their places in the caller's arrays, and is empty for row order."""

    order: Ints
    indptr: Ints

    @property
    def sizes(self) -> Ints:
        """Rows per query."""
        return np.diff(self.indptr)

    def take(self, column: Array) -> Array:
        """Bring a column of the caller's into this order."""
        return column[self.order] if self.order.size else column


@dataclass(frozen=True, eq=False)
class Lowered:
    """Everything that the kernels need to evaluate one convention on its queries."""

    convention: Discounted
    ranking: tuple[object, ...]  # conventions with an equal ranking share one pass over the scores
    rows: Rows  # the retrieved rows, in the order that ties keep
    tie_means: bool
    gains: Array  # shape (n_retrieved,), in the order of `rows`
    k: int
    discounts: Floats  # by rank
    ideal: Floats  # DCG of the ideal list per query, 1 where nothing is normalised
    settled: Settled


def lower(convention: Convention, queries: Queries) -> Lowered:
    """Lower a convention on its queries, checking that the labels and columns fit it.

    Raises
    ------
    InputError
        A label has no gain, a column that the convention needs is missing, or a query meets a policy `error`.
    """
    if not isinstance(convention, Discounted):
        msg = f"{convention!r:.80} is no convention.\nHint: ra.presets.textbook(10), or ra.NDCG(...) with every field."
        raise InputError(msg)
    if convention.average == "uniform" and queries.query_weight is not None:
        msg = (
            "query_weight was given but the convention says average='uniform', which would ignore it.\n"
            "Hint: convention.replace(average='query'), or drop query_weight."
        )
        raise InputError(msg)
    row_gains = gains_of(queries.labels, queries.judged, convention)
    retrieved, judged = _retrieved(convention, queries), _rows(queries, queries.judged)
    rows, ranking, tie_means = _tie_order(convention, queries, retrieved, row_gains)
    longest = max(1, int(retrieved.sizes.max()), int(judged.sizes.max()))
    k = min(convention.k or longest, longest)
    discounts = discounts_of(convention.discount, k)
    ideal, empty = _ideal(convention, row_gains, retrieved, judged, discounts)
    return Lowered(
        convention=convention,
        ranking=ranking,
        rows=rows,
        tie_means=tie_means,
        gains=narrowed(rows.take(row_gains)),
        k=k,
        discounts=discounts,
        ideal=np.where(empty, 1.0, ideal),
        settled=settle(convention, queries, Sizes(retrieved.sizes, judged.sizes, empty)),
    )


def discounts_of(discount: str, n: int) -> Floats:
    """Discounts of the ranks 1..n.

    >>> discounts_of("reciprocal", 3).tolist()
    [1.0, 0.5, 0.3333333333333333]
    """
    ranks = np.arange(1.0, n + 1)
    divisors = {"log2": ranks + 1, "jk2": np.maximum(ranks, 2)}.get(discount)
    return 1 / (ranks if divisors is None else np.log2(divisors))


def offsets(sizes: Array) -> Ints:
    """Running sum of sizes, from 0."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def _rows(queries: Queries, kept: NDArray[np.bool_] | None) -> Rows:
    order = NO_ORDER if queries.order is None else queries.order
    if kept is None:
        return Rows(order, queries.indptr)
    places = order if order.size else np.arange(queries.n_docs)
    inside = kept[places]
    return Rows(places[inside], offsets(inside)[queries.indptr])


def _retrieved(convention: Convention, queries: Queries) -> Rows:
    if queries.judged is None:
        return _rows(queries, queries.retrieved)
    retrieved = queries.retrieved if queries.retrieved is not None else np.ones(queries.n_docs, np.bool_)
    unjudged = retrieved & ~queries.judged
    if convention.unjudged == "error" and unjudged.any():
        msg = (
            f"row {np.argmax(unjudged)} was retrieved but not judged, and the convention says unjudged='error'.\n"
            "Hint: convention.replace(unjudged='zero') or 'drop'."
        )
        raise InputError(msg)
    return _rows(queries, queries.judged & retrieved if convention.unjudged == "drop" else queries.retrieved)


def _tie_order(
    convention: Discounted, queries: Queries, rows: Rows, row_gains: Floats
) -> tuple[Rows, tuple[object, ...], bool]:
    """Permute the rows of each query once so that a stable order of the scores breaks ties as declared."""
    ties, tie_means = convention.ties, convention.ties == "average"
    if tie_means and not _sums_exactly(row_gains, rows):
        ties = "best"  # a fixed order of addition, so that the order of the rows cannot change the last bit
    kept = convention.unjudged == "drop" and queries.judged is not None
    by_gain = convention.gain if ties in {"worst", "best"} else None
    key = ("input" if ties == "average" else ties, by_gain, kept, tie_means)
    if ties in {"input", "average"}:
        return rows, key, tie_means
    if ties == "reverse":
        last = np.repeat(rows.indptr[1:] + rows.indptr[:-1] - 1, rows.sizes)
        inner = last - np.arange(last.size)
    else:
        inner = np.empty(int(rows.indptr[-1]), np.int64)
        order_within(rows.take(_tie_keys(ties, queries, row_gains)), rows.indptr, inner)
    return Rows(rows.take(inner) if not rows.order.size else rows.order[inner], rows.indptr), key, tie_means


def _tie_keys(ties: str, queries: Queries, row_gains: Floats) -> Floats:
    if ties in {"best", "worst"}:
        return row_gains if ties == "best" else -row_gains
    if queries.docid_rank is None:
        msg = f"ties={ties!r} needs docid=, but none was given.\nHint: docid=one string per row, or other ties."
        raise InputError(msg)
    ranks = queries.docid_rank.astype(np.float64)
    return ranks if ties == "docid-descending" else -ranks


def _sums_exactly(gains: Floats, rows: Rows) -> bool:
    """Tell whether any sum of gains within a query is an integer that float64 holds."""
    largest = float(np.abs(gains).max()) * int(rows.sizes.max(initial=0))
    return largest <= FLOAT64_INTEGERS and bool((gains == np.floor(gains)).all())


def _ideal(
    convention: Discounted, row_gains: Floats, retrieved: Rows, judged: Rows, discounts: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """DCG of each query's ideal list, and which queries have nothing to find."""
    n_queries = judged.indptr.size - 1
    ones, none = np.ones(n_queries), np.zeros(n_queries, np.bool_)
    if not isinstance(convention, NDCG):
        return ones, none
    cut = judged.sizes
    if convention.ideal != "all":
        cut = np.minimum(cut, discounts.size)
    if convention.ideal == "retrieved":
        cut = np.minimum(cut, retrieved.sizes)
    depth = max(1, int(cut.max()))
    if depth > discounts.size:
        discounts = discounts_of(convention.discount, depth)
    outptr = offsets(cut)
    ranked = np.empty((1, int(outptr[-1])))
    # Gains rank themselves; narrow ones let the evaluation reuse this call's machine code.
    gains, tie_means, like = narrowed(judged.take(row_gains))[None, :], False, np.empty(0)
    ranked_gains(row_gains, judged.order, judged.indptr, depth, tie_means, gains, outptr, ranked, like)
    ideal = np.empty(n_queries)
    query_values(ranked[0], outptr, depth, discounts, ones, none.astype(np.uint8), ones, ideal)
    if not np.isfinite(ideal).all():
        query = int(np.argmin(np.isfinite(ideal)))
        msg = f"the ideal DCG of query {query} overflows float64: its labels are too large for {convention.gain!r}."
        raise InputError(msg)
    return ideal, ideal <= 0
