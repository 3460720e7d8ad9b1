"""Gradients under a position bias and the biases learned: equal to plain Python, and properties of every bias."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters import objectives
from rankadapters.core.evaluation import threads
from tests.helpers.depth import examples
from tests.helpers.gradient_rows import (
    EXACT,
    STATELESS,
    TABULATED,
    accepted_rows,
    labels_scores_sizes,
    objective_id,
    queries_of,
)
from tests.helpers.oracle_rows import ragged_queries
from tests.helpers.position_bias_by_hand import AdditiveBiasByHand, BiasRatiosByHand, add_to_scores
from tests.helpers.random_objectives import lambdaranks, pairwise_objectives
from tests.helpers.tables import for_each

MEAN = objectives.xgboost.ndcg(lambdarank_pair_method="mean", lambdarank_num_pair_per_sample=3)
PAIR_OBJECTIVES = [  # every bias corrects them
    *(value for value in STATELESS if value.of_pairs and value.bind(ra.Queries([1, 0], group_sizes=[2])).parts),
    MEAN,
    objectives.xgboost.map(lambdarank_pair_method="mean"),
]
ROWS = objectives.AdditiveBias(positions="rows", regularization=0.1, learning_rate=0.5)
GIVEN = ROWS.replace(positions="given")
TRUE, MIRRORED = objectives.unbiased_lambdamart(limit=30), objectives.xgboost.unbiased()
BIASES = [ROWS, TRUE, MIRRORED]
EACH_BIAS = pytest.mark.parametrize("bias", BIASES, ids=["added", "true", "mirrored"])
EACH_OBJECTIVE = for_each("value", PAIR_OBJECTIVES, ids=objective_id)


@st.composite
def ratios(draw: st.DrawFn) -> objectives.BiasRatios:
    return objectives.BiasRatios(
        limit=draw(st.sampled_from([None, 1, 2, 10])), norm=draw(st.sampled_from([0.0, 0.5, 1.0])),
        cost=draw(st.sampled_from(["true", "mirrored"])),
    )  # fmt: skip


def moderate_rows(queries, value):
    """Return rows that the objective takes, with scores so small that no round makes them extreme."""
    return accepted_rows([[replace(row, score=row.score % 4) for row in query] for query in queries], value)


def discounts_fall(value):
    """Return whether swapping two ranks changes more than rounding: not so if discounts are nearly 0 or all equal."""
    name, _, power = getattr(getattr(value, "convention", None), "discount", "").rpartition("_")
    return name != "power" or 0.01 <= float(power) <= 0.99


def train(binding, scores, rounds):
    """Return the gradients of each round, a step against the gradients, and the scores after the last round."""
    history = []
    for _ in range(rounds):
        grad, hess = binding.gradients(scores)
        binding.learn(grad, hess)
        history.append((grad, hess))
        scores = scores - 0.3 * grad
    return history, scores


@given(queries=ragged_queries(), value=st.one_of(pairwise_objectives(), lambdaranks()), bias=ratios())
@settings(max_examples=examples(150), deadline=None)
def test_gradients_and_ratios_equal_the_formula(queries, value, bias):
    assume(discounts_fall(value))
    rows = moderate_rows([query[:12] for query in queries], value)
    binding = bias.bind(value, queries_of(rows, value)[0])
    by_hand = BiasRatiosByHand(bias, max(map(len, rows)))
    shift = np.zeros(sum(map(len, rows)))
    for _ in range(3):
        moved_rows = add_to_scores(rows, shift)
        grad, hess = binding.gradients([row.score for query in moved_rows for row in query])
        binding.learn(grad, hess)
        expected = by_hand.gradients(moved_rows, value)
        assume(by_hand.well_conditioned)
        # Changes of AP, RR and ERR are differences of running sums: digits cancel, and the ratios divide them.
        tolerance = 1e-9 if isinstance(getattr(value, "convention", None), ra.NDCG) else 1e-7
        np.testing.assert_allclose(grad, expected[0], rtol=1e-6 + 10 * tolerance, atol=1e-9)
        np.testing.assert_allclose(hess, expected[1], rtol=1e-6 + 10 * tolerance, atol=1e-9)
        learned = bias.learned(binding)
        np.testing.assert_allclose(learned.higher, by_hand.higher, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(learned.lower, by_hand.lower, rtol=tolerance, atol=tolerance)
        shift -= 0.1 * np.clip(grad.astype(float), -5, 5)


@given(
    queries=ragged_queries(),
    value=pairwise_objectives(),
    seed=st.integers(0, 2**32 - 1),
    strength=st.sampled_from([0.0, 0.3]),
)
@settings(max_examples=examples(100), deadline=None)
def test_added_biases_equal_the_formula(queries, value, seed, strength):
    bias = GIVEN.replace(regularization=strength)
    queries, scores = queries_of(moderate_rows(queries, value), value)
    positions = np.random.default_rng(seed).integers(0, 9, scores.size) * 3
    binding, by_hand = bias.bind(value, queries, positions=positions), AdditiveBiasByHand(bias, positions.tolist())
    plain = value.bind(queries)
    for _ in range(3):
        grad, hess = binding.gradients(scores)
        expected = plain.gradients(by_hand.scores(scores))
        np.testing.assert_array_equal([grad, hess], expected)
        binding.learn(grad, hess)
        by_hand.learn(grad, hess)
        learned = bias.learned(binding)
        assert learned.positions.tolist() == list(by_hand.biases)
        np.testing.assert_array_equal(learned.biases, list(by_hand.biases.values()))
        scores = scores - 0.1 * grad


@EACH_BIAS
@EACH_OBJECTIVE
def test_a_bias_starts_neutral_keeps_gradient_sums_at_0_and_resumes_from_its_state(value, bias):
    """The first round equals training without a bias, and the gradients of a query add up to 0 in every round."""
    labels, start, sizes = labels_scores_sizes(value)
    queries = ra.Queries(labels, group_sizes=sizes)
    binding = bias.bind(value, queries)
    first_rounds, scores = train(binding, start, 2)
    resumed = bias.bind(value, queries, state=binding.state.copy())
    later_rounds, _ = train(binding, scores, 2)
    np.testing.assert_array_equal(train(resumed, scores, 2)[0], later_rounds)
    np.testing.assert_array_equal(resumed.state, binding.state)

    plain = value.bind(queries).gradients(start)
    exact = getattr(value, "sigmoid", "exact") == "exact"  # its sums over lanes round differently in float64
    np.testing.assert_allclose(first_rounds[0], plain, rtol=3e-7 if exact else 0, atol=1e-12 if exact else 0)
    for grad, hess in first_rounds + later_rounds:
        sums = np.add.reduceat(grad.astype(float), np.cumsum([0, *sizes])[:-1])
        np.testing.assert_allclose(sums, 0, atol=3e-6 * np.abs(grad).max() * max(sizes))
        assert (hess >= 0).all()
    assert not np.array_equal(first_rounds[0][0], later_rounds[0][0])


@EACH_BIAS
@for_each("value", [TABULATED, EXACT, MEAN, objectives.xgboost.pairwise()], ids=objective_id)
def test_any_number_of_threads_learns_the_same_bits(value, bias, monkeypatch):
    monkeypatch.setattr(threads, "ROWS_PER_THREAD", 500)
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 40, 200)  # a chunk for each thread
    queries = ra.Queries(rng.integers(0, 4, sizes.sum()).astype(float), group_sizes=sizes)
    single_threaded, multi_threaded = (bias.bind(value, queries, n_threads=n) for n in (1, 3))
    start = rng.standard_normal(queries.n_docs)
    np.testing.assert_array_equal(train(single_threaded, start, 2)[0], train(multi_threaded, start, 2)[0])
    np.testing.assert_array_equal(single_threaded.state, multi_threaded.state)


@EACH_BIAS
def test_interleaved_queries_learn_the_same_bias(bias):
    rng = np.random.default_rng(3)
    sizes = [4, 9, 17]
    qid, n = np.repeat([0, 1, 2], sizes), sum(sizes)
    labels, scores = rng.integers(0, 4, n).astype(float), rng.standard_normal(n)
    order = np.argsort(np.concatenate([np.arange(size) for size in sizes]), kind="stable")  # all first rows first
    grouped, interleaved = (
        bias.bind(EXACT, ra.Queries(labels, qid=qid)),
        bias.bind(EXACT, ra.Queries(labels[order], qid=qid[order])),
    )
    for _ in range(2):
        grad, hess = grouped.gradients(scores)
        derivatives = interleaved.gradients(scores[order])
        np.testing.assert_allclose(derivatives, [grad[order], hess[order]], rtol=1e-6, atol=1e-9)
        grouped.learn(grad, hess)
        interleaved.learn(*derivatives)
    np.testing.assert_allclose(grouped.bias, interleaved.bias, rtol=1e-5)


def test_a_better_ordered_pair_lowers_the_true_cost_and_raises_the_mirrored_cost():
    # In the first query the relevant row comes first and is tied. In the second it comes second and scores 4 more.
    queries, ratio = ra.Queries([1, 0, 0, 1], group_sizes=[2, 2]), {}
    for bias in (TRUE, MIRRORED):
        binding = bias.replace(norm=0).bind(objectives.catboost.pair_logit(), queries)
        train(binding, np.array([0.0, 0.0, -2.0, 2.0]), 1)
        ratio[bias.cost] = bias.learned(binding).higher[1]
    assert ratio["true"] == pytest.approx(np.log1p(np.exp(-4)) / np.log(2))
    assert ratio["mirrored"] == pytest.approx(np.log1p(np.exp(4)) / np.log(2))


def test_clicks_caused_by_position_are_learned_as_position_bias():
    """All rows are equally relevant, but rows near the top get more clicks: the biases fall with the position."""
    n_queries, n = 400, 8
    clicks = (np.random.default_rng(1).random((n_queries, n)) < 1 / (1 + np.arange(n))).astype(float).ravel()
    bias = ROWS.replace(regularization=0)
    binding = bias.bind(objectives.catboost.pair_logit(), ra.Queries(clicks, group_sizes=[n] * n_queries))
    train(binding, np.zeros(clicks.size), 20)
    assert (np.diff(bias.learned(binding).biases) < 0).all()


@for_each(
    ("positions", "message"),
    [
        ([0, 1], r"positions has shape \(2,\), but the queries have 3 rows"),
        ([[0, 1, 2]], r"positions has shape \(1, 3\)"),
        ([0, -1, 2], r"positions\[1\] is -1; allowed are whole numbers from 0 on"),
        ([0.0, 1.0, 2.0], "positions are float64, not whole numbers"),
        ([True, False, True], "positions are bool, not whole numbers"),
        (None, "there are no positions, but the position bias says positions='given'.\nHint: positions='rows'"),
    ],
)
def test_positions_that_are_not_one_whole_number_per_row_are_refused(positions, message):
    with pytest.raises(ra.InputError, match=message):
        GIVEN.bind(EXACT, ra.Queries([1, 0, 2], group_sizes=[3]), positions=positions)


@for_each("positions", [[0, 1, 0, 2, 1], np.array([0, 1, 0, 0, 3]), [0, 1, 0, 0, 0]])
def test_ratios_refuse_positions_that_differ_from_the_row_index(positions):
    queries = ra.Queries([1, 0, 2, 0, 1], group_sizes=[2, 3])
    with pytest.raises(ra.InputError, match=r"positions\[3\] is [02], but the row's index in its query is 1") as error:
        TRUE.bind(EXACT, queries, positions=positions)
    assert error.value.row == 3
    assert TRUE.bind(EXACT, queries, positions=[0, 1, 0, 1, 2]).bias.shape == (2, 3)


@EACH_BIAS
def test_scores_are_checked_under_a_bias_too(bias):
    binding = bias.bind(EXACT, ra.Queries([1, 0], group_sizes=[2]))
    for scores, message in (
        ([0.0], "scores has 1 rows but the queries cover 2"),
        ([0.0, np.nan], r"scores\[1\] is nan"),
    ):
        with pytest.raises(ra.InputError, match=message):
            binding.gradients(scores)
    if bias is not ROWS:
        with pytest.raises(ra.InputError, match=r"scores\[1\] is -1e\+308, too far from the others of its query"):
            binding.gradients([1e308, -1e308])


@for_each("value", [TABULATED, objectives.xgboost.pairwise(), objectives.xgboost.map()], ids=objective_id)
def test_infinite_mirrored_costs_leave_gradients_finite(value):
    """As in XGBoost: for scores more than 17 apart, float32 rounds the probability of the order to 1."""
    binding = MIRRORED.bind(value, ra.Queries([1, 0, 1, 0, 1], group_sizes=[5]))
    for _ in range(3):
        derivatives = binding.gradients([1e6, -1e6, 0, 1, 2])
        binding.learn(*derivatives)
        assert np.isfinite(derivatives).all()
