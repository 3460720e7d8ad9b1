"""LambdaRank: pairs weighed by the change of a measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, cast

from rankadapters.core.data.keywords import needs
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures import AP, ERR, NDCG, RR
from rankadapters.core.presets.texts import as_convention
from rankadapters.objectives.base import ConventionField, require_fixed_ideal
from rankadapters.objectives.bound_gradients import Gradients
from rankadapters.objectives.pairwise import Pairwise
from rankadapters.objectives.pairwise_fields import BeyondK, BeyondKWord, Delta, HessianWord, NormalizationWord
from rankadapters.objectives.trade_gradients import trade_terms

Trading = NDCG | AP | RR | ERR  # measures of which the change of a pair's trade takes a few operations
MEASURES = "NDCG, AP, RR or ERR"
NEEDED = {  # what to write where an argument of `lambdarank` is left out
    "convention": "'letor4@10', or another convention",
    "truncation": "truncation=30, the top ranks that a pair needs a row among, or truncation=None for all pairs",
}
CATBOOST = {"k": None, "divisor": "relevant", "discount": "reciprocal", "complement": "float32"}


@dataclass(frozen=True, kw_only=True)
class LambdaRank(Pairwise):
    """LambdaRank: each pair is pulled apart by the change of a measure that trading its places would make.

    For a pair of rows i, j with gain(i) > gain(j), or of which i alone is relevant, ranks r and D = s_i - s_j,

        delta = abs(change of the value): of NDCG (gain(i) - gain(j)) abs(discount(r_i) - discount(r_j)) / ideal,
        lambda = sigma delta / (1 + exp(sigma D)),  hessian = sigma^2 delta p (1 - p),  p = 1 / (1 + exp(sigma D));

    row i's gradient gets -lambda, row j's +lambda, and both hessians grow. A query that the convention's `short` rules
    out has no gradient, nor has one whose rows all have one gain; `empty` and `missing` do not matter. Tied rows are
    ranked as `ties` says, in row order under `average` and `together`. The changes of AP, RR and ERR come from running
    sums, in a few operations a pair.

    Parameters
    ----------
    convention
        Of NDCG gains, discounts and the ideal DCG, which its `k` cuts; of AP, with any divisor, and of RR which rows
        are relevant; of ERR the chances to stop, which must lie from 0 to 1. Under `average="uniform"` weights are
        ignored. Refused are AP under weights of rows, and where scores decide which rows enter the ranking.
    beyond_k
        The ideal DCG or the divisor is that of k under both. Without a cutoff both are written `keep`.
    delta
        CatBoost takes, of AP without its divisor, 1/r of the upper row and, where that is not relevant, of each
        relevant row in between; of RR, where a later relevant row goes above the first, 1/r there less 1/r of its own;
        of ERR the change as if rows in between that are worth as much as the upper one were not there, partly in
        float32. For NDCG both are written `exact`, and XGBoost's is the change itself.
    samples
        Instead of truncation, XGBoost's `mean`: rows of other grades, drawn anew each round.
    seed
        `round`: the number of the round, as in XGBoost up to 3.3. A whole number: a Mersenne twister with that seed,
        which seeds every round, as XGBoost's parameter `seed` does from 3.4 on. Without `samples` it is written
        `round`.
    normalization
        Pairs: delta / (0.01 + abs(D)); queries: times log2(1 + S) / S with S the sum of the lambdas. A query whose
        scores are all equal is not divided by distances.
    sigmoid
        `table` replays LightGBM bit for bit and `float32` XGBoost. Sampled pairs need `float32`; under AP, RR and ERR
        `exact` only.

    Raises
    ------
    InputError
        When bound: a label has no gain, or a chance to stop that is not from 0 to 1.

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

    convention: Annotated[
        Trading, ConventionField(group="tail", about="The measure whose change weighs a pair.", measures=MEASURES)
    ]
    beyond_k: BeyondK
    delta: Delta = "exact"

    def unify(self) -> None:
        """Require a measure that can be traded in; without a cutoff nothing is beyond it."""
        super().unify()
        _require_trading(self.convention)
        if not isinstance(self.convention, NDCG) and self.sigmoid != "exact":
            msg = f"sigmoid={self.sigmoid!r} replays a built-in objective for NDCG, not for {self.convention.measure}."
            raise ConventionError(f"{msg}\nHint: sigmoid='exact', or ra.objectives.xgboost.map().")
        if self.convention.k is None:
            self._set("beyond_k", "keep")  # equal by meaning is equal as a value
        if isinstance(self.convention, NDCG):
            self._set("delta", "exact")
        if self.delta == "catboost":
            _require_catboost(self.convention)

    @property
    def idle(self) -> frozenset[str]:
        """Fields that say what queries without a gradient count, and rows that a training set does not hold."""
        return frozenset({"empty", "missing", "unjudged"})

    @property
    def precision(self) -> str | None:
        """In which scores are compared and subtracted; None takes them as they are given."""
        return "float32" if self.convention.precision == "float32" else super().precision

    def bind(self, queries: Queries, *, n_threads: int | None = None, state: Any = None) -> Gradients:
        """Prepare for queries."""
        cut, catboost = self.beyond_k == "cut", self.delta == "catboost"
        terms, change = trade_terms(queries, self.convention, cut=cut, catboost=catboost)
        return self._bind(queries, terms, change, n_threads, state)


@needs(**NEEDED)
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
        The first row of a pair is among this many top ranks; None takes all pairs.
    sigma, beyond_k, normalization, hessian
        As in `LambdaRank`. `ra.xgboost.lambdarank` takes XGBoost's normalization and hessian by default.

    Raises
    ------
    ConventionError
        The convention is of another measure, or a value is outside its choices.

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
    """Refuse what CatBoost's LambdaMart does not know of a measure."""
    other = {name: convention.to_dict().get(name, value) for name, value in CATBOOST.items()}
    found = [f"{name}={value!r}" for name, value in other.items() if value != CATBOOST[name]]
    if found:
        known = ", ".join(f"{name}={value!r}" for name, value in CATBOOST.items() if name in convention.fields())
        msg = f"delta='catboost' replays CatBoost, which knows {known} only, not {', '.join(found)}."
        raise ConventionError(f"{msg}\nHint: delta='exact'.")


def _require_trading(convention: object) -> None:
    """Refuse a measure of which the change of a trade does not follow from running sums."""
    if not isinstance(convention, NDCG | AP | RR | ERR):
        msg = f"LambdaRank needs a convention of {MEASURES}, not {convention}."
        raise ConventionError(f"{msg}\nHint: ra.presets.lightgbm(30), or ra.NDCG(...).")
    require_fixed_ideal("LambdaRank", convention)
    if convention.weighting == "row_weight" or getattr(convention, "pool", "queries") == "rows":
        field = "pool='rows'" if convention.weighting != "row_weight" else f"average={convention.average!r}"
        msg = f"LambdaRank trades places within a query, whose rows weigh alike, but the convention says {field}."
        raise ConventionError(f"{msg}\nHint: convention.replace(pool='queries', average='query').")
    retrieve = getattr(convention, "retrieve", "all")
    if retrieve != "all":
        msg = f"LambdaRank sees differences of scores, but retrieve={retrieve!r} asks for each score itself."
        raise ConventionError(f"{msg}\nHint: convention.replace(retrieve='all').")
