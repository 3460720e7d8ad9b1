"""The number that is searched for, as it was printed."""

from __future__ import annotations

from dataclasses import replace

from rankadapters.core.declaration.number_fields import is_whole
from rankadapters.core.errors import InputError
from rankadapters.statistics.printed import Printed, as_printed

__all__ = ["Printed", "read"]


def read(value: object, decimals: object, *, negative: bool = False) -> Printed:
    """Read a number; its decimals are those it is written with, unless they are given.

    Parameters
    ----------
    value : str, float or Decimal
        In [0, 1]. Text keeps the zeros at its end, which a float has lost.
    decimals : int, optional
        To how many decimals it was printed.
    negative : bool
        Whether labels are below 0, so that a value outside [0, 1] is possible.

    Raises
    ------
    InputError
        Not a number, outside [0, 1], without decimals, or with others than `decimals` says.

    Examples
    --------
    >>> read("0.1620", None).decimals, read(0.162, None).decimals, read(0.162, 4).decimals
    (4, 3, 4)
    """
    printed = as_printed(value)
    if not negative and not 0 <= printed.value <= 1:
        msg = (
            f"value={value} is outside [0, 1], where every value of this measure lies.\n"
            "Hint: divide a percentage by 100; for a DCG, measure='dcg'."
        )
        raise InputError(msg)
    written = printed.decimals
    if decimals is None:
        decimals = written
    if not is_whole(decimals) or not 1 <= int(decimals) <= 17:  # noqa: PLR2004 - a float64
        msg = (
            f"value={value} to decimals={decimals!r}: allowed are 1 to 17.\n"
            "Hint: decimals=4, or the number as text with all its digits, '0.5000'."
        )
        raise InputError(msg)
    if written > int(decimals) or (isinstance(value, str) and written != int(decimals)):
        msg = f"value={value} has {written} decimals, but decimals={decimals}.\nHint: leave decimals out."
        raise InputError(msg)
    return replace(printed, decimals=int(decimals))
