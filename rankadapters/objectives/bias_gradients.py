"""Gradients corrected for a position bias, which is learned round by round."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array, Floats
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.core.ranking.jit import writable
from rankadapters.objectives.bound_gradients import Floats32, Gradients
from rankadapters.objectives.kernels.replicas import Bias
from rankadapters.objectives.pair_gradients import PairParts, pair_kernel

Positions = NDArray[np.int64]

LEAST_CURVATURE = 0.001  # LightGBM adds this to the magnitude of a bias's second derivative
LEAST_COST = 1e-16  # XGBoost leaves the ratios unchanged while position 0 costs less than this


class BiasedGradients:
    """An objective bound to queries and positions, with the position bias learned so far.

    `bias` changes in place. The argument `state` is the property `state` of an earlier binding to the same data.
    """

    def __init__(self, gradients: Gradients, bias: Array, state: Array | None) -> None:
        self.queries, self.bias = gradients.queries, bias
        self._gradients = gradients
        if state is not None:
            self._gradients.state[:] = state[: gradients.state.size]
            bias[...] = state[gradients.state.size :].reshape(bias.shape)

    @property
    def state(self) -> Floats:
        """The state carried from round to round: the objective's state, and the bias."""
        return np.concatenate([self._gradients.state.astype(np.float64), self.bias.ravel().astype(np.float64)])

    def gradients(self, scores: object) -> tuple[Floats32, Floats32]:
        """Return the same as `Gradients.gradients`, corrected for the bias learned so far."""
        return self._gradients.gradients(scores)

    @abstractmethod
    def learn(self, grad: Floats32, hess: Floats32) -> None:
        """Update the bias from a round's gradients, which must already be multiplied by all weights."""


class AddedToScores(BiasedGradients):
    """Learns one bias per position, by a Newton step per round, and adds it to the scores of the position's rows.

    `names` are the distinct positions, and `positions` has each row's index in them.
    """

    def __init__(
        self, gradients: Gradients, state: Array | None, names: Positions, positions: Positions, *,
        regularization: float, learning_rate: float,
    ) -> None:  # fmt: skip
        self.names, self._positions = names, positions
        self._rows: Positions = np.bincount(positions)
        self._regularization, self._learning_rate = regularization, learning_rate
        super().__init__(gradients, np.zeros(self._rows.size, np.float32), state)

    def gradients(self, scores: object) -> tuple[Floats32, Floats32]:
        """Return the first and second derivatives of the loss with respect to the scores."""
        checked = self.queries.check_scores(scores)
        return super().gradients(checked + self.bias.astype(np.float64)[self._positions])

    def learn(self, grad: Floats32, hess: Floats32) -> None:
        """Take a Newton step; biases are float32, as in LightGBM."""
        bias = self.bias.astype(np.float64)
        push = -sums_by(self._positions, grad, self._rows.size) - bias * self._regularization * self._rows
        bend = -sums_by(self._positions, hess, self._rows.size) - self._regularization * self._rows
        self.bias[:] = bias + self._learning_rate * push / (np.abs(bend) + LEAST_CURVATURE)


class DividingPairs(BiasedGradients):
    """Learns two ratios per position from the costs of pairs, and divides the gradients of pairs by them.

    `gradients` must have `parts`. Positions from `limit` on have no ratio. A ratio is a relative cost to the power
    `exponent`. With `mirrored`, a pair costs what the opposite order would cost.
    """

    def __init__(
        self, gradients: Gradients, state: Array | None, positions: Positions, limit: int, exponent: float, *,
        mirrored: bool,
    ) -> None:  # fmt: skip
        parts: PairParts = gradients.parts
        by_index = parts.terms.rows.take(positions)
        self._costs = np.zeros((2, by_index.size))
        self._counted = by_index < limit
        self._positions, self._exponent = by_index[self._counted], exponent
        ratios = np.ones((2, limit))
        gradients.kernel = pair_kernel(parts, Bias(writable(by_index), ratios, self._costs, mirrored))
        super().__init__(gradients, ratios, state)

    def gradients(self, scores: object) -> tuple[Floats32, Floats32]:
        """Return the first and second derivatives of the loss with respect to the scores."""
        self._costs[:] = 0.0
        return super().gradients(scores)

    def learn(self, grad: Floats32, hess: Floats32) -> None:
        """Set each ratio to (cost of the position / cost of position 0) ^ exponent."""
        del grad, hess  # not needed: the kernel wrote the costs, before scaling and weights
        for ratios, costs in zip(self.bias, self._costs, strict=True):
            total = sums_by(self._positions, costs[self._counted], ratios.size)
            if total[0] >= LEAST_COST:
                with np.errstate(invalid="ignore"):  # costs may be infinite, as in XGBoost
                    shares = total / total[0]
                # The C library's power; numpy's can differ in the last bit.
                ratios[:] = [math.pow(share, self._exponent) for share in shares.tolist()]


def sums_by(positions: Positions, values: Array, size: int) -> Floats:
    """Return the float64 sum of the values of each position, always added in row order."""
    return np.bincount(positions, values, size).astype(np.float64, copy=False)


def index_in_queries(queries: Queries) -> Positions:
    """Return each row's index in its query, from 0, in row order."""
    sizes = np.diff(queries.indptr)
    indices = np.arange(queries.n_docs) - np.repeat(queries.indptr[:-1], sizes)
    if queries.order is None:
        return indices
    positions = np.empty_like(indices)
    positions[queries.order] = indices
    return positions


def check_positions(positions: object, queries: Queries) -> Positions:
    """Return positions as int64; they must be whole numbers from 0 on, one per row."""
    array = np.asarray(positions)
    if array.ndim != 1 or array.size != queries.n_docs:
        msg = f"positions has shape {array.shape}, but the queries have {queries.n_docs} rows.\nHint: one per row."
        raise InputError(msg)
    if array.dtype.kind not in "iu":
        msg = f"positions are {array.dtype}, not whole numbers.\nHint: positions.astype(int)."
        raise InputError(msg)
    if array.size and array.min() < 0:
        row = int(np.argmax(array < 0))
        msg = f"positions[{row}] is {array[row]}; allowed are whole numbers from 0 on.\nHint: 0 is the top position."
        raise InputError(msg, row=row)
    return array.astype(np.int64)
