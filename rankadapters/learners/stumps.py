"""Decision stumps over binned features: thresholds, bins, and the search for the best stump."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.evaluation.threads import over_chunks
from rankadapters.core.ranking.jit import writable
from rankadapters.learners.columns import FeatureColumns

Floats = NDArray[np.float64]
BELOW_ALL = 1e8  # how far RankLib's last threshold is below the smallest value
ROWS_PER_PART = 2**15  # parts are summed separately, so that the number of threads does not change the bits


class Stump(NamedTuple):
    """A weak ranker that is 1 if a feature is above a threshold, else 0."""

    feature: int
    threshold_index: int  # among the thresholds of the feature
    threshold: float
    r: float  # sum of the potentials of the rows above the threshold


class Bins:
    """Features as bin numbers: thresholds descend, and a row's bin is the index of the first threshold below its value.

    Only `rows` are binned, since rows without pairs have potential 0. The thresholds of a feature start at its maximum
    and descend in equal steps; the last is one step above the minimum. `with_all` adds RankLib's further threshold
    below all values.
    """

    def __init__(self, columns: FeatureColumns, rows: NDArray[np.intp], n_thresholds: int, *, with_all: bool) -> None:
        self.n_thresholds = n_thresholds + 1 if with_all else n_thresholds
        self.thresholds = np.empty((len(columns), self.n_thresholds))
        constant = np.zeros(len(columns), np.bool_)
        for feature in range(len(columns)):
            low, high = float(columns[feature].min()), float(columns[feature].max())
            self.thresholds[feature] = _thresholds(low, high, n_thresholds, with_all=with_all)
            constant[feature] = low == high
        # All constant features have the same bins, so they share one column.
        binned = np.sort(np.concatenate([np.flatnonzero(~constant), np.flatnonzero(constant)[:1]]))
        self._bin_column = np.searchsorted(binned, np.where(constant, constant.argmax(), np.arange(len(columns))))
        self.bins = np.empty((rows.size, binned.size), np.uint8)
        for column, feature in enumerate(binned.tolist()):
            self.bins[:, column] = _bins(columns[feature][rows], self.thresholds[feature])

    def best(self, potentials: Floats, *, signed: bool, n_threads: int) -> Stump:
        """Return the stump with the largest r if `signed`, else the largest |r|; the first if several are equal."""
        sums = self._sums(potentials, n_threads)[self._bin_column, : self.n_thresholds].cumsum(axis=1)
        feature, index = np.unravel_index((sums if signed else np.abs(sums)).argmax(), sums.shape)
        threshold = float(self.thresholds[feature, index])
        return Stump(int(feature), int(index), threshold, float(sums[feature, index]))

    def above(self, stump: Stump) -> NDArray[np.bool_]:
        """Return a mask of the rows above a stump's threshold."""
        mask: NDArray[np.bool_] = self.bins[:, self._bin_column[stump.feature]] <= stump.threshold_index
        return mask

    def _sums(self, potentials: Floats, n_threads: int) -> Floats:
        from rankadapters.learners.kernels.stumps import add_by_bin

        n = potentials.size
        starts = np.append(np.arange(0, n, ROWS_PER_PART), n)
        bins, values = writable(self.bins), writable(potentials)

        def run(first: int, last: int) -> Iterator[Any]:
            for part in range(first, last):
                sums = np.zeros((bins.shape[1], self.n_thresholds + 1))
                add_by_bin(bins, values, int(starts[part]), int(starts[part + 1]), sums)
                yield sums

        totals: Floats = np.add.reduce(over_chunks(run, starts, n_threads), axis=0)
        return totals


def _bins(column: Floats, thresholds: Floats) -> NDArray[np.uint8]:
    """Return the index of the first threshold below each row's value; the number of thresholds if there is none."""
    bins = np.full(column.size, thresholds.size, np.uint8)
    for threshold in thresholds:  # one pass per threshold is faster than a binary search
        bins -= column > threshold
    return bins


def _thresholds(low: float, high: float, n: int, *, with_all: bool) -> Floats:
    thresholds = [high]
    for _ in range(n - 1):
        thresholds.append(thresholds[-1] - (high - low) / n)
    return np.array([*thresholds, low - BELOW_ALL] if with_all else thresholds)
