"""The result of `explain`: the gap between two conventions, split into a part for each differing field."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankadapters.core.data.columns import Array, Floats
from rankadapters.core.declaration.arguments import whole
from rankadapters.core.evaluation.score import Score
from rankadapters.core.evaluation.table import Table
from rankadapters.statistics.cells import percent, signed, spelled
from rankadapters.statistics.document import Document


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
        n_shown = self.top if top is None else whole("top", top, least=0)
        if not self.per_query:
            return []
        parts = np.stack(list(self.per_query.values()))
        totals = parts.sum(axis=0)
        largest = np.argsort(-np.abs(totals), kind="stable")[:n_shown]
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
        """Return a matplotlib Figure of the parts, as a waterfall from the first value to the second.

        Raises
        ------
        MissingToolkitError
            matplotlib is not installed.
        """
        from rankadapters.plotting.plots import waterfall

        ends = tuple((score.convention.name, score.value) for score in (self.a, self.b))
        return waterfall(ends[0], self._sorted(), ends[1])

    def blocks(self) -> list[str | Table]:
        """Return the gap, its parts, and the queries that contribute most."""
        a, b = self.a, self.b
        gap = f"{b.value:.6f} - {a.value:.6f} = {signed(self.gap)} over {a.n_queries} queries"
        names = f"a  {a.convention.name}: {a.convention}\nb  {b.convention.name}: {b.convention}"
        blocks: list[str | Table] = [f"From {a.convention.name} to {b.convention.name}: {gap}", names]
        blocks += self.set_aside.values()
        if not self.contributions:
            return [*blocks, "The conventions are equal: there is nothing to explain."]
        blocks.append(self.parts_table())
        queries = self.queries()
        if queries:
            blocks.append(self._query_table(queries))
        if self.per_query is None:
            blocks.append(self._totals_only())
        return blocks

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types; `queries` has the largest contributions, or is None if `per_query` is None."""
        return {
            "a": {"name": self.a.convention.name, "signature": str(self.a.convention), "value": self.a.value},
            "b": {"name": self.b.convention.name, "signature": str(self.b.convention), "value": self.b.value},
            "gap": self.gap,
            "contributions": self.contributions,
            "set_aside": self.set_aside,
            "mixtures": [
                {"from_b": list(names), "signature": str(score.convention), "value": score.value}
                for names, score in self.mixtures.items()
            ],
            "queries": None if self.per_query is None else [
                {**query, "query": str(query["query"])} for query in self.queries()
            ],
        }  # fmt: skip

    def _totals_only(self) -> str:
        [name, *_] = [s.convention.name for s in self.mixtures.values() if not s.convention.is_sum]
        return f"Totals only: under {name} the value is not a sum over the queries, so that they have no parts of it."

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
