"""What oracles share: a row, what its label and its rank are worth, and the order of rows."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, fsum, log, log2
from typing import Any

from rankadapters.core.declaration.spelling import border, table


@dataclass(frozen=True)
class Row:
    """One document of one query."""

    label: float
    score: float
    docid: str = ""
    retrieved: bool = True
    judged: bool = True
    weight: float = 1.0
    beats: tuple[tuple[int, float], ...] = ()  # pairs that it wins: place of the loser in its query, weight


def gain(label: float, name: str) -> float:
    """Worth of a label."""
    if gains := table(name):
        return gains[int(label)]
    word, level = border(name) or (name, 0.0)
    if word in {"from", "linear-from"}:
        return (1.0 if word == "from" else label) if label >= level else 0.0
    if name.startswith("exp2"):
        return 2.0 ** (floor(label) if name == "exp2-floor" else label) - 1
    return max(label, 0.0) if name == "linear-positive" else label


def discount(rank: int, name: str) -> float:
    """Worth of a 1-based rank."""
    word, parameter = border(name) or (name, 2.0)
    if word == "power":
        return float(parameter ** (rank - 1))
    by_rank = {"log2": log2(rank + 1), "jk2": log2(max(rank, 2)), "reciprocal": rank, "log": log(rank + 1, parameter)}
    return 1 / by_rank[word]


def graded(row: Row, convention: Any) -> float:
    """Gain of a row, which `unjudged` may give to one without judgment too."""
    if row.judged:
        return gain(row.label, convention.gain)
    return gain(convention.unjudged, convention.gain) if isinstance(convention.unjudged, float) else 0.0


def is_beyond(value: float, name: str) -> bool:
    """Whether a label is relevant (or a score enters the ranking), by `above_B` or `from_B`; `all` takes every one."""
    word, bound = border(name) or ("from", float("-inf"))
    return value > bound if word == "above" else value >= bound


def tied(rows: Sequence[Row], convention: Any, worth: Callable[[Row], float]) -> list[list[Row]]:
    """Retrieved rows by descending score: a list for each score, its rows in the declared order.

    `worth` is what `ties="worst"` and `"best"` go by. Rows that `retrieve` keeps out are not there.
    """
    score = as_float32 if convention.precision == "float32" else float
    retrieve = str(getattr(convention, "retrieve", "all"))
    kept = [row for row in rows if row.retrieved and is_beyond(score(row.score), retrieve)]
    tie_order: dict[str, Callable[[int], Any]] = {
        "reverse": lambda i: -i,
        "worst": lambda i: worth(kept[i]),
        "best": lambda i: -worth(kept[i]),
        "docid-ascending": lambda i: kept[i].docid.encode(),
        "docid-descending": lambda i: [-byte for byte in kept[i].docid.encode()] + [1],
    }
    ordered = [kept[i] for i in sorted(range(len(kept)), key=tie_order.get(convention.ties, lambda i: i))]
    if convention.precision == "none":
        return [ordered]
    found: dict[float, list[Row]] = {}
    for row in sorted(ordered, key=lambda row: -score(row.score)):
        found.setdefault(score(row.score), []).append(row)
    return list(found.values())


def weighed(rows: Sequence[Row], average: str) -> list[tuple[float, float, float]]:
    """Label, score and weight of each retrieved row; a row without judgment has label 0."""
    kept = [row for row in rows if row.retrieved]
    return [(row.label if row.judged else 0.0, row.score, row.weight if average == "row" else 1.0) for row in kept]


def as_float32(value: float) -> float:
    """Round to float32 and back."""
    return float(struct.unpack("f", struct.pack("f", value))[0])


def mean_of(values: Sequence[float]) -> float:
    """Mean that equal values reach exactly, whatever the order of the others."""
    ordered = sorted(values)
    return ordered[0] if ordered[0] == ordered[-1] else fsum(ordered) / len(ordered)


Worth = Callable[[Row], float]


def degree(row: Row, relevant: str) -> float:
    """How relevant a row is, 0 where it is not judged."""
    if relevant == "label":
        return row.label if row.judged else 0.0
    return float(row.judged and (relevant == "judged" or is_beyond(row.label, relevant)))


def by_rank(rows: Sequence[Row], convention: Any, worth: Worth, by: Worth | None = None) -> list[float]:
    """What stands at each rank; where ties are averaged every row has the mean of its tie."""
    ties = [[worth(row) for row in tie] for tie in tied(rows, convention, by or worth)]
    if convention.ties == "average":
        ties = [[mean_of(tie)] * len(tie) for tie in ties]
    return [each for tie in ties for each in tie]
