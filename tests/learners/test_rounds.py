"""What AdaRank, RankBoost and networks share: rounds that validation judges; the first two equal RankLib 2.10.1."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import rankadapters as ra

pytest.importorskip("sklearn")

from sklearn.base import clone

from rankadapters.learners import AdaRank, NeuralRanker, RankBoost
from tests.helpers.depth import THOROUGH
from tests.helpers.mq2008_folds import fold, ranklib_scores
from tests.helpers.rankings import ranking
from tests.helpers.shared_data import kept

DATA = ranking(1, 40)
VALID = ranking(2, 20)
EVAL_SET = [(VALID.X, VALID.y, VALID.qid)]
RANKLIB = {
    "adarank": AdaRank("ranklib@10", variant="ranklib"),
    "rankboost": RankBoost("ranklib@10", variant="ranklib"),
}


def adarank(**params):
    return AdaRank("textbook@5", max_consecutive=None, **params)


def rankboost(**params):
    return RankBoost("textbook@5", **params)


def ranknet(**params):
    pairs = ra.objectives.catboost.pair_logit()
    return NeuralRanker(pairs, convention="textbook@5", learning_rate_init=0.05, random_state=0, **params)


every = pytest.mark.parametrize("learner", [adarank, rankboost, ranknet])
boosting = pytest.mark.parametrize("learner", [adarank, rankboost])


@cache
def on_fold(learner, number):
    train, valid, test = fold(number)
    return clone(RANKLIB[learner]).fit(train.X, train.y, qid=train.qid, eval_set=[tuple(valid)]), test


@pytest.mark.parametrize("learner", RANKLIB)
@pytest.mark.parametrize("number", [1, 2, 3] if THOROUGH else [1])
def test_the_scores_of_ranklib(learner, number):
    """Per document to 1e-9 of the largest; RankLib 2.10.1 with its defaults, trained or validated by NDCG@10."""
    expected = ranklib_scores(learner, number)
    model, test = on_fold(learner, number)
    assert np.abs(model.predict(test.X) - expected).max() <= 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize("learner", RANKLIB)
@pytest.mark.parametrize("number", range(1, 6) if THOROUGH else [1])
def test_the_rounds_that_ranklib_kept_and_their_value(learner, number):
    """Of every fold: `tests/golden/learners.json`."""
    model, test = on_fold(learner, number)
    assert model.n_iter_ == kept("learners")["rounds_kept"][learner][number - 1]
    expected = kept("learners")["fold_test_ndcg10"][learner][number - 1]
    assert model.score(test.X, test.y, qid=test.qid) == pytest.approx(expected, abs=5e-5)


@every
def test_the_best_round_by_the_validation_queries_is_kept(learner):
    model = learner(max_iter=40).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=EVAL_SET)
    values = [each.value for each in model.history_ if each.dataset == "valid_0"]
    assert model.n_iter_ == 1 + int(np.argmax(values))
    assert model.score(VALID.X, VALID.y, qid=VALID.qid) == pytest.approx(max(values), rel=1e-12)


@every
def test_history_holds_the_declared_metric_of_every_round(learner):
    model = learner(max_iter=3).fit(DATA.X, DATA.y, qid=DATA.qid)
    last = model.history_[-1]
    assert [each.dataset for each in model.history_] == ["train"] * model.n_iter_
    assert last.value == pytest.approx(model.score(DATA.X, DATA.y, qid=DATA.qid), rel=1e-12)
    assert last.convention == ra.parse("textbook@5")


@every
def test_it_stops_without_patience(learner):
    model = learner(max_iter=200, n_iter_no_change=3).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=EVAL_SET)
    assert len(model.history_) // 2 == model.n_iter_ + 3 < 200


@boosting
def test_a_warm_start_goes_on(learner):
    """Four rounds and four more are eight; of networks the steps of Adam begin anew."""
    whole = learner(max_iter=8, **tolerant(learner)).fit(DATA.X, DATA.y, qid=DATA.qid)
    model = learner(max_iter=4, warm_start=True, **tolerant(learner)).fit(DATA.X, DATA.y, qid=DATA.qid)
    model.fit(DATA.X, DATA.y, qid=DATA.qid)
    assert model.features_.tolist() == whole.features_.tolist()
    assert len(model.features_) == 8
    np.testing.assert_allclose(model.alphas_, whole.alphas_, rtol=1e-12)


def tolerant(learner):
    """AdaRank goes on where a round gains nothing."""
    return {"tol": 10.0} if learner is adarank else {}
