"""A number as it was printed: how many decimals it has, and which values round to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.errors import InputError

# Beyond this float64 sums in another order differ: more decimals are compared as these many.
TRUSTED = 12

# Distances of float64 numbers are exact up to this part of their size; closer to the edge Decimal decides.
EDGE = 1e-15

# Decimal and float also read "0.5_0" and the digits of every script.
DIGITS = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Printed:
    """A number that was printed.

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

        >>> printed = as_printed("0.1623")
        >>> printed.holds(0.162277), printed.holds(0.16235001)
        (True, False)
        """
        return abs(Decimal(value) - self.value) <= self.half

    def hold(self, values: Any) -> NDArray[np.bool_]:
        """Tell which of several values round to the printed number; a NaN does not.

        >>> as_printed("0.12").hold([0.125, 0.1251, float("nan")]).tolist()
        [True, False, False]
        """
        values = np.asarray(values, np.float64)
        beyond = np.abs(values - float(self.value)) - float(self.half)
        found: NDArray[np.bool_] = beyond <= 0
        near = np.abs(beyond) <= EDGE * (1 + abs(float(self.value)))
        found[near] = [self.holds(value) for value in values[near].tolist()]
        return found

    def truncates(self, value: float) -> bool:
        """Tell whether a value is the printed number when its further decimals are cut off."""
        return 0 <= Decimal(value) - self.value < 2 * self.half

    def __str__(self) -> str:
        """Write the number with all its decimals."""
        return f"{self.value:.{self.decimals}f}"

    def same(self, value: float) -> str:
        """Write another value to as many decimals."""
        return f"{value:.{self.decimals}f}"


def as_printed(value: object) -> Printed:
    """Read a number with the decimals that it is written with.

    Parameters
    ----------
    value : str, float or Decimal
        Text keeps the zeros at its end, which a float has lost.

    Raises
    ------
    InputError
        It is not a finite number.

    Examples
    --------
    >>> as_printed("0.1620").decimals, as_printed(0.162).decimals, as_printed("6.79e-1").decimals
    (4, 3, 3)
    """
    number = _as_decimal(value)
    return Printed(number, max(0, -int(number.as_tuple().exponent)), _step_of(value))


def _step_of(value: object) -> Decimal:
    # Rounding to float32 and writing its shortest text may each move it by half a step.
    narrow = isinstance(value, np.float32 | np.float16)
    return Decimal(float(np.spacing(value))) if narrow else Decimal(0)  # type: ignore[call-overload]


def _as_decimal(value: object) -> Decimal:
    text = str(value).strip()  # a float32 has the digits that it is printed with
    if isinstance(value, bool) or not DIGITS.fullmatch(text):
        hint = "what was printed, such as '0.1623'; a percentage as 0.623 for 62.3%"
        raise InputError(f"value={value!r:.80} is not a number.\nHint: {hint}.")
    return Decimal(text)
