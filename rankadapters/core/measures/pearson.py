"""Pearson: the linear correlation of labels and scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import WholePlan
from rankadapters.core.data.columns import Flags, Floats, Ints
from rankadapters.core.measures.correlation import Correlation, cosine
from rankadapters.core.ranking.ranks import Ranks
from rankadapters.core.ranking.segments import reduced, segment_numbers, sums


@dataclass(frozen=True, kw_only=True, slots=True)
class Pearson(Correlation):
    """Pearson's linear correlation of labels and scores.

    Pearson = sum a_i b_i / sqrt(sum a_i^2 sum b_i^2) over the rows of a query: a_i is a row's label and b_i its score,
    each less its mean in the query. The value lies in [-1, 1]. Scores count as float64 numbers, whatever their order.
    To correlate scores with gains, pass the gains as labels.

    References
    ----------
    Pearson, Note on regression and inheritance in the case of two parents, Proceedings of the Royal Society of London
    58, 1895.
    scipy 1.17.1, stats/_stats_py.py, `pearsonr`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.Pearson(empty="skip", constant=0, missing="error", unjudged="error", pool="queries",
    ...                   average="uniform")
    >>> ra.evaluate([-1, 0, 1], [0, 2, 1], conv, group_sizes=[3]).value  # a = -1, 0, 1 and b = -1, 1, 0
    0.5
    """

    measure: ClassVar[str] = "pearson"

    def lower(self, binding: Binding) -> WholePlan:
        """Return the plan with rows by ascending label, and their standardized labels."""
        rows = binding.retrieved(self.unjudged)
        labels = rows.take(binding.labels)
        return self._plan(
            binding, pearson, rows, precision="none", empty=are_constant(labels, rows.indptr), options={},
            labels=standardized(labels, rows.indptr),
        )  # fmt: skip


def pearson(ranks: Ranks, labels: Floats, constant: float) -> Floats:
    """Return the correlation of the scores with the standardized labels; `constant` if the scores are equal."""
    indptr, scores = ranks.indptr, standardized(ranks.scores, ranks.indptr)
    product, squares, label_squares = (
        order_free_sums(column, indptr) for column in (scores * labels, scores * scores, labels * labels)
    )
    values = cosine(product, squares, label_squares)
    # Near 1 and -1, the distance of the two columns, each divided by its length, loses no digits.
    signs, (lengths, label_lengths) = np.copysign(1.0, product), np.sqrt([squares, label_squares])
    difference = scores / lengths[ranks.query] - labels / (signs * label_lengths)[ranks.query]
    near = signs * (1.0 - order_free_sums(difference * difference, indptr) / 2.0)
    values = np.where(np.abs(values) > 1 / 2, near, values)
    values[are_constant(ranks.scores, indptr)] = constant
    return values


def standardized(values: Floats, indptr: Ints) -> Floats:
    """Subtract each query's mean, then divide by the largest absolute value; equal numbers become 0."""
    sizes = np.diff(indptr)
    _, exponents = np.frexp(reduced(np.maximum, np.abs(values), indptr))
    values = np.ldexp(values, np.repeat(-exponents, sizes))  # exact, and avoids overflow and underflow
    values = values - np.repeat(reduced(np.minimum, values, indptr), sizes)
    values = values - np.repeat(order_free_sums(values, indptr) / np.maximum(sizes, 1), sizes)
    largest = np.repeat(reduced(np.maximum, np.abs(values), indptr), sizes)
    return np.divide(values, largest, out=np.zeros(values.size), where=largest > 0)


def are_constant(values: Floats, indptr: Ints) -> Flags:
    """Return which queries have equal values only."""
    constant: Flags = reduced(np.maximum, values, indptr) == reduced(np.minimum, values, indptr)
    return constant


def order_free_sums(values: Floats, indptr: Ints) -> Floats:
    """Return the sum of each query's values, which no order of its rows can change.

    Each value is split twice into a multiple of a power of two, so coarse that such multiples add up without rounding,
    and a rest (Rump, Ogita & Oishi, Accurate floating-point summation, SIAM J. Sci. Comput. 31(1), 2008).

    >>> order_free_sums(np.array([1e16, 1.0, -1e16]), np.array([0, 3])).tolist()
    [1.0]
    """
    sizes, numbers = np.diff(indptr), segment_numbers(indptr)
    totals = np.zeros(sizes.size)
    for _ in range(2):
        _, exponents = np.frexp(2.0 * sizes * reduced(np.maximum, np.abs(values), indptr))
        grid = np.ldexp(1.5, exponents)[numbers]
        multiples = (values + grid) - grid
        totals += sums(multiples, numbers, sizes.size)
        values = values - multiples
    return totals
