"""NeuralRanker: its gradient against finite differences, its epochs against plain numpy, and its parameters."""

import numpy as np
import pytest

import rankadapters as ra

pytest.importorskip("sklearn")

import scipy.sparse as sp

from rankadapters.learners import NeuralRanker
from rankadapters.learners.neural import ACTIVATIONS, Network
from tests.helpers.rankings import ranking

DATA = ranking(1, 25)
RANKNET = ra.objectives.catboost.pair_logit()


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("hidden", [[], [4], [4, 3]])
def test_the_gradient_equals_finite_differences(activation, hidden):
    rng = np.random.RandomState(0)
    network = Network.random([5, *hidden, 1], activation, rng)
    slopes, X = rng.normal(size=(DATA.y.size, 1)), DATA.X + 0.1
    gradients = network.gradient(network.layers(X), slopes)
    for parameter, gradient in zip(network.parameters, gradients, strict=True):
        first, step = (0,) * parameter.ndim, 1e-6
        parameter[first] += step
        above = slopes[:, 0] @ network.scores(X)
        parameter[first] -= 2 * step
        below = slopes[:, 0] @ network.scores(X)
        parameter[first] += step
        assert gradient[first] == pytest.approx((above - below) / (2 * step), rel=1e-5, abs=1e-6)


def test_a_network_starts_without_biases_and_may_have_one_hidden_unit():
    model = NeuralRanker(RANKNET, hidden_layer_sizes=[1], max_iter=1, learning_rate_init=1e-9, random_state=0)
    model.fit(DATA.X, DATA.y, qid=DATA.qid)
    assert [weights.shape for weights in model.coefs_] == [(5, 1), (1, 1)]
    assert np.concatenate(model.intercepts_) == pytest.approx(np.zeros(2), abs=1e-7)
    assert model.n_iter_ == 1


def test_epochs_are_adams_steps_over_batches_in_random_order():
    """A linear model with its penalty, by Kingma & Ba's algorithm 1; the last batch has four of the 25 queries."""
    settings = {"alpha": 0.5, "batch_size": 7, "max_iter": 3, "learning_rate_init": 0.1, "random_state": 3}
    model = NeuralRanker(RANKNET, hidden_layer_sizes=(), **settings).fit(DATA.X, DATA.y, qid=DATA.qid)
    rng = np.random.RandomState(3)
    weights = rng.uniform(-1, 1, 5)
    batches = np.array_split(rng.permutation(DATA.sizes.size), [7, 14, 21])
    mean, square, steps = 0.0, 0.0, 0
    for _ in range(3):
        for batch in rng.permutation(4):
            rows = np.flatnonzero(np.isin(DATA.qid, np.unique(DATA.qid)[batches[batch]]))
            X, qid = DATA.X[rows], DATA.qid[rows]
            grad, _ = ra.objectives.gradients(DATA.y[rows], X @ weights, RANKNET, qid=qid)
            slope, steps = X.T @ grad / len(batches[batch]) + 0.5 * weights, steps + 1
            mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
            weights -= 0.1 * mean / (1 - 0.9**steps) / (np.sqrt(square / (1 - 0.999**steps)) + 1e-8)
    np.testing.assert_allclose(model.coefs_[0][:, 0], weights, rtol=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("use_weights", [True, False])
def test_weights_count_if_the_objective_uses_them(use_weights):
    """CatBoost's `mrr` can ignore weights; scikit-learn passes weights of rows, equal within a query."""
    convention = ra.presets.catboost.mrr(3, use_weights=use_weights)
    objective = ra.objectives.lightgbm.lambdarank().replace(convention=convention, sigmoid="exact")
    row_weights = np.where(DATA.qid == DATA.qid[0], 9.0, 0.5)
    models = [
        NeuralRanker(objective, max_iter=3, random_state=0).fit(DATA.X, DATA.y, qid=DATA.qid, sample_weight=weights)
        for weights in (None, row_weights)
    ]
    assert np.array_equal(models[0].coefs_[0], models[1].coefs_[0]) != use_weights


@pytest.mark.parametrize("generator", [int, np.random.default_rng])
def test_the_seed_decides_the_model_and_sparse_features_do_not_change_it(generator):
    coef, same_seed, sparse, other_seed = (
        NeuralRanker(RANKNET, max_iter=2, random_state=generator(seed)).fit(X, DATA.y, qid=DATA.qid).coefs_[0]
        for seed, X in ((0, DATA.X), (0, DATA.X), (0, sp.csr_matrix(DATA.X)), (1, DATA.X))
    )
    assert coef.tobytes() == same_seed.tobytes() != other_seed.tobytes()
    np.testing.assert_allclose(sparse, coef, rtol=1e-9)


def test_a_warm_start_continues_from_the_last_weights():
    model = NeuralRanker(RANKNET, max_iter=1, warm_start=True, random_state=0).fit(DATA.X, DATA.y, qid=DATA.qid)
    weights = model.coefs_[0].copy()
    assert 0 < np.abs(model.fit(DATA.X, DATA.y, qid=DATA.qid).coefs_[0] - weights).max() < 0.1


def test_a_warm_start_refuses_other_hidden_layers():
    model = NeuralRanker(RANKNET, hidden_layer_sizes=(4, 3), max_iter=1, warm_start=True, random_state=0).fit(
        DATA.X, DATA.y, qid=DATA.qid
    )
    with pytest.raises(ra.InputError, match=r"the last fit had hidden_layer_sizes=\(4, 3\), and now they are \(3, 2\)"):
        model.set_params(hidden_layer_sizes=(3, 2)).fit(DATA.X, DATA.y, qid=DATA.qid)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_training_that_diverges_raises_and_names_a_row():
    model = NeuralRanker(RANKNET, activation="relu", learning_rate_init=1e200, max_iter=5, random_state=0)
    with pytest.raises(ra.InputError, match=r"scores of the query of row \d+ are not finite"):
        model.fit(DATA.X, DATA.y, qid=DATA.qid)
