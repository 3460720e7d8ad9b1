"""Shrink a case while a function and a convention still differ on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from rankadapters.statistics.probing.cases import Case


def shrink(case: Case, differs: Callable[[Case], bool], budget: int) -> Case:
    """Return a case that still differs and cannot be simplified, or the smallest one found in `budget` trials."""
    smaller: Case | None = case
    while smaller is not None:
        case, smaller = smaller, None
        for candidate in simpler(case):
            budget -= 1
            if budget < 0:
                return case
            if differs(candidate):
                smaller = candidate
                break
    return case


def simpler(case: Case) -> Iterator[Case]:
    """Yield cases that are slightly smaller or simpler than a case."""
    yield from filter(None, (case.without_query(query) for query in range(len(case.sizes)) if len(case.sizes) > 1))
    yield from filter(None, (case.without_row(row) for row in range(len(case.labels))))
    scores = np.asarray(case.scores)
    distinct = scores.size - np.argsort(np.argsort(-scores, kind="stable"))
    ranks = np.unique(scores, return_inverse=True)[1] + 1
    for plain in (distinct, ranks):
        if (plain != scores).any():
            yield case.with_columns(scores=plain.astype(float).tolist())
    for row, label in enumerate(case.labels):
        for lower in (0.0, 1.0):
            if 0 <= lower < label:
                yield case.with_columns(labels=(*case.labels[:row], lower, *case.labels[row + 1 :]))
