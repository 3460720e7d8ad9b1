"""Trials: what a convention says of many candidate scores of the same queries, as fast as its kernel."""

from __future__ import annotations

from functools import cached_property
from importlib.util import find_spec
from typing import Unpack

import numpy as np

from rankadapters.core.binding.plans import WholePlan
from rankadapters.core.binding.policies import refuse_ignored
from rankadapters.core.data.columns import Floats, as_numbers, non_finite
from rankadapters.core.data.keywords import Columns, by_name
from rankadapters.core.data.queries import as_queries
from rankadapters.core.declaration.arguments import refusal
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, UnsupportedConventionError
from rankadapters.core.evaluation.members import bind, whole_values
from rankadapters.core.evaluation.panel import Panel
from rankadapters.core.evaluation.threads import as_n_threads
from rankadapters.core.kernels import warn_of_no_numba
from rankadapters.core.presets.texts import as_convention
from rankadapters.learners.candidates import Listed, MovedScores, RankedCandidates

UNIT = 2.0**-53  # how far one operation rounds


class Trials:
    """One convention bound to queries, for the values of many candidate scores.

    What a learner asks for thousands of times: it gives no `Score`, counts and digests nothing, and adds up in
    float64, query after query, where `Evaluator` adds up exactly. The values of single queries are the very ones of
    `Evaluator.per_query`. Their mean differs from the exact one by at most `rounding` times the mean of their
    magnitudes, which for NDCG of a thousand queries is less than 1.2e-13; a root or an exponential behind the mean, as
    QueryRMSE and geometric means have, passes that on by its slope.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels; with a Queries, no other column is taken.
    convention : Convention or str
        What to compute.
    n_threads : int, optional
        None takes all CPUs; the result is the same for any number.
    qid, group_sizes, query_weight, row_weight, pairs, docid, retrieved, judged
        As in `Queries`.

    Raises
    ------
    InputError
        The columns contradict each other or do not fit the convention, or nothing is left to average.

    Examples
    --------
    >>> import rankadapters as ra
    >>> trials = ra.Trials([2, 0, 1, 0], "yahoo@2", qid=["a", "a", "b", "b"])
    >>> trials.values([[0.9, 0.1, 0.2, 0.8], [0.9, 0.1, 0.8, 0.2]]).round(3).tolist()
    [0.815, 1.0]
    >>> trials.along([0.0, 0.5, 0.0, 0.5], [1.0, 0.0, 1.0, 0.0], steps=[0.25, 0.75]).round(3).tolist()
    [0.631, 1.0]
    """

    @by_name
    def __init__(
        self, labels: object, convention: Convention | str, *, n_threads: int | None = None, **columns: Unpack[Columns]
    ) -> None:
        self.queries = as_queries(labels, **columns)
        self.convention = as_convention(convention)
        self.n_threads = as_n_threads(n_threads)
        refuse_ignored([self.convention], self.queries)
        if find_spec("numba") is None:  # importing it would take a third of a second
            warn_of_no_numba()
        [self._member] = bind(self.queries, [self.convention])
        self._ranked = (
            None if isinstance(self._member.plan, WholePlan) else RankedCandidates(self._member, self.n_threads)
        )
        self._constant: float | None = None
        if not self._member.denominator:  # one value whatever the scores are, or none, which is an error
            panel = Panel(self.queries, [self.convention], n_threads=1)
            self._constant = panel.evaluate(np.zeros(self.queries.n_docs))[self.convention].value

    @property
    def rounding(self) -> float:
        """How far a mean may differ from the exact one, by the mean of the values' magnitudes."""
        return (self._member.decisions.status.size + 4) * UNIT

    def value(self, scores: object) -> float:
        """Value of one candidate, shape (n_docs,)."""
        return float(self.values([scores])[0])

    def values(self, several: object) -> Floats:
        """Value of each candidate, shape (n_candidates,).

        Parameters
        ----------
        several : array-like, shape (n_candidates, n_docs)
            Scores, a row each, higher is better.

        Raises
        ------
        InputError
            Another length, a NaN or an infinity.
        """
        return self._means(self._numerators(several))

    def per_query(self, several: object) -> Floats:
        """Value of each query under each candidate, shape (n_candidates, n_queries); NaN where it is skipped.

        Raises
        ------
        UnsupportedConventionError
            The convention is over all rows, so that no query has a value of its own.
        """
        return self._by_query(self._numerators(several))

    def measure(self, scores: object) -> tuple[float, Floats]:
        """Value of one candidate, and that of each query, from one ranking.

        Parameters
        ----------
        scores : array-like, shape (n_docs,)
            Higher is better.

        Returns
        -------
        (float, float array of shape (n_queries,))
            As `value` and `per_query` give them.

        Raises
        ------
        UnsupportedConventionError
            As `per_query`.
        """
        found = self._numerators([scores])
        return float(self._means(found)[0]), self._by_query(found)[0]

    def along(self, scores: object, column: object, steps: object) -> Floats:
        """Value of scores + t x column for each step t, shape (n_steps,).

        A query in which the column is constant keeps its value at the scores: one number added to all of them ranks
        nothing anew, nor is it left to rounding, but for measures that compare no ranks, such as the losses.

        Parameters
        ----------
        scores, column : array-like, shape (n_docs,)
            Where to start, and what to add.
        steps : array-like, shape (n_steps,)
            How much of it.

        Raises
        ------
        InputError
            Another length, a NaN or an infinity.
        """
        start, added = self._checked([scores, column])
        several = as_numbers("steps", steps).astype(np.float64)
        if self._ranked is None:
            return self.values(start + np.multiply.outer(several, added))
        rows = self._member.plan.rows
        return self._means(self._ranked.numerators(MovedScores(rows.take(start), rows.take(added), several)))

    def _checked(self, several: object) -> Floats:
        try:
            array = np.asarray(several, np.float64)
        except (TypeError, ValueError, OverflowError):
            raise refusal("scores", several, "numbers, shape (n_candidates, n_docs)") from None
        if array.ndim != 2 or array.shape[1] != self.queries.n_docs:  # noqa: PLR2004 - candidates and rows
            msg = (
                f"the scores have shape {array.shape}, but the queries cover {self.queries.n_docs} rows.\n"
                "Hint: one row of scores per candidate, shape (n_candidates, n_docs)."
            )
            raise InputError(msg)
        for scores in array:
            finite = np.isfinite(scores)
            if not finite.all():
                raise non_finite("scores", int(np.argmin(finite)), scores)
        return array

    def _numerators(self, several: object) -> Floats:
        """Numerator of each query of each candidate."""
        given, plan = self._checked(several), self._member.plan
        if self._ranked is None:
            return np.array([whole_values(self._member, plan, scores, self.n_threads) for scores in given])  # type: ignore[arg-type]  # as `_ranked` says
        order = plan.rows.order
        own = given.take(order, axis=1) if order.size else given[:, : int(plan.rows.indptr[-1])]  # all rows, or none
        return self._ranked.numerators(Listed(own))

    def _by_query(self, numerators: Floats) -> Floats:
        if self._member.over_rows:
            msg = f"{self.convention.name} has no per-query values: pool='rows' takes all rows as one query."
            raise UnsupportedConventionError(msg)
        mass = self._member.mass
        if mass is None:
            return numerators
        values: Floats = np.divide(numerators, mass, out=np.full(numerators.shape, np.nan), where=mass > 0)
        return values

    def _means(self, numerators: Floats) -> Floats:
        """Add up the queries of each candidate in their order, by the sum of the masses."""
        if self._constant is not None:
            return np.full(len(numerators), self._constant)
        member = self._member
        if member.convention.floor is not None:
            numerators = np.log(np.maximum(numerators, member.convention.floor))
        terms = numerators * member.decisions.weights
        terms[:, member.decisions.skipped] = 0.0
        means = terms.cumsum(axis=1)[:, -1] / self._mass
        return np.array([self.convention.link(mean) for mean in means.tolist()])

    @cached_property
    def _mass(self) -> float:
        return float(self._member.decisions.divisors.cumsum()[-1])
