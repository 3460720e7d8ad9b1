"""Tests, intervals, Holm's correction and Kendall's tau-b equal scipy's, closed forms, and single tests."""

from __future__ import annotations

import math
from itertools import product
from math import comb

import numpy as np
import pytest

from rankadapters.statistics import significance
from rankadapters.statistics.significance import holm, paired_tests, tau_b
from tests.helpers.python_processes import run_python

RNG = np.random.default_rng(0)
SETTINGS = {"n_resamples": 9999, "confidence": 0.95, "seed": 0, "progress": lambda *_: None}


def run_tests(*differences, **settings):
    """Test what the queries add to differences of two models."""
    return paired_tests(np.array(differences, float), **{**SETTINGS, **settings})


def exact_p_value(difference, scale=1000):
    """Return twice the share of all swaps in the smaller tail, for differences that are multiples of 1 / scale."""
    units = [round(scale * share) for share in difference]
    sums = [
        sum(sign * unit for sign, unit in zip(signs, units, strict=True))
        for signs in product([1, -1], repeat=len(units))
    ]
    tails = (sum(total >= sum(units) for total in sums), sum(total <= sum(units) for total in sums))
    return min(1.0, 2 * min(tails) / len(sums))


def test_p_values_of_few_queries_equal_scipys_exact_test():
    for seed in range(8):
        stats = pytest.importorskip("scipy.stats")
        first, second = np.random.default_rng(seed).random((2, 3 + seed))
        expected = stats.permutation_test(
            (first, second), lambda x, y: np.sum(x - y), permutation_type="samples", n_resamples=np.inf
        )
        assert run_tests(first - second)[0].p_value == pytest.approx(expected.pvalue, rel=1e-12), seed


ZERO_SUMS = [
    [0.1, 0.2, -0.3, 0.1, 0.2, -0.3, 0.1, -0.1],  # their sum is 0, in float64 5.6e-17
    [0.3, -0.1, -0.2, 0.7, 0.1, 0.1, -0.1, -0.1],
    [0.1] * 8,
    [0.1, 0.1, 0.1, 0.1, 0.1, -0.3, 0.2, 0.0],
    [0.001, 0.002, 0.003, 0.4, -0.4, 0.1, 0.2, -0.3],
]


@pytest.mark.parametrize("difference", ZERO_SUMS)
@pytest.mark.parametrize("scale", [1, 1 / 3, 1e-300, 1e306])
def test_equal_sums_count_as_equal_despite_rounding(difference, scale):
    assert run_tests(np.array(difference) * scale)[0].p_value == exact_p_value(difference)


@pytest.mark.long
def test_random_swaps_estimate_the_exact_p_value():
    difference = RNG.normal(0.4, 1, 16)
    [exact] = run_tests(difference, n_resamples=2**16)
    p_values = [run_tests(difference, n_resamples=999, seed=seed)[0].p_value for seed in range(40)]
    standard_error = np.sqrt(2 * exact.p_value / 999 / 40)  # of the mean of 40 doubled shares
    assert exact.p_value > 0.01
    assert np.mean(p_values) == pytest.approx(exact.p_value, abs=4 * standard_error + 2 / 1000)
    assert run_tests(np.ones(60))[0].p_value == 2 / 10_000  # two swaps are the smallest p value of random swaps


def test_the_interval_of_zeros_and_ones_equals_the_binomial_interval():
    # The number of ones in a sample is binomial, here with n = 40 and p = 1/4.
    [result] = run_tests([1, 0, 0, 0] * 10, n_resamples=40_000, confidence=0.9)
    below = np.cumsum([comb(40, ones) * 3 ** (40 - ones) / 4**40 for ones in range(41)])
    assert (result.low, result.high) == (np.searchsorted(below, 0.05), np.searchsorted(below, 0.95))


def test_the_interval_equals_scipys_up_to_random_sampling():
    stats = pytest.importorskip("scipy.stats")
    difference = RNG.standard_t(3, 300) / 300
    [result] = run_tests(difference, n_resamples=40_000)
    expected = stats.bootstrap(
        (difference,), np.sum, vectorized=True, n_resamples=40_000, batch=1000, method="percentile"
    ).confidence_interval
    width = expected.high - expected.low
    assert (result.low, result.high) == pytest.approx((expected.low, expected.high), abs=0.03 * width)


@pytest.mark.long
def test_the_interval_covers_the_true_difference_as_often_as_its_confidence_says():
    rng = np.random.default_rng(2)
    n_covered = 0
    for trial in range(100):
        first, second = rng.normal(0.3, 1, 60) / 60, rng.normal(0, 1, 60) / 60
        [result] = run_tests(first - second, n_resamples=400, confidence=0.9, seed=trial)
        n_covered += result.low <= 0.3 <= result.high
    assert 80 <= n_covered <= 98  # 90 expected, standard deviation 3


