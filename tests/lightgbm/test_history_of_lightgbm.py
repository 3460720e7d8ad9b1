"""Which training and which round LightGBM's histories say they are of."""

from __future__ import annotations

import pickle

import pytest

import rankadapters as ra
from tests.helpers.ranking_data import ranking

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")
from tests.helpers.lightgbm_data import LETOR, PARAMS, TEXTBOOK, dataset, fit  # noqa: E402 - after the skip

ONE, TWO = ranking(1), ranking(2)


def placed(history):
    return [(entry.run, entry.iteration, entry.dataset) for entry in history]


def train(metric, first, valid, rounds=3, **more):
    return lgb.train(PARAMS, first, rounds, valid_sets=valid, feval=metric, **more)


def test_a_second_training_on_the_same_datasets_is_another_run():
    first, metric = dataset(ONE), ra.lightgbm.eval_metric([LETOR, TEXTBOOK], names=["mine", "other"])
    sets = [first, dataset(TWO, reference=first)]
    log = {}
    train(metric, first, sets)
    train(metric, first, sets, rounds=2, callbacks=[lgb.record_evaluation(log)])
    rounds = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    assert placed(metric.history) == [
        (*at, name) for at in rounds for name in ("training", "valid_1") for _ in range(2)
    ]
    assert [entry.name for entry in metric.history[:2]] == ["mine", "other"]
    last = metric.history.only(run=-1, dataset="valid_1", convention=LETOR)
    assert [entry.value for entry in last] == log["valid_1"]["mine"]


def test_trainings_of_one_round_are_runs_of_their_own():
    metric = ra.lightgbm.eval_metric(LETOR)
    for _ in range(2):
        first = dataset(ONE)
        train(metric, first, [first], rounds=1)
    assert [(entry.run, entry.iteration) for entry in metric.history] == [(0, 0), (1, 0)]


def test_the_folds_of_a_cross_validation_are_one_run():
    from sklearn.model_selection import GroupKFold

    metric = ra.lightgbm.eval_metric(LETOR)
    for _ in range(2):
        folds = GroupKFold(3).split(ONE.X, ONE.y, ONE.qid)
        lgb.cv(PARAMS, dataset(ONE), 2, folds=folds, feval=metric)
    valid = [f"valid_fold_{fold}" for fold in range(3)]
    assert placed(metric.history) == [(run, i, name) for run in (0, 1) for i in (0, 1) for name in valid]


def test_the_folds_tell_what_was_trained_on():
    from sklearn.model_selection import GroupKFold

    metric = ra.lightgbm.eval_metric(LETOR)
    folds = GroupKFold(2).split(ONE.X, ONE.y, ONE.qid)
    lgb.cv(PARAMS, dataset(ONE), 1, folds=folds, feval=metric, eval_train_metric=True)
    assert [e.dataset for e in metric.history] == ["train_fold_0", "valid_fold_0", "train_fold_1", "valid_fold_1"]


@pytest.mark.parametrize("cv", [False, True])
def test_rounds_count_on_where_no_tree_can_be_added(cv):
    from sklearn.model_selection import GroupKFold

    metric, params = ra.lightgbm.eval_metric(LETOR), {**PARAMS, "min_gain_to_split": 50}
    if cv:
        lgb.cv(params, dataset(ONE), 4, folds=GroupKFold(2).split(ONE.X, ONE.y, ONE.qid), feval=metric)
    else:
        first = dataset(ONE)
        booster = lgb.train(params, first, 4, valid_sets=[first], feval=metric)
        assert booster.current_iteration() == 1  # all that the gains allow
    assert [entry.iteration for entry in metric.history] == [i for i in range(4) for _ in range(1 + cv)]


def test_a_set_under_two_names_is_evaluated_twice_in_one_round():
    first, metric = dataset(ONE), ra.lightgbm.eval_metric(LETOR)
    valid = dataset(TWO, reference=first)
    train(metric, first, [valid, valid], valid_names=["a", "b"], rounds=2)
    assert placed(metric.history) == [(0, 0, "a"), (0, 0, "b"), (0, 1, "a"), (0, 1, "b")]


def test_a_continued_training_counts_its_own_rounds():
    first, metric = dataset(ONE), ra.lightgbm.eval_metric(LETOR)
    booster = train(metric, first, [first])
    train(metric, dataset(ONE), [first], rounds=2, init_model=booster)
    assert [(entry.run, entry.iteration) for entry in metric.history] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]


def test_each_fit_of_lgbmranker_is_a_run():
    metric = ra.lightgbm.eval_metric(LETOR)
    ranker = lgb.LGBMRanker(n_estimators=2, verbosity=-1, min_child_samples=5, n_jobs=1)
    for _ in range(2):
        fit(ranker, ONE, TWO, eval_metric=metric)
    assert placed(metric.history) == [(run, iteration, "valid_0") for run in (0, 1) for iteration in (0, 1)]


def test_calls_by_hand_are_one_run_and_none_of_a_training():
    first, metric = dataset(ONE), ra.lightgbm.eval_metric(LETOR)
    train(metric, first, [first], rounds=2)
    for _ in range(2):
        metric(ONE.X[:, 0], first)
    assert placed(metric.history) == [(0, 0, "training"), (0, 1, "training"), (1, 0, "set_0"), (1, 1, "set_0")]


def test_calls_by_hand_number_the_sets_that_nobody_names():
    first, second, metric = dataset(ONE).construct(), dataset(TWO).construct(), ra.lightgbm.eval_metric(LETOR)
    train(metric, first, [first], rounds=1)
    for _ in range(2):
        metric(TWO.X[:, 0], second)
        metric(ONE.X[:, 0], first)
    assert placed(metric.history)[1:] == [(1, 0, "set_0"), (1, 0, "set_1"), (1, 1, "set_0"), (1, 1, "set_1")]


def test_a_booster_that_is_asked_by_hand_tells_the_name():
    first, metric = dataset(ONE), ra.lightgbm.eval_metric(LETOR)
    booster = lgb.Booster(PARAMS, first)
    booster.update()
    booster.eval(dataset(TWO, reference=first), "mine", metric)
    assert placed(metric.history) == [(0, 0, "mine")]


def test_a_metric_inside_another_function_knows_as_much():
    first, metric = dataset(ONE), ra.lightgbm.eval_metric(LETOR)
    for _ in range(2):
        train(lambda preds, data: metric(preds, data)[0], first, [first], rounds=2)
    assert [(entry.run, entry.iteration) for entry in metric.history] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_a_pickle_starts_with_the_first_run():
    first, metric = dataset(ONE), ra.lightgbm.eval_metric(LETOR)
    train(metric, first, [first])
    again = pickle.loads(pickle.dumps(metric))
    assert again.history == []
    train(again, first, [first], rounds=1)
    assert placed(again.history) == [(0, 0, "training")]


def test_global_eval_counts_as_eval_metric_does():
    watch = ra.lightgbm.global_eval(LETOR)
    for _ in range(2):
        first = dataset(ONE)
        train(watch, first, [first], rounds=2, callbacks=[watch])
    assert placed(watch.history) == [(run, iteration, "training") for run in (0, 1) for iteration in (0, 1)]


def test_trainings_that_take_turns_stay_apart():
    metric = ra.lightgbm.eval_metric(LETOR)
    boosters = [lgb.Booster(PARAMS, dataset(ONE)) for _ in range(2)]
    for _ in range(3):
        for booster in boosters:
            booster.update()
            booster.eval_train(metric)
    assert placed(metric.history) == [(run, i, "training") for i in range(3) for run in (0, 1)]
