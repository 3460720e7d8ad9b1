"""AUC: the share of pairs in the right order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from tests.oracles.rows import Row, as_float32, is_relevant, weighs_rows

TIED = {"average": 0.5, "worst": 0.0, "best": 1.0}  # the value of a tied pair
LEAST_ROWS = 3  # of a query in which XGBoost takes every two rows


def auc(rows: Sequence[Row], convention: Any) -> tuple[float, float] | None:
    """Return weight of the pairs in the right order / weight of all pairs."""
    score = as_float32 if convention.precision == "float32" else float
    concordant = total = 0.0
    for better, worse, weight in _pairs(rows, convention):
        ahead, behind = score(better.score), score(worse.score)
        concordant += weight * (TIED[convention.ties] if ahead == behind else float(ahead > behind))
        total += weight
    if not total:
        return None
    return (concordant, total) if convention.pool == "pairs" else (concordant / total, 1.0)


def _pairs(rows: Sequence[Row], convention: Any) -> Iterator[tuple[Row, Row, float]]:
    def weigh(row: Row) -> float:
        return row.weight if weighs_rows(convention) else 1.0

    if convention.pairs == "given":
        for row in rows:
            pairs = [(rows[loser], weight) for loser, weight in row.beats if row.retrieved and rows[loser].retrieved]
            yield from ((row, loser, weight if convention.average == "pair" else 1.0) for loser, weight in pairs)
        return
    retrieved = [row for row in rows if row.retrieved]
    if convention.pairs == "unit":
        pairs = ((a, b, _label(a), 1 - _label(b)) for a in retrieved for b in retrieved)
        yield from ((a, b, weigh(a) * better * weigh(b) * worse) for a, b, better, worse in pairs)
        return
    if convention.pairs == "every-two" and len(retrieved) < LEAST_ROWS:
        return
    for a, b in combinations(retrieved, 2):
        grades = [_grade(a, convention), _grade(b, convention)]
        if grades[0] != grades[1] or convention.pairs == "every-two":
            better, worse = (a, b) if grades[0] >= grades[1] else (b, a)
            yield better, worse, weigh(a) * weigh(b)


def _grade(row: Row, convention: Any) -> float:
    by_label = convention.pairs in {"label", "every-two"}
    return _label(row) if by_label else float(row.judged and is_relevant(row.label, convention.pairs))


def _label(row: Row) -> float:
    return row.label if row.judged else 0.0
