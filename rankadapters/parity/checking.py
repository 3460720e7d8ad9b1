"""A printed number compared with ours."""

from __future__ import annotations

from decimal import Decimal
from typing import Unpack

import numpy as np

from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.keywords import Columns
from rankadapters.core.printed import Printed, as_printed
from rankadapters.core.queries import as_queries
from rankadapters.core.texts import as_convention
from rankadapters.parity.comparing import compare_value
from rankadapters.parity.data import bind
from rankadapters.parity.ours import Ours
from rankadapters.parity.report import ParityReport


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
    ours = Ours(queries, bind(queries, scores, convention), convention)
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
