"""Columns of dense and sparse features, one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.errors import InputError

COPIED = 2**28  # bytes up to which features are copied column by column, which reads them three times as fast


class FeatureColumns:
    """Columns as dense float64 arrays; with `narrow` rounded to float32 first, as RankLib reads them."""

    def __init__(self, X: Any, *, narrow: bool = False) -> None:
        self._X: Any = X
        if hasattr(X, "tocsc"):
            self._X = X.tocsc()
        elif 8 * X.size <= COPIED:
            # Converted once, since a column is read again and again.
            self._X = np.asfortranarray(in_float32(X) if narrow else X, np.float64)
            narrow = False
        self._narrow = narrow
        self.n_rows, self.n_features = int(X.shape[0]), int(X.shape[1])

    def __getitem__(self, feature: int) -> NDArray[np.float64]:
        """One column."""
        column = self._X[:, [feature]].toarray()[:, 0] if hasattr(self._X, "tocsc") else self._X[:, feature]
        narrow = in_float32(column) if self._narrow else column
        found: NDArray[np.float64] = narrow.astype(np.float64, copy=False)
        return found

    def __len__(self) -> int:
        """Count the columns."""
        return self.n_features


def in_float32(X: Any) -> Any:
    """Round features, dense or sparse, to float32 as RankLib reads them."""
    with np.errstate(over="ignore"):
        narrow = X.astype(np.float32)
    given, rounded = (each.data if hasattr(each, "tocsr") else each for each in (X, narrow))
    beyond = given[~np.isfinite(rounded)]
    if beyond.size:
        what = f"X has {beyond[0]:g}, beyond float32, in which variant='ranklib' holds features"
        raise InputError(f"{what}; allowed are numbers up to 3.4e+38.\nHint: rescale the features, or another variant.")
    return narrow


def product(X: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """X @ weights as a dense float64 array, in one order of addition for dense X whatever the machine's BLAS."""
    if hasattr(X, "tocsr"):
        return np.asarray(X @ weights, np.float64)
    found = np.zeros(X.shape[0])
    for feature in np.flatnonzero(weights):
        found += weights[feature] * X[:, feature].astype(np.float64)
    return found


def shares(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of each weight in the sum of their magnitudes."""
    found: NDArray[np.float64] = np.abs(weights)
    total = float(found.sum())
    return found / total if total else found
