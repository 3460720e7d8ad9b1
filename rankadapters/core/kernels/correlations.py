"""Correlations of labels and scores in each query: of ranks, of pairs, and of the numbers themselves.

Each kernel walks over the rows by rank. Sums of ranks and counts of pairs are whole numbers, which float64 holds
exactly in queries of up to 200,000 rows. Sums of numbers are compensated, and added in the order of the ranks, with
tied rows by ascending label: the order of the caller's rows cannot change a bit.
"""

from __future__ import annotations

import math

import numpy as np

from rankadapters.core.kernels import internal, kernel, steps, zeros
from rankadapters.core.kernels.auc import COST, prefix_sum, row_number, tie_start
from rankadapters.core.ranking.ranked_rows import longest_of, ranked_rows


@internal
def cosine(product, squares, other_squares):
    """Return product / sqrt(squares x other_squares), limited to [-1, 1]; 0 if a sum of squares is 0."""
    if squares == 0 or other_squares == 0:
        return 0.0
    return max(-1.0, min(1.0, product / math.sqrt(squares * other_squares)))


@internal
def dot(column, other):
    """Return the dot product of two columns, by Kahan summation."""
    total, lost = 0.0, 0.0
    for i in range(len(column)):
        term = column[i] * other[i] - lost
        larger = total + term
        lost = (larger - total) - term
        total = larger
    return total


@internal
def standardize(column):
    """Subtract the mean, then divide by the largest absolute value; equal numbers become 0."""
    largest, total = 0.0, 0.0
    for i in range(len(column)):
        largest = max(largest, abs(column[i]))
    exponent = math.frexp(largest)[1]
    first = math.ldexp(column[0], -exponent)  # scaling by powers of two is exact and avoids overflow and underflow
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
def standardized(values, indptr, out):
    """Write the values of each query, standardized by `standardize`."""
    space = zeros(longest_of(indptr))
    for q in range(len(indptr) - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        query_values = space[:n]
        for i in range(n):
            query_values[i] = values[start + i]
        if n > 0:
            standardize(query_values)
        for i in range(n):
            out[start + i] = query_values[i]


@kernel
def add_spearman(rows, indptr, ranks, averaged, constant, numerators):
    """Write Spearman's correlation of ranked rows; `ranks` are the ranks by label, scaled as in `spearman`."""
    for q in range(len(indptr) - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        ranking, last = rows[start - indptr[0] : start - indptr[0] + n], n
        product, squares, label_squares = 0.0, 0.0, 0.0
        if n == 0:
            continue
        if tie_start(ranking, n) == 0:
            numerators[q] = constant
            continue
        while last > 0:
            first = tie_start(ranking, last) if averaged else last - 1
            rank = float(n - last - first)
            for i in range(first, last):
                label_rank = ranks[start + row_number(ranking[i])]
                product += rank * label_rank
                squares += rank * rank
                label_squares += label_rank * label_rank
            last = first
        numerators[q] = cosine(product, squares, label_squares)


@kernel
def add_kendall(rows, indptr, lower, by_classes, constant, numerators):
    """Write Kendall's tau of ranked rows; `lower` has for each row the number of its query's rows with lower labels."""
    tree = zeros(longest_of(indptr) + 1)
    for q in range(len(indptr) - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        ranking, last = rows[start - indptr[0] : start - indptr[0] + n], n
        surplus, untied, untied_labels, levels, label_levels = 0.0, 0.0, 0.0, 0, 0
        for i in range(n):
            tree[i + 1] = 0.0
            untied_labels += lower[start + i]
            label_levels += 1 if lower[start + i] == i else 0  # rows are sorted by ascending label
        while last > 0:
            first = tie_start(ranking, last)
            for i in range(first, last):
                node = int(lower[start + row_number(ranking[i])])
                surplus += prefix_sum(tree, node) + prefix_sum(tree, node + 1) - (n - last)
            for i in range(first, last):
                node = int(lower[start + row_number(ranking[i])]) + 1
                while node <= n:
                    tree[node] += 1.0
                    node += node & -node
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
    """Write Pearson's correlation of ranked rows; `labels` are standardized."""
    width = longest_of(indptr)
    score_space, label_space = zeros(width), zeros(width)
    for q in range(len(indptr) - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        ranking = rows[start - indptr[0] : start - indptr[0] + n]
        query_scores, query_labels = score_space[:n], label_space[:n]
        if n == 0:
            continue
        if tie_start(ranking, n) == 0:
            numerators[q] = constant
            continue
        for i in range(n):
            row = start + row_number(ranking[i])
            query_scores[i] = scores[order[row] if len(order) else row]
            query_labels[i] = labels[row]
        standardize(query_scores)
        squares, label_squares = dot(query_scores, query_scores), dot(query_labels, query_labels)
        numerators[q] = cosine(dot(query_scores, query_labels), squares, label_squares)


def _ranked(scores, order, indptr):
    """Return an array for the rows by rank, and the kernel call that fills it."""
    rows = np.empty(indptr[-1] - indptr[0], np.int32)
    return rows, (ranked_rows, (scores, order, indptr, rows.size, True, indptr, rows))


@steps(cost=COST)
def spearman(scores, order, indptr, ranks, averaged, constant, numerators):
    """Spearman's correlation of each query: the correlation of the ranks by score with the ranks by label.

    All ranks are 2 x (rank - mean rank of the query), so that mean ranks of ties are whole numbers and sum to 0. If all
    scores of a query are equal, its value is `constant`.
    """
    rows, rank = _ranked(scores, order, indptr)
    return [rank, (add_spearman, (rows, indptr, ranks, averaged, constant, numerators))]


@steps(cost=COST)
def kendall(scores, order, indptr, lower, by_classes, constant, numerators):
    """Kendall's tau of each query: tau-b, or tau-c if `by_classes`; `constant` if all scores are equal."""
    rows, rank = _ranked(scores, order, indptr)
    return [rank, (add_kendall, (rows, indptr, lower, by_classes, constant, numerators))]


@steps(cost=COST)
def pearson(scores, order, indptr, labels, constant, numerators):
    """Pearson's correlation of each query; `constant` if all scores are equal."""
    rows, rank = _ranked(scores, order, indptr)
    return [rank, (add_pearson, (rows, scores, order, indptr, labels, constant, numerators))]
