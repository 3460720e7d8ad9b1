"""Gradients under a position bias and the biases learned: equal to plain Python, and properties of every bias."""

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from rankadapters.evaluation import threads
from rankadapters.objectives.kernels import changes, replicas
from tests.objectives.examples import EXACT, STATELESS, TABULATED, labels_scores_sizes, objective_id

pytestmark = pytest.mark.long
pytest.importorskip("numba")

MEAN = objectives.xgboost.ndcg(lambdarank_pair_method="mean", lambdarank_num_pair_per_sample=3)
PAIR_OBJECTIVES = [  # every bias corrects them
    *(value for value in STATELESS if value.of_pairs and not isinstance(value, objectives.LambdaLoss)),
    MEAN,
    objectives.xgboost.map(lambdarank_pair_method="mean"),
]
ROWS = objectives.AdditiveBias(positions="rows", regularization=0.1, learning_rate=0.5)
TRUE, MIRRORED = objectives.unbiased_lambdamart(limit=30), objectives.xgboost.unbiased()
BIASES = [ROWS, TRUE, MIRRORED]
EACH_BIAS = pytest.mark.parametrize("bias", BIASES, ids=["added", "true", "mirrored"])
EACH_OBJECTIVE = pytest.mark.parametrize("value", PAIR_OBJECTIVES, ids=objective_id)


def train(binding, scores, rounds):
    """Return the gradients of each round, a step against the gradients, and the scores after the last round."""
    history = []
    for _ in range(rounds):
        grad, hess = binding.gradients(scores)
        binding.learn(grad, hess)
        history.append((grad, hess))
        scores = scores - 0.3 * grad
    return history, scores


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
    exact = getattr(value, "sigmoid", "exact") == "exact"  # its sums are added in another order
    np.testing.assert_allclose(first_rounds[0], plain, rtol=3e-7 if exact else 0, atol=1e-12 if exact else 0)
    for grad, hess in first_rounds + later_rounds:
        sums = np.add.reduceat(grad.astype(float), np.cumsum([0, *sizes])[:-1])
        np.testing.assert_allclose(sums, 0, atol=3e-6 * np.abs(grad).max() * max(sizes))
        assert (hess >= 0).all()
    assert not np.array_equal(first_rounds[0][0], later_rounds[0][0])


@EACH_BIAS
@pytest.mark.parametrize("value", [TABULATED, EXACT, MEAN, objectives.xgboost.pairwise()], ids=objective_id)
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


@pytest.mark.parametrize("positions", [[0, 1, 0, 2, 1], np.array([0, 1, 0, 0, 3]), [0, 1, 0, 0, 0]])
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


@pytest.mark.parametrize(
    "value", [TABULATED, objectives.xgboost.pairwise(), objectives.xgboost.map()], ids=objective_id
)
def test_infinite_mirrored_costs_leave_gradients_finite(value):
    """As in XGBoost: for scores more than 17 apart, float32 rounds the probability of the order to 1."""
    binding = MIRRORED.bind(value, ra.Queries([1, 0, 1, 0, 1], group_sizes=[5]))
    for _ in range(3):
        derivatives = binding.gradients([1e6, -1e6, 0, 1, 2])
        binding.learn(*derivatives)
        assert np.isfinite(derivatives).all()


def test_a_weight_of_pairs_that_the_replicas_do_not_compute_is_no_1():
    with pytest.raises(NotImplementedError, match="add_pairs_in_turn does not compute the weight 2 of a pair"):
        replicas.make_memory(3, exact=True, biased=False, drawing=False, kind=changes.CLASSIC)


def test_lambda_loss_accepts_only_an_additive_bias():
    value = objectives.LambdaLoss(convention="lightgbm@10", scheme="ndcg2", truncation=30, sigma=1)
    queries, scores = ra.Queries([0, 1, 0, 1], group_sizes=[4]), [0.4, 0.3, 0.2, 0.1]
    with pytest.raises(
        ra.ConventionError, match=rf"BiasRatios cannot divide the pairs of {value.kind}/.*\nHint: Additive"
    ):
        TRUE.bind(value, queries)
    binding = ROWS.bind(value, queries)
    grad, hess = binding.gradients(scores)
    assert (grad == value.bind(queries).gradients(scores)[0]).all()
    binding.learn(grad, hess)
    moved = value.bind(queries).gradients(scores + binding.bias.astype(float))
    assert (binding.gradients(scores)[0] == moved[0]).all()
    assert (moved[0] != grad).any()
