"""A row, the gain of its label, the discount of its rank, and the order of rows."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, fsum, log, log2
from typing import Any

from rankadapters.core.declaration.fields import border, gain_table


@dataclass(frozen=True)
class Row:
    """One document of one query."""

    label: float
    score: float
    docid: str = ""
    retrieved: bool = True
    judged: bool = True
    weight: float = 1.0
    beats: tuple[tuple[int, float], ...] = ()  # pairs that it wins: index of the loser in the query, and weight


def ranked_rows(rows: Sequence[Row], unjudged: str | float) -> list[int]:
    """Return the rows to rank: the retrieved ones that `unjudged` does not drop."""

    drops = unjudged in {"drop", "drop-negative"}

    def is_dropped(row: Row) -> bool:
        return not row.judged or (unjudged == "drop-negative" and row.label < 0)

    return [i for i, row in enumerate(rows) if row.retrieved and not (drops and is_dropped(row))]


def gain(label: float, name: str) -> float:
    if gains := gain_table(name):
        return gains[int(label)]
    word, level = border(name) or (name, 0.0)
    if word in {"from", "linear-from"}:
        return (1.0 if word == "from" else label) if is_relevant(label, f"from_{level}") else 0.0
    if name.startswith("exp2"):
        return 2.0 ** (floor(label) if name == "exp2-floor" else label) - 1
    return max(label, 0.0) if name == "linear-positive" else label


def discount(rank: int, name: str) -> float:
    """Return the discount of a rank, counted from 1."""
    word, parameter = border(name) or (name, 2.0)
    if word == "power":
        return float(parameter ** (rank - 1))
    by_rank = {"log2": log2(rank + 1), "jk2": log2(max(rank, 2)), "reciprocal": rank, "log": log(rank + 1, parameter)}
    return 1 / by_rank[word]


def row_gain(row: Row, convention: Any) -> float:
    """Return the gain of a row; an unjudged row has gain 0, or the gain of the label that `unjudged` names."""
    if row.judged:
        return gain(row.label, convention.gain)
    return gain(convention.unjudged, convention.gain) if isinstance(convention.unjudged, float) else 0.0


def meets_threshold(value: float, name: str) -> bool:
    """Tell whether a score meets a threshold: `above_B`, `from_B`, or `all`, which every value meets."""
    word, threshold = border(name) or ("from", float("-inf"))
    return value > threshold if word == "above" else value >= threshold


def is_relevant(label: float, name: str) -> bool:
    """Tell whether a label meets a threshold B; a label between B and the float32 of B counts as B."""
    _, threshold = border(name) or ("from", 0.0)
    low, high = sorted((threshold, as_float32(threshold)))
    return meets_threshold(threshold if low <= label <= high else label, name)


def ties_by_score(rows: Sequence[Row], convention: Any, worth: Callable[[Row], float]) -> list[list[Row]]:
    """Return the ranked rows by descending score: one list per score, in the order that `ties` declares.

    `ties="worst"` and `ties="best"` order rows by `worth`. Rows that `retrieve` excludes are not ranked.
    """
    score = as_float32 if convention.precision == "float32" else float
    retrieve = str(getattr(convention, "retrieve", "all"))
    ranked = [row for row in rows if row.retrieved and meets_threshold(score(row.score), retrieve)]
    tie_order: dict[str, Callable[[int], Any]] = {
        "reverse": lambda i: -i,
        "worst": lambda i: worth(ranked[i]),
        "best": lambda i: -worth(ranked[i]),
        "docid-ascending": lambda i: ranked[i].docid.encode(),
        "docid-descending": lambda i: [-byte for byte in ranked[i].docid.encode()] + [1],
    }
    ordered = [ranked[i] for i in sorted(range(len(ranked)), key=tie_order.get(convention.ties, lambda i: i))]
    if convention.precision == "none":
        return [ordered]
    ties: dict[float, list[Row]] = {}
    for row in sorted(ordered, key=lambda row: -score(row.score)):
        ties.setdefault(score(row.score), []).append(row)
    return list(ties.values())


def labels_scores_weights(rows: Sequence[Row], average: str) -> list[tuple[float, float, float]]:
    """Return label, score and weight of every retrieved row; an unjudged row has label 0."""
    retrieved = [row for row in rows if row.retrieved]
    return [(row.label if row.judged else 0.0, row.score, row.weight if average == "row" else 1.0) for row in retrieved]


def weighs_rows(convention: Any) -> bool:
    return convention.average == "row" or (convention.over == "rows" and convention.average == "query")


def as_float32(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


def mean_of(values: Sequence[float]) -> float:
    """Return the mean, which is exact if all values are equal."""
    ordered = sorted(values)
    return ordered[0] if ordered[0] == ordered[-1] else fsum(ordered) / len(ordered)


Worth = Callable[[Row], float]


def relevance_of(row: Row, relevant: str) -> float:
    """Return the relevance of a row, which is 0 if it is not judged."""
    if relevant == "label":
        return row.label if row.judged else 0.0
    return float(row.judged and (relevant == "judged" or is_relevant(row.label, relevant)))


def worth_by_rank(rows: Sequence[Row], convention: Any, worth: Worth, order_by: Worth | None = None) -> list[float]:
    """Return the worth of the row at each rank; if ties are averaged, the mean of its tie."""
    ties = [[worth(row) for row in tie] for tie in ties_by_score(rows, convention, order_by or worth)]
    if convention.ties == "average":
        ties = [[mean_of(tie)] * len(tie) for tie in ties]
    return [value for tie in ties for value in tie]
