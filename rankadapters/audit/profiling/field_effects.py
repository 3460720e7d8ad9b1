"""How much each field of a convention can change a number on given data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankadapters.audit.evaluation import evaluated
from rankadapters.core import presets
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.core.evaluation.score import Score
from rankadapters.statistics.cells import spelled
from rankadapters.statistics.grid import Values, grid

CUTOFFS = (1, 3, 5, 10, 20, None)  # what a cutoff is varied over, beside those asked for
RANDOM = {"ties": "average"}  # where all scores are equal: the expectation over all rankings

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


def effects(
    queries: Queries, scores: object, measure: type[Convention], cutoffs: tuple[int | None, ...]
) -> tuple[Effect, ...]:
    """Vary each field of every preset by itself, and keep the preset in which it matters most; largest first.

    Without scores (None) every document has the same: `ties` then makes the largest change that it can make for any
    scores, and the other fields are varied in the expectation over all rankings (`ties="average"`).
    """
    bases = list(_bases(measure, cutoffs, RANDOM if scores is None else {}))
    given = np.zeros(queries.n_docs) if scores is None else scores
    usable = evaluated(queries, given, bases) or evaluated(queries, given, _fitting(queries, measure, bases))
    variants = _variants(queries, measure, list(usable), cutoffs)
    values = evaluated(queries, given, (c for choices in variants.values() for c in choices.values()), usable)
    found: dict[str, Effect] = {}
    for (base, name), choices in variants.items():
        effect = _effect(base, name, {text: values[c] for text, c in choices.items() if c in values})
        if name not in found or effect.change > found[name].change:
            found[name] = effect
    return tuple(sorted(found.values(), key=lambda effect: -effect.change))


def _bases(measure: type[Convention], cutoffs: tuple[int | None, ...], changes: dict[str, str]) -> Iterable[Convention]:
    """Every preset of the measure at every cutoff, once."""
    found: dict[Convention, None] = {}
    for name in presets.names(measure.measure):
        for k in cutoffs:
            base = presets.make(name, k)
            # A measure without such an order of ties keeps its own.
            found[_replaced(base, changes) or base] = None
    return found


def _fitting(queries: Queries, measure: type[Convention], bases: Iterable[Convention]) -> Iterable[Convention]:
    """The presets with other values of the fields that need columns which are not there, such as pairs or docids."""
    tried, kinds = grid(measure, queries), measure.declared()
    found: dict[Convention, None] = {}
    for base in bases:
        needy = [name for name in tried if not kinds[name].fits(getattr(base, name), queries.columns)]
        for average in dict.fromkeys((base.average, *tried["average"])):  # a weight of pairs goes with pairs
            varied = _replaced(base, {**{name: tried[name][0] for name in needy}, "average": average})
            if varied is not None:
                found[varied] = None
                break
    return found


def _replaced(convention: Convention, fields: dict[str, Any]) -> Convention | None:
    if not set(fields) <= set(convention.fields()):
        return None
    try:
        return convention.replace(**fields)
    except ConventionError:  # these fields do not go together
        return None


def _variants(
    queries: Queries, measure: type[Convention], bases: list[Convention], cutoffs: tuple[int | None, ...]
) -> Variants:
    fields: dict[str, Values] = {}
    tried = grid(measure, queries)
    for name, kind in measure.declared().items():
        if kind.group == "head":
            fields[name] = tuple(dict.fromkeys([*cutoffs, *CUTOFFS]))
        elif not kind.column or kind.column in queries.columns:
            fields[name] = tried[name]
    found: Variants = {}
    for base in bases:
        for name, values in fields.items():
            choices = {value: _replaced(base, {name: value}) for value in (getattr(base, name), *values)}
            found[base, name] = {value: variant for value, variant in choices.items() if variant is not None}
    return found


def _effect(base: Convention, name: str, values: dict[Any, Score]) -> Effect:
    lowest = min(values, key=lambda value: values[value].value)
    highest = max(values, key=lambda value: values[value].value)
    change = values[highest].value - values[lowest].value
    return Effect(field=name, change=change, lowest=spelled(lowest), highest=spelled(highest), convention=base)
