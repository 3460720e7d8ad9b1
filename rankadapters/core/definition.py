"""What every number means, in plain Python: the oracle that all kernels are held against. Read this file first."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor, fsum, log2

from rankadapters.core.convention import NDCG, Discounted
from rankadapters.core.errors import InputError
from rankadapters.core.fields import table


@dataclass(frozen=True)
class Row:
    """One document of one query."""

    label: float
    score: float
    docid: str = ""
    retrieved: bool = True
    judged: bool = True


def gain(label: float, convention: Discounted) -> float:
    """Worth of a label."""
    if gains := table(convention.gain):
        return gains[int(label)]
    if convention.gain.startswith("exp2"):
        return 2.0 ** (floor(label) if convention.gain == "exp2-floor" else label) - 1
    return max(label, 0.0) if convention.gain == "linear-positive" else label


def discount(rank: int, convention: Discounted) -> float:
    """Worth of a 1-based rank."""
    by_rank = {"log2": log2(rank + 1), "jk2": log2(max(rank, 2)), "reciprocal": rank}
    return 1 / by_rank[convention.discount]


def dcg(gains: Iterable[float], k: int | None, convention: Discounted) -> float:
    """Sum of gain x discount over the ranks 1..k of a list of gains in rank order."""
    return sum(g * discount(rank, convention) for rank, g in enumerate(list(gains)[:k], start=1))


def ranked_gains(rows: Sequence[Row], convention: Discounted) -> list[float]:
    """Gains of the retrieved rows by descending score; a tie has the declared order, or every row its mean gain."""
    gains = [gain(row.label, convention) if row.judged else 0.0 for row in rows]
    tie_order = {
        "reverse": lambda i: -i,
        "worst": lambda i: gains[i],
        "best": lambda i: -gains[i],
        "docid-ascending": lambda i: rows[i].docid.encode(),
        "docid-descending": lambda i: [-byte for byte in rows[i].docid.encode()] + [1],
    }.get(convention.ties, lambda i: i)
    scores = [row.score for row in rows]
    if convention.precision == "float32":
        scores = [struct.unpack("f", struct.pack("f", score))[0] for score in scores]
    ranking = sorted(sorted(range(len(rows)), key=tie_order), key=lambda i: -scores[i])
    if convention.ties != "average":
        return [gains[i] for i in ranking]
    ties = {s: sorted(gains[i] for i in ranking if scores[i] == s) for s in scores}
    return [tie[0] if tie[0] == tie[-1] else fsum(tie) / len(tie) for tie in (ties[scores[i]] for i in ranking)]


def query_value(rows: Sequence[Row], convention: Discounted) -> tuple[float | str, bool]:
    """Value of one query (or 'skip'), and whether the policy for empty queries gave it."""
    judged = [row for row in rows if row.judged]
    retrieved = [row for row in rows if row.retrieved and (row.judged or convention.unjudged != "drop")]
    if convention.unjudged == "error" and not all(row.judged for row in retrieved):
        raise InputError("unjudged")
    if judged and not retrieved:
        return _policy(convention.missing, "missing"), False
    if convention.k is not None and len(retrieved) < convention.k and convention.short != "pad":
        return _policy(convention.short, "short"), False
    value = dcg(ranked_gains(retrieved, convention), convention.k, convention)
    if not isinstance(convention, NDCG):
        return value, False
    cut = {"cutoff": convention.k, "retrieved": min(convention.k or len(rows), len(retrieved)), "all": None}
    ideal_gains = sorted((gain(row.label, convention) for row in judged), reverse=True)
    ideal = dcg(ideal_gains, cut[convention.ideal], convention)
    return (value / ideal, False) if ideal > 0 else (_policy(convention.empty, "empty"), True)


def _policy(choice: float | str, what: str) -> float | str:
    if choice == "error":
        raise InputError(what)
    return 0.0 if choice == "zero" else choice


def evaluate(queries: Sequence[tuple[Sequence[Row], float]], convention: Discounted) -> float:
    """Mean over (rows, query weight) pairs."""
    valued = [(*query_value(rows, convention), weight) for rows, weight in queries]
    scored = [(value, empty, weight) for value, empty, weight in valued if not isinstance(value, str)]
    if convention.average == "uniform":
        return fsum(value for value, _, _ in scored) / len(scored)
    unweighted = convention.average == "query-except-empty"
    terms = [value if empty and unweighted else value * weight for value, empty, weight in scored]
    return fsum(terms) / fsum(weight for _, _, weight in scored)
