"""The fields and the base class of pairwise objectives, and those without a convention: RankNet and LambdaMAP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from rankadapters.core.binding.gains import discounts_of
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.fields import Field, Range
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.objectives import pair_gradients
from rankadapters.objectives.base import Objective
from rankadapters.objectives.bound_gradients import Gradients
from rankadapters.objectives.kernels.changes import ONE, XGBOOST_PRECISIONS
from rankadapters.objectives.moves import Moves, labels_alone

Truncation = Annotated[
    int | None,
    Field(
        group="value",
        about="A pair needs a row among this many top ranks.",
        numbers=Range(1, whole=True),
        none="all ranks",
    ),
]
Samples = Annotated[
    int | None,
    Field(
        group="value", about="Number of random partners of each row.", numbers=Range(1, whole=True), none="every pair"
    ),
]
BY_ROUND: Literal["round"] = "round"
SEEDS = 2**32  # number of seeds of a 32-bit Mersenne twister
PairSeed = Annotated[
    int | Literal["round"],
    Field(
        group="value",
        about="Seed of the pairs that `samples` draws.",
        numbers=Range(0, SEEDS - 1, whole=True),
        words={BY_ROUND: "the number of the round"},
        implied=BY_ROUND,
    ),
]
Sigma = Annotated[float, Field(group="value", about="Steepness of the sigmoid.", numbers=Range(0, above=True))]
NormalizationWord = Literal["none", "lightgbm", "xgboost", "xgboost-distance", "xgboost-sum"]
Normalization = Annotated[
    NormalizationWord,
    Field(
        group="value",
        about="Divisors of pairs and queries.",
        words={
            "none": "nothing",
            "lightgbm": "pairs by their score distance plus 0.01, queries by the sum of their lambdas",
            "xgboost": "the same; with `samples`, queries by the number of draws",
            "xgboost-distance": "pairs only",
            "xgboost-sum": "queries only",
        },
    ),
]
HessianWord = Literal["plain", "doubled"]
Hessian = Annotated[
    HessianWord,
    Field(
        group="value",
        about="The second derivative of a pair.",
        words={
            "plain": "sigma^2 delta p (1 - p)",
            "doubled": "2 sigma^2 delta max(p (1 - p), 1e-16), with weights divided by their mean, as in XGBoost",
        },
    ),
]
Sigmoid = Annotated[
    Literal["exact", "table", "float32"],
    Field(
        group="value",
        about="The arithmetic of the sigmoid.",
        words={
            "exact": "float64",
            "table": "a table of 2^20 bins, and float32 sums, as in LightGBM",
            "float32": "float32 sigmoids and sums, as in XGBoost",
        },
    ),
]
BeyondKWord = Literal["keep", "cut"]
BeyondK = Annotated[
    BeyondKWord,
    Field(
        group="value",
        about="Pairs at ranks beyond the convention's k.",
        words={
            "keep": "weighed as if k were larger",
            "cut": "discounts beyond k are 0, so that delta is the true change of the measure at k",
        },
    ),
]
Delta = Annotated[
    Literal["exact", "catboost"],
    Field(
        group="value",
        about="The weight of a pair.",
        words={
            "exact": "the change of the measure",
            "catboost": "the weight in CatBoost's LambdaMart; for NDCG, the change of the measure",
        },
        implied="exact",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Pairwise(Objective):
    """The fields of all pairwise objectives, and their checks."""

    of_pairs: ClassVar[bool] = True
    sigmoids: ClassVar[tuple[str, ...]] = ("exact", "table", "float32")  # the arithmetics that the objective has

    truncation: Truncation
    samples: Samples
    sigma: Sigma
    normalization: Normalization
    hessian: Hessian
    sigmoid: Sigmoid
    seed: PairSeed = BY_ROUND

    def unify(self) -> None:
        """Check that the sigmoid's arithmetic supports the other fields."""
        if self.samples is not None and self.truncation is not None:
            msg = (
                f"truncation={self.truncation} chooses pairs by rank and samples={self.samples} draws them.\n"
                "Hint: leave one of them None."
            )
            raise ConventionError(msg)
        if self.sigmoid == "exact" and self.samples is not None:
            msg = "sigmoid='exact' takes every pair, but samples draws them."
            raise ConventionError(msg, hint="sigmoid='float32', XGBoost's")
        if self.sigmoid == "table" and (
            self.samples is not None or self.hessian != "plain" or self.normalization.startswith("xgboost")
        ):
            msg = (
                "sigmoid='table' replays LightGBM, which has neither samples, nor hessian='doubled', nor XGBoost's "
                "normalization."
            )
            raise ConventionError(msg, hint="sigmoid='exact'")
        if self.sigmoid not in self.sigmoids:
            msg = f"{type(self).__name__} has no sigmoid={self.sigmoid!r}."
            raise ConventionError(msg, hint="sigmoid='float32'")
        if self.samples is None:
            self._set("seed", BY_ROUND)  # without random pairs, no seed has an effect

    def _bind(self, queries: Queries, moves: Moves, n_threads: int | None, state: Any) -> Gradients:
        """Bind to queries."""
        pairs = pair_gradients.pairing(moves, self.truncation, self.sigma, self.normalization, self.hessian)
        rounds = np.zeros(1, np.int64) if state is None else state
        seed = None if self.seed == BY_ROUND else self.seed
        draws = pair_gradients.PairDraws(self.samples, rounds, seed) if self.samples else None
        kernel = pair_gradients.PairKernel(moves, pairs, self.sigmoid, draws)
        work, drawn = pair_gradients.work_of(moves, self.samples or pairs.limit), rounds if draws else None
        return Gradients(self, queries, kernel, n_threads=n_threads, work=work, state=drawn, advance=1)

    @property
    def divides_weights(self) -> bool:
        """Whether query weights are divided by their mean; True with XGBoost's hessian."""
        return self.hessian == "doubled"

    @property
    def precision(self) -> str | None:
        """Precision in which scores are compared and subtracted; None for the precision of the input scores."""
        return "float32" if self.sigmoid == "float32" else None


