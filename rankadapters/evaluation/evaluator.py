"""Evaluators: conventions bound to queries, which evaluate scores together; those that rank alike share one ranking."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Self, Unpack, cast

import numpy as np

from rankadapters.core.binding.lowering import Binding, passes_threshold
from rankadapters.core.binding.plans import Plan, RankedPlan, Ranking, WholePlan
from rankadapters.core.binding.policies import SKIP, PolicyDecisions, Sizes, decide_policies, refuse_ignored
from rankadapters.core.classes import lazy_property
from rankadapters.core.data.columns import Array, Columns, Floats, Ints, beyond_float32
from rankadapters.core.data.queries import Queries, as_queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import border
from rankadapters.core.errors import InputError, UnsupportedConventionError
from rankadapters.core.ranking import compiled
from rankadapters.core.ranking.ranks import NotFiniteError, Ranks, rank_queries
from rankadapters.evaluation import threads
from rankadapters.evaluation.score import HEAD, ByConvention, Score, Scores, cells, frame_row, signatures
from rankadapters.evaluation.table import Cell, Table, Written, distinct_decimals
from rankadapters.evaluation.tally import Limbs, Tally, exact_sum, squares
from rankadapters.presets.label_rules import warn_of_labels
from rankadapters.presets.texts import as_convention, as_conventions, is_one

RETRIEVED = 1.0  # score of every retrieved row if scores are not compared; other rows get 0
ROWS_PER_CALL = 2**17  # so that the arrays of a formula stay in the processor's cache
WORK_PER_ROW = threads.WORK_PER_CALL // ROWS_PER_CALL


@dataclass(frozen=True, eq=False)
class Member:
    """A convention with its plan and policy decisions for some queries."""

    convention: Convention
    plan: Plan
    decisions: PolicyDecisions

    def take(self, numbers: Ints) -> Member:
        """Return the member for a subset of the queries; its plan keeps all rows, so the member cannot rank."""
        plan = self.plan if self.plan.mass is None else replace(self.plan, mass=self.plan.mass[numbers])
        return replace(self, plan=plan, decisions=self.decisions.take(numbers))

    @lazy_property
    def over_rows(self) -> bool:
        """Whether all rows are one query."""
        return self.convention.over == "rows"

    @lazy_property
    def denominator(self) -> int:
        """Exact sum of mass times weight."""
        return exact_sum(self.decisions.divisors)

    @property
    def has_value(self) -> bool:
        """Whether the value is defined: as a mean, or by `empty` if no query has a pair."""
        empty = getattr(self.convention, "empty", None)
        return bool(self.denominator) or (self.convention.pooled and isinstance(empty, float))

    def values(self, numerators: Floats) -> Floats:
        """Return the value of each query, numerator / mass; NaN for a mass of 0."""
        mass = self.plan.mass if self.plan.pooled else None
        if mass is None:
            return numerators
        values: Floats = np.divide(numerators, mass, out=np.full(numerators.shape, np.nan), where=mass > 0)
        return values

    def terms(self, numerators: Floats) -> Floats:
        """Return the summand of each query in the numerator of the mean."""
        if self.convention.floor is not None:
            numerators = np.log(np.maximum(numerators, self.convention.floor))
        with np.errstate(over="ignore"):  # `exact_sum` raises an error for infinite terms
            terms = numerators * self.decisions.weights
        terms[self.decisions.skipped] = 0.0
        return terms


def bind(queries: Queries, conventions: list[Convention]) -> list[Member]:
    """Bind conventions to queries, checking that the labels and columns fit; shared arrays are computed once.

    Raises
    ------
    InputError
        A label has no gain, a needed column is missing, or the policy for a query is `error`.
    """
    bindings: dict[str | None, Binding] = {}
    depth = _depth(conventions)
    return [_member(convention, queries, bindings, depth) for convention in conventions]


def bind_usable(queries: Queries, conventions: list[Convention]) -> list[Member]:
    """Bind conventions as `bind` does, but skip conventions that it refuses or that would ignore weights."""
    bindings: dict[str | None, Binding] = {}
    members, depth = [], _depth(conventions)
    for convention in conventions:
        with suppress(InputError):
            refuse_ignored([convention], queries)
            members.append(_member(convention, queries, bindings, depth))
    return members


def _depth(conventions: list[Convention]) -> int | None:
    cutoffs = [getattr(convention, "k", 1) for convention in conventions]
    return None if None in cutoffs else max(cutoffs, default=1)


def _member(convention: Convention, queries: Queries, bindings: dict[str | None, Binding], depth: int | None) -> Member:
    """Bind a convention; bindings of the same data are kept in `bindings`: by query, or with all rows as one query."""
    over_rows = convention.over == "rows"
    key = f"rows {convention.weighting}" if over_rows else None
    if key not in bindings:
        bound = queries
        if over_rows:
            by_query = queries.query_weight if convention.weighting == "query_weight" else None
            bound = queries.as_one(row_weight=queries.row_weight if by_query is None else queries.per_row(by_query))
        bindings[key] = Binding(bound, depth, over_rows=over_rows)
    binding = bindings[key]
    plan: Plan = convention.lower(binding)
    mass = plan.mass if plan.pooled else None
    sizes = Sizes(plan.retrieved.sizes, binding.missing, plan.empty)
    return Member(convention, plan, decide_policies(convention, binding.queries, sizes, mass))


class Work:
    """Computes numerators from scores; members that rank alike share one ranking."""

    def __init__(self, members: list[Member]) -> None:
        self._members = members
        groups: dict[object, list[int]] = {}
        for index, member in enumerate(members):
            plan = member.plan
            # A ranking of all rows as one query cannot be shared with a ranking by query.
            key = index if isinstance(plan, WholePlan) else (plan.ranking, member.over_rows)
            groups.setdefault(key, []).append(index)
        self._groups = list(groups.values())

    def numerators(self, scores: Array, n_threads: int | None) -> list[Floats]:
        """Return the numerators of each member's queries, NaN for skipped queries; None means all CPUs."""
        numerators: list[Floats] = [np.empty(0)] * len(self._members)
        for group in self._groups:
            values = ranked([self._members[index] for index in group], scores, n_threads)
            for index, of_member in zip(group, values, strict=True):
                numerators[index] = of_member
        return numerators


