"""The fields of pairwise objectives: the choice of pairs, their weights and the arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from rankadapters.core.declaration.fields import Words
from rankadapters.core.declaration.number_fields import FloatField, WholeField

Truncation = Annotated[
    int | None,
    WholeField(group="value", about="A pair needs a row among this many top ranks.", least=1, none="all ranks"),
]
Samples = Annotated[
    int | None,
    WholeField(group="value", about="Number of random partners of each row.", least=1, none="every pair"),
]


@dataclass(frozen=True, kw_only=True)
class WholeOrWord(WholeField):
    """A whole number in a range, or one word."""

    word: str

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        return f"{super().allowed}, or {self.word!r}"

    def check(self, name: str, value: Any) -> Any:
        """Return an int or the word."""
        return value if isinstance(value, str) and value == self.word else super().check(name, value)


BY_ROUND: Literal["round"] = "round"
SEEDS = 2**32  # number of seeds of a 32-bit Mersenne twister
PairSeed = Annotated[
    int | Literal["round"],
    WholeOrWord(
        group="value", about="Seed of the pairs that `samples` draws.", least=0, most=SEEDS - 1, word=BY_ROUND,
        implied=BY_ROUND,
    ),
]  # fmt: skip
Sigma = Annotated[float, FloatField(group="value", about="Steepness of the sigmoid.", least=0, strict=True)]
NormalizationWord = Literal["none", "lightgbm", "xgboost", "xgboost-distance", "xgboost-sum"]
Normalization = Annotated[
    NormalizationWord,
    Words(
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
    Words(
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
    Words(
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
    Words(
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
    Words(
        group="value",
        about="The weight of a pair.",
        words={
            "exact": "the change of the measure",
            "catboost": "the weight in CatBoost's LambdaMart; for NDCG, the change of the measure",
        },
        implied="exact",
    ),
]
