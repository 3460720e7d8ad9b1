"""Gradients: a training objective bound to queries, on the arrays that the measures are computed from."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from rankadapters.core._kernels import COMPUTE
from rankadapters.core._kernels.lambdas import Pairing, lambda_gradients
from rankadapters.core._kernels.lambdas_by_table import BINS, lambda_gradients_by_table, sigmoid_table
from rankadapters.core._kernels.lambdas_in_float32 import lambda_gradients_in_float32
from rankadapters.core._kernels.ranking import first_non_finite
from rankadapters.core.columns import Array, beyond_float32, refuse_few_digits
from rankadapters.core.errors import InputError
from rankadapters.core.lowering import NO_ORDER, discounts_of
from rankadapters.core.measures import NDCG
from rankadapters.core.members import bind
from rankadapters.core.plans import RankedPlan
from rankadapters.core.policies import refuse_ignored
from rankadapters.core.queries import Queries
from rankadapters.core.rows import Rows
from rankadapters.core.threads import as_n_threads, over_chunks

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]

# scores, first and last query, gradients and hessians to write; returns a row whose score has no gradient, else -1
Kernel = Callable[[Array, int, int, Floats32, Floats32], int]


class Gradients:
    """An objective bound to queries: scores in, first and second derivatives out.

    Parameters
    ----------
    queries : Queries
        Validated queries; their weights multiply, where `weighted`, and are divided by their mean where `by_mean`.
    kernel : callable
        Computes a range of queries.
    n_threads : int, optional
        None takes all CPUs; the result is the same for any number.
    state : array, optional
        What the kernel carries from one call to the next, changed in place.
    advance : int
        What each call adds to the state.
    narrow : bool
        Whether scores are compared and subtracted as float32.
    """

    def __init__(
        self,
        queries: Queries,
        kernel: Kernel,
        *,
        n_threads: int | None = None,
        weighted: bool = True,
        by_mean: bool = False,
        state: Array | None = None,
        advance: int = 0,
        narrow: bool = False,
    ) -> None:
        self.queries = queries
        self.state = np.zeros(0, np.int64) if state is None else state
        self._kernel = kernel
        self._n_threads = as_n_threads(n_threads)
        self._advance = advance
        self._narrow = narrow
        self._factors = _factors(queries, queries.query_weight, by_mean=by_mean) if weighted else []

    def gradients(self, scores: object) -> tuple[Floats32, Floats32]:
        """First and second derivatives by the scores.

        Parameters
        ----------
        scores : array-like, shape (n_docs,)
            Predicted scores, finite.

        Returns
        -------
        grad, hess : float32 arrays, shape (n_docs,)
            In the order of the rows.

        Raises
        ------
        InputError
            Another length, a NaN or an infinity, or scores further apart than float64 can tell.
        """
        given = self.queries.check_scores(scores)
        with np.errstate(over="ignore"):  # the next lines refuse what overflowed
            array = given.astype(np.float32, copy=False) if self._narrow else given
        row = first_non_finite(array, NO_ORDER, 0, array.size)
        if row >= 0:
            raise beyond_float32(row, given, "the objective", "sigmoid='exact' and precision='float64'")
        grad, hess = np.zeros(array.size, np.float32), np.zeros(array.size, np.float32)
        run = partial(self._run, array, grad, hess)
        bad = [row for row in over_chunks(run, self.queries.indptr, self._n_threads) if row >= 0]
        if bad:
            msg = (
                f"scores[{bad[0]}] is {given[bad[0]]}, too far from the others of its query.\nHint: rescale the scores."
            )
            raise InputError(msg)
        self.state += self.state.dtype.type(self._advance)
        for factor in self._factors:
            grad *= factor
            hess *= factor
        return grad, hess

    def _run(self, scores: Array, grad: Floats32, hess: Floats32, first: int, last: int) -> int:
        return self._kernel(scores, first, last, grad, hess)


class Scale(NamedTuple):
    """A normalisation: each pair by `offset + slope * score distance`, each query by the sum of its lambdas."""

    offset: float
    slope: float
    by_sum: bool


NORMALIZATIONS = {
    "none": Scale(1.0, 0.0, by_sum=False),
    "lightgbm": Scale(float(np.float32(0.01)), 1.0, by_sum=True),  # it adds 0.01f
    "xgboost": Scale(0.01, 1.0, by_sum=True),
    "xgboost-distance": Scale(0.01, 1.0, by_sum=False),
    "xgboost-sum": Scale(1.0, 0.0, by_sum=True),
}
HESSIANS = {"plain": (1.0, 0.0), "doubled": (2.0, 1e-16)}  # factor of p (1 - p), and its floor


class PairTerms(NamedTuple):
    """What the pairs of each query are weighed by."""

    rows: Rows
    gains: Array
    inverse_ideal: Floats  # 0 where a query has no gradient
    discounts: Floats
    reach: int  # the first rank of a pair with a discount that differs from a later one's


def ndcg_terms(queries: Queries, convention: NDCG, *, cut: bool) -> PairTerms:
    """Lower a convention for pairs; with `cut`, ranks beyond k have no discount."""
    # A gradient needs no value of an empty or missing query, and takes tied rows in row order.
    ties = "input" if convention.ties == "average" else convention.ties
    refuse_ignored([convention], queries)
    [member] = bind(queries, [convention.replace(empty=0, missing="zero", ties=ties)])
    plan = cast("RankedPlan", member.plan)
    [gains], [ideal] = plan.columns, plan.by_query
    n = int(plan.rows.sizes.max(initial=1))
    discounts = discounts_of(convention.discount, n)
    if cut:
        discounts[plan.k :] = 0.0
    inverse = np.where(member.settled.status == COMPUTE, 1.0 / ideal, 0.0)
    return PairTerms(plan.rows, gains.values, inverse, discounts, plan.k if cut else n)


def label_terms(queries: Queries) -> PairTerms:
    """Take the labels for gains and weigh all queries alike."""
    rows = all_rows(queries)
    return PairTerms(rows, rows.take(queries.labels), np.ones(queries.n_queries), np.zeros(0), queries.n_docs)


def pairing(terms: PairTerms, truncation: int | None, sigma: float, normalization: str, hessian: str) -> Pairing:
    """Settle what is the same for every pair."""
    limit = min(truncation or terms.reach, terms.reach)
    factor, floor = HESSIANS[hessian]
    return Pairing(int(limit), float(sigma), *NORMALIZATIONS[normalization], factor, floor)


def top_kernel(terms: PairTerms, pairs: Pairing, *, unit: bool) -> Kernel:
    """Every pair of one of the first ranks with a later one, sigmoid exact."""

    def run(scores: Array, first: int, last: int, grad: Floats32, hess: Floats32) -> int:
        indptr, inverse = terms.rows.indptr[first : last + 1], terms.inverse_ideal[first:last]
        return int(
            lambda_gradients(
                scores, terms.rows.order, indptr, terms.gains, inverse, terms.discounts, unit, pairs, grad, hess
            )
        )

    return run


def table_kernel(terms: PairTerms, pairs: Pairing) -> Kernel:
    """The same in LightGBM's arithmetic."""
    table = _sigmoid_table(pairs.sigma)

    def run(scores: Array, first: int, last: int, grad: Floats32, hess: Floats32) -> int:
        indptr, inverse = terms.rows.indptr[first : last + 1], terms.inverse_ideal[first:last]
        return int(
            lambda_gradients_by_table(
                scores, terms.rows.order, indptr, terms.gains, inverse, terms.discounts, pairs, table, grad, hess
            )
        )

    return run


