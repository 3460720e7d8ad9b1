"""How signatures write numbers, words with a number, and tables of gains."""

from __future__ import annotations

import math
import operator
from numbers import Real

from rankadapters.core.errors import ConventionError

_MOST_DIGITS = 100  # longest number to read; Python may be set to refuse more than 640 digits


def as_whole(text: str) -> int | None:
    """Return the whole number of a text of digits 0 to 9; None for other texts, and for very long ones.

    >>> as_whole("10"), as_whole("-1"), as_whole("\u0663"), as_whole("1" * 5000)
    (10, None, None, None)
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


def as_float(value: object) -> float:
    """Return a number as a float; NaN for other values, and for numbers that are too large for a float."""
    try:  # bools become NaN, since a user who writes empty=True hardly means 1
        return float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        return math.nan


def number(value: float) -> str:
    """Return a number in its shortest exact form: `1`, not `1.0`.

    >>> number(1.0), number(0.5), number(1e22), number(1e-5)
    ('1', '0.5', '1e22', '1e-05')
    """
    return repr(float(value) + 0.0).removesuffix(".0").replace("+", "")  # + 0.0 turns -0.0 into 0.0


def as_number(text: str) -> float | None:
    """Return the finite number of a text; None for other texts, including `1_000` and texts with outer spaces."""
    try:
        value = float(text) if text.isascii() and "_" not in text and text == text.strip() else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def border(text: str) -> tuple[str, float] | None:
    """Split a text such as `above_0.5` into its word and its number; None if it has no number.

    >>> border("above_0.5"), border("label")
    (('above', 0.5), None)
    """
    word, _, parameter = text.rpartition("_")
    value = as_number(parameter) if word else None
    return None if value is None else (word, value)


def table(gain: str) -> tuple[float, ...] | None:
    """Return the gains of a table, for labels 0, 1, ...; None if the gain is a formula.

    >>> table("table_0_1_3"), table("exp2")
    ((0.0, 1.0, 3.0), None)
    """
    if not gain.startswith("table_"):
        return None
    numbers = [as_number(text) for text in gain.split("_")[1:]]
    gains = tuple(value for value in numbers if value is not None)
    if len(gains) < max(len(numbers), 1):
        raise ConventionError(
            f"gain={gain!r} is not a table of numbers.", hint="write one gain per label from 0 on, like 'table_0_1_3'"
        )
    if any(map(operator.gt, gains, gains[1:])):
        raise ConventionError(
            f"gain={gain!r} decreases, so the ideal order by label would not be the ideal order by gain.",
            hint="give gains that never decrease with the label",
        )
    return gains
