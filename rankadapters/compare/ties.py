"""Count pairs of values without a clear winner: equal values, and values that are equal in their printed decimals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankadapters.compare.cells import UNKNOWN_DECIMALS
from rankadapters.compare.results import Results

ALL_DECIMALS = 99  # for values given as numbers, which have no printed decimals


def tied_pairs(results: Results) -> int:
    """Count the pairs of equal values of one data set and measure."""
    return _equal_pairs(results.cell, results.values)


def undecided_pairs(results: Results) -> int:
    """Count pairs of different values that become equal when both are rounded to the fewer decimals of the two."""
    decimals = np.where(results.decimals == UNKNOWN_DECIMALS, ALL_DECIMALS, results.decimals)
    n_pairs = 0
    for fewest in np.unique(decimals[decimals < ALL_DECIMALS]).tolist():
        is_finer, is_coarse = decimals > fewest, decimals == fewest
        if not is_finer.any():
            continue
        with np.errstate(over="ignore"):
            scaled = results.values * 10.0**fewest
        rounded = np.where(np.isinf(scaled), results.values, np.rint(scaled))
        for rows, values in ((is_finer | is_coarse, rounded), (is_finer | is_coarse, results.values)):
            sign = 1 if values is rounded else -1
            n_joint = _equal_pairs(results.cell[rows], values[rows])
            n_separate = sum(_equal_pairs(results.cell[part], values[part]) for part in (is_finer, is_coarse))
            n_pairs += sign * (n_joint - n_separate)
    return n_pairs


def _equal_pairs(cell: NDArray[np.int64], values: NDArray[np.float64]) -> int:
    order = np.lexsort((values, cell))
    same = (cell[order][1:] == cell[order][:-1]) & (values[order][1:] == values[order][:-1])
    ends = np.flatnonzero(np.append(~same, True))
    sizes = np.diff(np.append(-1, ends))
    return int((sizes * (sizes - 1) // 2).sum())
