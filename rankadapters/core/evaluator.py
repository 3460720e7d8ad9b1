"""Evaluation: bind a convention to queries once, then score as often as needed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core._kernels.exact import LIMB_BITS, LIMBS, add_exactly
from rankadapters.core._kernels.measures import SKIP, query_values, ranked_gains
from rankadapters.core.columns import Array, beyond_float32
from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.lowering import Binder, Lowered, offsets
from rankadapters.core.policies import Settled
from rankadapters.core.queries import Queries, as_queries
from rankadapters.core.score import Score, Tally
from rankadapters.core.threads import as_n_threads, over_chunks

Floats = NDArray[np.float64]


class Panel:
    """Several conventions bound to the same queries; those that rank alike share one pass over the scores.

    Parameters
    ----------
    queries : Queries
        Validated queries.
    conventions : iterable of Convention
        At least one.
    n_threads : int, optional
        None takes all CPUs; the result is the same for any number.
    """

    def __init__(self, queries: Queries, conventions: Iterable[Convention], n_threads: int | None = None) -> None:
        self.queries = queries
        self.n_threads = as_n_threads(n_threads)
        self.conventions = _distinct(conventions)
        binder = Binder(queries, self.conventions)
        self._lowered = [binder.lower(convention) for convention in binder.conventions]
        self._denominators = [_exact_sum(low.settled.divisors) for low in self._lowered]
        self._groups: dict[np.dtype[Any], list[_SharedRanking]] = {}

    def evaluate(self, scores: object) -> dict[Convention, Score]:
        """Score every convention."""
        return {convention: tally.score() for convention, tally in self.tally(scores).items()}

    def tally(self, scores: object) -> dict[Convention, Tally]:
        """Sum every convention exactly."""
        return self.tally_values(self.per_query(scores))

    def tally_values(self, values: dict[Convention, Floats]) -> dict[Convention, Tally]:
        """Sum the values that `per_query` gave."""
        pairs = zip(self._lowered, self._denominators, strict=True)
        return {low.convention: self._tally(low, below, values[low.convention]) for low, below in pairs}

    def per_query(self, scores: object) -> dict[Convention, Floats]:
        """Value of each query under every convention; NaN where it is skipped."""
        array = self.queries.check_scores(scores)
        if array.dtype not in self._groups:
            self._groups[array.dtype] = _share(self._lowered, array.dtype)
        values: dict[Convention, Floats] = {}
        for group in self._groups[array.dtype]:
            values.update(group.values(array, self.n_threads))
        return values

    def settled(self) -> dict[Convention, Settled]:
        """How each query gets its value and enters the average, under every convention."""
        return {low.convention: low.settled for low in self._lowered}

    def _tally(self, low: Lowered, denominator: int, values: Floats) -> Tally:
        with np.errstate(over="ignore"):  # the exact sum refuses what overflowed
            terms = values * low.settled.weights
        terms[low.settled.status == SKIP] = 0.0
        return Tally(
            convention=low.convention,
            numerator=_exact_sum(terms),
            denominator=denominator,
            n_queries=self.queries.n_queries,
            n_scored=low.settled.n_scored,
            n_empty=low.settled.n_empty,
            n_short=low.settled.n_short,
            digest=self.queries.digest,
            ids=self.queries.id_hashes,
        )


class Evaluator:
    """One convention bound to queries: everything that does not depend on scores is done once.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels; with a Queries, no other column is taken.
    convention : Convention
        What to compute.
    qid, group_sizes, query_weight, docid, retrieved, judged
        As in `Queries`.
    n_threads : int, optional
        None takes all CPUs; the result is the same for any number.

    Raises
    ------
    InputError
        The columns contradict each other or do not fit the convention.

    Examples
    --------
    >>> import rankadapters as ra
    >>> evaluator = ra.Evaluator([2, 0, 1, 0], ra.presets.yahoo(2), qid=["a", "a", "b", "b"])
    >>> evaluator.per_query([0.9, 0.1, 0.2, 0.8]).round(3).tolist()
    [1.0, 0.631]
    """

    def __init__(
        self, labels: object, convention: Convention, *, n_threads: int | None = None, **columns: object
    ) -> None:
        self._panel = Panel(as_queries(labels, **columns), [convention], n_threads)
        self.convention = self._panel.conventions[0]

    @property
    def queries(self) -> Queries:
        """The queries bound to."""
        return self._panel.queries

    @property
    def query_ids(self) -> Array:
        """Query identifiers in the order of `per_query`."""
        return self.queries.query_ids

    def evaluate(self, scores: object) -> Score:
        """Score predictions.

        Parameters
        ----------
        scores : array-like, shape (n_docs,)
            Predicted scores, higher is better. Float32 stays float32.

        Raises
        ------
        InputError
            Another length, a NaN or an infinity, or nothing left to average.
        """
        return self._panel.evaluate(scores)[self.convention]

    def per_query(self, scores: object) -> Floats:
        """Value of each query, shape (n_queries,); NaN where it is skipped."""
        return self._panel.per_query(scores)[self.convention]

    def tally(self, scores: object) -> Tally:
        """Sum exactly, to be merged with tallies of other queries."""
        return self._panel.tally(scores)[self.convention]


def evaluate(
    labels: object, scores: object, convention: Convention, *, n_threads: int | None = None, **columns: object
) -> Score:
    """Evaluate predictions under one declared convention.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels.
    scores : array-like, shape (n_docs,)
        Predicted scores, higher is better.
    convention : Convention
        What to compute.
    qid, group_sizes, query_weight, docid, retrieved, judged
        As in `Queries`; exactly one of `qid` and `group_sizes`.
    n_threads : int, optional
        None takes all CPUs.

    Returns
    -------
    Score
        The value and the convention that made it.

    Raises
    ------
    InputError
        Something about the data has no value under this convention; the message names it and the way out.

    Examples
    --------
    >>> import rankadapters as ra
    >>> print(ra.evaluate([0, 1, 0, 0], [3, 2, 1, 0], ra.presets.lightgbm(3), group_sizes=[2, 2]).value)
    0.8154648767857288
    """
    return Evaluator(labels, convention, n_threads=n_threads, **columns).evaluate(scores)


def evaluate_many(
    labels: object,
    scores: object,
    conventions: Iterable[Convention],
    *,
    n_threads: int | None = None,
    **columns: object,
) -> dict[Convention, Score]:
    """Evaluate predictions under several conventions, ranking once for all that rank alike.

    Parameters
    ----------
    labels, scores, n_threads
        As in `evaluate`.
    conventions : iterable of Convention
        What to compute.
    qid, group_sizes, query_weight, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    dict of Convention to Score
        In the order given.

    Examples
    --------
    >>> import rankadapters as ra
    >>> base = ra.presets.yahoo(1)
    >>> many = ra.evaluate_many([0, 1], [2, 1], [base, base.at(2)], group_sizes=[2])
    >>> [round(score.value, 3) for score in many.values()]
    [0.0, 0.631]
    """
    return Panel(as_queries(labels, **columns), conventions, n_threads).evaluate(scores)


def _distinct(conventions: object) -> list[Convention]:
    if isinstance(conventions, Convention) or not isinstance(conventions, Iterable):
        msg = (
            f"{conventions!s:.80} is no list of conventions.\nHint: [ra.presets.textbook(10), ...]; evaluate takes one."
        )
        raise InputError(msg)
    several = list(conventions)
    for convention in several:
        if not isinstance(convention, Convention):
            hint = "ra.presets.textbook(10), or ra.NDCG(...) with every field; evaluate_many takes several"
            raise InputError(f"{convention!r:.80} is no convention.\nHint: {hint}.")
    if not several:
        raise InputError("no convention was given.\nHint: [ra.presets.textbook(10)].")
    return list(dict.fromkeys(several))


class _SharedRanking:
    """Lowered conventions that rank the same rows in the same way."""

    def __init__(self, lowered: list[Lowered], dtype: np.dtype[Any]) -> None:
        self.lowered = lowered
        self.first = lowered[0]
        self.dtype = dtype  # in which scores are compared
        self.k = max(low.k for low in lowered)
        self.outptr = offsets(np.minimum(self.first.rows.sizes, self.k))
        names = list(dict.fromkeys(low.convention.gain for low in lowered))
        self.place = [names.index(low.convention.gain) for low in lowered]
        gains = [lowered[self.place.index(i)].gains for i in range(len(names))]
        self.gains = gains[0][None, :] if len(gains) == 1 else np.stack(gains)

    def values(self, scores: Array, n_threads: int) -> dict[Convention, Floats]:
        """Value of each query under each convention."""
        rows, means = self.first.rows, self.first.ranking.means
        with np.errstate(over="ignore"):  # the kernel refuses what overflowed
            compared = scores.astype(self.dtype, copy=False)
        ranked = np.empty((len(self.gains), int(self.outptr[-1])))
        values = np.empty((len(self.lowered), rows.indptr.size - 1))

        def run(first: int, last: int) -> int:
            indptr, outptr = rows.indptr[first : last + 1], self.outptr[first : last + 1]
            bad: int = ranked_gains(compared, rows.order, indptr, self.k, means, self.gains, outptr, ranked)
            if bad < 0:
                for low, place, out in zip(self.lowered, self.place, values[:, first:last], strict=True):
                    part = (array[first:last] for array in (low.ideal, low.settled.status, low.settled.fixed))
                    query_values(ranked[place], outptr, low.k, low.discounts, *part, out)
            return bad

        bad = [row for row in over_chunks(run, rows.indptr, n_threads) if row >= 0]
        if bad:
            raise beyond_float32(bad[0], scores, "the convention", "convention.replace(precision='float64')")
        return {low.convention: column for low, column in zip(self.lowered, values, strict=True)}


def _share(lowered: list[Lowered], dtype: np.dtype[Any]) -> list[_SharedRanking]:
    groups: dict[tuple[object, ...], list[Lowered]] = {}
    for low in lowered:
        # Float32 scores compare in float64 as they do in float32, so they are never widened.
        compared = np.dtype(np.float32 if dtype == np.float32 else low.convention.precision)
        groups.setdefault((*low.ranking, compared), []).append(low)
    return [_SharedRanking(group, key[-1]) for key, group in groups.items()]  # type: ignore[arg-type]


def _exact_sum(terms: Floats) -> int:
    """Sum without rounding, in units of 2^-1074."""
    limbs = np.zeros(LIMBS + 1, np.int64)
    if not add_exactly(np.ascontiguousarray(terms).view(np.int64), limbs):
        msg = "a query's value times its weight overflows float64.\nHint: smaller labels or weights."
        raise InputError(msg)
    return sum(int(limb) << (LIMB_BITS * place) for place, limb in enumerate(limbs) if limb)
