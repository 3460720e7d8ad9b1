"""Lowering: a convention and its queries become arrays, so that no kernel knows a convention."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankadapters.core._kernels.measures import query_values, ranked_gains
from rankadapters.core._kernels.sorting import order_within
from rankadapters.core.columns import Array, index_dtype
from rankadapters.core.convention import NDCG, Convention, Discounted
from rankadapters.core.errors import InputError
from rankadapters.core.gains import FLOAT64_INTEGERS, gains_of, narrowed
from rankadapters.core.policies import Settled, Sizes, settle
from rankadapters.core.queries import Queries

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

T = TypeVar("T")

NO_ORDER: Ints = np.empty(0, index_dtype(0))


class Ranking(NamedTuple):
    """What decides the ranks of given scores; conventions with an equal one share a pass over the scores."""

    ties: str  # the order that ties keep
    by_gain: str | None  # the gain that this order follows
    drops: bool  # whether unjudged rows are left out
    means: bool  # whether a tie shares its mean gain


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
    ranking: Ranking
    rows: Rows  # the retrieved rows, in the order that ties keep
    gains: Array  # shape (n_retrieved,), in the order of `rows`
    k: int
    discounts: Floats  # by rank
    ideal: Floats  # DCG of the ideal list per query, 1 where nothing is normalised
    settled: Settled


class Binder:
    """Lowers conventions on the same queries; what several of them share is done once.

    Parameters
    ----------
    queries : Queries
        Validated queries.
    conventions : sequence of Convention
        All that will be lowered, so that their ideal lists can be ranked to the depth of the deepest.
    """

    def __init__(self, queries: Queries, conventions: Sequence[Convention]) -> None:
        self.conventions = [_fitting(convention, queries) for convention in conventions]
        self.queries = queries
        self.judged = _rows(queries, queries.judged)
        self.longest = int(np.diff(queries.indptr).max())
        self.depth = max(self._cutoff(convention) for convention in self.conventions)
        self._done: dict[tuple[object, ...], Any] = {}

    def lower(self, convention: Discounted) -> Lowered:
        """Lower a convention, checking that the labels and columns fit it.

        Raises
        ------
        InputError
            A label has no gain, a column that the convention needs is missing, or a query meets a policy `error`.
        """
        row_gains = self._gains(convention)
        retrieved = self._once(("retrieved", convention.unjudged), lambda: _retrieved(convention, self.queries))
        ranking = self._ranking(convention)
        rows = self._once(("rows", ranking), lambda: _tie_order(ranking, self.queries, retrieved, row_gains))
        discounts = discounts_of(convention.discount, self._cutoff(convention))
        ideal, empty = self._ideal(convention, retrieved.sizes)
        return Lowered(
            convention=convention,
            ranking=ranking,
            rows=rows,
            gains=self._once(("narrowed", convention.gain, ranking), lambda: narrowed(rows.take(row_gains))),
            k=discounts.size,
            discounts=discounts,
            ideal=np.where(empty, 1.0, ideal),
            settled=settle(convention, self.queries, Sizes(retrieved.sizes, self.judged.sizes, empty)),
        )

    def _once(self, key: tuple[object, ...], make: Callable[[], T]) -> T:
        if key not in self._done:
            self._done[key] = make()
        return self._done[key]  # type: ignore[no-any-return]

    def _cutoff(self, convention: Convention) -> int:
        return min(convention.k or self.longest, self.longest)

    def _gains(self, convention: Discounted) -> Floats:
        make = lambda: gains_of(self.queries.labels, self.queries.judged, convention)  # noqa: E731 - one use
        return self._once(("gains", convention.gain), make)

    def _ranking(self, convention: Discounted) -> Ranking:
        order, means = convention.ties, convention.ties == "average"
        if means:
            exact = self._once(("exact", convention.gain), lambda: _sums_exactly(self._gains(convention), self.longest))
            # A fixed order of addition, so that the order of the rows cannot change the last bit.
            order = "input" if exact else "best"
        drops = convention.unjudged == "drop" and self.queries.judged is not None
        return Ranking(order, convention.gain if order in {"worst", "best"} else None, drops, means)

    def _ideal(self, convention: Discounted, retrieved: Ints) -> tuple[Floats, NDArray[np.bool_]]:
        """DCG of each query's ideal list (1 where nothing is normalised), and which queries have nothing to find."""
        n_queries = self.queries.n_queries
        if not isinstance(convention, NDCG):
            return np.ones(n_queries), np.zeros(n_queries, np.bool_)
        k = self.longest if convention.ideal == "all" else self._cutoff(convention)
        cut = np.minimum(self.judged.sizes, max(k, self.depth))
        if convention.ideal == "retrieved":
            cut = np.minimum(cut, retrieved)
        key = ("ideal", convention.gain, max(k, self.depth), convention.ideal == "retrieved", convention.unjudged)
        ranked, outptr = self._once(key, lambda: _ranked_by_gain(self._gains(convention), self.judged, cut))
        ideal, ones, compute = np.empty(n_queries), np.ones(n_queries), np.zeros(n_queries, np.uint8)
        query_values(ranked, outptr, k, discounts_of(convention.discount, k), ones, compute, ones, ideal)
        if not np.isfinite(ideal).all():
            query = self.queries.query_ids[int(np.argmin(np.isfinite(ideal)))]
            msg = f"the ideal DCG of query {query} overflows float64: its labels are too large for {convention.gain!r}."
            raise InputError(msg)
        return ideal, ideal <= 0


