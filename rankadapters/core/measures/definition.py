"""What every number means, in plain Python: the oracle with which all kernels are compared. Read this file first.

A measure says in its own file (`core/measures/`) what one query is worth; here stands what all of them share: which
rows are ranked, in which order, which policy gives a query its value, and how the queries' values become one.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import floor, fsum, log, log2
from typing import Any

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.spelling import border, table
from rankadapters.core.errors import InputError


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


def query_sums(rows: Sequence[Row], convention: Any) -> tuple[tuple[float, float] | str, bool]:
    """Numerator and mass of one query (or 'skip'), and whether the policy for empty queries gave them."""
    judged = [row for row in rows if row.judged]
    left_out = [r.retrieved and not r.judged and convention.unjudged == "drop" for r in rows]
    retrieved = [row for row, out in zip(rows, left_out, strict=True) if row.retrieved and not out]
    if convention.unjudged == "error" and not all(row.judged for row in retrieved):
        raise InputError("unjudged")
    if judged and not retrieved:
        return _policy(convention.missing, "missing"), False
    k = getattr(convention, "k", None)
    if k is not None and len(retrieved) < k and convention.short != "pad":
        return _policy(convention.short, "short"), False
    found = convention.oracle(
        [replace(row, retrieved=False) if out else row for row, out in zip(rows, left_out, strict=True)]
    )
    if found is not None:
        return found, False
    return (0.0, 0.0) if convention.pooled else _policy(convention.empty, "empty"), True


def _policy(choice: float | str, what: str) -> tuple[float, float] | str:
    if choice == "error":
        raise InputError(what)
    return choice if choice == "skip" else (0.0 if isinstance(choice, str) else choice, 1.0)


def query_value(rows: Sequence[Row], convention: Convention) -> tuple[float | str, bool]:
    """Value of one query (or 'skip'), and whether the policy for empty queries gave it."""
    sums, empty = query_sums(rows, convention)
    if isinstance(sums, str):
        return sums, empty
    return (sums[0] / sums[1] if sums[1] else "skip"), empty


def evaluate(queries: Sequence[tuple[Sequence[Row], float]], convention: Convention) -> float:
    """Value of (rows, query weight) pairs: link(sum of numerators / sum of masses)."""
    if convention.over == "rows":
        queries = [(_together(queries, convention), 1.0)]
    found = [(*query_sums(rows, convention), weight) for rows, weight in queries]
    numerators, masses = [], []
    for sums, empty, weight in found:
        if isinstance(sums, str):
            continue
        factor = weight if convention.weighting == "query_weight" and convention.over != "rows" else 1.0
        unweighted = empty and convention.average == "query-except-empty"
        value = sums[0] if convention.floor is None else log(max(sums[0], convention.floor))
        numerators.append(value * (1.0 if unweighted else factor))
        masses.append(sums[1] * factor)
    of_none = getattr(convention, "empty", None)
    if convention.over == "pairs" and not any(masses) and isinstance(of_none, float):
        return of_none  # no query has a pair
    return convention.link(fsum(numerators) / fsum(masses))


def _together(queries: Sequence[tuple[Sequence[Row], float]], convention: Convention) -> list[Row]:
    """All rows as one query: pairs name places among all of them, and rows have the weights of queries that count."""
    found = list[Row]()
    for rows, weight in queries:
        first = len(found)
        for row in rows:
            beats = tuple((first + place, by) for place, by in row.beats)
            found.append(replace(row, beats=beats, weight=weight if convention.average == "query" else row.weight))
    return found
