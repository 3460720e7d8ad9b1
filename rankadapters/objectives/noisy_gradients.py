"""Gradients estimated from rankings under noise: bound to queries, with a stream of random numbers for each of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array, Floats, Ints
from rankadapters.core.data.queries import Queries
from rankadapters.core.data.rows import NO_ORDER, offsets
from rankadapters.core.evaluation import threads
from rankadapters.core.kernels.ranked_rows import ALL_FINITE, ranked_rows
from rankadapters.core.kernels.views import writable
from rankadapters.objectives.bound_gradients import Floats32, Gradients
from rankadapters.objectives.kernels import stochastic_rank as kernels
from rankadapters.objectives.kernels.generators import query_seeds
from rankadapters.objectives.kernels.stochastic_filter import stochastic_filter_gradients
from rankadapters.objectives.kernels.yetirank import noise_keys, yetirank_gradients
from rankadapters.objectives.moves import Kept, Moves

CALLS_APART = 0x9E3779B97F4A7C15  # 2^64 by the golden ratio: seeds of calls that stay far from each other
NOISE = 4  # times the work of a row: to draw its noise and rank it


class Exploring(NamedTuple):
    """How scores are disturbed, and estimates corrected, in StochasticRank."""

    sigma: float
    mu: float
    nu: float
    share: float  # of what is along the scores, taken away
    estimations: int
    departure: int


class Permuting(NamedTuple):
    """How rankings are drawn, and what their pairs weigh, in YetiRank."""

    kind: int
    permutations: int
    reach: int  # ranks of the first row of a pair
    neighbors: int
    decay: float
    noise: int
    power: float


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


class _Part:
    """Some queries, query by query: their scores and worths, and room for each copy of those with a gradient."""

    def __init__(self, moves: Moves, scores: Array, first: int, last: int, copies: int) -> None:
        indptr, self.order = moves.rows.indptr[first : last + 1], writable(moves.rows.order)
        self.indptr = writable(indptr)
        rows = slice(indptr[0], indptr[-1])
        self.places: Any = self.order[rows] if self.order.size else rows
        self.scores = writable(np.ascontiguousarray(scores[self.places]))
        self.worth, self.rest = writable(moves.worth[rows]), writable(moves.rest[rows])
        self.inverse = writable(moves.inverse[first:last])
        self.local, self.copies = indptr - indptr[0], copies
        sizes = np.diff(indptr)
        self.copyptr = offsets(np.repeat(np.where((sizes > 1) & (self.inverse > 0), sizes, 0), copies))

    def disturbed(
        self, labels: Floats, sigma: float, mu: float, seeds: NDArray[np.uint64]
    ) -> tuple[int, Floats, Floats]:
        """Centred scores, and every copy of them with normal noise; first a row too far from others, or -1."""
        means, noisy = np.empty(self.scores.size), np.empty(int(self.copyptr[-1]))
        given = (self.scores, labels, self.local, self.copyptr, self.copies, sigma, mu, seeds)
        bad = int(kernels.noisy_scores(*given, means, noisy))
        if bad >= 0:
            bad = int(self.order[self.indptr[0] + bad] if self.order.size else self.indptr[0] + bad)
        return bad, means, noisy

    def portions(self, moves: int) -> Iterator[tuple[int, int]]:
        """First and last row of each call: all at once, but of a single query only as many as a call may take."""
        n = self.scores.size
        alone = self.local.size == 2  # noqa: PLR2004 - where it begins, and where it ends
        step = max(threads.WORK_PER_CALL // max(moves, 1), 1) if alone else max(n, 1)
        for first in range(0, max(n, 1) if alone else 1, step):
            yield first, first + step

    def ranked(self, keys: Floats, k: int) -> tuple[NDArray[np.int32], Ints]:
        """The first k rows of every copy by descending key, and where those of each begin."""
        rankedptr = offsets(np.minimum(np.diff(self.copyptr), k))
        ranked = np.empty(int(rankedptr[-1]), np.int32)
        ties = False
        ranked_rows(keys, writable(NO_ORDER), self.copyptr, k, ties, rankedptr, ranked)
        return ranked, rankedptr


def stochastic_rank(
    queries: Queries, moves: Moves, exploring: Exploring, draws: Draws, *, weighted: bool, n_threads: int | None
) -> Gradients:
    """Bind the derivative of a measure's expectation under normal noise; all second derivatives are 1."""
    labels = moves.rows.take(queries.labels if queries.judged is None else np.where(queries.judged, queries.labels, 0))
    sigma, mu, nu, share, estimations, departure = exploring

    def run(scores: Array, first: int, last: int, grad: Floats32, hess: Floats32) -> Iterator[int]:
        part = _Part(moves, scores, first, last, estimations)
        own = writable(labels[moves.rows.indptr[first] : moves.rows.indptr[last]])
        bad, means, noisy = part.disturbed(own, sigma, mu, draws.of_queries(first, last))
        if bad >= 0:
            yield bad
            return
        given = (
            part.scores, means, noisy, part.copyptr, *part.ranked(noisy, moves.k + 1), part.worth, part.rest,
            part.inverse, moves.discounts, moves.kind, departure, moves.k, estimations, sigma, nu, share, part.order,
            part.indptr,
        )  # fmt: skip
        hess[part.places], ders = 1.0, np.zeros(part.scores.size)
        for rows in part.portions(estimations * min(moves.k, part.scores.size)):
            kernels.stochastic_rank_gradients(*given, *rows, ders, grad)
            yield ALL_FINITE

    pairs = np.minimum(moves.rows.sizes, moves.k) + NOISE * threads.ROW
    return Gradients(
        queries, run, n_threads=n_threads, weighted=weighted, work=_work(moves, estimations * pairs),
        state=draws.calls, advance=1, dtype=np.float64,
    )  # fmt: skip


