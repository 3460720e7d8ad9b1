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
from rankadapters.core.ranking.segments import reduced


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
    """Return the correlation of each query's scores with its standardized labels; `constant` if the scores are equal."""
    scores = standardized(ranks.scores, ranks.indptr)
    products = (scores * labels, scores * scores, labels * labels)
    values = cosine(*(exact_sums(product, ranks.indptr) for product in products))
    values[are_constant(ranks.scores, ranks.indptr)] = constant
    return values


def standardized(values: Floats, indptr: Ints) -> Floats:
    """Subtract each query's mean, then divide by the largest absolute value; equal numbers become 0."""
    sizes = np.diff(indptr)
    _, exponents = np.frexp(reduced(np.maximum, np.abs(values), indptr))
    values = np.ldexp(values, np.repeat(-exponents, sizes))  # exact, and avoids overflow and underflow
    values = values - np.repeat(reduced(np.minimum, values, indptr), sizes)
    values = values - np.repeat(exact_sums(values, indptr) / np.maximum(sizes, 1), sizes)
    largest = np.repeat(reduced(np.maximum, np.abs(values), indptr), sizes)
    return np.divide(values, largest, out=np.zeros(values.size), where=largest > 0)


def are_constant(values: Floats, indptr: Ints) -> Flags:
    """Return which queries have equal values only."""
    constant: Flags = reduced(np.maximum, values, indptr) == reduced(np.minimum, values, indptr)
    return constant


def exact_sums(values: Floats, indptr: Ints) -> Floats:
    """Return the correctly rounded sum of each query's values, which no order of its rows can change."""
    numbers = values.tolist()
    totals = [math.fsum(numbers[first:last]) for first, last in pairwise(indptr.tolist())]
    return np.array(totals)
