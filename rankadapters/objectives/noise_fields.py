"""The fields of objectives that draw random numbers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import Field, Range
from rankadapters.objectives.base import ConventionField

Seed = Annotated[
    int, Field(group="value", about="Seed of the first call, as in CatBoost.", numbers=Range(0, 2**64 - 1, whole=True))
]
MOST_DRAWS = 2**31 - 1  # so that draws x rows fit in 64-bit integers
Estimations = Annotated[
    int, Field(group="value", about="Number of draws to average.", numbers=Range(1, MOST_DRAWS, whole=True))
]
NoiseScale = Annotated[
    float, Field(group="value", about="Standard deviation of the noise.", numbers=Range(0, above=True))
]
Arithmetic = Annotated[
    Literal["exact", "catboost"],
    Field(
        group="value",
        about="Whether the expected gradient is the true derivative.",
        words={
            "exact": "the true derivative",
            "catboost": "CatBoost's: the noise of the other rows is not multiplied by sigma, and under ERR, or "
            "PFound with a cutoff, the change when a row moves is too large",
        },
    ),
]
Neighbors = Annotated[
    int | None,
    Field(group="value", about="Number of next ranks paired with each row.", numbers=Range(1, whole=True), none="all"),
]
NoiseWord = Literal["logistic", "gauss", "none"]
Noise = Annotated[
    NoiseWord,
    Field(
        group="value",
        about="Noise that is added to the scores before ranking.",
        words={
            "logistic": "log(u / (1.000001 - u)), u uniform, rounded to float32; CatBoost calls it Gumbel",
            "gauss": "standard normal noise, times `noise_power`",
            "none": "no noise: every permutation is the ranking",
        },
    ),
]
PairWeightWord = Literal["classic", "exact", "catboost"]
PairWeight = Annotated[
    PairWeightWord,
    Field(
        group="value",
        about="The weight of a pair in one ranking.",
        words={
            "classic": "0.15 decay^(i - 1) abs(difference of the labels) for the ranks i and i + 1",
            "exact": "the change of the convention's measure when the two rows swap ranks",
            "catboost": "CatBoost's weight: RR 1/i - 1/j for ranks i < j, i up to the first relevant row; AP "
            "1/i plus the reciprocal ranks of the relevant rows in between; ERR@k the change without the cutoff",
        },
    ),
]


class OptionalConvention(ConventionField):
    """A convention, or None for an objective without a measure."""

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        return "a convention, or None where the pairs have no measure"

    def check(self, name: str, value: Any) -> Convention | None:  # type: ignore[override]
        """Return None, or the value as a convention, parsed if it is a text."""
        return None if value is None else super().check(name, value)

    def spell(self, value: Any) -> str:
        """Return the text of a value, `none` for None."""
        return "none" if value is None else super().spell(value)

    def read(self, text: str) -> Any:
        """Return None for `none`, and other texts unchanged."""
        return None if text == "none" else text
