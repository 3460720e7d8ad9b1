"""CatBoost's words for fields: what its options change in a convention, and how a convention is written in them."""

from __future__ import annotations

import math
import struct
from typing import Any

from rankadapters.core.declaration.number_fields import FloatField
from rankadapters.core.declaration.spelling import number, table
from rankadapters.core.errors import ConventionError, choices
from rankadapters.core.measures import AP, AUC, RR
from rankadapters.core.presets.metric_strings import LARGEST_TOP
from rankadapters.core.presets.tool import flag, one_of

TYPES = {"Base": "linear", "Exp": "exp2"}
DENOMINATORS = {"LogPosition": "log2", "Position": "reciprocal"}
NAMES = {"ndcg": "NDCG", "dcg": "DCG", "ap": "MAP", "rr": "MRR"}
BOOLS = {"true": True, "false": False}


def largest_or_all(k: int | None) -> int | None:
    """Give a cutoff that CatBoost takes; None for one beyond."""
    return k if k is None or k <= LARGEST_TOP else None


def above(value: object) -> str:
    """Relevant above a border, which CatBoost holds as float32."""
    found = FloatField(group="value", about="", least=-math.inf).check("border", value)
    return f"above_{number(struct.unpack('f', struct.pack('f', found))[0])}"


def auc_changes(type_: str, weights: str | None) -> dict[str, Any]:
    """Fields that the options of `AUC` change."""
    changes: dict[str, Any] = {"pairs": one_of("type", type_, {"Classic": "unit", "Ranking": "label"})}
    if weights is not None:
        changes["average"] = one_of("weights", weights, {"row": "row", "query": "query"})
    return changes


def spelled_options(convention: Any) -> list[str]:
    """Options of a measure of ranks, beside `top` and `use_weights`."""
    if isinstance(convention, (AP, RR)):
        return [f"border={convention.relevant.partition('_')[2]}"]
    types, denominators = ({field: word for word, field in words.items()} for words in (TYPES, DENOMINATORS))
    return [f"type={types[convention.gain]}", f"denominator={denominators[convention.discount]}"]


def spelled_auc(convention: AUC, *, group_weights: bool) -> str:
    """Write one of the three metrics of pairs."""
    parts = [f"use_weights={'true' if convention.weighting else 'false'}"] if group_weights else []
    if convention.pool != "pairs":
        parts.insert(0, f"type={'Classic' if convention.pairs == 'unit' else 'Ranking'}")
    name = {"pairs": "PairAccuracy", "rows": "AUC", "queries": "QueryAUC"}[convention.pool]
    return ":".join(filter(None, [name, ";".join(parts)]))


def gain_changes(type_: str, denominator: str, use_weights: object) -> dict[str, Any]:
    """Fields that the options of `NDCG` and `DCG` change."""
    if str(type_) not in TYPES or str(denominator) not in DENOMINATORS:
        msg = f"type={type_!r}, denominator={denominator!r}; allowed are {choices(TYPES)} and {choices(DENOMINATORS)}."
        raise ConventionError(msg)
    weighted = flag("use_weights", use_weights)
    return {
        "gain": TYPES[type_], "discount": DENOMINATORS[denominator], **({} if weighted else {"average": "uniform"})
    }  # fmt: skip


def nearest_gain(gain: str) -> str:
    """Give the nearest gain of the two that CatBoost has."""
    gains = table(gain)
    linear = gain.startswith("linear") or gains == tuple(range(len(gains or ())))
    return "linear" if linear else "exp2"
