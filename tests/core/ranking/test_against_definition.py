"""Every kernel equals the plain-Python definition, and the sorting kernel a stable sort, for scores of any spread."""

from __future__ import annotations

import math
from contextlib import suppress
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core.measures import MEASURES
from rankadapters.core.ranking.compiled import NEVER, NOW, kernels
from rankadapters.core.ranking.ranks import rank_queries
from rankadapters.core.ranking.sorting import COUNTED, FEW, LANES, MOST_KEPT, ranked_rows
from tests.helpers.conventions import conventions
from tests.helpers.oracle_rows import columns_and_scores, ragged_queries, takes_probabilities, weights_and_pairs
from tests.helpers.parameters import examples
from tests.helpers.rankings import SPREADS
from tests.oracles import definition
from tests.oracles.rows import Row

pytest.importorskip("numba", reason="the compiled form is compared too")

SIGNED = {"spearman", "kendall", "pearson"}  # measures that have negative values


def compare_with_the_definition(data, convention, weighted):
    """Draw queries and compare the values from machine code and from numpy with the definition."""
    by_row = weighted and convention.weighting == "row_weight"
    queries = data.draw(ragged_queries(probabilities=takes_probabilities(convention), weighted=by_row))
    columns, scores = columns_and_scores(queries)
    if weighted or getattr(convention, "pairs", "") == "given":
        columns |= weights_and_pairs(queries, convention)
    if "pairs" in columns and not len(columns["pairs"][0]):
        return
    evaluators = _evaluators(convention, columns)
    if not evaluators:
        return
    assert len(evaluators) == 2
    query_weights = columns.get("query_weight") or [1.0] * len(queries)
    try:
        expected = definition.evaluate(list(zip(queries, query_weights, strict=True)), convention)
    except ZeroDivisionError:
        for choice, evaluator in evaluators.items():
            with kernels(choice), pytest.raises(ra.InputError, match="nothing is left to average"):
                evaluator.evaluate(scores)
        return
    _compare(evaluators, scores, expected, _query_values(queries, convention))


def _evaluators(convention, columns):
    evaluators = {}
    for choice in (NOW, NEVER):
        with kernels(choice):
            try:
                evaluators[choice] = ra.Evaluator(ra.Queries(**columns), convention)
            except ra.InputError:  # all rows are one query without a relevant row, where `skip` means `error`
                assert convention.over == "rows"
                assert convention.empty == "error"
    return evaluators


def _query_values(queries, convention):
    """Return the value of each query by the definition, NaN if it is skipped; none for a measure over all rows."""
    values = [] if convention.over == "rows" else [definition.query_value(query, convention)[0] for query in queries]
    return [math.nan if value == "skip" else value for value in values]


def _compare(evaluators, scores, expected, expected_values):
    measure = next(iter(evaluators.values())).convention.measure
    # Rounding leaves squares of 1e-16 where residuals are equal; values of both signs cancel in a mean.
    tolerance = 1e-15 if measure in {"query-rmse", *SIGNED} else 1e-300
    # In Pearson's correlation, values cancel within a query too.
    query_tolerance = tolerance if measure == "pearson" else max(tolerance**2, 1e-300)
    for choice, evaluator in evaluators.items():
        with kernels(choice):
            score = evaluator.evaluate(scores)
            assert score.value == pytest.approx(expected, rel=1e-12, abs=tolerance), choice
            assert ra.Score.from_dict(score.to_dict()) == score  # the value and the counts are possible ones
            values = evaluator.per_query(scores) if expected_values else []
            np.testing.assert_allclose(values, expected_values, rtol=1e-12, atol=query_tolerance, err_msg=choice)


@pytest.mark.parametrize("measure", MEASURES)
@given(data=st.data(), weighted=st.booleans())
@settings(max_examples=examples(50))
def test_value_and_per_query_values_equal_the_definition(measure, data, weighted):
    """Draw examples for each measure: examples drawn over all measures would seldom reach some kernels."""
    convention = data.draw(conventions(lenient=True, measures=[MEASURES[measure]]))
    if data.draw(st.booleans()):  # drawn once in eight, but has its own kernels
        with suppress(ra.ConventionError):
            convention = convention.replace(ties="average")
    compare_with_the_definition(data, convention, weighted)


