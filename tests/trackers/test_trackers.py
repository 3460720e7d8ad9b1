"""What MLflow and Weights & Biases hold after a training, and that Optuna prunes by the declared metric."""

from __future__ import annotations

import os
import re
import sys

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.callbacks.history import Evaluation, History
from tests.helpers.rankings import ranking
from tests.helpers.tables import for_each

os.environ |= {"MLFLOW_DISABLE_TELEMETRY": "true", "WANDB_ERROR_REPORTING": "false"}  # read as they are imported

CONV, OTHER, LOSS = map(
    ra.parse, ("letor4@5", "letor4@5+empty=1", "catboost.query_rmse")
)  # the second name is not one that MLflow takes
ONE, TWO = ranking(1), ranking(2)
PARAMS = {"objective": "lambdarank", "metric": "None", "verbosity": -1, "num_threads": 1, "min_data_in_leaf": 5}


def history(n_runs=1, n=3):
    return History(
        Evaluation("valid", convention, 0.1 * (iteration + 1) + place, run=run, iteration=iteration)
        for run in range(n_runs)
        for iteration in range(n)
        for place, convention in enumerate((CONV, OTHER))
    )


def score(convention=CONV):
    return ra.evaluate(ONE.y, ONE.X[:, 0], convention, qid=ONE.qid)


# Names


def every_name():
    several = [getattr(ra.presets, name)(k) for name in ra.presets.names() for k in (5, None)]
    several += [OTHER, ra.parse("yahoo@10+gain=table_0_1_3"), ra.parse("trec_eval_9.map_cut@10+average=uniform")]
    return list(dict.fromkeys(several))


def test_every_name_is_one_that_each_tracker_takes_and_they_stay_different():
    names = every_name()
    assert len({ra.trackers.mlflow_name(each) for each in names}) == len(names)
    for convention in names:
        assert re.fullmatch(r"[\w./-]+", ra.trackers.mlflow_name(convention), re.ASCII)
        assert re.fullmatch(r"[A-Za-z_]\w*", ra.trackers.wandb_name(convention), re.ASCII)


def test_mlflow_takes_every_name():
    validation = pytest.importorskip("mlflow.utils.validation")
    for convention in every_name():
        validation._validate_metric_name(ra.trackers.mlflow_name(convention))
    with pytest.raises(Exception, match="Names may only contain"):
        validation._validate_metric_name(OTHER.name)


# What is refused


@for_each("log", [ra.trackers.log_mlflow, ra.trackers.log_wandb])
@for_each(
    ("what", "said"),
    [
        (history(2), r"the history has 2 trainings.*\nHint: history\.only\(run=-1\)"),
        (History(), "there is nothing to log"),
        ([], "there is nothing to log"),
        (0.5, r"0\.5 is neither a history nor a score"),
        ("ndcg", "'ndcg' is neither a history nor a score"),
        ([score(), 0.5], r"0\.5 is neither a history nor a score"),
    ],
)
def test_what_cannot_be_logged_is_refused_before_a_run_is_touched(log, what, said):
    with pytest.raises(ra.InputError, match=said):
        log(what)


