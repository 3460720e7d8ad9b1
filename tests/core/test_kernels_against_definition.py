"""Every kernel, through the public face, against the plain-Python definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core import definition
from rankadapters.core.definition import Row
from tests.core.strategies import conventions


@st.composite
def ragged(draw: st.DrawFn) -> list[list[Row]]:
    seed, n_queries = draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, 8))
    rng = np.random.default_rng(seed)
    levels = draw(st.sampled_from([1, 2, 5, 50, 10**9]))
    longest = draw(st.sampled_from([1, 3, 12, 30, 150]))
    spoilt = draw(st.sampled_from([0.0, 0.3]))
    top_label = draw(st.sampled_from([0, 1, 3]))
    queries = []
    for _ in range(n_queries):
        n = int(rng.integers(1, longest + 1))
        scores = rng.integers(0, levels, n) / levels * draw(st.sampled_from([1.0, 1e-7, -1e6]))
        judged, retrieved = rng.random(n) >= spoilt, rng.random(n) >= spoilt
        retrieved |= ~judged
        labels = rng.integers(0, top_label + 1, n)
        docids = [f"d{i}" for i in rng.permutation(n)]
        queries.append([Row(float(labels[i]), float(scores[i]), docids[i], bool(retrieved[i]), bool(judged[i]))
                        for i in range(n)])  # fmt: skip
    return queries


def columns(queries: list[list[Row]]) -> tuple[dict[str, object], list[float]]:
    rows = [row for query in queries for row in query]
    return {
        "labels": [row.label for row in rows],
        "group_sizes": [len(query) for query in queries],
        "docid": [row.docid for row in rows],
        "retrieved": [row.retrieved for row in rows],
        "judged": [row.judged for row in rows],
    }, [row.score for row in rows]


@given(queries=ragged(), convention=conventions(lenient=True), weighted=st.booleans())
@settings(max_examples=400, deadline=None)
def test_value_and_per_query_are_those_of_the_definition(queries, convention, weighted):
    weights = None
    if weighted and convention.average != "uniform":
        weights = [(i * 7 % 5) / 2 + 0.5 for i in range(len(queries))]
    data, scores = columns(queries)
    evaluator = ra.Evaluator(data.pop("labels"), convention, query_weight=weights, **data)
    expected = [definition.query_value(query, convention)[0] for query in queries]
    got = evaluator.per_query(scores)
    wanted = [math.nan if value == "skip" else value for value in expected]
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-300)
    if all(value == "skip" for value in expected):
        with pytest.raises(ra.InputError, match="nothing is left to average"):
            evaluator.evaluate(scores)
        return
    pairs = list(zip(queries, weights or [1.0] * len(queries), strict=True))
    assert evaluator.evaluate(scores).value == pytest.approx(definition.evaluate(pairs, convention), rel=1e-12)


@given(st.integers(0, 2**32 - 1), st.sampled_from([np.float32, np.float64]), st.sampled_from(["exp2", "linear"]))
@settings(max_examples=60, deadline=None)
def test_fractional_labels_and_many_scores(seed, dtype, gain):
    rng = np.random.default_rng(seed)
    convention = ra.presets.textbook(int(rng.integers(1, 40))).replace(gain=gain)
    n = int(rng.integers(1, 400))
    labels, scores = rng.random(n) * 3, rng.standard_normal(n).astype(dtype)
    rows = [Row(label, float(score)) for label, score in zip(labels, scores, strict=True)]
    value = ra.evaluate(labels, scores, convention, group_sizes=[n]).value
    assert value == pytest.approx(definition.evaluate([(rows, 1.0)], convention), rel=1e-12)


SHAPES = {
    "all equal": lambda n, rng: np.zeros(n),
    "descending": lambda n, rng: -np.arange(n, dtype=float),
    "ascending": lambda n, rng: np.arange(n, dtype=float),
    "all in one lane": lambda n, rng: np.where(np.arange(n) % 16 == 3, rng.random(n) + 10, rng.random(n)),
    "two levels": lambda n, rng: rng.integers(0, 2, n).astype(float),
    "heavy tail": lambda n, rng: np.exp(rng.standard_normal(n) * 40),
    "one outlier": lambda n, rng: np.where(np.arange(n) == 7, 1e300, rng.random(n)),
    "span overflows": lambda n, rng: np.where(rng.random(n) < 0.5, -1, 1) * rng.random(n) * 1.7e308,
    "subnormal": lambda n, rng: rng.integers(0, 99, n) * 5e-324,
    "signed zeros": lambda n, rng: np.where(rng.random(n) < 0.5, -0.0, 0.0),
}


@pytest.mark.parametrize("ties", ["input", "average", "worst"])
@pytest.mark.parametrize("k", [1, 10, 12, 13, 28, 29, None])
@pytest.mark.parametrize("shape", SHAPES)
def test_awkward_scores_rank_as_defined(shape, k, ties):
    rng = np.random.default_rng(3)
    convention = ra.presets.textbook(k).replace(ties=ties)
    for n in (23, 24, 47, 48, 97, 700):
        labels, scores = rng.integers(0, 4, n), SHAPES[shape](n, rng)
        rows = [Row(float(label), float(score)) for label, score in zip(labels, scores, strict=True)]
        value = ra.evaluate(labels, scores, convention, group_sizes=[n]).value
        assert value == pytest.approx(definition.evaluate([(rows, 1.0)], convention), rel=1e-12)
