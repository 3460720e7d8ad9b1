"""Paired randomization tests and bootstrap intervals: the results equal scipy's, closed forms, and single tests."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from math import comb

import numpy as np
import pytest

from rankadapters.statistics import paired_tests as pairwise
from rankadapters.statistics import resamples
from rankadapters.statistics.paired_tests import paired_tests, whole_numbers
from rankadapters.statistics.resamples import Resamples
from tests.helpers.tables import for_each

RNG = np.random.default_rng(0)
SETTINGS = {"n_resamples": 9999, "confidence": 0.95, "seed": 0}


def run_tests(*differences, **settings):
    """Test differences between the shares of two models."""
    pairs = [(np.asarray(difference, float), np.zeros(len(difference))) for difference in differences]
    return paired_tests(pairs, **{**SETTINGS, **settings})


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
        assert paired_tests([(first, second)], **SETTINGS)[0].p_value == pytest.approx(expected.pvalue, rel=1e-12), seed


ZERO_SUMS = [
    [0.1, 0.2, -0.3, 0.1, 0.2, -0.3, 0.1, -0.1],  # their sum is 0, in float64 5.6e-17
    [0.3, -0.1, -0.2, 0.7, 0.1, 0.1, -0.1, -0.1],
    [0.1] * 8,
    [0.1, 0.1, 0.1, 0.1, 0.1, -0.3, 0.2, 0.0],
    [0.001, 0.002, 0.003, 0.4, -0.4, 0.1, 0.2, -0.3],
]


@for_each("difference", ZERO_SUMS)
@for_each("scale", [1, 1 / 3, 1e-310, 1e306])
def test_equal_sums_count_as_equal_despite_rounding(difference, scale):
    assert run_tests(np.array(difference) * scale)[0].p_value == exact_p_value(difference)


@for_each("sign", [1, -1])
def test_equal_sums_count_as_equal_if_scaling_to_whole_numbers_rounds_them(sign):
    high = sign * (2.0**41 + 7 / 16)  # scaling rounds off the 7/16 of eleven differences
    difference = [high] * 11 + [-11 * high, -20 * sign * 2.0**41]
    whole, _ = whole_numbers(np.array([difference]))
    assert (sum(difference[:12]), whole[:12].sum()) == (0, -5 * sign)
    assert run_tests(difference)[0].p_value == exact_p_value(difference, 16)


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


def test_the_interval_covers_the_true_difference_as_often_as_its_confidence_says():
    rng = np.random.default_rng(2)
    n_covered = 0
    for trial in range(100):
        first, second = rng.normal(0.3, 1, 60) / 60, rng.normal(0, 1, 60) / 60
        [result] = paired_tests([(first, second)], n_resamples=400, confidence=0.9, seed=trial)
        n_covered += result.low <= 0.3 <= result.high
    assert 80 <= n_covered <= 98  # 90 expected, standard deviation 3


def test_many_tests_at_once_equal_single_tests(monkeypatch):
    differences = RNG.normal(0.1, 1, (7, 50)) * 10.0 ** RNG.integers(-9, 9, (7, 1))
    single_results = [run_tests(difference, n_resamples=500)[0] for difference in differences]
    assert run_tests(*differences, n_resamples=500) == single_results
    monkeypatch.setattr(resamples, "CELLS", 1000)
    monkeypatch.setattr(pairwise, "IN_MEMORY", 1000)  # two tests at a time
    assert run_tests(*differences, n_resamples=500) == single_results


def test_resamples_are_drawn_in_blocks_of_limited_size(monkeypatch):
    monkeypatch.setattr(resamples, "CELLS", 5000)
    draws = Resamples(100, 9999, seed=0)
    for blocks in (draws.swaps(), draws.samples()):
        assert [block.shape for block in blocks] == [(50, 100)] * 199 + [(49, 100)]
    samples = np.concatenate(list(draws.samples()))
    assert (samples.sum(axis=1) == 100).all()  # a sample has as many queries as the data
    assert samples.max() > 1


@pytest.mark.parametrize(("n_queries", "n_words"), [(63, 1), (64, 1), (65, 2), (128, 2)])
def test_a_swap_has_a_random_bit_for_each_query(n_queries, n_words):
    draws = Resamples(n_queries, 9, seed=3)
    words = np.random.default_rng([3, 0]).integers(2**64, size=(draws.n_swaps, n_words), dtype=np.uint64).tolist()
    bits = [[row[query // 64] >> query % 64 & 1 for query in range(n_queries)] for row in words]
    assert np.concatenate(list(draws.swaps())).tolist() == bits


THREADS = """
import numpy as np
from rankadapters.statistics.paired_tests import paired_tests
shares = np.random.default_rng(0).random((6, 3001)) / 3001
print([list(map(float.hex, result)) for result in paired_tests(
    [(first, second) for first in shares for second in shares], n_resamples=300, confidence=0.95, seed=0)])
"""


def test_the_number_of_threads_of_the_matrix_product_changes_no_bit():
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
    outputs = {
        subprocess.run(
            [sys.executable, "-c", THREADS], check=True, capture_output=True, text=True,
            env={**os.environ, **dict.fromkeys(names, str(n_threads))},
        ).stdout
        for n_threads in (1, 2, 4)
    }  # fmt: skip
    assert len(outputs) == 1


@for_each("tiny", [2.0**-1074, 1e-30, 1.0, 1e300])
def test_sums_of_resamples_are_exact(tiny):
    differences = RNG.normal(size=(3, 999)) * tiny
    whole, exponents = whole_numbers(differences)
    assert (whole == np.rint(whole)).all()
    assert (np.abs(whole).sum(axis=0) * 32 <= 2**53).all()  # a query drawn 32 times: once in 1e36 samples
    rounded = np.ldexp(whole, exponents).T
    assert (np.abs(rounded - differences).max(axis=1) <= np.abs(differences / 2**47).sum(axis=1)).all()


def test_progress_is_reported_for_every_block(monkeypatch):
    monkeypatch.setattr(resamples, "CELLS", 1000)
    steps = []
    run_tests(RNG.normal(size=100), n_resamples=25, progress=lambda *step: steps.append(step))
    assert steps == [(block, 6) for block in range(1, 7)]  # ten resamples a block, of swaps and of samples
