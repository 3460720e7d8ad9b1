"""Pair weights that CatBoost's LambdaMart uses instead of a measure's true change (1.2.10, libs/algo_helpers)."""

from __future__ import annotations

import numpy as np

from rankadapters.core.ranking.jit import internal


@internal
def catboost_changes_of_precisions(relevant, i, n, changes):
    """MAP: 1 / upper rank and, if the upper row is irrelevant, 1 / rank of each relevant row in between; no divisor."""
    upper_relevance, total = relevant[i], 1.0 / (i + 1.0)
    for j in range(i + 1, n):
        changes[j] = (upper_relevance - relevant[j]) * total
        total += (1.0 - upper_relevance) * relevant[j] / (j + 1.0)


@internal
def catboost_changes_of_first_rank(relevant, i, n, firsts, changes):
    """MRR: the true change, but if a relevant row moves up, MRR before the move is taken as 1 / the row's old rank."""
    first, second = int(firsts[0]), int(firsts[1])
    for j in range(i + 1, n):
        lower_rank = min(j, second) if i == first else j
        changes[j] = (relevant[i] - relevant[j]) * (1.0 / (i + 1.0) - 1.0 / (lower_rank + 1.0))


@internal
def catboost_changes_of_cascade(chances, i, n, looks, rests, changes):
    """ERR: the true change without the rows in between whose stop probability is that of rank i; partly in float32."""
    upper_chance, look, stop = np.float32(chances[i]), 1.0, 0.0
    for j in range(i + 1, n):
        difference = np.float32(chances[j]) - upper_chance
        changes[j] = 0.0
        if difference != 0:
            change = np.float64(-difference / np.float32(i + 1)) + stop * difference + look * difference / (j + 1.0)
            size = looks[i] * abs(change)
            changes[j] = -size if difference > 0 else size
            stop += look * chances[j] / (j + 1.0)
            look *= rests[j]
