"""RankBoost: equal to the paper's rounds over all pairs in plain Python; to RankLib in `test_rounds.py`."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import rankadapters as ra

pytest.importorskip("sklearn")

import scipy.sparse as sp

from rankadapters.learners import RankBoost
from rankadapters.learners import stumps as stumps_module
from rankadapters.learners.columns import FeatureColumns
from rankadapters.learners.judging import Judge
from rankadapters.learners.pair_potentials import PairPotentials, _levels
from rankadapters.learners.rankboost import _alpha, _RoundBatches
from tests.helpers.learners_by_hand import pairs_of, rankboost
from tests.helpers.rankings import ranking

DATA = ranking(1, 25)
VALID = ranking(2, 20)
EVAL_SET = [(VALID.X, VALID.y, VALID.qid)]


def stumps(model):
    return list(zip(model.features_.tolist(), model.thresholds_.tolist(), strict=True))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_thresholds", [3, 10])
def test_the_rounds_are_those_of_the_paper(weighted, n_thresholds):
    weights = np.random.default_rng(0).integers(1, 4, DATA.sizes.size).astype(float) if weighted else None
    by_row = None if weights is None else np.repeat(weights, DATA.sizes)
    model = RankBoost(max_iter=6, n_thresholds=n_thresholds)
    model.fit(DATA.X, DATA.y, qid=DATA.qid, sample_weight=by_row)
    given = None if weights is None else weights.tolist()
    rows = (DATA.X.tolist(), DATA.y.tolist(), DATA.sizes.tolist())
    expected = rankboost(*rows, rounds=6, n_thresholds=n_thresholds, weights=given)
    assert stumps(model) == [(f, t) for f, t, _ in expected]
    np.testing.assert_allclose(model.alphas_, [alpha for _, _, alpha in expected], rtol=1e-9)


def test_validation_by_a_loss_keeps_the_lowest():
    model = RankBoost("catboost.query_rmse", max_iter=20).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=EVAL_SET)
    values = [each.value for each in model.history_ if each.dataset == "valid_0"]
    assert model.n_iter_ == 1 + int(np.argmin(values))


@pytest.mark.parametrize("patience", [None, 2, 7])
@pytest.mark.parametrize("eval_set", [EVAL_SET, None, EVAL_SET * 2], ids=["one", "none", "two"])
def test_rounds_that_are_judged_at_once_are_judged_alike(patience, eval_set, monkeypatch):
    batches, record = [], Judge.record_rounds
    monkeypatch.setattr(Judge, "record_rounds", lambda self, *sets: batches.append(len(sets[0])) or record(self, *sets))

    def fitted(at_once):
        monkeypatch.setattr("rankadapters.learners.rankboost.SCORES_PER_BATCH", at_once)
        model = RankBoost("letor4@5", max_iter=20, n_iter_no_change=patience if eval_set else None)
        return model.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=eval_set)

    several = fitted(5 * DATA.y.size)
    assert set(batches[:-1]) <= {min(5, patience or 5) if eval_set else 5}
    single = fitted(1)
    assert list(several.history_) == list(single.history_)
    assert stumps(several) == stumps(single)


@pytest.mark.parametrize(("n_rows", "n_rounds"), [(2**17, 2), (2**17 + 1, 1), (2**19, 1)])
def test_a_batch_holds_a_quarter_of_a_million_scores_and_one_round_at_least(n_rows, n_rounds):
    judge = SimpleNamespace(patience=None, tasks=SimpleNamespace(watched=False))
    columns = [FeatureColumns(np.zeros((n, 1))) for n in (1, n_rows)]
    assert _RoundBatches([], judge, columns).batch_size == n_rounds


def test_neither_threads_nor_sparse_features_change_a_bit(monkeypatch):
    monkeypatch.setattr(stumps_module, "ROWS_PER_PART", 40)
    monkeypatch.setattr("rankadapters.core.evaluation.threads.ROWS_PER_THREAD", 50)
    one, three, sparse = (
        RankBoost(max_iter=8, n_threads=n).fit(X, DATA.y, qid=DATA.qid)
        for n, X in ((1, DATA.X), (3, DATA.X), (1, sp.csr_matrix(DATA.X)))
    )
    assert one.alphas_.tobytes() == three.alphas_.tobytes() == sparse.alphas_.tobytes()
    assert (sparse.predict(sp.csr_matrix(VALID.X)) == one.predict(VALID.X)).all()


def test_a_stump_that_is_right_about_all_pairs_ends_with_a_finite_weight():
    model = RankBoost().fit([[0.0], [1.0]], [0, 1], qid=[1, 1])
    assert model.alphas_[0] == pytest.approx(0.5 * np.log(2.0**41 - 1))  # r is at most 1 - 2^-40
    assert model.predict([[1.0]]) > model.predict([[0.0]])
    opposite = RankBoost().fit([[1.0], [0.0]], [0, 1], qid=[1, 1])
    assert opposite.alphas_.tolist() == (-model.alphas_).tolist()


def test_ranklib_ends_before_a_stump_that_is_right_about_all_pairs():
    model = RankBoost(variant="ranklib").fit([[0.0], [1.0]], [0, 1], qid=[1, 1])
    assert model.n_iter_ == 0
    assert model.predict([[1.0]]) == model.predict([[0.0]])


def test_importances_are_shares_of_the_votes_on_each_feature():
    model = RankBoost(max_iter=8).fit(DATA.X, DATA.y, qid=DATA.qid)
    votes = [sum(abs(a) for f, a in zip(model.features_, model.alphas_, strict=True) if f == j)
             for j in range(DATA.X.shape[1])]  # fmt: skip
    assert sum(vote > 0 for vote in votes) > 1
    np.testing.assert_allclose(model.feature_importances_, np.array(votes) / sum(votes), rtol=1e-12)


def test_constant_features_teach_nothing():
    model = RankBoost().fit(np.ones((4, 2)), [0, 1, 0, 1], qid=[1, 1, 2, 2])
    assert model.n_iter_ == 0
    assert model.predict(np.ones((2, 2))).tolist() == [0.0, 0.0]


def test_pairs_that_cancel_but_for_rounding_teach_nothing():
    """Of the weights 0.1 and 0.2 against 0.3, r is 1e-16."""
    X, y, weight = [[1.0], [0.0]] * 3, [1, 0, 1, 0, 0, 1], np.repeat([0.1, 0.2, 0.3], 2)
    assert RankBoost().fit(X, y, qid=np.repeat(range(3), 2), sample_weight=weight).n_iter_ == 0


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"n_thresholds": 255}, "n_thresholds=255; allowed are whole numbers from 1 to 254"),
        ({"variant": "java"}, "variant='java'; allowed are 'freund', 'ranklib'"),
        ({"max_iter": 0}, "max_iter=0; allowed are whole numbers from 1 on"),
        (
            {"validation_fraction": 1.0, "convention": "textbook@5"},
            "validation_fraction=1.0; allowed are numbers above 0 and below 1",
        ),
    ],
)
def test_parameters_are_checked(params, reason):
    with pytest.raises(ra.ConventionError, match=r"^validation_fraction needs a convention to validate by"):
        RankBoost(validation_fraction=0.5).fit(DATA.X, DATA.y, qid=DATA.qid)
    with pytest.raises(ra.InputError, match=reason):
        RankBoost(**params).fit(DATA.X, DATA.y, qid=DATA.qid)


@pytest.mark.parametrize("above", [0.0, 1000.0])
def test_many_grades_are_pairs_like_few(above):
    """Labels that are all different: potentials against the sums over all pairs, wherever H stands."""
    rng = np.random.default_rng(0)
    labels, sizes = rng.random(90), np.array([1, 40, 2, 47])
    heights = rng.normal(0, 1, 90)
    potentials = PairPotentials(labels, sizes, None)
    expected = np.zeros(90)
    for i, j in pairs_of(labels.tolist(), sizes.tolist()):
        expected[[i, j]] += np.exp(heights[j] - heights[i]) * np.array([1, -1])
    total = sum(np.exp(heights[j] - heights[i]) for i, j in pairs_of(labels.tolist(), sizes.tolist()))
    np.testing.assert_allclose(
        potentials(heights[potentials.rows] + above), (expected / total)[potentials.rows], atol=1e-13
    )


@pytest.mark.parametrize(("n", "levels"), [(32, [*range(32)]), (33, [0, 1] * 16 + [0])])
def test_up_to_32_labels_are_numbered_for_all_queries(n, levels):
    """Queries of two rows, and one of three rows in which two labels are equal."""
    query, starts = np.arange(n) // 2, np.arange(0, n, 2)
    labels, query, starts = np.append(np.arange(float(n)), [5, 3, 5]), np.append(query, [n] * 3), np.append(starts, n)
    number = np.unique(query, return_inverse=True)[1]
    assert _levels(labels, number, starts).tolist() == levels + ([5, 3, 5] if n == 32 else [1, 0, 1])


@pytest.mark.parametrize("n_parts", [1, 2])
def test_the_rows_of_a_part_and_the_threshold_below_all(n_parts, monkeypatch):
    parts, inner = [], stumps_module.over_chunks
    monkeypatch.setattr(stumps_module, "over_chunks", lambda run, *rest: parts.append(rest[0]) or inner(run, *rest))
    n = 2**15 + n_parts - 1
    bins = stumps_module.Bins(FeatureColumns(np.arange(float(n))[:, None]), np.arange(n), 2, with_all=True)
    assert bins.thresholds.tolist() == [[n - 1, (n - 1) / 2, -1e8]]
    assert bins.best(np.ones(n), signed=True, n_threads=1).r == n
    assert [starts.tolist() for starts in parts] == [[0, *[2**15] * (n_parts - 1), n]]


@pytest.mark.parametrize("is_ranklib", [False, True])
def test_weights_of_stumps(is_ranklib):
    assert _alpha(0.5, is_ranklib=is_ranklib) == _alpha(-0.5, is_ranklib=is_ranklib) * -1 == 0.5 * np.log(3)
    assert (_alpha(1e-12, is_ranklib=is_ranklib) > 0) is True
    assert (_alpha(np.nextafter(1e-12, 0), is_ranklib=is_ranklib) == 0) is not is_ranklib


def test_a_warm_start_that_learns_nothing_keeps_the_stumps():
    model = RankBoost(max_iter=3, warm_start=True, n_thresholds=254).fit(DATA.X, DATA.y, qid=DATA.qid)
    before = stumps(model)
    assert stumps(model.fit(np.ones_like(DATA.X), DATA.y, qid=DATA.qid)) == before
    assert len(before) == 3