@dataclass(frozen=True, kw_only=True)
class RankNet(Pairwise):
    """RankNet: the logistic loss of all pairs of rows with different labels; CatBoost calls it PairLogit.

    Loss of a query: sum over pairs with label(i) > label(j) of log(1 + exp(-sigma (s_i - s_j))).

    Parameters
    ----------
    sigmoid
        `exact` or `float32`.

    References
    ----------
    Burges et al., Learning to Rank using Gradient Descent, ICML 2005, equation 3.
    CatBoost, "Ranking: objectives and metrics", PairLogit. XGBoost 3.2.0, src/objective/lambdarank_obj.cc,
    `LambdaRankPairwise`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> ra.objectives.gradients([1, 0], [0.0, 0.0], ra.objectives.catboost.pair_logit(), group_sizes=[2])[0].tolist()
    [-0.5, 0.5]
    """

    kind: ClassVar[str] = "ranknet"
    sigmoids: ClassVar[tuple[str, ...]] = ("exact", "float32")

    def bind(self, queries: Queries, *, n_threads: int | None = None, state: Any = None) -> Gradients:
        """Bind to queries."""
        return self._bind(queries, labels_alone(queries, ONE), n_threads, state)


@dataclass(frozen=True, kw_only=True)
class LambdaMAP(Pairwise):
    """LambdaRank with the change of mean average precision, for labels 0 and 1.

    Parameters
    ----------
    sigmoid
        Only `float32`.

    Raises
    ------
    InputError
        On binding: a label is neither 0 nor 1.

    References
    ----------
    Burges, MSR-TR-2010-82. XGBoost 3.2.0, src/objective/lambdarank_obj.h, `DeltaMAP`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> value = ra.objectives.xgboost.map(lambdarank_normalization=False)
    >>> ra.objectives.gradients([0, 1], [0.0, 0.0], value, group_sizes=[2])[0].tolist()
    [0.25, -0.25]
    """

    kind: ClassVar[str] = "lambdamap"
    sigmoids: ClassVar[tuple[str, ...]] = ("float32",)

    def bind(self, queries: Queries, *, n_threads: int | None = None, state: Any = None) -> Gradients:
        """Bind to queries."""
        invalid = (queries.labels != 0) & (queries.labels != 1)
        if invalid.any():
            row = int(np.argmax(invalid))
            label = f"labels[{row}] is {queries.labels[row]:g}"
            msg = f"{label}, but average precision takes only 0 and 1."
            raise InputError(msg, hint="map your labels", row=row)
        moves = labels_alone(queries, XGBOOST_PRECISIONS)
        moves = moves._replace(discounts=discounts_of("reciprocal", moves.discounts.size))
        return self._bind(queries, moves, n_threads, state)
