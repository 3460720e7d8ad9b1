"""The fields of pairwise objectives: the choice of pairs, their weights and the arithmetic."""

from __future__ import annotations

from typing import Annotated, Literal

from rankadapters.core.declaration.fields import Field, Range

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
