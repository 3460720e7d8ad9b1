"""Explain a difference by changing the convention; `base` is our number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rankadapters import presets
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import RankAdaptersError
from rankadapters.statistics.mistakes import Changes, OurNumber, changed_formulas

CUTOFFS = (1, 3, 5, 10, 20, None)
SAME = 12  # values that agree to this many decimals count as one
MAX_CUTOFF = 100  # largest cutoff that is tried


def different_fields(base: OurNumber) -> Changes:
    """Change the fields of the convention, one at a time."""
    return Changes.of((f"the value under {text}", base.changed(convention=c), c) for text, c in _field_changes(base))


def different_presets(base: OurNumber) -> Changes:
    """Replace the convention with each preset of its measure."""
    return Changes.of((f"the value under {text}", base.changed(convention=c), c) for text, c in _presets(base))


def two_changes(base: OurNumber) -> Changes:
    """Change a field or use a preset, and also mistake the formula or omit one-document queries."""
    return Changes.of(_two_changes(base))


def _two_changes(base: OurNumber) -> Iterator[tuple[str, float]]:
    conventions = [*_field_changes(base), *_presets(base)]
    multi_row = np.flatnonzero(base.sizes > 1)
    if multi_row.size not in {0, base.sizes.size}:  # a loop over sklearn's ndcg_score must omit them
        queries, rows = base.queries.subset(multi_row)
        part = base._replace(queries=queries, scores=base.scores[rows])
        for text, convention in conventions:
            yield f"the value under {text}, without the one-document queries", part.changed(convention=convention)
    known = {round(value, SAME) for _, value in changed_formulas(base)}
    k = getattr(base.convention, "k", None)
    for text, convention in conventions if known else ():
        if getattr(convention, "k", None) != k:
            continue  # too many cutoffs
        terms = base.changed_terms(convention=convention)
        if terms is not None:
            for mistake, value in changed_formulas(base._replace(convention=convention, terms=terms)):
                if round(value, SAME) not in known:  # otherwise the mistake alone explains it
                    yield f"{mistake}, under {text}", value


def _presets(base: OurNumber) -> Iterator[tuple[str, Convention]]:
    for name in presets.names(base.convention.measure):
        other = presets.make(name, getattr(base.convention, "k", None))
        yield f"presets.{name}, that is {_describe_fields(base.convention, other)}", other


def _field_changes(base: OurNumber) -> Iterator[tuple[str, Convention]]:
    convention = base.convention
    values: dict[str, tuple[Any, ...]] = {name: kind.tried for name, kind in convention.declared().items()}
    if "k" in values:
        k = convention.to_dict()["k"]
        longest = min(base.queries.longest, MAX_CUTOFF)
        values["k"] = tuple(dict.fromkeys((*CUTOFFS, *range(1, longest + 1), *(() if k is None else (k + 1,)))))
    for name in convention.fields():
        for value in values[name]:
            try:
                other = convention.replace(**{name: value})
            except RankAdaptersError:
                continue
            if other != convention:
                yield _describe_fields(convention, other), other


def _describe_fields(convention: Convention, other: Convention) -> str:
    pairs = other.diff(convention).items()
    return ", ".join(f"{name}={new!r} in place of {name}={old!r}" for name, (new, old) in pairs)
