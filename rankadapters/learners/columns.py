"""Read dense and sparse features column by column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.errors import InputError

MAX_COPIED_BYTES = 2**28  # up to this size, a copy in column order makes reading columns three times as fast


class FeatureColumns:
    """Feature columns as dense float64 arrays; with `float32`, first rounded to float32 as in RankLib."""

    def __init__(self, X: Any, *, float32: bool = False) -> None:
        self._X: Any = X
        if hasattr(X, "tocsc"):
            self._X = X.tocsc()
        elif 8 * X.size <= MAX_COPIED_BYTES:
            # Converted once, because every column is read many times.
            self._X = np.asfortranarray(round_to_float32(X) if float32 else X, np.float64)
            float32 = False
        self._rounds_columns = float32
        self.n_rows, self.n_features = int(X.shape[0]), int(X.shape[1])

    def __getitem__(self, feature: int) -> NDArray[np.float64]:
        """Return the column of a feature."""
        column = self._X[:, [feature]].toarray()[:, 0] if hasattr(self._X, "tocsc") else self._X[:, feature]
        rounded = round_to_float32(column) if self._rounds_columns else column
        numbers: NDArray[np.float64] = rounded.astype(np.float64, copy=False)
        return numbers

    def __len__(self) -> int:
        """Return the number of columns."""
        return self.n_features


def round_to_float32(X: Any) -> Any:
    """Round dense or sparse features to float32, as RankLib does; refuse numbers that are too large for float32."""
    with np.errstate(over="ignore"):
        rounded = X.astype(np.float32)
    numbers, results = (features.data if hasattr(features, "tocsr") else features for features in (X, rounded))
    too_large = numbers[~np.isfinite(results)]
    if too_large.size:
        msg = f"X has {too_large[0]:g}, too large for float32, which variant='ranklib' uses for features"
        raise InputError(f"{msg}; allowed are numbers up to 3.4e+38.\nHint: rescale them, or use another variant.")
    return rounded


def product(X: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return X @ weights as a dense float64 array; for dense X, the bits do not depend on the machine's BLAS."""
    if hasattr(X, "tocsr"):
        return np.asarray(X @ weights, np.float64)
    scores = np.zeros(X.shape[0])
    for feature in np.flatnonzero(weights):
        scores += weights[feature] * X[:, feature].astype(np.float64)
    return scores


def shares(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of each weight's magnitude in the sum of all magnitudes."""
    magnitudes: NDArray[np.float64] = np.abs(weights)
    total = float(magnitudes.sum())
    return magnitudes / total if total else magnitudes
