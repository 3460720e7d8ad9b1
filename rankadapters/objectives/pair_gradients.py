"""Gradients of pairs of rows: the weights of pairs, the kernel, and how many ranks one call takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.binding.lowering import discounts_of
from rankadapters.core.binding.plans import RankedPlan
from rankadapters.core.binding.policies import COMPUTE, refuse_ignored
from rankadapters.core.data.columns import Array, Floats
from rankadapters.core.data.queries import Queries, Rows
from rankadapters.core.evaluation import threads
from rankadapters.core.evaluation.evaluator import bind
from rankadapters.core.measures.ranked import Ranked
from rankadapters.core.ranking.jit import writable
from rankadapters.core.ranking.ranks import offsets
from rankadapters.core.ranking.sorting import ranked_rows
from rankadapters.objectives.bound_gradients import ROW_ORDER, Floats32, Kernel, all_rows, kernel_order
from rankadapters.objectives.kernels import pairs as kernels
from rankadapters.objectives.kernels import replicas
from rankadapters.objectives.kernels.changes import DCG, ONE
from rankadapters.objectives.kernels.lanes import LANES
from rankadapters.objectives.kernels.pairs import Loss, Pairing
from rankadapters.objectives.kernels.queries import RankedQueries, take_by_rank


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


class PairTerms(NamedTuple):
    """The gains, discounts and ideal DCGs from which the weights of pairs are computed."""

    rows: Rows
    gains: Array
    inverse_ideal: Floats  # 1 / ideal value of each query; 0 for a query without a gradient
    discounts: Floats
    reach: int  # number of top ranks; pairs without a row in them have weight 0


class PairDraws(NamedTuple):
    """The settings of random pairs."""

    samples: int  # random partners of each row; 0 for the pairs of the top ranks
    rounds: NDArray[np.int64]  # one entry: the number of calls so far
    seed: int | None  # seed of the generator of the calls' seeds; if None, a call's seed is its number

    def seed_of(self, query: int, n_queries: int) -> int:
        """Return the seed of a query in this call."""
        calls = int(self.rounds[0])
        return query + ((calls + 1) * n_queries if self.seed is None else twister_word(self.seed, calls))


class PairParts(NamedTuple):
    """The parts of a pair kernel; a position bias makes a different kernel from the same parts."""

    terms: PairTerms
    pairs: Pairing
    change: int  # kind of the pair weight, as in kernels.changes
    sigmoid: str
    draws: PairDraws


@lru_cache(maxsize=8)
def twister_word(seed: int, index: int) -> int:
    """Return word number `index`, from 0 on, of the C++ generator `std::mt19937(seed)`.

    >>> twister_word(5489, 9999)  # the C++ standard says so, [rand.predef]
    4123659995
    """
    generator = np.random.RandomState(seed)  # also mt19937; numpy guarantees its numbers
    return int(generator.randint(0, 2**32, size=index + 1, dtype=np.uint32)[-1])


def convention_terms(queries: Queries, convention: Ranked, *, cut: bool) -> PairTerms:
    """Compute the `PairTerms` of a convention; with `cut`, the discounts beyond k are 0."""
    # Gradients ignore empty and missing queries. If the convention averages over ties, they rank ties in row order.
    changes: dict[str, object] = {"empty": 0, "missing": "zero"}
    if convention.ties in {"average", "together"}:
        changes["ties"] = "input"
    refuse_ignored([convention], queries)
    [member] = bind(queries, [convention.replace(**{k: v for k, v in changes.items() if k in convention.fields()})])
    plan = cast("RankedPlan", member.plan)
    [column] = plan.columns.values()
    ideal = next(iter(plan.by_query.values()), np.ones(queries.n_queries))
    rows, gains = plan.rows, column.values
    if convention.ties in {"worst", "best"}:
        rows, gains = _by_gain(rows, gains, falling=convention.ties == "best")
    n = int(plan.rows.sizes.max(initial=1))
    # SIMD operations on a row's last pairs read up to LANES entries too many.
    discounts = discounts_of(getattr(convention, "discount", "reciprocal"), n + LANES)
    if cut:
        discounts[plan.k :] = 0.0
    computed = member.decisions.status == COMPUTE
    inverse = np.divide(1.0, ideal, out=np.zeros(queries.n_queries), where=computed)
    return PairTerms(rows, gains, inverse, discounts, plan.k if cut else n)


def _by_gain(rows: Rows, gains: Array, *, falling: bool) -> tuple[Rows, Array]:
    """Sort each query's rows by gain. Equal gains keep the row order: values do not depend on it, but pairs do."""
    order = kernel_order(rows)
    order = order if order.size else np.arange(gains.size, dtype=order.dtype)
    keys = gains.astype(np.float64)
    inner = np.lexsort((order, -keys if falling else keys, np.repeat(np.arange(rows.sizes.size), rows.sizes)))
    return Rows(order[inner], rows.indptr), gains[inner]


def label_terms(queries: Queries) -> PairTerms:
    """Return `PairTerms` with labels as gains and the same weight for every query."""
    rows = all_rows(queries)
    discounts = np.zeros(int(rows.sizes.max(initial=1)) + LANES)
    return PairTerms(rows, rows.take(queries.labels), np.ones(queries.n_queries), discounts, queries.n_docs)


