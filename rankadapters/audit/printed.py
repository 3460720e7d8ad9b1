"""Read the printed number that `identify` searches for."""

from __future__ import annotations

from dataclasses import replace

from rankadapters.core.declaration.fields import is_whole
from rankadapters.core.errors import InputError
from rankadapters.statistics.printed import Printed, as_printed

__all__ = ["Printed", "read"]


def refuse_outside(printed: Printed, value: object) -> None:
    """Refuse a number outside [0, 1]."""
    if not 0 <= printed.value <= 1:
        msg = (
            f"value={value} is outside [0, 1], the range of this measure.\n"
            "Hint: divide a percentage by 100; for a DCG, use measure='dcg'."
        )
        raise InputError(msg)


def read(value: object, decimals: object, *, negative: bool = False) -> Printed:
    """Read a number; by default its number of decimals is taken from how it is written.

    Parameters
    ----------
    value : str, float or Decimal
        A value in [0, 1]. Text keeps trailing zeros, which a float loses.
    decimals : int, optional
        The number of decimals to which it was printed.
    negative : bool
        Whether a value outside [0, 1] is possible, as with negative labels.

    Raises
    ------
    InputError
        The value is not a number, is outside [0, 1], has no decimals, or contradicts `decimals`.

    Examples
    --------
    >>> read("0.1620", None).decimals, read(0.162, None).decimals, read(0.162, 4).decimals
    (4, 3, 4)
    """
    printed = as_printed(value)
    if not negative:
        refuse_outside(printed, value)
    written = printed.decimals
    if decimals is None:
        decimals = written
    if not is_whole(decimals) or not 1 <= int(decimals) <= 17:  # noqa: PLR2004 - a float64
        msg = (
            f"decimals={decimals!r}: allowed are 1 to 17, for value={value}.\n"
            "Hint: pass decimals=4, or the number as text with all its digits, such as '0.5000'."
        )
        raise InputError(msg)
    if written > int(decimals) or (isinstance(value, str) and written != int(decimals)):
        msg = f"value={value} has {written} decimals, but decimals={decimals}.\nHint: omit decimals."
        raise InputError(msg)
    return replace(printed, decimals=int(decimals))
