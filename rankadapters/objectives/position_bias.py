"""Declared corrections of position bias. Labels made of clicks are biased: users click more on rows shown higher."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Array, Floats
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.declared import Declared
from rankadapters.core.declaration.fields import Field, Range
from rankadapters.core.errors import ConventionError, InputError, choices
from rankadapters.core.ranking.jit import writable
from rankadapters.objectives.base import OBJECTIVES, Objective, read_back
from rankadapters.objectives.bound_gradients import Floats32, Gradients
from rankadapters.objectives.kernels.replicas import Bias
from rankadapters.objectives.pair_gradients import PairKernel

Positions = NDArray[np.int64]

POSITION_BIASES: dict[str, type[PositionBias]] = {}
LEAST_CURVATURE = 0.001  # LightGBM adds this to the magnitude of a bias's second derivative
LEAST_COST = 1e-16  # XGBoost leaves the ratios unchanged while position 0 costs less than this
TRACKED = 32  # number of positions with ratios if XGBoost samples pairs


class AddedBiases(NamedTuple):
    """The biases learned under `AdditiveBias`: the bias of a position is added to the scores of the position's rows."""

    positions: NDArray[np.int64]
    biases: NDArray[np.float32]


class PairRatios(NamedTuple):
    """The ratios learned under `BiasRatios`: by position, divisors of pairs whose higher or lower row is there."""

    higher: NDArray[np.float64]
    lower: NDArray[np.float64]


class PositionBias(Declared):
    """How training learns the bias of the positions at which rows were shown, and corrects the gradients for it.

    Values compare and hash by their fields. `str(value)` is the signature, and
    `ra.objectives.parse_position_bias(str(value)) == value`.
    """

    __slots__ = ()

    noun: ClassVar[str] = "form"
    start: ClassVar[str] = "a preset, ra.objectives.lightgbm.position_bias().replace(...)"
    uses: ClassVar[str] = "position_bias= of ra.lightgbm.objective or ra.xgboost.objective"
    form: ClassVar[str]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Register the class under its form, for `parse_position_bias`."""
        super().__init_subclass__(**kwargs)
        if "form" in cls.__dict__:
            POSITION_BIASES[cls.form] = cls

    @property
    def needs_positions(self) -> bool:
        """Whether the dataset must have the position at which each row was shown."""
        return False

    @abstractmethod
    def bind(
        self, objective: Objective, queries: Queries, *, positions: Any = None, n_threads: int | None = None,
        state: Any = None,
    ) -> BiasedGradients:  # fmt: skip
        """Bind an objective to rows shown at `positions`; pass the `state` of an earlier binding to continue it."""

    @abstractmethod
    def _correct(self, scores: object, gradients: BiasedGradients) -> object:
        """Return the scores at which a round computes gradients."""

    @abstractmethod
    def _update(self, gradients: BiasedGradients, grad: Floats32, hess: Floats32) -> None:
        """Update the bias from a round's gradients, which must already be multiplied by all weights."""

    @abstractmethod
    def learned(self, gradients: BiasedGradients) -> AddedBiases | PairRatios:
        """Return a copy of the bias learned so far."""


class BiasedGradients:
    """An objective bound to queries and positions, with the position bias learned so far.

    `positions` has an index in the last axis of `bias` for each row; `bias` changes in place. `names` are the positions
    that the indices mean, and `costs` what the kernel writes for `_update`, if needed. The argument `state` is the
    property `state` of an earlier binding to the same data.
    """

    def __init__(
        self, form: PositionBias, gradients: Gradients, positions: Positions, bias: Array, *, state: Array | None,
        names: Positions | None = None, costs: Array | None = None,
    ) -> None:  # fmt: skip
        self.queries, self.positions, self.bias = gradients.queries, positions, bias
        self.names, self.costs = names, costs
        self._form, self._gradients = form, gradients
        if state is not None:
            self._gradients.state[:] = state[: gradients.state.size]
            bias[...] = state[gradients.state.size :].reshape(bias.shape)

    @property
    def state(self) -> Floats:
        """The state carried from round to round: the objective's state, and the bias."""
        return np.concatenate([self._gradients.state.astype(np.float64), self.bias.ravel().astype(np.float64)])

    def gradients(self, scores: object) -> tuple[Floats32, Floats32]:
        """Return the same as `Gradients.gradients`, corrected for the bias learned so far."""
        corrected = self._form._correct(scores, self)  # noqa: SLF001 - of the same module
        return self._gradients.gradients(corrected)

    def learn(self, grad: Floats32, hess: Floats32) -> None:
        """Update the bias from a round's gradients, which must already be multiplied by all weights."""
        self._form._update(self, grad, hess)  # noqa: SLF001 - of the same module


