"""Paired randomization tests and bootstrap intervals: compared with scipy's, with closed forms, and with themselves."""

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
HOW = {"n_resamples": 9999, "confidence": 0.95, "seed": 0}


def of(*differences, **how):
    """Results of differences of two models' shares."""
    return paired_tests([(np.asarray(each, float), np.zeros(len(each))) for each in differences], **{**HOW, **how})


def exact(difference, scale=1000):
    """Share of all swaps, in the smaller tail and twice, by fractions of the last digit that the differences have."""
    units = [round(scale * each) for each in difference]
    sums = [
        sum(sign * unit for sign, unit in zip(signs, units, strict=True))
        for signs in product([1, -1], repeat=len(units))
    ]
    tails = (sum(each >= sum(units) for each in sums), sum(each <= sum(units) for each in sums))
    return min(1.0, 2 * min(tails) / len(sums))


def test_all_swaps_of_few_queries_are_scipys_exact_test():
    for seed in range(8):
        stats = pytest.importorskip("scipy.stats")
        first, second = np.random.default_rng(seed).random((2, 3 + seed))
        expected = stats.permutation_test(
            (first, second), lambda x, y: np.sum(x - y), permutation_type="samples", n_resamples=np.inf
        )
        assert paired_tests([(first, second)], **HOW)[0].p_value == pytest.approx(expected.pvalue, rel=1e-12), seed


ZERO_SUMS = [
    [0.1, 0.2, -0.3, 0.1, 0.2, -0.3, 0.1, -0.1],  # their sum is 0, in float64 5.6e-17
    [0.3, -0.1, -0.2, 0.7, 0.1, 0.1, -0.1, -0.1],
    [0.1] * 8,
    [0.1, 0.1, 0.1, 0.1, 0.1, -0.3, 0.2, 0.0],
    [0.001, 0.002, 0.003, 0.4, -0.4, 0.1, 0.2, -0.3],
]


@for_each("difference", ZERO_SUMS)
@for_each("scale", [1, 1 / 3, 1e-310, 1e306])
def test_sums_that_are_equal_count_as_equal_whatever_their_last_bits(difference, scale):
    assert of(np.array(difference) * scale)[0].p_value == exact(difference)


@for_each("sign", [1, -1])
def test_what_rounding_takes_from_a_sum_leaves_it_equal(sign):
    high = sign * (2.0**41 + 7 / 16)  # of which eleven times 7/16 are rounded off
    difference = [high] * 11 + [-11 * high, -20 * sign * 2.0**41]
    whole, _ = whole_numbers(np.array([difference]))
    assert (sum(difference[:12]), whole[:12].sum()) == (0, -5 * sign)
    assert of(difference)[0].p_value == exact(difference, 16)


def test_random_swaps_estimate_the_exact_p_value():
    difference = RNG.normal(0.4, 1, 16)
    [all_of_them] = of(difference, n_resamples=2**16)
    found = [of(difference, n_resamples=999, seed=seed)[0].p_value for seed in range(40)]
    spread = np.sqrt(2 * all_of_them.p_value / 999 / 40)  # of twice a share, the mean of 40
    assert all_of_them.p_value > 0.01
    assert np.mean(found) == pytest.approx(all_of_them.p_value, abs=4 * spread + 2 / 1000)
    assert of(np.ones(60))[0].p_value == 2 / 10_000  # no p value of random swaps is smaller than two of them


def test_the_interval_of_zeros_and_ones_is_that_of_a_binomial():
    # A sample of n queries has a binomial number of ones, here with n = 40 and p = 1/4.
    [found] = of([1, 0, 0, 0] * 10, n_resamples=40_000, confidence=0.9)
    below = np.cumsum([comb(40, ones) * 3 ** (40 - ones) / 4**40 for ones in range(41)])
    assert (found.low, found.high) == (np.searchsorted(below, 0.05), np.searchsorted(below, 0.95))


def test_the_interval_is_scipys_but_for_the_samples_drawn():
    stats = pytest.importorskip("scipy.stats")
    difference = RNG.standard_t(3, 300) / 300
    [found] = of(difference, n_resamples=40_000)
    expected = stats.bootstrap(
        (difference,), np.sum, vectorized=True, n_resamples=40_000, batch=1000, method="percentile"
    ).confidence_interval
    width = expected.high - expected.low
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.03 * width)


def test_the_interval_covers_the_difference_of_means_as_often_as_it_says():
    rng = np.random.default_rng(2)
    covered = 0
    for trial in range(100):
        first, second = rng.normal(0.3, 1, 60) / 60, rng.normal(0, 1, 60) / 60
        [found] = paired_tests([(first, second)], n_resamples=400, confidence=0.9, seed=trial)
        covered += found.low <= 0.3 <= found.high
    assert 80 <= covered <= 98  # 90 expected, standard deviation 3


def test_many_tests_at_once_are_each_by_itself(monkeypatch):
    several = RNG.normal(0.1, 1, (7, 50)) * 10.0 ** RNG.integers(-9, 9, (7, 1))
    alone = [of(each, n_resamples=500)[0] for each in several]
    assert of(*several, n_resamples=500) == alone
    monkeypatch.setattr(resamples, "CELLS", 1000)
    monkeypatch.setattr(pairwise, "IN_MEMORY", 1000)  # two tests at a time
    assert of(*several, n_resamples=500) == alone


def test_no_more_than_a_block_of_resamples_is_held(monkeypatch):
    monkeypatch.setattr(resamples, "CELLS", 5000)
    drawn = Resamples(100, 9999, seed=0)
    for blocks in (drawn.swaps(), drawn.samples()):
        assert [block.shape for block in blocks] == [(50, 100)] * 199 + [(49, 100)]
    samples = np.concatenate(list(drawn.samples()))
    assert (samples.sum(axis=1) == 100).all()  # as many queries as there are
    assert samples.max() > 1


THREADS = """
import numpy as np
from rankadapters.statistics.paired_tests import paired_tests
shares = np.random.default_rng(0).random((6, 3001)) / 3001
print([list(map(float.hex, each)) for each in paired_tests(
    [(one, other) for one in shares for other in shares], n_resamples=300, confidence=0.95, seed=0)])
"""


def test_the_number_of_threads_of_the_matrix_product_changes_no_bit():
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
    found = {
        subprocess.run(
            [sys.executable, "-c", THREADS], check=True, capture_output=True, text=True,
            env={**os.environ, **dict.fromkeys(names, str(n_threads))},
        ).stdout
        for n_threads in (1, 2, 4)
    }  # fmt: skip
    assert len(found) == 1


@for_each("tiny", [2.0**-1074, 1e-30, 1.0, 1e300])
def test_sums_of_resamples_are_exact(tiny):
    differences = RNG.normal(size=(3, 999)) * tiny
    whole, exponents = whole_numbers(differences)
    assert (whole == np.rint(whole)).all()
    assert (np.abs(whole).sum(axis=0) * 32 <= 2**53).all()  # a query drawn 32 times: once in 1e36 samples
    rounded = np.ldexp(whole, exponents).T
    assert (np.abs(rounded - differences).max(axis=1) <= np.abs(differences / 2**47).sum(axis=1)).all()


def test_progress_is_told_for_every_block(monkeypatch):
    monkeypatch.setattr(resamples, "CELLS", 1000)
    steps = []
    of(RNG.normal(size=100), n_resamples=25, progress=lambda *step: steps.append(step))
    assert steps == [(done, 6) for done in range(1, 7)]  # ten resamples a block, of swaps and of samples
