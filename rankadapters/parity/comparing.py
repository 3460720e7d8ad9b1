"""A number compared with ours, and the search for what makes them differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from rankadapters.parity.ours import Ours
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
