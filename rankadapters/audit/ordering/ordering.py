"""Find out whether the choice of the convention changes which model wins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import combinations, product
from typing import Any, Unpack

import numpy as np

from rankadapters.audit.models import ModelScores, as_models, score_models
from rankadapters.audit.ordering.report import Change, Comparison, OrderReport
from rankadapters.core.data.columns import Columns
from rankadapters.core.declaration.convention import Convention
from rankadapters.progress import advance, shows
from rankadapters.statistics.multiple_tests import holm
from rankadapters.statistics.paired_tests import PairedTest, checked_resampling, paired_tests
from rankadapters.statistics.scipy_stats import scipy_stats

Progress = Callable[[int, int], object]
Pair = tuple[tuple[str, str], Convention]  # the names of two models, and the convention under which they are compared


@shows("comparing")
def order(
    labels: object,
    scores: Mapping[str, object] | object,
    convention: Convention | str | Iterable[Convention | str],
    *,
    n_resamples: int = 9999,
    confidence: float = 0.95,
    random_state: int | np.random.Generator | np.random.RandomState = 0,
    n_threads: int | None = None,
    progress: Progress | None = None,
    **columns: Unpack[Columns],
) -> OrderReport:
    """Order models under several conventions, and report whether the convention changes which model wins.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries, or mapping of str to Queries
        Relevance labels. Pass a Queries for each model if the models retrieved different rows of the same queries.
    scores : mapping of str to array-like, shape (n_docs,), or matrix or table, shape (n_docs, n_models)
        Scores of at least two models, by name. Each column of a DataFrame or a matrix is a model; the models of a
        matrix are named "0", "1" and so on.
    convention : Convention or str, or sequence of these
        The conventions under which the models are compared.
    n_resamples : int
        The number of resamples of each randomization test and each bootstrap.
    confidence : float
        The confidence of the intervals; the level of the tests is 1 - confidence.
    random_state : int, numpy Generator or RandomState
        The same seed gives the same report.
    n_threads : int, optional
        The number of threads; None uses all CPUs.
    progress : callable, optional
        Called with the number of finished parts of the tests and their total number.
    qid, group_sizes, query_weight, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    OrderReport
        Values, rank correlations, comparisons of every pair, and the pairs that change places. There are no tests under
        a convention whose value is not a sum over the queries (a geometric mean, or all rows as one query).

    Raises
    ------
    ConventionError
        No convention is given, or an entry is neither a convention nor the text of one.
    InputError
        There are fewer than two models, the numbers of rows differ, or a convention has no value on the data.
    MissingToolkitError
        scipy is not installed.

    Examples
    --------
    >>> import rankadapters as ra
    >>> models = {"a": [3, 2, 1, 1, 1], "b": [1, 2, 3, 2, 1]}
    >>> report = order([2, 0, 1, 0, 1], models, [ra.presets.yahoo(1), ra.presets.catboost(5)], group_sizes=[3, 2])
    >>> [change.models for change in report.changes]
    []
    """
    scipy_stats()
    n_resamples, confidence, seed = checked_resampling(n_resamples, confidence, random_state)
    model_scores = score_models(labels, as_models(scores), convention, n_threads, columns)
    return compare_models(model_scores, n_resamples=n_resamples, confidence=confidence, seed=seed, progress=progress)


def compare_models(
    model_scores: ModelScores,
    *,
    n_resamples: int,
    confidence: float,
    seed: int,
    progress: Progress | None,
) -> OrderReport:
    """Compare models as `order` does, from scores that have already been computed."""
    scipy_stats()
    pairs = list(product(combinations(model_scores.scores, 2), model_scores.conventions))
    tests = _tests(
        model_scores, pairs, n_resamples=n_resamples, confidence=confidence, seed=seed,
        progress=progress or advance,
    )  # fmt: skip
    comparisons = [_compare(model_scores, *pair, tests.get(pair)) for pair in pairs]
    corrected = _corrected(comparisons, 1 - confidence)
    n_pairs = len(pairs) // len(model_scores.conventions)
    return OrderReport(
        scores=model_scores.scores, conventions=model_scores.conventions, correlations=_correlations(model_scores),
        comparisons=tuple(corrected), changes=_changes(corrected, len(model_scores.conventions)),
        confidence=confidence, notes=_notes(model_scores, n_pairs, n_resamples, 1 - confidence),
    )  # fmt: skip


def _tests(model_scores: ModelScores, pairs: list[Pair], **options: Any) -> dict[Pair, PairedTest]:
    """Test each pair of models under its convention, if the value is a sum over at least two queries."""
    tested = [pair for pair in pairs if pair[1].is_sum and model_scores.n_queries > 1]
    shares = [(model_scores.shares[first][c], model_scores.shares[second][c]) for (first, second), c in tested]
    return dict(zip(tested, paired_tests(shares, **options), strict=True))


def _compare(
    model_scores: ModelScores, models: tuple[str, str], convention: Convention, test: PairedTest | None
) -> Comparison:
    first, second = (model_scores.scores[name][convention].value for name in models)
    return Comparison(
        first=models[0], second=models[1], convention=convention, difference=first - second,
        low=test.low if test else None, high=test.high if test else None,
        p_value=test.p_value if test else None, p_corrected=None, significant=False,
    )  # fmt: skip


def _corrected(comparisons: list[Comparison], level: float) -> list[Comparison]:
    p_values = holm([c.p_value for c in comparisons if c.p_value is not None])
    corrected = iter(p_values)
    return [
        c if c.p_value is None else replace(c, p_corrected=(p := next(corrected)), significant=p <= level)
        for c in comparisons
    ]


def _changes(comparisons: list[Comparison], n_conventions: int) -> tuple[Change, ...]:
    pairs = [Change(tuple(comparisons[i : i + n_conventions])) for i in range(0, len(comparisons), n_conventions)]
    return tuple(change for change in pairs if {c.ahead for c in change.comparisons} >= set(change.models))


def _correlations(model_scores: ModelScores) -> tuple[tuple[float | None, ...], ...]:
    values = [[c.worth(scores[c].value) for scores in model_scores.scores.values()] for c in model_scores.conventions]
    return tuple(tuple(_tau_b(first, second) for second in values) for first in values)


def _tau_b(first: list[float], second: list[float]) -> float | None:
    """Return Kendall's rank correlation with ties (Kendall 1945); None if all values of one list are equal."""
    if len(set(first)) < 2 or len(set(second)) < 2:  # noqa: PLR2004 - there is no order
        return None
    return float(scipy_stats().kendalltau(first, second, variant="b").statistic)


def _notes(model_scores: ModelScores, n_pairs: int, n_resamples: int, level: float) -> tuple[str, ...]:
    if model_scores.n_queries == 1:
        return ("a single query says nothing of significance: there is nothing to resample",)
    tested = [convention for convention in model_scores.conventions if convention.is_sum]
    untested = tuple(
        f"nothing is tested under {convention.name}: its value is not a sum over the queries, which could be resampled"
        for convention in model_scores.conventions
        if convention not in tested
    )
    n_tests = n_pairs * len(tested)
    least = 2 / min(n_resamples + 1, 2**model_scores.n_queries)  # smallest two-sided p; n queries have 2**n swaps
    if least * n_tests <= level:
        return untested
    note = (
        f"no difference can be significant: the smallest p-value of {n_resamples} resamples of "
        f"{model_scores.n_queries} queries, corrected for {n_tests} comparisons, is {min(1.0, least * n_tests):.2g}"
    )
    return (*untested, note)
