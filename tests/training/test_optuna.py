"""Optuna's pruning callbacks with declared metrics: what may be combined, and what must happen."""

from functools import partial

import pytest

import rankadapters as ra
from tests.training.training_table import EQUAL, LOSS, NDCG, Row, cases, check, generated, same

optuna, integration = pytest.importorskip("optuna"), pytest.importorskip("optuna_integration")
cb, lgb, xgb = (pytest.importorskip(name) for name in ("catboost", "lightgbm", "xgboost"))
pytest.importorskip("sklearn")
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*is experimental:optuna.exceptions.ExperimentalWarning",
    "ignore:.*is experimental:optuna._experimental.ExperimentalWarning",
)
TRAIN, VALID = generated(1, 24), generated(2, 20)
LIGHTGBM = {"objective": "lambdarank", "metric": "None", "verbosity": -1, "num_threads": 1, "min_data_in_leaf": 5}
XGBOOST = {"objective": "rank:ndcg", "disable_default_eval_metric": True, "nthread": 1}
CATBOOST = {"thread_count": 1, "verbose": False, "allow_writing_files": False, "use_best_model": False}
ROUNDS = 6


# Trainings: each returns the values that the toolkit logs, and a function that predicts with the first rounds


def with_lightgbm(measure, depth, prune=None, **params):
    log, first = {}, lgb.Dataset(TRAIN.X, TRAIN.y, group=TRAIN.sizes)
    valid = lgb.Dataset(VALID.X, VALID.y, group=VALID.sizes, reference=first)
    callbacks = [lgb.record_evaluation(log)]
    if prune:
        callbacks.append(integration.LightGBMPruningCallback(prune, ra.parse(measure).name))
    booster = lgb.train(
        {**LIGHTGBM, "max_depth": depth, **params}, first, ROUNDS, valid_sets=[valid],
        feval=ra.lightgbm.eval_metric(measure), callbacks=callbacks,
    )  # fmt: skip
    return log["valid_0"][ra.parse(measure).name], lambda rounds: booster.predict(
        VALID.X, num_iteration=rounds, num_threads=1
    )


def with_xgboost(measure, depth, prune=None, **params):
    log, name = {}, ra.parse(measure).name
    first, valid = (xgb.DMatrix(rows.X, rows.y, qid=rows.qid) for rows in (TRAIN, VALID))
    metric = ra.xgboost.eval_metric(measure)
    callbacks = [metric] + ([integration.XGBoostPruningCallback(prune, f"valid-{name}")] if prune else [])
    booster = xgb.train(
        {**XGBOOST, "max_depth": depth, **params}, first, ROUNDS, evals=[(valid, "valid")], custom_metric=metric,
        callbacks=callbacks, evals_result=log, verbose_eval=False,
    )  # fmt: skip
    return log["valid"][name], lambda rounds: booster.predict(valid, iteration_range=(0, rounds))


def with_catboost(measure, depth, prune=None):
    first, valid = (cb.Pool(rows.X, rows.y, group_id=rows.qid) for rows in (TRAIN, VALID))
    metric, name = ra.catboost.eval_metric(measure, [valid]), ra.parse(measure).name
    prune = prune and integration.CatBoostPruningCallback(prune, name)
    model = cb.CatBoostRanker(iterations=ROUNDS, depth=depth, eval_metric=metric, **CATBOOST)
    model.fit(first, eval_set=valid, callbacks=[prune] if prune else None)
    if prune:
        prune.check_pruned()
    return model.get_evals_result()["validation"][name], lambda rounds: model.predict(VALID.X, ntree_end=rounds)


def with_ra_train(measure, depth, prune=None):
    first, valid = (cb.Pool(rows.X, rows.y, group_id=rows.qid) for rows in (TRAIN, VALID))
    params = {"iterations": ROUNDS, "depth": depth, "thread_count": 1}
    prune = prune and integration.CatBoostPruningCallback(prune, ra.parse(measure).name)
    model = ra.catboost.train(
        params, first, "catboost.query_rmse", measure, eval_set=valid, use_best_model=False,
        callbacks=[prune] if prune else None,
    )  # fmt: skip
    if prune:
        prune.check_pruned()
    values = [entry.value for entry in model.history.only(dataset="validation")]
    return values, lambda rounds: model.predict(VALID.X, ntree_end=rounds)


def with_query_ranker(measure, depth, prune=None):
    ranker = lgb.LGBMRanker(
        n_estimators=ROUNDS, max_depth=depth, verbosity=-1, n_jobs=1, min_child_samples=5, callbacks=None
    )
    callbacks = [integration.LightGBMPruningCallback(prune, ra.parse(measure).name)] if prune else None
    fit = {"callbacks": callbacks} if callbacks else {}
    rows = TRAIN.scattered()
    model = ra.sklearn.QueryRanker(ranker, eval_metric=measure)
    model.fit(rows.X, rows.y, qid=rows.qid, eval_set=(VALID.X, VALID.y, VALID.qid), **fit)
    values = [entry.value for entry in model.history_]
    return values, lambda rounds: model.estimator_.predict(VALID.X, num_iteration=rounds)


TRAININGS = {
    "lgb.train": with_lightgbm, "xgb.train": with_xgboost, "CatBoostRanker": with_catboost,
    "ra.catboost.train": with_ra_train, "QueryRanker(LGBMRanker)": with_query_ranker,
}  # fmt: skip


# Runners


def new_study(measure, pruner=None):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    higher = ra.parse(measure).higher_is_better
    return optuna.create_study(
        direction="maximize" if higher else "minimize", pruner=pruner or optuna.pruners.NopPruner()
    )


def pruned(training, measure):
    """Train once to the end and once until it is pruned; the trial gets the values by hand."""
    expected = []

    def objective(trial):
        values, predict = training(measure, 3, prune=trial)
        expected.extend(VALID.value(predict(rounds), measure) for rounds in range(1, ROUNDS + 1))
        return values[-1]

    for pruner, n_values in ((None, ROUNDS), (optuna.pruners.ThresholdPruner(upper=-1.0, n_warmup_steps=2), 3)):
        found = new_study(measure, pruner)
        found.optimize(objective, n_trials=1)
        same("the values of the trial", found.trials[0].intermediate_values, dict(enumerate(expected[:n_values])))
    same("the state of the trial", found.trials[0].state.name, "PRUNED")


RUNNERS = {f"pruned {name}": partial(pruned, training=training) for name, training in TRAININGS.items()}


# The table

PRUNED = " | ".join(f"pruned {name}" for name in TRAININGS)
ROWS = [
    *(Row(PRUNED, f"{measure} in every round", EQUAL, measure=measure) for measure in (NDCG, LOSS)),
]  # fmt: skip


@pytest.mark.parametrize(("row", "runner"), cases(ROWS, RUNNERS))
def test_a_training_does_what_its_row_says(row, runner):
    check(row, partial(runner, **row.settings))