def pairing(terms: PairTerms, truncation: int | None, sigma: float, normalization: str, hessian: str) -> Pairing:
    """Return the settings that all pairs share."""
    limit = min(truncation or terms.reach, terms.reach)
    factor, floor = HESSIANS[hessian]
    return Pairing(int(limit), float(sigma), *NORMALIZATIONS[normalization], factor, floor, common_gain(terms.gains))


def common_gain(gains: Array) -> float:
    """Return the gain that at least COMMON_SHARE of the rows have, often 0; NaN if there is none."""
    if not gains.size:
        return np.nan
    middle = float(np.partition(gains, gains.size // 2)[gains.size // 2])
    return middle if np.mean(gains == middle) >= COMMON_SHARE else np.nan


def work_of(terms: PairTerms, limit: int) -> Floats:
    """Return the cumulative cost of the queries: ranking their rows and computing their pairs."""
    sizes = terms.rows.sizes.astype(np.float64)
    return np.concatenate([[0.0], np.cumsum(sizes * (np.minimum(sizes, limit) + threads.ROW))])


def rank_queries(terms: PairTerms, scores: Array, first: int, last: int, seed: int) -> RankedQueries:
    """Rank queries `first` to `last - 1`, except queries without a gradient or with one row; scores become float64."""
    indptr, order = terms.rows.indptr[first : last + 1], kernel_order(terms.rows)
    part, n = slice(indptr[0], indptr[-1]), np.diff(indptr)
    own_scores = writable(scores[order[part]] if order.size else scores[part])
    local, inverse = indptr - indptr[0], terms.inverse_ideal[first:last]
    rowptr = offsets(np.where((n > 1) & (inverse > 0), n, 0))
    rows, by_rank = np.empty(rowptr[-1], np.int32), np.empty((2, rowptr[-1]))
    ties = False
    ranked_rows(own_scores, ROW_ORDER, local, own_scores.size, ties, rowptr, rows)
    take_by_rank(own_scores, rows, local, rowptr, by_rank[0])
    take_by_rank(writable(terms.gains[part]), rows, local, rowptr, by_rank[1])
    ranks = (by_rank[0], by_rank[1], rows, rowptr)
    return RankedQueries(*ranks, order, writable(indptr), inverse, terms.discounts, seed)


def by_portions(
    kernel: Any,
    terms: PairTerms,
    limit: int,
    *settings: Any,
    memory: Callable[[int], tuple[Any, ...]],
    passes: int = 1,
    draws: PairDraws | None = None,
) -> Kernel:
    """Return a function that ranks queries and calls a kernel for a limited number of ranks at a time.

    The calls are `kernel(queries, *settings, first, last, *memory, grad, hess)`, for ranks `first` to `last - 1`. The
    first `limit` ranks have pairs with later ranks. `memory` allocates for queries of up to a number of rows.
    """

    def run(scores: Array, first: int, last: int, grad: Floats32, hess: Floats32) -> Iterator[int]:
        seed = draws.seed_of(first, terms.inverse_ideal.size) if draws is not None else 0
        queries = rank_queries(terms, scores, first, last, seed)
        space = memory(int(np.diff(queries.indptr).max(initial=0)))
        for ranks in portions(queries.indptr, limit, passes=passes):
            bad = int(kernel(queries, *settings, *ranks, *space, grad, hess))
            yield bad
            if bad >= 0:
                return

    return run


def pair_kernel(parts: PairParts, bias: replicas.Bias | None = None) -> Kernel:
    """Return the kernel for the given pair weights and arithmetic; `bias` divides each pair by position ratios."""
    terms, pairs, change, sigmoid, draws = parts
    swapping = change not in {DCG, ONE}
    if sigmoid == "exact" and bias is None:
        return exact_kernel(terms, pairs, change, swapping=swapping)
    table = _sigmoid_table(pairs.sigma) if sigmoid == "table" else np.zeros(1)
    form = replicas.Form(change, draws.samples, ARITHMETICS[sigmoid], writable(table))
    needs = {"exact": sigmoid == "exact", "biased": bias is not None, "drawing": draws.samples > 0}
    memory = partial(replicas.make_memory, swapping=swapping, **needs)
    limit = 1 if draws.samples else pairs.limit
    return by_portions(replicas.replica_gradients, terms, limit, form, pairs, bias, memory=memory, draws=draws)


def exact_kernel(
    terms: PairTerms, pairs: Pairing, change: int, loss: Loss | None = None, *, swapping: bool = False
) -> Kernel:
    """Return the kernel of exact gradients; `loss` has the pair weights of LambdaLoss."""
    memory = partial(kernels.make_memory, swapping=swapping)
    return by_portions(kernels.pair_gradients, terms, pairs.limit, change, pairs, loss, memory=memory)


def portions(indptr: Array, limit: int, *, passes: int = 1) -> Iterator[tuple[int, int]]:
    """Yield the rank range of each kernel call: all ranks, or parts of a single query that is too long for one call.

    With several passes, the ranks are counted on from pass to pass.
    """
    longest = int(np.diff(indptr).max(initial=1))
    ranks = max(min(limit, longest - 1), 1) * passes
    step = max(threads.WORK_PER_CALL // longest, 1) if indptr.size == 2 else ranks  # noqa: PLR2004 - one query
    for first in range(0, ranks, step):
        yield first, first + step


@lru_cache(maxsize=2)
def _sigmoid_table(sigma: float) -> Floats:
    table: Any = np.empty(replicas.BINS)
    replicas.sigmoid_table(sigma, table)
    table.setflags(write=False)
    return table  # type: ignore[no-any-return]
