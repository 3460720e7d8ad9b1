"""Values that cannot be told apart: equal ones, and those that differ beyond the decimals that were printed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankadapters.compare.cells import UNKNOWN_DECIMALS
from rankadapters.compare.results import Results

ALL_DECIMALS = 99  # of a value that was no text


def tied_pairs(results: Results) -> int:
    """Count the pairs of equal values of one data set and measure."""
    return _equal_pairs(results.cell, results.values)


def undecided_pairs(results: Results) -> int:
    """Count the pairs that differ, but are equal when rounded to the fewer of their decimals."""
    decimals = np.where(results.decimals == UNKNOWN_DECIMALS, ALL_DECIMALS, results.decimals)
    found = 0
    for fewest in np.unique(decimals[decimals < ALL_DECIMALS]).tolist():
        finer, coarse = decimals > fewest, decimals == fewest
        if not finer.any():
            continue
        with np.errstate(over="ignore"):
            scaled = results.values * 10.0**fewest
        rounded = np.where(np.isinf(scaled), results.values, np.rint(scaled))
        for pick, values in ((finer | coarse, rounded), (finer | coarse, results.values)):
            sign = 1 if values is rounded else -1
            both = _equal_pairs(results.cell[pick], values[pick])
            apart = sum(_equal_pairs(results.cell[each], values[each]) for each in (finer, coarse))
            found += sign * (both - apart)
    return found


def _equal_pairs(cell: NDArray[np.int64], values: NDArray[np.float64]) -> int:
    if not cell.size:
        return 0
    order = np.lexsort((values, cell))
    same = (cell[order][1:] == cell[order][:-1]) & (values[order][1:] == values[order][:-1])
    ends = np.flatnonzero(np.append(~same, True))
    sizes = np.diff(np.append(-1, ends))
    return int((sizes * (sizes - 1) // 2).sum())
