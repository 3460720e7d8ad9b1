"""Evaluate plans at many cutoffs: those that differ in nothing else are one plan of as many copies of the queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rankadapters.core.arrays import Array, Floats
from rankadapters.core.binding.plans import Plan, Ranking
from rankadapters.core.classes import lazy_property
from rankadapters.core.data.queries import Rows
from rankadapters.core.ranking.ranks import Ranks, rank_queries

OF_CUTOFF = ("k", "by_rank", "by_query", "options", "empty", "mass")  # what in a plan depends on the cutoff
ROWS_AT_ONCE = 2**17  # of all copies, so that the arrays of a formula stay in the processor's cache


class Cuts:
    """A plan at one cutoff after the other; plans that differ from it only in how they rank are cut in the same way."""

    def __init__(self, plans: Sequence[Plan]) -> None:
        self.plans = plans

    @lazy_property
    def alike(self) -> bool:
        """Whether one plan can compute them all: it reads the values of more ranks, and has no options of a cutoff."""
        deepest = max(self.plans, key=_depth)
        values = [(array, deepest.by_rank[name]) for plan in self.plans for name, array in plan.by_rank.items()]
        begin_alike = all(np.array_equal(array, deep[: array.size]) for array, deep in values)
        return begin_alike and all(plan.k and plan.options == deepest.options for plan in self.plans)

    @lazy_property
    def undecided(self) -> Array:
        """Which queries have no value before a policy decides, shape (n_cutoffs, n_queries)."""
        return np.stack([plan.empty | (plan.retrieved.sizes == 0) for plan in self.plans])

    def at_each(self, plan: Plan) -> list[Plan]:
        """Return a plan at each cutoff."""
        return [replace(plan, **{name: getattr(cut, name) for name in OF_CUTOFF}) for cut in self.plans]

    def numerators(self, plan: Plan, copies: Copies) -> Floats:
        """Return the numerators of a plan at each cutoff, shape (n_cutoffs, n_queries)."""
        numerators = []
        for part in self._parts:
            ranks = copies.ranks(plan.ranking, part.cutoffs, max(map(_depth, self.plans)))
            rows = Rows(None, ranks.indptr)
            copied = replace(part.plan, ranking=plan.ranking._replace(rows=rows), columns=plan.columns)
            numerators.append(copied.numerators(ranks, 0, ranks.sizes.size).reshape(len(part.cutoffs), -1))
        return np.concatenate(numerators)

    @lazy_property
    def _parts(self) -> list[_Part]:
        at_once = max(1, ROWS_AT_ONCE // max(1, self.plans[0].rows.n_docs))
        return [_Part.of(self.plans[first : first + at_once]) for first in range(0, len(self.plans), at_once)]


class _Part(NamedTuple):
    """Some of the cutoffs, and the plan of as many copies of the queries."""

    cutoffs: tuple[int, ...]
    plan: Plan

    @classmethod
    def of(cls, plans: Sequence[Plan]) -> _Part:
        masses = [plan.mass for plan in plans if plan.mass is not None]
        plan = replace(
            max(plans, key=_depth), k=None, mass=np.concatenate(masses) if masses else None,
            by_query={name: np.concatenate([plan.by_query[name] for plan in plans]) for name in plans[0].by_query},
        )  # fmt: skip
        return cls(tuple(map(_depth, plans)), plan)


class Copies:
    """The ranks of copies of the queries, made once for each ranking and choice of cutoffs."""

    def __init__(self, scores: Array) -> None:
        self._scores = scores
        self._ranks: dict[object, Ranks] = {}

    def ranks(self, ranking: Ranking, cutoffs: tuple[int, ...], depth: int) -> Ranks:
        """Return the ranks of a copy of the queries for each cutoff, none of which is beyond a depth."""
        if (ranking, depth) not in self._ranks:
            self._ranks[ranking, depth] = rank_queries(
                ranking.comparable(self._scores), ranking.rows.order, ranking.rows.indptr, depth,
                averaged=ranking.averaged, threshold=ranking.threshold,
            )  # fmt: skip
        key = ranking, depth, cutoffs
        if key not in self._ranks:
            self._ranks[key] = self._ranks[ranking, depth].copies(cutoffs)
        return self._ranks[key]


def _depth(plan: Plan) -> int:
    return plan.k or 0
