"""The class Measured: what conventions say of scores, all from one ranking."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from rankadapters.core.arrays import Array, Flags, Floats, Ints
from rankadapters.core.binding.gains import is_relevant
from rankadapters.core.binding.policies import SKIP
from rankadapters.core.classes import lazy_property
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import label_threshold
from rankadapters.core.errors import UnsupportedConventionError
from rankadapters.core.exact_sums import Limbs, exact_sum, squares
from rankadapters.evaluation.passes import Member
from rankadapters.evaluation.score import HEAD, ByConvention, Score, Scores, cells, frame_row, signatures
from rankadapters.evaluation.table import Cell, Table, Written, distinct_decimals
from rankadapters.evaluation.tally import Tally, standard_error


def relevance_rule(conventions: Iterable[Convention]) -> str | None:
    """Return the one threshold of labels by which the conventions say which rows are relevant; None without it."""
    rules = {rule for convention in conventions if (rule := convention.get("relevant")) is not None}
    return rule if len(rules) == 1 and label_threshold(rule := rules.pop()) else None


class Measured(Written):
    """Results of an Evaluator for given scores, all computed from one ranking pass; made by `Evaluator.measure`."""

    def __init__(self, queries: Queries, members: list[Member], numerators: list[Floats]) -> None:
        self.queries = queries
        self._results = list(zip(members, numerators, strict=True))

    @lazy_property
    def per_query(self) -> ByConvention[Floats]:
        """Value of each query, shape (n_queries,), by convention; NaN for queries that are skipped or whose mass is 0.

        Raises
        ------
        UnsupportedConventionError
            A convention takes all rows as one query, so queries have no values.
        """
        self._refuse_over_rows("per-query values")
        return ByConvention([(member.convention, member.values(numerators)) for member, numerators in self._results])

    @property
    def facts(self) -> dict[str, Array]:
        """What `per_query(..., frame=True)` tells about each query, by column."""
        queries, n_rows = self.queries, np.diff(self.queries.indptr)
        n_retrieved = n_rows if queries.retrieved is None else self._count(queries.retrieved)
        facts: dict[str, Array] = {"n_rows": n_rows, "n_retrieved": n_retrieved}
        if (rule := relevance_rule(member.convention for member, _ in self._results)) is not None:
            judged = True if queries.judged is None else queries.judged
            facts["n_relevant"] = self._count(is_relevant(queries.labels, rule) & judged)
        facts["empty"] = np.logical_or.reduce([member.decisions.empty for member, _ in self._results])
        return facts if queries.query_weight is None else {**facts, "query_weight": queries.query_weight}

    def _count(self, rows: Flags) -> Ints:
        return np.bincount(self.queries.query_of_row[rows], minlength=self.queries.n_queries)

    @lazy_property
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

    @lazy_property
    def _tallies(self) -> list[Tally]:
        queries, tallies = self.queries, []
        for member, numerators in self._results:
            sums = exact_sum(member.terms(numerators)), member.denominator
            counts = 1 if member.over_rows else queries.n_queries, *member.decisions.counts
            tallies.append(Tally(member.convention, *sums, *counts, queries.digest, queries.id_hashes))
        return tallies

    @lazy_property
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
                msg = f"{member.convention.name} is not a sum over the queries, so that they have no parts of it."
                hint = "evaluate gives its value; pool='queries' with another average has parts"
                raise UnsupportedConventionError(msg, hint=hint)
        shares = []
        for tally, (member, numerators) in zip(self._tallies, self._results, strict=True):
            terms = member.terms(numerators)
            # Without a denominator, no query has a pair: `empty` is divided equally.
            share = terms / tally.mass if tally.denominator else np.full(terms.size, tally.score().value / terms.size)
            shares.append((tally.convention, share))
        return ByConvention(shares)

    @lazy_property
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
        conventions = [tally.convention for tally in self._tallies]
        return ByConvention(zip(conventions, self._standard_errors, strict=True))

    @lazy_property
    def _standard_errors(self) -> list[float]:
        return list(map(standard_error, self._tallies, self.squares))

    def blocks(self) -> list[str | Table]:
        """Return a table of the scores with their standard errors, `-` if undefined, and the signatures."""
        value, *counts = HEAD
        decimals, lines = distinct_decimals(score.value for score in self.scores.values()), []
        for row, score in zip(self._frame_rows(), self.scores.values(), strict=True):
            value_cell, *count_cells = cells(score, decimals)
            error = "-" if math.isnan(row["standard_error"]) else Cell(f"{{:.{decimals}f}}", row["standard_error"])
            lines.append((row["name"], value_cell, error, *count_cells))
        table = Table.of("values", ("name", value, "standard error", *counts), lines)
        return [table, signatures(self.scores)]

    def _frame_rows(self) -> list[dict[str, Any]]:
        rows = zip(self._tallies, self._standard_errors, strict=True)
        return [{**frame_row(tally.score(), tally.convention), "standard_error": error} for tally, error in rows]

    def plot(self) -> Any:
        """Return a matplotlib Figure: a histogram of the values of the queries under each convention.

        Raises
        ------
        UnsupportedConventionError
            A convention takes all rows as one query, so queries have no values.
        MissingToolkitError
            matplotlib is not installed.
        """
        from rankadapters.plotting.plots import histograms

        return histograms({c.name: column for c, column in self.per_query.items()}, "value", "Values of the queries")

    def under(self, conventions: Collection[Convention]) -> Measured:
        """Return the results under these conventions only, without ranking again."""
        results = [result for result in self._results if result[0].convention in conventions]
        return Measured(self.queries, [member for member, _ in results], [numerators for _, numerators in results])

    def of_queries(self, numbers: Ints) -> Measured:
        """Return the results over only the queries with these indices, without ranking again.

        Raises
        ------
        UnsupportedConventionError
            A convention takes all rows as one query, so a part must be ranked again.
        """
        self._refuse_over_rows("results over some of the queries")
        queries, _ = self.queries.subset(numbers)
        members = [member.take(numbers) for member, _ in self._results]
        return Measured(queries, members, [numerators[numbers] for _, numerators in self._results])

    @property
    def squares(self) -> list[Limbs]:
        """Exact sums of squares under each convention, of which `tally.standard_error` computes standard errors."""
        return [squares(member.terms(numerators), member.decisions.divisors) for member, numerators in self._results]

    def enters(self, convention: Convention) -> tuple[Floats, Floats]:
        """Return each query's weight in the sum of numerators, 0 if it is skipped, and its share of the denominator."""
        member = next(member for member, _ in self._results if member.convention == convention)
        decisions = member.decisions
        return np.where(decisions.status == SKIP, 0.0, decisions.weights), decisions.divisors

    def _refuse_over_rows(self, result: str) -> None:
        for member, _ in self._results:
            if member.over_rows:
                msg = f"{member.convention.name} has no {result}: pool='rows' takes all rows as one query."
                raise UnsupportedConventionError(msg, hint="evaluate all data at once, or pool='queries'")
