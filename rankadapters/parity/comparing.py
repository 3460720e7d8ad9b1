"""A number compared with ours, and the search for what makes them differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from typing import Unpack

import numpy as np

from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.keywords import Columns
from rankadapters.core.printed import Printed, as_printed
from rankadapters.core.queries import as_queries
from rankadapters.core.texts import as_convention
from rankadapters.parity.data import bind
from rankadapters.parity.ours import Ours
from rankadapters.parity.report import ParityReport
from rankadapters.parity.rows import ParityRow, QueryDifferences
from rankadapters.parity.tolerances import FULL_DOUBLE, Tolerance, relative

NOT_A_SUM = (
    "The value is not a sum over the queries, so that only its fields were tried, and no query has a part in it."
)


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
    row = ParityRow.compare(
        source, version, ours.convention, value=value, our_value=ours.value, tolerance=bound, reason="\n".join(notes)
    )
    if row.verdict == "equal":
        return row
    from rankadapters.parity.causes import causes  # brings numba

    found = causes(ours, value=value, tolerance=bound)
    why = "; ".join(cause.text for cause in found) or "none of the changes tried gives it"
    whole = "" if ours.convention.is_sum else NOT_A_SUM
    reason = "\n".join(filter(None, [row.reason, f"Looking for the cause: {why}.", whole]))
    other = next((cause.convention for cause in found if cause.convention is not None), None)
    parts = per_query()
    if parts is None and other is not None:
        parts = Ours.of(ours.queries, ours.scores, other, leaving=True).gap(ours)
    return replace(row, reason=reason, per_query=parts)


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
    """Compare a number that someone printed with ours: from a paper, a log, another program.

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
        The data has no value under the convention, or `value` is not a number.

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
    queries = as_queries(labels, **columns)
    ours = Ours.of(queries, bind(queries, scores, convention), convention)
    number, printed = _given(value)
    bound = printed if tolerance is None else tolerance
    return ParityReport((compare_value(ours, number, source, version, tolerance=bound),))


def _given(value: object) -> tuple[float, Printed | None]:
    """Read a number that was printed, or one in full precision, which may be NaN."""
    if isinstance(value, str | Decimal | np.float32 | np.float16):
        printed = as_printed(value)
        return float(printed.value), printed
    try:
        return float(value), None  # type: ignore[arg-type]
    except (TypeError, ValueError):
        msg = f"value={value!r:.60} is not a number.\nHint: the digits as they were printed, such as '0.6791'."
        raise InputError(msg) from None
