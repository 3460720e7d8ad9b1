"""Gradients: a training objective bound to queries. It uses the same arrays as the measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Array, Floats
from rankadapters.core.data.columns import beyond_float32, refuse_few_digits
from rankadapters.core.data.queries import Queries, Rows, rows_of
from rankadapters.core.errors import InputError
from rankadapters.core.ranking.jit import writable
from rankadapters.evaluation.threads import as_n_threads, over_chunks

Floats32 = NDArray[np.float32]

ROW_ORDER = np.empty(0, np.int32)  # as `order` of a kernel: row order

# Arguments: scores, the arrays to write gradients and hessians to, first query, last query + 1. After each call into
# machine code it yields -1, or the index of a row whose gradient cannot be computed.
Kernel = Callable[[Array, Floats32, Floats32, int, int], Iterable[int]]


class BindableObjective(Protocol):
    """What `Gradients` asks of an objective."""

    @property
    def uses_weights(self) -> bool:
        """Whether query weights multiply the gradients."""

    @property
    def divides_weights(self) -> bool:
        """Whether weights are divided by their mean."""

    @property
    def precision(self) -> str | None:
        """Precision in which scores are compared and subtracted; None for the precision of the input scores."""


class Gradients:
    """An objective bound to queries: scores in, first and second derivatives out.

    The kernel computes a range of queries. `work` is the cumulative cost of the queries, in pairs; by default, in rows.
    `state` is carried from call to call and changes in place; each call adds `advance` to it.
    """

    def __init__(
        self,
        objective: BindableObjective,
        queries: Queries,
        kernel: Kernel,
        *,
        n_threads: int | None = None,
        work: Floats | None = None,
        state: Array | None = None,
        advance: int = 0,
    ) -> None:
        self.queries = queries
        self.state = np.zeros(0, np.int64) if state is None else state
        self.kernel, self._work = kernel, work
        self._n_threads = as_n_threads(n_threads)
        self._advance = advance
        self._dtype = objective.precision
        weights = queries.query_weight if objective.uses_weights else None
        self._factors = _factors(queries, weights, by_mean=objective.divides_weights)

    def gradients(self, scores: object) -> tuple[Floats32, Floats32]:
        """Return the first and second derivatives of the loss with respect to the scores.

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
            The scores have a wrong length, a NaN or an infinity, or differ by more than float64 can hold; or a
            derivative overflows float32.
        """
        checked = self.queries.check_scores(scores)
        with np.errstate(over="ignore"):  # the next lines refuse scores that overflow
            array = writable(checked.astype(self._dtype or checked.dtype, copy=False))
        row = _first_non_finite(array)
        if row is not None:
            raise beyond_float32(row, checked, "the objective", "sigmoid='exact' and precision='float64'")
        grad, hess = np.zeros(array.size, np.float32), np.zeros(array.size, np.float32)
        run = partial(self.kernel, array, grad, hess)
        bad = [row for row in over_chunks(run, self.queries.indptr, self._n_threads, self._work) if row >= 0]
        if bad:
            msg = f"scores[{bad[0]}] is {checked[bad[0]]}, too far from the others of its query."
            raise InputError(msg, hint="rescale the scores", row=int(bad[0]))
        self.state += self.state.dtype.type(self._advance)
        for factor in self._factors:
            grad *= factor
            hess *= factor
        refuse_infinite(grad, hess)
        return grad, hess

    def of_queries(self, scores: Array, first: int, last: int) -> Floats32:
        """Return the first derivatives of the rows of queries `first` to `last - 1`; rows must be sorted by query.

        `scores` has a score for every row; those of other queries are ignored.
        """
        rows = slice(int(self.queries.indptr[first]), int(self.queries.indptr[last]))
        with np.errstate(over="ignore"):  # the next lines refuse scores that overflow
            array = writable(scores.astype(self._dtype or scores.dtype, copy=False))
        grad, hess = np.zeros(scores.size, np.float32), np.zeros(scores.size, np.float32)
        bad = _first_non_finite(array[rows])  # kernels cannot rank NaN or infinity
        if bad is not None:
            bad += rows.start
        else:
            bad = next((row for row in self.kernel(array, grad, hess, first, last) if row >= 0), None)
        if bad is not None:
            msg = f"scores of the query of row {bad} are not finite, or too far apart."
            raise InputError(msg, hint="rescale them", row=int(bad))
        self.state += self.state.dtype.type(self._advance)
        part = grad[rows]
        for factor in self._factors:
            part *= factor[rows] if np.ndim(factor) else factor
        return part


def _first_non_finite(scores: Array) -> int | None:
    finite = np.isfinite(scores)
    return None if finite.all() else int(np.argmin(finite))


def kernel_order(rows: Rows) -> Array:
    """Return the order of rows as kernels read it: an empty array means row order."""
    order: Array = ROW_ORDER if rows.order is None else writable(rows.order)
    return order


def row_number(rows: Rows, index: int) -> int:
    """Return the caller's number of the row that is at `index` in query order."""
    order = kernel_order(rows)
    return int(order[index]) if order.size else index


def refuse_infinite(grad: Floats32, hess: Floats32) -> None:
    """Refuse derivatives that overflow float32, since toolkits would silently grow empty trees from them."""
    for noun, values in (("gradient", grad), ("hessian", hess)):
        finite = np.isfinite(values)
        if not finite.all():
            row = int(np.argmin(finite))
            msg = f"the objective gives row {row} a {noun} of {values[row]}, in float32."
            raise InputError(msg, hint="a smaller sigma, or labels of smaller gains", row=row)


def all_rows(queries: Queries) -> Rows:
    """Return all rows, sorted by query.

    Raises
    ------
    InputError
        There are rows that are not retrieved or not judged, and no convention says how they count; or there are row
        weights or pairs, which no objective supports.
    """
    for column in ("row_weight", "pairs"):
        if getattr(queries, column) is not None:
            msg = f"{column} was given, but this objective would ignore it."
            raise InputError(msg, hint=f"drop {column}")
    if queries.judged is not None or queries.retrieved is not None:
        msg = (
            "retrieved= and judged= mean something under a convention only, and this objective has none.\n"
            "Hint: drop the rows that are not retrieved or not judged."
        )
        raise InputError(msg)
    return rows_of(queries, None)


def _factors(queries: Queries, query_weight: Floats | None, *, by_mean: bool) -> list[Any]:
    """Return the factors that multiply the gradients: each row's weight and, with `by_mean`, 1 / mean weight."""
    if query_weight is None:
        return []
    refuse_few_digits("query_weight", query_weight, np.float32, "rescale the weights; gradients are float32")
    weights = query_weight.astype(np.float32)
    total = float(weights.sum(dtype=np.float64))
    if by_mean and not total:
        raise InputError("query_weight adds up to 0.", hint="some query needs a weight above 0")
    return [queries.per_row(weights), *([np.float32(weights.size / total)] if by_mean else [])]
