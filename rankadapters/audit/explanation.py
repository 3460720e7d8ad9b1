"""Split the gap between the values of two conventions over the fields in which they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np

from rankadapters.audit.matches import Match
from rankadapters.core.arrays import Array, Floats
from rankadapters.core.classes import frozen_class
from rankadapters.core.data.columns import Columns
from rankadapters.core.data.queries import Queries, as_queries, describes_columns
from rankadapters.core.declaration import arguments
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.guesses import EXPLAIN, shows_call
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.evaluation.evaluator import Evaluator
from rankadapters.evaluation.measured import Measured
from rankadapters.evaluation.score import Score, renamed
from rankadapters.evaluation.table import Table, fixed
from rankadapters.presets.texts import as_convention
from rankadapters.presets.vocabulary import as_text
from rankadapters.progress import shows
from rankadapters.statistics.cells import percent, signed, spelled
from rankadapters.statistics.document import Document
from rankadapters.statistics.grid import REFUSAL
from rankadapters.statistics.shapley import split, split_columns, subsets

IN_TWO_STEPS = "explain in two steps, over a convention between the two that avoids this mixture"


@frozen_class
@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Explanation(Document):
    """The gap between two conventions on the same scores, split over their differing fields; made by `explain`.

    Attributes
    ----------
    a, b : Score
        Scores under the first and the second convention.
    contributions : dict of str to float
        Part of `b.value - a.value` due to each differing field: its exact Shapley value. Empty for equal conventions.
    mixtures : dict of tuple of str to Score
        Scores from which the parts were computed, by the fields taken from `b`; the other fields are those of `a`.
    query_ids : array, shape (n_queries,)
        Query identifiers.
    per_query : dict of str to float64 array, shape (n_queries,), or None
        What each query adds to the part of each field; the array sums to the contribution. None if the value is not a
        sum over the queries.
    top : int
        Number of queries in the printed forms.
    set_aside : dict of str to str
        By field with the policy `error`: the convention that refuses this data, the reason, and the value that replaces
        the policy in both conventions.
    """

    a: Score
    b: Score
    contributions: dict[str, float]
    mixtures: dict[tuple[str, ...], Score] = field(repr=False)
    query_ids: Array = field(repr=False)
    per_query: dict[str, Floats] | None = field(repr=False)
    top: int = field(repr=False)
    set_aside: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def gap(self) -> float:
        """The second value minus the first."""
        return self.b.value - self.a.value

    def queries(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return the queries with the largest contributions to the gap: each contribution in total and by field.

        The list is empty if the value is not a sum over the queries.
        """
        n_shown = self.top if top is None else arguments.whole("top", top, least=0)
        if not self.per_query:
            return []
        parts = np.stack(list(self.per_query.values()))
        totals = parts.sum(axis=0)
        largest = np.argsort(-np.abs(totals), kind="stable")[:n_shown]
        largest = largest[parts[:, largest].any(axis=0)]
        columns = (self.query_ids[largest].tolist(), totals[largest].tolist(), parts[:, largest].T.tolist())
        return [
            {"query": query, "contribution": total, "contributions": dict(zip(self.per_query, by_field, strict=True))}
            for query, total, by_field in zip(*columns, strict=True)
        ]

    def plot(self) -> Any:
        """Return a matplotlib Figure of the parts, as a waterfall from the first value to the second.

        Raises
        ------
        MissingToolkitError
            matplotlib is not installed.
        """
        from rankadapters.plotting.plots import waterfall

        ends = tuple((score.convention.name, score.value) for score in (self.a, self.b))
        return waterfall(ends[0], self._sorted(), ends[1], f"What makes {signed(self.gap)}")

    def blocks(self) -> list[str | Table]:
        """Return the gap, its parts, and the queries that contribute most."""
        a, b = self.a, self.b
        gap = f"{fixed(b.value, 6)} - {fixed(a.value, 6)} = {signed(self.gap)} over {a.n_queries} queries"
        names = f"a  {a.convention.name}: {a.convention}\nb  {b.convention.name}: {b.convention}"
        blocks = [f"From {a.convention.name} to {b.convention.name}: {gap}", names, *self.set_aside.values()]
        if not self.contributions:
            return [*blocks, "The conventions are equal: there is nothing to explain."]
        queries = [self._query_table(queries)] if (queries := self.queries()) else []
        totals = "Totals only: under {} the value is not a sum over the queries, so that they have no parts of it."
        not_sums = [score.convention.name for score in self.mixtures.values() if not score.convention.is_sum]
        return [*blocks, self.parts_table(), *queries, *(totals.format(name) for name in not_sums[:1])]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types; `queries` has the largest contributions, or is None if `per_query` is None."""
        queries = [{**query, "query": str(query["query"])} for query in self.queries()]
        ends = {
            end: {"name": score.convention.name, "signature": str(score.convention), "value": score.value}
            for end, score in (("a", self.a), ("b", self.b))
        }
        mixtures = [
            {"from_b": list(names), "signature": str(score.convention), "value": score.value}
            for names, score in self.mixtures.items()
        ]
        parts = {"gap": self.gap, "contributions": self.contributions, "set_aside": self.set_aside}
        return {**ends, **parts, "mixtures": mixtures, "queries": None if self.per_query is None else queries}

    def _frame_rows(self) -> list[dict[str, Any]]:
        """Return a row for each differing field: its values and its part."""
        pairs = {name: map(spelled, pair) for name, pair in self.a.convention.diff(self.b.convention).items()}
        return [
            {**dict(zip(("field", "a", "b"), (name, *pairs[name]), strict=True)), "part": part}
            for name, part in self._sorted().items()
        ]

    def _sorted(self) -> dict[str, float]:
        return dict(sorted(self.contributions.items(), key=lambda part: -abs(part[1])))

    def parts_table(self, caption: str = "Parts of the gap") -> Table:
        """Return a table of the fields with their two values and their parts, largest part first."""
        differing = self.a.convention.diff(self.b.convention)
        lines = [
            (name, *map(spelled, differing[name]), signed(part), percent(part / self.gap) if self.gap else "-")
            for name, part in self._sorted().items()
        ]
        return Table.of(caption, ("field", "a", "b", "part", "of the gap"), lines)

    def _query_table(self, queries: list[dict[str, Any]]) -> Table:
        names = list(self._sorted())
        lines = [
            (str(q["query"]), signed(q["contribution"]), *(signed(q["contributions"][name]) for name in names))
            for q in queries
        ]
        return Table.of(f"The {len(lines)} queries that contribute most", ("query", "part", *names), lines)


@describes_columns
@shows_call(EXPLAIN)
@shows("explaining")
def explain(
    labels: object,
    scores: object,
    a: Convention | Match | str,
    b: Convention | Match | str,
    *,
    top: int = 10,
    n_threads: int | None = None,
    **columns: Unpack[Columns],
) -> Explanation:
    """Split the gap between two conventions over the fields in which they differ.

    Each field's part is its Shapley value over all mixtures of the two conventions: what taking the field from `b`
    changes, averaged over all orders in which the fields can be taken. A mixture is `a.replace(...)` with some fields
    of `b`; its value is that of `evaluate`. Mixtures with the same meaning (with `k=None` a query is never short) are
    one convention and have one value.

    A convention may refuse this data by a policy `error`, as `sklearn` refuses unjudged rows. If the other convention
    has a different policy there, that policy is used for both, and `Explanation.set_aside` says so.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels.
    scores : array-like, shape (n_docs,)
        Predicted scores, higher is better.
    a, b : Convention, Match or str
        Two conventions of the same measure. A match of `identify` must have the same convention for all its numbers.
    top : int
        Number of queries in the printed forms; `Explanation.per_query` has all queries.
    n_threads : int, optional
        The number of threads; None uses all CPUs.
    qid, group_sizes, query_weight, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    Explanation
        Its `contributions` add up to `b.value - a.value`. If the value of some mixture is not a sum over the queries (a
        geometric mean, or all rows as one query), `per_query` is None.

    Raises
    ------
    ConventionError
        The conventions have different measures, or a mixture is not a valid convention.
    InputError
        A convention or a mixture has no value on this data, and not only because of a policy `error` of one of them.

    References
    ----------
    Shapley (1953), A value for n-person games.

    Examples
    --------
    >>> import rankadapters as ra
    >>> gap = explain([0, 2, 0], [1, 0, 1], ra.presets.yahoo(2), ra.presets.letor4(2), group_sizes=[2, 1])
    >>> {name: round(part, 6) for name, part in gap.contributions.items()}
    {'gain': 0.0, 'discount': 0.184535, 'short': -0.25, 'empty': -0.25}
    """
    a, b = (as_convention(pair.single_convention() if isinstance(pair, Match) else pair) for pair in (a, b))
    if a.measure != b.measure:
        differ = f"a has the measure {a.measure} and b the measure {b.measure}"
        message = f"{differ}; the gap between different measures has no parts."
        raise ConventionError(message, hint="pass two conventions of the same measure")
    top = arguments.whole("top", top, least=0, hint="top=10")
    queries = as_queries(labels, **columns)
    try:
        return explain_pair(queries, scores, (a, b), top=top, n_threads=n_threads)
    except InputError:
        a_lenient, a_refusals = _without_refusals(queries, scores, "a", a, b)
        b_lenient, b_refusals = _without_refusals(queries, scores, "b", b, a)
        if not a_refusals and not b_refusals:
            raise
    explanation = explain_pair(queries, scores, (a_lenient, b_lenient), top=top, n_threads=n_threads)
    return replace(explanation, set_aside=a_refusals | b_refusals)


def explain_pair(
    queries: Queries,
    scores: object,
    pair: tuple[Convention, Convention],
    *,
    measured: Measured | None = None,
    top: int = 10,
    n_threads: int | None = None,
) -> Explanation:
    """Explain as `explain` does, reusing the values in `measured`."""
    a, b = pair
    differing = list(a.diff(b))
    mixtures = {names: _mixture(a, b, names) for names in subsets(differing)}
    mixtures |= {(): a, tuple(differing): b}  # equal mixtures may have other display names; keep the caller's
    mixture_scores, shares = _evaluate(queries, scores, mixtures, measured, n_threads)
    parts = split_columns(np.stack([shares[convention] for convention in mixtures.values()])) if shares else ()
    return Explanation(
        a=mixture_scores[()], b=renamed(mixture_scores[tuple(differing)], b),
        contributions=dict(zip(differing, split([score.value for score in mixture_scores.values()]), strict=True)),
        mixtures=mixture_scores, query_ids=queries.query_ids,
        per_query=dict(zip(differing, parts, strict=True)) if shares else None, top=top,
    )  # fmt: skip


def _without_refusals(
    queries: Queries, scores: object, letter: str, convention: Convention, other: Convention
) -> tuple[Convention, dict[str, str]]:
    """For each policy `error` that refuses the data, use the other convention's policy; also return the reasons."""
    replacements = {
        name: value
        for name, (policy, value) in convention.diff(other).items()
        if policy == REFUSAL and name in other.fields()
    }
    lenient = convention.replace(**replacements)
    if _refusal(queries, scores, lenient) is not None:
        return convention, {}
    refusals: dict[str, str] = {}
    for name, value in replacements.items():
        strict = lenient.replace(**{name: REFUSAL})
        refusal = _refusal(queries, scores, strict)
        if refusal is None:
            lenient = strict
        else:
            why = f"{letter} says {name}={REFUSAL!r} and refuses this data: {_first_line(refusal).rstrip('.')}"
            refusals[name] = f"{why}. Both are explained with {name}={as_text(value)}."
    return lenient, refusals


