"""What a source's number can be trusted to: how far two values of one meaning may lie apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.statistics.printed import Printed

# `relative` scales both.
FULL_DOUBLE = 1e-9  # float64 all the way: sums in another order differ by far less, another convention by far more
IN_PART_FLOAT32 = 1e-8  # float64 with some terms rounded to float32, as XGBoost has it where labels are probabilities
FLOAT32 = 8 * 2.0**-23  # computed in float32, where each of a few operations rounds by 2^-24

Tolerance = float | Printed


def relative(precision: float, value: float) -> float:
    """Return the tolerance around a value: the precision times its size, and no less than the precision itself.

    >>> [f"{relative(FULL_DOUBLE, value):g}" for value in (0.5, 1000.0)]
    ['1e-09', '1e-06']
    """
    return precision * max(1.0, abs(value))


def agree(values: Any, number: float, tolerance: Tolerance) -> NDArray[np.bool_]:
    """Tell which values are the number: those that round to it where it was printed, else those within reach.

    >>> agree([0.25, 0.26, float("nan")], 0.25, 0.02).tolist(), agree([float("inf")], float("inf"), 0).tolist()
    ([True, True, False], [True])
    """
    if isinstance(tolerance, Printed):
        return tolerance.hold(values)
    numbers = np.asarray(values, np.float64)
    with np.errstate(invalid="ignore"):  # inf - inf
        within: NDArray[np.bool_] = (np.abs(numbers - number) <= tolerance) | (numbers == number)
    return within


def width(tolerance: Tolerance) -> float:
    """Return the largest difference that counts as none."""
    return float(tolerance.half if isinstance(tolerance, Printed) else tolerance)