@dataclass(frozen=True, kw_only=True)
class AdditiveBias(PositionBias):
    """LightGBM's position bias: a number for each position, added to the scores of the position's rows in training.

    Each position's bias b starts from 0 and is added to the scores of its rows before gradients are computed. After
    each round, with g and h the gradients and hessians of the position's n rows, including weights,

        b += learning_rate (-sum(g) - regularization n b) / (abs(sum(h) + regularization n) + 0.001).

    Predictions have no bias.

    Parameters
    ----------
    positions
        Under `given`, any whole numbers from 0 on.
    learning_rate
        Only for the biases. LightGBM uses the training's learning rate at the start, even if a schedule changes it
        later.

    References
    ----------
    LightGBM 4.7.0, src/objective/rank_objective.hpp, `LambdarankNDCG::UpdatePositionBiasFactors`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> print(ra.objectives.AdditiveBias(positions="rows", regularization=0.1, learning_rate=0.05))
    additive-bias/positions=rows/regularization=0.1/learning_rate=0.05/v1
    """

    form: ClassVar[str] = "additive-bias"

    positions: Annotated[
        Literal["given", "rows"],
        Field(
            group="value",
            about="Position at which each row was shown.",
            words={"given": "the positions of the dataset", "rows": "the row's index in its query"},
        ),
    ]
    regularization: Annotated[float, Field(group="value", about="Regularization of the biases.", numbers=Range(0))]
    learning_rate: Annotated[
        float, Field(group="value", about="Step size of the biases.", numbers=Range(0, above=True))
    ]

    @property
    def needs_positions(self) -> bool:
        """Whether the dataset must have the position at which each row was shown."""
        return self.positions == "given"

    def bind(
        self, objective: Objective, queries: Queries, *, positions: Any = None, n_threads: int | None = None,
        state: Any = None,
    ) -> BiasedGradients:  # fmt: skip
        """Bind an objective to rows shown at `positions`."""
        require_pairs(objective)
        if self.positions == "rows":
            positions = index_in_queries(queries)
        elif positions is None:
            msg = "there are no positions, but the position bias says positions='given'."
            raise InputError(msg, hint="positions='rows'")
        names, name_indices = np.unique(check_positions(positions, queries), return_inverse=True)
        gradients = objective.bind(queries, n_threads=n_threads)
        return BiasedGradients(
            self, gradients, name_indices, np.zeros(names.size, np.float32), names=names, state=state
        )

    def _correct(self, scores: object, gradients: BiasedGradients) -> Floats:
        """Add the biases."""
        checked = gradients.queries.check_scores(scores)
        return checked + gradients.bias.astype(np.float64)[gradients.positions]

    def _update(self, gradients: BiasedGradients, grad: Floats32, hess: Floats32) -> None:
        """Take a Newton step; biases are float32, as in LightGBM."""
        positions, bias = gradients.positions, gradients.bias.astype(np.float64)
        rows = np.bincount(positions)
        push = -sums_by(positions, grad, bias.size) - bias * self.regularization * rows
        bend = -sums_by(positions, hess, bias.size) - self.regularization * rows
        gradients.bias[:] = bias + self.learning_rate * push / (np.abs(bend) + LEAST_CURVATURE)

    def learned(self, gradients: BiasedGradients) -> AddedBiases:
        """Return a copy of the biases so far."""
        return AddedBiases(cast("Positions", gradients.names), gradients.bias.copy())


