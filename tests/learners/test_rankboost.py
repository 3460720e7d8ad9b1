"""RankBoost against the paper's rounds over all pairs in plain Python. `test_rounds.py` compares it with RankLib."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.sparse as sp

from rankadapters.learners import RankBoost
from rankadapters.learners import rankboost as rankboost_module
from rankadapters.learners.base import FeatureColumns
from rankadapters.learners.rankboost import Bins, _alpha
from tests.helpers.rankings import ranking
from tests.learners.learners_by_hand import rankboost

DATA = ranking(1, 25)
VALID = ranking(2, 20)
EVAL_SET = [(VALID.X, VALID.y, VALID.qid)]


def stumps_of(model):
    return list(zip(model.features_.tolist(), model.thresholds_.tolist(), strict=True))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n_thresholds", "n_labels"), [(3, 3), (10, 3), (10, 33), (10, 1000)])
def test_the_rounds_equal_the_papers_in_plain_python(weighted, n_thresholds, n_labels):
    """Three labels are numbered once for all queries, many labels in each query."""
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 4, DATA.sizes.size).astype(float) if weighted else None
    row_weights = None if weights is None else np.repeat(weights, DATA.sizes)
    y = DATA.y if n_labels == 3 else DATA.y + rng.permutation(np.arange(DATA.y.size) % n_labels) / n_labels
    model = RankBoost(max_iter=6, n_thresholds=n_thresholds)
    model.fit(DATA.X, y, qid=DATA.qid, sample_weight=row_weights)
    query_weights = None if weights is None else weights.tolist()
    rows = (DATA.X.tolist(), y.tolist(), DATA.sizes.tolist())
    expected = rankboost(*rows, rounds=6, n_thresholds=n_thresholds, weights=query_weights)
    assert stumps_of(model) == [(f, t) for f, t, _ in expected]
    np.testing.assert_allclose(model.alphas_, [alpha for _, _, alpha in expected], rtol=1e-9)


def test_validation_by_a_loss_keeps_the_round_of_the_lowest_value():
    model = RankBoost("catboost.query_rmse", max_iter=20).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=EVAL_SET)
    values = [entry.value for entry in model.history_ if entry.dataset == "valid_0"]
    assert model.n_iter_ == 1 + int(np.argmin(values))


def test_neither_threads_nor_sparse_features_change_a_bit(monkeypatch):
    monkeypatch.setattr(rankboost_module, "ROWS_PER_PART", 40)
    monkeypatch.setattr("rankadapters.evaluation.threads.ROWS_PER_THREAD", 50)
    one_thread, three_threads, sparse = (
        RankBoost(max_iter=8, n_threads=n_threads).fit(X, DATA.y, qid=DATA.qid)
        for n_threads, X in ((1, DATA.X), (3, DATA.X), (1, sp.csr_matrix(DATA.X)))
    )
    assert one_thread.alphas_.tobytes() == three_threads.alphas_.tobytes() == sparse.alphas_.tobytes()
    assert (sparse.predict(sp.csr_matrix(VALID.X)) == one_thread.predict(VALID.X)).all()


def test_a_stump_that_ranks_all_pairs_right_has_a_finite_weight():
    model = RankBoost().fit([[0.0], [1.0]], [0, 1], qid=[1, 1])
    assert model.alphas_[0] == pytest.approx(0.5 * np.log(2.0**41 - 1))  # r is at most 1 - 2^-40
    assert model.predict([[1.0]]) > model.predict([[0.0]])
    reversed_model = RankBoost().fit([[1.0], [0.0]], [0, 1], qid=[1, 1])
    assert reversed_model.alphas_.tolist() == (-model.alphas_).tolist()


def test_ranklib_adds_no_stump_that_ranks_all_pairs_right():
    model = RankBoost(variant="ranklib").fit([[0.0], [1.0]], [0, 1], qid=[1, 1])
    assert model.n_iter_ == 0
    assert model.predict([[1.0]]) == model.predict([[0.0]])


def test_importances_are_shares_of_the_votes_on_each_feature():
    model = RankBoost(max_iter=8).fit(DATA.X, DATA.y, qid=DATA.qid)
    votes = [sum(abs(a) for f, a in zip(model.features_, model.alphas_, strict=True) if f == j)
             for j in range(DATA.X.shape[1])]  # fmt: skip
    assert sum(vote > 0 for vote in votes) > 1
    np.testing.assert_allclose(model.feature_importances_, np.array(votes) / sum(votes), rtol=1e-12)


def test_constant_features_train_no_round():
    model = RankBoost().fit(np.ones((4, 2)), [0, 1, 0, 1], qid=[1, 1, 2, 2])
    assert model.n_iter_ == 0
    assert model.predict(np.ones((2, 2))).tolist() == [0.0, 0.0]


def test_pairs_that_cancel_up_to_rounding_train_no_round():
    """With the weights 0.1 and 0.2 against 0.3, r is 1e-16."""
    X, y, weight = [[1.0], [0.0]] * 3, [1, 0, 1, 0, 0, 1], np.repeat([0.1, 0.2, 0.3], 2)
    assert RankBoost().fit(X, y, qid=np.repeat(range(3), 2), sample_weight=weight).n_iter_ == 0


@pytest.mark.parametrize("n_parts", [1, 2])
def test_rows_are_divided_into_parts_and_one_threshold_is_below_all_values(n_parts, monkeypatch):
    parts, inner = [], rankboost_module.over_chunks
    monkeypatch.setattr(rankboost_module, "over_chunks", lambda run, *rest: parts.append(rest[0]) or inner(run, *rest))
    n_rows = 2**15 + n_parts - 1
    bins = Bins(FeatureColumns(np.arange(float(n_rows))[:, None]), np.arange(n_rows), 2, with_all=True)
    assert bins.thresholds.tolist() == [[n_rows - 1, (n_rows - 1) / 2, -1e8]]
    assert bins.best(np.ones(n_rows), signed=True, n_threads=1) == (0, 2, n_rows)
    assert [starts.tolist() for starts in parts] == [[0, *[2**15] * (n_parts - 1), n_rows]]


@pytest.mark.parametrize("is_ranklib", [False, True])
def test_the_weight_of_a_stump_is_odd_and_only_ranklibs_is_not_0_below_1e_12(is_ranklib):
    assert _alpha(0.5, is_ranklib=is_ranklib) == _alpha(-0.5, is_ranklib=is_ranklib) * -1 == 0.5 * np.log(3)
    assert (_alpha(1e-12, is_ranklib=is_ranklib) > 0) is True
    assert (_alpha(np.nextafter(1e-12, 0), is_ranklib=is_ranklib) == 0) is not is_ranklib


def test_a_warm_start_that_learns_nothing_keeps_the_stumps():
    model = RankBoost(max_iter=3, warm_start=True, n_thresholds=254).fit(DATA.X, DATA.y, qid=DATA.qid)
    stumps = stumps_of(model)
    assert stumps_of(model.fit(np.ones_like(DATA.X), DATA.y, qid=DATA.qid)) == stumps
    assert len(stumps) == model.n_iter_ == 3
