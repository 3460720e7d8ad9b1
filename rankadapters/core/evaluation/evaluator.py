"""Evaluators: conventions bound to queries once, which then evaluate any number of predictions."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self, Unpack

import numpy as np

from rankadapters.core.binding.policies import refuse_ignored
from rankadapters.core.data.columns import Array, Floats, Ints
from rankadapters.core.data.keywords import Columns
from rankadapters.core.data.queries import Queries, as_queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import UnsupportedConventionError
from rankadapters.presets.label_rules import warn_of_labels
from rankadapters.core.evaluation.limbs import Limbs, exact_sum, squares
from rankadapters.core.evaluation.members import Member, Work, bind
from rankadapters.core.evaluation.score import HEAD, Score
from rankadapters.core.evaluation.scores import ByConvention, Scores, signatures
from rankadapters.core.evaluation.table import Table, Written
from rankadapters.core.evaluation.tally import Tally
from rankadapters.core.evaluation.threads import as_n_threads
from rankadapters.core.binding.policies import SKIP
from rankadapters.presets.texts import as_convention, as_conventions, is_one


class Evaluator:
    """One or more conventions bound to queries; everything that does not depend on scores is computed once.

    Conventions that rank alike share one ranking of the scores.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels; with a Queries, no other column is taken.
    convention : Convention or str, or sequence of these
        What to compute; `ra.parse` reads a text. For one convention, the methods return one result. For a sequence,
        they return a mapping of Convention to result with every entry, even if two conventions are equal.
    n_threads : int, optional
        None means all CPUs; the result is the same for any number.
    qid, group_sizes, query_weight, row_weight, pairs, docid, retrieved, judged
        As in `Queries`.

    Attributes
    ----------
    queries : Queries
        The queries that the conventions are bound to.
    conventions : list of Convention
        The conventions in the order given.
    convention : Convention or None
        The convention if one was given, None for a sequence.

    Raises
    ------
    InputError
        The columns contradict each other or do not fit a convention, which the message names; or one convention uses
        the given weights and a different one would ignore them.

    Warns
    -----
    LabelsWarning
        The preset's tool refuses or changes such labels, or a label gives ERR or PFound a chance outside [0, 1].

    Examples
    --------
    >>> import rankadapters as ra
    >>> evaluator = ra.Evaluator([2, 0, 1, 0], ra.presets.yahoo(2), qid=["a", "a", "b", "b"])
    >>> evaluator.per_query([0.9, 0.1, 0.2, 0.8]).round(3).tolist()
    [1.0, 0.631]
    >>> both = ra.Evaluator(evaluator.queries, ["yahoo@2", "letor4@2"])
    >>> [round(score.value, 3) for score in both.evaluate([0.9, 0.1, 0.2, 0.8]).values()]
    [0.815, 1.0]
    """

    def __init__(
        self,
        labels: object,
        convention: Convention | str | Iterable[Convention | str],
        *,
        n_threads: int | None = None,
        **columns: Unpack[Columns],
    ) -> None:
        self.convention = as_convention(convention) if is_one(convention) else None
        conventions = as_conventions(convention) if self.convention is None else [self.convention]
        self._bind(as_queries(labels, **columns), conventions, n_threads)
        warn_of_labels(self.queries, conventions)

    @classmethod
    def of(cls, queries: Queries, conventions: Sequence[Convention], n_threads: int | None = None) -> Self:
        """Bind a list of conventions without warnings about labels, for callers that report these in their own way."""
        evaluator = cls.__new__(cls)
        evaluator.convention = None
        evaluator._bind(queries, list(conventions), n_threads)  # noqa: SLF001 - of this class
        return evaluator

    def _bind(self, queries: Queries, conventions: list[Convention], n_threads: int | None) -> None:
        self.queries, self.conventions, self.n_threads = queries, conventions, as_n_threads(n_threads)
        distinct = list(dict.fromkeys(conventions))
        refuse_ignored(distinct, queries)
        members = bind(queries, distinct)
        self._work = Work(members)
        self._indices = [distinct.index(convention) for convention in conventions]
        self._members = [  # each under the name of the requested convention, which equal conventions may differ in
            members[index]
            if members[index].convention is convention
            else replace(members[index], convention=convention)
            for index, convention in zip(self._indices, conventions, strict=True)
        ]

    def __repr__(self) -> str:
        """Show the conventions by their shortest texts, and the size of the data."""
        texts = [convention.short_name for convention in self.conventions]
        return f"Evaluator({texts if self.convention is None else texts[0]!r}, {self.queries!r})"

    @property
    def query_ids(self) -> Array:
        """Query identifiers in the order of `per_query`."""
        return self.queries.query_ids

    def measure(self, scores: object) -> Measured:
        """Rank once, and return values, tallies, scores and standard errors, always by convention.

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
        return Measured(self.queries, self._members, [numerators[index] for index in self._indices])

    def evaluate(self, scores: object) -> Any:
        """Return the score of predictions.

        Parameters
        ----------
        scores : array-like, shape (n_docs,)
            Predicted scores, higher is better. Float32 stays float32.

        Returns
        -------
        Score, or mapping of Convention to Score

        Raises
        ------
        InputError
            The length is wrong, a score is NaN or infinite, or every query is skipped.
        """
        return self._shaped(self.measure(scores).scores)

    def per_query(self, scores: object) -> Any:
        """Return the value of each query, shape (n_queries,); NaN for skipped queries.

        Returns
        -------
        float64 array, or mapping of Convention to arrays

        Raises
        ------
        UnsupportedConventionError
            A convention takes all rows as one query, so queries have no values.
        """
        return self._shaped(self.measure(scores).per_query)

    def standard_error(self, scores: object) -> Any:
        """Return the standard error of the value, as `Measured.standard_errors` defines it.

        Returns
        -------
        float, or mapping of Convention to float

        Raises
        ------
        UnsupportedConventionError
            A convention takes all rows as one query, so queries have no values.

        Examples
        --------
        >>> import rankadapters as ra
        >>> evaluator = ra.Evaluator([1, 0, 1, 0], "textbook@1", group_sizes=[2, 2])  # the queries' values: 1 and 0
        >>> evaluator.standard_error([2, 1, 1, 2])
        0.5
        """
        return self._shaped(self.measure(scores).standard_errors)

    def tally(self, scores: object) -> Any:
        """Return exact sums, which merge with tallies of other queries.

        Returns
        -------
        Tally, or mapping of Convention to Tally

        Raises
        ------
        UnsupportedConventionError
            A convention takes all rows as one query, so parts of the data do not add up.
        """
        return self._shaped(self.measure(scores).tallies)

    def _shaped(self, results: ByConvention[Any]) -> Any:
        return results if self.convention is None else results[self.convention]


