"""For a number without a match, find changes of presets, outside the searched grid, that would give it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankadapters.audit.evaluation import evaluate_usable
from rankadapters.audit.identification.numbers import UNKNOWN, Number, cutoffs_searched
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import Range
from rankadapters.statistics.cells import spelled
from rankadapters.statistics.grid import has_cutoff
from rankadapters.statistics.known_presets import USUAL_CUTOFFS, presets_by_label, unlikelihood
from rankadapters.statistics.search import Cutoffs

DIGITS = 2  # most decimals to try for a numeric field; with more, some value would fit any printed number


def near_misses(number: Number, k: int | None) -> tuple[str, ...]:
    """Return notes on presets that would give the number if one numeric field, or the cutoff, were different.

    If the cutoff of the number is unknown, `k` is tried first, then the usual cutoffs.
    """
    # Only policies are changed here: the mean is linear in a query's fixed value, but not in a row's label.
    declared, cutoffs = number.measure.declared().items(), number.cutoffs
    ranges = {n: kind.numbers for n, kind in declared if kind.numbers and kind.words and kind.group == "policy"}
    usual = tuple(dict.fromkeys((k, *USUAL_CUTOFFS))) if len(cutoffs) > 1 else cutoffs
    notes = [note for cutoff in usual for name, r in ranges.items() for note in _numbers(number, name, r, cutoff)]
    if len(cutoffs) == 1:
        notes += _cutoffs(number, tuple(c for c in cutoffs_searched(number.measure, UNKNOWN) if c not in cutoffs))
    return tuple(dict.fromkeys(notes or _no_change(number.measure, list(ranges))))


def _no_change(measure: type[Convention], names: list[str]) -> Iterator[str]:
    changes = [f"no other value of `{name}`" for name in names]
    changes += ["no other cutoff up to 100"] if has_cutoff(measure) else []
    if changes:
        yield f"{', and '.join(changes)}{',' if len(changes) > 1 else ''} would give it in a preset"


def _numbers(number: Number, name: str, numbers: Range, k: int | None) -> Iterator[str]:
    """Yield notes on presets that would give the number with a different value of one numeric field."""
    presets = presets_by_label(number.measure, k)
    variants = {c: [c.replace(**{name: end}) for end in (numbers.least, numbers.most)] for c in presets.values()}
    values = evaluate_usable(number.queries, number.scores, (c for pair in variants.values() for c in pair))
    labels: dict[float, list[str]] = {}
    for label, convention in presets.items():
        below, above = (values.get(end) for end in variants[convention])
        if below is None or above is None or below.value == above.value:
            continue
        share = (float(number.printed.value) - below.value) / (above.value - below.value)
        if 0 <= share <= 1:
            shortest = _shortest(number, convention, name, numbers.least + share * (numbers.most - numbers.least))
            if shortest is not None:
                labels.setdefault(shortest, []).append(label)
    for shortest in sorted(labels, key=lambda value: len(spelled(value))):
        at = f" at {spelled(k)}" if has_cutoff(number.measure) else ""
        yield f"{name}={spelled(shortest)} in {', '.join(labels[shortest])}{at} would give it"


def _shortest(number: Number, convention: Convention, name: str, exact: float) -> float | None:
    """Round the exact value of a field to the fewest decimals with which the convention still gives the number."""
    rounded = dict.fromkeys(float(np.round(exact, digits)) for digits in range(DIGITS + 1))
    variants = {value: convention.replace(**{name: value}) for value in rounded}
    scores = evaluate_usable(number.queries, number.scores, variants.values())
    fitting = (value for value, c in variants.items() if c in scores and number.printed.holds(scores[c].value))
    return next(fitting, None)


def _cutoffs(number: Number, cutoffs: Cutoffs) -> Iterator[str]:
    """Yield notes on presets that give the number at one of these cutoffs."""
    labels: dict[Convention, list[str]] = {}
    for k in cutoffs:
        for label, convention in presets_by_label(number.measure, k).items():
            labels.setdefault(convention, []).append(label)
    by_value: dict[float, list[Convention]] = {}
    for convention, score in evaluate_usable(number.queries, number.scores, labels).items():
        if number.printed.holds(score.value):
            by_value.setdefault(score.value, []).append(convention)
    for conventions in by_value.values():
        k = min((getattr(convention, "k", None) for convention in conventions), key=unlikelihood)
        names = dict.fromkeys(label for convention in conventions for label in labels[convention])
        yield f"k={spelled(k)} in {', '.join(names)} would give it"
