"""CatBoost's options: which fields an option changes, and which option value is nearest to a convention."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from rankadapters.core.declaration.fields import Field, Range, border, number, table
from rankadapters.core.measures import QueryCrossEntropy
from rankadapters.presets.metric_strings import LARGEST_TOP
from rankadapters.presets.options import Fields, Option, Options, choice, same_as

TYPES = {"Base": "linear", "Exp": "exp2"}
DENOMINATORS = {"LogPosition": "log2", "Position": "reciprocal"}
GAINS: Mapping[str, Fields] = {word: {"gain": gain} for word, gain in TYPES.items()}
BOOLS = {"true": True, "false": False}
BORDER = 0.5  # CatBoost's default
ALPHA = 0.95  # CatBoost's default, in double precision; it stores any other value as float32

_BORDER = Field(group="value", about="", numbers=Range())
_DECAY = Field(group="value", about="", numbers=Range(0, 1, above=True))


def largest_or_all(k: int | None) -> int | None:
    """Return the cutoff if CatBoost accepts it; None (all ranks) if it is too large for CatBoost."""
    return k if k is None or k <= LARGEST_TOP else None


def nearest_gain(gain: str) -> str:
    """Return the nearest of the two gains that CatBoost has."""
    gains = table(gain)
    linear = gain.startswith("linear") or gains == tuple(range(len(gains or ())))
    return "linear" if linear else "exp2"


def _type(convention: Any) -> str:
    return "Base" if nearest_gain(convention.gain) == "linear" else "Exp"


def _denominator(convention: Any) -> str:
    return next((word for word, discount in DENOMINATORS.items() if discount == convention.discount), "LogPosition")


def _float32(value: Any) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


def _above(name: str, value: object) -> Fields:
    return {"relevant": f"above_{number(_float32(_BORDER.check(name, value)))}"}


def _border(convention: Any) -> tuple[float]:
    word, value = border(convention.relevant) or ("", BORDER)
    return (value if word == "above" else BORDER,)


def _power(name: str, value: object) -> Fields:
    return {"discount": f"power_{number(_DECAY.check(name, value))}"}


def _decay(convention: Any) -> tuple[float, ...]:
    """Return the decay of a power discount in a tuple, which is empty for other discounts."""
    word, value = border(convention.discount) or ("", 0.0)
    return (value,) if word == "power" else ()


def _alpha(name: str, alpha: object) -> Fields:
    return {} if alpha is None else {"alpha": _float32(QueryCrossEntropy.declared()["alpha"].check(name, alpha))}


# Options with the same meaning in every metric, except that AUC redefines `type`.
OPTIONS: Options = {
    "type": choice(GAINS, _type),
    "denominator": choice({word: {"discount": discount} for word, discount in DENOMINATORS.items()}, _denominator),
    "sort": choice({
        "None": {"precision": "none", "ties": "input"},
        "ByPrediction": {"precision": "float64", "ties": "worst"},
        "ByTarget": {"precision": "none", "ties": "best"},
    }),
    "border": Option(_above, _border),
    "decay": Option(_power, _decay),
    "beta": same_as("beta"),
    "alpha": Option(_alpha, lambda query: (None if query.alpha == ALPHA else query.alpha,)),
    "pairs": choice(
        {"given": {"pairs": "given", "average": "pair"}, "label": {"pairs": "label", "average": "query"}},
        lambda like: "given" if like.pairs == "given" else "label",
    ),
    "use_weights": choice({True: {}, False: {"average": "uniform"}}, lambda like: like.weighting is not None),
    "weights": choice({None: {"average": "uniform"}, "row": {"average": "row"}, "query": {"average": "query"}}),
}  # fmt: skip
