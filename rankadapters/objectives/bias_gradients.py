"""Gradients under a bias of the positions at which rows were shown, learned from round to round."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array, Floats
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.core.kernels.views import writable
from rankadapters.objectives.bound_gradients import Floats32, Gradients
from rankadapters.objectives.pair_gradients import PairParts, unbiased_kernel

Positions = NDArray[np.int64]

LEAST_CURVATURE = 0.001  # LightGBM adds it to the second derivative by a bias
LEAST_COST = 1e-16  # costs of the first position below this leave XGBoost's ratios as they are


class BiasedGradients:
    """An objective bound to queries and positions, and what it learned of the positions so far.

    The bias is changed in place; `state` is what `state` of an earlier binding to the same queries and positions was.
    """

    def __init__(self, gradients: Gradients, bias: Array, state: Array | None) -> None:
        self.queries, self.bias = gradients.queries, bias
        self._gradients = gradients
        if state is not None:
            self._gradients.state[:] = state[: gradients.state.size]
            bias[...] = state[gradients.state.size :].reshape(bias.shape)

    @property
    def state(self) -> Floats:
        """What goes from round to round: the objective's own, and the bias."""
        return np.concatenate([self._gradients.state.astype(np.float64), self.bias.ravel().astype(np.float64)])

    def gradients(self, scores: object) -> tuple[Floats32, Floats32]:
        """First and second derivatives by the scores, under the bias so far; as `Gradients.gradients`."""
        return self._gradients.gradients(scores)

    def skip(self, calls: int) -> None:
        """Draw as after that many calls; the bias stays."""
        self._gradients.skip(calls)

    @abstractmethod
    def learn(self, grad: Floats32, hess: Floats32) -> None:
        """Learn from a round, given its gradients after all weights have multiplied them."""


class AddedToScores(BiasedGradients):
    """A bias of each position that is added to the scores of its rows: one Newton step a round.

    `names` are the positions that there are, and `positions` which of them each row has.
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
        """First and second derivatives by the scores."""
        given = self.queries.check_scores(scores)
        return super().gradients(given + self.bias.astype(np.float64)[self._positions])

    def learn(self, grad: Floats32, hess: Floats32) -> None:
        """Take a Newton step; biases are float32, as in LightGBM."""
        bias = self.bias.astype(np.float64)
        push = -sums_by(self._positions, grad, self._rows.size) - bias * self._regularization * self._rows
        bend = -sums_by(self._positions, hess, self._rows.size) - self._regularization * self._rows
        self.bias[:] = bias + self._learning_rate * push / (np.abs(bend) + LEAST_CURVATURE)


class DividingPairs(BiasedGradients):
    """Two ratios of each position by which pairs are divided, from what their rows' pairs cost.

    The gradients have `parts`. Positions from `limit` on have no ratio; ratios are costs by the power `exponent`. With
    `mirrored` a pair costs what it would cost turned round.
    """

    def __init__(
        self, gradients: Gradients, state: Array | None, positions: Positions, limit: int, exponent: float, *,
        mirrored: bool,
    ) -> None:  # fmt: skip
        parts: PairParts = gradients.parts
        by_place = parts.terms.rows.take(positions)
        self._costs = np.zeros((2, by_place.size))
        self._counted = by_place < limit
        self._positions, self._exponent = by_place[self._counted], exponent
        ratios = np.ones((2, limit))
        gradients.kernel = unbiased_kernel(parts, writable(by_place), ratios, self._costs, mirrored=mirrored)
        super().__init__(gradients, ratios, state)

    def gradients(self, scores: object) -> tuple[Floats32, Floats32]:
        """First and second derivatives by the scores."""
        self._costs[:] = 0.0
        return super().gradients(scores)

    def learn(self, grad: Floats32, hess: Floats32) -> None:
        """Compare the costs of the positions with the first one's."""
        del grad, hess  # the costs count before anything is scaled or weighed
        for ratios, costs in zip(self.bias, self._costs, strict=True):
            total = sums_by(self._positions, costs[self._counted], ratios.size)
            if total[0] >= LEAST_COST:
                with np.errstate(invalid="ignore"):  # costs may be infinite, as in XGBoost
                    shares = total / total[0]
                # The C library's power, which numpy's own may miss by a bit.
                ratios[:] = [math.pow(share, self._exponent) for share in shares.tolist()]


def sums_by(positions: Positions, values: Array, size: int) -> Floats:
    """Add up by position in float64, one after the other in the order of the rows, whatever the threads."""
    return np.bincount(positions, values, size).astype(np.float64, copy=False)


def places_in_queries(queries: Queries) -> Positions:
    """Each row's place in its query, in row order, from 0."""
    sizes = np.diff(queries.indptr)
    places = np.arange(queries.n_docs) - np.repeat(queries.indptr[:-1], sizes)
    if queries.order is None:
        return places
    positions = np.empty_like(places)
    positions[queries.order] = places
    return positions


def check_positions(positions: object, queries: Queries) -> Positions:
    """Check given positions: whole numbers from 0 on, one per row."""
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
