"""Objectives that pull the rows of a pair apart: LambdaRank, RankNet, LambdaMAP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.measures import NDCG
from rankadapters.core.queries import Queries
from rankadapters.objectives.base import ConventionField, Objective
from rankadapters.objectives.pairwise_fields import (
    BeyondK,
    Hessian,
    Normalization,
    Samples,
    Sigma,
    Sigmoid,
    Truncation,
)

if TYPE_CHECKING:
    from rankadapters.core.gradients import Gradients
    from rankadapters.core.pair_gradients import PairTerms


@dataclass(frozen=True, kw_only=True)
class _Pairwise(Objective):
    """Fields that all pairwise objectives share, and their checks."""

    of_pairs: ClassVar[bool] = True

    truncation: Truncation
    samples: Samples
    sigma: Sigma
    normalization: Normalization
    hessian: Hessian
    sigmoid: Sigmoid

    def unify(self) -> None:
        """Check that the arithmetic is one that knows the other fields."""
        if self.samples is not None and self.truncation is not None:
            msg = (
                f"truncation={self.truncation} chooses pairs by rank and samples={self.samples} draws them.\n"
                "Hint: leave one of them None."
            )
            raise ConventionError(msg)
        if self.sigmoid == "exact" and self.samples is not None:
            msg = "sigmoid='exact' takes every pair, but samples draws them.\nHint: sigmoid='float32', XGBoost's."
            raise ConventionError(msg)
        if self.sigmoid == "table" and (
            self.samples is not None or self.hessian != "plain" or self.normalization.startswith("xgboost")
        ):
            msg = (
                "sigmoid='table' replays LightGBM, which has neither samples, nor hessian='doubled', nor XGBoost's "
                "normalization.\nHint: sigmoid='exact'."
            )
            raise ConventionError(msg)

    def _bind(self, queries: Queries, terms: PairTerms, delta: int, n_threads: int | None, state: Any) -> Gradients:
        """Choose the kernel."""
        import numpy as np

        from rankadapters.core import pair_gradients
        from rankadapters.core._kernels.lambdas_in_float32 import DELTA_ONE
        from rankadapters.core.gradients import Gradients

        pairs = pair_gradients.pairing(terms, self.truncation, self.sigma, self.normalization, self.hessian)
        rounds = np.zeros(1, np.int64) if state is None else state
        kernel = {
            "exact": lambda: pair_gradients.top_kernel(terms, pairs, unit=delta == DELTA_ONE),
            "table": lambda: pair_gradients.table_kernel(terms, pairs),
            "float32": lambda: pair_gradients.float32_kernel(terms, pairs, delta, self.samples or 0, rounds),
        }[self.sigmoid]()
        return Gradients(
            queries,
            kernel,
            n_threads=n_threads,
            weighted=self.uses_weights,
            by_mean=self.divides_weights,
            work=pair_gradients.work_of(terms, self.samples or pairs.limit),
            state=rounds if self.samples else None,
            advance=1,
            dtype=np.float32 if self._narrow else None,
            parts=pair_gradients.PairParts(terms, pairs, delta, self.sigmoid, self.samples or 0, rounds),
        )

    @property
    def divides_weights(self) -> bool:
        """Whether the weights of queries are divided by their mean: with XGBoost's hessian."""
        return self.hessian == "doubled"

    @property
    def _narrow(self) -> bool:
        return self.sigmoid == "float32"


