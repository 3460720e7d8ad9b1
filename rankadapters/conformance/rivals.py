"""What an implementation may compute in place of a convention: other conventions, and the convention with a mistake."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from rankadapters.core.data.columns import Floats
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.measures import DCG, NDCG
from rankadapters.statistics.grid import searched, with_refusals
from rankadapters.statistics.probing.bugs import CHANGED_ANSWERS, CHANGED_CASES
from rankadapters.statistics.probing.cases import LONGEST_STABLE, Case, value_of
from rankadapters.statistics.probing.elimination import Pool

FURTHER = 20  # a cutoff that a convention of all ranks is confused with
SHUFFLES = 3  # orders of tied rows that an unstable sort may come to
MARGIN = 1e-6  # the difference that tells a rival apart, also from what computes in float32


def pool_beside(convention: Convention, cases: Sequence[Case]) -> Pool:
    """Evaluate the grid of a convention's measure on cases, with its own values among those of each field."""
    measure = type(convention)
    grid = with_refusals(measure, searched(measure, cases[0].queries))
    own = {name: tuple(dict.fromkeys((*values, getattr(convention, name)))) for name, values in grid.items()}
    return Pool.over(cases, [(measure, own)], getattr(convention, "k", None))


def told_apart(values: Floats, expected: Floats) -> np.ndarray:
    """Tell which values differ from the expected ones: by more than the margin, or in being numbers at all."""
    far = np.abs(values - expected) > MARGIN * np.maximum(1.0, np.abs(expected))
    return np.asarray(far | (np.isnan(values) != np.isnan(expected)))


def mistaken(convention: Convention, cases: Sequence[Case], expected: Floats) -> Floats:
    """Return what a convention gives under each known mistake, of shape (n_mistakes, n_cases).

    Where a mistake has no value, nobody knows what its implementation returns; the expected value stands there.
    """
    rivals = [np.array([value_of(other, case) for case in cases]) for other in _other_cutoffs(convention)]
    for _, scale, offset in CHANGED_ANSWERS:
        factors = [factor if math.isfinite(factor := scale(len(case.sizes))) else 1.0 for case in cases]
        rivals.append(expected * factors + offset)
    rivals.append(np.round(expected, 4))
    rivals += [np.array([value_of(convention, change(case)) for case in cases]) for change in CHANGED_CASES.values()]
    rivals += [np.array([value_of(convention, _shuffled(case, seed)) for case in cases]) for seed in range(SHUFFLES)]
    if isinstance(convention, NDCG):
        rivals.append(np.array([_of_later_discounts(convention, case) for case in cases]))
    return np.array([np.where(np.isnan(values), expected, values) for values in rivals])


def _other_cutoffs(convention: Convention) -> Iterator[Convention]:
    """Yield the convention with cutoffs that are easily taken for its own."""
    if "k" in convention.fields():
        k: int | None = getattr(convention, "k", None)
        for other in (1, FURTHER) if k is None else (k - 1, k + 1, None):
            if other != 0:
                yield convention.replace(k=other)


def _shuffled(case: Case, seed: int) -> Case:
    """Return the case with the rows of its long queries in another order."""
    generator = np.random.default_rng(seed)
    rows: list[int] = []
    for size in case.sizes:
        own = generator.permutation(size) if size > LONGEST_STABLE else np.arange(size)
        rows += (len(rows) + own).tolist()
    return case.replaced(labels=[case.labels[i] for i in rows], scores=[case.scores[i] for i in rows])


def _of_later_discounts(convention: NDCG, case: Case) -> float:
    """Return NDCG whose discounts are those of the next rank; NaN where a query has no ideal."""
    fields = {name: getattr(convention, name) for name in DCG.declared()}
    dcg = DCG(**(fields | {"k": None if convention.k is None else convention.k + 1, "average": "uniform"}))
    values = []
    for query in case.split():
        ideal = value_of(dcg, query.ideal().with_first_row())
        values.append(value_of(dcg, query.with_first_row()) / ideal if ideal else math.nan)
    return float(np.mean(values))
