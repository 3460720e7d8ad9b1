"""Gradients under a position bias and what is learned of it, against plain Python, and what must hold for all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters import objectives
from rankadapters.core.evaluation import threads
from tests.core.kernels.test_against_definition import ragged
from tests.helpers.depth import examples
from tests.helpers.gradient_rows import EXACT, STATELESS, TABLE, data, kind, queries_of, rows_for
from tests.helpers.position_bias_by_hand import AddedByHand, RatiosByHand, moved
from tests.helpers.tables import for_each
from tests.objectives.test_gradients import pairwise
from tests.objectives.test_trade_gradients import trading

MEAN = objectives.xgboost.ndcg(lambdarank_pair_method="mean", lambdarank_num_pair_per_sample=3)
OF_PAIRS = [  # that every bias corrects
    *(value for value in STATELESS if value.of_pairs and value.bind(ra.Queries([1, 0], group_sizes=[2])).parts),
    MEAN,
    objectives.xgboost.map(lambdarank_pair_method="mean"),
]
ROWS = objectives.AdditiveBias(positions="rows", regularization=0.1, learning_rate=0.5)
GIVEN = ROWS.replace(positions="given")
TRUE, MIRRORED = objectives.unbiased_lambdamart(limit=30), objectives.xgboost.unbiased()
BIASES = [ROWS, TRUE, MIRRORED]
EACH = pytest.mark.parametrize("bias", BIASES, ids=["added", "true", "mirrored"])
EACH_OBJECTIVE = for_each("value", OF_PAIRS, ids=kind)


@st.composite
def ratios(draw: st.DrawFn) -> objectives.BiasRatios:
    return objectives.BiasRatios(
        limit=draw(st.sampled_from([None, 1, 2, 10])), norm=draw(st.sampled_from([0.0, 0.5, 1.0])),
        cost=draw(st.sampled_from(["true", "mirrored"])),
    )  # fmt: skip


def asked(queries, value):
    """Rows that an objective takes, with scores that no round makes extreme."""
    return rows_for([[replace(row, score=row.score % 4) for row in query] for query in queries], value)


def discounts_fall(value):
    """Whether trading ranks changes more than rounding does: powers of 0.00001 are nearly 0, those of 1 all alike."""
    word, _, power = getattr(getattr(value, "convention", None), "discount", "").rpartition("_")
    return word != "power" or 0.01 <= float(power) <= 0.99


def trained(bound, scores, rounds):
    """Gradients of some rounds, each a step against the gradients, and the scores after them."""
    found = []
    for _ in range(rounds):
        grad, hess = bound.gradients(scores)
        bound.learn(grad, hess)
        found.append((grad, hess))
        scores = scores - 0.3 * grad
    return found, scores


@given(queries=ragged(), value=st.one_of(pairwise(), trading()), bias=ratios())
@settings(max_examples=examples(150), deadline=None)
def test_ratios_and_gradients_are_those_of_the_formula(queries, value, bias):
    assume(discounts_fall(value))
    rows = asked([query[:12] for query in queries], value)
    bound = bias.bind(value, queries_of(rows, value)[0])
    known = RatiosByHand(bias, max(map(len, rows)))
    shift = np.zeros(sum(map(len, rows)))
    for _ in range(3):
        here = moved(rows, shift)
        grad, hess = bound.gradients([row.score for query in here for row in query])
        bound.learn(grad, hess)
        expected = known.gradients(here, value)
        assume(known.settled)
        # Changes of AP, RR and ERR are differences of running sums, in which some digits cancel; ratios divide them.
        near = 1e-9 if isinstance(getattr(value, "convention", None), ra.NDCG) else 1e-7
        np.testing.assert_allclose(grad, expected[0], rtol=1e-6 + 10 * near, atol=1e-9)
        np.testing.assert_allclose(hess, expected[1], rtol=1e-6 + 10 * near, atol=1e-9)
        learned = bias.learned(bound)
        np.testing.assert_allclose(learned.higher, known.higher, rtol=near, atol=near)
        np.testing.assert_allclose(learned.lower, known.lower, rtol=near, atol=near)
        shift -= 0.1 * np.clip(grad.astype(float), -5, 5)


@given(queries=ragged(), value=pairwise(), seed=st.integers(0, 2**32 - 1), strength=st.sampled_from([0.0, 0.3]))
@settings(max_examples=examples(100), deadline=None)
def test_added_biases_are_those_of_the_formula(queries, value, seed, strength):
    rows = asked(queries, value)
    bias = GIVEN.replace(regularization=strength)
    bound_queries, scores = queries_of(rows, value)
    positions = np.random.default_rng(seed).integers(0, 9, scores.size) * 3
    bound, known = bias.bind(value, bound_queries, positions=positions), AddedByHand(bias, positions.tolist())
    plain = value.bind(bound_queries)
    for _ in range(3):
        grad, hess = bound.gradients(scores)
        expected = plain.gradients(known.scores(scores))
        np.testing.assert_array_equal([grad, hess], expected)
        bound.learn(grad, hess)
        known.learn(grad, hess)
        learned = bias.learned(bound)
        assert learned.positions.tolist() == list(known.biases)
        np.testing.assert_array_equal(learned.biases, list(known.biases.values()))
        scores = scores - 0.1 * grad


@EACH
@EACH_OBJECTIVE
def test_rounds_of_a_bias(value, bias):
    """The first is that without a bias, gradients of a query add up to 0, and a state goes on where it was left."""
    labels, start, sizes = data(value)
    queries = ra.Queries(labels, group_sizes=sizes)
    bound = bias.bind(value, queries)
    found, scores = trained(bound, start, 2)
    resumed = bias.bind(value, queries, state=bound.state.copy())
    later, _ = trained(bound, scores, 2)
    np.testing.assert_array_equal(trained(resumed, scores, 2)[0], later)
    np.testing.assert_array_equal(resumed.state, bound.state)

    plain = value.bind(queries).gradients(start)
    exact = getattr(value, "sigmoid", "exact") == "exact"  # whose sums over lanes round otherwise in float64
    np.testing.assert_allclose(found[0], plain, rtol=3e-7 if exact else 0, atol=1e-12 if exact else 0)
    for grad, hess in found + later:
        sums = np.add.reduceat(grad.astype(float), np.cumsum([0, *sizes])[:-1])
        np.testing.assert_allclose(sums, 0, atol=3e-6 * np.abs(grad).max() * max(sizes))
        assert (hess >= 0).all()
    assert not np.array_equal(found[0][0], later[0][0])


@EACH
@for_each("value", [TABLE, EXACT, MEAN, objectives.xgboost.pairwise()], ids=kind)
def test_any_number_of_threads_learns_the_same_bits(value, bias, monkeypatch):
    monkeypatch.setattr(threads, "ROWS_PER_THREAD", 500)
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 40, 200)  # a chunk for each thread
    queries = ra.Queries(rng.integers(0, 4, sizes.sum()).astype(float), group_sizes=sizes)
    one, three = (bias.bind(value, queries, n_threads=n) for n in (1, 3))
    start = rng.standard_normal(queries.n_docs)
    np.testing.assert_array_equal(trained(one, start, 2)[0], trained(three, start, 2)[0])
    np.testing.assert_array_equal(one.state, three.state)


@EACH
def test_rows_in_another_order_of_queries_learn_the_same(bias):
    rng = np.random.default_rng(3)
    sizes = [4, 9, 17]
    qid, n = np.repeat([0, 1, 2], sizes), sum(sizes)
    labels, scores = rng.integers(0, 4, n).astype(float), rng.standard_normal(n)
    mixed = np.argsort(np.concatenate([np.arange(size) for size in sizes]), kind="stable")  # all first rows come first
    plain, interleaved = (
        bias.bind(EXACT, ra.Queries(labels, qid=qid)),
        bias.bind(EXACT, ra.Queries(labels[mixed], qid=qid[mixed])),
    )
    for _ in range(2):
        grad, hess = plain.gradients(scores)
        other = interleaved.gradients(scores[mixed])
        np.testing.assert_allclose(other, [grad[mixed], hess[mixed]], rtol=1e-6, atol=1e-9)
        plain.learn(grad, hess)
        interleaved.learn(*other)
    np.testing.assert_allclose(plain.bias, interleaved.bias, rtol=1e-5)


def test_of_one_pair_the_true_cost_falls_and_the_mirrored_one_grows_as_it_is_ordered_better():
    # In the first query the relevant row is the first one, tied; in the second it is the second one, well ahead.
    queries, ratio = ra.Queries([1, 0, 0, 1], group_sizes=[2, 2]), {}
    for bias in (TRUE, MIRRORED):
        bound = bias.replace(norm=0).bind(objectives.catboost.pair_logit(), queries)
        trained(bound, np.array([0.0, 0.0, -2.0, 2.0]), 1)
        ratio[bias.cost] = bias.learned(bound).higher[1]
    assert ratio["true"] == pytest.approx(np.log1p(np.exp(-4)) / np.log(2))
    assert ratio["mirrored"] == pytest.approx(np.log1p(np.exp(4)) / np.log(2))


def test_clicks_on_top_rows_are_learned_as_the_position_s():
    """Relevance without order, and clicks that only rows near the top get: their positions' biases fall in order."""
    n_queries, n = 400, 8
    clicks = (np.random.default_rng(1).random((n_queries, n)) < 1 / (1 + np.arange(n))).astype(float).ravel()
    bias = ROWS.replace(regularization=0)
    bound = bias.bind(objectives.catboost.pair_logit(), ra.Queries(clicks, group_sizes=[n] * n_queries))
    trained(bound, np.zeros(clicks.size), 20)
    assert (np.diff(bias.learned(bound).biases) < 0).all()


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
def test_positions_are_whole_numbers_one_per_row(positions, message):
    with pytest.raises(ra.InputError, match=message):
        GIVEN.bind(EXACT, ra.Queries([1, 0, 2], group_sizes=[3]), positions=positions)


