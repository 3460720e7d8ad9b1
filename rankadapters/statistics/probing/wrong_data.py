"""Explain a function's answers by the data: mistakes with scores, labels and queries, and other measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice

import numpy as np

from rankadapters.core.arrays import Ints
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.measures import MEASURES
from rankadapters.statistics.probing.cases import Case
from rankadapters.statistics.probing.elimination import (
    Grid,
    Group,
    Measures,
    Pool,
    cached_pool,
    grids_of,
    is_untied,
    members_of,
    narrowed_grids,
    values_of,
)
from rankadapters.statistics.probing.evidence import N_UNTIED, Finding, Search, mistaken_columns
from rankadapters.statistics.probing.rare_cases import SCORES, rare_cases
from rankadapters.statistics.rivals import OTHER_NAMES

N_WRONG = 4  # cases whose answers no convention gives, on which a mistake is tried too
N_SAMPLED = 20  # cases that show which conventions a mistake with the data leaves


def of_columns(search: Search) -> Iterator[Finding]:
    """Yield mistakes with scores, labels and queries.

    Only conventions that give the answers to the cases that a mistake leaves as they are can explain the others.
    """
    whole = grids_of(search.measures, search.cases[0].queries, ranked=search.examination.maker.distinct)
    step = max(1, len(search.cases) // N_SAMPLED)
    sample = sorted({*search.wrong[:N_SAMPLED], *search.filters, *search.untied, *range(0, len(search.cases), step)})
    grids = {}
    for text in dict.fromkeys(chain.from_iterable(search.changed(i) for i in sample)):
        unchanged = [i for i in sample if search.with_mistake(text, i) == search.cases[i]]
        rows = np.flatnonzero(search.near[:, unchanged].all(axis=1))
        if rows.size and len(unchanged) < len(sample):
            grids[text] = narrowed_grids(whole, [search.pool.groups[row] for row in rows])
    for text, _, conventions in _matching(search, grids, search.measures):
        if _agrees_on_special_scores(search, text, conventions[0]):
            yield Finding(f"it returns {text}", conventions)


def _agrees_on_special_scores(search: Search, text: str, convention: Convention) -> bool:
    """Return whether a mistake also explains the answers that are numbers to queries of special scores."""
    cases = [case for case in rare_cases(search.examination.maker, several=False) if case.purpose == SCORES]
    if np.isnan(search.ask(cases)).all():
        return True
    values = values_of(convention, [mistaken_columns(case).get(text, case) for case in cases])
    return not search.differ(values, cases).any()


def of_measures(search: Search) -> Iterator[Finding]:
    """Yield the conventions of other measures that fit."""
    ranked = search.examination.maker.distinct
    for name, measure in MEASURES.items():
        whole = grids_of((measure,), search.cases[0].queries, further=True, ranked=ranked)
        for _, grids, _ in _matching(search, {"": whole}, (measure,)) if measure not in search.measures else ():
            pool = Pool.over(search.examination.pool.cases, grids, search.examination.cutoff)
            if conventions := search.verified(pool):
                capped = name == "precision" and {getattr(c, "divisor", "") for c in conventions} == {"relevant"}
                what = f"{name}{OTHER_NAMES[name, 'relevant'] if capped else ''}"
                text = f"it computes {what}, not {' or '.join(other.measure for other in search.measures)}"
                yield Finding(text, conventions, names_presets=True)


def _matching(
    search: Search, grids_by_text: Mapping[str, list[Grid]], measures: Measures
) -> Iterator[tuple[str, list[Grid], list[Convention]]]:
    """Yield the mistakes with which conventions of some grids give all answers, with smaller grids of these.

    Cases without tied rows rule out most formulas, for all mistakes at once; then some cases of each kind do.
    """
    lowest = min(search.examination.maker.grades)
    for text, grids in _with_formulas(search, grids_by_text, measures):
        cases = [search.with_mistake(text, i) for i in range(len(search.cases))]
        usable = np.array([min(case.labels) >= lowest for case in cases], bool)
        first = np.append(search.wrong[:N_WRONG], search.filters)
        parts = [first[usable[first]], np.flatnonzero(usable)]
        groups: list[Group] = []
        if search.enough(usable) and all(groups := _fitting(search, grids, cases, part) for part in parts if part.size):
            yield text, grids, members_of(groups)


def _with_formulas(
    search: Search, grids_by_text: Mapping[str, list[Grid]], measures: Measures
) -> Iterator[tuple[str, list[Grid]]]:
    """Yield the mistakes with which some formulas give the answers to cases without tied rows, and their grids.

    A mistake that gives all such cases tied rows keeps its grids.
    """
    parts: dict[str, list[int]] = {}
    for text in grids_by_text:
        changed = ((i, search.with_mistake(text, i)) for i in search.untied.tolist())
        usable = (i for i, case in changed if _is_usual(search, case) and is_untied(case.traits()))
        parts[text] = [*islice(usable, N_UNTIED)]
    cases = tuple(search.with_mistake(text, i) for text, part in parts.items() for i in part)
    pool = Pool([], [], np.empty((0, len(cases))))
    if cases:
        with suppress(InputError):  # no convention of the measures accepts these labels
            further = not set(measures) <= set(search.measures)
            pool = cached_pool(cases, measures, search.examination.cutoff, further=further, untied=True)
    ends = np.cumsum([len(part) for part in parts.values()])
    for end, (text, part) in zip(ends.tolist(), parts.items(), strict=True):
        of_part = Pool([], pool.groups, pool.values[:, end - len(part) : end])
        if not part:
            yield text, grids_by_text[text]
        elif groups := of_part.groups_with(search.answers[part], search.tolerance):
            yield text, narrowed_grids(grids_by_text[text], groups, formula_only=True)


def _is_usual(search: Search, case: Case) -> bool:
    """Return whether every label of a case could be a grade, so that no convention refuses it."""
    lowest = min(search.examination.maker.grades)
    return all(label.is_integer() and label >= lowest for label in case.labels)


def _fitting(search: Search, grids: list[Grid], cases: Sequence[Case], part: Ints) -> list[Group]:
    """Return the groups of grids that give the answers to some of the cases, as changed."""
    with suppress(InputError):  # no convention of the measures accepts these labels
        pool = Pool.over([cases[i] for i in part], grids, search.examination.cutoff)
        return pool.groups_with(search.answers[part], search.tolerance)
    return []
