"""YetiRank: the logistic loss of pairs, with weights from noisy rankings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from rankadapters.core.binding.lowering import discounts_of
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import Field, Range
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures import AP, ERR, RR
from rankadapters.objectives.base import Objective
from rankadapters.objectives.bound_gradients import Gradients
from rankadapters.objectives.kernels import yetirank as kernels
from rankadapters.objectives.kernels.yetirank import Permuting
from rankadapters.objectives.moves import Moves, labels_alone, moves_of, require_moves
from rankadapters.objectives.noise_fields import MOST_DRAWS, Neighbors, Noise, OptionalConvention, PairWeight, Seed
from rankadapters.objectives.noisy_gradients import Draws, yetirank


@dataclass(frozen=True, kw_only=True)
class YetiRank(Objective):
    """YetiRank: rows are ranked under noise several times, and each ranking adds to the weights of its pairs.

    A pair with gain(i) > gain(j) has a weight w, the mean of `delta` over the rankings. Its loss is w log(1 + exp(-(s_i
    - s_j))). With p = 1 / (1 + exp(s_i - s_j)), row i's gradient gets -w p, row j's gets w p, and both hessians get w p
    (1 - p). Weights are float32, as in CatBoost.

    Parameters
    ----------
    delta
        For NDCG, DCG and PFound, `catboost` becomes `exact`.
    convention
        NDCG, DCG, ERR, RR or AP, where a pair needs a row in the top `k` ranks; None under `classic`. `ties` and
        `precision` do not matter; without noise, ties are ranked in row order. Under `average="uniform"` weights are
        ignored.
    neighbors
        Must be 1 under `classic`.
    decay
        For `classic`; otherwise it becomes 1.
    noise_power
        For `gauss`; otherwise it becomes 1.
    seed
        Each of 128 blocks of queries has its generator, which seeds one for each query. Later calls draw new numbers.

    Raises
    ------
    InputError
        On binding: under ERR, a label is not a probability.

    References
    ----------
    Gulin, Kuralenok & Pavlov, Winning The Transfer Learning Track of Yahoo!'s Learning To Rank Challenge with YetiRank,
    JMLR W&CP 14, 2011. CatBoost 1.2.10, catboost/private/libs/algo/yetirank_helpers.cpp.

    Examples
    --------
    >>> import rankadapters as ra
    >>> value = ra.objectives.catboost.yetirank()
    >>> grad, _ = ra.objectives.gradients([2, 0], [0.0, 0.0], value, group_sizes=[2])
    >>> [f"{g:.3f}" for g in grad]  # half of 0.15 x 2, whichever row ranks first
    ['-0.150', '0.150']
    """

    kind: ClassVar[str] = "yetirank"

    delta: PairWeight
    convention: Annotated[Convention | None, OptionalConvention(group="tail", about="The measure.")]
    permutations: Annotated[
        int, Field(group="value", about="Number of noisy rankings.", numbers=Range(1, MOST_DRAWS, whole=True))
    ]
    neighbors: Neighbors
    decay: Annotated[float, Field(group="value", about="Decay of weights by rank.", numbers=Range(0, 1, above=True))]
    noise: Noise
    noise_power: Annotated[float, Field(group="value", about="Scale of the noise.", numbers=Range(0, above=True))]
    seed: Seed

    def unify(self) -> None:
        """Check that the fields fit together; normalize fields that have no effect."""
        if self.noise != "gauss":
            self._set("noise_power", 1.0)
        if (self.delta == "classic") != (self.convention is None):
            msg = f"delta={self.delta!r} goes with {'no' if self.delta == 'classic' else 'a'} convention."
            raise ConventionError(f"{msg}\nHint: delta='classic', convention=None; or delta='exact' and a convention.")
        if self.delta == "classic":
            if self.neighbors != 1:
                msg = f"delta='classic' pairs rows of adjacent ranks, but neighbors={self.neighbors}."
                raise ConventionError(f"{msg}\nHint: neighbors=1, or delta='exact' and a convention.")
            return
        require_moves("YetiRank", self.convention)
        self._set("decay", 1.0)
        if not (isinstance(self.convention, RR | AP) or self._is_err):
            self._set("delta", "exact")

    @property
    def _is_err(self) -> bool:
        return isinstance(self.convention, ERR) and self.convention.discount == "reciprocal"

    @property
    def idle(self) -> frozenset[str]:
        """Fields with no effect in training: they concern queries without a gradient, unjudged rows, or ties."""
        return frozenset({"empty", "missing", "unjudged", "ties", "precision"})

    def bind(self, queries: Queries, *, n_threads: int | None = None, state: Any = None) -> Gradients:
        """Bind to queries; the state is the number of calls."""
        moves = labels_alone(queries) if self.convention is None else moves_of(queries, self.convention)
        moves, permuting = self._weighing(moves)
        draws = Draws(self.seed, state)
        return yetirank(self, queries, moves, permuting, draws, n_threads=n_threads)

    def _weighing(self, moves: Moves) -> tuple[Moves, Permuting]:

        kind = kernels.CLASSIC if self.delta == "classic" else moves.kind
        if self.delta == "catboost" and self._is_err:
            kind = kernels.CATBOOST_ERR
            moves = moves._replace(discounts=discounts_of("reciprocal", moves.discounts.size))
        elif self.delta == "catboost":
            kind = kernels.CATBOOST_AP if isinstance(self.convention, AP) else kernels.CATBOOST_RR
            moves = moves._replace(inverse=(moves.inverse > 0).astype(float))
        noise = {"logistic": kernels.LOGISTIC, "gauss": kernels.GAUSS, "none": kernels.NO_NOISE}[self.noise]
        longest = int(moves.rows.sizes.max(initial=1))
        neighbors = longest if self.neighbors is None else min(self.neighbors, longest)
        return moves, kernels.Permuting(
            kind, self.permutations, moves.k, neighbors, self.decay, noise, self.noise_power
        )
