"""A printed number: its decimals, and which values round to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.classes import frozen_class
from rankadapters.core.errors import InputError, brief

# The order of float64 sums changes later decimals, so only this many are compared.
TRUSTED = 12

MOST_DECIMALS = 1100  # the smallest float64 has 1074 decimals

# Relative error of a float64 difference; values this close to the edge of rounding are compared as Decimal.
EDGE = 1e-15

# A stricter pattern than Decimal or float, which also accept "0.5_0" and digits of other scripts.
DIGITS = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


@frozen_class
@dataclass(frozen=True, slots=True)
class Printed:
    """A printed number, and with how many decimals it was printed."""

    value: Decimal
    decimals: int
    rounding: Decimal = Decimal(0)  # largest error of an earlier binary rounding, such as one float32 step

    @property
    def half(self) -> Decimal:
        """Largest difference that rounding explains: half a unit of the last compared decimal; `rounding` if larger."""
        return max(Decimal(5).scaleb(-min(self.decimals, TRUSTED) - 1), self.rounding)

    def holds(self, value: float) -> bool:
        """Return whether a value rounds to the printed number; an exact half rounds to both neighbors.

        >>> printed = as_printed("0.1623")
        >>> printed.holds(0.162277), printed.holds(0.16235001)
        (True, False)
        """
        return abs(Decimal(value) - self.value) <= self.half

    def hold(self, values: Any) -> NDArray[np.bool_]:
        """Return a mask of the values that round to the printed number; NaN does not.

        >>> as_printed("0.12").hold([0.125, 0.1251, float("nan")]).tolist()
        [True, False, False]
        """
        values = np.asarray(values, np.float64)
        excess = np.abs(values - float(self.value)) - float(self.half)
        matches: NDArray[np.bool_] = excess <= 0
        near = np.abs(excess) <= EDGE * (1 + abs(float(self.value)))
        matches[near] = [self.holds(value) for value in values[near].tolist()]
        return matches

    def __str__(self) -> str:
        """Return the number with all its printed decimals."""
        return f"{self.value:.{self.decimals}f}"


def as_printed(value: object) -> Printed:
    """Read a number and count its decimals; text keeps trailing zeros, a float has lost them.

    >>> as_printed("0.1620").decimals, as_printed(0.162).decimals, as_printed("6.79e-1").decimals
    (4, 3, 3)
    """
    number, step = _as_decimal(value), 0.0
    if isinstance(value, np.float32 | np.float16):
        # Rounding to float32 adds up to half a float32 step of error, and printing the shortest text another half.
        step = float(np.spacing(value))
    return Printed(number, max(0, -int(number.as_tuple().exponent)), Decimal(step))


def _as_decimal(value: object) -> Decimal:
    try:
        text = str(value).strip()  # str() of a float32 has the digits that numpy prints
        number = Decimal(text) if DIGITS.fullmatch(text) and not isinstance(value, bool) else None
    except (InvalidOperation, ValueError):  # an exponent of 19 digits, or an int of over 4300 digits
        number = Decimal("Infinity")
    if number is None:
        hint = "pass the printed number, such as '0.1623'; for a percentage such as 62.3%, pass 0.623"
        raise InputError(f"value={brief(value)} is not a number.", hint=hint)
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or max(-exponent, number.adjusted()) > MOST_DECIMALS:
        message = f"value={brief(value)} has over {MOST_DECIMALS} digits before or after the point, as no float64 has."
        raise InputError(message, hint="pass the number as it was printed, such as '0.1623'")
    return number
