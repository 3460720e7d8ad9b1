"""Numbers compared: a printed one with ours, and two with their conventions and queries where they are Scores."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from numbers import Real
from typing import Any, Unpack

import numpy as np

from rankadapters.core.data.keywords import Columns
from rankadapters.core.data.queries import Queries, as_queries
from rankadapters.core.declaration.arguments import number, refusal
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.evaluation.score import Score
from rankadapters.core.presets.texts import as_convention
from rankadapters.core.presets.tool import as_text
from rankadapters.parity.causes import judge
from rankadapters.parity.data import bind
from rankadapters.parity.number_causes import number_causes
from rankadapters.parity.ours import OurNumber
from rankadapters.parity.report import ParityReport
from rankadapters.parity.rows import ParityRow, QueryDifferences, Verdict
from rankadapters.statistics.inert import inert as inert_fields
from rankadapters.statistics.printed import Printed, as_printed

SOURCE = "first number"


def check_value(
    labels: object,
    scores: object,
    convention: Convention | str,
    *,
    value: float | str | Decimal,
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
    >>> check_value(labels, scores, presets.yahoo(2), value="0.6377", group_sizes=sizes).ok
    True
    >>> report = check_value(labels, scores, presets.yahoo(2), value="0.6900", group_sizes=sizes)
    >>> print(report.rows[0].reason)
    Looking for the cause: it is the value under gain='linear' in place of gain='exp2'; it is ...
    """
    convention = as_convention(convention)
    queries = as_queries(labels, **columns)
    theirs, printed = _read(value)
    allowed = printed if tolerance is None else number("tolerance", tolerance, least=0, hint="tolerance=1e-9")
    ours = OurNumber.of(queries, bind(queries, scores, convention), convention)
    return ParityReport((judge(ours, theirs, source, version, tolerance=allowed),))


def _read(value: object) -> tuple[float, Printed | None]:
    """Read a number that was printed, or one in full precision, which may be NaN."""
    if isinstance(value, str | Decimal | np.float32 | np.float16):
        printed = as_printed(value)
        return float(printed.value), printed
    return _number("value", value), None


def _number(name: str, value: Any) -> float:
    """Read a Score or a number, which may be an array or a tensor without dimensions."""
    plain = value.value if isinstance(value, Score) else value.item() if getattr(value, "ndim", None) == 0 else value
    try:
        if isinstance(plain, Real) and not isinstance(plain, bool):
            return float(plain)
    except OverflowError:  # a whole number beyond float64
        pass
    raise refusal(name, value, "Scores and numbers", "the digits as they were printed, such as '0.6791'")


def compare_numbers(
    a: object,
    b: object,
    *,
    tolerance: float = 0,
    convention: Convention | None = None,
    queries: Queries | None = None,
    scores: object = None,
) -> ParityReport:
    """Compare two numbers, Scores or floats, for the pytest plugin; `b` is ours in the report.

    Two Scores are the same only under one convention over the same queries. If the conventions differ, the reason names
    the fields, unless `queries` and `scores` show that nothing depends on them. With the data, a difference is searched
    for its cause and divided by query.

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
    first, second = _number("a", a), _number("b", b)
    if queries is not None and not isinstance(queries, Queries):
        raise refusal("queries", queries, "Queries", "queries=ra.Queries(labels, qid=qid)")
    allowed = number("tolerance", tolerance, least=0, hint="tolerance=1e-9")
    of_ours = b.convention if isinstance(b, Score) else a.convention if isinstance(a, Score) else convention
    row = ParityRow.compare(SOURCE, "", of_ours, value=first, our_value=second, tolerance=allowed)
    if isinstance(a, Score) and isinstance(b, Score):
        row = _of_scores(a, b, row, queries, scores)
    elif row.verdict != "equal" and of_ours is not None and queries is not None:
        row = _explained(row, OurNumber.of(queries, queries.check_scores(scores), of_ours))
    elif row.verdict != "equal":
        why = "; ".join(f"it is {text}" for text in number_causes(first, second, allowed))
        row = replace(row, reason=f"Looking for the cause: {why}." if why else "")
    return ParityReport((row,))


def _of_scores(a: Score, b: Score, row: ParityRow, queries: Queries | None, scores: object) -> ParityRow:
    if a.convention != b.convention:
        return _of_conventions(a, b, row, queries, scores)
    if (a.n_queries, a.digest) != (b.n_queries, b.digest):
        return _stated(row, f"They are of other queries: {_counts(a)} against {_counts(b)}.")
    if row.verdict == "equal" or queries is None:
        return row
    return _explained(row, OurNumber.of(queries, queries.check_scores(scores), b.convention))


def _of_conventions(a: Score, b: Score, row: ParityRow, queries: Queries | None, scores: object) -> ParityRow:
    pairs = a.convention.diff(b.convention)
    theirs, ours = (", ".join(f"{name}={as_text(pair[side])}" for name, pair in pairs.items()) for side in (0, 1))
    reason = f"The conventions differ in {theirs} against {ours}."
    if queries is None:
        return _stated(row, reason)
    inert = inert_fields(queries, scores, a.convention, b.convention)
    if set(inert) == set(pairs):
        same: Verdict = "equal-on-this-data" if row.verdict == "equal" else "different"
        return replace(row, verdict=same, reason=f"{reason} On this data that makes no difference.")
    aside = f" Of no consequence here: {', '.join(inert)}." if inert else ""
    array = queries.check_scores(scores)
    first, second = (OurNumber.of(queries, array, score.convention, leaving=True) for score in (a, b))
    return _stated(row, reason + aside, first.gap(second))


def _stated(row: ParityRow, reason: str, per_query: QueryDifferences | None = None) -> ParityRow:
    verdict: Verdict = "not-comparable"
    return replace(row, verdict=verdict, difference=None, tolerance=None, reason=reason, per_query=per_query)


def _explained(row: ParityRow, ours: OurNumber) -> ParityRow:
    """Search for the cause, where the data behind the number is at hand and gives our number indeed."""
    judged = judge(ours, float(row.value or 0.0), row.source, "", tolerance=row.tolerance)
    if judged.our_value == row.our_value:
        return judged
    reason = f"The data given makes {judged.our_value!r}, which is not the second number.\n{judged.reason}"
    return replace(row, reason=reason, per_query=judged.per_query)


def _counts(score: Score) -> str:
    return f"{score.n_queries} queries, {score.n_empty} of them empty and {score.n_short} short"
