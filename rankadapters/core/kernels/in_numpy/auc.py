"""Numpy form of `kernels.auc`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankadapters.core.kernels.in_numpy.ranking import ALL_FINITE, ByRank, ranked
from rankadapters.core.kernels.in_numpy.segments import blocks, numbers, running, stable_order, starts_of, sums

COUNTED = 1024  # rows of a query up to which its pairs are counted one by one where that gives the same bits
PADDING = NARROW = 2**16 - 1  # below this numpy sorts by digits, at a fifth of the time


def pairs_by_label(
    scores: Any, order: Any, indptr: Any, grades: Any, weights: Any, tied: float, numerators: Any
) -> int:
    """Weight of the pairs whose row of the higher grade has the higher score; a tied pair counts `tied`."""
    bad, found = ranked(scores, order, indptr)
    if found is None:
        return bad
    part = slice(indptr[0], indptr[-1])
    same = _weight_of_each(weights[part], found.indptr)
    if same is not None and np.diff(indptr).max() <= COUNTED:
        _write(same * _count(found, grades[part][found.rows], tied), indptr, numerators)
        return ALL_FINITE
    rows, begins = _from_the_lowest(found)
    tie = numbers(begins)
    places, weight = grades[part][rows] - 1, weights[part][rows]
    below, beside = _lower_grades(places, weight, tie, found.indptr)
    # Each tie adds what its rows have below, then what they have beside them.
    at = np.arange(rows.size) + begins[:-1][tie]
    terms, query = np.zeros(2 * rows.size), np.repeat(numbers(found.indptr), 2)
    terms[at] = weight * (1.0 - tied) * below
    if tied > 0:
        terms[at + np.diff(begins)[tie]] = weight * tied * beside
    _write(sums(terms, query, numerators.size), indptr, numerators)
    return ALL_FINITE


def pairs_by_relevance(
    scores: Any, order: Any, indptr: Any, positive: Any, negative: Any, tied: float, numerators: Any
) -> int:
    """Weight of the pairs of a relevant row above an irrelevant one; a row that is both in part meets itself."""
    bad, found = ranked(scores, order, indptr)
    if found is None:
        return bad
    rows, begins = _from_the_lowest(found)
    part, tie, n = slice(indptr[0], indptr[-1]), numbers(begins), begins.size - 1
    relevant, irrelevant = (sums(column[part][rows], tie, n) for column in (positive, negative))
    tieptr = np.searchsorted(begins, found.indptr)
    below = np.zeros(n)
    below[1:] = running(np.add, irrelevant, tieptr)[:-1]
    below[tieptr[:-1][np.diff(tieptr) > 0]] = 0.0
    terms = relevant * (below + tied * irrelevant)
    _write(sums(terms, numbers(tieptr), numerators.size), indptr, numerators)
    return ALL_FINITE


def given_pairs(
    scores: Any, order: Any, indptr: Any, winners: Any, losers: Any, weights: Any, pairptr: Any, tied: float,
    numerators: Any,
) -> int:  # fmt: skip
    """Weight of the given pairs whose winner has the higher score."""
    places = order[indptr[0] : indptr[-1]] if order.size else np.arange(indptr[0], indptr[-1])
    finite = np.isfinite(scores[places])
    if not finite.all():
        return int(places[np.argmin(finite)])
    part = slice(pairptr[0], pairptr[-1])
    ahead, behind, weight = scores[winners[part]], scores[losers[part]], weights[part]
    terms = np.where(ahead > behind, weight, np.where(ahead == behind, weight * tied, 0.0))
    numerators[:] = sums(terms, numbers(pairptr), numerators.size)
    return ALL_FINITE


def _weight_of_each(weights: Any, indptr: Any) -> Any:
    """Weight of all rows of each query, 0 or 1, so that sums are counts in any order; None where it is not so."""
    if not ((weights == 0) | (weights == 1)).all():
        return None
    found = np.zeros(indptr.size - 1)
    some = np.flatnonzero(np.diff(indptr))
    found[some] = weights[indptr[some]]
    return found if (np.repeat(found, np.diff(indptr)) == weights).all() else None


def _count(found: ByRank, grades: Any, tied: float) -> Any:
    """Pairs of each query whose row of the higher grade has the higher score; quadratic, but few bytes a pair."""
    ties = found.ties
    lengths, tie = np.diff(ties), numbers(ties)
    numerators = np.zeros(found.indptr.size - 1)
    for places, inside in blocks(found.indptr):
        # A row of the matrix for each rank, so that what is compared lies side by side; what is padded is no pair's.
        grade = np.where(inside, grades[places], PADDING).astype(np.uint16).T.copy()
        group = np.where(inside, tie[places] - tie[places[:, :1]], PADDING).astype(np.uint16).T.copy()
        longest = lengths[tie[places]].max()
        ahead, beside = np.zeros(grade.shape, np.uint16), np.zeros(grade.shape, np.uint16)
        for distance in range(1, len(grade)):
            higher = grade[:-distance] > grade[distance:]
            if distance < longest:
                together = group[:-distance] == group[distance:]
                beside[distance:] += together & (grade[:-distance] != grade[distance:])
                higher &= ~together
            ahead[distance:] += higher
        several = np.searchsorted(found.indptr, places[:, 0], side="right") - 1
        numerators[several] = ahead.sum(axis=0, dtype=np.int64) + tied * beside.sum(axis=0, dtype=np.int64)
    return numerators


def _from_the_lowest(found: ByRank) -> tuple[Any, Any]:
    """Rows of each query from its lowest score up, those of a tie as they were ranked; and the offsets of the ties."""
    n, ties = found.rows.size, found.ties
    query = numbers(found.indptr)
    mirror = found.indptr[:-1][query] + found.indptr[1:][query] - 1  # where a query begins and ends, added up
    tie = numbers(ties)
    first, last = ties[:-1][tie], ties[1:][tie]
    places = np.empty(n, np.intp)
    places[mirror - last + 1 + np.arange(n) - first] = np.arange(n)
    changes = np.ones(n, np.bool_)
    changes[1:] = tie[places][1:] != tie[places][:-1]
    return found.rows[places], starts_of(changes)


def _lower_grades(places: Any, weight: Any, tie: Any, indptr: Any) -> tuple[Any, Any]:
    """Weight of the rows of lower grades in the ties before each row's, and before and with it.

    Added up as the kernel's Fenwick tree does: a row of grade g + 1 finds, for each bit of g that is set, from the
    lowest up, a node that holds the rows whose grades share the higher bits but have a 0 there, in the order they came.
    """
    below, beside = np.zeros(places.size), np.zeros(places.size)
    if places.max(initial=0) < NARROW:
        places = places.astype(np.uint16)
    query = numbers(indptr)
    for level in range(int(places.max(initial=0)).bit_length()):
        node = places >> (level + 1)
        order = stable_order(node, indptr, np.iinfo(node.dtype).max)
        above = (places[order] >> level) & 1 == 1  # these look at the node, the others are in it
        changes = np.ones(order.size, np.bool_)
        changes[1:] = (node[order][1:] != node[order][:-1]) | (query[1:] != query[:-1])
        so_far = running(np.add, np.where(above, 0.0, weight[order]), starts_of(changes))
        runs = changes.copy()
        runs[1:] |= tie[order][1:] != tie[order][:-1]
        begins = starts_of(runs)
        before = np.where(changes[begins[:-1]], 0.0, so_far[begins[:-1] - 1])
        run = numbers(begins)
        below[order] += np.where(above, before[run], 0.0)
        beside[order] += np.where(above, so_far[begins[1:] - 1][run], 0.0)
    return below, beside


def _write(found: Any, indptr: Any, numerators: Any) -> None:
    """Write the sums of the queries that have rows."""
    some = np.diff(indptr) > 0
    numerators[some] = found[some]
