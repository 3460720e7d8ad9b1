"""The fields of pairwise objectives: which pairs, and in which arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from rankadapters.core.declaration.fields import Words
from rankadapters.core.declaration.number_fields import FloatField, WholeField

Truncation = Annotated[
    int | None,
    WholeField(group="value", about="The first row of a pair is among this many top ranks.", least=1, none="all ranks"),
]
Samples = Annotated[
    int | None,
    WholeField(group="value", about="How many rows each row is paired with, at random.", least=1, none="every pair"),
]


@dataclass(frozen=True, kw_only=True)
class WholeOrWord(WholeField):
    """A whole number within bounds, or a word."""

    word: str

    @property
    def allowed(self) -> str:
        """What the field may be, for messages."""
        return f"{super().allowed}, or {self.word!r}"

    def check(self, name: str, value: Any) -> Any:
        """Return an int or the word."""
        return value if isinstance(value, str) and value == self.word else super().check(name, value)


BY_ROUND: Literal["round"] = "round"
SEEDS = 2**32  # how many seeds a 32-bit Mersenne twister tells apart
PairSeed = Annotated[
    int | Literal["round"],
    WholeOrWord(
        group="value", about="What seeds the pairs that `samples` draws.", least=0, most=SEEDS - 1, word=BY_ROUND,
        implied=BY_ROUND,
    ),
]  # fmt: skip
Sigma = Annotated[float, FloatField(group="value", about="Steepness of the sigmoid.", least=0, strict=True)]
NormalizationWord = Literal["none", "lightgbm", "xgboost", "xgboost-distance", "xgboost-sum"]
Normalization = Annotated[
    NormalizationWord,
    Words(
        group="value",
        about="What pairs and queries are divided by.",
        words={
            "none": "nothing",
            "lightgbm": "pairs by their score distance plus 0.01, queries by the sum of their lambdas",
            "xgboost": "the same, or by the number of draws instead of the sum",
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
            "doubled": "2 sigma^2 delta max(p (1 - p), 1e-16), and weights divided by their mean, XGBoost's",
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
            "table": "read from 2^20 bins and added up in float32, LightGBM's",
            "float32": "computed and added up in float32, XGBoost's",
        },
    ),
]
BeyondKWord = Literal["keep", "cut"]
BeyondK = Annotated[
    BeyondKWord,
    Words(
        group="value",
        about="Ranks beyond the convention's k.",
        words={
            "keep": "count as if k were larger",
            "cut": "count nothing, so that delta is the true change of the measure at k",
        },
    ),
]
Delta = Annotated[
    Literal["exact", "catboost"],
    Words(
        group="value",
        about="What weighs a pair.",
        words={
            "exact": "the change of the measure",
            "catboost": "what CatBoost's LambdaMart takes for it; for NDCG that is the change itself",
        },
        implied="exact",
    ),
]
