"""Gradients estimated from noisy rankings, with a random number stream for each query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array, Floats, Ints
from rankadapters.core.data.queries import Queries
from rankadapters.core.evaluation import threads
from rankadapters.core.ranking.jit import writable
from rankadapters.core.ranking.ranks import offsets
from rankadapters.core.ranking.sorting import ALL_FINITE, ranked_rows
from rankadapters.objectives.bound_gradients import ROW_ORDER, BindableObjective, Floats32, Gradients, kernel_order
from rankadapters.objectives.kernels.generators import query_seeds
from rankadapters.objectives.kernels.queries import CopiedQueries
from rankadapters.objectives.kernels.stochastic_filter import Filtered, stochastic_filter_gradients
from rankadapters.objectives.kernels.stochastic_rank import (
    Exploring,
    Measure,
    Noise,
    noisy_scores,
    stochastic_rank_gradients,
)
from rankadapters.objectives.kernels.yetirank import Permuting, noise_keys, yetirank_gradients
from rankadapters.objectives.moves import Moves

SEED_STEP = 0x9E3779B97F4A7C15  # 2^64 / golden ratio, so that the seeds of different calls stay far apart
NOISE = 4  # cost of drawing noise for a row and ranking it, in units of `threads.ROW`


class Draws:
    """The random seed of each call, and the seeds of the queries, which derive from it."""

    def __init__(self, seed: int, state: Any) -> None:
        self._seed = seed
        self.calls = np.zeros(1, np.int64) if state is None else state

    @property
    def seed(self) -> np.uint64:
        """The seed of the next call; the first call uses the declared seed."""
        return np.uint64((self._seed + int(self.calls[0]) * SEED_STEP) % 2**64)

    def of_queries(self, first: int, last: int) -> NDArray[np.uint64]:
        """Return the seeds of queries as in StochasticRank: consecutive numbers."""
        return np.arange(first, last, dtype=np.uint64) + self.seed

    def by_block(self, n_queries: int, first: int, last: int) -> NDArray[np.uint64]:
        """Return the seeds of queries as in YetiRank: each block of queries has a generator that draws them."""
        seeds = np.empty(last - first, np.uint64)
        query_seeds(self.seed, n_queries, first, seeds)
        return seeds


def stochastic_rank(
    objective: BindableObjective,
    queries: Queries,
    moves: Moves,
    exploring: Exploring,
    draws: Draws,
    *,
    n_threads: int | None,
) -> Gradients:
    """Bind StochasticRank: derivatives of a measure's expectation under normal noise; all hessians are 1."""
    labels = moves.rows.take(queries.labels if queries.judged is None else np.where(queries.judged, queries.labels, 0))
    estimations, measure = exploring.estimations, Measure(moves.discounts, moves.k, moves.kind)

    def run(scores: Array, first: int, last: int, grad: Floats32, hess: Floats32) -> Iterator[int]:
        part = copied(moves, scores, first, last, estimations)
        own_labels = writable(labels[part.indptr[0] : part.indptr[-1]])
        means, noisy = np.empty(own_labels.size), np.empty(int(part.copyptr[-1]))
        seeds = draws.of_queries(first, last)
        bad = int(noisy_scores(part, own_labels, exploring.sigma, exploring.mu, seeds, means, noisy))
        if bad >= 0:
            yield bad
            return
        hess[rows_of(moves, first, last)] = 1.0
        noise = Noise(means, noisy, *rank_copies(part, noisy, moves.k + 1), np.zeros(own_labels.size))
        for rows in portions(part.indptr, estimations * min(moves.k, own_labels.size)):
            stochastic_rank_gradients(part, measure, exploring, noise, *rows, grad)
            yield ALL_FINITE

    work = _work(moves, estimations * (np.minimum(moves.rows.sizes, moves.k) + NOISE * threads.ROW))
    return Gradients(objective, queries, run, n_threads=n_threads, work=work, state=draws.calls, advance=1)


