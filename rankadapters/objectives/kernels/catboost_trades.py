"""The pair weights of CatBoost's LambdaMart (source: libs/algo_helpers of 1.2.10), in place of a measure's change."""

from __future__ import annotations

import numpy as np

from rankadapters.core.kernels import internal


@internal
def catboost_changes_of_precisions(relevant, i, n, changes):
    """MAP: 1 / upper rank, plus 1 / rank of relevant rows in between if the upper row is irrelevant; not divided."""
    upper_relevance, total = relevant[i], 1.0 / (i + 1.0)
    for j in range(i + 1, n):
        changes[j] = (upper_relevance - relevant[j]) * total
        total += (1.0 - upper_relevance) * relevant[j] / (j + 1.0)


@internal
def catboost_changes_of_first_rank(relevant, i, n, firsts, changes):
    """MRR: the true change, except that a later relevant row counts 1 / its own rank before it moves up."""
    first, second = int(firsts[0]), int(firsts[1])
    for j in range(i + 1, n):
        lower_rank = min(j, second) if i == first else j
        changes[j] = (relevant[i] - relevant[j]) * (1.0 / (i + 1.0) - 1.0 / (lower_rank + 1.0))


@internal
def catboost_changes_of_cascade(chances, i, n, looks, rests, changes):
    """ERR: the true change, except for a float32 first term and skipped rows in between that equal rank i."""
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
