"""How much each field of a convention can change a number on given data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankadapters.audit.field_grid import evaluated, grid
from rankadapters.core import presets
from rankadapters.core.convention import Convention
from rankadapters.core.measures import NDCG
from rankadapters.core.queries import Queries
from rankadapters.core.score import Score
from rankadapters.statistics.cells import spelled

CUTOFFS = (1, 3, 5, 10, 20, None)  # what `k` is varied over, beside the cutoffs asked for

Variants = dict[tuple[Convention, str], dict[Any, Convention]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Effect:
    """The largest change that one field makes to a number, all else being one preset's.

    Attributes
    ----------
    field : str
        What was varied.
    change : float
        Largest value minus smallest.
    lowest, highest : str
        The field's values that give them.
    convention : Convention
        The preset in which the field was varied.
    """

    field: str
    change: float
    lowest: str
    highest: str
    convention: Convention


def effects(queries: Queries, scores: object, cutoffs: tuple[int | None, ...]) -> tuple[Effect, ...]:
    """Vary each field of every preset by itself, and keep the preset in which it matters most; largest first.

    Without scores (None) every document has the same: `ties` then makes the largest change that it can make for any
    scores, and the other fields are varied in the expectation over all rankings (`ties="average"`).
    """
    bases = _bases(cutoffs, random=scores is None)
    given = np.zeros(queries.n_docs) if scores is None else scores
    usable = evaluated(queries, given, bases)
    variants = _variants(queries, list(usable), cutoffs)
    values = evaluated(queries, given, (c for choices in variants.values() for c in choices.values()))
    found: dict[str, Effect] = {}
    for (base, name), choices in variants.items():
        effect = _effect(base, name, {text: values[c] for text, c in choices.items() if c in values})
        if name not in found or effect.change > found[name].change:
            found[name] = effect
    return tuple(sorted(found.values(), key=lambda effect: -effect.change))


def _bases(cutoffs: tuple[int | None, ...], *, random: bool) -> list[Convention]:
    """Every preset at every cutoff, once."""
    found = [presets.make(name, k) for name in presets.names() for k in cutoffs]
    if random:
        found = [c.replace(ties="average") for c in found]
    return list(dict.fromkeys(found))


def _variants(queries: Queries, bases: list[Convention], cutoffs: tuple[int | None, ...]) -> Variants:
    fields: dict[str, tuple[Any, ...]] = {"k": tuple(dict.fromkeys([*cutoffs, *CUTOFFS])), **grid(NDCG, queries)}
    for name, kind in NDCG.declared().items():
        if kind.column and kind.column not in queries.columns:
            del fields[name]
    return {
        (base, name): {value: base.replace(**{name: value}) for value in (getattr(base, name), *values)}
        for base in bases
        for name, values in fields.items()
    }


def _effect(base: Convention, name: str, values: dict[Any, Score]) -> Effect:
    lowest = min(values, key=lambda value: values[value].value)
    highest = max(values, key=lambda value: values[value].value)
    change = values[highest].value - values[lowest].value
    return Effect(field=name, change=change, lowest=spelled(lowest), highest=spelled(highest), convention=base)