def yetirank(
    queries: Queries, moves: Moves, permuting: Permuting, draws: Draws, *, weighted: bool, n_threads: int | None
) -> Gradients:
    """Bind the logistic loss of pairs that rankings under noise weigh."""
    kind, permutations, reach, neighbors, decay, noise, power = permuting

    def run(scores: Array, first: int, last: int, grad: Floats32, hess: Floats32) -> Iterator[int]:
        part = _Part(moves, scores, first, last, permutations)
        keys, seeds = np.empty(int(part.copyptr[-1])), draws.by_block(queries.n_queries, first, last)
        noise_keys(part.scores, part.local, part.copyptr, permutations, noise, power, seeds, keys)
        ranked, _ = part.ranked(keys, queries.n_docs)
        yetirank_gradients(
            part.scores, ranked, part.copyptr, part.worth, part.rest, part.inverse, moves.discounts, kind, permutations,
            reach, neighbors, decay, part.order, part.indptr, grad, hess,
        )  # fmt: skip
        yield ALL_FINITE

    pairs = np.minimum(moves.rows.sizes, neighbors) + NOISE * threads.ROW
    return Gradients(
        queries, run, n_threads=n_threads, weighted=weighted, work=_work(moves, permutations * pairs),
        state=draws.calls, advance=1, dtype=np.float64,
    )  # fmt: skip


def stochastic_filter(
    queries: Queries, kept: Kept, sigma: float, estimations: int, draws: Draws, *, weighted: bool, n_threads: int | None
) -> Gradients:
    """Bind the derivative of what rows that are kept by chance gain; all second derivatives are 1."""
    rows = kept.rows

    def run(scores: Array, first: int, last: int, grad: Floats32, hess: Floats32) -> Iterator[int]:
        stochastic_filter_gradients(
            scores, writable(rows.order), rows.indptr, writable(kept.active[first:last]), first, kept.gains,
            kept.discounts, kept.border, kept.strict, sigma, estimations, draws.seed, grad,
        )  # fmt: skip
        places = slice(rows.indptr[first], rows.indptr[last])
        hess[rows.order[places] if rows.order.size else places] = 1.0
        yield ALL_FINITE

    work = np.concatenate([[0.0], np.cumsum(rows.sizes * float(estimations * threads.ROW))])
    return Gradients(
        queries, run, n_threads=n_threads, weighted=weighted, work=work, state=draws.calls, advance=1, dtype=np.float64
    )


def _work(moves: Moves, by_row: Ints) -> Floats:
    return np.concatenate([[0.0], np.cumsum(moves.rows.sizes * by_row.astype(np.float64))])