def float32_kernel(terms: PairTerms, pairs: Pairing, kind: int, samples: int, rounds: NDArray[np.int64]) -> Kernel:
    """Pairs as XGBoost makes them, from the top where `samples` is 0; `rounds` counts the calls."""

    def run(scores: Array, first: int, last: int, grad: Floats32, hess: Floats32) -> int:
        indptr, inverse = terms.rows.indptr[first : last + 1], terms.inverse_ideal[first:last]
        n_queries = terms.inverse_ideal.size
        seed = (int(rounds[0]) + 1) * n_queries + first
        return int(
            lambda_gradients_in_float32(
                scores,
                terms.rows.order,
                indptr,
                terms.gains,
                inverse,
                terms.discounts,
                kind,
                samples,
                seed,
                pairs,
                grad,
                hess,
            )
        )

    return run


def all_rows(queries: Queries) -> Rows:
    """All rows, query by query.

    Raises
    ------
    InputError
        Some rows are not retrieved or not judged, and no convention says what they count; or there are weights of rows
        or given pairs, which no objective takes.
    """
    for column in ("row_weight", "pairs"):
        if getattr(queries, column) is not None:
            msg = f"{column} was given, but this objective would ignore it.\nHint: drop {column}."
            raise InputError(msg)
    if queries.judged is not None or queries.retrieved is not None:
        msg = (
            "retrieved= and judged= mean something under a convention only, and this objective has none.\n"
            "Hint: drop the rows that are not retrieved or not judged."
        )
        raise InputError(msg)
    return Rows(NO_ORDER if queries.order is None else queries.order, queries.indptr)


def _factors(queries: Queries, given: Floats | None, *, by_mean: bool) -> list[Any]:
    """What gradients are multiplied by, one after the other: each row's weight, and the inverse of their mean."""
    if given is None:
        return []
    refuse_few_digits("query_weight", given, np.float32, "rescale the weights; gradients are float32")
    weights = given.astype(np.float32)
    total = float(weights.sum(dtype=np.float64))
    if by_mean and not total:
        raise InputError("query_weight adds up to 0.\nHint: some query needs a weight above 0.")
    return [queries.per_row(weights), *([np.float32(weights.size / total)] if by_mean else [])]


@lru_cache(maxsize=2)
def _sigmoid_table(sigma: float) -> Floats:
    table: Any = np.empty(BINS)
    sigmoid_table(sigma, table)
    table.setflags(write=False)
    return table  # type: ignore[no-any-return]
