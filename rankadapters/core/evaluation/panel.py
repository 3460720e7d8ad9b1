"""A panel: several conventions bound to the same queries, and everything that they say of given scores."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import cached_property
from typing import Unpack

import numpy as np

from rankadapters.core.binding.policies import refuse_ignored
from rankadapters.core.data.columns import Array, Floats, Ints
from rankadapters.core.data.keywords import Columns, by_name
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
from rankadapters.core.kernels import SKIP
from rankadapters.core.presets.texts import as_conventions


class Panel:
    """Several conventions bound to the same queries; those that rank alike share one pass over the scores.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels; with a Queries, no other column is taken.
    conventions : Convention or str, or sequence of these
        At least one; texts are read by `ra.parse`. Results hold every entry, also where two mean equal conventions.
    n_threads : int, optional
        None takes all CPUs; the result is the same for any number.
    qid, group_sizes, query_weight, row_weight, pairs, docid, retrieved, judged
        As in `Queries`.

    Raises
    ------
    InputError
        The columns contradict each other or do not fit a convention, which is named; or weights were given that one
        convention counts and another would ignore.

    Examples
    --------
    >>> import rankadapters as ra
    >>> panel = ra.Panel([2, 0, 1, 0], ["yahoo@2", "letor4@2"], qid=["a", "a", "b", "b"])
    >>> found = panel.measure([0.9, 0.1, 0.2, 0.8])
    >>> [round(score.value, 3) for score in found.scores.values()]
    [0.815, 1.0]
    >>> [values.round(3).tolist() for values in found.per_query.values()]
    [[1.0, 0.631], [1.0, 1.0]]
    """

    @by_name
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
        self._places = [distinct.index(convention) for convention in self.conventions]
        self._entries = [
            members[place]
            if members[place].convention is convention
            else replace(members[place], convention=convention)
            for place, convention in zip(self._places, self.conventions, strict=True)
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
        """Rank once, and give per-query values, tallies and scores of every convention.

        Parameters
        ----------
        scores : array-like, shape (n_docs,)
            Predicted scores, higher is better. Float32 stays float32.

        Raises
        ------
        InputError
            Another length, a NaN or an infinity.
        """
        array = self.queries.check_scores(scores)
        numerators = self._work.numerators(array, self.n_threads)
        return Measured(self.queries, self._entries, [numerators[place] for place in self._places])

    def evaluate(self, scores: object) -> Scores[Score]:
        """Score every convention; as `measure(scores).scores`."""
        return self.measure(scores).scores

    def tally(self, scores: object) -> ByConvention[Tally]:
        """Sum every convention exactly; as `measure(scores).tallies`."""
        return self.measure(scores).tallies

    def per_query(self, scores: object) -> ByConvention[Floats]:
        """Value of each query under every convention; as `measure(scores).per_query`."""
        return self.measure(scores).per_query


class Measured(Written):
    """What a Panel found for given scores, each computed from the same pass; made by `Panel.measure`."""

    def __init__(self, queries: Queries, members: list[Member], numerators: list[Floats]) -> None:
        self._queries = queries
        self._found = list(zip(members, numerators, strict=True))

    @cached_property
    def per_query(self) -> ByConvention[Floats]:
        """Value of each query, shape (n_queries,), by convention; NaN where it is skipped or has no mass.

        Raises
        ------
        UnsupportedConventionError
            A convention is over all rows, so that no query has a value of its own.
        """
        self._refuse_over_rows("per-query values")
        return ByConvention([(member.convention, _values(member, numerators)) for member, numerators in self._found])

    @cached_property
    def scores(self) -> Scores[Score]:
        """Score of each convention."""
        return Scores((tally.convention, tally.score()) for tally in self._tallies)

    @property
    def tallies(self) -> ByConvention[Tally]:
        """Exact sums of each convention, to be merged with those of other queries.

        Raises
        ------
        UnsupportedConventionError
            A convention is over all rows, whose parts do not add up.
        """
        self._refuse_over_rows("tallies")
        return ByConvention((tally.convention, tally) for tally in self._tallies)

    @cached_property
    def _tallies(self) -> list[Tally]:
        return [self._tally(member, numerators) for member, numerators in self._found]

    @cached_property
    def shares(self) -> ByConvention[Floats]:
        """What each query adds to the value, shape (n_queries,), by convention; 0 where it is skipped.

        Raises
        ------
        UnsupportedConventionError
            A convention's value is not a sum over the queries: it is over all rows, or a geometric mean.
        InputError
            Nothing is left to average.
        """
        for member, _ in self._found:
            if not member.convention.is_sum:
                raise UnsupportedConventionError(
                    f"{member.convention.name} is not a sum over the queries, so that they have no parts of it.",
                    hint="evaluate gives its value; pool='queries' with another average has parts",
                )
        return ByConvention((member.convention, self._share(member, numerators)) for member, numerators in self._found)

    @cached_property
    def standard_errors(self) -> ByConvention[float]:
        """Standard error of each value, the queries taken as a random sample; NaN from fewer than two scored queries.

        For m scored queries with value v_q and mass w_q (weight times divisor), whose ratio of sums is v:
        sqrt(m / (m - 1) x sum (w_q (v_q - v))^2) / sum w_q, which for equal masses is the standard deviation by
        sqrt(m). Behind a link, such as a geometric mean's or a root, it is multiplied by the link's slope.

        Raises
        ------
        UnsupportedConventionError
            A convention is over all rows, so that no query has a value of its own.
        InputError
            Nothing is left to average.

        References
        ----------
        Cochran, Sampling Techniques, 3rd ed., 1977, equation 6.13: the variance of a ratio.
        """
        self._refuse_over_rows("standard error")
        return ByConvention(
            (member.convention, self._standard_error(member, numerators)) for member, numerators in self._found
        )

    def blocks(self) -> list[str | Table]:
        """Give a table of the scores with their standard errors, `-` where there is none, and the signatures."""
        value, *counts = HEAD
        lines = []
        for member, numerators in self._found:
            value_cell, *count_cells = self.scores[member.convention].cells()
            error = math.nan if member.over_rows else self._standard_error(member, numerators)
            lines.append(
                (member.convention.name, value_cell, "-" if math.isnan(error) else f"{error:.4f}", *count_cells)
            )
        table = Table.of("values", ("name", value, "standard error", *counts), lines)
        return [table, signatures(member.convention for member, _ in self._found)]

    def under(self, conventions: Collection[Convention]) -> Measured:
        """Give what was found under some of the conventions, from the same pass."""
        members, numerators = [], []
        for member, found in self._found:
            if member.convention in conventions:
                members.append(member)
                numerators.append(found)
        return Measured(self._queries, members, numerators)

    def of_queries(self, numbers: Ints) -> Measured:
        """Return the results over the queries of these numbers alone, from the same pass.

        Raises
        ------
        UnsupportedConventionError
            A convention is over all rows, whose parts have to be ranked again.
        """
        self._refuse_over_rows("results over some of the queries")
        queries, _ = self._queries.take(numbers)
        members = [member.take(numbers) for member, _ in self._found]
        return Measured(queries, members, [numerators[numbers] for _, numerators in self._found])

    @property
    def squares(self) -> list[Limbs]:
        """Exact sums of squares under each convention, of which `spread.standard_error` makes a standard error."""
        return [squares(_terms(member, numerators), member.settled.divisors) for member, numerators in self._found]

    def enters(self, convention: Convention) -> tuple[Floats, Floats]:
        """Give how the queries enter a value: the multiplier of each one's value, 0 where skipped, and its mass."""
        member = next(each for each, _ in self._found if each.convention == convention)
        settled = member.settled
        return np.where(settled.status == SKIP, 0.0, settled.weights), settled.divisors

    def warn_above_values(self) -> None:
        """Warn of each of `above_values`."""
        for message in self.above_values():
            warn_caller(message, AboveValuesWarning)

    def above_values(self) -> list[str]:
        """Say where empty queries, counted without their weights, lift a mean above every query's value."""
        tallies = {tally.convention: tally for tally in reversed(self._tallies)}  # of equal conventions the first
        messages = (above_values(tallies[convention], value) for convention, value in self.largest.items())
        return [message for message in messages if message]

    @property
    def largest(self) -> dict[Convention, float]:
        """Largest value of a query, under each convention whose mean empty queries may lift above it."""
        if self._queries.query_weight is None:
            return {}
        lifted = [each for each in self._found if each[0].convention.average == "query-except-empty"]
        return {
            member.convention: float(np.max(numerators, where=member.settled.status != SKIP, initial=0.0))
            for member, numerators in lifted
        }

    def _share(self, member: Member, numerators: Floats) -> Floats:
        tally, terms = self._tally(member, numerators), _terms(member, numerators)
        if not tally.mass:  # no query has a pair: the value is that of `empty`, in which all share alike
            return np.full(terms.size, tally.score().value / terms.size)
        shares: Floats = terms / tally.mass
        return shares

    def _standard_error(self, member: Member, numerators: Floats) -> float:
        tally = self._tally(member, numerators)
        m = tally.n_scored
        if m < 2 or not tally.denominator:  # noqa: PLR2004 - a spread needs two
            return math.nan
        terms, mean = _terms(member, numerators), tally.numerator / tally.denominator
        residuals = terms - mean * member.settled.divisors
        spread = math.sqrt(m / (m - 1) * float(residuals @ residuals)) / tally.mass
        return spread * member.convention.link_slope(tally.score().value)

    def _tally(self, member: Member, numerators: Floats) -> Tally:
        settled = member.settled
        return Tally(
            convention=member.convention,
            numerator=exact_sum(_terms(member, numerators)),
            denominator=member.denominator,
            n_queries=1 if member.over_rows else self._queries.n_queries,
            n_scored=settled.n_scored,
            n_empty=settled.n_empty,
            n_short=settled.n_short,
            digest=self._queries.digest,
            ids=self._queries.id_hashes,
        ).knowing(self._queries.query_ids)

    def _refuse_over_rows(self, what: str) -> None:
        for member, _ in self._found:
            if member.over_rows:
                raise UnsupportedConventionError(
                    f"{member.convention.name} has no {what}: pool='rows' takes all rows as one query.",
                    hint="evaluate all data at once, or pool='queries'",
                )


def _values(member: Member, numerators: Floats) -> Floats:
    """Value of each query: the numerator by the mass."""
    mass = member.mass
    if mass is None:
        return numerators
    values: Floats = np.divide(numerators, mass, out=np.full(mass.size, np.nan), where=mass > 0)
    return values


def _terms(member: Member, numerators: Floats) -> Floats:
    """What each query adds to the sum of numerators."""
    settled = member.settled
    floor = member.convention.floor
    if floor is not None:
        numerators = np.log(np.maximum(numerators, floor))
    with np.errstate(over="ignore"):  # the exact sum refuses what overflowed
        terms = numerators * settled.weights
    terms[settled.skipped] = 0.0
    return terms
