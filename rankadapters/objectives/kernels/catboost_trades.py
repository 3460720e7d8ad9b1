"""What CatBoost's LambdaMart takes for the change of a measure by a trade, from source, libs/algo_helpers of 1.2.10."""

from __future__ import annotations

import numpy as np

from rankadapters.core.kernels import internal


@internal
def catboost_changes_of_precisions(relevant, i, n, changes):
    """Of MAP: 1 / rank of the upper row and, where that is not relevant, of each relevant row in between; undivided."""
    own, total = relevant[i], 1.0 / (i + 1.0)
    for j in range(i + 1, n):
        changes[j] = (own - relevant[j]) * total
        total += (1.0 - own) * relevant[j] / (j + 1.0)


@internal
def catboost_changes_of_first_rank(relevant, i, n, firsts, changes):
    """Of MRR: as it is, but where a later relevant row goes above the first one, from its own rank on."""
    first, second = int(firsts[0]), int(firsts[1])
    for j in range(i + 1, n):
        then = min(j, second) if i == first else j
        changes[j] = (relevant[i] - relevant[j]) * (1.0 / (i + 1.0) - 1.0 / (then + 1.0))


@internal
def catboost_changes_of_cascade(chances, i, n, looks, rests, changes):
    """Of ERR: the first term in float32; rows in between that are worth as much as rank i are left out."""
    own, look, stop = np.float32(chances[i]), 1.0, 0.0
    for j in range(i + 1, n):
        behind = np.float32(chances[j]) - own
        changes[j] = 0.0
        if behind != 0:
            here = np.float64(-behind / np.float32(i + 1)) + stop * behind + look * behind / (j + 1.0)
            size = looks[i] * abs(here)
            changes[j] = -size if behind > 0 else size
            stop += look * chances[j] / (j + 1.0)
            look *= rests[j]
