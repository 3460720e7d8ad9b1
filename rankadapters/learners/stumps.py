"""Decision stumps over binned features: thresholds, bins, and the best stump for given potentials."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.evaluation.threads import over_chunks
from rankadapters.core.kernels.views import writable
from rankadapters.learners.columns import FeatureColumns

Floats = NDArray[np.float64]
BELOW_ALL = 1e8  # how far RankLib's last threshold lies below the smallest value
ROWS_OF_A_PART = 2**15  # whose sums are added up by themselves, so that threads change no bit


class Stump(NamedTuple):
    """1 where a feature is above a threshold, else 0."""

    feature: int
    place: int  # of the threshold among those of the feature
    threshold: float
    r: float  # sum of the potentials of the rows above


class Bins:
    """Features as the place of the first threshold, from the top down, that a row is above.

    Only `rows` are kept, since a row without a pair has no potential. The thresholds of a feature are its maximum, and
    below it steps of a part of its range, so that the last is one step above the minimum; `with_all` adds RankLib's
    further threshold below all values.
    """

    def __init__(self, columns: FeatureColumns, rows: NDArray[np.intp], n_thresholds: int, *, with_all: bool) -> None:
        self.n_thresholds = n_thresholds + 1 if with_all else n_thresholds
        self.thresholds = np.empty((len(columns), self.n_thresholds))
        constant = np.zeros(len(columns), np.bool_)
        for feature in range(len(columns)):
            low, high = float(columns[feature].min()), float(columns[feature].max())
            self.thresholds[feature] = _thresholds(low, high, n_thresholds, with_all=with_all)
            constant[feature] = low == high
        # Features of one value are alike to all stumps, and one of them stands for all.
        kept = np.sort(np.concatenate([np.flatnonzero(~constant), np.flatnonzero(constant)[:1]]))
        self._place = np.searchsorted(kept, np.where(constant, constant.argmax(), np.arange(len(columns))))
        self.bins = np.empty((rows.size, kept.size), np.uint8)
        for place, feature in enumerate(kept.tolist()):
            self.bins[:, place] = _bins(columns[feature][rows], self.thresholds[feature])

    def best(self, potentials: Floats, *, signed: bool, n_threads: int) -> Stump:
        """Find the stump of the largest r, or of the largest magnitude where not `signed`; the first of equal ones."""
        sums = self._sums(potentials, n_threads)[self._place, : self.n_thresholds].cumsum(axis=1)
        feature, place = np.unravel_index((sums if signed else np.abs(sums)).argmax(), sums.shape)
        threshold = float(self.thresholds[feature, place])
        return Stump(int(feature), int(place), threshold, float(sums[feature, place]))

    def above(self, stump: Stump) -> NDArray[np.bool_]:
        """Tell the rows above a stump's threshold."""
        found: NDArray[np.bool_] = self.bins[:, self._place[stump.feature]] <= stump.place
        return found

    def _sums(self, potentials: Floats, n_threads: int) -> Floats:
        from rankadapters.learners.kernels.stumps import add_by_bin

        n = potentials.size
        parts = np.append(np.arange(0, n, ROWS_OF_A_PART), n)
        bins, values = writable(self.bins), writable(potentials)

        def run(first: int, last: int) -> Iterator[Any]:
            for part in range(first, last):
                sums = np.zeros((bins.shape[1], self.n_thresholds + 1))
                add_by_bin(bins, values, int(parts[part]), int(parts[part + 1]), sums)
                yield sums

        found: Floats = np.add.reduce(over_chunks(run, parts, n_threads), axis=0)
        return found


def _bins(column: Floats, thresholds: Floats) -> NDArray[np.uint8]:
    """Place of the first threshold that each row is above, or their number; passes are faster than a search."""
    found = np.full(column.size, thresholds.size, np.uint8)
    for threshold in thresholds:
        found -= column > threshold
    return found


def _thresholds(low: float, high: float, n: int, *, with_all: bool) -> Floats:
    found = [high]
    for _ in range(n - 1):
        found.append(found[-1] - (high - low) / n)
    return np.array([*found, low - BELOW_ALL] if with_all else found)
