"""What became of our number after it was computed: rounded, in float32, a percentage, its complement."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Context, Decimal

import numpy as np

from rankadapters.parity.tolerances import FULL_DOUBLE, Tolerance, agree
from rankadapters.statistics.printed import Printed

LAST_BITS = 1e-12  # of sums in another order, relative to numbers above 1
SAME = 1e-14  # of one decimal number read by two programs
MOST_DECIMALS = 12
EXACT = Context(prec=400)  # of every float64
DIGITS = 20  # steps of the last decimal that a number must be worth for its rounding to say something


def number_causes(value: float, ours: float, tolerance: Tolerance) -> Iterator[str]:
    """Say which number it is that is made of ours alone.

    >>> list(number_causes(0.6309, 0.630929753571, 1e-9))
    ['ours rounded to 4 decimals: a tolerance of 5e-05 takes it']
    >>> list(number_causes(63.0929753571, 0.630929753571, 1e-9)), list(number_causes(0.37, 0.63, 1e-9))
    (['ours as a percentage'], ['1 - ours'])
    """
    if not (math.isfinite(value) and math.isfinite(ours)):
        return
    if in_last_bits(value, ours):
        yield f"ours but for the last bits, as sums in another order are: a tolerance of {FULL_DOUBLE:g} takes it"
        return
    if written := _written(value, ours, tolerance):
        how, reach = written
        yield f"ours {how}: a tolerance of {reach:.0e} takes it"
    others = {"ours as a percentage": 100 * ours, "ours with the other sign": -ours}
    if ours not in {0, 1}:
        others["1 - ours"] = 1 - ours
    for text, number in others.items():
        if agree([number], value, tolerance).all():
            yield text
        elif written := _written(value, number, tolerance):
            yield f"{text}, {written[0]}"


def in_last_bits(value: float, ours: float) -> bool:
    """Whether two numbers differ no more than sums in another order do."""
    return abs(value - ours) <= LAST_BITS * max(1.0, abs(ours))


def _written(value: float, number: float, tolerance: Tolerance) -> tuple[str, float] | None:
    """Tell how a number was written to give a value that is another one, and how far that may take it."""
    # The zeros at the end of a text are digits: a random one ends in them as often as any.
    tried = [tolerance.decimals] if isinstance(tolerance, Printed) else range(MOST_DECIMALS, 0, -1)
    for how, mode in (("rounded", ROUND_HALF_EVEN), ("truncated", ROUND_DOWN)):
        for decimals in tried:
            step = 10.0**-decimals
            decimal = Decimal(number).quantize(Decimal(1).scaleb(-decimals), mode, EXACT)
            if step * DIGITS <= abs(number) and math.isclose(float(decimal), value, rel_tol=SAME):
                return f"{how} to {decimals} decimals", step / 2 if how == "rounded" else step
    with np.errstate(over="ignore"):
        single = np.float32(number)
    return ("in float32", float(np.spacing(single))) if float(single) == value else None
