"""Public functions that compare our number with toolkits' numbers or a printed number, or any two numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from numbers import Real
from typing import Any, Unpack

import numpy as np

from rankadapters.core.data.columns import Columns
from rankadapters.core.data.queries import as_queries, describes_columns
from rankadapters.core.declaration.arguments import number, refusal, text, whole
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError, RankAdaptersError
from rankadapters.evaluation.score import Score
from rankadapters.parity.causes import judge, number_causes
from rankadapters.parity.data import bind
from rankadapters.parity.installed import TOOLKITS, load, own_convention, usable
from rankadapters.parity.report import ParityReport, ParityRow, report_of_toolkits
from rankadapters.presets.texts import as_convention
from rankadapters.progress import shows
from rankadapters.statistics.inert import inert
from rankadapters.statistics.printed import as_printed
from rankadapters.statistics.rivals import OurNumber

SOURCE = "first number"


@describes_columns
@shows("asking the toolkits")
def crosscheck(
    labels: object,
    scores: object,
    convention: Convention | str | None = None,
    *,
    measure: str | None = None,
    k: int = 10,
    toolkits: str | Iterable[str] | None = None,
    require: int = 1,
    **columns: Unpack[Columns],
) -> ParityReport:
    """Ask every installed toolkit for its own number for these scores, and compare it with ours.

    Each toolkit has one of three outcomes. It can express the convention, and must agree. Or nothing in this data
    depends on the fields that it cannot express: then it must agree as well (`equal-on-this-data`). Or something does:
    then it is `not-comparable`, with these fields and the nearest convention that it can express, under which it must
    agree.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels.
    scores : array-like, shape (n_docs,)
        Predicted scores, higher is better.
    convention : Convention or str, optional
        The convention under which every toolkit is compared. Without it, name a measure.
    measure : str, optional
        A measure by our name or a toolkit's, such as `ap` or `map`. Each toolkit is asked for its own version at k and
        compared under its own preset. A toolkit that does not compute it has a row that says so.
    k : int
        Cutoff of `measure`, where it has one.
    toolkits : str or iterable of str, optional
        The toolkits to ask; all that are installed by default. A named toolkit that is not installed has a row that
        says so.
    require : int
        How many toolkits must be compared under the declared convention for the report to be `ok`.
    qid, group_sizes, query_weight, docid
        As in `Queries`.

    Returns
    -------
    ParityReport
        The rows of every toolkit's `check_parity`. A toolkit that refuses the data has a row with its reason.

    Raises
    ------
    InputError
        The data has no value under the convention, or a toolkit or the measure is unknown.
    ConventionError
        Both a convention and a measure are given, or neither, or `convention` is not a convention.

    Examples
    --------
    >>> import rankadapters as ra
    >>> labels, scores, qid = [2, 0, 1, 0], [0.9, 0.4, 0.1, 0.3], [1, 1, 2, 2]
    >>> report = crosscheck(labels, scores, ra.presets.yahoo(2), qid=qid, toolkits=["lightgbm", "xgboost"])
    >>> report.ok, [row.verdict for row in report.rows]
    (True, ['equal', 'equal-on-this-data', 'equal', 'equal-on-this-data'])
    >>> report = crosscheck([1, 0, 1, 0], scores, measure="map", qid=qid, toolkits=["lightgbm", "xgboost"])
    >>> [(row.source, row.verdict) for row in report.rows]
    [('lightgbm map@10', 'equal'), ('xgboost map@10', 'equal')]
    """
    expected = _conventions_of(convention, measure, whole("k", k))
    require = whole("require", require, most=len(TOOLKITS))
    queries = as_queries(labels, **columns)
    array = queries.check_scores(scores)
    our_value = None if convention is None else OurNumber.of(queries, array, as_convention(convention)).value
    available = usable(toolkits, 1)  # packages that only training needs may be missing
    requested = {name: state for name, state in available.items() if state.version or toolkits is not None}
    by_toolkit = dict[str, tuple[ParityRow, ...]]()
    for name, (version, note) in requested.items():
        declared, reason = expected[name], note or f"{name} does not compute {measure}."
        new_rows = tuple[ParityRow, ...]()
        try:
            if version is not None and declared is not None:
                new_rows = load(name).check_parity(queries, array, declared).rows
        except RankAdaptersError as error:
            reason = str(error)
        if not new_rows:
            new_rows = (ParityRow.not_comparable(name, version or "", declared, our_value=our_value, reason=reason),)
        by_toolkit[name] = new_rows
    return report_of_toolkits(by_toolkit, expected, require)


def _conventions_of(convention: Convention | str | None, measure: str | None, k: int) -> dict[str, Convention | None]:
    if convention is not None and measure is None:
        return dict.fromkeys(TOOLKITS, as_convention(convention))
    if convention is None and measure is not None:
        return {name: own_convention(name, measure, k) for name in TOOLKITS}
    arguments = "a convention and a measure were" if measure is not None else "neither a convention nor a measure was"
    raise ConventionError(f"{arguments} given.", hint="a convention, or measure='map' for each toolkit's own")


@describes_columns
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
    """Compare a number from a paper, a log or another program with ours.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels.
    scores : array-like, shape (n_docs,)
        Predicted scores, higher is better.
    convention : Convention or str
        The convention of the number.
    value : float, str or Decimal
        The number. If it is text, such as `"0.6791"`, or a Decimal, ours must round to it, in at most 12 decimals; a
        float must agree to 1e-9.
    source, version : str
        Where the number is from.
    tolerance : float, optional
        Largest difference that counts as equal, instead of these defaults.
    qid, group_sizes, query_weight, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    ParityReport
        One row. If the number differs, its reason names what would give it: our value rounded or in float32, a field of
        the convention, columns in a different order, rows left out or repeated, a different formula or mean, or a
        query left out. If none of these does, the reason names what cannot be excluded, such as a different order of
        tied rows.

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
    source, version = text("source", source), text("version", version)
    printed = as_printed(value) if isinstance(value, str | Decimal | np.float32 | np.float16) else None
    source_value = float(printed.value) if printed else _read_number("value", value)
    allowed = printed if tolerance is None else number("tolerance", tolerance, least=0, hint="tolerance=1e-9")
    our_number = OurNumber.of(queries, bind(queries, scores, convention), convention)
    return ParityReport((judge(our_number, source_value, source, version, tolerance=allowed),))


