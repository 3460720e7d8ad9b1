"""The fields of objectives that draw at random."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import Words
from rankadapters.core.declaration.number_fields import FloatField, WholeField
from rankadapters.objectives.base import ConventionField

Seed = Annotated[
    int, WholeField(group="value", about="Seed of the first call, as CatBoost's of one.", least=0, most=2**64 - 1)
]
MOST = 2**31 - 1  # of draws, whose products with rows are whole numbers of 64 bits
Estimations = Annotated[int, WholeField(group="value", about="How many draws are averaged.", least=1, most=MOST)]
NoiseScale = Annotated[float, FloatField(group="value", about="Standard deviation of the noise.", least=0, strict=True)]
Arithmetic = Annotated[
    Literal["exact", "catboost"],
    Words(
        group="value",
        about="Whether the estimate's expectation is the derivative.",
        words={
            "exact": "it is",
            "catboost": "as CatBoost computes it: the noise of the other rows is not multiplied by sigma, and moves "
            "under ERR, or under PFound with a cutoff, change the measure by too much",
        },
    ),
]
Neighbors = Annotated[
    int | None,
    WholeField(group="value", about="Each row is paired with so many that rank next.", least=1, none="all that do"),
]
NoiseWord = Literal["logistic", "gauss", "none"]
Noise = Annotated[
    NoiseWord,
    Words(
        group="value",
        about="What is added to the scores before they are ranked.",
        words={
            "logistic": "log(u / (1.000001 - u)) with u uniform, rounded to float32; what CatBoost calls Gumbel",
            "gauss": "a normal number, times `noise_power`",
            "none": "nothing: every permutation is the ranking",
        },
    ),
]
PairWeightWord = Literal["classic", "exact", "catboost"]
PairWeight = Annotated[
    PairWeightWord,
    Words(
        group="value",
        about="What a pair weighs in one ranking.",
        words={
            "classic": "0.15 decay^(i - 1) abs(difference of the labels) for the ranks i and i + 1",
            "exact": "how much the convention's measure changes when the two rows trade places",
            "catboost": "as CatBoost has it: under RR 1/i - 1/j for every later rank j, up to the first relevant row; "
            "under AP the reciprocal ranks of the upper row and the relevant rows between; under ERR@k ranks beyond k "
            "keep their discounts",
        },
    ),
]


class OptionalConvention(ConventionField):
    """A convention, or None where the objective has none."""

    @property
    def allowed(self) -> str:
        """What the field may be, for messages."""
        return "a convention, or None where the pairs have no measure"

    def check(self, name: str, value: Any) -> Convention | None:  # type: ignore[override]
        """Take a convention, its text, or None."""
        return None if value is None else super().check(name, value)

    def spell(self, value: Any) -> str:
        """Write None as `none`."""
        return "none" if value is None else super().spell(value)

    def read(self, text: str) -> Any:
        """Read `none` as None."""
        return None if text == "none" else text
