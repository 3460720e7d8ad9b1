"""A toolkit's numbers compared with ours, and the search for what makes a difference."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rankadapters.core.convention import Convention
from rankadapters.core.errors import RankAdaptersError
from rankadapters.core.presets.tool import differing, spelled
from rankadapters.core.queries import Queries
from rankadapters.parity.ours import Ours, counting, gap
from rankadapters.parity.report import ParityReport
from rankadapters.parity.rows import ParityRow, QueryDifferences
from rankadapters.parity.tolerances import FULL_DOUBLE, Tolerance, relative

if TYPE_CHECKING:
    from rankadapters.parity.toolkit import Held, Route, Toolkit

NOT_A_SUM = (
    "The value is not a sum over the queries, so that only its fields were tried, and no query has a part in it."
)
MOST_ASKED = 500  # queries, above which a toolkit is not asked for each


def compare(
    toolkit: Toolkit, routes: Iterable[Route], held: Held, *, declared: Convention, nearest: Convention
) -> ParityReport:
    """Compare a toolkit's values with ours under the nearest convention it has, then state the declared one.

    Where the toolkit cannot express the declared convention, there is a row more: `equal-on-this-data` when nothing
    here depends on the fields that it cannot express, else `not-comparable`, with these fields and each query's part
    in the gap.
    """
    different = {} if nearest == declared else differing(declared, nearest)
    wanted = Ours(held.queries, held.scores, declared)
    ours = Ours(held.queries, held.scores, nearest) if different else wanted
    _ = wanted.value, ours.value  # data without a value is ours to name, before the toolkit is asked
    rows = [
        compare_value(
            ours, route.ask(held), route.source, toolkit.version, notes=held.notes,
            tolerance=relative(route.precision, ours.value), per_query=partial(_asked, route, held, ours),
        )
        for route in routes
    ]  # fmt: skip
    if different:
        rows.append(_declared_row(toolkit, rows[0], held, wanted, ours, different))
    return ParityReport(tuple(rows))


def compare_value(
    ours: Ours,
    value: float,
    source: str,
    version: str,
    *,
    notes: Iterable[str] = (),
    tolerance: Tolerance | None = None,
    per_query: Callable[[], QueryDifferences | None] = lambda: None,
) -> ParityRow:
    """Judge one value; where it differs, search for the cause."""
    bound = relative(FULL_DOUBLE, ours.value) if tolerance is None else tolerance
    reason = "\n".join(notes := tuple(notes))
    row = ParityRow.compare(
        source, version, ours.convention, value=value, our_value=ours.value, tolerance=bound, reason=reason
    )
    if row.verdict == "equal":
        return row
    from rankadapters.parity.causes import causes

    found = causes(ours, value=value, tolerance=bound)
    why = "; ".join(cause.text for cause in found) or "none of the changes tried gives it"
    whole = [] if ours.convention.is_sum else [NOT_A_SUM]
    reason = "\n".join([*notes, f"Looking for the cause: {why}.", *whole])
    other = next((cause.convention for cause in found if cause.convention is not None), None)
    apart = per_query() or (None if other is None else gap(counting(ours.queries, ours.scores, other), ours))
    return replace(row, reason=reason, per_query=apart)


def _declared_row(  # noqa: PLR0917 - of this module
    toolkit: Toolkit, row: ParityRow, held: Held, wanted: Ours, ours: Ours, different: dict[str, tuple[Any, Any]]
) -> ParityRow:
    from rankadapters.core.inert import inert_of  # brings numba

    source = (toolkit.package, toolkit.version, wanted.convention)
    known = {each.convention: each.terms for each in (wanted, ours)}
    inert = inert_of(held.queries, wanted.convention, ours.convention, held.scores, known)
    matter = {name: values for name, values in different.items() if name not in inert}
    if not matter and row.value is not None and row.tolerance is not None:
        reason = f"{toolkit.title} cannot express {spelled(different)}; on this data that makes no difference."
        return ParityRow.compare(
            *source, value=row.value, our_value=wanted.value, tolerance=row.tolerance, inert=inert,
            reason="\n".join([reason, *held.notes]),
        )  # fmt: skip
    harmless = {name: values for name, values in different.items() if name in inert}
    aside = f" Of no consequence here: {spelled(harmless)}." if harmless else ""
    reason = (
        f"{toolkit.title} cannot express {spelled(matter)}, which matters here.{aside}\n"
        f"The nearest it can: {ours.convention}"
    )
    return ParityRow.not_comparable(*source, our_value=wanted.value, reason=reason, per_query=gap(ours, wanted))


def _asked(route: Route, held: Held, ours: Ours) -> QueryDifferences | None:
    """Ask for every query alone; None where that cannot be, fails or would take too long."""
    queries = held.queries
    if not route.apart or queries.n_queries > MOST_ASKED or not ours.convention.is_sum:
        return None
    values = np.full(queries.n_queries, np.nan)
    for place, (start, end) in enumerate(zip(queries.indptr, queries.indptr[1:], strict=False)):
        try:
            one = Queries(queries.labels[start:end], group_sizes=[end - start])
            values[place] = route.ask(replace(held, queries=one, scores=held.scores[start:end], given={}))
        except RankAdaptersError:
            return None
    terms = ours.terms
    apart = values - terms.values
    equal = np.abs(apart) <= route.precision * np.maximum(1, np.abs(terms.values))
    parts = np.where(equal | (terms.weights == 0), 0.0, apart) * terms.weights / terms.divisors.sum()
    return QueryDifferences(query_ids=queries.query_ids, values=values, our_values=terms.values, contributions=parts)
