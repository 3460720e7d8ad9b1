"""Gradients estimated from rankings under noise: bound to queries, with a stream of random numbers for each of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array, Floats, Ints
from rankadapters.core.data.queries import Queries
from rankadapters.core.data.rows import NO_ORDER, offsets
from rankadapters.core.evaluation import threads
from rankadapters.core.kernels.ranked_rows import ALL_FINITE, ranked_rows
from rankadapters.core.kernels.views import writable
from rankadapters.objectives.bound_gradients import Floats32, Gradients
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

if TYPE_CHECKING:
    from rankadapters.objectives.base import Objective
    from rankadapters.objectives.stochastic_filter import StochasticFilter

CALLS_APART = 0x9E3779B97F4A7C15  # 2^64 by the golden ratio: seeds of calls that stay far from each other
NOISE = 4  # times the work of a row: to draw its noise and rank it


class Draws:
    """The random numbers of every call: its seed, of which each query makes its own."""

    def __init__(self, seed: int, state: Any) -> None:
        self._seed = seed
        self.calls = np.zeros(1, np.int64) if state is None else state

    @property
    def seed(self) -> np.uint64:
        """Seed of the next call; the first one's is as declared."""
        return np.uint64((self._seed + int(self.calls[0]) * CALLS_APART) % 2**64)

    def of_queries(self, first: int, last: int) -> NDArray[np.uint64]:
        """Seeds of queries as StochasticRank has them: one after the other."""
        return np.arange(first, last, dtype=np.uint64) + self.seed

    def by_block(self, n_queries: int, first: int, last: int) -> NDArray[np.uint64]:
        """Seeds of queries as YetiRank has them: drawn by their block."""
        seeds = np.empty(last - first, np.uint64)
        query_seeds(self.seed, n_queries, first, seeds)
        return seeds


def stochastic_rank(
    objective: Objective, queries: Queries, moves: Moves, exploring: Exploring, draws: Draws, *, n_threads: int | None
) -> Gradients:
    """Bind the derivative of a measure's expectation under normal noise; all second derivatives are 1."""
    labels = moves.rows.take(queries.labels if queries.judged is None else np.where(queries.judged, queries.labels, 0))
    estimations, measure = exploring.estimations, Measure(moves.discounts, moves.k, moves.kind)

    def run(scores: Array, first: int, last: int, grad: Floats32, hess: Floats32) -> Iterator[int]:
        part = copied(moves, scores, first, last, estimations)
        own = writable(labels[part.indptr[0] : part.indptr[-1]])
        means, noisy = np.empty(own.size), np.empty(int(part.copyptr[-1]))
        seeds = draws.of_queries(first, last)
        bad = int(noisy_scores(part, own, exploring.sigma, exploring.mu, seeds, means, noisy))
        if bad >= 0:
            yield bad
            return
        hess[rows_of(moves, first, last)] = 1.0
        noise = Noise(means, noisy, *rank_copies(part, noisy, moves.k + 1), np.zeros(own.size))
        for rows in portions(part.indptr, estimations * min(moves.k, own.size)):
            stochastic_rank_gradients(part, measure, exploring, noise, *rows, grad)
            yield ALL_FINITE

    work = _work(moves, estimations * (np.minimum(moves.rows.sizes, moves.k) + NOISE * threads.ROW))
    return Gradients(objective, queries, run, n_threads=n_threads, work=work, state=draws.calls, advance=1)


def yetirank(
    objective: Objective, queries: Queries, moves: Moves, permuting: Permuting, draws: Draws, *, n_threads: int | None
) -> Gradients:
    """Bind the logistic loss of pairs that rankings under noise weigh."""

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
    objective: StochasticFilter, queries: Queries, filtered: Filtered, draws: Draws, *, n_threads: int | None
) -> Gradients:
    """Bind the derivative of what rows that are kept by chance gain; all second derivatives are 1."""
    sigma, estimations = objective.sigma, objective.estimations

    def run(scores: Array, first: int, last: int, grad: Floats32, hess: Floats32) -> Iterator[int]:
        stochastic_filter_gradients(scores, filtered, sigma, estimations, draws.seed, first, last, grad, hess)
        yield ALL_FINITE

    work = filtered.indptr * float(estimations * threads.ROW)
    return Gradients(objective, queries, run, n_threads=n_threads, work=work, state=draws.calls, advance=1)


def copied(moves: Moves, scores: Array, first: int, last: int, copies: int) -> CopiedQueries:
    """Take some queries, query by query, with room for each copy of those with a gradient."""
    indptr, inverse = moves.rows.indptr[first : last + 1], moves.inverse[first:last]
    rows, sizes = slice(indptr[0], indptr[-1]), np.diff(indptr)
    copyptr = offsets(np.repeat(np.where((sizes > 1) & (inverse > 0), sizes, 0), copies))
    own = writable(np.ascontiguousarray(scores[rows_of(moves, first, last)]))
    worth, rest = writable(moves.worth[rows]), writable(moves.rest[rows])
    return CopiedQueries(own, worth, rest, writable(inverse), moves.rows.order, writable(indptr), copyptr, copies)


def rows_of(moves: Moves, first: int, last: int) -> Any:
    """Return the rows of some queries, in the caller's order."""
    rows = slice(moves.rows.indptr[first], moves.rows.indptr[last])
    return moves.rows.order[rows] if moves.rows.order.size else rows


def portions(indptr: Ints, moves: int) -> Iterator[tuple[int, int]]:
    """First and last row of each call: all at once, but of a single query only as many as a call may take."""
    n, alone = int(indptr[-1] - indptr[0]), indptr.size == 2  # noqa: PLR2004 - where it begins, and where it ends
    step = max(threads.WORK_PER_CALL // max(moves, 1), 1) if alone else max(n, 1)
    for first in range(0, max(n, 1) if alone else 1, step):
        yield first, first + step


def rank_copies(queries: CopiedQueries, keys: Floats, k: int) -> tuple[NDArray[np.int32], Ints]:
    """The first k rows of every copy by descending key, and where those of each begin."""
    rankedptr = offsets(np.minimum(np.diff(queries.copyptr), k))
    ranked = np.empty(int(rankedptr[-1]), np.int32)
    ties = False
    ranked_rows(keys, writable(NO_ORDER), queries.copyptr, k, ties, rankedptr, ranked)
    return ranked, rankedptr


def _work(moves: Moves, by_row: Ints) -> Floats:
    return np.concatenate([[0.0], np.cumsum(moves.rows.sizes * by_row.astype(np.float64))])
