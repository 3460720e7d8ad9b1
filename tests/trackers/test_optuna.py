"""The pruning callbacks of optuna-integration report our metrics' values, and prune by them."""

from __future__ import annotations

import pytest

import rankadapters as ra
from tests.helpers.rankings import ranking

CONVENTION, LOSS = ra.parse("letor4@5"), ra.parse("catboost.query_rmse")
TRAIN, VALID = ranking(1), ranking(2)
pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore:CatBoostPruningCallback is experimental")]
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
    metric, prune = ra.lightgbm.eval_metric(convention), integration.LightGBMPruningCallback(trial, convention.name)
    callbacks = [lgb.record_evaluation(log), prune]
    lgb.train(LIGHTGBM, train, 6, valid_sets=[valid], feval=metric, callbacks=callbacks)
    return log["valid_0"][convention.name]


def train_xgboost(trial, integration, convention):
    xgb, log = pytest.importorskip("xgboost"), {}
    train, valid = (xgb.DMatrix(data.X, label=data.y, qid=data.qid) for data in (TRAIN, VALID))
    metric = ra.xgboost.eval_metric(convention)
    prune = integration.XGBoostPruningCallback(trial, f"valid-{convention.name}")
    both = {"custom_metric": metric, "callbacks": [metric, prune], "evals_result": log, "verbose_eval": False}
    xgb.train({"objective": "rank:ndcg", "nthread": 1}, train, 6, evals=[(valid, "valid")], **both)
    return log["valid"][convention.name]


def train_catboost(trial, integration, convention):
    cb = pytest.importorskip("catboost")
    train, valid = (cb.Pool(data.X, data.y, group_id=data.qid) for data in (TRAIN, VALID))
    model = cb.CatBoostRanker(eval_metric=ra.catboost.eval_metric(convention, [valid]), **CATBOOST)
    prune = integration.CatBoostPruningCallback(trial, convention.name)
    model.fit(train, eval_set=valid, callbacks=[prune])
    prune.check_pruned()
    return model.get_evals_result()["validation"][convention.name]


@pytest.mark.parametrize("train", [train_lightgbm, train_xgboost, train_catboost])
@pytest.mark.parametrize("convention", [CONVENTION, LOSS], ids=["higher is better", "lower is better"])
def test_a_trial_gets_the_value_of_every_round_until_it_is_pruned(train, convention, integration):
    import optuna

    logs = []

    def objective(trial):
        logs.append(train(trial, integration, convention))
        return logs[0][-1]

    trials = []
    for pruner in (optuna.pruners.NopPruner(), optuna.pruners.ThresholdPruner(upper=-1.0, n_warmup_steps=2)):
        direction = "maximize" if convention.higher_is_better else "minimize"
        study = optuna.create_study(direction=direction, pruner=pruner)
        study.optimize(objective, n_trials=1)
        trials += study.trials
    assert [trial.state.name for trial in trials] == ["COMPLETE", "PRUNED"]
    assert trials[0].intermediate_values == dict(enumerate(logs[0]))
    assert trials[1].intermediate_values == dict(enumerate(logs[0][:3]))
    assert len(logs[0]) == 6
