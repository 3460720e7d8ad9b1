"""The values that a measure can take on a data set, such as the multiples of 1/50 for recall@1 of 50 queries.

A match with a printed number proves little if the measure takes few values near it, because the number of any other
model is one of them too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_

import numpy as np

from rankadapters.core.arrays import Array, Floats
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import RankAdaptersError
from rankadapters.statistics.inert import terms_of

N_RANKINGS = 16  # rankings whose values show which values a query can have
STRENGTH = 4.0  # from rankings that put relevant rows last to rankings that put them first, in standard deviations
MOST_QUERIES = 10_000  # the mean over more queries takes more values than anybody prints
MOST_STEPS = 2**20  # a lattice with more steps between the least and the largest value counts as dense
NEARBY = 0.1  # values within this share of a number are near it
LEAST_NEARBY = 5  # and at least this many on each side of the number
SAME = 0.25  # differences of less than this part of the smallest step are rounding errors


def attainable_values(queries: Queries, scores: Array, convention: Convention) -> Floats | None:
    """Return the values that other orders of the scores can give, ascending; None if there are too many to count.

    Every query contributes one of the values that it has under some rankings, from the worst to the best.

    >>> from rankadapters import presets
    >>> queries, convention = Queries([1, 0, 0, 1], group_sizes=[2, 2]), presets.trec_eval_9.P(1).replace(ties="input")
    >>> attainable_values(queries, np.array([2.0, 1, 4, 3]), convention).tolist()
    [0.0, 0.5, 1.0]
    """
    if not convention.is_sum or queries.n_queries > MOST_QUERIES:
        return None
    try:
        shares = np.array([terms_of(queries, other, convention).shares for other in _other_scores(queries, scores)])
    except RankAdaptersError:  # the convention has no value
        return None
    lowest = shares.min(axis=0)
    above = shares - lowest
    if not above.any():  # as where no row is relevant
        return np.array([lowest.sum()])
    step = _common_step(above)
    if not step:
        return None
    reached = 1  # bit i is set if i steps above the least value can be reached
    for steps in np.round(above / step).astype(int).T:
        reached = reduce(or_, (reached << each for each in np.unique(steps).tolist()))
    bits = np.frombuffer(reached.to_bytes(reached.bit_length() // 8 + 1, "little"), np.uint8)
    values: Floats = lowest.sum() + step * np.flatnonzero(np.unpackbits(bits, bitorder="little"))
    return values


def steps_nearby(values: Floats, number: float, unit: float) -> Floats:
    """Return the values near a number, as distances from it in whole units; values in the same unit count once.

    If the number is none of the values, they are moved so that the nearest one is the number.

    >>> steps_nearby(np.arange(51) / 50, 0.36, 1e-4).tolist()
    [-1000.0, -800.0, -600.0, -400.0, -200.0, 0.0, 200.0, 400.0, 600.0, 800.0, 1000.0]
    """
    steps = np.unique(np.round((values - number) / unit)) + 0.0
    steps -= steps[np.argmin(np.abs(steps))]
    first, last = np.searchsorted(steps, 0.0), np.searchsorted(steps, 0.0, side="right")
    window = NEARBY * abs(number) / unit
    low = min(np.searchsorted(steps, -window), max(0, first - LEAST_NEARBY))
    high = max(np.searchsorted(steps, window, side="right"), last + LEAST_NEARBY)
    nearby: Floats = steps[low:high]
    return nearby


def _other_scores(queries: Queries, scores: Array) -> Iterator[Array]:
    """Yield the scores in other orders within each query, from high labels last to high labels first.

    Rows that were not retrieved keep their scores, and ties stay as many.
    """
    rng, labels = np.random.default_rng(0), np.nan_to_num(queries.labels)
    merits = labels / ((labels.max() - labels.min()) or 1.0)
    group = 2 * queries.query_of_row + (0 if queries.retrieved is None else queries.retrieved)
    ranked = np.lexsort((-scores, group))
    for strength in np.linspace(-STRENGTH, STRENGTH, N_RANKINGS):
        shuffled = np.empty_like(scores)
        shuffled[np.lexsort((-strength * merits + rng.normal(size=scores.size), group))] = scores[ranked]
        yield shuffled


def _common_step(differences: Floats) -> float:
    """Return the largest number of which all differences, not all 0, are multiples; 0 if it is too small.

    >>> float(_common_step(np.array([[0.0, 0.0], [0.75, 0.5]]))), _common_step(np.array([[0.0, 0.0], [2**0.5, 0.2]]))
    (0.25, 0.0)
    """
    widest = float(differences.max())
    least = float(differences.max(axis=0).sum()) / MOST_STEPS
    step = widest
    for difference in np.unique(np.round(differences / widest, 12)).tolist():
        rest = difference * widest
        while rest > SAME * least:
            step, rest = rest, abs(step - rest * round(step / rest))  # Euclid's algorithm with the nearest multiple
        if step < least:
            return 0.0
    return widest / round(widest / step)  # exactly, so that the multiples of the step are exact too
