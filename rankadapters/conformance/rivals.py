"""Rivals of a convention: different conventions, and the same convention with a known mistake."""

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

LIKELY_CUTOFF = 20  # a cutoff that a program may apply by mistake if the convention has none
SHUFFLES = 3  # number of random row orders that imitate an unstable sort
MARGIN = 1e-6  # smaller differences may come from computing in float32


def rival_pool(convention: Convention, cases: Sequence[Case]) -> Pool:
    """Evaluate all conventions of the measure's grid on cases; the grid includes the convention's own field values."""
    measure = type(convention)
    grid = with_refusals(measure, values_to_search(measure, cases[0].queries))
    fields = {name: tuple(dict.fromkeys((*values, getattr(convention, name)))) for name, values in grid.items()}
    return Pool.over(cases, [(measure, fields)], getattr(convention, "k", None))


def differ(values: Floats, expected: Floats) -> np.ndarray:
    """Return which values differ from the expected ones by more than the margin; NaN differs from any number."""
    far = np.abs(values - expected) > MARGIN * np.maximum(1.0, np.abs(expected))
    return np.asarray(far | (np.isnan(values) != np.isnan(expected)))


def values_with_mistakes(convention: Convention, cases: Sequence[Case], expected: Floats) -> Floats:
    """Return the values of a convention with each known mistake, shape (n_mistakes, n_cases).

    If a convention with a mistake has no value, the array has the expected value, so that the case is not a failure.
    """

    def evaluate(cases: Sequence[Case], *, shifted: bool = False) -> Pool:
        rival = _shifted(convention) if shifted else convention
        return Pool(list(cases), [Conventions(type(rival), [])], np.array([[value_of(rival, c) for c in cases]]))

    rivals = [values[0] for _, _, values in mistakes.make_mistakes(evaluate, cases)]
    rivals += [np.array([value_of(rival, case) for case in cases]) for rival in _with_wrong_cutoffs(convention)]
    rivals += [np.array([value_of(convention, _shuffled(case, seed)) for case in cases]) for seed in range(SHUFFLES)]
    rivals.append(np.round(expected, 4))
    return np.array([np.where(np.isnan(values), expected, values) for values in rivals])


def _shifted(convention: Convention) -> Convention:
    """Return the convention at cutoff k + 1 (if it has a cutoff), and as DCG if it is NDCG."""
    k: int | None = getattr(convention, "k", None)
    if isinstance(convention, NDCG):
        fields = {name: getattr(convention, name) for name in DCG.declared()}
        convention = DCG(**(fields | {"average": "uniform"}))
    return convention if k is None else convention.replace(k=k + 1)


def _with_wrong_cutoffs(convention: Convention) -> Iterator[Convention]:
    """Yield the convention with cutoffs that a program may apply by mistake."""
    if "k" in convention.fields():
        k: int | None = getattr(convention, "k", None)
        for wrong_k in (1, LIKELY_CUTOFF) if k is None else (k - 1, k + 1, None):
            if wrong_k != 0:
                yield convention.replace(k=wrong_k)


def _shuffled(case: Case, seed: int) -> Case:
    """Return the case with the rows of its long queries in random order."""
    generator = np.random.default_rng(seed)
    rows: list[int] = []
    for size in case.sizes:
        order = generator.permutation(size) if size > LONGEST_STABLE else np.arange(size)
        rows += (len(rows) + order).tolist()
    return case.with_columns(labels=[case.labels[i] for i in rows], scores=[case.scores[i] for i in rows])
