"""The definition of every value in plain Python; tests compare all kernels with it. Read this file first.

The other files define the numerator and mass of one query, with one function for each measure. This file defines what
all measures share: the policies that decide the value of a query, and the value of all queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import fsum, inf, log
from typing import Any

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from tests.oracles import Sums, oracle
from tests.oracles.rows import Row

Queries = Sequence[tuple[Sequence[Row], float]]  # the rows of each query, and its weight


def query_sums(rows: Sequence[Row], convention: Any) -> tuple[Sums | str, bool]:
    """Return numerator and mass of one query, or 'skip', and whether the policy for empty queries decided."""
    missing = not any(row.retrieved for row in rows)
    if str(convention.unjudged).startswith("drop"):
        least = 0.0 if convention.unjudged == "drop-negative" else -inf
        rows = [replace(row, retrieved=row.retrieved and row.judged and row.label >= least) for row in rows]
    retrieved = [row for row in rows if row.retrieved]
    if convention.unjudged == "error" and not all(row.judged for row in retrieved):
        raise InputError("unjudged")
    if missing and getattr(convention, "empty", None) == "skip" and oracle(rows, convention) is None:
        return "skip", True
    sums = oracle(rows, convention)
    mass = 1.0 if not convention.pooled else sums[1] if sums else 0.0
    if missing:
        return _by_policy(convention.missing, "missing", mass), False
    k = getattr(convention, "k", None)
    if k is not None and len(retrieved) < k and convention.short != "pad":
        return _by_policy(convention.short, "short", mass), False
    if sums is not None:
        return sums, False
    return (0.0, 0.0) if convention.pooled else _by_policy(convention.empty, "empty", mass), True


def _by_policy(choice: float | str, policy: str, mass: float) -> Sums | str:
    if choice == "error":
        raise InputError(policy)
    return choice if choice == "skip" else (0.0 if isinstance(choice, str) else choice, mass)


def query_value(rows: Sequence[Row], convention: Convention) -> tuple[float | str, bool]:
    """Return the value of one query, or 'skip', and whether the policy for empty queries decided."""
    sums, empty = query_sums(rows, convention)
    if isinstance(sums, str):
        return sums, empty
    return (sums[0] / sums[1] if sums[1] else "skip"), empty


def evaluate(queries: Queries, convention: Convention) -> float:
    """Return the value of all queries: link(sum of numerators / sum of masses)."""
    if convention.over == "rows":
        queries = [(_as_one_query(queries, convention), 1.0)]
    numerators, masses = [], []
    for rows, weight in queries:
        sums, empty = query_sums(rows, convention)
        if isinstance(sums, str):
            continue
        factor = weight if convention.weighting == "query_weight" and convention.over != "rows" else 1.0
        unweighted = empty and convention.average == "query-except-empty"
        value = sums[0] if convention.floor is None else log(max(sums[0], convention.floor))
        numerators.append(value * (1.0 if unweighted else factor))
        masses.append(sums[1] * factor)
    value_without_pairs = getattr(convention, "empty", None)
    if convention.pooled and not any(masses) and isinstance(value_without_pairs, float):
        return value_without_pairs
    return convention.link(fsum(numerators) / fsum(masses))


def _as_one_query(queries: Queries, convention: Convention) -> list[Row]:
    """Return all rows as one query: pairs index all rows, and rows have the weight of their query if it counts."""
    all_rows = list[Row]()
    for rows, weight in queries:
        first = len(all_rows)
        for row in rows:
            beats = tuple((first + loser, pair_weight) for loser, pair_weight in row.beats)
            row_weight = weight if convention.average == "query" else row.weight
            all_rows.append(replace(row, beats=beats, weight=row_weight))
    return all_rows
