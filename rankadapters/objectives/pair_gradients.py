"""Gradients of pairs of rows: the weights of pairs, the kernel, and how many ranks one call takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Array, Floats
from rankadapters.core.classes import lazy_property
from rankadapters.core.ranking.jit import writable
from rankadapters.core.ranking.offsets import offsets
from rankadapters.core.ranking.sorting import make_sorting
from rankadapters.evaluation import threads
from rankadapters.objectives.bound_gradients import Floats32, kernel_order
from rankadapters.objectives.kernels import pairs as kernels
from rankadapters.objectives.kernels import replicas
from rankadapters.objectives.kernels.pairs import Loss, Pairing
from rankadapters.objectives.kernels.queries import RankedQueries, rank_all
from rankadapters.objectives.moves import Moves


class Scale(NamedTuple):
    """A normalization: each pair is divided by `offset + slope * score distance`; `by_sum` also scales each query."""

    offset: float
    slope: float
    by_sum: bool


NORMALIZATIONS = {
    "none": Scale(1.0, 0.0, by_sum=False),
    "lightgbm": Scale(float(np.float32(0.01)), 1.0, by_sum=True),  # LightGBM adds 0.01f
    "xgboost": Scale(0.01, 1.0, by_sum=True),
    "xgboost-distance": Scale(0.01, 1.0, by_sum=False),
    "xgboost-sum": Scale(1.0, 0.0, by_sum=True),
}
ARITHMETICS = {"exact": replicas.EXACT, "table": replicas.BY_TABLE, "float32": replicas.IN_FLOAT32}
HESSIANS = {"plain": (1.0, 0.0), "doubled": (2.0, 1e-16)}  # (factor, lower limit) of p (1 - p)
COMMON_SHARE = 0.75  # if at least this share of rows has one gain, kernels skip pairs of two such rows


class PairDraws(NamedTuple):
    """The settings of random pairs."""

    samples: int  # random partners of each row
    rounds: NDArray[np.int64]  # one entry: the number of calls so far
    seed: int | None  # seed of the generator of the calls' seeds; if None, a call's seed is its number

    def seed_of(self, query: int, n_queries: int) -> int:
        """Return the seed of a query in this call."""
        calls = int(self.rounds[0])
        return query + ((calls + 1) * n_queries if self.seed is None else twister_word(self.seed, calls))


@lru_cache(maxsize=8)
def twister_word(seed: int, index: int) -> int:
    """Return word number `index`, from 0 on, of the C++ generator `std::mt19937(seed)`.

    >>> twister_word(5489, 9999)  # the C++ standard says so, [rand.predef]
    4123659995
    """
    generator = np.random.RandomState(seed)  # also mt19937; numpy guarantees its numbers
    return int(generator.randint(0, 2**32, size=index + 1, dtype=np.uint32)[-1])


def pairing(moves: Moves, truncation: int | None, sigma: float, normalization: str, hessian: str) -> Pairing:
    """Return the settings that all pairs share."""
    limit = min(truncation or moves.k, moves.k)
    factor, floor = HESSIANS[hessian]
    return Pairing(int(limit), float(sigma), *NORMALIZATIONS[normalization], factor, floor, common_gain(moves.gains))


def common_gain(gains: Array) -> float:
    """Return the gain that at least COMMON_SHARE of the rows have, often 0; NaN if there is none."""
    if not gains.size:
        return np.nan
    middle = float(np.partition(gains, gains.size // 2)[gains.size // 2])
    return middle if np.mean(gains == middle) >= COMMON_SHARE else np.nan


def work_of(moves: Moves, limit: int) -> Floats:
    """Return the cumulative cost of the queries: ranking their rows and computing their pairs."""
    sizes = moves.rows.sizes.astype(np.float64)
    return np.concatenate([[0.0], np.cumsum(sizes * (np.minimum(sizes, limit) + threads.ROW))])


def rank_queries(moves: Moves, scores: Array, first: int, last: int, seed: int = 0) -> RankedQueries:
    """Rank queries `first` to `last - 1`, except queries without a gradient or with one row; scores become float64."""
    indptr, order = moves.rows.indptr[first : last + 1], kernel_order(moves.rows)
    part, n = slice(indptr[0], indptr[-1]), np.diff(indptr)
    own_scores = writable((scores[order[part]] if order.size else scores[part]).astype(np.float64, copy=False))
    local, inverse = indptr - indptr[0], moves.inverse[first:last]
    rowptr = offsets(np.where((n > 1) & (inverse > 0), n, 0))
    rows, (ranked_scores, ranked_gains) = np.empty(rowptr[-1], np.int32), np.empty((2, rowptr[-1]))
    space: Any = make_sorting(int(n.max(initial=0)), own_scores)  # type: ignore[no-untyped-call]
    rank_all(own_scores, writable(moves.gains[part]), local, rowptr, space, ranked_scores, ranked_gains, rows)
    ranks = ranked_scores, ranked_gains, rows, rowptr
    return RankedQueries(*ranks, order, writable(indptr), inverse, moves.discounts, seed)


def in_portions(
    code: Any,
    queries: RankedQueries,
    limit: int,
    *settings: Any,
    memory: Callable[[int], tuple[Any, ...]],
    outputs: tuple[Floats32, Floats32],
    passes: int = 1,
) -> Iterator[int]:
    """Call machine code for all ranks, or for parts of a single query that is too long for one call.

    The calls are `code(queries, *settings, first, last, *memory, *outputs)`, for ranks `first` to `last - 1`. The first
    `limit` ranks have pairs with later ranks. With several passes, the ranks are counted on from pass to pass. `memory`
    allocates for queries of up to a number of rows. Yields what the calls return, as `bound_gradients.Kernel` does.
    """
    longest = int(np.diff(queries.indptr).max(initial=1))
    ranks, space = max(min(limit, longest - 1), 1) * passes, memory(longest)
    step = max(threads.WORK_PER_CALL // longest, 1) if queries.indptr.size == 2 else ranks  # noqa: PLR2004 - one query
    for first in range(0, ranks, step):
        bad = int(code(queries, *settings, first, first + step, *space, *outputs))
        yield bad
        if bad >= 0:
            return


@dataclass(frozen=True)
class PairKernel:
    """The kernel of pairs, in exact arithmetic or, for other arithmetic, random pairs and position biases, one by one.

    `loss` has the pair weights of LambdaLoss; `bias` divides each pair by position ratios.
    """

    moves: Moves
    pairs: Pairing
    sigmoid: str = "exact"
    draws: PairDraws | None = None
    loss: Loss | None = None
    bias: replicas.Bias | None = None

    def __call__(self, scores: Array, grad: Floats32, hess: Floats32, first: int, last: int) -> Iterator[int]:
        """Compute the gradients of queries `first` to `last - 1`."""
        moves, pairs, draws = self.moves, self.pairs, self.draws
        seed = 0 if draws is None else draws.seed_of(first, moves.inverse.size)
        queries, outputs = rank_queries(moves, scores, first, last, seed), (grad, hess)
        if self.sigmoid == "exact" and self.bias is None:
            exact, memory = (moves.kind, pairs, self.loss), partial(kernels.make_memory, kind=moves.kind)
            return in_portions(kernels.pair_gradients, queries, pairs.limit, *exact, memory=memory, outputs=outputs)
        needs = {"exact": self.sigmoid == "exact", "biased": self.bias is not None, "drawing": draws is not None}
        memory = partial(replicas.make_memory, kind=moves.kind, **needs)
        settings, limit = (self.form, pairs, self.bias), pairs.limit if draws is None else 1
        return in_portions(replicas.replica_gradients, queries, limit, *settings, memory=memory, outputs=outputs)

    @lazy_property
    def form(self) -> replicas.Form:
        """The settings of a replica."""
        table = _sigmoid_table(self.pairs.sigma) if self.sigmoid == "table" else np.zeros(1)
        samples = 0 if self.draws is None else self.draws.samples
        return replicas.Form(self.moves.kind, samples, ARITHMETICS[self.sigmoid], writable(table))


@lru_cache(maxsize=2)
def _sigmoid_table(sigma: float) -> Floats:
    table: Any = np.empty(replicas.BINS)
    replicas.sigmoid_table(sigma, table)
    table.setflags(write=False)
    return table  # type: ignore[no-any-return]