@for_each("positions", [[0, 1, 0, 2, 1], np.array([0, 1, 0, 0, 3]), [0, 1, 0, 0, 0]])
def test_ratios_are_of_places_and_of_no_other_positions(positions):
    queries = ra.Queries([1, 0, 2, 0, 1], group_sizes=[2, 3])
    with pytest.raises(ra.InputError, match=r"positions\[3\] is [02], but the row's index in its query is 1") as told:
        TRUE.bind(EXACT, queries, positions=positions)
    assert told.value.row == 3
    assert TRUE.bind(EXACT, queries, positions=[0, 1, 0, 1, 2]).bias.shape == (2, 3)


@EACH
def test_scores_are_checked_as_without_a_bias(bias):
    bound = bias.bind(EXACT, ra.Queries([1, 0], group_sizes=[2]))
    for scores, message in (
        ([0.0], "scores has 1 rows but the queries cover 2"),
        ([0.0, np.nan], r"scores\[1\] is nan"),
    ):
        with pytest.raises(ra.InputError, match=message):
            bound.gradients(scores)
    if bias is not ROWS:
        with pytest.raises(ra.InputError, match=r"scores\[1\] is -1e\+308, too far from the others of its query"):
            bound.gradients([1e308, -1e308])


@for_each("value", [TABLE, objectives.xgboost.pairwise(), objectives.xgboost.map()], ids=kind)
def test_mirrored_costs_that_are_infinite_leave_gradients_finite(value):
    """XGBoost's own: beyond a distance of 17, float32 rounds the probability of the order to 1."""
    bound = MIRRORED.bind(value, ra.Queries([1, 0, 1, 0, 1], group_sizes=[5]))
    for _ in range(3):
        derivatives = bound.gradients([1e6, -1e6, 0, 1, 2])
        bound.learn(*derivatives)
        assert np.isfinite(derivatives).all()
