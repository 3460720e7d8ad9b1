"""Which further number would tell conventions apart that give the same one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.audit.evaluation import evaluated
from rankadapters.audit.identification.known_presets import USUAL
from rankadapters.audit.printed import Printed
from rankadapters.core.data.columns import Array
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.evaluation.score import Score
from rankadapters.statistics.grid import has_cutoff

AMONG = 50  # conventions; the likeliest stand first
NOTHING = "-"


@dataclass(frozen=True, kw_only=True, slots=True)
class Telling:
    """A number to ask for, and what each convention says it is.

    Attributes
    ----------
    kind : {'cutoff', 'query'}
        The mean at another cutoff, or the value of one query.
    where : int, None or a query id
        Which cutoff (None is all ranks), or which query.
    values : tuple of str
        By convention, in the order of the matches; '-' where it has none.
    measure : str
        Of the conventions.
    """

    kind: str
    where: Any
    values: tuple[str, ...]
    measure: str

    @property
    def n_groups(self) -> int:
        """How many groups the number makes of the conventions."""
        return len(set(self.values))

    def __str__(self) -> str:
        """Name the number."""
        if self.kind == "query":
            return f"query {self.where}"
        measure = self.measure.upper()
        return f"{measure} without a cutoff" if self.where is None else f"{measure}@{self.where}"

    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON types."""
        where = "all" if self.where is None else self.where if self.kind == "cutoff" else str(self.where)
        return {"kind": self.kind, "where": where, "values": list(self.values)}


def tell_apart(
    queries: Queries,
    scores: Array,
    printed: Printed,
    known: Mapping[Convention, Score],
    values: Mapping[Convention, NDArray[np.float64]],
) -> tuple[Telling, ...]:
    """Find the cutoff, and the query, whose number makes the most groups of the first conventions.

    Parameters
    ----------
    known : mapping of Convention to Score
        The conventions, the likeliest first, and what they give.
    values : mapping of Convention to float64 array, shape (n_queries,)
        Value of each query under those of the first `AMONG` that value single queries.
    """
    if len(known) < 2:  # noqa: PLR2004 - one has nothing to be told from
        return ()
    several = list(known)[:AMONG]
    found = [_by_cutoff(queries, scores, printed, several, known), _by_query(queries, printed, several, values)]
    return tuple(telling for telling in found if telling is not None and telling.n_groups > 1)


def _by_cutoff(
    queries: Queries,
    scores: Array,
    printed: Printed,
    conventions: Sequence[Convention],
    known: Mapping[Convention, Score],
) -> Telling | None:
    if not has_cutoff(type(conventions[0])):
        return None
    own = {getattr(convention, "k", None) for convention in conventions}
    cutoffs = [k for k in USUAL if own != {k}]
    values = evaluated(queries, scores, (c.at(k) for c in conventions for k in cutoffs), known)
    tellings = []
    for k in cutoffs:
        said = (values.get(c.at(k)) for c in conventions)
        shown = tuple(NOTHING if score is None else printed.same(score.value) for score in said)
        tellings.append(Telling(kind="cutoff", where=k, values=shown, measure=conventions[0].measure))
    return max(tellings, key=lambda telling: telling.n_groups, default=None)


def _by_query(
    queries: Queries,
    printed: Printed,
    conventions: Sequence[Convention],
    values: Mapping[Convention, NDArray[np.float64]],
) -> Telling:
    none = np.full(queries.n_queries, np.nan)
    table = np.stack([values.get(convention, none) for convention in conventions])
    query = int(np.argmax(_distinct(table, printed.decimals)))
    shown = tuple(NOTHING if np.isnan(value) else printed.same(value) for value in table[:, query].tolist())
    where = queries.query_ids[query : query + 1].tolist()[0]
    return Telling(kind="query", where=where, values=shown, measure=conventions[0].measure)


def _distinct(table: NDArray[np.float64], decimals: int) -> NDArray[np.intp]:
    """How many different printed values each column has; a NaN is one."""
    ordered = np.sort(np.nan_to_num(np.round(table, decimals), nan=-1.0), axis=0)
    return np.asarray(np.count_nonzero(np.diff(ordered, axis=0), axis=0), np.intp)
