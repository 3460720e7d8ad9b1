"""What our metrics and objectives refuse to take part in: cut queries, several workers, and settings that mislead."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.metric_trainings import TEXTBOOK
from tests.helpers.rankings import ranking

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")
from rankadapters.lightgbm.trainings import n_machines  # noqa: E402 - after the skip
from tests.helpers.lightgbm_datasets import PARAMS, dataset, fit_ranker  # noqa: E402 - after the skip

TRAIN, VALID = ranking(5, 30), ranking(6, 20)
ALL_ROWS = [(np.arange(TRAIN.y.size), np.arange(TRAIN.y.size))]  # a fold for lgb.cv
LOSS = ra.presets.catboost.query_rmse()
BAGGING = {"bagging_by_query": True, "bagging_fraction": 0.5, "bagging_freq": 1}


def train(feval, **params):
    data = dataset(TRAIN)
    valid = lgb.Dataset(VALID.X, VALID.y, group=VALID.sizes, reference=data)
    return lgb.train({**PARAMS, **params}, data, 3, valid_sets=[valid], feval=feval)


# Cut queries


def squared_error(preds, data):
    return preds - data.get_label(), np.ones_like(preds)


def cv(conventions, objective, **folds):
    metric = ra.lightgbm.eval_metric(conventions)
    return lgb.cv({**PARAMS, "objective": objective}, dataset(TRAIN), 2, feval=metric, **folds)


@pytest.mark.parametrize("objective", ["regression", "binary", squared_error])
def test_only_lightgbms_ranking_objectives_have_folds_of_whole_queries(objective):
    from sklearn.model_selection import GroupKFold, KFold

    for folds in ({"nfold": 3, "stratified": False}, {"folds": KFold(3).split(TRAIN.X)}):
        with pytest.raises(ra.InputError, match=r"has \d+ of the \d+ rows of query \d+: its queries were cut.\nHint"):
            cv(TEXTBOOK, objective, **folds)
    assert len(cv(TEXTBOOK, objective, folds=GroupKFold(3))[f"valid {TEXTBOOK.name}-mean"]) == 2
    for name in ("lambdarank", "rank_xendcg"):
        assert len(cv(TEXTBOOK, name, nfold=3)[f"valid {TEXTBOOK.name}-mean"]) == 2


def test_a_metric_over_all_rows_takes_any_folds():
    over_rows = ra.presets.sklearn.roc_auc_score()
    assert f"valid {over_rows.name}-mean" in cv(over_rows, "regression", nfold=3)
    with pytest.raises(ra.InputError, match="queries were cut"):
        cv([over_rows, TEXTBOOK], "regression", nfold=3)


# Bagging by query


def our_objective():
    return ra.lightgbm.objective(ra.objectives.lightgbm.lambdarank())


@pytest.mark.parametrize(
    "params",
    [
        BAGGING,
        {"bagging_by_query": "true", "sub_row": 0.9, "subsample_freq": 2},
        {"bagging_by_query": True, "bagging": 0.9, "subsample": 1.0, "bagging_freq": 1},
    ],
)
def test_bagging_by_query_is_refused_under_a_declared_objective(params):
    message = r"bagging_by_query=True draws queries only for LightGBM's own objectives"
    with pytest.raises(ra.InputError, match=message):
        train(None, objective=our_objective(), **params)
    with pytest.raises(ra.InputError, match=message):
        lgb.cv({**PARAMS, **params, "objective": our_objective()}, dataset(TRAIN), 2, folds=ALL_ROWS)


@pytest.mark.parametrize(
    "params",
    [
        {**BAGGING, "bagging_by_query": False},
        {**BAGGING, "bagging_freq": 0},
        {**BAGGING, "bagging_fraction": 1.0, "subsample": 0.5},
    ],
)
def test_settings_that_do_not_bag_by_query_train_the_built_in_model(params):
    models = [train(None, **params, objective=objective) for objective in (our_objective(), "lambdarank")]
    ours, built_in = (model.predict(TRAIN.X, raw_score=True) for model in models)
    np.testing.assert_allclose(ours, built_in, rtol=1e-10)


# Optuna's tuners


def test_optunas_tuners_are_refused_because_they_would_minimize():
    pytest.importorskip("optuna")
    tuners = pytest.importorskip("optuna_integration.lightgbm")
    params = {**PARAMS, "metric": TEXTBOOK.name}
    data, metric = dataset(TRAIN), ra.lightgbm.eval_metric(TEXTBOOK)
    for tuner in (
        tuners.LightGBMTuner(params, data, 2, valid_sets=[dataset(VALID)], feval=metric, show_progress_bar=False),
        tuners.LightGBMTunerCV(params, data, 2, folds=ALL_ROWS, feval=metric, show_progress_bar=False),
    ):
        with pytest.raises(
            ra.InputError, match=r"metric='ndcg@10/textbook' is not a metric of LightGBM.*\nHint: optuna"
        ):
            tuner.tune_feature_fraction(1)


@pytest.mark.parametrize("alias", ["metric", "metrics", "metric_types"])
@pytest.mark.parametrize("metrics", [["{}"], ["map", "{}"], "{}", "map,{}"])
def test_our_name_as_lightgbms_metric_is_refused_if_higher_is_better(alias, metrics):
    def named(name):
        texts = [text.format(name) for text in metrics] if isinstance(metrics, list) else metrics.format(name)
        return {"metric": None, alias: texts}

    with pytest.raises(ra.InputError, match="not a metric of LightGBM"):
        train(ra.lightgbm.eval_metric(TEXTBOOK), **named(TEXTBOOK.name))
    assert LOSS.name in train(ra.lightgbm.eval_metric(LOSS), **named(LOSS.name)).best_score["valid_0"]


def test_lightgbms_own_metric_beside_ours_of_the_same_name_is_allowed():
    booster = train(ra.lightgbm.eval_metric({"ndcg": TEXTBOOK}), metric="ndcg", eval_at=[3])
    assert list(booster.best_score["valid_0"]) == ["ndcg@3", "ndcg"]


# Several workers


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, 1),
        ({"num_machines": 1}, 1),
        ({"num_machine": "2"}, 2),
        ({"machines": "a:1,b:2,c:3"}, 3),
        ({"workers": ["a:1", "b:2"]}, 2),
        ({"nodes": ""}, 1),
        ({"machines": "a:1,b:2", "num_machines": 2}, 2),
    ],
)
def test_the_number_of_machines_is_given_or_listed(params, expected):
    assert n_machines(params) == expected


def test_a_training_on_several_machines_is_refused():
    part = lgb.Dataset(TRAIN.X, TRAIN.y, group=TRAIN.sizes, params={"num_machines": 2}).construct()
    with pytest.raises(ra.InputError, match=r"this training has 2, each with a part of the rows.\nHint: .*global_eval"):
        ra.lightgbm.eval_metric(TEXTBOOK)(TRAIN.X[:, 0], part)


def as_dask_task(monkeypatch, key, **arguments):
    """Let `distributed.get_worker` answer with a worker that runs a task with this key."""
    task = SimpleNamespace(run_spec=SimpleNamespace(kwargs=arguments))
    worker = SimpleNamespace(get_current_task=lambda: key, state=SimpleNamespace(tasks={key: task}))
    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(get_worker=lambda: worker))


def fit():
    ranker = lgb.LGBMRanker(n_estimators=2, metric="None", verbosity=-1, n_jobs=1)
    return fit_ranker(ranker, TRAIN, VALID, eval_metric=ra.lightgbm.eval_metric(TEXTBOOK))


def test_a_dask_training_on_two_workers_is_refused(monkeypatch):
    as_dask_task(monkeypatch, "_train_part-1", num_machines=2)
    with pytest.raises(ra.InputError, match=r"this training has 2, each with a part of the rows.\nHint: .*global_eval"):
        fit()


@pytest.mark.parametrize(
    ("key", "arguments"), [("_train_part-1", {"num_machines": 1}), ("fit_local-1", {}), (None, {})]
)
def test_a_training_of_one_worker_is_allowed(key, arguments):
    with pytest.MonkeyPatch.context() as patch:
        as_dask_task(patch, key, **arguments)
        ranker = fit()
    score = ra.evaluate(VALID.y, ranker.predict(VALID.X), TEXTBOOK, group_sizes=VALID.sizes)
    assert ranker.evals_result_["valid_0"][TEXTBOOK.name][-1] == score.value


def test_a_dask_training_that_hides_its_number_of_workers_gives_one_warning(monkeypatch):
    as_dask_task(monkeypatch, "_train_part-1")
    with pytest.warns(UserWarning, match=r"only the rows of one Dask worker.\nHint: .*global_eval") as record:
        fit()
    assert len(record) == 1