def _refusal(queries: Queries, scores: object, convention: Convention) -> InputError | None:
    """Return the error of a convention that has no value on this data."""
    try:
        Evaluator.of(queries, [convention]).evaluate(scores)
    except InputError as error:
        return error
    return None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _mixture(a: Convention, b: Convention, names: tuple[str, ...]) -> Convention:
    try:
        return a.replace(**{name: getattr(b, name) for name in names})
    except ConventionError as error:
        message = f"a with {', '.join(names)} of b is not a valid convention: {_first_line(error)}"
        raise ConventionError(message, hint=IN_TWO_STEPS) from None


def _evaluate(
    queries: Queries,
    scores: object,
    mixtures: Mapping[tuple[str, ...], Convention],
    measured: Measured | None,
    n_threads: int | None,
) -> tuple[dict[tuple[str, ...], Score], dict[Convention, Floats]]:
    """Return each mixture's score and what each query adds to it (nothing if some score is not a sum over queries)."""
    known_scores = {} if measured is None else measured.scores
    unknown = [convention for convention in mixtures.values() if convention not in known_scores]
    passes = [] if measured is None else [measured.under(mixtures.values())]
    try:
        if unknown:
            passes.append(Evaluator.of(queries, unknown, n_threads=n_threads).measure(scores))
        scored = {convention: score for one_pass in passes for convention, score in one_pass.scores.items()}
    except InputError as error:
        # Name the mixture without a value; if a or b itself has no value, its own error says more.
        ends = [(), max(mixtures, key=len)]
        refusals = ((names, _refusal(queries, scores, mixtures[names])) for names in [*ends, *mixtures])
        names, refusal = next(((names, refusal) for names, refusal in refusals if refusal), ((), error))
        if names in ends:
            raise refusal from None
        message = f"a with {', '.join(names)} of b has no value on this data: {_first_line(refusal)}"
        raise InputError(message, hint=IN_TWO_STEPS, row=refusal.row) from None
    shares: dict[Convention, Floats] = {}
    if all(convention.is_sum for convention in mixtures.values()):
        shares = {convention: share for one_pass in passes for convention, share in one_pass.shares.items()}
    return {names: scored[convention] for names, convention in mixtures.items()}, shares
