"""Seeds of the pairs that objectives draw: the round, or a word of a seeded Mersenne Twister."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from rankadapters.objectives.pair_gradients import PairDraws, twister_word
from tests.helpers.objective_rankings import graded_ranking
from tests.helpers.tables import for_each

MEAN = {"lambdarank_pair_method": "mean"}
BY_ROUND = objectives.xgboost.ndcg(**MEAN)
SEEDED = objectives.xgboost.ndcg(**MEAN, seed=0)


@for_each("preset", [objectives.xgboost.ndcg, objectives.xgboost.pairwise, objectives.xgboost.map])
def test_the_signature_shows_the_seed_unless_the_round_is_the_seed(preset):
    by_round, seeded = preset(**MEAN), preset(**MEAN, seed=7)
    assert by_round.seed == "round"
    assert "seed" not in str(by_round)
    assert "/seed=7/" in str(seeded)
    for value in (by_round, seeded):
        assert objectives.parse(str(value)) == value
    assert by_round == by_round.replace(seed="round")
    assert len({seeded, by_round, preset(**MEAN, seed=0)}) == 3
    assert seeded.diff(by_round) == {"seed": (7, "round")}
    assert preset(seed=7) == preset()  # no pairs are drawn
    assert seeded.replace(samples=None, truncation=10).seed == "round"


@for_each("seed", [-1, 2**32, 0.5, True, "rounds"])
def test_a_seed_is_a_whole_number_of_32_bits_or_the_round(seed):
    with pytest.raises(ra.ConventionError, match="allowed are whole numbers from 0 to 4294967295, 'round'"):
        BY_ROUND.replace(seed=seed)


@pytest.mark.parametrize(
    ("seed", "words"),
    [
        (5489, {0: 3499211612, 9999: 4123659995}),  # the generator's default; [rand.predef] in the C++ standard
        (0, {0: 2357136044, 1: 2546248239, 2: 3071714933}),  # g++ 12, std::mt19937(0)
    ],
)
def test_words_equal_those_of_the_cpp_library(seed, words):
    assert {index: twister_word(seed, index) for index in words} == words


def test_queries_are_seeded_by_the_round_or_by_a_word_of_the_generator():
    rounds = np.array([2], np.int64)
    assert PairDraws(1, rounds, None).seed_of(4, 10) == 3 * 10 + 4
    assert PairDraws(1, rounds, 0).seed_of(4, 10) == 3071714933 + 4


@pytest.mark.parametrize("n_threads", [1, 3])
def test_every_call_draws_new_pairs_that_do_not_depend_on_the_threads(n_threads):
    data = graded_ranking(1, 60, 20)
    scores = np.random.default_rng(0).normal(size=data.y.size)
    queries = ra.Queries(data.y, group_sizes=data.sizes)
    binding, single_threaded = (SEEDED.bind(queries, n_threads=n) for n in (n_threads, 1))
    calls = [binding.gradients(scores)[0] for _ in range(3)]
    assert not np.array_equal(calls[0], calls[1])
    np.testing.assert_array_equal(calls, [single_threaded.gradients(scores)[0] for _ in range(3)])


def test_seeds_draw_different_pairs_under_a_position_bias_too():
    data = graded_ranking(1, 60, 20)
    queries, scores = ra.Queries(data.y, group_sizes=data.sizes), np.linspace(0, 1, data.y.size)
    bias = objectives.xgboost.unbiased(**MEAN)
    gradients = [bias.bind(value, queries).gradients(scores)[0] for value in (BY_ROUND, SEEDED, SEEDED.replace(seed=1))]
    assert all(not np.array_equal(gradients[i], gradients[j]) for i, j in ((0, 1), (0, 2), (1, 2)))
    np.testing.assert_array_equal(gradients[1], SEEDED.bind(queries).gradients(scores)[0])  # ratios start from 1
