"""Early stopping in LightGBM by the declared metric."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.ranking_data import ranking

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")
from tests.helpers.lightgbm_data import LETOR, PARAMS, TEXTBOOK, dataset, fit  # noqa: E402 - after the skip


def stopping_run(callbacks, feval, **params):
    train, valid = ranking(20, 60), ranking(21, 40)
    result, first = {}, dataset(train)
    booster = lgb.train(
        {**PARAMS, "learning_rate": 0.5, **params}, first, 80, valid_sets=[first, dataset(valid, reference=first)],
        valid_names=["train", "valid"], feval=feval, callbacks=[*callbacks, lgb.record_evaluation(result)],
    )  # fmt: skip
    return booster, result


@pytest.mark.parametrize("watched", [LETOR, TEXTBOOK])
@pytest.mark.parametrize("metric", ["None", "ndcg"])
def test_early_stopping_watches_the_declared_metric_only(watched, metric):
    stop = ra.lightgbm.early_stopping(watched, rounds=5, verbose=False)
    booster, result = stopping_run([stop], ra.lightgbm.eval_metric([LETOR, TEXTBOOK]), metric=metric)
    values = result["valid"][watched.name]
    assert len(values) < 80
    assert booster.best_iteration == int(np.argmax(values)) + 1
    assert len(values) == booster.best_iteration + 5
    assert booster.best_score["valid"][watched.name] == max(values)
    assert set(booster.best_score["valid"]) == set(result["valid"])


def test_early_stopping_in_cv():
    data = ranking(22, 60)
    from sklearn.model_selection import GroupKFold

    result = lgb.cv({**PARAMS, "learning_rate": 0.5}, dataset(data), 60, feval=ra.lightgbm.eval_metric(TEXTBOOK),
                    folds=GroupKFold(3).split(data.X, data.y, data.qid),
                    callbacks=[ra.lightgbm.early_stopping(TEXTBOOK, rounds=5, verbose=False)])  # fmt: skip
    means = result[f"valid {TEXTBOOK.name}-mean"]
    assert len(means) < 60
    assert int(np.argmax(means)) == len(means) - 1


def test_early_stopping_in_lgbmranker():
    train, valid = ranking(20, 60), ranking(21, 40)
    ranker = lgb.LGBMRanker(
        n_estimators=80, learning_rate=0.5, verbosity=-1, min_child_samples=5, num_leaves=7, n_jobs=1
    )
    fit(ranker, train, valid, eval_metric=ra.lightgbm.eval_metric(TEXTBOOK),
        callbacks=[ra.lightgbm.early_stopping(TEXTBOOK, rounds=5, verbose=False)])  # fmt: skip
    values = ranker.evals_result_["valid_0"][TEXTBOOK.name]
    assert ranker.best_iteration_ == int(np.argmax(values)) + 1


def test_early_stopping_that_nobody_feeds_says_so():
    with pytest.raises(ra.InputError, match=r"watches 'ndcg@5/letor4', but the sets report \['ndcg@10/textbook'\]"):
        stopping_run([ra.lightgbm.early_stopping(LETOR, rounds=5)], ra.lightgbm.eval_metric(TEXTBOOK))


def test_a_stopping_callback_serves_a_second_training():
    stop = ra.lightgbm.early_stopping(TEXTBOOK, rounds=5, verbose=False)
    first, _ = stopping_run([stop], ra.lightgbm.eval_metric(TEXTBOOK))
    second, _ = stopping_run([stop], ra.lightgbm.eval_metric(TEXTBOOK))
    assert first.best_iteration == second.best_iteration


@pytest.mark.parametrize("rounds", [0, -1, True, "3", 2.0])
def test_early_stopping_takes_whole_rounds(rounds):
    with pytest.raises(ra.InputError, match=r"rounds=.*whole numbers from 1 on"):
        ra.lightgbm.early_stopping(LETOR, rounds=rounds)
