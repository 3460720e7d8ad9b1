"""A number as it was printed: how many decimals it has, and which values print as it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import numpy as np

from rankadapters.core.errors import InputError
from rankadapters.core.fields import is_whole

# Beyond this float64 sums in another order differ: more decimals are compared as these many.
TRUSTED = 12


@dataclass(frozen=True, slots=True)
class Printed:
    """A published number.

    Attributes
    ----------
    value : Decimal
        What was printed.
    decimals : int
        To how many decimals.
    rounding : Decimal
        How far the number may lie from what it was rounded from in binary: a step of float32, say.
    """

    value: Decimal
    decimals: int
    rounding: Decimal = Decimal(0)

    @property
    def half(self) -> Decimal:
        """Half a unit of the last decimal that can be trusted, or of the binary number that was given."""
        return max(Decimal(5).scaleb(-min(self.decimals, TRUSTED) - 1), self.rounding)

    def holds(self, value: float) -> bool:
        """Tell whether a value rounds to the printed number; one that lies exactly between two rounds to both.

        >>> printed = read("0.1623", None)
        >>> printed.holds(0.162277), printed.holds(0.16235001)
        (True, False)
        """
        return abs(Decimal(value) - self.value) <= self.half

    def truncates(self, value: float) -> bool:
        """Tell whether a value is the printed number when its further decimals are cut off."""
        return 0 <= Decimal(value) - self.value < 2 * self.half

    def __str__(self) -> str:
        """Write the number with all its decimals."""
        return f"{self.value:.{self.decimals}f}"

    def same(self, value: float) -> str:
        """Write another value to as many decimals."""
        return f"{value:.{self.decimals}f}"


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
        No number, outside [0, 1], without decimals, or with others than `decimals` says.

    Examples
    --------
    >>> read("0.1620", None).decimals, read(0.162, None).decimals, read(0.162, 4).decimals
    (4, 3, 4)
    """
    number = _as_decimal(value)
    if not negative and not 0 <= number <= 1:
        msg = (
            f"value={value} is outside [0, 1], where every NDCG lies.\n"
            "Hint: a percentage by 100; a DCG is not searched for."
        )
        raise InputError(msg)
    written = max(0, -int(number.as_tuple().exponent))
    if decimals is None:
        decimals = written
    if not is_whole(decimals) or not 1 <= int(decimals) <= 17:  # type: ignore[call-overload]  # noqa: PLR2004 - a float64
        msg = (
            f"value={value} to decimals={decimals!r}: allowed are 1 to 17.\n"
            "Hint: decimals=4, or the number as text with all its digits, '0.5000'."
        )
        raise InputError(msg)
    if written > int(decimals) or (isinstance(value, str) and written != int(decimals)):  # type: ignore[call-overload]
        msg = f"value={value} has {written} decimals, but decimals={decimals}.\nHint: leave decimals out."
        raise InputError(msg)
    # Rounding to float32 and writing its shortest text may each move it by half a step.
    narrow = isinstance(value, np.float32 | np.float16)
    rounding = Decimal(float(np.spacing(value))) if narrow else Decimal(0)  # type: ignore[call-overload]
    return Printed(number, int(decimals), rounding)  # type: ignore[call-overload]


def _as_decimal(value: object) -> Decimal:
    try:
        # By its text: a float32 has the digits that it is printed with.
        number = Decimal(value.strip() if isinstance(value, str) else str(value))
    except InvalidOperation:
        number = Decimal("NaN")
    if isinstance(value, bool) or not number.is_finite():
        msg = f"value={value!r:.80} is no number.\nHint: what was printed, such as '0.1623'."
        raise InputError(msg)
    return number
