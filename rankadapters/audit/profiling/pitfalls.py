"""Known pitfalls of ranking measures, told where the data fall into them, each with its reason."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankadapters.audit.profiling.field_effects import Effect
from rankadapters.audit.profiling.query_flags import QueryFlags
from rankadapters.core import presets
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.panel import Panel
from rankadapters.statistics.cells import percent, spelled

LARGEST_EXPONENT = 1024  # of float64
MANY_GRADES = 5  # beyond labels 0..4, which the largest public sets have
LIGHTGBM_LABELS = 30  # the largest label with a default gain there
MOST = 0.5
NOISE = 1e-9  # what sums in another order differ by


def pitfalls(queries: Queries, seen: QueryFlags, effects: tuple[Effect, ...]) -> tuple[str, ...]:
    """Tell every pitfall that concerns the data."""
    return (*_grades(seen), *_cutoffs(queries, seen), *_long_cut(seen), *_cut_ties(seen, effects), *_idle(seen))


def _grades(seen: QueryFlags) -> Iterator[str]:
    highest = max(seen.labels, default=0.0)
    if highest >= MANY_GRADES:
        worth = f"{2.0**highest - 1:.4g}" if highest < LARGEST_EXPONENT else "more than float64 holds in"
        yield (
            f"labels go up to {spelled(highest)}: under exponential gain one such document is worth "
            f"{worth} documents of label 1, so that few queries decide the rest of the ranking. "
            "A linear gain or a table says what a label is worth."
        )
    if highest > LIGHTGBM_LABELS:
        yield f"labels above {LIGHTGBM_LABELS} have no default gain in LightGBM: it refuses them without label_gain."


def _cutoffs(queries: Queries, seen: QueryFlags) -> Iterator[str]:
    if len(seen.short) < 2:  # noqa: PLR2004 - one cutoff has nothing to be compared with
        return
    conventions = {k: presets.textbook(k).replace(average="query") for k in seen.short}
    try:
        values = Panel(queries, conventions.values()).evaluate(np.zeros(queries.n_docs))
    except InputError:  # labels or rows that the textbook has no value for
        found = ""
    else:
        expected = ", ".join(f"{values[c].value:.4f} at {spelled(k)}" for k, c in conventions.items())
        found = f": a random ranking is expected to reach {expected} (textbook)"
    yield (
        f"values at different cutoffs ({', '.join(map(spelled, seen.short))}) are different measures, and their order "
        f"says nothing{found}. Compare models at one cutoff."
    )


def _long_cut(seen: QueryFlags) -> Iterator[str]:
    for k, short in seen.short.items():
        if np.mean(short) > MOST:
            yield (
                f"k = {k} is larger than {percent(float(np.mean(short)))} of the queries: no document is ever cut off "
                "in these, and a convention with short=zero or skip does not count their ranking at all."
            )


def _cut_ties(seen: QueryFlags, effects: tuple[Effect, ...]) -> Iterator[str]:
    change = {effect.field: effect.change for effect in effects}.get("ties", 0.0)
    much = f", which changes the value here by up to {change:.4f}" if change > NOISE else ""
    at_cut = {k: tied for k, tied in (seen.tied_at_cut or {}).items() if tied.any()}
    for k, tied in at_cut.items():
        yield (
            f"in {int(tied.sum())} queries ({percent(float(tied.mean()))}) rows of different labels tie across the "
            f"cut at {k}: which of them count is the convention's choice of ties{much}."
        )
    if seen.tied_labels is not None and change > NOISE and not at_cut:
        tied = seen.tied_labels
        rows = "rows of different labels tie"
        queries = f"in {int(tied.sum())} queries ({percent(float(tied.mean()))}) {rows}"
        yield (
            f"{queries if tied.any() else f'rounded to float32, {rows}'}, none of them across a cut: in which order "
            f"they count is the convention's choice of ties{much}."
        )


def _idle(seen: QueryFlags) -> Iterator[str]:
    if seen.equal.any():
        yield (
            f"{int(seen.equal.sum())} queries ({percent(float(seen.equal.mean()))}) have equal labels throughout: "
            "every ranking of them is as good as any other, so that they teach a ranker nothing and add a constant to "
            "the mean, which the convention's choice of empty decides for those with nothing relevant."
        )
