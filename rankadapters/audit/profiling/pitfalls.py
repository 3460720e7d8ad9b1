"""Warnings about known pitfalls of ranking measures that concern the data, each with its reason."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankadapters.audit.profiling.field_effects import Effect
from rankadapters.audit.profiling.query_flags import QueryFlags
from rankadapters.core.declaration.convention import Convention
from rankadapters.statistics.cells import percent, spelled

LARGEST_EXPONENT = 1024  # 2 to this power overflows float64
MANY_GRADES = 5  # the first label to warn about; the largest public data sets have the labels 0..4
LIGHTGBM_LABELS = 30  # the largest label with a default gain in LightGBM
LARGE_SHARE = 0.5  # the share of short queries above which there is a warning
NOISE = 1e-9  # smaller differences may come from the order of summation alone


def pitfalls(flags: QueryFlags, random: dict[Convention, float], effects: tuple[Effect, ...]) -> tuple[str, ...]:
    """Return a warning for every pitfall that concerns the data; `random` has the values of a random ranking."""
    of_cutoffs = (*_cutoffs(flags, random), *_long_cut(flags), *_cut_ties(flags, effects))
    return (*_grades(flags), *_no_irrelevant(flags), *of_cutoffs, *_equal_labels(flags))


def _grades(flags: QueryFlags) -> Iterator[str]:
    highest = max(flags.labels, default=0.0)
    if highest >= MANY_GRADES:
        n_documents = f"{2.0**highest - 1:.4g}" if highest < LARGEST_EXPONENT else "more than float64 holds in"
        yield (
            f"labels go up to {spelled(highest)}: under exponential gain one such document is worth "
            f"{n_documents} documents of label 1, so that a few documents decide the value. "
            "A linear gain, or a table of gains, gives the other labels more weight."
        )
    if highest > LIGHTGBM_LABELS:
        yield f"labels above {LIGHTGBM_LABELS} have no default gain in LightGBM: set label_gain, or it refuses them."


def _no_irrelevant(flags: QueryFlags) -> Iterator[str]:
    lowest = min(flags.labels, default=0.0)
    if lowest > 0 and flags.all_judged:
        yield (
            f"no row is irrelevant: the lowest label is {spelled(lowest)}. Measures of relevant rows, such as AP and "
            "recall, then count every row as relevant, and the NDCG of any ranking is high. If the irrelevant rows "
            "were left out, add them with label 0. If the lowest grade means irrelevant, subtract it from all labels."
        )


def _cutoffs(flags: QueryFlags, random: dict[Convention, float]) -> Iterator[str]:
    if len(flags.short) < 2:  # noqa: PLR2004 - nothing to compare
        return
    expected = ", ".join(f"{value:.4f} at {spelled(getattr(c, 'k', None))}" for c, value in random.items())
    random_values = f": a random ranking is expected to reach {expected}" if len(random) > 1 else ""
    yield (
        f"values at different cutoffs ({', '.join(map(spelled, flags.short))}) are different measures, and their order "
        f"says nothing{random_values}. Compare models at one cutoff."
    )


def _long_cut(flags: QueryFlags) -> Iterator[str]:
    for k, short in flags.short.items():
        if np.mean(short) > LARGE_SHARE:
            yield (
                f"k = {k} is larger than {percent(float(np.mean(short)))} of the queries: in them no document is "
                "cut off, and a convention with short=zero or short=skip ignores their ranking."
            )


def _cut_ties(flags: QueryFlags, effects: tuple[Effect, ...]) -> Iterator[str]:
    change = {effect.field: effect.change for effect in effects}.get("ties", 0.0)
    consequence = f", which changes the value here by up to {change:.4f}" if change > NOISE else ""
    at_cut = {k: tied for k, tied in (flags.tied_at_cut or {}).items() if tied.any()}
    for k, tied in at_cut.items():
        yield (
            f"in {int(tied.sum())} queries ({percent(float(tied.mean()))}) rows of different labels tie across the "
            f"cut at {k}: the convention's field `ties` decides which of them count{consequence}."
        )
    if flags.tied_labels is not None and change > NOISE and not at_cut:
        tied = flags.tied_labels
        rows = "rows of different labels tie"
        queries = f"in {int(tied.sum())} queries ({percent(float(tied.mean()))}) {rows}"
        yield (
            f"{queries if tied.any() else f'rounded to float32, {rows}'}, none of them across a cut: the "
            f"convention's field `ties` decides the order in which they count{consequence}."
        )


def _equal_labels(flags: QueryFlags) -> Iterator[str]:
    if flags.equal.any():
        yield (
            f"{int(flags.equal.sum())} queries ({percent(float(flags.equal.mean()))}) have equal labels throughout: "
            "every ranking of them is equally good. A ranker learns nothing from them, and they add a constant to the "
            "mean. If they have nothing relevant, the convention's field `empty` decides that constant."
        )