class Measured(Written):
    """Results of an Evaluator for given scores, all computed from one ranking pass; made by `Evaluator.measure`."""

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
        return Scores([(tally.convention, tally.score()) for tally in self._tallies])

    @property
    def tallies(self) -> ByConvention[Tally]:
        """Exact sums of each convention, which merge with tallies of other queries.

        Raises
        ------
        UnsupportedConventionError
            A convention takes all rows as one query, so parts of the data do not add up.
        """
        self._refuse_over_rows("tallies")
        return ByConvention([(tally.convention, tally) for tally in self._tallies])

    @cached_property
    def _tallies(self) -> list[Tally]:
        queries = self._queries
        return [
            Tally(
                member.convention,
                numerator=exact_sum(_terms(member, numerators)),
                denominator=member.denominator,
                n_queries=1 if member.over_rows else queries.n_queries,
                n_scored=member.decisions.n_scored,
                n_empty=member.decisions.n_empty,
                n_short=member.decisions.n_short,
                digest=queries.digest,
                ids=queries.id_hashes,
            )
            for member, numerators in self._results
        ]

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
        results = zip(self._tallies, self._results, strict=True)
        return ByConvention([(tally.convention, _shares(tally, _terms(*result))) for tally, result in results])

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
        results = zip(self._tallies, self._results, strict=True)
        return ByConvention([(tally.convention, _standard_error(tally, *result)) for tally, result in results])

    def blocks(self) -> list[str | Table]:
        """Return a table of the scores with their standard errors, `-` if undefined, and the signatures."""
        value, *counts = HEAD
        lines = []
        for tally, (member, numerators) in zip(self._tallies, self._results, strict=True):
            value_cell, *count_cells = tally.score().cells()
            error = math.nan if member.over_rows else _standard_error(tally, member, numerators)
            lines.append(
                (tally.convention.name, value_cell, "-" if math.isnan(error) else f"{error:.4f}", *count_cells)
            )
        table = Table.of("values", ("name", value, "standard error", *counts), lines)
        return [table, signatures(tally.convention for tally in self._tallies)]

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
        """Exact sums of squares under each convention, of which `tally.standard_error` computes standard errors."""
        return [squares(_terms(member, numerators), member.decisions.divisors) for member, numerators in self._results]

    def enters(self, convention: Convention) -> tuple[Floats, Floats]:
        """Return each query's weight in the sum of numerators, 0 if it is skipped, and its share of the denominator."""
        member = next(member for member, _ in self._results if member.convention == convention)
        decisions = member.decisions
        return np.where(decisions.status == SKIP, 0.0, decisions.weights), decisions.divisors

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


def _shares(tally: Tally, terms: Floats) -> Floats:
    if tally.denominator:
        shares: Floats = terms / tally.mass
        return shares
    return np.full(terms.size, tally.score().value / terms.size)  # no query has a pair: `empty`, divided equally


def _standard_error(tally: Tally, member: Member, numerators: Floats) -> float:
    m = tally.n_scored
    if m < 2 or not tally.denominator:  # noqa: PLR2004 - a standard error needs two
        return math.nan
    terms, mean = _terms(member, numerators), tally.numerator / tally.denominator
    residuals = terms - mean * member.decisions.divisors
    spread = math.sqrt(m / (m - 1) * float(residuals @ residuals)) / tally.mass
    return spread * member.convention.link_slope(tally.score().value)
