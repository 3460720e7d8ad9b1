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
    """Yield cases that are smaller or simpler than a case: first without many rows, then without one, then plainer."""
    n_rows = len(case.labels)
    if len(case.sizes) > 1:
        yield from (case.select(np.flatnonzero(case.qid != query).tolist()) for query in range(len(case.sizes)))
    part = n_rows // 2
    while part:
        for first in range(0, n_rows, part):
            if rows := [row for row in range(n_rows) if not first <= row < first + part]:
                yield case.select(rows)
        part //= 2
    scores = np.asarray(case.scores)
    ranks = np.unique(scores, return_inverse=True)[1] + 1.0
    if (ranks != scores).any():
        yield case.with_columns(scores=ranks)
    for row, label in enumerate(case.labels):
        for lower in (0.0, 1.0):
            if 0 <= lower < label:
                yield case.with_columns(labels=(*case.labels[:row], lower, *case.labels[row + 1 :]))
