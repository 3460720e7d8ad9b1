"""Find a further number that would distinguish the conventions that all give the published number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.audit.evaluation import evaluate_usable
from rankadapters.audit.printed import Printed
from rankadapters.core.data.columns import Array
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.evaluation.score import Score
from rankadapters.statistics.grid import has_cutoff
from rankadapters.statistics.known_presets import USUAL_CUTOFFS

N_COMPARED = 50  # only this many of the likeliest conventions are compared
NO_VALUE = "-"


@dataclass(frozen=True, kw_only=True, slots=True)
class Telling:
    """A further number to look up, and its value under each convention.

    Attributes
    ----------
    kind : {'cutoff', 'query'}
        The mean at another cutoff, or the value of one query.
    where : int, None or a query id
        The cutoff (None is all ranks), or the query.
    values : tuple of str
        Printed value under each convention, in the order of the matches without a mistake; '-' for no value.
    measure : str
        The measure of the conventions.
    """

    kind: str
    where: Any
    values: tuple[str, ...]
    measure: str

    @property
    def n_groups(self) -> int:
        """Number of groups of conventions with the same printed value."""
        return len(set(self.values))

    def __str__(self) -> str:
        """Return the name of the number, such as `NDCG@5` or `query q7`."""
        if self.kind == "query":
            return f"query {self.where}"
        measure = self.measure.upper()
        return f"{measure} without a cutoff" if self.where is None else f"{measure}@{self.where}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        where = "all" if self.where is None else self.where if self.kind == "cutoff" else str(self.where)
        return {"kind": self.kind, "where": where, "values": list(self.values)}


def find_distinguishing_numbers(
    queries: Queries,
    scores: Array,
    printed: Printed,
    known_scores: Mapping[Convention, Score],
    values: Mapping[Convention, NDArray[np.float64]],
) -> tuple[Telling, ...]:
    """Return the cutoff and the query at which the likeliest conventions have the most different printed values.

    Parameters
    ----------
    known_scores : mapping of Convention to Score
        The conventions with their scores, the likeliest first.
    values : mapping of Convention to float64 array, shape (n_queries,)
        Per-query values of the first `N_COMPARED` conventions, except those that treat all rows as one query.
    """
    if len(known_scores) < 2:  # noqa: PLR2004 - nothing to distinguish
        return ()
    conventions = list(known_scores)[:N_COMPARED]
    by_cutoff = _by_cutoff(queries, scores, printed, conventions, known_scores)
    by_query = _by_query(queries, printed, conventions, values)
    return tuple(telling for telling in (by_cutoff, by_query) if telling is not None and telling.n_groups > 1)


def _by_cutoff(
    queries: Queries,
    scores: Array,
    printed: Printed,
    conventions: Sequence[Convention],
    known_scores: Mapping[Convention, Score],
) -> Telling | None:
    if not has_cutoff(type(conventions[0])):
        return None
    matched = {getattr(convention, "k", None) for convention in conventions}
    cutoffs = [k for k in USUAL_CUTOFFS if matched != {k}]
    values = evaluate_usable(queries, scores, (c.at(k) for c in conventions for k in cutoffs), known_scores)
    tellings = []
    for k in cutoffs:
        scores_at_k = (values.get(c.at(k)) for c in conventions)
        shown = tuple(NO_VALUE if score is None else printed.same(score.value) for score in scores_at_k)
        tellings.append(Telling(kind="cutoff", where=k, values=shown, measure=conventions[0].measure))
    return max(tellings, key=lambda telling: telling.n_groups, default=None)


def _by_query(
    queries: Queries,
    printed: Printed,
    conventions: Sequence[Convention],
    values: Mapping[Convention, NDArray[np.float64]],
) -> Telling:
    no_values = np.full(queries.n_queries, np.nan)
    table = np.stack([values.get(convention, no_values) for convention in conventions])
    query = int(np.argmax(_n_distinct(table, printed.decimals)))
    shown = tuple(NO_VALUE if np.isnan(value) else printed.same(value) for value in table[:, query].tolist())
    where = queries.query_ids[query : query + 1].tolist()[0]
    return Telling(kind="query", where=where, values=shown, measure=conventions[0].measure)


def _n_distinct(table: NDArray[np.float64], decimals: int) -> NDArray[np.intp]:
    """Return one less than the number of distinct printed values in each column; NaN counts as a value."""
    ordered = np.sort(np.nan_to_num(np.round(table, decimals), nan=np.finfo(np.float64).min), axis=0)
    return np.asarray(np.count_nonzero(np.diff(ordered, axis=0), axis=0), np.intp)
