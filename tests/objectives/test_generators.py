"""CatBoost's random generator: equal to plain Python."""

from __future__ import annotations

import numpy as np

from rankadapters.core.ranking.jit import jit
from rankadapters.objectives.kernels.generators import MULTIPLIER, block_started, draw_normals, drawn, query_seeds
from tests.helpers.random_losses_by_hand import Generator, seeds_by_block
from tests.helpers.tables import for_each

SEEDS = [0, 1, 2**32 - 1, 2**63, 2**64 - 1, 10033610233601128462]


@jit
def fill_normals(seed, out):
    draw_normals(seed, out)


@jit
def fill_integers(seed, block, steps, out):
    first, second, first_increment, second_increment = block_started(seed, block, steps)
    for i in range(out.size):
        first = first * MULTIPLIER + first_increment
        second = second * MULTIPLIER + second_increment
        out[i] = drawn(first, second)


@for_each("seed", SEEDS)
def test_normal_numbers_equal_those_of_plain_python(seed):
    numbers, generator = np.empty(200), Generator(seed)
    fill_normals(np.uint64(seed), numbers)
    np.testing.assert_allclose(numbers, [generator.normal() for _ in range(200)], rtol=1e-14)


@for_each("seed", SEEDS)
@for_each(("block", "steps"), [(0, 0), (0, 10), (3, 1), (127, 1000)])
def test_a_block_starts_after_the_given_number_of_draws(seed, block, steps):
    blocks = Generator(seed)
    generator = Generator([blocks.uint64() for _ in range(block + 1)][-1])
    for _ in range(steps):
        generator.uint64()
    numbers = np.empty(5, np.uint64)
    fill_integers(np.uint64(seed), block, steps, numbers)
    assert numbers.tolist() == [generator.uint64() for _ in range(5)]


@for_each("n_queries", [1, 5, 128, 129, 300])
@for_each("first", [0, 1, 4])
def test_query_seeds_do_not_depend_on_the_start_of_the_chunk(n_queries, first):
    seeds = np.empty(max(n_queries - first, 0), np.uint64)
    query_seeds(np.uint64(7), n_queries, first, seeds)
    assert seeds.tolist() == list(seeds_by_block(7, n_queries))[first:]