@dataclass(frozen=True, kw_only=True)
class BiasRatios(PositionBias):
    """XGBoost's position bias, from Unbiased LambdaMART: pairs are divided by a ratio for each of their two positions.

    The position of a row is its index in its query. A pair with its higher row at position a and its lower row at b is
    divided by t+(a) t-(b). Both ratios start from 1. Let c be the cost of a pair times the objective's weight of the
    pair, before any scaling of its query. The next round uses

        t+(a) = (l+(a) / l+(0))^(1 / (1 + norm)), l+(a) = sum of c / t-(b) over pairs with the higher row at a,
        t-(b) = (l-(b) / l-(0))^(1 / (1 + norm)), l-(b) = sum of c / t+(a) over pairs with the lower row at b.

    A ratio below 1e-16 does not divide. Ratios do not change while the first position's costs are below 1e-16.

    Parameters
    ----------
    limit
        Pairs with a row at a later position are not divided.
    norm
        With a higher norm, ratios are closer to 1.
    cost
        Here p is the probability of the pair's right order under the objective. The mirrored cost grows as the order
        gets better.

    References
    ----------
    Hu, Wang, Peng, Li: Unbiased LambdaMART, WWW 2019, arXiv:1809.05818, equations 30 and 31.
    XGBoost 3.2.0, src/objective/lambdarank_obj.cc, `LambdaRankUpdatePositionBias`; lambdarank_obj.h, `LambdaGrad`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> print(ra.objectives.BiasRatios(limit=10, norm=1, cost="true"))
    bias-ratios/limit=10/norm=1/cost=true/v1
    """

    form: ClassVar[str] = "bias-ratios"

    limit: Annotated[
        int | None, Field(group="value", about="Positions with ratios.", numbers=Range(1, whole=True), none="all")
    ]
    norm: Annotated[float, Field(group="value", about="How strongly ratios are pulled to 1.", numbers=Range(0))]
    cost: Annotated[
        Literal["true", "mirrored"],
        Field(
            group="value",
            about="The cost of a pair.",
            words={"true": "-log p", "mirrored": "-log(1 - p), as in XGBoost"},
        ),
    ]

    def bind(
        self, objective: Objective, queries: Queries, *, positions: Any = None, n_threads: int | None = None,
        state: Any = None,
    ) -> BiasedGradients:  # fmt: skip
        """Bind an objective to queries; `positions`, if not None, must be the rows' indices in their queries."""
        require_pairs(objective)
        indices = index_in_queries(queries)
        if positions is not None:
            _require_indices(check_positions(positions, queries), indices)
        gradients = objective.bind(queries, n_threads=n_threads)
        kernel = gradients.kernel
        if not isinstance(kernel, PairKernel) or kernel.loss is not None:
            msg = f"BiasRatios cannot divide the pairs of {objective}."
            raise ConventionError(msg, hint="AdditiveBias, or another objective")
        longest = int(np.diff(queries.indptr).max(initial=1))
        limit = min(self.limit or longest, longest)
        by_index = kernel.moves.rows.take(indices)
        ratios, costs = np.ones((2, limit)), np.zeros((2, by_index.size))
        bias = Bias(writable(by_index), ratios, costs, self.cost == "mirrored")
        gradients.kernel = replace(kernel, bias=bias)
        return BiasedGradients(self, gradients, by_index, ratios, costs=costs, state=state)

    def _correct(self, scores: object, gradients: BiasedGradients) -> object:
        """Return the same scores; the kernel divides pairs, and adds up their costs."""
        cast("Floats", gradients.costs)[:] = 0.0
        return scores

    def _update(self, gradients: BiasedGradients, grad: Floats32, hess: Floats32) -> None:
        """Set each ratio to (cost of the position / cost of position 0) ^ (1 / (1 + norm))."""
        del grad, hess  # not needed: the kernel wrote the costs, before scaling and weights
        counted = gradients.positions < gradients.bias.shape[1]
        positions = gradients.positions[counted]
        for ratios, costs in zip(gradients.bias, cast("Floats", gradients.costs), strict=True):
            total = sums_by(positions, costs[counted], ratios.size)
            if total[0] >= LEAST_COST:
                with np.errstate(invalid="ignore"):  # costs may be infinite, as in XGBoost
                    shares = total / total[0]
                # The C library's power; numpy's can differ in the last bit.
                ratios[:] = [math.pow(share, 1.0 / (1.0 + self.norm)) for share in shares.tolist()]

    def learned(self, gradients: BiasedGradients) -> PairRatios:
        """Return a copy of the ratios so far."""
        return PairRatios(*gradients.bias.copy())


