"""Why two conventions give two numbers: the gap split over the fields in which they differ."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from rankadapters.audit.document import Document, Table, percent, signed, spelled
from rankadapters.audit.shapley import split, split_columns, subsets
from rankadapters.core.columns import Array
from rankadapters.core.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.fields import is_whole
from rankadapters.core.keywords import Columns
from rankadapters.core.panel import Panel
from rankadapters.core.queries import Queries, as_queries
from rankadapters.core.score import Score
from rankadapters.core.texts import as_convention

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Explanation(Document):
    """The gap between two conventions on the same scores, split over their differing fields; made by `explain`.

    Attributes
    ----------
    a, b : Score
        Under the first and the second convention.
    contributions : dict of str to float
        Part of `b.value - a.value` that each differing field has: its exact Shapley value. Empty for equal conventions.
    mixtures : dict of tuple of str to Score
        By the fields taken from `b`, all others being `a`'s: what the parts were computed from.
    query_ids : array, shape (n_queries,)
        Query identifiers.
    per_query : dict of str to float64 array, shape (n_queries,)
        What each query adds to each field's part; a column adds up to the contribution.
    top : int
        How many queries the printed forms show.
    """

    a: Score
    b: Score
    contributions: dict[str, float]
    mixtures: dict[tuple[str, ...], Score] = field(repr=False)
    query_ids: Array = field(repr=False)
    per_query: dict[str, Floats] = field(repr=False)
    top: int = field(repr=False)

    @property
    def gap(self) -> float:
        """The second value minus the first."""
        return self.b.value - self.a.value

    def queries(self, top: int | None = None) -> list[dict[str, Any]]:
        """Give the queries that contribute most, with what each adds to the gap and to each field's part."""
        if not self.per_query:
            return []
        parts = np.stack(list(self.per_query.values()))
        totals = parts.sum(axis=0)
        largest = np.argsort(-np.abs(totals), kind="stable")[: self.top if top is None else top]
        return [
            {
                "query": self.query_ids[q : q + 1].tolist()[0],
                "contribution": float(totals[q]),
                "contributions": dict(zip(self.per_query, parts[:, q].tolist(), strict=True)),
            }
            for q in largest
            if parts[:, q].any()
        ]

    def plot(self) -> Any:
        """Draw the parts as a waterfall from the first value to the second: a matplotlib Figure.

        Raises
        ------
        MissingToolkitError
            matplotlib is not installed.
        """
        from rankadapters.plotting.waterfall import waterfall

        ends = tuple((score.convention.name, score.value) for score in (self.a, self.b))
        return waterfall(ends[0], self._sorted(), ends[1])

    def blocks(self) -> list[str | Table]:
        """Give the gap, its parts, and the queries that contribute most."""
        a, b = self.a, self.b
        gap = f"{b.value:.6f} - {a.value:.6f} = {signed(self.gap)} over {a.n_queries} queries"
        names = f"a  {a.convention.name}: {a.convention}\nb  {b.convention.name}: {b.convention}"
        found: list[str | Table] = [f"From {a.convention.name} to {b.convention.name}: {gap}", names]
        if not self.contributions:
            return [*found, "The conventions are equal: there is nothing to explain."]
        found.append(self.parts_table())
        queries = self.queries()
        if queries:
            found.append(self._query_table(queries))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON types; of the queries those that contribute most."""
        return {
            "a": {"name": self.a.convention.name, "signature": str(self.a.convention), "value": self.a.value},
            "b": {"name": self.b.convention.name, "signature": str(self.b.convention), "value": self.b.value},
            "gap": self.gap,
            "contributions": self.contributions,
            "mixtures": [
                {"from_b": list(names), "signature": str(score.convention), "value": score.value}
                for names, score in self.mixtures.items()
            ],
            "queries": [{**query, "query": str(query["query"])} for query in self.queries()],
        }

    def _sorted(self) -> dict[str, float]:
        return dict(sorted(self.contributions.items(), key=lambda part: -abs(part[1])))

    def parts_table(self, caption: str = "Parts of the gap") -> Table:
        """Give the fields with both values and their parts, largest first."""
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


def explain(
    labels: object,
    scores: object,
    a: Convention | str,
    b: Convention | str,
    *,
    top: int = 10,
    n_threads: int | None = None,
    **columns: Unpack[Columns],
) -> Explanation:
    """Split the gap between two conventions over the fields in which they differ.

    Each field's part is its Shapley value over all mixtures of the two conventions: what taking the field from `b`
    changes, averaged over all orders in which the fields can be taken. A mixture is `a.replace(...)` with some fields
    of `b`, and its worth is what `evaluate` gives under it. Mixtures that mean the same (with `k=None` a query is never
    short) are one convention and have one value.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels.
    scores : array-like, shape (n_docs,)
        Predicted scores, higher is better.
    a, b : Convention or str
        Of one measure.
    top : int
        How many queries the printed forms show; `Explanation.per_query` has all.
    n_threads : int, optional
        None takes all CPUs.
    qid, group_sizes, query_weight, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    Explanation
        Its `contributions` add up to `b.value - a.value`.

    Raises
    ------
    ConventionError
        The conventions are of two measures, whose values are in different units.
    InputError
        A convention, or a mixture of the two, has no value on this data.

    References
    ----------
    Shapley (1953), A value for n-person games.

    Examples
    --------
    >>> import rankadapters as ra
    >>> found = explain([0, 2, 0], [1, 0, 1], ra.presets.yahoo(2), ra.presets.letor4(2), group_sizes=[2, 1])
    >>> {name: round(part, 6) for name, part in found.contributions.items()}
    {'gain': 0.0, 'discount': 0.184535, 'short': -0.25, 'empty': -0.25}
    """
    a, b = as_convention(a), as_convention(b)
    _require_one_measure(a, b)
    if not is_whole(top) or int(top) < 0:
        msg = f"top={top!r}; allowed are whole numbers from 0 on.\nHint: top=10."
        raise InputError(msg)
    queries = as_queries(labels, **columns)
    differing = list(a.diff(b))
    mixed = {names: a.replace(**{name: getattr(b, name) for name in names}) for names in subsets(differing)}
    mixed |= {(): a, tuple(differing): b}  # with their names
    found, worth = _evaluate(queries, scores, mixed, n_threads)
    parts = split_columns(np.stack([worth[convention] for convention in mixed.values()]))
    return Explanation(
        a=found[()], b=replace(found[tuple(differing)], convention=b),
        contributions=dict(zip(differing, split([score.value for score in found.values()]), strict=True)),
        mixtures=found, query_ids=queries.query_ids, per_query=dict(zip(differing, parts, strict=True)), top=int(top),
    )  # fmt: skip


Mixtures = dict[tuple[str, ...], Convention]


def _require_one_measure(a: Convention, b: Convention) -> None:
    if a.measure != b.measure:
        msg = (
            f"{a.measure} and {b.measure} are different measures, "
            "whose values are in different units: the gap between them has no parts.\n"
            "Hint: two conventions of one measure."
        )
        raise ConventionError(msg)


def _evaluate(
    queries: Queries, scores: object, mixed: Mixtures, n_threads: int | None
) -> tuple[dict[tuple[str, ...], Score], dict[Convention, Floats]]:
    """Score of each mixture, and what each query adds to it."""
    try:
        measured = Panel(queries, mixed.values(), n_threads=n_threads).measure(scores)
        found = measured.scores
    except InputError as error:
        raise _about_a_mixture(error, queries, scores, mixed) from None
    return {names: found[convention] for names, convention in mixed.items()}, measured.shares


def _about_a_mixture(error: InputError, queries: Queries, scores: object, mixed: Mixtures) -> InputError:
    """Say which mixture has no value, where both conventions have one."""
    ends = [(), max(mixed, key=len)]
    for names in [*ends, *mixed]:
        try:
            Panel(queries, [mixed[names]]).evaluate(scores)
        except InputError as found:
            if names in ends:
                return found
            why = str(found).partition("\n")[0]
            return InputError(
                f"a with {', '.join(names)} of b has no value on this data: {why}\n"
                "Hint: explain in two steps, over a convention between the two that avoids this mixture."
            )
    return error
