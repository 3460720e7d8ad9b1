"""AdaRank: equal to the paper's rounds in plain Python, and to RankLib 2.10.1 on MQ2008."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra

pytest.importorskip("sklearn")

from rankadapters.learners import AdaRank
from rankadapters.learners.selection import selection_ranks
from tests.learners.mq2008_folds import fold, ranklib_scores
from tests.learners.oracles import adarank
from tests.ranking_data import ranking
from tests.shared_data import kept

DATA = ranking(1, 40)
VALID = ranking(2, 20)
EVAL_SET = [(VALID.X, VALID.y, VALID.qid)]


@pytest.mark.parametrize("convention", ["textbook@5", "ranklib@10", "ranklib.map", "ranklib.err@5", "ranklib.rr@5"])
@pytest.mark.parametrize("rounds", [1, 4])
def test_the_rounds_are_those_of_the_paper(convention, rounds):
    model = AdaRank(convention, max_iter=rounds, tol=10.0, max_consecutive=None).fit(DATA.X, DATA.y, qid=DATA.qid)
    expected = adarank(DATA.X.tolist(), DATA.y.tolist(), DATA.sizes.tolist(), convention, model.n_iter_)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-9)
    assert model.coef_.any()


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_scores_of_ranklib(number):
    """Per document to 1e-9 of the largest; RankLib 2.10.1 with its defaults, NDCG@10."""
    expected = ranklib_scores("adarank", number)
    train, valid, test = fold(number)
    model = AdaRank("ranklib@10", variant="ranklib").fit(train.X, train.y, qid=train.qid, eval_set=[tuple(valid)])
    assert np.abs(model.predict(test.X) - expected).max() <= 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize("number", [4, 5])
def test_the_rounds_that_ranklib_kept_and_their_value(number):
    """Of the folds whose scores are not kept: `tests/golden/learners.json`."""
    train, valid, test = fold(number)
    model = AdaRank("ranklib@10", variant="ranklib").fit(train.X, train.y, qid=train.qid, eval_set=[tuple(valid)])
    assert model.n_iter_ == kept("learners")["rounds_kept"]["adarank"][number - 1]
    expected = kept("learners")["fold_test_ndcg10"]["adarank"][number - 1]
    assert model.score(test.X, test.y, qid=test.qid) == pytest.approx(expected, abs=5e-5)


def test_the_best_round_by_the_validation_queries_is_kept():
    model = AdaRank("textbook@5", max_iter=40).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=EVAL_SET)
    values = [each.value for each in model.history_ if each.dataset == "valid_0"]
    assert model.n_iter_ == 1 + int(np.argmax(values))
    assert model.score(VALID.X, VALID.y, qid=VALID.qid) == pytest.approx(max(values), rel=1e-12)


def test_history_holds_the_declared_metric_of_every_round():
    model = AdaRank("textbook@5", max_iter=3).fit(DATA.X, DATA.y, qid=DATA.qid)
    last = model.history_[-1]
    assert [each.dataset for each in model.history_] == ["train"] * model.n_iter_
    assert last.value == pytest.approx(model.score(DATA.X, DATA.y, qid=DATA.qid), rel=1e-12)
    assert last.convention == ra.parse("textbook@5")


def test_it_stops_without_patience():
    model = AdaRank("textbook@5", n_iter_no_change=2).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=EVAL_SET)
    assert len(model.history_) // 2 <= model.n_iter_ + 2


def test_a_warm_start_goes_on():
    four = AdaRank("textbook@5", max_iter=4).fit(DATA.X, DATA.y, qid=DATA.qid)
    model = AdaRank("textbook@5", max_iter=2, warm_start=True, max_consecutive=None).fit(DATA.X, DATA.y, qid=DATA.qid)
    model.fit(DATA.X, DATA.y, qid=DATA.qid)
    np.testing.assert_allclose(model.coef_, four.coef_, rtol=1e-12)


def test_weights_of_queries_count_like_copies():
    weight = 1.0 + (DATA.qid % 3 == 0)
    twice = np.flatnonzero(weight == 2)
    X, y = np.concatenate([DATA.X, DATA.X[twice]]), np.concatenate([DATA.y, DATA.y[twice]])
    qid = np.concatenate([DATA.qid, DATA.qid[twice] + 1000])
    convention = ra.presets.textbook(5).replace(average="query")
    weighted = AdaRank(convention, max_iter=5).fit(DATA.X, DATA.y, qid=DATA.qid, sample_weight=weight)
    copied = AdaRank(convention, max_iter=5).fit(X, y, qid=qid)
    np.testing.assert_allclose(weighted.coef_, copied.coef_, rtol=1e-12)


@pytest.mark.parametrize(
    ("convention", "reason"),
    [
        ("catboost.query_rmse", "lower is better"),
        ("lightgbm.auc", "says pool='rows'"),
        ("ranklib.dcg@10", r"values of queries in \[-1, 1\], but dcg@10"),
    ],
)
def test_a_convention_without_such_values_is_refused(convention, reason):
    with pytest.raises(ra.UnsupportedConventionError, match=reason):
        AdaRank(convention).fit(DATA.X, DATA.y, qid=DATA.qid)


def test_a_feature_that_ranks_all_perfectly_is_the_model():
    model = AdaRank("textbook@2").fit([[3.0, 1.0], [2.0, 1.0]], [1, 0], qid=[7, 7])
    assert model.coef_.tolist() == [1.0, 0.0]


def test_ties_of_the_weak_rankers_are_those_of_a_selection_sort():
    """[b, b', a] with b = b' < a: a is swapped to the front with b, which then comes after b'."""
    assert np.argsort(-selection_ranks(np.array([1.0, 1.0, 2.0]), np.array([0, 3]), None)).tolist() == [2, 1, 0]
