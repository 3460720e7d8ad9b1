"""Evaluate all conventions of some measures on cases."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from rankadapters.core.data.columns import Floats
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.statistics.grid import Block, values_to_search, with_refusals
from rankadapters.statistics.probing.cases import Case, value_of
from rankadapters.statistics.search import Data, Search

ExtraValues = tuple[type[Convention], str, tuple[Any, ...]]  # values of a field that a measure's grid lacks


class Conventions(NamedTuple):
    """A group of conventions of a measure, all with the same value on every case of a `Pool`."""

    measure: type[Convention]
    blocks: list[Block]


@dataclass(slots=True)
class Pool:
    """Cases, and the value of every convention on each of them."""

    cases: list[Case]
    groups: list[Conventions]  # that the cases cannot distinguish
    values: Floats  # shape (n_groups, n_cases); NaN for no value

    @classmethod
    def of(
        cls,
        cases: Sequence[Case],
        measures: Sequence[type[Convention]],
        cutoff: int | None,
        *,
        further: bool = False,
        extra: Sequence[ExtraValues] = (),
        ranked: bool = False,
    ) -> Pool:
        """Evaluate all conventions in the grids of the measures, at one cutoff.

        The grids may have rare values (`further`) and `extra` values. With `ranked`, the fields about scores have only
        their first value, since a function of a ranking has no scores.
        """
        grids = []
        for measure in measures:
            grid = with_refusals(measure, values_to_search(measure, cases[0].queries, further=further))
            for _, name, values in (entry for entry in extra if entry[0] is measure):
                grid[name] = tuple(dict.fromkeys((*grid[name], *values)))
            if ranked:
                about_scores = [name for name, field in measure.declared().items() if field.group == "ranking"]
                grid |= {name: grid[name][:1] for name in about_scores}
            grids.append((measure, grid))
        return cls.over(cases, grids, cutoff)

    @classmethod
    def over(cls, cases: Sequence[Case], grids: Sequence[tuple[type[Convention], Block]], cutoff: int | None) -> Pool:
        """Evaluate all conventions in the grids of measures, at one cutoff."""
        labels, scores, sizes = (np.concatenate([getattr(case, name) for case in cases])
                                 for name in ("labels", "scores", "sizes"))  # fmt: skip
        parts = [len(case.sizes) for case in cases]
        data = [Data(Queries(labels, group_sizes=sizes), scores, (cutoff,), parts)]
        groups: list[Conventions] = []
        values: list[Floats] = [np.empty((0, len(cases)))]
        for measure, grid in grids:
            for batch in Search(measure, grid, data).groups():
                choices = product(range(len(batch.blocks)), range(len(batch.policies.blocks)))
                groups += [Conventions(measure, batch.conventions(*choice)) for choice in choices]
                values.append(batch.means.reshape(-1, len(cases)))
        return cls(list(cases), groups, np.concatenate(values))

    def members(self, rows: Iterable[int]) -> list[Convention]:
        """Return every valid convention of the groups with these indexes."""
        conventions: list[Convention] = []
        for measure, blocks in map(self.groups.__getitem__, rows):
            chosen = (dict(zip(block, values, strict=True)) for block in blocks for values in product(*block.values()))
            distinct: dict[Convention, None] = {}
            for fields in chosen:
                with suppress(ConventionError):
                    distinct[measure(**fields)] = None
            conventions += distinct
        return conventions


def values_of(convention: Convention, cases: Sequence[Case]) -> Floats:
    """Return the value of a convention on each case, NaN if it has none; much faster than `value_of` in turn.

    Cases with unusual labels, which a convention may refuse, are evaluated apart from the others.
    """
    grid = {name: (getattr(convention, name),) for name in convention.fields() if name != "k"}
    kinds = [(min(case.labels) < 0, all(float(label).is_integer() for label in case.labels)) for case in cases]
    values = np.full(len(cases), math.nan)
    for kind in set(kinds):
        rows = [i for i, other in enumerate(kinds) if other == kind]
        chosen = [cases[i] for i in rows]
        with suppress(InputError):
            pool = Pool.over(chosen, [(type(convention), grid)], getattr(convention, "k", None))
            if len(pool.groups) == 1:
                values[rows] = pool.values[0]
                continue
        values[rows] = [value_of(convention, case) for case in chosen]
    return values
