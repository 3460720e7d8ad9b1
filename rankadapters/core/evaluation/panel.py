"""Panels: conventions bound to the same queries, which evaluate scores together."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import cached_property
from typing import Unpack

import numpy as np

from rankadapters.core.binding.policies import refuse_ignored
from rankadapters.core.data.columns import Array, Floats, Ints
from rankadapters.core.data.keywords import Columns
from rankadapters.core.data.queries import Queries, as_queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import AboveValuesWarning, UnsupportedConventionError, warn_caller
from rankadapters.core.evaluation.above_values import above_values
from rankadapters.core.evaluation.limbs import Limbs
from rankadapters.core.evaluation.members import Member, Work, bind, exact_sum
from rankadapters.core.evaluation.score import HEAD, Score
from rankadapters.core.evaluation.scores import ByConvention, Scores, signatures
from rankadapters.core.evaluation.spread import squares
from rankadapters.core.evaluation.table import Table
from rankadapters.core.evaluation.tally import Tally
from rankadapters.core.evaluation.threads import as_n_threads
from rankadapters.core.evaluation.written import Written
from rankadapters.core.binding.policies import SKIP
from rankadapters.presets.texts import as_conventions


class Panel:
    """Conventions bound to the same queries; those that rank alike share one pass over the scores.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels; with a Queries, no other column is taken.
    conventions : Convention or str, or sequence of these
        At least one; `ra.parse` reads texts. Results have every entry, even if two conventions are equal.
    n_threads : int, optional
        None means all CPUs; the result is the same for any number.
    qid, group_sizes, query_weight, row_weight, pairs, docid, retrieved, judged
        As in `Queries`.

    Raises
    ------
    InputError
        The columns contradict each other or do not fit a convention, which the message names; or one convention uses
        the given weights and a different one would ignore them.

    Examples
    --------
    >>> import rankadapters as ra
    >>> panel = ra.Panel([2, 0, 1, 0], ["yahoo@2", "letor4@2"], qid=["a", "a", "b", "b"])
    >>> measured = panel.measure([0.9, 0.1, 0.2, 0.8])
    >>> [round(score.value, 3) for score in measured.scores.values()]
    [0.815, 1.0]
    >>> [values.round(3).tolist() for values in measured.per_query.values()]
    [[1.0, 0.631], [1.0, 1.0]]
    """

    def __init__(
        self,
        labels: object,
        conventions: Convention | str | Iterable[Convention | str],
        *,
        n_threads: int | None = None,
        **columns: Unpack[Columns],
    ) -> None:
        self.queries = as_queries(labels, **columns)
        self.n_threads = as_n_threads(n_threads)
        self.conventions = as_conventions(conventions)
        distinct = list(dict.fromkeys(self.conventions))
        refuse_ignored(distinct, self.queries)
        members = bind(self.queries, distinct)
        self._work = Work(members)
        self._indices = [distinct.index(convention) for convention in self.conventions]
        self._entries = [
            members[index]
            if members[index].convention is convention
            else replace(members[index], convention=convention)
            for index, convention in zip(self._indices, self.conventions, strict=True)
        ]

    def __repr__(self) -> str:
        """Show the conventions by their shortest texts, and the size of the data."""
        texts = [convention.short_name for convention in self.conventions]
        return f"Panel({texts}, {self.queries!r})"

    @property
    def query_ids(self) -> Array:
        """Query identifiers in the order of the per-query values."""
        return self.queries.query_ids

    def measure(self, scores: object) -> Measured:
        """Rank once, and return per-query values, tallies and scores of every convention.

        Parameters
        ----------
        scores : array-like, shape (n_docs,)
            Predicted scores, higher is better. Float32 stays float32.

        Raises
        ------
        InputError
            The length is wrong, or a score is NaN or infinite.
        """
        array = self.queries.check_scores(scores)
        numerators = self._work.numerators(array, self.n_threads)
        return Measured(self.queries, self._entries, [numerators[index] for index in self._indices])

    def evaluate(self, scores: object) -> Scores[Score]:
        """Return the score of every convention, as `measure(scores).scores`."""
        return self.measure(scores).scores

    def tally(self, scores: object) -> ByConvention[Tally]:
        """Return the exact sums of every convention, as `measure(scores).tallies`."""
        return self.measure(scores).tallies

    def per_query(self, scores: object) -> ByConvention[Floats]:
        """Return the value of each query under every convention, as `measure(scores).per_query`."""
        return self.measure(scores).per_query


class Measured(Written):
    """Results of a Panel for given scores, all computed from one ranking pass; made by `Panel.measure`."""

    def __init__(self, queries: Queries, members: list[Member], numerators: list[Floats]) -> None:
        self._queries = queries
        self._results = list(zip(members, numerators, strict=True))

    @cached_property
    def per_query(self) -> ByConvention[Floats]:
        """Value of each query, shape (n_queries,), by convention; NaN for queries that are skipped or whose mass is 0.

        Raises
        ------
        UnsupportedConventionError
            A convention takes all rows as one query, so queries have no values.
        """
        self._refuse_over_rows("per-query values")
        return ByConvention([(member.convention, _values(member, numerators)) for member, numerators in self._results])

    @cached_property
    def scores(self) -> Scores[Score]:
        """Score of each convention."""
        return Scores((tally.convention, tally.score()) for tally in self._tallies)

    @property
    def tallies(self) -> ByConvention[Tally]:
        """Exact sums of each convention, which merge with tallies of other queries.

        Raises
        ------
        UnsupportedConventionError
            A convention takes all rows as one query, so parts of the data do not add up.
        """
        self._refuse_over_rows("tallies")
        return ByConvention((tally.convention, tally) for tally in self._tallies)

    @cached_property
    def _tallies(self) -> list[Tally]:
        return [self._tally(member, numerators) for member, numerators in self._results]

    @cached_property
    def shares(self) -> ByConvention[Floats]:
        """What each query adds to the value, shape (n_queries,), by convention; 0 for skipped queries.

        Raises
        ------
        UnsupportedConventionError
            A convention's value is not a sum over queries: it takes all rows as one query, or is a geometric mean.
        InputError
            Every query is skipped.
        """
        for member, _ in self._results:
            if not member.convention.is_sum:
                raise UnsupportedConventionError(
                    f"{member.convention.name} is not a sum over the queries, so that they have no parts of it.",
                    hint="evaluate gives its value; pool='queries' with another average has parts",
                )
        return ByConvention(
            (member.convention, self._share(member, numerators)) for member, numerators in self._results
        )

    @cached_property
    def standard_errors(self) -> ByConvention[float]:
        """Standard error of each value, with the queries as a random sample; NaN for fewer than two scored queries.

        For m scored queries with value v_q and mass w_q (weight times divisor), whose ratio of sums is v:
        sqrt(m / (m - 1) x sum (w_q (v_q - v))^2) / sum w_q, which for equal masses is the standard deviation
        divided by sqrt(m). If the value is a function of v, such as a root, multiply by its slope.

        Raises
        ------
        UnsupportedConventionError
            A convention takes all rows as one query, so queries have no values.
        InputError
            Every query is skipped.

        References
        ----------
        Cochran, Sampling Techniques, 3rd ed., 1977, equation 6.13: the variance of a ratio.
        """
        self._refuse_over_rows("standard error")
        return ByConvention(
            (member.convention, self._standard_error(member, numerators)) for member, numerators in self._results
        )

    def blocks(self) -> list[str | Table]:
        """Return a table of the scores with their standard errors, `-` if undefined, and the signatures."""
        value, *counts = HEAD
        lines = []
        for member, numerators in self._results:
            value_cell, *count_cells = self.scores[member.convention].cells()
            error = math.nan if member.over_rows else self._standard_error(member, numerators)
            lines.append(
                (member.convention.name, value_cell, "-" if math.isnan(error) else f"{error:.4f}", *count_cells)
            )
        table = Table.of("values", ("name", value, "standard error", *counts), lines)
        return [table, signatures(member.convention for member, _ in self._results)]

    def under(self, conventions: Collection[Convention]) -> Measured:
        """Return the results under these conventions only, without ranking again."""
        results = [result for result in self._results if result[0].convention in conventions]
        return Measured(self._queries, [member for member, _ in results], [numerators for _, numerators in results])

    def of_queries(self, numbers: Ints) -> Measured:
        """Return the results over only the queries with these indices, without ranking again.

        Raises
        ------
        UnsupportedConventionError
            A convention takes all rows as one query, so a part must be ranked again.
        """
        self._refuse_over_rows("results over some of the queries")
        queries, _ = self._queries.subset(numbers)
        members = [member.take(numbers) for member, _ in self._results]
        return Measured(queries, members, [numerators[numbers] for _, numerators in self._results])

    @property
    def squares(self) -> list[Limbs]:
        """Exact sums of squares under each convention, from which `spread.standard_error` computes standard errors."""
        return [squares(_terms(member, numerators), member.decisions.divisors) for member, numerators in self._results]

    def enters(self, convention: Convention) -> tuple[Floats, Floats]:
        """Return each query's weight in the sum of numerators, 0 if it is skipped, and its share of the denominator."""
        member = next(member for member, _ in self._results if member.convention == convention)
        decisions = member.decisions
        return np.where(decisions.status == SKIP, 0.0, decisions.weights), decisions.divisors

    def warn_above_values(self) -> None:
        """Warn with each message of `above_values`."""
        for message in self.above_values():
            warn_caller(message, AboveValuesWarning)

    def above_values(self) -> list[str]:
        """Return a message for each mean above all values, because empty queries are counted without weights."""
        tallies = {tally.convention: tally for tally in reversed(self._tallies)}  # keeps the first of equal conventions
        messages = (above_values(tallies[convention], value) for convention, value in self.largest.items())
        return [message for message in messages if message]

    @property
    def largest(self) -> dict[Convention, float]:
        """Largest query value under each convention whose mean can exceed it because of empty queries."""
        if self._queries.query_weight is None:
            return {}
        lifted = [result for result in self._results if result[0].convention.average == "query-except-empty"]
        return {
            member.convention: float(np.max(numerators, where=member.decisions.status != SKIP, initial=0.0))
            for member, numerators in lifted
        }

    def _share(self, member: Member, numerators: Floats) -> Floats:
        tally, terms = self._tally(member, numerators), _terms(member, numerators)
        if not tally.mass:  # no query has a pair: divide the value, `empty`, equally among all queries
            return np.full(terms.size, tally.score().value / terms.size)
        shares: Floats = terms / tally.mass
        return shares

    def _standard_error(self, member: Member, numerators: Floats) -> float:
        tally = self._tally(member, numerators)
        m = tally.n_scored
        if m < 2 or not tally.denominator:  # noqa: PLR2004 - a standard error needs two
            return math.nan
        terms, mean = _terms(member, numerators), tally.numerator / tally.denominator
        residuals = terms - mean * member.decisions.divisors
        spread = math.sqrt(m / (m - 1) * float(residuals @ residuals)) / tally.mass
        return spread * member.convention.link_slope(tally.score().value)

    def _tally(self, member: Member, numerators: Floats) -> Tally:
        decisions = member.decisions
        return Tally(
            convention=member.convention,
            numerator=exact_sum(_terms(member, numerators)),
            denominator=member.denominator,
            n_queries=1 if member.over_rows else self._queries.n_queries,
            n_scored=decisions.n_scored,
            n_empty=decisions.n_empty,
            n_short=decisions.n_short,
            digest=self._queries.digest,
            ids=self._queries.id_hashes,
        ).knowing(self._queries.query_ids)

    def _refuse_over_rows(self, result: str) -> None:
        for member, _ in self._results:
            if member.over_rows:
                raise UnsupportedConventionError(
                    f"{member.convention.name} has no {result}: pool='rows' takes all rows as one query.",
                    hint="evaluate all data at once, or pool='queries'",
                )


def _values(member: Member, numerators: Floats) -> Floats:
    """Return the value of each query: numerator / mass."""
    mass = member.mass
    if mass is None:
        return numerators
    values: Floats = np.divide(numerators, mass, out=np.full(mass.size, np.nan), where=mass > 0)
    return values


def _terms(member: Member, numerators: Floats) -> Floats:
    """Return the summand of each query in the numerator of the mean."""
    decisions = member.decisions
    floor = member.convention.floor
    if floor is not None:
        numerators = np.log(np.maximum(numerators, floor))
    with np.errstate(over="ignore"):  # `exact_sum` raises an error for infinite terms
        terms = numerators * decisions.weights
    terms[decisions.skipped] = 0.0
    return terms
