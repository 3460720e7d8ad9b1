"""Gradients of objectives that draw at random, against plain Python."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.oracle_rows import columns_and_scores, ragged_queries
from tests.helpers.parameters import examples
from tests.helpers.random_loss_records import float64_gradients
from tests.objectives import gradients_by_hand as by_hand
from tests.objectives.examples import (
    CATBOOST_ERR,
    simple_stochastic_rank,
    simple_yetirank,
    stochastic_ranks,
    yetiranks,
)
from tests.oracles.rows import Row

pytestmark = pytest.mark.long

LONGEST = 9  # rows of a query: plain Python computes the measure with each row at each rank


def title(value):
    return f"{value.kind} {getattr(value.convention, 'name', 'classic')}"


def shortened(queries):
    return [query[:LONGEST] for query in queries]


def exact_gradients(queries, value):
    table, scores = columns_and_scores(queries)
    if value.convention is None:
        del table["retrieved"], table["judged"]
    return float64_gradients(value, ra.Queries(table.pop("labels"), **table), scores)


def fully_retrieved(queries):
    """Return the queries with all rows retrieved and judged: objectives without a convention need that."""
    return [[replace(row, retrieved=True, judged=True) for row in query] for query in queries]


def assert_close(actual, expected):
    # Scores of 1e6 leave 10 digits. If no move changes the measure, both sides round terms that cancel.
    scale = max(np.abs(expected).max(initial=0), 1e-5)
    np.testing.assert_allclose(actual, expected, rtol=1e-7, atol=1e-9 * scale)


def stochastic_rank_by_hand(queries, value):
    seeds = [(value.seed + query) % 2**64 for query in range(len(queries))]
    gradients = [by_hand.stochastic_rank(rows, value, seed) for rows, seed in zip(queries, seeds, strict=True)]
    return np.concatenate(gradients)


@given(queries=ragged_queries(), value=stochastic_ranks())
@settings(max_examples=examples(100), deadline=None)
def test_stochastic_rank_moves_every_row_through_all_ranks(queries, value):
    queries = shortened(queries)
    grad, hess = exact_gradients(queries, value)
    assert_close(grad, stochastic_rank_by_hand(queries, value))
    np.testing.assert_array_equal(hess, [row.retrieved for query in queries for row in query])


def graded(seed, n_queries=12, n=7):
    """Return queries without ties, most of which have several labels of each of 0, 1/2 and 1."""
    rng = np.random.default_rng(seed)
    labels, scores = rng.choice([0, 0.5, 0.5, 1], (n_queries, n)).tolist(), rng.random((n_queries, n)).tolist()
    return [[Row(label, score, f"d{i}") for i, (label, score) in enumerate(zip(*query, strict=True))]
            for query in zip(labels, scores, strict=True)]  # fmt: skip


MAP, MRR = ra.presets.catboost.map(3, border=0.6), ra.presets.catboost.mrr(3, border=0.6)
ERR = CATBOOST_ERR.replace(k=3, scale=1)
PFOUND = ra.presets.catboost.pfound(3, use_weights=False)
CUTOFF_OBJECTIVES = [
    *(simple_stochastic_rank(convention, sigma=2) for convention in (PFOUND, ERR)),
    *(simple_stochastic_rank(MAP.replace(divisor=divisor)) for divisor in ("relevant", "cutoff", "found")),
    simple_stochastic_rank(MRR),
    simple_stochastic_rank(ra.presets.letor4(3).replace(gain="linear"), nu=1, lambda_=1),
]


@pytest.mark.parametrize("value", CUTOFF_OBJECTIVES, ids=title)
def test_stochastic_rank_moves_rows_across_the_cutoff(value):
    """Cases that the test above seldom draws: probabilities of 1, and few relevant rows above the cutoff."""
    queries = graded(0)
    assert_close(exact_gradients(queries, value)[0], stochastic_rank_by_hand(queries, value))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_short_queries_have_the_gradients_of_plain_python(n):
    """From three rows on, the part of the gradient along the scores is removed."""
    queries = graded(n, n=n)
    for convention in (PFOUND, MAP, MRR, ERR, ra.presets.letor4(2).replace(gain="linear")):
        value = simple_stochastic_rank(convention, lambda_=0.5, nu=0.1, mu=0.2)
        assert_close(exact_gradients(queries, value)[0], stochastic_rank_by_hand(queries, value))
        assert_pairs_by_hand(queries, simple_yetirank(convention))


def assert_pairs_by_hand(queries, value):
    grad, hess = exact_gradients(queries, value)
    seeds = by_hand.seeds_by_block(value.seed, len(queries))
    pairs = [by_hand.yetirank(rows, value, seed) for rows, seed in zip(queries, seeds, strict=True)]
    for actual, query_parts in ((grad, [pair[0] for pair in pairs]), (hess, [pair[1] for pair in pairs])):
        expected = np.concatenate(query_parts)
        # Rounding a weight to the other neighboring float32 changes it by 6e-8 of its size.
        np.testing.assert_allclose(actual, expected, rtol=2e-7, atol=2e-7 * max(np.abs(expected).max(), 1e-9))


@given(queries=ragged_queries(), value=yetiranks())
@settings(max_examples=examples(150), deadline=None)
def test_yetirank_weighs_pairs_by_rankings_under_noise(queries, value):
    queries = shortened(queries) if value.convention else fully_retrieved(queries)
    assert_pairs_by_hand(queries, value)


def test_the_queries_of_a_block_share_a_generator():
    """A call has 128 blocks, here of three queries."""
    queries = graded(2, n_queries=300, n=3)
    assert_pairs_by_hand(queries, simple_yetirank(PFOUND, permutations=1))
    value = objectives.catboost.stochastic_filter(num_estimations=2)
    grad, _ = exact_gradients(queries, value)
    expected = np.concatenate(by_hand.stochastic_filter(queries, value, value.seed))
    np.testing.assert_allclose(grad, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("neighbors", [1, None])
@pytest.mark.parametrize(
    "value",
    [
        *(
            simple_yetirank(convention)
            for convention in (PFOUND, ERR, MRR, ra.presets.letor4(3).replace(gain="linear"))
        ),
        *(simple_yetirank(MAP.replace(divisor=divisor)) for divisor in ("relevant", "cutoff", "found")),
        *(simple_yetirank(convention, delta="catboost") for convention in (MAP, MRR, ERR, PFOUND)),
    ],
    ids=title,
)
def test_yetirank_weighs_pairs_across_the_cutoff_by_the_change_of_their_swap(value, neighbors):
    assert_pairs_by_hand(graded(1), value.replace(neighbors=neighbors))


@given(
    queries=ragged_queries(),
    options=st.fixed_dictionaries({"estimations": st.sampled_from([1, 4]), "sigma": st.sampled_from([0.5, 2])}),
    fields=st.fixed_dictionaries({
        "retrieve": st.sampled_from(["from_0", "above_0.5"]), "k": st.sampled_from([None, 2]),
        "ties": st.sampled_from(["input", "reverse"]), "discount": st.sampled_from(["reciprocal", "log2"]),
    }),
)  # fmt: skip
@settings(max_examples=examples(60), deadline=None)
def test_stochastic_filter_keeps_rows_at_random(queries, options, fields):
    queries = fully_retrieved(queries)
    convention = ra.presets.catboost.filtered_dcg().replace(**fields)
    value = objectives.StochasticFilter(convention=convention, seed=3, **options)
    grad, hess = exact_gradients(queries, value)
    reverse = fields["ties"] == "reverse"
    ranked_queries = [query[::-1] if reverse else query for query in queries]
    forward = value.replace(convention=convention.replace(ties="input"))
    expected = by_hand.stochastic_filter(ranked_queries, forward, value.seed)
    expected = np.concatenate([part[::-1] if reverse else part for part in expected])
    np.testing.assert_allclose(grad, expected, rtol=1e-6, atol=1e-6 * max(np.abs(expected).max(), 1e-9))
    assert (hess == 1).all()


def test_without_noise_the_smallest_score_difference_decides_the_order():
    value = objectives.catboost.yetirank(noise="No", permutations=1)
    labels, scores = np.array([0.0, 1.0, 0.0, 2.0]), np.array([0.0, 1e-20, 2e-20, 3e-20])
    ascending = float64_gradients(value, ra.Queries(labels, group_sizes=[4]), scores)
    descending = float64_gradients(value, ra.Queries(labels[::-1], group_sizes=[4]), scores[::-1])
    np.testing.assert_array_equal(ascending, np.array(descending)[:, ::-1])
    tied = float64_gradients(value, ra.Queries(labels, group_sizes=[4]), np.zeros(4))
    assert not np.array_equal(ascending, tied)