def discounts_of(discount: str, n: int) -> Floats:
    """Discounts of the ranks 1..n.

    >>> discounts_of("reciprocal", 3).tolist()
    [1.0, 0.5, 0.3333333333333333]
    """
    if discount == "reciprocal":
        return 1 / np.arange(1.0, n + 1)
    # The C library's log2 and not numpy's: its last bit is what the toolkits' own code has, on any machine.
    arguments = range(2, n + 2) if discount == "log2" else (2, *range(2, n + 1))
    return 1 / np.fromiter(map(math.log2, arguments), np.float64, n)


def offsets(sizes: Array) -> Ints:
    """Running sum of sizes, from 0."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def _fitting(convention: object, queries: Queries) -> Discounted:
    if not isinstance(convention, Discounted):
        msg = f"{convention!r:.80} is no convention.\nHint: ra.presets.textbook(10), or ra.NDCG(...) with every field."
        raise InputError(msg)
    if convention.average == "uniform" and queries.query_weight is not None:
        msg = (
            "query_weight was given but the convention says average='uniform', which would ignore it.\n"
            "Hint: convention.replace(average='query'), or drop query_weight."
        )
        raise InputError(msg)
    return convention


def _rows(queries: Queries, kept: NDArray[np.bool_] | None) -> Rows:
    order = NO_ORDER if queries.order is None else queries.order
    if kept is None:
        return Rows(order, queries.indptr)
    places = order if order.size else np.arange(queries.n_docs, dtype=index_dtype(queries.n_docs))
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


def _tie_order(ranking: Ranking, queries: Queries, rows: Rows, row_gains: Floats) -> Rows:
    """Permute the rows of each query once so that a stable order of the scores breaks ties as declared."""
    if ranking.ties == "input":
        return rows
    inner = np.empty(int(rows.indptr[-1]), index_dtype(queries.n_docs))
    if ranking.ties == "reverse":
        inner[:] = np.repeat(rows.indptr[1:] + rows.indptr[:-1] - 1, rows.sizes) - np.arange(inner.size)
    else:
        order_within(rows.take(_tie_keys(ranking.ties, queries, row_gains)), rows.indptr, inner)
    return Rows(rows.order[inner] if rows.order.size else inner, rows.indptr)


def _tie_keys(ties: str, queries: Queries, row_gains: Floats) -> Floats:
    if ties in {"best", "worst"}:
        return row_gains if ties == "best" else -row_gains
    if queries.docid_rank is None:
        msg = f"ties={ties!r} needs docid=, but none was given.\nHint: docid=one string per row, or other ties."
        raise InputError(msg)
    ranks = queries.docid_rank.astype(np.float64)
    return ranks if ties == "docid-descending" else -ranks


def _sums_exactly(gains: Floats, longest: int) -> bool:
    """Tell whether any sum of gains within a query is an integer that float64 holds."""
    return float(np.abs(gains).max()) * longest <= FLOAT64_INTEGERS and bool((gains == np.floor(gains)).all())


def _ranked_by_gain(row_gains: Floats, rows: Rows, cut: Ints) -> tuple[Floats, Ints]:
    """Gains of each query in descending order, as many as `cut` says, and where each query's begin."""
    outptr = offsets(cut)
    ranked = np.empty((1, int(outptr[-1])))
    # Gains rank themselves; narrow ones let the evaluation reuse this call's machine code.
    gains, tie_means = narrowed(rows.take(row_gains))[None, :], False
    depth = max(1, int(cut.max()))
    ranked_gains(row_gains, rows.order, rows.indptr, depth, tie_means, gains, outptr, ranked)
    return ranked[0], outptr
