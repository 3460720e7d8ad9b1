"""What an implementation may compute in place of a convention: other conventions, and the convention with a mistake."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rankadapters.core.data.columns import Floats
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.measures import DCG, NDCG
from rankadapters.statistics.grid import values_to_search, with_refusals
from rankadapters.statistics.probing import mistakes
from rankadapters.statistics.probing.cases import LONGEST_STABLE, Case, value_of
from rankadapters.statistics.probing.elimination import Conventions, Pool

FURTHER = 20  # a cutoff that a convention of all ranks is confused with
SHUFFLES = 3  # orders of tied rows that an unstable sort may come to
MARGIN = 1e-6  # the difference that tells a rival apart, also from what computes in float32


def pool_beside(convention: Convention, cases: Sequence[Case]) -> Pool:
    """Evaluate the grid of a convention's measure on cases, with its own values among those of each field."""
    measure = type(convention)
    grid = with_refusals(measure, values_to_search(measure, cases[0].queries))
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

    def evaluate(cases: Sequence[Case], *, later: bool = False) -> Pool:
        other = _later(convention) if later else convention
        return Pool(list(cases), [Conventions(type(other), [])], np.array([[value_of(other, c) for c in cases]]))

    rivals = [values[0] for _, _, values in mistakes.mistaken(evaluate, cases)]
    rivals += [np.array([value_of(other, case) for case in cases]) for other in _other_cutoffs(convention)]
    rivals += [np.array([value_of(convention, _shuffled(case, seed)) for case in cases]) for seed in range(SHUFFLES)]
    rivals.append(np.round(expected, 4))
    return np.array([np.where(np.isnan(values), expected, values) for values in rivals])


def _later(convention: Convention) -> Convention:
    """Return a convention at the next cutoff, and DCG in place of NDCG."""
    k: int | None = getattr(convention, "k", None)
    if isinstance(convention, NDCG):
        fields = {name: getattr(convention, name) for name in DCG.declared()}
        convention = DCG(**(fields | {"average": "uniform"}))
    return convention if k is None else convention.replace(k=k + 1)


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
