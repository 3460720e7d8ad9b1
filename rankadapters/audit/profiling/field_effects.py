"""Compute how much each field of a convention can change a value on the data, and what a random ranking gets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankadapters import presets
from rankadapters.audit.evaluation import evaluate_usable
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.core.evaluation.score import Score
from rankadapters.statistics.cells import spelled
from rankadapters.statistics.grid import Values, grid

CUTOFFS = (1, 3, 5, 10, 20, None)  # the cutoffs to try, in addition to the requested cutoffs
RANDOM = {"ties": "average"}  # if all scores are equal, this gives the expectation over all rankings

Variants = dict[tuple[Convention, str], dict[Any, Convention]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Effect:
    """The largest change of a value when one field of a preset is varied.

    Attributes
    ----------
    field : str
        The varied field.
    change : float
        Largest value minus smallest.
    lowest, highest : str
        The field's values that give the smallest and the largest value.
    convention : Convention
        The preset in which the field was varied.
    """

    field: str
    change: float
    lowest: str
    highest: str
    convention: Convention


def effects(
    queries: Queries, scores: object, measure: type[Convention], cutoffs: tuple[int | None, ...], *, graded: bool
) -> tuple[Effect, ...]:
    """Return the largest effect that each field has in any preset, largest first.

    If the labels are `graded`, presets for binary labels are left out. If `scores` is None, all documents get the same
    score. The effect of `ties` is then its largest effect for any scores; the other fields are varied in the
    expectation over all rankings (`ties="average"`).
    """
    presets_at_cutoffs = _bases(measure, cutoffs, RANDOM if scores is None else {})
    bases = [base for base in presets_at_cutoffs if not (graded and base.for_binary_labels)]
    ranking = np.zeros(queries.n_docs) if scores is None else scores
    usable = evaluate_usable(queries, ranking, bases)
    usable = usable or evaluate_usable(queries, ranking, _adapted(queries, measure, bases))
    variants = _variants(queries, measure, list(usable), cutoffs)
    values = evaluate_usable(queries, ranking, (c for choices in variants.values() for c in choices.values()), usable)
    largest: dict[str, Effect] = {}
    for (base, name), choices in variants.items():
        effect = _effect(base, name, {value: values[c] for value, c in choices.items() if c in values})
        if name not in largest or effect.change > largest[name].change:
            largest[name] = effect
    return tuple(sorted(largest.values(), key=lambda effect: -effect.change))


def random_values(
    queries: Queries, measure: type[Convention], cutoffs: tuple[int | None, ...]
) -> dict[Convention, float]:
    """Return the expected value of a random ranking at each cutoff, under the measure's first preset that has one."""
    for name in presets.names(measure.measure):
        bases = [presets.make(name, k) for k in cutoffs]
        if any(getattr(base, "k", k) != k for base, k in zip(bases, cutoffs, strict=True)):
            continue  # such as a preset without a cutoff
        for changes in (RANDOM, RANDOM | {"average": "query"}):  # the second for presets that ignore query weights
            conventions = [changed for base in bases if (changed := _replaced(base, changes)) is not None]
            values = evaluate_usable(queries, np.ones(queries.n_docs), conventions)  # a row of score 0 may not count
            if values:
                return {convention: score.value for convention, score in values.items()}
    return {}


def _bases(measure: type[Convention], cutoffs: tuple[int | None, ...], changes: dict[str, str]) -> Iterable[Convention]:
    """Return every preset of the measure at every cutoff, without duplicates."""
    bases: dict[Convention, None] = {}
    for name in presets.names(measure.measure):
        for k in cutoffs:
            base = presets.make(name, k)
            # If the measure does not allow these changes, take the preset unchanged.
            bases[_replaced(base, changes) or base] = None
    return bases


def _adapted(queries: Queries, measure: type[Convention], bases: Iterable[Convention]) -> Iterable[Convention]:
    """Return the presets with other values in the fields that need a missing column, such as pairs or docids."""
    choices, kinds = grid(measure, queries), measure.declared()
    adapted: dict[Convention, None] = {}
    for base in bases:
        unusable = [name for name in choices if not kinds[name].fits(getattr(base, name), queries.columns)]
        for average in dict.fromkeys((base.average, *choices["average"])):  # some averages are invalid here
            varied = _replaced(base, {**{name: choices[name][0] for name in unusable}, "average": average})
            if varied is not None:
                adapted[varied] = None
                break
    return adapted


def _replaced(convention: Convention, fields: dict[str, Any]) -> Convention | None:
    if not set(fields) <= set(convention.fields()):
        return None
    try:
        return convention.replace(**fields)
    except ConventionError:  # this combination of values is invalid
        return None


def _variants(
    queries: Queries, measure: type[Convention], bases: list[Convention], cutoffs: tuple[int | None, ...]
) -> Variants:
    fields: dict[str, Values] = {}
    values_by_field = grid(measure, queries)
    for name, kind in measure.declared().items():
        if kind.group == "head":
            fields[name] = tuple(dict.fromkeys([*cutoffs, *CUTOFFS]))
        elif not kind.column or kind.column in queries.columns:
            fields[name] = values_by_field[name]
    variants: Variants = {}
    for base in bases:
        for name, values in fields.items():
            choices = {value: _replaced(base, {name: value}) for value in (getattr(base, name), *values)}
            valid = {value: variant for value, variant in choices.items() if variant is not None}
            if len(valid) > 1:  # of a single value, nobody knows the effect
                variants[base, name] = valid
    return variants


def _effect(base: Convention, name: str, values: dict[Any, Score]) -> Effect:
    lowest = min(values, key=lambda value: values[value].value)
    highest = max(values, key=lambda value: values[value].value)
    change = values[highest].value - values[lowest].value
    return Effect(field=name, change=change, lowest=spelled(lowest), highest=spelled(highest), convention=base)
