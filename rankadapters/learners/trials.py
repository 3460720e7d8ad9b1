"""Trials: evaluate many candidate scores of the same queries fast, under one convention."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Unpack, cast

import numpy as np

from rankadapters.core.arrays import Floats
from rankadapters.core.binding.policies import COMPUTE, refuse_ignored
from rankadapters.core.classes import lazy_property
from rankadapters.core.data.columns import Columns, as_numbers, non_finite
from rankadapters.core.data.queries import as_queries, describes_columns
from rankadapters.core.declaration.arguments import refusal
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, UnsupportedConventionError
from rankadapters.core.measures.ndcg import ndcg
from rankadapters.core.measures.ranked import weighted_sums
from rankadapters.core.ranking import compiled
from rankadapters.core.ranking.jit import writable
from rankadapters.core.ranking.offsets import reduced
from rankadapters.evaluation.evaluator import Evaluator
from rankadapters.evaluation.passes import bind, ranked
from rankadapters.evaluation.threads import ROW, as_n_threads, over_chunks
from rankadapters.learners.kernels.line_search import discounted_sums_along
from rankadapters.presets.texts import as_convention

UNIT = 2.0**-53  # largest relative rounding error of one float64 operation

# Up to this many rows with a gain per query (mean over rows), counting the scores above them is faster than ranking.
MAX_GAIN_ROWS = 48


@describes_columns
class Trials:
    """One convention bound to queries, to evaluate many candidate scores fast.

    A learner needs such values thousands of times. `Trials` is faster than `Evaluator` because it returns plain numbers
    without counts or digests, and adds the queries in float64 instead of exactly. The per-query values equal those of
    `Evaluator.per_query`. The mean differs from the exact mean by at most `rounding` times the mean magnitude of the
    values: less than 1.2e-13 for NDCG over a thousand queries. A root or exponential of the mean scales the error.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels, or Queries that already hold all columns.
    convention : Convention or str
        What to compute.
    n_threads : int, optional
        None uses all CPUs. The result does not depend on the number.
    qid, group_sizes, query_weight, row_weight, pairs, docid, retrieved, judged
        As in `Queries`.

    Raises
    ------
    InputError
        The columns contradict each other or do not fit the convention, or there is no query to average.

    Examples
    --------
    >>> import rankadapters as ra
    >>> trials = ra.Trials([2, 0, 1, 0], "yahoo@2", qid=["a", "a", "b", "b"])
    >>> trials.values([[0.9, 0.1, 0.2, 0.8], [0.9, 0.1, 0.8, 0.2]]).round(3).tolist()
    [0.815, 1.0]
    >>> trials.along([0.0, 0.5, 0.0, 0.5], [1.0, 0.0, 1.0, 0.0], steps=[0.25, 0.75]).round(3).tolist()
    [0.631, 1.0]
    """

    def __init__(
        self, labels: object, convention: Convention | str, *, n_threads: int | None = None, **columns: Unpack[Columns]
    ) -> None:
        self.queries = as_queries(labels, **columns)
        self.convention = as_convention(convention)
        self.n_threads = as_n_threads(n_threads)
        refuse_ignored([self.convention], self.queries)
        [self._member] = bind(self.queries, [self.convention])
        self._constant: float | None = None
        if not self._member.denominator:  # no value depends on the scores: the mean is constant, or this raises
            evaluator = Evaluator.of(self.queries, [self.convention], n_threads=1)
            self._constant = evaluator.evaluate(np.zeros(self.queries.n_docs))[self.convention].value

    @property
    def rounding(self) -> float:
        """Upper bound of the error of a mean, relative to the mean magnitude of the per-query values."""
        return (self._member.decisions.status.size + 4) * UNIT

    def value(self, scores: object) -> float:
        """Return the value of one candidate's scores, shape (n_docs,)."""
        return float(self.values([scores])[0])

    def values(self, several: object) -> Floats:
        """Return the value of each candidate, shape (n_candidates,).

        Parameters
        ----------
        several : array-like, shape (n_candidates, n_docs)
            Scores, one row per candidate; higher is better.

        Raises
        ------
        InputError
            The scores have the wrong length, or contain NaN or infinity.
        """
        return self._means(self._numerators(self._checked(several)))

    def per_query(self, several: object) -> Floats:
        """Return each query's value under each candidate, shape (n_candidates, n_queries); NaN if it is skipped.

        Raises
        ------
        UnsupportedConventionError
            The convention pools all rows, so queries have no values.
        """
        return self._by_query(self._numerators(self._checked(several)))

    def measure(self, scores: object) -> tuple[float, Floats]:
        """Rank one candidate once, and return its value and the value of each query.

        Parameters
        ----------
        scores : array-like, shape (n_docs,)
            Higher is better.

        Returns
        -------
        (float, float array of shape (n_queries,))
            The same as `value` and `per_query` return.

        Raises
        ------
        UnsupportedConventionError
            As `per_query`.
        """
        numerators = self._numerators(self._checked([scores]))
        return float(self._means(numerators)[0]), self._by_query(numerators)[0]

    def along(self, scores: object, column: object, steps: object) -> Floats:
        """Return the value of scores + t x column for each step t, shape (n_steps,).

        Adding a constant to all scores of a query does not change its ranking. For ranking measures, queries in which
        the column is constant therefore keep their value at `scores`, unaffected by rounding. Losses are recomputed.

        Parameters
        ----------
        scores, column : array-like, shape (n_docs,)
            The scores at step 0, and the column that is added to them.
        steps : array-like, shape (n_steps,)
            Multiples of the column.

        Raises
        ------
        InputError
            A column has the wrong length, or contains NaN or infinity.
        """
        start, direction = self._checked([scores, column])
        multiples = as_numbers("steps", steps).astype(np.float64)
        if self._counting_pays(multiples.size * start.size):
            return self._means(self._counted(start, direction, multiples))
        numerators = self._ranked(_moved(start, direction, multiples))
        if self._member.plan.k is not None:
            rows = self._member.plan.rows
            low, high = (reduced(extreme, rows.take(direction), rows.indptr) for extreme in (np.minimum, np.maximum))
            if np.any(low == high):
                numerators[:, low == high] = self._ranked([start])[0, low == high]
        return self._means(numerators)

    def _checked(self, candidates: object) -> Floats:
        try:
            array = np.asarray(candidates, np.float64, order="C")  # kernels would be compiled again for strided rows
        except (TypeError, ValueError, OverflowError):
            raise refusal("scores", candidates, "numbers, shape (n_candidates, n_docs)") from None
        if array.ndim != 2 or array.shape[1] != self.queries.n_docs:  # noqa: PLR2004 - candidates and rows
            msg = f"the scores have shape {array.shape}, but the queries cover {self.queries.n_docs} rows."
            raise InputError(msg, hint="give one row of scores per candidate, shape (n_candidates, n_docs)")
        for scores in array:
            finite = np.isfinite(scores)
            if not finite.all():
                raise non_finite("scores", int(np.argmin(finite)), scores)
        return array

    def _numerators(self, candidates: Floats) -> Floats:
        """Return the numerator of each query under each candidate."""
        if not self._counting_pays(candidates.size):
            return self._ranked(candidates)
        no_column, no_step = np.zeros(self.queries.n_docs), np.zeros(1)
        return np.array([self._counted(scores, no_column, no_step)[0] for scores in candidates])

    def _ranked(self, candidates: Iterable[Floats]) -> Floats:
        """Return the numerators by ranking one candidate at a time."""
        numerators = [ranked([self._member], scores, self.n_threads)[0] for scores in candidates]
        return np.array(numerators).reshape(len(numerators), self._member.decisions.status.size)

    def _counting_pays(self, n_rows: int) -> bool:
        """Return whether to evaluate candidates of so many rows in total by counting, which needs machine code."""
        return n_rows > 0 and self._gain_rows is not None and compiled.pays(n_rows, np.dtype(np.float64))

    @lazy_property
    def _gain_rows(self) -> tuple[Any, ...] | None:
        """The arguments of the counting kernel that describe the rows with a gain, and their queries.

        None if there are too many such rows, or if the measure is not a sum of discounted gains.
        """
        plan, computed = self._member.plan, self._member.decisions.status == COMPUTE
        if plan.formula not in {ndcg, weighted_sums}:
            return None
        if plan.ranking.retrieve != "all" or plan.ranking.precision != "float64":
            return None
        [gains], indptr = plan.columns.values(), plan.rows.indptr
        rows = np.flatnonzero(gains)
        gainptr = np.searchsorted(rows, indptr)
        if np.diff(gainptr) @ plan.rows.sizes > MAX_GAIN_ROWS * gains.size:
            return None
        rows_in_query = (rows - np.repeat(indptr[:-1], np.diff(gainptr))).astype(np.int32)
        arguments = (
            indptr, rows_in_query, gainptr, gains[rows].astype(np.float64), plan.k, plan.ranking.averaged,
            *plan.by_rank.values(), *plan.by_query.values(), computed,
        )  # fmt: skip
        return tuple(writable(value) if isinstance(value, np.ndarray) else value for value in arguments)

    def _counted(self, start: Floats, direction: Floats, steps: Floats) -> Floats:
        """Return the numerators at each step, by counting the scores above each row with a gain."""
        rows = self._member.plan.rows
        by_query = np.empty((rows.indptr.size - 1, steps.size))
        line, gain_rows = (rows.take(start), rows.take(direction), steps), cast("tuple[Any, ...]", self._gain_rows)

        def run(first: int, last: int) -> Iterator[bool]:
            yield discounted_sums_along(first, last, *line, *gain_rows, by_query)

        if not all(over_chunks(run, rows.indptr, self.n_threads, rows.indptr * (ROW * steps.size))):
            raise InputError("the scores overflow float64.", hint="rescale them, or take smaller steps")
        numerators = np.ascontiguousarray(by_query.T)
        for values in numerators:
            self._member.decisions.decide(values)
        return numerators

    def _by_query(self, numerators: Floats) -> Floats:
        if self._member.over_rows:
            msg = f"{self.convention.name} has no per-query values: pool='rows' takes all rows as one query."
            raise UnsupportedConventionError(msg)
        return self._member.values(numerators)

    def _means(self, numerators: Floats) -> Floats:
        """Return the mean of each candidate: add the queries' numerators in order, then divide by the total mass."""
        if self._constant is not None:
            return np.full(len(numerators), self._constant)
        member = self._member
        if member.convention.floor is not None:
            numerators = np.log(np.maximum(numerators, member.convention.floor))
        terms = numerators * member.decisions.weights
        terms[:, member.decisions.skipped] = 0.0
        means = terms.cumsum(axis=1)[:, -1] / self._mass
        return np.array([self.convention.link(mean) for mean in means.tolist()])

    @lazy_property
    def _mass(self) -> float:
        return float(self._member.decisions.divisors.cumsum()[-1])


def _moved(start: Floats, direction: Floats, steps: Floats) -> Iterator[Floats]:
    """Yield the scores at each step."""
    for step in steps.tolist():
        with np.errstate(over="ignore"):
            scores = start + step * direction
        if not np.isfinite(scores).all():
            raise InputError("the scores overflow float64.", hint="rescale them, or take smaller steps")
        yield scores