@dataclass(frozen=True, kw_only=True)
class LambdaRank(_Pairwise):
    """LambdaRank: each pair is pulled apart by the change of NDCG that trading its places would make.

    For a pair of rows i, j with gain(i) > gain(j), ranks r and D = s_i - s_j,

        delta = (gain(i) - gain(j)) abs(discount(r_i) - discount(r_j)) / ideal DCG
        lambda = sigma delta / (1 + exp(sigma D)),  hessian = sigma^2 delta p (1 - p),  p = 1 / (1 + exp(sigma D));

    row i's gradient gets -lambda, row j's +lambda, and both hessians grow. A query that the convention's `short` rules
    out has no gradient, nor has one whose rows all have one gain; `empty` and `missing` do not matter. Tied rows are
    ranked as `ties` says, in row order under `average`.

    Parameters
    ----------
    convention : NDCG or str
        Gains, discounts and the ideal DCG, which its `k` cuts. Under `average="uniform"` weights are ignored.
    beyond_k : str
        `keep`: ranks beyond k keep their discounts, as in LightGBM and XGBoost. `cut`: they have none, so that delta
        is the true change of NDCG@k. Without a cutoff both are written `keep`.
    truncation : int or None
        The first row of a pair is among this many top ranks; None takes all pairs.
    samples : int or None
        Instead of truncation, XGBoost's `mean`: every row is paired with this many rows of other grades, drawn anew
        each round. None takes every pair.
    sigma : float
        Steepness of the sigmoid.
    normalization : str
        `none`; `lightgbm`: delta / (0.01 + abs(D)), and each query scaled by log2(1 + S) / S with S the sum of its
        lambdas; `xgboost`: the same, or 1 / samples instead of the sum, and its two halves `xgboost-distance` and
        `xgboost-sum`. A query whose scores are all equal is not divided by distances.
    hessian : str
        `plain` sigma^2 delta p (1 - p); `doubled` 2 sigma^2 delta max(p (1 - p), 1e-16), XGBoost's, and as in XGBoost
        the weights of queries are then divided by their mean.
    sigmoid : str
        `exact`; `table`: read from 2^20 bins and added up in float32, which replays LightGBM bit for bit; `float32`:
        computed and added up in float32, which replays XGBoost bit for bit. Sampled pairs need the last.

    Raises
    ------
    ConventionError
        A field is left out or has a value outside its choices, or the convention is not an NDCG.

    References
    ----------
    Burges, From RankNet to LambdaRank to LambdaMART: An Overview, MSR-TR-2010-82, equations 4 to 6.
    LightGBM 4.7.0, src/objective/rank_objective.hpp. XGBoost 3.2.0, src/objective/lambdarank_obj.h.

    Examples
    --------
    >>> import rankadapters as ra
    >>> value = ra.objectives.lightgbm_lambdarank().replace(sigmoid="exact", normalization="none")
    >>> grad, hess = ra.objectives.gradients([1, 0], [0.0, 0.0], value, group_sizes=[2])
    >>> [f"{g:.4f}" for g in grad]  # half of 1 - 1 / log2(3)
    ['-0.1845', '0.1845']
    """

    kind: ClassVar[str] = "lambdarank"

    convention: Annotated[NDCG, ConventionField(group="tail", about="Gains, discounts and the ideal DCG.")]
    beyond_k: BeyondK

    def unify(self) -> None:
        """Require an NDCG; without a cutoff nothing is beyond it."""
        super().unify()
        _require_ndcg(self.convention)
        if self.convention.k is None:
            self._set("beyond_k", "keep")  # equal by meaning is equal as a value

    @property
    def idle(self) -> frozenset[str]:
        """Fields that say what queries without a gradient count, and rows that a training set does not hold."""
        return frozenset({"empty", "missing", "unjudged"})

    @property
    def uses_weights(self) -> bool:
        """Whether the weights of a dataset multiply the gradients."""
        return self.convention.weighting is not None

    def bind(self, queries: Queries, *, n_threads: int | None = None, state: Any = None) -> Gradients:
        """Prepare for queries."""
        from rankadapters.core import pair_gradients
        from rankadapters.core._kernels.lambdas_in_float32 import DELTA_NDCG

        terms = pair_gradients.ndcg_terms(queries, self.convention, cut=self.beyond_k == "cut")
        return self._bind(queries, terms, DELTA_NDCG, n_threads, state)

    @property
    def _narrow(self) -> bool:
        return self.sigmoid == "float32" or self.convention.precision == "float32"


