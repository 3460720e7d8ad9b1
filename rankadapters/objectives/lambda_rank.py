"""LambdaRank: pairs weighted by the change of a measure when the two rows swap ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, cast, get_args

from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.guesses import LAMBDARANK, shows_call
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures import AP, ERR, NDCG, RR
from rankadapters.objectives.base import IDLE, ConventionField
from rankadapters.objectives.bound_gradients import Gradients
from rankadapters.objectives.moves import require_moves, swaps_of
from rankadapters.objectives.pairwise import BeyondK, BeyondKWord, Delta, HessianWord, NormalizationWord, Pairwise
from rankadapters.presets.texts import as_convention

Trading = NDCG | AP | RR | ERR  # measures whose change when two rows swap takes a few operations
MEASURES = "NDCG, AP, RR or ERR"
CATBOOST = {"k": None, "divisor": "relevant", "discount": "reciprocal"}


@dataclass(frozen=True, kw_only=True)
class LambdaRank(Pairwise):
    """LambdaRank: each pair is pushed apart in proportion to the change of a measure when the two rows swap ranks.

    For a pair of rows i, j with gain(i) > gain(j) (or where only i is relevant), ranks r and D = s_i - s_j,

        delta = abs(change of the measure), for NDCG (gain(i) - gain(j)) abs(discount(r_i) - discount(r_j)) / ideal,
        lambda = sigma delta / (1 + exp(sigma D)),  hessian = sigma^2 delta p (1 - p),  p = 1 / (1 + exp(sigma D)).

    Row i's gradient gets -lambda, row j's gets +lambda, and both hessians get the hessian. A query has no gradient if
    the convention's `short` excludes it or all its gains are equal; `empty` and `missing` do not matter. Tied rows are
    ranked by `ties`, and in row order under `average` and `together`. For AP, RR and ERR too, a pair takes only a few
    operations.

    Parameters
    ----------
    convention
        NDCG: its gains, discounts and ideal DCG, cut at `k`. AP (with any divisor) and RR: which rows are relevant.
        ERR: the probabilities to stop, from 0 to 1. Under `average="uniform"` weights are ignored. Not allowed: AP with
        row weights, and conventions where a row's score decides whether the row is ranked.
    beyond_k
        Both words use the ideal DCG or divisor at k. Without a cutoff, `cut` becomes `keep`.
    delta
        The weights of `catboost`. AP: 1 / upper rank plus, if the upper row is not relevant, 1 / rank of each relevant
        row in between; not divided. RR: if a later relevant row moves above the first, 1 / upper rank - 1 / lower rank.
        ERR: the change without the rows in between whose label equals the upper row's, partly in float32. For NDCG,
        `catboost` becomes `exact`; XGBoost's weights are `exact`.
    samples
        XGBoost's `mean`, instead of truncation: partners with other labels, drawn anew each round.
    seed
        With `round`, the number of the round is the seed, as in XGBoost up to 3.3. With a whole number, a Mersenne
        twister with that seed seeds every round, as in XGBoost from 3.4 on. Without `samples` it becomes `round`.
    normalization
        A pair becomes delta / (0.01 + abs(D)), unless all scores of its query are equal. A query is multiplied by
        log2(1 + S) / S, where S is the sum of its lambdas.
    sigmoid
        `table` gives LightGBM's gradients bit for bit, `float32` XGBoost's. Sampled pairs need `float32`. AP, RR and
        ERR need `exact`.

    Raises
    ------
    InputError
        On binding: a label has no gain, or its probability to stop is not from 0 to 1.

    References
    ----------
    Burges, From RankNet to LambdaRank to LambdaMART: An Overview, MSR-TR-2010-82, equations 4 to 6.
    LightGBM 4.7.0, src/objective/rank_objective.hpp. XGBoost 3.2.0, src/objective/lambdarank_obj.h. CatBoost 1.2.10,
    catboost/private/libs/algo_helpers/error_functions.cpp, `TLambdaMartError`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> value = ra.objectives.lightgbm.lambdarank().replace(sigmoid="exact", normalization="none")
    >>> grad, hess = ra.objectives.gradients([1, 0], [0.0, 0.0], value, group_sizes=[2])
    >>> [f"{g:.4f}" for g in grad]  # half of 1 - 1 / log2(3)
    ['-0.1845', '0.1845']
    """

    kind: ClassVar[str] = "lambdarank"
    idle: ClassVar[frozenset[str]] = IDLE

    convention: Annotated[
        Trading, ConventionField(group="tail", about="The measure whose change weighs a pair.", measures=MEASURES)
    ]
    beyond_k: BeyondK
    delta: Delta = "exact"

    def unify(self) -> None:
        """Require a measure that LambdaRank supports; reset fields that have no effect."""
        super().unify()
        require_moves("LambdaRank", self.convention, get_args(Trading))
        if not isinstance(self.convention, NDCG) and self.sigmoid != "exact":
            msg = f"sigmoid={self.sigmoid!r} replays a built-in objective for NDCG, not for {self.convention.measure}."
            raise ConventionError(msg, hint="sigmoid='exact', or ra.objectives.xgboost.map()")
        if self.convention.k is None:
            self._set("beyond_k", "keep")  # so that objectives with equal gradients compare equal
        if isinstance(self.convention, NDCG):
            self._set("delta", "exact")
        if self.delta == "catboost":
            _require_catboost(self.convention)

    @property
    def precision(self) -> str | None:
        """Precision in which scores are compared and subtracted; None for the precision of the input scores."""
        return "float32" if self.convention.precision == "float32" else super().precision

    def bind(self, queries: Queries, *, n_threads: int | None = None, state: Any = None) -> Gradients:
        """Bind to queries."""
        cut, catboost = self.beyond_k == "cut", self.delta == "catboost"
        return self._bind(queries, swaps_of(queries, self.convention, cut=cut, catboost=catboost), n_threads, state)


@shows_call(LAMBDARANK["objectives"])
def lambdarank(
    convention: Trading | str,
    *,
    truncation: int | None,
    sigma: float = 1.0,
    beyond_k: BeyondKWord = "keep",
    normalization: NormalizationWord = "lightgbm",
    hessian: HessianWord = "plain",
) -> LambdaRank:
    """Return LambdaRank under a convention of NDCG, AP, RR or ERR, with an exact sigmoid, for any toolkit.

    Parameters
    ----------
    convention : NDCG, AP, RR, ERR or str
        The measure, as in `LambdaRank`.
    truncation : int or None
        A pair needs a row among this many top ranks; None for all pairs.
    sigma, beyond_k, normalization, hessian
        As in `LambdaRank`. `ra.xgboost.lambdarank` takes XGBoost's normalization and hessian by default.

    Raises
    ------
    ConventionError
        The convention is of a different measure, or an argument is not one of its choices.

    Examples
    --------
    >>> str(lambdarank("letor4@10", truncation=30))[:38]
    'lambdarank/truncation=30/samples=all/s'
    """
    return LambdaRank(
        convention=cast("Trading", as_convention(convention)), truncation=truncation, samples=None, sigma=sigma,
        beyond_k=beyond_k, normalization=normalization, hessian=hessian, sigmoid="exact",
    )  # fmt: skip


def _require_catboost(convention: Trading) -> None:
    """Refuse a convention that CatBoost's LambdaMart cannot express."""
    values = {name: convention.to_dict().get(name, value) for name, value in CATBOOST.items()}
    differences = [f"{name}={value!r}" for name, value in values.items() if value != CATBOOST[name]]
    if differences:
        supported = ", ".join(f"{name}={value!r}" for name, value in CATBOOST.items() if name in convention.fields())
        msg = f"delta='catboost' replays CatBoost, which has only {supported}, not {', '.join(differences)}."
        raise ConventionError(msg, hint="delta='exact'")
