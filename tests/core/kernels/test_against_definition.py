"""Compare every kernel, through the public API, with the plain-Python definition."""

from __future__ import annotations

import math
from contextlib import suppress
from itertools import cycle, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core.kernels.dispatch import NEVER, NOW, kernels
from rankadapters.core.measures import MEASURES
from tests.core.kernels.test_sorting import SPREADS
from tests.helpers.convention_strategies import conventions
from tests.helpers.depth import examples
from tests.helpers.tables import for_each
from tests.oracles import definition
from tests.oracles.rows import Row

SIGNED = {"spearman", "kendall", "pearson"}


@st.composite
def ragged(draw: st.DrawFn, *, units: bool = False, weighted: bool = True) -> list[list[Row]]:
    """Draw queries of different lengths with ties, unjudged and unretrieved rows, weights and pairs."""
    seed, n_queries = draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, 8))
    rng = np.random.default_rng(seed)
    levels = draw(st.sampled_from([1, 2, 5, 50, 10**9]))
    longest = draw(st.sampled_from([1, 3, 12, 30, 90]))
    spoilt_share = draw(st.sampled_from([0.0, 0.3]))
    top_label = draw(st.sampled_from([0, 1, 3]))
    queries = []
    for _ in range(n_queries):
        n = int(rng.integers(1, longest + 1))
        scores = rng.integers(0, levels, n) / levels * draw(st.sampled_from([1.0, 1e-7, -1e6]))
        judged, retrieved = rng.random(n) >= spoilt_share, rng.random(n) >= spoilt_share
        retrieved |= ~judged
        labels = rng.integers(0, top_label + 1, n)
        docids = [f"d{i}" for i in rng.permutation(n)]
        weights = rng.choice([0.25, 1.0, 1.0, 2.5], n) if weighted else np.ones(n)
        opponents, pair_weights = rng.integers(0, n, (n, 2)).tolist(), rng.choice([0.5, 1.0], (n, 2)).tolist()
        beats = [tuple((j, w) for j, w in zip(opponents[i], pair_weights[i], strict=True) if j != i) for i in range(n)]
        if units:
            labels = labels / 4
        queries.append([Row(float(labels[i]), float(scores[i]), docids[i], bool(retrieved[i]), bool(judged[i]),
                            float(weights[i]), beats[i]) for i in range(n)])  # fmt: skip
    return queries


def columns(queries: list[list[Row]]) -> tuple[dict[str, object], list[float]]:
    """Return the columns of the rows, and their scores."""
    rows = [row for query in queries for row in query]
    return {
        "labels": [row.label for row in rows],
        "group_sizes": [len(query) for query in queries],
        "docid": [row.docid for row in rows],
        "retrieved": [row.retrieved for row in rows],
        "judged": [row.judged for row in rows],
    }, [row.score for row in rows]


def takes_probabilities(convention: ra.Convention) -> bool:
    """Return whether the convention takes labels in [0, 1] only."""
    return getattr(convention, "pairs", "") == "unit" or isinstance(convention, ra.QueryCrossEntropy)


def weights_of(queries: list[list[Row]], convention: ra.Convention) -> dict[str, object]:
    """Return the weights that a convention counts and the pairs that it needs."""
    arguments: dict[str, object] = {}
    if convention.weighting == "query_weight":
        arguments["query_weight"] = [(i * 7 % 5) / 2 + 0.5 for i in range(len(queries))]
    if convention.weighting == "row_weight":
        arguments["row_weight"] = [row.weight for query in queries for row in query]
    if getattr(convention, "pairs", "") == "given":
        starts = np.cumsum([0, *map(len, queries)])
        pairs = [(start + i, start + j, weight) for start, query in zip(starts, queries, strict=False)
                 for i, row in enumerate(query) for j, weight in row.beats]  # fmt: skip
        winners, losers, weights = (np.array(column) for column in zip(*pairs, strict=True)) if pairs else ([], [], [])
        arguments["pairs"] = (winners, losers, weights) if convention.average == "pair" else (winners, losers)
    return arguments


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.filterwarnings("ignore::rankadapters.AboveValuesWarning")  # the definition does not warn
@given(data=st.data(), weighted=st.booleans())
@settings(max_examples=examples(100))
def test_value_and_per_query_values_equal_the_definition(measure, data, weighted):
    """Draw examples for each measure: examples drawn over all measures would seldom reach some kernels."""
    convention = data.draw(conventions(lenient=True, measures=[MEASURES[measure]]))
    if data.draw(st.booleans()):  # drawn once in eight, but has its own kernels
        with suppress(ra.ConventionError):
            convention = convention.replace(ties="average")
    compare_with_the_definition(data, convention, weighted)


