"""Spearman, Kendall and Pearson: closed forms, queries without a correlation, and sums that keep their last bits."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.kernels.dispatch import NEVER, NOW, kernels
from tests.oracles.correlations import _cosine

ALL = ["scipy.spearmanr", "scipy.kendalltau", "scipy.kendalltau+variant=c", "scipy.pearsonr"]
each = pytest.mark.parametrize("text", ALL)


def value(labels, scores, text, **columns):
    return ra.evaluate(labels, scores, text, **columns or {"group_sizes": [len(labels)]}).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Ranks by label 1, 2.5, 2.5, 4 and by score 2, 1, 3.5, 3.5, less 2.5.
        ("scipy.spearmanr", (1.5 * 0.5 + 1.5 * 1) / 4.5),
        ("scipy.spearmanr+ties=input", (1.5 * 0.5 + 1.5 * 0.5) / math.sqrt(4.5 * 5)),  # scores rank 2, 1, 4, 3
        ("scipy.spearmanr+ties=reverse", (1.5 * 0.5 + 1.5 * 1.5) / math.sqrt(4.5 * 5)),  # scores rank 2, 1, 3, 4
        # Of 6 pairs one ties by label, another by score; 3 of the other 4 are concordant.
        ("scipy.kendalltau", (3 - 1) / 5),
        ("scipy.kendalltau+variant=c", (3 - 1) / (4 * 4 * (3 - 1) / (2 * 3))),  # 3 labels, 3 scores
        ("scipy.pearsonr", (1 * 0.75 + 0 + 0 + 1 * 1.25) / math.sqrt(2 * (0.75**2 + 1.75**2 + 2 * 1.25**2))),
    ],
)
def test_values_by_hand(text, expected):
    assert value([-1, 0, 0, 1], [2, 1, 4, 4], text) == pytest.approx(expected, rel=1e-15)


@each
@pytest.mark.parametrize("choice", [NOW, NEVER])
def test_a_perfect_order_is_exactly_1_and_its_reverse_minus_1(text, choice):
    rng = np.random.default_rng(0)
    with kernels(choice):
        for n in (2, 3, 10, 999):
            labels = rng.normal(0, 0.01, n)
            assert value(labels, 3 * labels, text) == 1
            assert value(labels, -labels / 8, text) == -1


@each
def test_a_query_of_equal_labels_or_of_one_row_is_empty(text):
    columns = {"group_sizes": [3, 1, 2]}
    labels, scores = [2, 2, 2, -1, 0, 1], [1, 2, 3, 4, 5, 6]
    score = ra.evaluate(labels, scores, text, **columns)
    assert (score.value, score.n_scored, score.n_empty) == (1, 1, 2)
    assert value(labels, scores, f"{text}+empty=-0.5", **columns) == 0
    with pytest.raises(ra.InputError, match="query 0 has nothing to find, and the convention says empty='error'"):
        ra.evaluate(labels, scores, f"{text}+empty=error", **columns)
    with pytest.raises(ra.InputError, match="query 0 has nothing to find, and the convention says empty='error'"):
        ra.evaluate([1, 1], [1, 2], f"{text}+pool=rows", group_sizes=[2])


@each
@pytest.mark.parametrize("constant", [-1, 0, 0.25])
def test_equal_scores_count_what_constant_says_and_leave_no_query_out(text, constant):
    columns = {"group_sizes": [2, 2]}
    for scores in ([1, 2, 7, 7], [1, 2, 0.1, 0.1], [1, 2, 0, -0.0]):
        score = ra.evaluate([0, 1, 0, 1], scores, f"{text}+constant={constant}", **columns)
        assert (score.value, score.n_scored) == ((1 + constant) / 2, 2)


@each
def test_weights_are_those_of_queries(text):
    columns = {"group_sizes": [2, 2], "query_weight": [3, 1]}
    assert value([0, 1, 0, 1], [0, 1, 1, 0], f"{text}+average=query", **columns) == 0.5
    with pytest.raises(ra.ConventionError, match="average='query' means nothing with pool='rows'"):
        ra.parse(f"{text}+average=query+pool=rows")


@each
def test_all_rows_may_be_one_query(text):
    labels, scores = [0, 1, 5, 7], [0, 1, -2, 3]
    assert value(labels, scores, f"{text}+pool=rows", group_sizes=[2, 2]) == value(labels, scores, text)


@each
@pytest.mark.parametrize("choice", [NOW, NEVER])
def test_the_order_of_rows_changes_no_bit(text, choice):
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(-9, 9, 300) / 7, rng.normal(0, 1, 300).round(1)
    values = set()
    with kernels(choice):
        for _ in range(9):
            order = rng.permutation(300)
            values.add(value(labels[order], scores[order], text))
    assert len(values) == 1


@pytest.mark.parametrize("choice", [NOW, NEVER])
@pytest.mark.parametrize("case", ["plain", "far from 0", "span overflows", "subnormal", "outlier", "uncorrelated"])
def test_pearson_is_right_in_the_last_digits(case, choice):
    rng = np.random.default_rng(2)
    labels, noise = rng.normal(0, 1, 120), rng.normal(0, 1, 120)
    scores = {
        "plain": labels + noise,
        "far from 0": 1e9 + labels + noise,
        "span overflows": np.clip(labels + noise, -3, 3) * 5.9e307,
        "subnormal": np.round((labels + noise) * 9) * 5e-324,
        "outlier": np.where(np.arange(120) == 7, 1e12, labels + noise),
        "uncorrelated": noise - labels * (noise @ labels) / (labels @ labels),
    }[case]
    expected = _cosine([Fraction(label) for label in labels], [Fraction(score) for score in scores])
    with kernels(choice):
        assert value(labels, scores, "scipy.pearsonr") == pytest.approx(expected, rel=4e-16, abs=2e-16)


def test_pearson_loses_no_digit_in_a_long_query():
    """Sums that are not compensated lose three digits here: 0.5843162426247164."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 50, 200_000).astype(float)
    scores = labels + rng.normal(0, 20, labels.size).round(1)
    a, b = ((column - math.fsum(column) / column.size) for column in (labels, scores))
    expected = math.fsum(a * b) / math.sqrt(math.fsum(a * a) * math.fsum(b * b))
    with kernels(NOW):
        assert value(labels, scores, "scipy.pearsonr") == pytest.approx(expected, rel=4e-16)