def ranked(members: list[Member], scores: Array, n_threads: int | None) -> Floats:
    """Return the numerator of each query for members that rank alike, shape (n_members, n_queries).

    The numerators of a measure on whole queries are divided by their masses unless the measure is pooled.
    """
    plans = [member.plan for member in members]
    arguments, rows = _arguments(plans, scores), plans[0].rows
    values = np.empty((len(plans), rows.indptr.size - 1))

    def run(start: int, stop: int) -> list[None]:
        ranks = rank_queries(order=rows.order, indptr=rows.indptr[start : stop + 1], **arguments)
        with np.errstate(all="ignore"):  # `exact_sum` checks for values that are not finite
            for plan, of_plan in zip(plans, values, strict=True):
                of_plan[start:stop] = _formula(plan, ranks, start, stop)
        return []

    try:
        if rows.indptr[-1] < threads.ROWS_PER_THREAD:
            run(0, rows.indptr.size - 1)
        else:
            # Such sums need no arrays of all rows: of averaged ties only in machine code.
            only_sums = all(isinstance(plan, RankedPlan) and plan.only_sums for plan in plans)
            few_arrays = only_sums and (not arguments["averaged"] or compiled.pays(0))
            threads.over_chunks(run, rows.indptr, n_threads, None if few_arrays else rows.indptr * WORK_PER_ROW)
    except NotFiniteError as error:
        fix = "convention.replace(precision='float64')"
        raise beyond_float32(error.row, scores, "the convention", fix) from None
    for member, of_member in zip(members, values, strict=True):
        if isinstance(member.plan, WholePlan):
            _divide(of_member, member.plan)
        member.decisions.decide(of_member)
    return values


def _arguments(plans: Sequence[Plan], scores: Array) -> dict[str, Any]:
    """Return the arguments of `Ranks` for plans that rank alike, without the rows."""
    first = plans[0]
    if isinstance(first, WholePlan):
        return {"scores": _rounded(scores, first.precision), "averaged": True}
    ranked_plans = cast("Sequence[RankedPlan]", plans)
    return {
        "scores": comparable_scores(first.ranking, scores),
        "k": max(plan.k for plan in ranked_plans),
        "averaged": first.ranking.averaged,
        "threshold": None if first.ranking.retrieve == "all" else _threshold(first.ranking),
    }