def _read_number(name: str, value: Any) -> float:
    """Convert a Score, a number, or an array or tensor without dimensions to a float."""
    plain = value.value if isinstance(value, Score) else value.item() if getattr(value, "ndim", None) == 0 else value
    try:
        if isinstance(plain, Real) and not isinstance(plain, bool):
            return float(plain)
    except OverflowError:  # an int too large for float64
        pass
    raise refusal(name, value, "Scores and numbers", "the digits as they were printed, such as '0.6791'")


def compare_numbers(
    a: object,
    b: object,
    *,
    tolerance: float = 0,
    convention: Convention | None = None,
    labels: object = None,
    scores: object = None,
    **columns: Unpack[Columns],
) -> ParityReport:
    """Compare two numbers, Scores or floats, for the pytest plugin; the report calls `b` our number.

    Two Scores need the same convention and queries, or data on which their conventions cannot differ. With data, the
    report names the cause of a difference, as `check_value` does.
    """
    if (labels is None) != (scores is None) or (labels is None and columns):
        message = "labels= and scores= go together, and the keywords of Queries with them."
        raise InputError(message, hint="labels=labels, scores=scores, qid=qid")
    value, our_value = _read_number("a", a), _read_number("b", b)
    allowed = number("tolerance", tolerance, least=0, hint="tolerance=1e-9")
    queries, fields = None if labels is None else as_queries(labels, **columns), tuple[str, ...]()
    if isinstance(a, Score) and isinstance(b, Score):
        if queries is not None and inert(queries, scores, a.convention, b.convention).same:
            fields = tuple(a.convention.diff(b.convention))
        if not fields:
            a - b  # raises an error that says what differs
    declared = next((score.convention for score in (b, a) if isinstance(score, Score)), convention)
    numbers: dict[str, Any] = {"value": value, "our_value": our_value, "tolerance": allowed}
    row = ParityRow.compare(SOURCE, "", declared, **numbers, inert=fields)
    if row.verdict != "different":
        return ParityReport((row,))
    if declared is None or queries is None:
        causes = "; ".join(f"it is {text}" for text in number_causes(value, our_value, allowed))
        return ParityReport((replace(row, reason=f"Looking for the cause: {causes}." if causes else ""),))
    report = check_value(queries, scores, declared, value=value, source=SOURCE, tolerance=tolerance)
    explained = report.rows[0]
    if explained.our_value == our_value:
        return report
    reason = f"The data given makes {explained.our_value!r}, which is not the second number.\n{explained.reason}"
    return ParityReport((replace(row, reason=reason, per_query=explained.per_query),))
