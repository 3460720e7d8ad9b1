"""Saying why a function computes no convention: its nearest one, and its mistake."""

from __future__ import annotations

from rankadapters.core.declaration.convention import Convention
from rankadapters.statistics.grid import has_cutoff
from rankadapters.statistics.probing.answers import UNSTEADY
from rankadapters.statistics.probing.cases import LONG, PLAIN, PURPOSES, UNTIED
from rankadapters.statistics.probing.elimination import Elimination
from rankadapters.statistics.probing.examination import MOST_RANKS, examine, find_cutoff
from rankadapters.statistics.probing.mistakes import explain

PATIENCE = 20.0  # seconds after which a slow function is asked nothing twice
LEAST = dict.fromkeys(PURPOSES, 1) | {PLAIN: 4, UNTIED: 3, LONG: 1}  # answers that explain a mistake, by purpose


def diagnose(elimination: Elimination, grades: tuple[float, ...]) -> tuple[list[Convention], str]:
    """Return the conventions that come nearest to a function that fits none, and what it does otherwise."""
    function = elimination.function
    for purpose, least in LEAST.items():
        elimination.ask_more(purpose, least)
    for case in list(function.answers):
        if function.seconds < PATIENCE and function.deterministic:
            function.repeat(case)
    if not elimination.told:
        return [], ""
    group = elimination.nearest()
    nearest = [] if group is None else elimination.pool.members([group])
    if not function.deterministic:
        return nearest, next(fault for fault in function.faults if fault.startswith(UNSTEADY))
    other = at_other_cutoff(elimination, grades)
    if other is not None:
        same = [c.replace(k=elimination.cutoff) for c in other.pool.members(other.left)]
        return same, f"its cutoff is {'all' if other.cutoff is None else other.cutoff}"
    mistake = explain(elimination)
    return (nearest, "") if mistake is None else mistake


def at_other_cutoff(elimination: Elimination, grades: tuple[float, ...]) -> Elimination | None:
    """Examine a function that fits nothing at the cutoff that it applies, if that is another one and helps."""
    measures = tuple(dict.fromkeys(group.measure for group in elimination.pool.groups))
    if not any(map(has_cutoff, measures)) or (elimination.cutoff or 0) >= MOST_RANKS:
        return None
    cutoff = find_cutoff(elimination.function, grades)
    if cutoff == elimination.cutoff:
        return None
    other = examine(elimination.function, measures, cutoff, grades, elimination.tolerance)
    return other if other.fits else None