@for_each(
    ("package", "call"),
    [
        ("mlflow", lambda: ra.trackers.log_mlflow(history())),
        ("wandb", lambda: ra.trackers.log_wandb(history())),
        ("optuna", lambda: ra.trackers.pruning(None, history=history()).__enter__()),
    ],
)
def test_a_missing_tracker_is_named(package, call, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    message = rf'{package} is not installed\.\nHint: .*"rankadapters\[trackers\]'
    with pytest.raises(ra.MissingToolkitError, match=message):
        call()


# MLflow


@pytest.fixture
def mlflow(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # a folder needs no database
    mlflow = pytest.importorskip("mlflow")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield mlflow
    while mlflow.active_run():
        mlflow.end_run()
    mlflow.set_tracking_uri(before)


def logged(mlflow, run_id, key):
    return [(metric.step, metric.value) for metric in mlflow.MlflowClient().get_metric_history(run_id, key)]


def test_mlflow_has_every_value_and_the_signatures(mlflow):
    with mlflow.start_run() as run:
        ra.trackers.log_mlflow(history())
        ra.trackers.log_mlflow({OTHER: score(OTHER)})
    found = mlflow.get_run(run.info.run_id).data
    for convention, name in ((CONV, "ndcg_at_5/letor4"), (OTHER, "ndcg_at_5/letor4--empty-1")):
        expected = [(entry.iteration, entry.value) for entry in history().only(convention=convention)]
        assert logged(mlflow, run.info.run_id, f"valid-{name}") == expected
        assert ra.parse(found.tags[f"convention.{name}"]) == convention
    assert found.metrics["ndcg_at_5/letor4--empty-1"] == score(OTHER).value


def test_mlflow_has_a_long_training_whole_in_a_run_by_id(mlflow):
    run = mlflow.MlflowClient().create_run("0")
    ra.trackers.log_mlflow(history(n=700), run_id=run.info.run_id)  # 1,400 values, and 1,000 go at once
    assert len(logged(mlflow, run.info.run_id, "valid-ndcg_at_5/letor4")) == 700
    assert mlflow.active_run() is None


def test_mlflow_is_given_a_thousand_values_and_a_hundred_tags_at_once(mlflow, monkeypatch):
    sizes = []
    note = lambda _, run, metrics=(), tags=(): sizes.append((run, len(metrics), len(tags)))  # noqa: E731
    monkeypatch.setattr(mlflow.MlflowClient, "log_batch", note)
    conventions = [f"letor4@{k}" for k in range(1, 1002)]
    ra.trackers.log_mlflow(ra.evaluate([1, 0], [2, 1], conventions, group_sizes=[2]), run_id="x")
    assert sizes == [("x", 1000, 0), ("x", 1, 0), *[("x", 0, 100)] * 10, ("x", 0, 1)]


def test_mlflow_s_key_is_the_name_of_the_set(mlflow):
    lgb = pytest.importorskip("lightgbm")
    metric, data = ra.lightgbm.eval_metric(CONV), lgb.Dataset(ONE.X, label=ONE.y, group=ONE.sizes)
    lgb.train(PARAMS, data, 1, valid_sets=[data], valid_names=["mine"], feval=metric)
    with mlflow.start_run() as run:
        ra.trackers.log_mlflow(metric.history)
    assert list(mlflow.get_run(run.info.run_id).data.metrics) == ["mine-ndcg_at_5/letor4"]


@pytest.fixture
def autolog(mlflow):
    """Turn autologging of a toolkit on, for one test; what it says of names and of stores is not ours."""
    yield lambda flavor: getattr(mlflow, flavor).autolog(log_models=False, log_datasets=False, silent=True)
    for flavor in ("lightgbm", "xgboost"):
        if f"mlflow.{flavor}" in sys.modules:
            getattr(mlflow, flavor).autolog(disable=True, silent=True)


NAMES = [ra.trackers.mlflow_name(convention) for convention in (CONV, OTHER)]


def lightgbm_logged():
    lgb, metric = pytest.importorskip("lightgbm"), ra.lightgbm.eval_metric([CONV, OTHER], names=NAMES)
    data = lgb.Dataset(ONE.X, label=ONE.y, group=ONE.sizes)
    return metric.history, lambda: lgb.train(PARAMS, data, 3, valid_sets=[data], valid_names=["valid"], feval=metric)


def xgboost_logged():
    xgb = pytest.importorskip("xgboost")
    data = xgb.DMatrix(ONE.X, label=ONE.y, qid=ONE.qid)
    watch = ra.xgboost.EvalCallback([CONV, OTHER], [(data, "valid")], names=NAMES)
    settings = {"callbacks": [watch], "verbose_eval": False}
    return watch.history, lambda: xgb.train({"objective": "rank:ndcg", "nthread": 1}, data, 3, **settings)


@pytest.mark.parametrize(("toolkit", "trained"), [("lightgbm", lightgbm_logged), ("xgboost", xgboost_logged)])
def test_autologging_has_every_value_in_full_precision(toolkit, trained, mlflow, autolog):
    found, train = trained()
    autolog(toolkit)
    with mlflow.start_run() as run:
        train()
    for convention, name in zip((CONV, OTHER), NAMES, strict=True):
        expected = [(entry.iteration, entry.value) for entry in found.only(convention=convention)]
        assert logged(mlflow, run.info.run_id, f"valid-{name}")[: len(expected)] == expected


# Weights & Biases


@pytest.fixture
def offline(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_SILENT", "true")
    run = wandb.init(mode="offline", dir=str(tmp_path), project="rankadapters")
    yield run
    wandb.finish()


def test_wandb_has_every_value_and_the_signatures(offline, monkeypatch):
    rows, defined = [], []
    log, define = offline.log, offline.define_metric
    monkeypatch.setattr(offline, "log", lambda row: (rows.append(row), log(row)))
    monkeypatch.setattr(
        offline, "define_metric", lambda name, **how: (defined.append((name, how)), define(name, **how))
    )
    ra.trackers.log_wandb(history(), run=offline)
    ra.trackers.log_wandb(score())  # in the run that there is
    names = ("valid_ndcg_5_letor4", "valid_ndcg_5_letor4_empty_1")
    first, second = ([e.value for e in history().only(convention=convention)] for convention in (CONV, OTHER))
    assert rows == [
        {names[0]: one, names[1]: two, "iteration": i} for i, (one, two) in enumerate(zip(first, second, strict=True))
    ]
    assert defined == [(name, {"step_metric": "iteration"}) for name in names]
    summary = dict(offline.summary)
    assert [summary[name] for name in names] == [first[-1], second[-1]]
    assert summary["ndcg_5_letor4"] == score().value
    assert offline.config["conventions"] == {"ndcg_5_letor4": str(CONV), "ndcg_5_letor4_empty_1": str(OTHER)}


def test_without_a_run_of_wandb_the_way_out_is_said():
    wandb = pytest.importorskip("wandb")
    assert wandb.run is None
    with pytest.raises(ra.InputError, match=r"has no run\.\nHint: wandb\.init"):
        ra.trackers.log_wandb(score())


# Optuna


@pytest.fixture
def optuna():
    optuna = pytest.importorskip("optuna")
    optuna.logging.disable_default_handler()
    yield optuna
    optuna.logging.enable_default_handler()


def studied(optuna, train, *, after=None, n_trials=1, **decides):
    """Train in the trials of a study that prunes whatever comes after some rounds, as values are at most 1."""

    def objective(trial):
        with ra.trackers.pruning(trial, **decides):
            train()
        return decides["history"][-1].value if "history" in decides else 0.0

    pruners = optuna.pruners
    pruner = pruners.NopPruner() if after is None else pruners.ThresholdPruner(lower=2.0, n_warmup_steps=after)
    study = optuna.create_study(direction="maximize", pruner=pruner)
    study.optimize(objective, n_trials=n_trials)
    return study.trials


def lightgbm_trained():
    lgb = pytest.importorskip("lightgbm")
    metric, data = ra.lightgbm.eval_metric(CONV), lgb.Dataset(ONE.X, label=ONE.y, group=ONE.sizes)
    return metric.history, lambda: lgb.train(PARAMS, data, 6, valid_sets=[data], feval=metric)


def xgboost_trained():
    xgb = pytest.importorskip("xgboost")
    metric, data = ra.xgboost.custom_metric(CONV), xgb.DMatrix(ONE.X, label=ONE.y, qid=ONE.qid)
    settings = {"evals": [(data, "train")], "custom_metric": metric, "verbose_eval": False}
    return metric.history, lambda: xgb.train({"objective": "rank:ndcg", "nthread": 1}, data, 6, **settings)


def xgbranker_trained():
    xgb = pytest.importorskip("xgboost")
    pytest.importorskip("sklearn")
    watch = ra.xgboost.EvalCallback(CONV, [((TWO.X, TWO.y, TWO.qid), "valid")])
    ranker = xgb.XGBRanker(n_estimators=6, n_jobs=1, callbacks=[watch])
    return watch.history, lambda: ranker.fit(ONE.X, ONE.y, qid=ONE.qid, verbose=False)


def catboost_trained():
    cb = pytest.importorskip("catboost")
    metric = ra.catboost.eval_metric(CONV, [(ONE.y, ONE.qid)])
    model = cb.CatBoostRanker(
        iterations=6, eval_metric=metric, thread_count=1, verbose=False, allow_writing_files=False
    )
    return metric.history, lambda: model.fit(ONE.X, ONE.y, group_id=ONE.qid)


TRAINED = [lightgbm_trained, xgboost_trained, xgbranker_trained, catboost_trained]


@pytest.mark.parametrize("trained", TRAINED)
def test_a_pruned_trial_ends_after_the_round_that_decides(trained, optuna):
    found, train = trained()
    [trial] = studied(optuna, train, after=2, history=found)
    assert trial.state == optuna.trial.TrialState.PRUNED
    assert trial.intermediate_values == {entry.iteration: entry.value for entry in found}
    assert [entry.iteration for entry in found] == [0, 1, 2]
    assert trial.user_attrs == {"convention": str(CONV)}


@pytest.mark.parametrize("trained", TRAINED)
def test_a_trial_that_is_not_pruned_has_every_value(trained, optuna):
    found, train = trained()
    for run, trial in enumerate(studied(optuna, train, n_trials=2, history=found)):
        entries = found.only(run=run)
        assert trial.intermediate_values == {entry.iteration: entry.value for entry in entries}
        assert (trial.value, len(entries)) == (entries[-1].value, 6)


def query_ranker(toolkit, make, **settings):
    package = pytest.importorskip(toolkit)
    pytest.importorskip("sklearn")
    inner = getattr(package, make)(n_estimators=6, **settings)
    ranker = ra.sklearn.QueryRanker(inner, convention=CONV, eval_metric=CONV)
    return lambda: ranker.fit(ONE.X, ONE.y, qid=ONE.qid, eval_set=(TWO.X, TWO.y, TWO.qid))


def our_training_of_catboost():
    cb = pytest.importorskip("catboost")
    first, second = (cb.Pool(each.X, each.y, group_id=each.qid) for each in (ONE, TWO))
    params, loss = {"iterations": 6, "thread_count": 1}, ra.objectives.QueryRMSE()
    return lambda: ra.catboost.train(params, first, loss, CONV, eval_set=second)


SILENT = {"verbose": False, "allow_writing_files": False}
VALIDATION = {"dataset": "validation"}


@pytest.mark.parametrize(
    ("trained", "decides"),
    [
        (lambda: query_ranker("lightgbm", "LGBMRanker", verbose=-1), {}),
        (lambda: query_ranker("xgboost", "XGBRanker"), {}),
        (lambda: query_ranker("catboost", "CatBoostRanker", **SILENT), VALIDATION),
        (our_training_of_catboost, VALIDATION),
    ],
    ids=["lightgbm", "xgboost", "catboost", "ours of catboost"],
)
def test_a_training_that_makes_its_history_itself_is_pruned_by_the_set_that_decides(trained, decides, optuna):
    [trial] = studied(optuna, trained(), after=2, **decides)
    assert trial.state == optuna.trial.TrialState.PRUNED
    assert list(trial.intermediate_values) == [0, 1, 2]
    assert trial.user_attrs == {"convention": str(CONV)}


def test_a_learner_is_pruned_and_two_in_a_trial_are_refused(optuna):
    pytest.importorskip("sklearn")

    def fit():
        ra.learners.AdaRank(CONV, max_iter=6).fit(ONE.X, ONE.y, qid=ONE.qid, eval_set=(TWO.X, TWO.y, TWO.qid))

    pruner = optuna.pruners.ThresholdPruner(lower=2.0, n_warmup_steps=1)
    trial = optuna.create_study(direction="maximize", pruner=pruner).ask()
    with pytest.raises(optuna.TrialPruned, match="in iteration 1"), ra.trackers.pruning(trial, dataset="valid_0"):
        fit()
    with pytest.raises(ra.InputError, match=r"a second training reports to the trial, .*\nHint: one training"):
        studied(optuna, lambda: (fit(), fit()), dataset="valid_0")


def test_what_is_not_a_history_is_refused(optuna):
    with pytest.raises(ra.InputError, match=r"history=\[0\.5\]; allowed are histories\.\nHint: metric\.history"):
        ra.trackers.pruning(None, history=[0.5]).__enter__()


def reported(optuna, found, entries, direction="maximize", **decides):
    trial = optuna.create_study(direction=direction).ask()
    with ra.trackers.pruning(trial, history=found, **decides):
        found.record(entries)
    return trial.storage.get_trial(trial._trial_id).intermediate_values


def test_one_set_and_one_convention_decide(optuna):
    expected = {entry.iteration: entry.value for entry in history().only(convention=OTHER)}
    assert reported(optuna, History(), history(), convention="letor4@5+empty=1", dataset="valid") == expected
    loss = [Evaluation("valid", LOSS, 0.5)]
    assert reported(optuna, History(), loss, direction="minimize") == {0: 0.5}


ABSENT = r"there is no value of .*\.\nHint: the sets are 'valid', the conventions 'ndcg@5"


@for_each(
    ("entries", "decides", "message"),
    [
        (history(), {}, r"iteration 0 has a value of \('valid', .*must decide\.\nHint: pruning"),
        (history()[:1] * 2, {}, r"iteration 0 has two values of \('valid', 'ndcg@5/letor4'\)\.\nHint: eval"),
        (history(), {"dataset": 1}, ABSENT),
        (history(), {"dataset": "test"}, ABSENT),
        (history(), {"convention": "yahoo@5"}, ABSENT),
        (history(), {"direction": "minimize", "convention": CONV},
         r"to minimize, but for ndcg@5/letor4 higher is better\.\nHint: optuna\.cr"),
        ([Evaluation("valid", LOSS, 0.5)], {}, r"to maximize, but for .* lower is better\.\n.*direction='minimize'"),
    ],
)  # fmt: skip
def test_what_does_not_decide_is_refused(entries, decides, message, optuna):
    with pytest.raises(ra.InputError, match=message):
        reported(optuna, History(), entries, **decides)


def test_a_training_that_finds_no_split_is_reported_round_by_round(optuna):
    lgb = pytest.importorskip("lightgbm")
    metric, data = ra.lightgbm.eval_metric(CONV), lgb.Dataset(ONE.X, label=ONE.y, group=ONE.sizes)
    trial = optuna.create_study(direction="maximize").ask()
    with ra.trackers.pruning(trial, history=metric.history):
        lgb.train({**PARAMS, "min_gain_to_split": 50}, data, 5, valid_sets=[data], feval=metric)
    assert list(trial.storage.get_trial(trial._trial_id).intermediate_values) == list(range(5))


@pytest.mark.parametrize("trained", TRAINED)
def test_a_mistake_is_told_inside_a_training_too(trained, optuna):
    found, train = trained()
    trial = optuna.create_study(direction="minimize").ask()
    with pytest.raises(ra.InputError, match="the study is set to minimize"), ra.trackers.pruning(trial, history=found):
        train()


def test_another_error_of_a_training_stays_as_it_is(optuna):
    trial = optuna.create_study(direction="maximize").ask()
    with pytest.raises(ZeroDivisionError), ra.trackers.pruning(trial, history=History()):
        np.array([1 // 0])