def test_labels_may_be_negative_and_scores_that_are_not_finite_are_refused():
    assert value([-0.02, -0.01, 0.03], [-1, -2, -3], "pandas.spearman") == -1
    with pytest.raises(ra.InputError, match=r"scores\[1\] is nan"):
        ra.evaluate([-0.02, -0.01, 0.03], [1, math.nan, 2], "pandas.pearson", group_sizes=[3])


def test_scores_that_float32_cannot_tell_apart_tie():
    scores = [1, 1 + 1e-12, 2]
    assert value([2, 1, 3], scores, "scipy.kendalltau") == 1 / 3
    assert value([2, 1, 3], scores, "scipy.kendalltau+precision=float32") == 2 / math.sqrt(3 * 2)


@pytest.mark.parametrize("tool", ["scipy", "pandas", "polars"])
def test_a_library_without_ndcg_says_so(tool):
    vocabulary = ra.presets.TOOLS[tool]
    with pytest.raises(ra.ConventionError, match=f"{tool} has no NDCG, only correlations.\nHint: presets.{tool}."):
        vocabulary(10)
    with pytest.raises(ra.ConventionError, match=f"'{tool}@10' is neither a preset"):
        ra.parse(f"{tool}@10")
    with pytest.raises(ra.ConventionError, match=f"not a known metric of {tool}; .* presets for '(spearmanr|pearson)'"):
        vocabulary.read("ndcg")
    assert tool not in ra.presets.names()


@pytest.mark.parametrize(
    ("tool", "text", "reason"),
    [
        ("pandas", "scipy.kendalltau+variant=c", "pandas cannot express variant='c', only variant='b'"),
        ("polars", "pandas.kendall", "polars cannot express measure='kendall'"),
        ("scipy", "scipy.spearmanr+ties=input", "scipy cannot express ties='input', only ties='mean-rank'"),
        ("scipy", "lightgbm@10", "scipy cannot express measure='ndcg'.*only measure='pearson'"),
    ],
)
def test_what_a_library_cannot_express_is_named(tool, text, reason):
    with pytest.raises(ra.UnsupportedConventionError, match=reason):
        ra.presets.TOOLS[tool].write(text)