@dataclass(frozen=True, kw_only=True)
class RankNet(_Pairwise):
    """RankNet: the logistic loss of every pair of different labels; CatBoost's PairLogit.

    Loss of a query: sum over pairs with label(i) > label(j) of log(1 + exp(-sigma (s_i - s_j))).

    Parameters
    ----------
    truncation, samples, sigma, normalization, hessian, sigmoid
        As in `LambdaRank`, with delta = 1; there is no `table`.

    Raises
    ------
    ConventionError
        A field is left out or has a value outside its choices.

    References
    ----------
    Burges et al., Learning to Rank using Gradient Descent, ICML 2005, equation 3.
    CatBoost, "Ranking: objectives and metrics", PairLogit. XGBoost 3.2.0, src/objective/lambdarank_obj.cc,
    `LambdaRankPairwise`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> ra.objectives.gradients([1, 0], [0.0, 0.0], ra.objectives.pair_logit(), group_sizes=[2])[0].tolist()
    [-0.5, 0.5]
    """

    kind: ClassVar[str] = "ranknet"

    def unify(self) -> None:
        """Refuse arithmetic that this objective does not have."""
        super().unify()
        _refuse_sigmoid(self, "table")

    def bind(self, queries: Queries, *, n_threads: int | None = None, state: Any = None) -> Gradients:
        """Prepare for queries."""
        from rankadapters.core import pair_gradients
        from rankadapters.core._kernels.lambdas_in_float32 import DELTA_ONE

        return self._bind(queries, pair_gradients.label_terms(queries), DELTA_ONE, n_threads, state)


@dataclass(frozen=True, kw_only=True)
class LambdaMAP(_Pairwise):
    """LambdaRank with the change of mean average precision, for labels 0 and 1.

    Parameters
    ----------
    truncation, samples, sigma, normalization, hessian, sigmoid
        As in `LambdaRank`, with a sigmoid in `float32` only, and delta the change of average precision.

    Raises
    ------
    ConventionError
        A field is left out or has a value outside its choices.
    InputError
        When bound: a label is neither 0 nor 1.

    References
    ----------
    Burges, MSR-TR-2010-82. XGBoost 3.2.0, src/objective/lambdarank_obj.h, `DeltaMAP`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> value = ra.objectives.xgboost_map(lambdarank_normalization=False)
    >>> ra.objectives.gradients([0, 1], [0.0, 0.0], value, group_sizes=[2])[0].tolist()
    [0.25, -0.25]
    """

    kind: ClassVar[str] = "lambdamap"

    def unify(self) -> None:
        """Refuse arithmetic that this objective does not have."""
        super().unify()
        _refuse_sigmoid(self, "exact", "table")

    def bind(self, queries: Queries, *, n_threads: int | None = None, state: Any = None) -> Gradients:
        """Prepare for queries."""
        import numpy as np

        from rankadapters.core import pair_gradients
        from rankadapters.core._kernels.lambdas_in_float32 import DELTA_MAP

        other = (queries.labels != 0) & (queries.labels != 1)
        if other.any():
            row = int(np.argmax(other))
            found = f"labels[{row}] is {queries.labels[row]:g}"
            msg = f"{found}, but average precision knows 0 and 1.\nHint: map your labels."
            raise InputError(msg, row=row)
        return self._bind(queries, pair_gradients.label_terms(queries), DELTA_MAP, n_threads, state)


def _require_ndcg(convention: object) -> None:
    if isinstance(convention, NDCG):
        return
    msg = f"LambdaRank needs an NDCG convention, not {convention}.\nHint: ra.presets.lightgbm(30), or ra.NDCG(...)."
    raise ConventionError(msg)


def _refuse_sigmoid(value: RankNet | LambdaMAP, *names: str) -> None:
    if value.sigmoid in names:
        msg = f"{type(value).__name__} has no sigmoid={value.sigmoid!r}.\nHint: sigmoid='float32'."
        raise ConventionError(msg)
