"""Each installed toolkit's own number for the same scores, compared with ours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError, RankAdaptersError
from rankadapters.core.fields import is_whole
from rankadapters.core.keywords import Columns
from rankadapters.core.queries import as_queries
from rankadapters.core.texts import as_convention
from rankadapters.crosscheck.toolkits import TOOLKITS, Availability, named
from rankadapters.parity import ParityReport, ParityRow
from rankadapters.parity.ours import Ours
from rankadapters.progress import shows

INSTALLED = "installed"


@shows("asking the toolkits")
def check(
    labels: object,
    scores: object,
    convention: Convention | str,
    *,
    toolkits: str | Iterable[str] = INSTALLED,
    require: int = 1,
    **columns: Unpack[Columns],
) -> ParityReport:
    """Ask every installed toolkit for its own number for these scores, and compare it with ours.

    For each toolkit, one of three things is found. It can express the convention, and must agree. Or nothing in this
    data depends on the fields that it cannot express: then it must agree as well (`equal-on-this-data`). Or something
    does: then it is `not-comparable`, with these fields and the nearest convention that it can express, under which it
    must agree.

    Parameters
    ----------
    labels, scores, convention
        As in `ra.evaluate`.
    toolkits : 'installed' or iterable of str
        Some of `TOOLKITS`. One that is named but not installed is a row that says so.
    require : int
        How many toolkits must be compared under the declared convention for the report to be `ok`.
    qid, group_sizes, query_weight, docid
        As in `Queries`.

    Returns
    -------
    ParityReport
        The rows of every toolkit's `check_parity`. A toolkit that refuses the data is a row with its reason.

    Raises
    ------
    InputError
        The data has no value under the convention, or a toolkit is unknown.

    Examples
    --------
    >>> import rankadapters as ra
    >>> scores = [0.9, 0.4, 0.1, 0.3]
    >>> report = check([2, 0, 1, 0], scores, ra.presets.yahoo(2), qid=[1, 1, 2, 2], toolkits=["lightgbm", "xgboost"])
    >>> report.ok, [row.verdict for row in report.rows]
    (True, ['equal', 'equal-on-this-data', 'equal', 'equal-on-this-data'])
    """
    convention = as_convention(convention)
    queries = as_queries(labels, **columns)
    ours = Ours.of(queries, queries.check_scores(scores), convention).value
    found = _found(toolkits)
    if not is_whole(require) or not 1 <= int(require) <= len(TOOLKITS):
        msg = f"require={require!r}; allowed are whole numbers from 1 to {len(TOOLKITS)}: all toolkits there are."
        raise InputError(msg)
    rows: list[ParityRow] = []
    compared = []
    for name, usable in found.items():
        part: tuple[ParityRow, ...] = ()
        reason = usable.note
        try:
            if usable.version is not None:
                part = TOOLKITS[name].load(name).check_parity(queries, scores, convention).rows
        except RankAdaptersError as error:
            reason = str(error)
        own = ParityRow.not_comparable(name, usable.version or "", convention, our_value=ours, reason=reason)
        rows += part or (own,)
        if any(row.convention == convention and row.verdict != "not-comparable" for row in part):
            compared.append(name)
    return ParityReport(tuple(rows), "" if len(compared) >= require else _unmet(compared, list(found), require))


def _found(toolkits: Any) -> dict[str, Availability]:
    """Which toolkits are asked; what only the training of their models needs does not matter here."""
    if toolkits == INSTALLED:
        there = {name: trainer.probe(1) for name, trainer in TOOLKITS.items()}
        return {name: usable for name, usable in there.items() if usable.version}
    if isinstance(toolkits, str) or not isinstance(toolkits, Iterable):
        msg = f"toolkits={toolkits!r:.60}; allowed are 'installed' and lists of names.\nHint: toolkits=['lightgbm']."
        raise InputError(msg)
    return {name: named(name).probe(1) for name in toolkits}


def _unmet(compared: list[str], asked: list[str], require: int) -> str:
    have = ", ".join(compared) or "none"
    among = ", ".join(asked) or "no toolkit is installed"
    hint = "" if asked else '; pip install "rankadapters[all]"'
    several = "toolkit" if require == 1 else "toolkits"
    return f"{require} {several} must be compared under the declared convention, {have} could be (of: {among}){hint}"
