"""What every number means, in plain Python: the oracle with which all kernels are compared. Read this file first.

The files beside this one say what one query is worth, a function for each measure; here stands what all of them share:
which policy gives a query its value, and how the queries' values become one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import fsum, log
from typing import Any

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from tests.oracles import oracle
from tests.oracles.rows import Row


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
    found = oracle(
        [replace(row, retrieved=False) if out else row for row, out in zip(rows, left_out, strict=True)], convention
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
