"""Position bias as declared values: rows shown higher are clicked more, which labels made of clicks inherit."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.declared import Declared
from rankadapters.core.declaration.fields import Words
from rankadapters.core.declaration.number_fields import FloatField, WholeField
from rankadapters.core.errors import ConventionError, InputError, choices
from rankadapters.objectives.base import OBJECTIVES, Objective, read_back
from rankadapters.objectives.bias_gradients import (
    AddedToScores,
    BiasedGradients,
    DividingPairs,
    check_positions,
    places_in_queries,
)

POSITION_BIASES: dict[str, type[PositionBias]] = {}
TRACKED = 32  # positions with ratios, where XGBoost's pairs are drawn


class AddedBiases(NamedTuple):
    """What `AdditiveBias` learned: of each of the `positions`, what is added to the scores of its rows."""

    positions: NDArray[np.int64]
    biases: NDArray[np.float32]


class PairRatios(NamedTuple):
    """What `BiasRatios` learned: by position, what divides pairs for their higher row, and for their lower row."""

    higher: NDArray[np.float64]
    lower: NDArray[np.float64]


class PositionBias(Declared):
    """How the bias of the positions at which rows were shown is learned in a training, and taken out of it.

    Values compare and hash by their fields. `str(value)` is the signature, and
    `ra.objectives.parse_position_bias(str(value)) == value`.
    """

    __slots__ = ()

    noun: ClassVar[str] = "form"
    start: ClassVar[str] = "a preset, ra.objectives.lightgbm.position_bias().replace(...)"
    form: ClassVar[str]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Let `parse_position_bias` find the class by its form."""
        super().__init_subclass__(**kwargs)
        if "form" in cls.__dict__:
            POSITION_BIASES[cls.form] = cls

    @property
    def needs_positions(self) -> bool:
        """Whether the dataset must say where each row was shown."""
        return False

    @abstractmethod
    def bind(
        self, objective: Objective, queries: Queries, *, positions: Any = None, n_threads: int | None = None,
        state: Any = None,
    ) -> BiasedGradients:  # fmt: skip
        """Prepare an objective for queries shown at `positions`; `state` goes on where an earlier binding left off."""

    @abstractmethod
    def learned(self, gradients: BiasedGradients) -> AddedBiases | PairRatios:
        """Copy what was learned so far."""


