"""Each installed toolkit's own number of given scores beside ours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

from rankadapters.core.data.keywords import Columns
from rankadapters.core.data.queries import as_queries
from rankadapters.core.declaration.arguments import whole
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, RankAdaptersError
from rankadapters.core.presets.texts import as_convention
from rankadapters.parity.ours import OurNumber
from rankadapters.parity.report import ParityReport
from rankadapters.parity.rows import ParityRow
from rankadapters.parity.trainers import TOOLKITS, own_convention, usable
from rankadapters.progress import shows


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
    labels, scores
        As in `ra.evaluate`.
    convention : Convention or str, optional
        What every toolkit is compared under. Without it, name a measure.
    measure : str, optional
        A measure by our name or one of theirs, such as `ap` or `map`: each toolkit is asked for its own, at k, and
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
        A convention and a measure are given, or neither, or it is not a convention.

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
    expected = _expected(convention, measure, whole("k", k))
    require = whole("require", require, most=len(TOOLKITS))
    queries = as_queries(labels, **columns)
    array = queries.check_scores(scores)
    ours = None if convention is None else OurNumber.of(queries, array, as_convention(convention)).value
    available = usable(toolkits, 1)  # a package that only the training of its model needs does not matter
    asked = {name: there for name, there in available.items() if there.version or toolkits is not None}
    rows, compared = list[ParityRow](), list[str]()
    for name, (version, note) in asked.items():
        own, reason = expected[name], note or f"{name} does not compute {measure}."
        part = tuple[ParityRow, ...]()
        try:
            if version is not None and own is not None:
                part = TOOLKITS[name].load(name).check_parity(queries, array, own).rows
        except RankAdaptersError as error:
            reason = str(error)
        rows += part or [ParityRow.not_comparable(name, version or "", own, our_value=ours, reason=reason)]
        if any(row.convention == own and row.verdict != "not-comparable" for row in part):
            compared.append(name)
    return ParityReport(tuple(rows), "" if len(compared) >= require else _unmet(compared, list(asked), require))


def _expected(convention: Convention | str | None, measure: str | None, k: int) -> dict[str, Convention | None]:
    """Return what each toolkit is compared under."""
    if convention is not None and measure is None:
        return dict.fromkeys(TOOLKITS, as_convention(convention))
    if convention is None and measure is not None:
        return {name: own_convention(trainer, measure, k) for name, trainer in TOOLKITS.items()}
    what = "a convention and a measure were" if measure is not None else "neither a convention nor a measure was"
    msg = f"{what} given.\nHint: a convention, or measure='map' for each toolkit's own."
    raise ConventionError(msg)


def _unmet(compared: list[str], asked: list[str], require: int) -> str:
    have = ", ".join(compared) or "none"
    among = ", ".join(asked) or "no toolkit is installed"
    hint = "" if asked else '; pip install "rankadapters[all]"'
    what = "1 toolkit" if require == 1 else f"{require} toolkits"
    return f"{what} must be compared under the declared convention, {have} could be (of: {among}){hint}"