def compare_with_the_definition(data, convention, weighted):
    """Draw queries and compare the values from machine code and from numpy with the definition."""
    pairs = getattr(convention, "pairs", "")
    by_row = weighted and convention.weighting == "row_weight"
    queries = data.draw(ragged(units=takes_probabilities(convention), weighted=by_row))
    row_columns, scores = columns(queries)
    weights = weights_of(queries, convention) if weighted or pairs == "given" else {}
    if "pairs" in weights and not len(weights["pairs"][0]):
        return
    evaluators = {}
    for choice in (NOW, NEVER):
        with kernels(choice):
            try:
                evaluators[choice] = ra.Evaluator(ra.Queries(**row_columns, **weights), convention)
            except ra.InputError:  # all rows are one query without a relevant row, where `skip` means `error`
                assert convention.over == "rows"
                assert convention.empty == "error"
    if not evaluators:
        return
    assert len(evaluators) == 2
    query_weights = weights.get("query_weight") or [1.0] * len(queries)
    try:
        expected = definition.evaluate(list(zip(queries, query_weights, strict=True)), convention)
    except ZeroDivisionError:
        for choice, evaluator in evaluators.items():
            with kernels(choice), pytest.raises(ra.InputError, match="nothing is left to average"):
                evaluator.evaluate(scores)
        return
    values = [] if convention.over == "rows" else [definition.query_value(query, convention)[0] for query in queries]
    expected_values = [math.nan if value == "skip" else value for value in values]
    # Rounding leaves squares of 1e-16 where residuals are equal; values of both signs cancel in a mean.
    tolerance = 1e-15 if convention.measure in {"query-rmse", *SIGNED} else 1e-300
    # In Pearson's correlation, values cancel within a query too.
    query_tolerance = tolerance if convention.measure == "pearson" else max(tolerance**2, 1e-300)
    for choice, evaluator in evaluators.items():
        with kernels(choice):
            assert evaluator.evaluate(scores).value == pytest.approx(expected, rel=1e-12, abs=tolerance), choice
            per_query = evaluator.per_query(scores) if expected_values else []
            np.testing.assert_allclose(per_query, expected_values, rtol=1e-12, atol=query_tolerance, err_msg=choice)


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


@for_each("spread", SPREADS)
def test_awkward_scores_match_the_definition(spread):
    """Try each number of rows with each cutoff, and the orders of ties in turn."""
    rng, orders = np.random.default_rng(3), cycle(["input", "average", "worst", "input"])
    for n, k in product((23, 24, 47, 48, 97, 700), (1, 10, 12, 13, 28, 29, None)):
        convention = ra.presets.textbook(k).replace(ties=next(orders))
        labels, scores = rng.integers(0, 4, n), SPREADS[spread](rng, n)
        rows = [Row(float(label), float(score)) for label, score in zip(labels, scores, strict=True)]
        expected = definition.evaluate([(rows, 1.0)], convention)
        for choice in (NOW, NEVER):
            with kernels(choice):
                value = ra.evaluate(labels, scores, convention, group_sizes=[n]).value
            assert value == pytest.approx(expected, rel=1e-12), (n, k, convention.ties, choice)