def _formula(plan: Plan, ranks: Ranks, start: int, stop: int) -> Floats:
    """Return the values of the queries `start` to `stop` - 1 by the plan's formula."""
    part = slice(int(plan.rows.indptr[start]), int(plan.rows.indptr[stop]))
    if isinstance(plan, WholePlan):
        pairs = () if plan.pairs is None else (plan.pairs.of_queries(start, stop, part.start),)
        columns = {name: column[part] for name, column in plan.columns.items()}
        return plan.formula(ranks, *pairs, **columns, **plan.options)
    columns = {name: column.values[part] for name, column in plan.columns.items()}
    by_query = {name: array[start:stop] for name, array in plan.by_query.items()}
    ranks = ranks if plan.k == ranks.k else ranks.cut(plan.k)
    return plan.formula(ranks, **columns, **plan.by_rank, **by_query, **plan.options)


def _divide(numerators: Floats, plan: WholePlan) -> None:
    """Divide the numerators by their masses, in place, unless the measure is pooled."""
    if plan.share:
        np.minimum(numerators, plan.mass, out=numerators)  # its other order of terms can make the mass less
    if not plan.pooled:
        with np.errstate(over="ignore", invalid="ignore"):  # `exact_sum` raises an error for non-finite values
            np.divide(numerators, plan.mass, out=numerators, where=plan.mass > 0)


def comparable_scores(ranking: Ranking, scores: Array) -> Array:
    """Return the scores in the precision in which they are compared; float32 scores stay float32."""
    if ranking.precision == "none":
        values = scores.astype(np.float64)
        return np.where(np.isfinite(values), passes_threshold(values, ranking.retrieve), values)
    return _rounded(scores, ranking.precision)


def _rounded(scores: Array, precision: str) -> Array:
    """Return scores in a precision; float32 scores are only converted to float64 where they are used as numbers."""
    if precision != "none" and scores.dtype == np.float32:
        return scores
    with np.errstate(over="ignore"):  # an infinite score is refused later
        return scores.astype("float64" if precision == "none" else precision, copy=False)


def _threshold(ranking: Ranking) -> tuple[float, bool]:
    """Return the score threshold of retrieval, and whether a row with exactly this score is not retrieved."""
    word, threshold = border(ranking.retrieve) or ("from", -np.inf)
    return (RETRIEVED, False) if ranking.precision == "none" else (threshold, word == "above")


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
        self.queries.digest  # noqa: B018 - is computed here, so that no call of a training loop takes longer for it
        warn_of_labels(self.queries, conventions)

    @classmethod
    def of(cls, queries: Queries, conventions: Sequence[Convention], n_threads: int | None = None) -> Self:
        """Bind a list of conventions without warnings about labels, for callers that report these in their own way."""
        evaluator = cls.__new__(cls)
        evaluator.convention = None
        evaluator._bind(queries, list(conventions), n_threads)  # noqa: SLF001 - of this class
        return evaluator

    def _bind(self, queries: Queries, conventions: list[Convention], n_threads: int | None) -> None:
        self.queries, self.conventions = queries, conventions
        self.n_threads = None if n_threads is None else threads.as_n_threads(n_threads)
        refuse_ignored(conventions, queries)
        self._members = bind(queries, conventions)
        self._work = Work(self._members)

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
        return Measured(self.queries, self._members, self._work.numerators(array, self.n_threads))

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
        queries, tallies = self._queries, []
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
        results = zip(self._tallies, self._results, strict=True)
        return ByConvention([(tally.convention, _standard_error(tally, *result)) for tally, result in results])

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
        rows = []
        for tally, (member, numerators) in zip(self._tallies, self._results, strict=True):
            error = math.nan if member.over_rows else _standard_error(tally, member, numerators)
            rows.append({**frame_row(tally.score(), tally.convention), "standard_error": error})
        return rows

    def plot(self) -> Any:
        """Return the figure of the scores."""
        return self.scores.plot()

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


def _standard_error(tally: Tally, member: Member, numerators: Floats) -> float:
    m = tally.n_scored
    if m < 2 or not tally.denominator:  # noqa: PLR2004 - a standard error needs two
        return math.nan
    terms, mean = member.terms(numerators), tally.numerator / tally.denominator
    residuals = terms - mean * member.decisions.divisors
    spread = math.sqrt(m / (m - 1) * float(residuals @ residuals)) / tally.mass
    return spread * member.convention.link_slope(tally.score().value)
