"""Gains, relevance and discounts: what a convention makes of labels and ranks."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Array, Floats, Ints
from rankadapters.core.data.columns import refused_label
from rankadapters.core.data.grades import ROWS_PER_BLOCK, blocks_of_queries, of_rows
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.fields import border, gain_table, label_threshold
from rankadapters.core.errors import InputError
from rankadapters.core.ranking.offsets import offsets, positions_within, segment_numbers, sums

_FLOAT64_EXPONENT = 1024


def gains_of(labels: Floats, judged: NDArray[np.bool_] | None, gain: str) -> Floats:
    """Return the gain of each row, 0 for unjudged rows.

    Raises
    ------
    InputError
        A label is negative under `exp2` or a table, outside the table, or so large that 2^label overflows.
    """
    if judged is not None:
        labels = np.where(judged, labels, 0.0)
    gains = _gains(labels, gain)
    if judged is not None:
        gains = np.where(judged, gains, 0.0)
    return gains


def gains_of_grades(queries: Queries, gain: str) -> Floats | None:
    """Return the gains of the grades 0, 1, ... up to the largest label; None if labels are no grades, or one has none.

    >>> gains_of_grades(Queries([2, 0], qid=[7, 7]), "exp2").tolist()
    [0.0, 1.0, 3.0]
    """
    if queries.grades is None:
        return None
    try:
        return gains_of(np.arange(queries.grades.max() + 1.0), None, gain)
    except InputError:  # `gains_of` all labels names the row
        return None


def gains_of_rows(queries: Queries, gain: str) -> Floats:
    """Return the gain of each row, 0 for unjudged rows; raise InputError as `gains_of` does."""
    by_grade = None if gain == "linear" else gains_of_grades(queries, gain)
    if by_grade is None or queries.grades is None:
        return gains_of(queries.labels, queries.judged, gain)
    gains = of_rows(by_grade, queries.grades)  # looking up a few gains is faster than computing one for every row
    return gains if queries.judged is None else np.where(queries.judged, gains, 0.0)


def ideal_sums(counts: Array, gains: Floats, k: int | Ints, discounts: Floats) -> Floats:
    """Return the sum of gain x discount over each query's k highest gains, in descending order.

    Parameters
    ----------
    counts : int array, shape (n_queries, n_grades)
        Number of each query's rows with each grade.
    gains : float64 array, shape (n_grades,)
        Gain of each grade.
    k : int, or int array, shape (n_queries,)
        Number of ranks.
    discounts : float64 array
        Discount of each rank, at least `k`.

    Examples
    --------
    >>> ideal_sums(np.array([[1, 0, 2]]), np.array([0.0, 1.0, 3.0]), 2, np.array([1.0, 0.5])).tolist()
    [4.5]
    """
    falling = np.argsort(-gains, kind="stable")
    ends = np.minimum(counts[:, falling].cumsum(axis=1), k if isinstance(k, int) else k[:, None])
    sizes, indptr = ends.copy(), offsets(ends[:, -1])
    sizes[:, 1:] -= ends[:, :-1]
    gains, totals = np.broadcast_to(gains[falling], counts.shape), np.empty(len(counts))
    for start, stop in blocks_of_queries(indptr, ROWS_PER_BLOCK):
        by_rank = gains[start:stop].ravel().repeat(sizes[start:stop].ravel())
        within = indptr[start : stop + 1] - indptr[start]
        products = by_rank * discounts[positions_within(within)]
        totals[start:stop] = sums(products, segment_numbers(within), stop - start)
    return totals


def passes_threshold(values: Array, name: str) -> NDArray[np.bool_]:
    """Return whether each score is above B if the name is `above_B`, or at least B if it is `from_B`.

    >>> passes_threshold(np.array([0.0, 0.5, 1.0]), "above_0.5").tolist()
    [False, False, True]
    """
    return _passes(values, *(border(name) or ("from", -np.inf)))


def is_relevant(labels: Floats, name: str) -> NDArray[np.bool_]:
    """Return whether each label is above B if the name is `above_B`, or at least B if it is `from_B`, as float32 too.

    >>> is_relevant(np.array([0.5, 0.7, np.float32(0.7)]), "from_0.7").tolist()
    [False, True, True]
    """
    return _passes(labels, *(label_threshold(name) or ("from", -np.inf)))


def _passes(values: Array, word: str, threshold: float) -> NDArray[np.bool_]:
    passes: NDArray[np.bool_] = values > threshold if word == "above" else values >= threshold
    return passes


def discounts_of(discount: str, n: int) -> Floats:
    """Return the discounts of the ranks 1..n.

    >>> discounts_of("reciprocal", 3).tolist()
    [1.0, 0.5, 0.3333333333333333]
    """
    if discount in {"log2", "jk2"}:
        # The C library's log2 equals the toolkits' on every machine; numpy's can differ in the last bit.
        arguments = range(2, n + 2) if discount == "log2" else (2, *range(2, n + 1))
        return 1 / np.fromiter(map(math.log2, arguments), np.float64, n)
    word, parameter = border(discount) or ("reciprocal", 1.0)
    if word == "power":
        return np.fromiter((parameter**rank for rank in range(n)), np.float64, n)
    if word == "log":
        return math.log(parameter) / np.fromiter(map(math.log, range(2, n + 2)), np.float64, n)
    return 1 / np.arange(1.0, n + 1)


def _gains(labels: Floats, name: str) -> Floats:
    if name == "linear":
        return labels
    if name == "linear-positive":
        return np.maximum(labels, 0.0)
    if name not in {"exp2", "exp2-floor"}:
        return _gains_by_number(labels, name)
    if labels.min() < 0:
        raise _negative(labels, name)
    high = float(labels.max())
    if high >= _FLOAT64_EXPONENT:
        too_large = "so large that 2^label overflows float64"
        raise refused_label(labels, labels >= _FLOAT64_EXPONENT, too_large, "use a linear gain or a table")
    powers = np.exp2(np.floor(labels) if name == "exp2-floor" else labels)
    powers -= 1.0
    return powers


def _gains_by_number(labels: Floats, name: str) -> Floats:
    """Return the gains under `table_...`, `from_B` or `linear-from_B`."""
    gains = gain_table(name)
    if gains is None:
        word, level = label_threshold(name) or (name, 0.0)
        return np.where(labels >= level, 1.0 if word == "from" else labels, 0.0)
    if labels.min() < 0:
        raise _negative(labels, name)
    bad = (labels != np.floor(labels)) | (labels >= len(gains))
    if bad.any():
        reason = f"outside the gain table of {name} (labels 0 to {len(gains) - 1})"
        raise refused_label(labels, bad, reason, "give a table with a gain for every grade, or map your labels first")
    return np.take(np.asarray(gains), labels.astype(np.intp))


def _negative(labels: Floats, name: str) -> InputError:
    """Return the error for the first negative label."""
    hint = "gain='linear' takes it as it is; and labels come before scores"
    return refused_label(labels, labels < 0, f"negative, which {name} has no gain for", hint)
