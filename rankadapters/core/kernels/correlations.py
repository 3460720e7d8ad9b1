"""Correlations of labels and scores in each query: of ranks, of pairs, and of the numbers themselves.

Each kernel walks over the rows by rank. Sums of ranks and counts of pairs are whole numbers, which float64 holds
exactly in queries of up to 200,000 rows. Sums of numbers are compensated, and added in the order of the ranks, with
tied rows by ascending label: the order of the caller's rows cannot change a bit.
"""

from __future__ import annotations

import math

import numpy as np

from rankadapters.core.kernels import internal, kernel, numbers, steps
from rankadapters.core.kernels.auc import COST, begin_of_tie, prefix_sum, row_of
from rankadapters.core.kernels.ranked_rows import longest_of, ranked_rows


@internal
def cosine(product, squares, other_squares):
    """Return a sum of products by the root of two sums of squares, in [-1, 1]; 0 where there are no squares."""
    if squares == 0 or other_squares == 0:
        return 0.0
    return max(-1.0, min(1.0, product / math.sqrt(squares * other_squares)))


@internal
def dot(column, other):
    """Sum of the products of two columns, where each step takes back what the last one lost by rounding (Kahan)."""
    total, lost = 0.0, 0.0
    for i in range(len(column)):
        term = column[i] * other[i] - lost
        larger = total + term
        lost = (larger - total) - term
        total = larger
    return total


@internal
def standardise(column):
    """Subtract the mean and divide by the largest difference from it; numbers that are all equal become 0."""
    largest, total = 0.0, 0.0
    for i in range(len(column)):
        largest = max(largest, abs(column[i]))
    exponent = math.frexp(largest)[1]
    first = math.ldexp(column[0], -exponent)  # powers of two are exact, and no sum can overflow or vanish
    for i in range(len(column)):
        column[i] = math.ldexp(column[i], -exponent) - first
        total += column[i]
    mean, largest = total / len(column), 0.0
    for i in range(len(column)):
        column[i] -= mean
        largest = max(largest, abs(column[i]))
    for i in range(len(column)):
        column[i] = column[i] / largest if largest > 0 else 0.0


@kernel(cost=COST)
def standardised(values, indptr, out):
    """Write the values of each query less their mean, by the largest difference from it."""
    space = numbers(longest_of(indptr))
    for q in range(len(indptr) - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        own = space[:n]
        for i in range(n):
            own[i] = values[start + i]
        if n > 0:
            standardise(own)
        for i in range(n):
            out[start + i] = own[i]


@kernel
def add_spearman(rows, indptr, ranks, averaged, constant, numerators):
    """Spearman's correlation of ranked rows; `ranks` are those by label, and all ranks are as in `spearman`."""
    for q in range(len(indptr) - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        ranking, last = rows[start - indptr[0] : start - indptr[0] + n], n
        product, squares, label_squares = 0.0, 0.0, 0.0
        if n == 0:
            continue
        if begin_of_tie(ranking, n) == 0:
            numerators[q] = constant
            continue
        while last > 0:
            first = begin_of_tie(ranking, last) if averaged else last - 1
            rank = float(n - last - first)
            for i in range(first, last):
                label_rank = ranks[start + row_of(ranking[i])]
                product += rank * label_rank
                squares += rank * rank
                label_squares += label_rank * label_rank
            last = first
        numerators[q] = cosine(product, squares, label_squares)


@kernel
def add_kendall(rows, indptr, lower, by_classes, constant, numerators):
    """Kendall's tau of ranked rows; `lower` is the number of rows in the query that have a lower label."""
    tree = numbers(longest_of(indptr) + 1)
    for q in range(len(indptr) - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        ranking, last = rows[start - indptr[0] : start - indptr[0] + n], n
        surplus, untied, untied_labels, levels, label_levels = 0.0, 0.0, 0.0, 0, 0
        for i in range(n):
            tree[i + 1] = 0.0
            untied_labels += lower[start + i]
            label_levels += 1 if lower[start + i] == i else 0  # rows are by ascending label
        while last > 0:
            first = begin_of_tie(ranking, last)
            for i in range(first, last):
                place = int(lower[start + row_of(ranking[i])])
                surplus += prefix_sum(tree, place) + prefix_sum(tree, place + 1) - (n - last)
            for i in range(first, last):
                place = int(lower[start + row_of(ranking[i])]) + 1
                while place <= n:
                    tree[place] += 1.0
                    place += place & -place
            untied += float(last - first) * (n - last)
            levels += 1
            last = first
        least = float(min(levels, label_levels))
        if levels <= 1:
            numerators[q] = constant
        elif by_classes and least > 1:
            numerators[q] = 2.0 * surplus * least / (float(n) * n * (least - 1.0))
        else:
            numerators[q] = cosine(surplus, untied, untied_labels)


@kernel
def add_pearson(rows, scores, order, indptr, labels, constant, numerators):
    """Pearson's correlation of ranked rows; `labels` are `standardised`."""
    width = longest_of(indptr)
    score_space, label_space = numbers(width), numbers(width)
    for q in range(len(indptr) - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        ranking, values, others = rows[start - indptr[0] : start - indptr[0] + n], score_space[:n], label_space[:n]
        if n == 0:
            continue
        if begin_of_tie(ranking, n) == 0:
            numerators[q] = constant
            continue
        for i in range(n):
            place = start + row_of(ranking[i])
            values[i] = scores[order[place] if len(order) else place]
            others[i] = labels[place]
        standardise(values)
        numerators[q] = cosine(dot(values, others), dot(values, values), dot(others, others))


def _ranked(scores, order, indptr):
    """Return the rows by rank, and the call that writes them."""
    rows = np.empty(indptr[-1] - indptr[0], np.int32)
    return rows, (ranked_rows, (scores, order, indptr, rows.size, True, indptr, rows))


@steps(cost=COST)
def spearman(scores, order, indptr, ranks, averaged, constant, numerators):
    """Spearman's correlation of each query: of its ranks by score with `ranks`, those by label.

    Ranks count twice from the middle of their query, so that mean ranks are whole numbers and add up to 0. Where all
    scores of a query are equal it is `constant`.
    """
    rows, rank = _ranked(scores, order, indptr)
    return [rank, (add_spearman, (rows, indptr, ranks, averaged, constant, numerators))]


@steps(cost=COST)
def kendall(scores, order, indptr, lower, by_classes, constant, numerators):
    """Kendall's tau of each query: tau-b, or tau-c with `by_classes`; as `spearman` where all scores are equal."""
    rows, rank = _ranked(scores, order, indptr)
    return [rank, (add_kendall, (rows, indptr, lower, by_classes, constant, numerators))]


@steps(cost=COST)
def pearson(scores, order, indptr, labels, constant, numerators):
    """Pearson's correlation of each query; as `spearman` where all scores are equal."""
    rows, rank = _ranked(scores, order, indptr)
    return [rank, (add_pearson, (rows, scores, order, indptr, labels, constant, numerators))]
