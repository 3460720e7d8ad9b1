"""What a source's number can be trusted to: how far two values of one meaning may lie apart."""

from __future__ import annotations

from rankadapters.core.errors import InputError
from rankadapters.core.fields import is_whole

# `relative` scales the first and the last.
FULL_DOUBLE = 1e-9  # float64 all the way: sums in another order differ by far less, another convention by far more
SIX_DECIMALS = 1e-6  # printed with six decimals: half a unit of the last one, and as much again for ours; absolute
FLOAT32 = 8 * 2.0**-23  # computed in float32, where each of a few operations rounds by 2^-24

MOST_DECIMALS = 17  # which tell any two doubles in [0, 1] apart


def relative(precision: float, value: float) -> float:
    """Tolerance around a value: the precision times its size, and no less than the precision itself.

    >>> [f"{relative(FULL_DOUBLE, value):g}" for value in (0.5, 1000.0)]
    ['1e-09', '1e-06']
    """
    return precision * max(1.0, abs(value))


def printed(decimals: int) -> float:
    """Tolerance of a number that was printed with some decimals: one unit of the last, as in `SIX_DECIMALS`.

    >>> printed(4), printed(6) == SIX_DECIMALS
    (0.0001, True)
    """
    if not is_whole(decimals) or not 0 <= decimals <= MOST_DECIMALS:
        msg = f"decimals={decimals!r}; allowed are whole numbers from 0 to {MOST_DECIMALS}."
        raise InputError(msg)
    return max(10.0 ** -int(decimals), FULL_DOUBLE)


def decimals_of(text: str) -> int:
    """Count the decimals of a number as it was printed.

    >>> decimals_of("0.6791"), decimals_of("1"), decimals_of("6.791e-1")
    (4, 0, 4)
    """
    mantissa, _, exponent = text.strip().lower().partition("e")
    try:
        float(text)
        return max(0, len(mantissa.partition(".")[2]) - int(exponent or 0))
    except ValueError:
        msg = f"value={text!r:.60} is no number.\nHint: the digits as they were printed, such as '0.6791'."
        raise InputError(msg) from None
