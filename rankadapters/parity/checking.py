"""A toolkit's or a printed number held against ours: the steps that every checker shares."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError, RankAdaptersError
from rankadapters.core.keywords import Columns
from rankadapters.core.presets.tool import differing, spelled
from rankadapters.core.printed import Printed, as_printed
from rankadapters.core.queries import Queries
from rankadapters.core.texts import as_convention
from rankadapters.parity.data import bind, value_of
from rankadapters.parity.report import ParityReport
from rankadapters.parity.rows import ParityRow, QueryDifferences
from rankadapters.parity.tolerances import FULL_DOUBLE, Tolerance, relative

Array = NDArray[Any]
Ask = Callable[[Queries, Array], float]

MOST_ASKED = 500  # queries, above which a toolkit is not asked for each


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """The data as a toolkit holds it.

    Attributes
    ----------
    queries : Queries
        Contiguous queries.
    scores : float array, shape (n_docs,)
        In the order of these queries.
    notes : tuple of str
        What had to be changed, one sentence each; part of the reason of every row.
    """

    queries: Queries
    scores: Array
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """One way to get a toolkit's own number.

    Attributes
    ----------
    source : str
        The toolkit and the route.
    ask : callable
        Gives the toolkit's value for queries and scores.
    precision : float
        What the value can be trusted to.
    apart : bool
        Whether it can be asked for some of the queries alone.
    """

    source: str
    ask: Ask
    precision: float = FULL_DOUBLE
    apart: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Toolkit:
    """A toolkit as the checks see it."""

    name: str  # as in prose
    package: str  # as it is imported
    version: str


def compare(
    toolkit: Toolkit, routes: Iterable[Route], held: Held, *, declared: Convention, nearest: Convention
) -> ParityReport:
    """Hold a toolkit's values against ours under the nearest convention it has, then state the declared one.

    Parameters
    ----------
    toolkit : Toolkit
        Who is asked.
    routes : iterable of Route
        How, under `nearest`.
    held : Held
        The data as the toolkit holds it, which ours is computed on too.
    declared : Convention
        What is wanted.
    nearest : Convention
        The nearest that the toolkit computes.

    Returns
    -------
    ParityReport
        A row per route. Where the toolkit cannot express the declared convention, a row more: `equal-on-this-data`
        when nothing here depends on the fields that it cannot express, else `not-comparable`, with these fields and
        each query's part in the gap.
    """
    different = differing(declared, nearest)
    under = nearest if different else declared
    rows = [_route_row(toolkit, route, held, under) for route in routes]
    if different:
        rows.append(_declared_row(toolkit, rows[0], held, declared, nearest))
    return ParityReport(tuple(rows))


def compare_value(
    source: str,
    version: str,
    held: Held,
    convention: Convention,
    *,
    value: float,
    tolerance: Tolerance | None = None,
    per_query: Callable[[], QueryDifferences | None] = lambda: None,
) -> ParityRow:
    """Judge one value; where it differs, search for the cause."""
    ours = value_of(held.queries, held.scores, convention)
    bound = relative(FULL_DOUBLE, ours) if tolerance is None else tolerance
    row = ParityRow.compare(
        source, version, convention, value=value, our_value=ours, tolerance=bound, reason="\n".join(held.notes)
    )
    if row.verdict == "equal":
        return row
    from rankadapters.parity.causes import causes

    found = causes(held.queries, held.scores, convention, value=value, tolerance=bound)
    why = "; ".join(cause.text for cause in found) or "none of the changes tried gives it"
    reason = "\n".join([*held.notes, f"Looking for the cause: {why}."])
    other = next((cause.convention for cause in found if cause.convention is not None), None)
    apart = per_query() or (None if other is None else gap(held.queries, held.scores, other, convention))
    return ParityRow.compare(
        source, version, convention, value=value, our_value=ours, tolerance=bound, reason=reason, per_query=apart
    )


def check_value(
    labels: object,
    scores: object,
    convention: Convention | str,
    value: float | str | Decimal,
    *,
    source: str = "given",
    version: str = "",
    tolerance: float | None = None,
    **columns: Unpack[Columns],
) -> ParityReport:
    """Hold a number that someone printed against ours: from a paper, a log, another program.

    Parameters
    ----------
    labels, scores, convention
        As in `ra.evaluate`.
    value : float, str or Decimal
        The number. Ours must round to text, such as `"0.6791"`, or a Decimal, of whose decimals 12 are compared at
        most; a float is trusted to 1e-9.
    source, version : str
        Where it is from.
    tolerance : float, optional
        Largest difference that counts as equal, in place of the above.
    qid, group_sizes, query_weight, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    ParityReport
        One row. Where the number differs, its reason names what would give it: a field of the convention, a query cut
        or left out, weights, the order of tied rows.

    Raises
    ------
    InputError
        The data has no value under the convention, or `value` is no number.

    Examples
    --------
    >>> from rankadapters import presets
    >>> labels, scores, sizes = [2, 1, 0, 1], [0.1, 0.7, 0.7, 0.2], [3, 1]
    >>> check_value(labels, scores, presets.yahoo(2), "0.6377", group_sizes=sizes).ok
    True
    >>> report = check_value(labels, scores, presets.yahoo(2), "0.6900", group_sizes=sizes)
    >>> print(report.rows[0].reason)
    Looking for the cause: it is the value under gain='linear' in place of gain='exp2'; it is ...
    """
    convention = as_convention(convention)
    queries, array = bind(labels, scores, convention, columns)
    number, printed = _given(value)
    held = Held(queries=queries, scores=array)
    bound = printed if tolerance is None else tolerance
    return ParityReport((compare_value(source, version, held, convention, value=number, tolerance=bound),))


def _given(value: object) -> tuple[float, Printed | None]:
    """Read a number that was printed, or one in full precision, which may be NaN."""
    if isinstance(value, str | Decimal | np.float32 | np.float16):
        printed = as_printed(value)
        return float(printed.value), printed
    try:
        return float(value), None  # type: ignore[arg-type]
    except (TypeError, ValueError):
        msg = f"value={value!r:.60} is no number.\nHint: the digits as they were printed, such as '0.6791'."
        raise InputError(msg) from None


def _route_row(toolkit: Toolkit, route: Route, held: Held, convention: Convention) -> ParityRow:
    ours = value_of(held.queries, held.scores, convention)  # first: data without a value is ours to name
    value = route.ask(held.queries, held.scores)
    return compare_value(
        route.source, toolkit.version, held, convention, value=value, tolerance=relative(route.precision, ours),
        per_query=lambda: _asked(route, held, convention) if route.apart else None,
    )  # fmt: skip


def _declared_row(
    toolkit: Toolkit, nearest_row: ParityRow, held: Held, declared: Convention, nearest: Convention
) -> ParityRow:
    different = differing(declared, nearest)
    from rankadapters.core.inert import inert as inert_fields  # brings numba

    inert = inert_fields(held.queries, declared, nearest, held.scores)
    matter = {name: values for name, values in different.items() if name not in inert}
    ours = value_of(held.queries, held.scores, declared)
    if not matter:
        reason = f"{toolkit.name} cannot express {spelled(different)}; on this data that makes no difference."
        return ParityRow.compare(
            toolkit.package, toolkit.version, declared, value=nearest_row.value or 0.0, our_value=ours,
            tolerance=nearest_row.tolerance or 0.0, inert=inert, reason="\n".join([reason, *held.notes]),
        )  # fmt: skip
    harmless = {name: values for name, values in different.items() if name in inert}
    aside = f" Of no consequence here: {spelled(harmless)}." if harmless else ""
    reason = (
        f"{toolkit.name} cannot express {spelled(matter)}, which matters here.{aside}\nThe nearest it can: {nearest}"
    )
    return ParityRow.not_comparable(
        toolkit.package, toolkit.version, declared, our_value=ours, reason=reason,
        per_query=gap(held.queries, held.scores, nearest, declared),
    )  # fmt: skip


def gap(queries: Queries, scores: Array, theirs: Convention, ours: Convention) -> QueryDifferences | None:
    """What each query contributes to the difference of two conventions on the same data; None where it has no part."""
    from rankadapters.core.inert import terms_of

    if not (theirs.is_sum and ours.is_sum):
        return None

    first, second = (terms_of(queries, scores, convention) for convention in (theirs, ours))
    return QueryDifferences(
        query_ids=queries.query_ids, values=first.values, our_values=second.values,
        contributions=first.shares - second.shares,
    )  # fmt: skip


def _asked(route: Route, held: Held, convention: Convention) -> QueryDifferences | None:
    """Ask for every query alone; None where that fails or would take too long."""
    from rankadapters.core.inert import terms_of

    queries = held.queries
    if queries.n_queries > MOST_ASKED or not convention.is_sum:
        return None
    ours = terms_of(queries, held.scores, convention)
    order = queries.rows
    values = np.full(queries.n_queries, np.nan)
    for place, (start, end) in enumerate(zip(queries.indptr, queries.indptr[1:], strict=False)):
        rows = order[start:end]
        try:
            one = Queries(queries.labels[rows], group_sizes=[rows.size])
            values[place] = route.ask(one, held.scores[rows])
        except RankAdaptersError:
            return None
    apart = values - ours.values
    equal = np.abs(apart) <= route.precision * np.maximum(1, np.abs(ours.values))
    parts = np.where(equal | (ours.weights == 0), 0.0, apart) * ours.weights / ours.divisors.sum()
    return QueryDifferences(query_ids=queries.query_ids, values=values, our_values=ours.values, contributions=parts)
