"""Numbers compared: a printed one with ours, and two with their conventions and queries where they are Scores."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any, Unpack

import numpy as np

from rankadapters.core.data.keywords import Columns
from rankadapters.core.data.queries import Queries, as_queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.score import Score
from rankadapters.core.presets.texts import as_convention
from rankadapters.core.presets.tool import as_text
from rankadapters.parity.data import bind
from rankadapters.parity.number_causes import number_causes
from rankadapters.parity.ours import Ours
from rankadapters.parity.report import ParityReport
from rankadapters.parity.rows import ParityRow, QueryDifferences, Verdict
from rankadapters.parity.tolerances import as_float, as_tolerance
from rankadapters.statistics.printed import Printed, as_printed

SOURCE = "first number"


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
        One row. Where the number differs, its reason names what would give it: ours rounded or in float32, a field of
        the convention, columns in another order, another mean, a query cut or left out, weights; and where none of
        these does, what is not excluded, such as another order of tied rows.

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
    number, printed = _given(value)
    allowed = printed if tolerance is None else as_tolerance("tolerance", tolerance)
    ours = Ours.of(queries, bind(queries, scores, convention), convention)
    return ParityReport((ours.judge(number, source, version, tolerance=allowed),))


def _given(value: object) -> tuple[float, Printed | None]:
    """Read a number that was printed, or one in full precision, which may be NaN."""
    if isinstance(value, str | Decimal | np.float32 | np.float16):
        printed = as_printed(value)
        return float(printed.value), printed
    number = as_float(value.value if isinstance(value, Score) else value)
    if number is None:
        msg = f"value={value!r:.60} is not a number.\nHint: the digits as they were printed, such as '0.6791'."
        raise InputError(msg)
    return number, None


def compare_numbers(
    a: object,
    b: object,
    *,
    tol: float = 0,
    convention: Convention | None = None,
    queries: Queries | None = None,
    scores: object = None,
) -> ParityReport:
    """Compare one number with another.

    Two Scores are the same only under one convention over the same queries: of conventions that differ, the fields are
    named, unless `queries` and `scores` show that nothing depends on them.

    Parameters
    ----------
    a, b : Score or float
        `b` is ours in the report.
    tol : float
        Largest difference that counts as none.
    convention : Convention, optional
        What a bare number was computed under, where neither is a Score.
    queries, scores : Queries and float array, shape (n_docs,), optional
        The data behind the numbers. With them, a difference is searched for its cause and taken apart by query.

    Returns
    -------
    ParityReport
        One row.

    Raises
    ------
    InputError
        What is compared is neither a Score nor a number, or `tol` is not a tolerance.

    Examples
    --------
    >>> import rankadapters as ra
    >>> labels, sizes = [1, 0, 0, 0], [2, 2]
    >>> a, b = (ra.evaluate(labels, [1, 2, 3, 4], preset(2), group_sizes=sizes) for preset in (
    ...     ra.presets.yahoo, ra.presets.ranklib
    ... ))
    >>> print(compare_numbers(a, b).rows[0].reason)
    The conventions differ in empty=1 against empty=0.
    """
    first, second = _number("first", a), _number("second", b)
    if queries is not None and not isinstance(queries, Queries):
        msg = f"queries is {type(queries).__name__}, not Queries.\nHint: queries=ra.Queries(labels, qid=qid)."
        raise InputError(msg)
    ours = b.convention if isinstance(b, Score) else a.convention if isinstance(a, Score) else convention
    row = ParityRow.compare(SOURCE, "", ours, value=first, our_value=second, tolerance=as_tolerance("tol", tol))
    if isinstance(a, Score) and isinstance(b, Score):
        return ParityReport((_of_scores(a, b, row, queries, scores),))
    if row.verdict == "equal":
        return ParityReport((row,))
    if ours is None or queries is None:
        why = "; ".join(f"it is {text}" for text in number_causes(first, second, row.tolerance or 0.0))
        return ParityReport((replace(row, reason=f"Looking for the cause: {why}." if why else ""),))
    return ParityReport((_explained(row, Ours.of(queries, queries.check_scores(scores), ours)),))


def _number(which: str, value: Any) -> float:
    number = as_float(value.value if isinstance(value, Score) else value)
    if number is None:
        msg = f"the {which} of the two is {value!r:.60}, but Scores and numbers are compared.\nHint: float(value)."
        raise InputError(msg)
    return number


def _of_scores(a: Score, b: Score, row: ParityRow, queries: Queries | None, scores: object) -> ParityRow:
    if a.convention != b.convention:
        return _of_conventions(a, b, row, queries, scores)
    if (a.n_queries, a.digest) != (b.n_queries, b.digest):
        return _stated(row, f"They are of other queries: {_counts(a)} against {_counts(b)}.")
    if row.verdict == "equal" or queries is None:
        return row
    return _explained(row, Ours.of(queries, queries.check_scores(scores), b.convention))


def _of_conventions(a: Score, b: Score, row: ParityRow, queries: Queries | None, scores: object) -> ParityRow:
    pairs = a.convention.diff(b.convention)
    theirs, ours = (", ".join(f"{name}={as_text(pair[side])}" for name, pair in pairs.items()) for side in (0, 1))
    reason = f"The conventions differ in {theirs} against {ours}."
    if queries is None:
        return _stated(row, reason)
    from rankadapters.statistics.inert import inert as inert_fields  # brings numpy

    inert = inert_fields(queries, scores, a.convention, b.convention)
    if set(inert) == set(pairs):
        same: Verdict = "equal-on-this-data" if row.verdict == "equal" else "different"
        return replace(row, verdict=same, reason=f"{reason} On this data that makes no difference.")
    aside = f" Of no consequence here: {', '.join(inert)}." if inert else ""
    first, second = (Ours.of(queries, queries.check_scores(scores), each.convention, leaving=True) for each in (a, b))
    return _stated(row, reason + aside, first.gap(second))


def _stated(row: ParityRow, reason: str, per_query: QueryDifferences | None = None) -> ParityRow:
    return replace(
        row, verdict="not-comparable", difference=None, tolerance=None, reason=reason, per_query=per_query
    )  # fmt: skip


def _explained(row: ParityRow, ours: Ours) -> ParityRow:
    """Search for the cause, where the data behind the number is at hand and gives our number indeed."""
    found = ours.judge(float(row.value or 0.0), row.source, "", tolerance=row.tolerance)
    if found.our_value == row.our_value:
        return found
    reason = f"The data given makes {found.our_value!r}, which is not the second number.\n{found.reason}"
    return replace(row, reason=reason, per_query=found.per_query)


def _counts(score: Score) -> str:
    return f"{score.n_queries} queries, {score.n_empty} of them empty and {score.n_short} short"