def unbiased_lambdamart(*, limit: int | None = TRACKED, norm: float = 1.0) -> BiasRatios:
    """Return Unbiased LambdaMART as in its paper: the cost of a pair is -log of the probability of its right order.

    Parameters
    ----------
    limit, norm
        As in `BiasRatios`.

    References
    ----------
    Hu, Wang, Peng, Li: Unbiased LambdaMART, WWW 2019, arXiv:1809.05818, equations 30 and 31.

    Examples
    --------
    >>> unbiased_lambdamart().cost
    'true'
    """
    return BiasRatios(limit=limit, norm=norm, cost="true")


def parse_position_bias(signature: str) -> PositionBias:
    """Read a position bias back from its signature; `parse_position_bias(str(value)) == value`.

    Raises
    ------
    ConventionError
        The signature is truncated, misspells a field, or has an unknown form or version.

    Examples
    --------
    >>> parse_position_bias("bias-ratios/limit=10/norm=1/cost=true/v1").limit
    10
    """
    return cast("PositionBias", read_back(signature, POSITION_BIASES, "form", "a position bias"))


def as_position_bias(value: PositionBias | str | None, objective: Objective) -> PositionBias | None:
    """Return a position bias, parsed if it is a signature; refuse it if the objective has no pairs."""
    position_bias = parse_position_bias(value) if isinstance(value, str) else value
    if position_bias is None:
        return None
    if not isinstance(position_bias, PositionBias):
        msg = f"{position_bias!r:.80} is not a position bias."
        raise ConventionError(msg, hint="ra.objectives.lightgbm.position_bias()")
    require_pairs(objective)
    return position_bias


def require_pairs(objective: Objective) -> None:
    """Refuse an objective whose loss is not a sum over pairs of rows."""
    if not objective.of_pairs:
        kinds = choices(sorted(cls.__name__ for cls in OBJECTIVES.values() if cls.of_pairs))
        msg = (
            f"a position bias corrects pairs of rows, but {type(objective).__name__} has none.\n"
            f"Hint: one of {kinds}, or no position_bias."
        )
        raise ConventionError(msg)


def _require_indices(positions: NDArray[np.int64], indices: NDArray[np.int64]) -> None:
    if (positions != indices).any():
        row = int(np.argmax(positions != indices))
        msg = (
            f"positions[{row}] is {positions[row]}, but the row's index in its query is {indices[row]}, which "
            "BiasRatios uses as its position."
        )
        raise InputError(msg, hint="sort each query's rows by position, or AdditiveBias", row=row)


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
        msg = f"positions has shape {array.shape}, but the queries have {queries.n_docs} rows."
        raise InputError(msg, hint="one per row")
    if array.dtype.kind not in "iu":
        msg = f"positions are {array.dtype}, not whole numbers."
        raise InputError(msg, hint="positions.astype(int)")
    if array.size and array.min() < 0:
        row = int(np.argmax(array < 0))
        msg = f"positions[{row}] is {array[row]}; allowed are whole numbers from 0 on."
        raise InputError(msg, hint="0 is the top position", row=row)
    return array.astype(np.int64)
