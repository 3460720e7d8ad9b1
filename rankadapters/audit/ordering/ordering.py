"""Whether the choice of the convention changes which model wins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import combinations, product
from typing import Any, Unpack

import numpy as np

from rankadapters.audit.models import ModelScores, as_models, score_models
from rankadapters.audit.ordering.report import Change, Comparison, OrderReport
from rankadapters.core.data.keywords import Columns
from rankadapters.core.declaration.convention import Convention
from rankadapters.progress import advance, shows
from rankadapters.statistics.multiple_tests import holm
from rankadapters.statistics.paired_tests import PairedTest, checked_resampling, paired_tests
from rankadapters.statistics.scipy_stats import scipy_stats

Progress = Callable[[int, int], object]
Pair = tuple[tuple[str, str], Convention]  # of models, and what they are compared under


@shows("comparing")
def order(
    labels: object,
    models: Mapping[str, object] | object,
    conventions: Iterable[Convention | str] | str,
    *,
    n_resamples: int = 9999,
    confidence: float = 0.95,
    random_state: int | np.random.Generator | np.random.RandomState = 0,
    n_threads: int | None = None,
    progress: Progress | None = None,
    **columns: Unpack[Columns],
) -> OrderReport:
    """Order models under several conventions, and tell whether the choice of the convention changes who wins.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries, or mapping of str to Queries
        Relevance labels. A Queries for each model serves models that retrieved other rows of the same queries.
    models : mapping of str to array-like, shape (n_docs,), or matrix or table, shape (n_docs, n_models)
        Scores by the name of the model, two at least; of a DataFrame the columns are the models, and those of a matrix
        are named by their numbers.
    conventions : iterable of Convention or str
        What to compare under.
    n_resamples : int
        Of each randomisation test and each bootstrap.
    confidence : float
        Of the intervals; the tests' level is 1 minus it.
    random_state : int, numpy Generator or RandomState
        The same seed gives the same report.
    n_threads : int, optional
        None takes all CPUs.
    progress : callable, optional
        Called with how many parts of the tests are done, and how many there are.
    qid, group_sizes, query_weight, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    OrderReport
        Values, rank correlations, comparisons of every pair, and the pairs that change places. Under a convention whose
        value is not a sum over the queries (a geometric mean, or all rows as one query) nothing is tested.

    Raises
    ------
    ConventionError
        There is no convention, or one of them is neither a convention nor a text of one.
    InputError
        Fewer than two models, a model with another number of rows, or a convention without a value on the data.
    MissingToolkitError
        scipy is not installed.

    Examples
    --------
    >>> import rankadapters as ra
    >>> models = {"a": [3, 2, 1, 1, 1], "b": [1, 2, 3, 2, 1]}
    >>> found = order([2, 0, 1, 0, 1], models, [ra.presets.yahoo(1), ra.presets.catboost(5)], group_sizes=[3, 2])
    >>> [change.models for change in found.changes]
    []
    """
    scipy_stats()
    n_resamples, confidence, seed = checked_resampling(n_resamples, confidence, random_state)
    found = score_models(labels, as_models(models), conventions, n_threads, columns)
    return compared(found, n_resamples=n_resamples, confidence=confidence, seed=seed, progress=progress)


def compared(
    found: ModelScores,
    *,
    n_resamples: int,
    confidence: float,
    seed: int,
    progress: Progress | None,
) -> OrderReport:
    """Compare models whose scores are known; as `order`."""
    scipy_stats()
    pairs = list(product(combinations(found.scores, 2), found.conventions))
    tests = _tests(
        found, pairs, n_resamples=n_resamples, confidence=confidence, seed=seed,
        progress=progress or advance,
    )  # fmt: skip
    comparisons = [_compare(found, *pair, tests.get(pair)) for pair in pairs]
    corrected = _corrected(comparisons, 1 - confidence)
    n_pairs = len(pairs) // len(found.conventions)
    return OrderReport(
        scores=found.scores, conventions=found.conventions, correlations=_correlations(found),
        comparisons=tuple(corrected), changes=_changes(corrected, len(found.conventions)),
        confidence=confidence, notes=_notes(found, n_pairs, n_resamples, 1 - confidence),
    )  # fmt: skip


def _tests(found: ModelScores, pairs: list[Pair], **how: Any) -> dict[Pair, PairedTest]:
    """Test the pairs whose values are sums over queries, where there are several of these."""
    tested = [pair for pair in pairs if pair[1].is_sum and found.n_queries > 1]
    shares = [(found.shares[first][c], found.shares[second][c]) for (first, second), c in tested]
    return dict(zip(tested, paired_tests(shares, **how), strict=True))


def _compare(
    found: ModelScores, models: tuple[str, str], convention: Convention, tested: PairedTest | None
) -> Comparison:
    first, second = (found.scores[name][convention].value for name in models)
    return Comparison(
        first=models[0], second=models[1], convention=convention, difference=first - second,
        low=tested.low if tested else None, high=tested.high if tested else None,
        p_value=tested.p_value if tested else None, p_corrected=None, significant=False,
    )  # fmt: skip


def _corrected(comparisons: list[Comparison], level: float) -> list[Comparison]:
    p_values = holm([c.p_value for c in comparisons if c.p_value is not None])
    corrected = iter(p_values)
    return [
        c if c.p_value is None else replace(c, p_corrected=(p := next(corrected)), significant=p <= level)
        for c in comparisons
    ]


def _changes(comparisons: list[Comparison], n_conventions: int) -> tuple[Change, ...]:
    each = [Change(tuple(comparisons[i : i + n_conventions])) for i in range(0, len(comparisons), n_conventions)]
    return tuple(change for change in each if {c.ahead for c in change.comparisons} >= set(change.models))


def _correlations(found: ModelScores) -> tuple[tuple[float | None, ...], ...]:
    values = [[c.worth(scores[c].value) for scores in found.scores.values()] for c in found.conventions]
    return tuple(tuple(_tau_b(first, second) for second in values) for first in values)


def _tau_b(first: list[float], second: list[float]) -> float | None:
    """Return Kendall's rank correlation with ties (Kendall 1945); None where one side ranks nothing."""
    if len(set(first)) < 2 or len(set(second)) < 2:  # noqa: PLR2004 - nothing is ranked
        return None
    return float(scipy_stats().kendalltau(first, second, variant="b").statistic)


def _notes(found: ModelScores, n_pairs: int, n_resamples: int, level: float) -> tuple[str, ...]:
    if found.n_queries == 1:
        return ("a single query says nothing of significance: there is nothing to resample",)
    tested = [convention for convention in found.conventions if convention.is_sum]
    untested = tuple(
        f"nothing is tested under {convention.name}: its value is not a sum over the queries, which could be resampled"
        for convention in found.conventions
        if convention not in tested
    )
    n_tests = n_pairs * len(tested)
    least = 2 / min(n_resamples + 1, 2**found.n_queries)  # two-sided; all swaps are tried where these are fewer
    if least * n_tests <= level:
        return untested
    note = (
        f"no difference can be significant: the smallest p-value of {n_resamples} resamples of {found.n_queries} "
        f"queries, corrected for {n_tests} comparisons, is {min(1.0, least * n_tests):.2g}"
    )
    return (*untested, note)