@dataclass(frozen=True, kw_only=True)
class AdditiveBias(PositionBias):
    """LightGBM's position bias: a number for each position, added to the scores that rows are trained at.

    Each position's bias b starts from 0 and is added to the scores s of its rows, before they are ranked and
    subtracted. After each round, with g and h the gradients and hessians of the position's n rows, weights included,

        b += learning_rate (-sum(g) - regularization n b) / (abs(sum(h) + regularization n) + 0.001).

    Predictions carry no bias.

    Parameters
    ----------
    positions
        Those given may be any whole numbers from 0 on.
    learning_rate
        It is the biases' alone: LightGBM takes the one that the training's parameters have at the start, also where a
        schedule changes it later.

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
        Words(
            group="value",
            about="Where each row was shown.",
            words={"given": "as the dataset says", "rows": "at its place in its query"},
        ),
    ]
    regularization: Annotated[float, FloatField(group="value", about="Of the biases.", least=0)]
    learning_rate: Annotated[float, FloatField(group="value", about="Of the biases.", least=0, strict=True)]

    @property
    def needs_positions(self) -> bool:
        """Whether the dataset must say where each row was shown."""
        return self.positions == "given"

    def bind(
        self, objective: Objective, queries: Queries, *, positions: Any = None, n_threads: int | None = None,
        state: Any = None,
    ) -> BiasedGradients:  # fmt: skip
        """Prepare an objective for queries shown at `positions`."""
        require_pairs(objective)
        if self.positions == "rows":
            positions = places_in_queries(queries)
        elif positions is None:
            msg = "there are no positions, but the position bias says positions='given'.\nHint: positions='rows'."
            raise InputError(msg)
        names, places = np.unique(check_positions(positions, queries), return_inverse=True)
        gradients = objective.bind(queries, n_threads=n_threads)
        return AddedToScores(
            gradients, state, names, places, regularization=self.regularization, learning_rate=self.learning_rate
        )

    def learned(self, gradients: BiasedGradients) -> AddedBiases:
        """Copy the biases so far."""
        return AddedBiases(cast("AddedToScores", gradients).names, gradients.bias.copy())


@dataclass(frozen=True, kw_only=True)
class BiasRatios(PositionBias):
    """XGBoost's position bias, Unbiased LambdaMART's: pairs are divided by a ratio for each of their two positions.

    The position of a row is its place in its query. A pair with its higher row at position a and its lower one at b is
    divided by t+(a) t-(b); both ratios start from 1. With c the cost of each pair, weighed as the objective weighs the
    pair before any scaling of its query, the next round takes

        t+(a) = (l+(a) / l+(0))^(1 / (1 + norm)), l+(a) = sum of c / t-(b) over pairs with the higher row at a,
        t-(b) = (l-(b) / l-(0))^(1 / (1 + norm)), l-(b) = sum of c / t+(a) over pairs with the lower row at b.

    A ratio below 1e-16 divides nothing, and ratios stay as they are while the first position's costs are below that.

    Parameters
    ----------
    limit
        Pairs with a row beyond are left as they are.
    norm
        The higher it is, the closer ratios are to 1.
    cost
        p is the probability that the objective gives to the pair's order. The mirrored cost grows the better the pair
        is ordered.

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

    limit: Annotated[int | None, WholeField(group="value", about="Positions with ratios.", least=1, none="all")]
    norm: Annotated[float, FloatField(group="value", about="How close to 1 ratios are kept.", least=0)]
    cost: Annotated[
        Literal["true", "mirrored"],
        Words(
            group="value",
            about="What a pair costs.",
            words={"true": "-log p of its order", "mirrored": "-log(1 - p), XGBoost's"},
        ),
    ]

    def bind(
        self, objective: Objective, queries: Queries, *, positions: Any = None, n_threads: int | None = None,
        state: Any = None,
    ) -> BiasedGradients:  # fmt: skip
        """Prepare an objective for queries; `positions`, where there are any, are the rows' places in their queries."""
        require_pairs(objective)
        places = places_in_queries(queries)
        if positions is not None:
            _refuse_other_places(check_positions(positions, queries), places)
        gradients = objective.bind(queries, n_threads=n_threads)
        if gradients.parts is None:
            msg = f"BiasRatios cannot divide the pairs of {objective}.\nHint: AdditiveBias, or another objective."
            raise ConventionError(msg)
        longest = int(np.diff(queries.indptr).max(initial=1))
        limit = min(self.limit or longest, longest)
        mirrored = self.cost == "mirrored"
        return DividingPairs(gradients, state, places, limit, 1.0 / (1.0 + self.norm), mirrored=mirrored)

    def learned(self, gradients: BiasedGradients) -> PairRatios:
        """Copy the ratios so far."""
        return PairRatios(*cast("DividingPairs", gradients).bias.copy())


def unbiased_lambdamart(*, limit: int | None = TRACKED, norm: float = 1.0) -> BiasRatios:
    """Return Unbiased LambdaMART as its paper has it, with the cost of the pair's own order.

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
    """Check a position bias, or its signature, for an objective."""
    found = parse_position_bias(value) if isinstance(value, str) else value
    if found is None:
        return None
    if not isinstance(found, PositionBias):
        msg = f"{found!r:.80} is not a position bias.\nHint: ra.objectives.lightgbm.position_bias()."
        raise ConventionError(msg)
    require_pairs(objective)
    return found


def require_pairs(objective: Objective) -> None:
    """Refuse an objective that is not a sum over pairs of rows."""
    if not objective.of_pairs:
        kinds = choices(sorted(cls.__name__ for cls in OBJECTIVES.values() if cls.of_pairs))
        msg = (
            f"a position bias corrects pairs of rows, but {type(objective).__name__} has none.\n"
            f"Hint: one of {kinds}, or no position_bias."
        )
        raise ConventionError(msg)


def _refuse_other_places(given: NDArray[np.int64], places: NDArray[np.int64]) -> None:
    if (given != places).any():
        row = int(np.argmax(given != places))
        msg = (
            f"positions[{row}] is {given[row]}, but the row's place in its query is {places[row]}, which is what "
            "BiasRatios takes for its position.\nHint: sort each query's rows by position, or AdditiveBias."
        )
        raise InputError(msg, row=row)
