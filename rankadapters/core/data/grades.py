"""Grades: labels that are whole numbers from 0 to 255. They take one byte, and few of them are distinct.

What depends on a label alone is computed once per grade, and lists in order of the grade are counted, not sorted.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Array, Flags, Floats, Ints
from rankadapters.core.data.columns import index_dtype

Grades = NDArray[np.uint8]

ROWS_PER_BLOCK = 2**16  # so that the arrays of a block stay in the processor's cache
MOST_COUNTS = 4  # per row: short queries with many grades would need more memory than their rows
NUMBERS_PER_SORT = 2**16  # the classes of all queries of a block, which 16 bits can number
MOST_CLASSES = 32  # more would make the blocks too small


def as_grades(labels: Floats, judged: Flags | None) -> Grades | None:
    """Return the labels as bytes, 0 for unjudged rows; None unless all are whole numbers from 0 to 255.

    >>> as_grades(np.array([2.0, np.nan]), np.array([True, False])), as_grades(np.array([0.5]), None)
    (array([2, 0], dtype=uint8), None)
    """
    values = labels if judged is None else np.where(judged, labels, 0.0)
    with np.errstate(invalid="ignore"):  # a value that does not fit is changed, as the comparison below detects
        grades = values.astype(np.uint8)
    return grades if (grades == values).all() else None


def blocks_of_queries(indptr: Ints, n_rows: int) -> Iterator[tuple[int, int]]:
    """Return ranges of queries with about `n_rows` rows together, or one longer query.

    >>> list(blocks_of_queries(np.array([0, 2, 3, 9, 10]), 3))
    [(0, 2), (2, 3), (3, 4)]
    """
    if indptr[-1] <= n_rows:
        return iter([(0, indptr.size - 1)])
    starts = np.searchsorted(indptr, np.arange(0, indptr[-1], n_rows))
    return pairwise(np.unique(np.append(starts, indptr.size - 1)).tolist())


def _numbers(classes: Array, sizes: Ints, n_classes: int, dtype: type[np.integer[Any]] = np.int64) -> Array:
    """Return for each row the number of its query and class among all classes of all queries."""
    numbers: Array = np.repeat(np.arange(0, sizes.size * n_classes, n_classes, dtype=dtype), sizes)
    numbers += classes
    return numbers


def of_rows(by_grade: Floats, grades: Grades) -> Floats:
    """Return the number of each row's grade: `by_grade[grades]` in half the time."""
    numbers = np.empty(grades.size)
    for start in range(0, grades.size, ROWS_PER_BLOCK):
        part = slice(start, start + ROWS_PER_BLOCK)
        by_grade.take(grades[part], out=numbers[part], mode="clip")  # this mode needs no copy of `out`
    return numbers


def counts_of_grades(grades: Grades, judged: Flags | None, order: Array | None, indptr: Ints) -> Array | None:
    """Return how many judged rows of each query have each grade; None if these are too many numbers.

    Parameters
    ----------
    grades : uint8 array, shape (n_docs,)
        Grade of each row in the caller's order.
    judged : bool array, shape (n_docs,), or None
        Rows to count; None means all.
    order, indptr
        As in `Rows`.

    Returns
    -------
    int array, shape (n_queries, largest grade + 1), or None

    Examples
    --------
    >>> counts_of_grades(np.array([2, 0, 2], np.uint8), None, None, np.array([0, 2, 3])).tolist()
    [[1, 0, 1], [0, 0, 1]]
    """
    n_queries, n_grades = indptr.size - 1, int(grades.max(initial=0)) + 1
    if n_queries * n_grades > MOST_COUNTS * grades.size:
        return None
    n_classes = n_grades if judged is None else n_grades + 1
    unjudged = np.int64(n_grades)  # the class of unjudged rows
    counts, sizes = np.empty((n_queries, n_classes), index_dtype(grades.size)), indptr[1:] - indptr[:-1]
    for start, stop in blocks_of_queries(indptr, ROWS_PER_BLOCK):
        part = slice(int(indptr[start]), int(indptr[stop]))
        rows = part if order is None else order[part]
        classes = grades[rows] if judged is None else np.where(judged[rows], grades[rows], unjudged)
        numbers = _numbers(classes, sizes[start:stop], n_classes)
        counts[start:stop] = np.bincount(numbers, minlength=(stop - start) * n_classes).reshape(-1, n_classes)
    return counts[:, :n_grades]


def positions_by_grade(values: Floats, grades: Grades, indptr: Ints, *, falling: bool) -> Array | None:
    """Return positions that sort each query's rows by value, earlier rows first among equal values.

    They are those of `sorted_positions`, in less time. Return None if rows of one grade differ in their values, or if
    there are many grades.

    Parameters
    ----------
    values : float64 array, shape (n_rows,)
        Finite numbers.
    grades : uint8 array, shape (n_rows,)
        Grade of each row.
    indptr : int64 array, shape (n_queries + 1,)
        Where the rows of each query begin.
    falling : bool
        Whether the largest value comes first.

    Examples
    --------
    >>> positions_by_grade(np.ones(3), np.array([0, 2, 0], np.uint8), np.array([0, 3]), falling=True).tolist()
    [0, 1, 2]
    """
    n_grades = int(grades.max(initial=0)) + 1
    if n_grades > MOST_CLASSES or not grades.size:
        return None
    of_grade = values[[int(np.argmax(grades == grade)) for grade in range(n_grades)]]
    classes = np.unique(-of_grade if falling else of_grade, return_inverse=True)[1].astype(np.uint8).ravel()
    n_classes = int(classes.max()) + 1
    positions, sizes = np.empty(grades.size, index_dtype(grades.size)), indptr[1:] - indptr[:-1]
    n_rows = NUMBERS_PER_SORT // n_classes * max(1, grades.size // (2 * indptr.size))
    for start, stop in blocks_of_queries(indptr, min(n_rows, ROWS_PER_BLOCK)):
        part = slice(int(indptr[start]), int(indptr[stop]))
        if (of_grade.take(grades[part]) != values[part]).any():
            return None
        # numpy sorts 16-bit integers by radix, in a fifth of the time.
        dtype = np.uint16 if (stop - start) * n_classes <= NUMBERS_PER_SORT else np.int64
        numbers = _numbers(classes.take(grades[part]), sizes[start:stop], n_classes, dtype)
        positions[part] = np.argsort(numbers, kind="stable")
        positions[part] += part.start
    return positions
