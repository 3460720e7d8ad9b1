"""The pruning callbacks of optuna-integration report our metrics' values, and prune by them."""

from __future__ import annotations

import pytest

import rankadapters as ra
from tests.helpers.rankings import ranking

CONVENTION, LOSS = ra.parse("letor4@5"), ra.parse("catboost.query_rmse")
TRAIN, VALID = ranking(1), ranking(2)
LIGHTGBM = {"objective": "lambdarank", "metric": "None", "verbosity": -1, "num_threads": 1, "min_data_in_leaf": 5}
CATBOOST = {"iterations": 6, "thread_count": 1, "verbose": False, "allow_writing_files": False}


@pytest.fixture
def integration():
    optuna, integration = pytest.importorskip("optuna"), pytest.importorskip("optuna_integration")
    optuna.logging.disable_default_handler()
    yield integration
    optuna.logging.enable_default_handler()


def train_lightgbm(trial, integration, convention):
    lgb, log = pytest.importorskip("lightgbm"), {}
    train, valid = (lgb.Dataset(data.X, label=data.y, group=data.sizes) for data in (TRAIN, VALID))
    callbacks = [lgb.record_evaluation(log), integration.LightGBMPruningCallback(trial, convention.name)]
    metric = ra.lightgbm.eval_metric(convention)
    try:
        lgb.train(LIGHTGBM, train, 6, valid_sets=[valid], feval=metric, callbacks=callbacks)
    finally:
        trial.set_user_attr("values", log["valid_0"][convention.name])


def train_xgboost(trial, integration, convention):
    xgb, log = pytest.importorskip("xgboost"), {}
    train, valid = (xgb.DMatrix(data.X, label=data.y, qid=data.qid) for data in (TRAIN, VALID))
    metric = ra.xgboost.eval_metric(convention)
    prune = integration.XGBoostPruningCallback(trial, f"valid-{convention.name}")
    both = {"custom_metric": metric, "callbacks": [metric, prune], "evals_result": log, "verbose_eval": False}
    try:
        xgb.train({"objective": "rank:ndcg", "nthread": 1}, train, 6, evals=[(valid, "valid")], **both)
    finally:
        trial.set_user_attr("values", log["valid"][convention.name])


def train_xgbranker(trial, integration, convention):
    xgb = pytest.importorskip("xgboost")
    pytest.importorskip("sklearn")
    watch = ra.xgboost.EvalCallback(convention, [((VALID.X, VALID.y, VALID.qid), "valid")])
    prune = integration.XGBoostPruningCallback(trial, f"valid-{convention.name}")
    ranker = xgb.XGBRanker(n_estimators=6, n_jobs=1, callbacks=[watch, prune])
    ranker.fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid, verbose=False)


def train_catboost(trial, integration, convention):
    cb = pytest.importorskip("catboost")
    train, valid = (cb.Pool(data.X, data.y, group_id=data.qid) for data in (TRAIN, VALID))
    model = cb.CatBoostRanker(eval_metric=ra.catboost.eval_metric(convention, [valid]), **CATBOOST)
    prune = integration.CatBoostPruningCallback(trial, convention.name)
    model.fit(train, eval_set=valid, callbacks=[prune], use_best_model=False)
    trial.set_user_attr("values", model.get_evals_result()["validation"][convention.name])
    prune.check_pruned()


TRAININGS = [train_lightgbm, train_xgboost, train_xgbranker, train_catboost]


def finished_trial(train, integration, pruner, convention=CONVENTION):
    import optuna

    direction = "maximize" if convention.higher_is_better else "minimize"
    study = optuna.create_study(direction=direction, pruner=pruner)
    study.optimize(lambda trial: train(trial, integration, convention) or 0.0, n_trials=1)
    return study.trials[0]


@pytest.mark.parametrize("train", TRAININGS)
@pytest.mark.parametrize("convention", [CONVENTION, LOSS], ids=["higher is better", "lower is better"])
def test_a_trial_gets_every_value_of_the_log(train, convention, integration):
    import optuna

    trial = finished_trial(train, integration, optuna.pruners.NopPruner(), convention)
    assert trial.state == optuna.trial.TrialState.COMPLETE
    assert list(trial.intermediate_values) == list(range(6))
    values = list(trial.intermediate_values.values())
    assert values == trial.user_attrs.get("values", values)


@pytest.mark.parametrize("train", TRAININGS)
def test_a_pruned_trial_ends_after_the_round_that_decides(train, integration):
    import optuna

    pruner = optuna.pruners.ThresholdPruner(lower=2.0, n_warmup_steps=2)  # all values are below 2
    trial = finished_trial(train, integration, pruner)
    assert trial.state == optuna.trial.TrialState.PRUNED
    values = list(trial.intermediate_values.values())
    assert list(trial.intermediate_values) == [0, 1, 2]
    assert values == trial.user_attrs.get("values", values)[:3]
