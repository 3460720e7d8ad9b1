"""Explain a function that matches no known convention: find the nearest convention and the mistake."""

from __future__ import annotations

from rankadapters.core.declaration.convention import Convention
from rankadapters.statistics.grid import has_cutoff
from rankadapters.statistics.probing.answers import UNSTEADY
from rankadapters.statistics.probing.cases import LONG, PLAIN, PURPOSES, UNTIED
from rankadapters.statistics.probing.elimination import Elimination
from rankadapters.statistics.probing.examination import MOST_RANKS, examine, find_cutoff
from rankadapters.statistics.probing.mistakes import explain

PATIENCE = 20.0  # seconds of calls after which no case is repeated, since the function is slow
LEAST_ANSWERS = dict.fromkeys(PURPOSES, 1) | {PLAIN: 4, UNTIED: 3, LONG: 1}  # needed to identify a mistake, by purpose


def diagnose(elimination: Elimination, grades: tuple[float, ...]) -> tuple[list[Convention], str]:
    """Return the conventions nearest to a function that matches none, and what the function does differently."""
    function = elimination.function
    for purpose, least in LEAST_ANSWERS.items():
        elimination.ask_more(purpose, least)
    for case in list(function.answers):
        if function.seconds < PATIENCE and function.deterministic:
            function.repeat(case)
    if not elimination.values:
        return [], ""
    group = elimination.nearest()
    nearest = [] if group is None else elimination.pool.members([group])
    if not function.deterministic:
        return nearest, next(fault for fault in function.faults if fault.startswith(UNSTEADY))
    recut = at_actual_cutoff(elimination, grades)
    if recut is not None:
        conventions = [c.replace(k=elimination.cutoff) for c in recut.pool.members(recut.remaining)]
        return conventions, f"its cutoff is {'all' if recut.cutoff is None else recut.cutoff}"
    mistake = explain(elimination)
    return (nearest, "") if mistake is None else mistake


def at_actual_cutoff(elimination: Elimination, grades: tuple[float, ...]) -> Elimination | None:
    """Examine a function again if it applies a different cutoff; None if not, or if no convention fits then."""
    measures = tuple(dict.fromkeys(group.measure for group in elimination.pool.groups))
    if not any(map(has_cutoff, measures)) or (elimination.cutoff or 0) >= MOST_RANKS:
        return None
    cutoff = find_cutoff(elimination.function, grades)
    if cutoff == elimination.cutoff:
        return None
    recut = examine(elimination.function, measures, cutoff, grades, elimination.tolerance)
    return recut if recut.fits else None