def yetirank(
    objective: BindableObjective,
    queries: Queries,
    moves: Moves,
    permuting: Permuting,
    draws: Draws,
    *,
    n_threads: int | None,
) -> Gradients:
    """Bind YetiRank: derivatives of the logistic loss of pairs, with weights from noisy rankings."""

    def run(scores: Array, first: int, last: int, grad: Floats32, hess: Floats32) -> Iterator[int]:
        part = copied(moves, scores, first, last, permuting.permutations)
        keys, seeds = np.empty(int(part.copyptr[-1])), draws.by_block(queries.n_queries, first, last)
        noise_keys(part, permuting, seeds, keys)
        ranked, _ = rank_copies(part, keys, queries.n_docs)
        yetirank_gradients(part, permuting, moves.discounts, ranked, grad, hess)
        yield ALL_FINITE

    by_row = permuting.permutations * (np.minimum(moves.rows.sizes, permuting.neighbors) + NOISE * threads.ROW)
    work = _work(moves, by_row)
    return Gradients(objective, queries, run, n_threads=n_threads, work=work, state=draws.calls, advance=1)


def stochastic_filter(
    objective: BindableObjective, queries: Queries, filtered: Filtered, draws: Draws, *, sigma: float, estimations: int,
    n_threads: int | None,
) -> Gradients:  # fmt: skip
    """Bind StochasticFilter: derivatives of the expected FilteredDCG if rows are kept at random; all hessians are 1."""

    def run(scores: Array, first: int, last: int, grad: Floats32, hess: Floats32) -> Iterator[int]:
        stochastic_filter_gradients(scores, filtered, sigma, estimations, draws.seed, first, last, grad, hess)
        yield ALL_FINITE

    work = filtered.indptr * float(estimations * threads.ROW)
    return Gradients(objective, queries, run, n_threads=n_threads, work=work, state=draws.calls, advance=1)


def copied(moves: Moves, scores: Array, first: int, last: int, copies: int) -> CopiedQueries:
    """Return queries `first` to `last - 1`, with offsets for noisy copies of the queries that have a gradient."""
    indptr, inverse = moves.rows.indptr[first : last + 1], moves.inverse[first:last]
    rows, sizes = slice(indptr[0], indptr[-1]), np.diff(indptr)
    copyptr = offsets(np.repeat(np.where((sizes > 1) & (inverse > 0), sizes, 0), copies))
    local = writable(np.ascontiguousarray(scores[rows_of(moves, first, last)]))
    by_row = writable(moves.gains[rows]), writable(moves.rest[rows])
    order = kernel_order(moves.rows)
    return CopiedQueries(local, *by_row, writable(inverse), order, writable(indptr), copyptr, copies)


def rows_of(moves: Moves, first: int, last: int) -> Any:
    """Return the rows of queries `first` to `last - 1`, as indices or a slice in the caller's order."""
    rows = slice(moves.rows.indptr[first], moves.rows.indptr[last])
    order = kernel_order(moves.rows)
    return order[rows] if order.size else rows


def portions(indptr: Ints, moves: int) -> Iterator[tuple[int, int]]:
    """Yield the row range of each kernel call: all rows, or parts of a single query that is too long for one call."""
    n, alone = int(indptr[-1] - indptr[0]), indptr.size == 2  # noqa: PLR2004 - the two offsets of one query
    step = max(threads.WORK_PER_CALL // max(moves, 1), 1) if alone else max(n, 1)
    for first in range(0, max(n, 1) if alone else 1, step):
        yield first, first + step


def rank_copies(queries: CopiedQueries, keys: Floats, k: int) -> tuple[NDArray[np.int32], Ints]:
    """Return the first k rows of every copy by descending key, and the offsets of the copies."""
    rankedptr = offsets(np.minimum(np.diff(queries.copyptr), k))
    ranked = np.empty(int(rankedptr[-1]), np.int32)
    ties = False
    ranked_rows(keys, ROW_ORDER, queries.copyptr, k, ties, rankedptr, ranked)
    return ranked, rankedptr


def _work(moves: Moves, by_row: Ints) -> Floats:
    return np.concatenate([[0.0], np.cumsum(moves.rows.sizes * by_row.astype(np.float64))])
