"""What it would take to give a number that no convention of the grid gives."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankadapters.audit.evaluation import evaluated
from rankadapters.audit.identification.known_presets import USUAL, known, likely
from rankadapters.audit.identification.numbers import UNKNOWN, Number, cutoffs_searched
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.number_fields import NumberOrWord
from rankadapters.statistics.cells import spelled
from rankadapters.statistics.grid import has_cutoff
from rankadapters.statistics.search import Cutoffs

DIGITS = 2  # of a field's number; with more, some number fits any value


def near_misses(number: Number, k: int | None) -> tuple[str, ...]:
    """Say which one field of a preset would need which value outside the grid, a number or a cutoff.

    Where the cutoff of the number is unknown, the usual ones are tried, and first of all `k`.
    """
    # A value is linear in what a policy gives a query, but not in the label of a row.
    declared, cutoffs = number.measure.declared().items(), number.cutoffs
    kinds = {n: kind for n, kind in declared if isinstance(kind, NumberOrWord) and kind.group == "policy"}
    usual = tuple(dict.fromkeys((k, *USUAL))) if len(cutoffs) > 1 else cutoffs
    found = [note for cut in usual for name, kind in kinds.items() for note in _numbers(number, name, kind, cut)]
    if len(cutoffs) == 1:
        found += _cutoffs(number, tuple(c for c in cutoffs_searched(number.measure, UNKNOWN) if c not in cutoffs))
    return tuple(dict.fromkeys(found or _nothing(number.measure, list(kinds))))


def _nothing(measure: type[Convention], names: list[str]) -> Iterator[str]:
    tried = [f"no other value of `{name}`" for name in names]
    tried += ["no other cutoff up to 100"] if has_cutoff(measure) else []
    if tried:
        yield f"{', and '.join(tried)}{',' if len(tried) > 1 else ''} would give it in a preset"


def _numbers(number: Number, name: str, kind: NumberOrWord, k: int | None) -> Iterator[str]:
    """Name the presets that give the number under another number of a field, in which a value is linear."""
    presets = known(number.measure, k)
    variants = {c: [c.replace(**{name: end}) for end in (kind.low, kind.high)] for c in presets.values()}
    values = evaluated(number.queries, number.scores, (c for pair in variants.values() for c in pair))
    labels: dict[float, list[str]] = {}
    for label, convention in presets.items():
        below, above = (values.get(end) for end in variants[convention])
        if below is None or above is None or below.value == above.value:
            continue
        share = (float(number.printed.value) - below.value) / (above.value - below.value)
        if 0 <= share <= 1:
            shortest = _shortest(number, convention, name, kind.low + share * (kind.high - kind.low))
            if shortest is not None:
                labels.setdefault(shortest, []).append(label)
    for shortest in sorted(labels, key=lambda value: len(spelled(value))):
        at = f" at {spelled(k)}" if has_cutoff(number.measure) else ""
        yield f"{name}={spelled(shortest)} in {', '.join(labels[shortest])}{at} would give it"


def _shortest(number: Number, convention: Convention, name: str, exact: float) -> float | None:
    """Return the value of a field with the fewest digits under which the convention gives what was printed."""
    rounded = dict.fromkeys(float(np.round(exact, digits)) for digits in range(DIGITS + 1))
    tried = {value: convention.replace(**{name: value}) for value in rounded}
    scores = evaluated(number.queries, number.scores, tried.values())
    holding = (v for v, one in tried.items() if one in scores and number.printed.holds(scores[one].value))
    return next(holding, None)


def _cutoffs(number: Number, others: Cutoffs) -> Iterator[str]:
    """Name the presets that give the number at another cutoff."""
    labels: dict[Convention, list[str]] = {}
    for k in others:
        for label, convention in known(number.measure, k).items():
            labels.setdefault(convention, []).append(label)
    alike: dict[float, list[Convention]] = {}
    for convention, score in evaluated(number.queries, number.scores, labels).items():
        if number.printed.holds(score.value):
            alike.setdefault(score.value, []).append(convention)
    for conventions in alike.values():
        k = min((getattr(convention, "k", None) for convention in conventions), key=likely)
        names = dict.fromkeys(label for convention in conventions for label in labels[convention])
        yield f"k={spelled(k)} in {', '.join(names)} would give it"