@pytest.mark.parametrize("choice", [NOW, NEVER])
@given(st.integers(0, 2**32 - 1), st.sampled_from([np.float32, np.float64]), st.sampled_from(["exp2", "linear"]))
@settings(max_examples=examples(60), deadline=None)
def test_fractional_labels_and_many_scores_match_the_definition(choice, seed, dtype, gain):
    rng = np.random.default_rng(seed)
    convention = ra.presets.textbook(int(rng.integers(1, 40))).replace(gain=gain)
    n = int(rng.integers(1, 400))
    labels, scores = rng.random(n) * 3, rng.standard_normal(n).astype(dtype)
    rows = [Row(label, float(score)) for label, score in zip(labels, scores, strict=True)]
    with kernels(choice):
        value = ra.evaluate(labels, scores, convention, group_sizes=[n]).value
    assert value == pytest.approx(definition.evaluate([(rows, 1.0)], convention), rel=1e-12)


DISCOUNTS = 1 / np.arange(1.0, 40)


def gain_at_each_rank(scores, *, averaged):
    """Return a query's gains by rank, where the gain of a row is its place in the query plus 1."""
    order = sorted(range(len(scores)), key=lambda row: -scores[row])
    runs = [list(rows) for _, rows in groupby(order, key=lambda row: scores[row])]
    return [np.mean(rows) + 1 if averaged else row + 1 for rows in runs for row in rows]


@pytest.mark.parametrize("choice", [NOW, NEVER])
@given(
    queries=st.lists(st.lists(st.integers(0, 3).map(float), max_size=12), min_size=1, max_size=5),
    k=st.none() | st.integers(1, 14), averaged=st.booleans(), data=st.data(),
)  # fmt: skip
@settings(max_examples=examples(200), deadline=None)
def test_sums_over_ranks_equal_a_loop(choice, queries, k, averaged, data):
    """Draw no cutoff of a cut, one, or one for each query; some are beyond the end of a query."""
    indptr = np.cumsum([0, *map(len, queries)])
    gains = np.concatenate([np.arange(1.0, len(query) + 1) for query in queries])
    cutoffs = st.integers(1, 14 if k is None else k)
    cut = data.draw(st.none() | cutoffs | st.lists(cutoffs, min_size=len(queries), max_size=len(queries)))
    with kernels(choice):
        ranks = rank_queries(np.concatenate(queries), None, indptr, k, averaged=averaged)
        if cut is not None:
            ranks = ranks.cut(np.asarray(cut) if isinstance(cut, list) else cut)
        sums = ranks.discounted_sums(gains, DISCOUNTS)
        sums_of_taken = ranks.sums(ranks.take(gains) * DISCOUNTS[ranks.rank])
    last = k if cut is None else cut
    expected = [
        np.dot(gains[:n], DISCOUNTS[: gains[:n].size])
        for query, n in zip(queries, last if isinstance(last, list) else [last] * len(queries), strict=True)
        for gains in [np.asarray(gain_at_each_rank(query, averaged=averaged))]
    ]
    np.testing.assert_allclose(sums, expected, rtol=1e-12)
    np.testing.assert_allclose(sums_of_taken, expected, rtol=1e-12)


SIZES = [1, 2, FEW, FEW + 1, 15, LANES, 2 * LANES, COUNTED, COUNTED + 1, 100, 333, 1500]


def rank_rows(scores, k):
    """Return the rows that the kernel ranks; it leaves -1 at the ranks that it does not write."""
    pytest.importorskip("numba")
    ends, rows = np.array([0, scores.size]), np.full(scores.size, -1, np.int32)
    ranked_rows(scores, np.empty(0, np.int32), ends, k, False, ends, rows)
    return rows[rows >= 0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("spread", SPREADS)
def test_top_rows_equal_those_of_a_stable_sort(spread, dtype):
    rng = np.random.default_rng(0)
    for n in SIZES:
        with np.errstate(over="ignore"):
            scores = np.nan_to_num(SPREADS[spread](rng, n).astype(dtype))
        expected = np.argsort(-scores, kind="stable")
        for k in {1, 5, 10, 12, 13, 30, n // 2 + 1, n, 2**31}:
            rows = rank_rows(scores, k)
            np.testing.assert_array_equal(rows, expected[: rows.size])
            assert rows.size >= min(k, n)
            # Rows that tie with the last one are ranked too.
            assert rows.size == n or scores[expected[rows.size]] < scores[rows[-1]]


DIFFERENT_SCORES = ["normal", "heavy tails", "dense at the top", "two clusters", "an outlier", "neighbors", "ascending"]


@pytest.mark.parametrize("spread", DIFFERENT_SCORES)
def test_few_rows_beyond_the_cutoff_are_sorted(spread):
    """Scores that differ are divided into buckets until few rows are left, wherever most scores are."""
    for n in (100, 333, 1500):
        scores = SPREADS[spread](np.random.default_rng(0), n)
        for k in (13, 30):
            assert rank_rows(scores, k).size <= MOST_KEPT * k, (n, k)