def test_many_tests_at_once_equal_single_tests(monkeypatch):
    differences = RNG.normal(0.1, 1, (7, 50)) * 10.0 ** RNG.integers(-9, 9, (7, 1))
    single_results = [run_tests(difference, n_resamples=500)[0] for difference in differences]
    assert run_tests(*differences, n_resamples=500) == single_results
    monkeypatch.setattr(significance, "CELLS", 1000)
    monkeypatch.setattr(significance, "SUMS", 1000)  # two tests at a time
    monkeypatch.setattr(significance, "PART", 30)  # two parts of each row
    assert run_tests(*differences, n_resamples=500) == single_results


def test_results_do_not_depend_on_how_a_machine_multiplies_matrices():
    """OpenBLAS, which numpy's wheels contain, adds up in another order on each kind of processor."""
    code = """if True:
        import numpy as np
        from rankadapters.statistics.significance import paired_tests
        for shape in [(1, 50), (6, 50), (12, 784), (3, 4100)]:
            differences = np.random.default_rng(0).normal(size=shape)
            print(paired_tests(differences, n_resamples=299, confidence=0.95, seed=0, progress=max))
        """
    first, second = (run_python("-c", code, OPENBLAS_CORETYPE=kind).stdout for kind in ("Prescott", "Haswell"))
    assert first == second


@pytest.mark.parametrize("cells", [5000, 10**9])  # 50 samples at a time, and all at once
def test_a_sample_draws_as_many_queries_as_the_data_has(monkeypatch, cells):
    monkeypatch.setattr(significance, "CELLS", cells)
    difference = np.random.default_rng(7).normal(size=100)
    drawn = np.random.default_rng([4, 1]).integers(100, size=(999, 100))
    expected = np.quantile(difference[drawn].sum(axis=1), [0.025, 0.975])
    [result] = run_tests(difference, n_resamples=999, seed=4)
    assert (result.low, result.high) == pytest.approx(expected, rel=1e-12)


def test_samples_of_many_queries_share_counts_in_random_orders():
    n_queries, n_resamples = significance.MANY, 3 * significance.SHARED - 1
    difference = np.random.default_rng(7).normal(size=n_queries)
    drawn = np.random.default_rng([4, 1]).integers(n_queries, size=(3, n_queries))
    rng = np.random.default_rng([4, 2])
    orders = [rng.permutation(n_queries) for _ in range(significance.SHARED)]
    sums = [difference[order[row]].sum() for row in drawn for order in orders][:n_resamples]
    [result] = run_tests(difference, n_resamples=n_resamples, seed=4)
    assert (result.low, result.high) == pytest.approx(np.quantile(sums, [0.025, 0.975]), rel=1e-9)


def test_the_interval_of_many_queries_is_normal_up_to_random_sampling():
    n_queries = 2 * significance.MANY
    differences = np.sort(RNG.standard_t(5, (2, n_queries))) / n_queries  # sorted: neighbors are alike
    results = run_tests(*differences, n_resamples=4000)
    for result, difference in zip(results, differences, strict=True):
        ends = difference.sum() + np.array([-1.96, 1.96]) * difference.std() * math.sqrt(n_queries)
        assert (result.low, result.high) == pytest.approx(ends, abs=0.04 * (ends[1] - ends[0]))
        assert run_tests(difference, n_resamples=4000) == [result]


@pytest.mark.parametrize(("n_queries", "n_words"), [(63, 1), (64, 1), (65, 2), (128, 2)])
def test_a_swap_has_a_random_bit_for_each_query(n_queries, n_words):
    words = np.random.default_rng([3, 0]).integers(2**64, size=(99, n_words), dtype=np.uint64).tolist()
    bits = np.array([[row[query // 64] >> query % 64 & 1 for query in range(n_queries)] for row in words])
    difference = np.sin(np.arange(n_queries)) + 0.01
    smaller_tail = min((bits @ difference <= 0).sum(), (bits @ difference >= 0).sum())
    [result] = run_tests(difference, n_resamples=99, seed=3)
    assert smaller_tail > 5
    assert result.p_value == 2 * (smaller_tail + 1) / 100


def test_progress_is_reported_for_every_block(monkeypatch):
    monkeypatch.setattr(significance, "CELLS", 1000)
    steps = []
    run_tests(RNG.normal(size=100), n_resamples=25, progress=lambda *step: steps.append(step))
    assert steps == [(block, 6) for block in range(1, 7)]  # ten resamples a block, of swaps and of samples


def test_holms_correction_equals_p_values_by_hand():
    # Holm (1979): the smallest times 4, the next times 3, ..., none below its predecessor.
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]).tolist() == [1, 1]


def test_tau_b_equals_scipys():
    stats = pytest.importorskip("scipy.stats")
    for seed in range(50):
        first, second = np.random.default_rng(seed).integers(0, 4, (2, 2 + seed % 7)) / 3
        expected = stats.kendalltau(first, second).statistic
        assert tau_b(first, second) == (None if np.isnan(expected) else pytest.approx(expected, rel=1e-12))


def test_tau_of_constant_values_is_none():
    assert tau_b([1, 1, 1], [1, 2, 3]) is None
    assert tau_b([1, 2, 2], [1, 2, 3]) == pytest.approx(2 / math.sqrt(6))  # one tie: tau-b, not tau-a
