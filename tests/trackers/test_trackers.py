"""MLflow and Weights & Biases store all values of a training."""

from __future__ import annotations

import math
import os
import re
import sys
from dataclasses import replace

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.callbacks.history import Evaluation, History
from tests.helpers.rankings import ranking

os.environ |= {"MLFLOW_DISABLE_TELEMETRY": "true", "WANDB_ERROR_REPORTING": "false"}  # read at import

LETOR4, LOSS = ra.parse("letor4@5"), ra.parse("catboost.query_rmse")
EMPTY_IS_1 = ra.parse("letor4@5+empty=1")  # its name has characters that MLflow refuses
NAMES = [ra.trackers.mlflow_name(convention) for convention in (LETOR4, EMPTY_IS_1)]
TRAIN = ranking(1)
PARAMS = {"objective": "lambdarank", "metric": "None", "verbosity": -1, "num_threads": 1, "min_data_in_leaf": 5}


def sample_history(n_iterations=3):
    return History(
        Evaluation("valid", convention, 0.1 * (iteration + 1) + offset, iteration=iteration)
        for iteration in range(n_iterations)
        for offset, convention in enumerate((LETOR4, EMPTY_IS_1))
    )


def score(convention=LETOR4):
    return ra.evaluate(TRAIN.y, TRAIN.X[:, 0], convention, qid=TRAIN.qid)


# Names


def named_conventions():
    conventions = [getattr(ra.presets, name)(k) for name in ra.presets.names() for k in (5, None)]
    conventions += [EMPTY_IS_1, ra.parse("yahoo@10+gain=table_0_1_3")]
    conventions += [ra.parse("trec_eval_9.map_cut@10+average=uniform")]
    return list(dict.fromkeys(conventions))


def test_names_are_valid_for_each_tracker_and_distinct():
    conventions = named_conventions()
    assert len({ra.trackers.mlflow_name(convention) for convention in conventions}) == len(conventions)
    for convention in conventions:
        assert re.fullmatch(r"[\w./-]+", ra.trackers.mlflow_name(convention), re.ASCII)
        assert re.fullmatch(r"[A-Za-z_]\w*", ra.trackers.wandb_name(convention), re.ASCII)


@pytest.mark.long
def test_mlflow_accepts_every_name():
    validation = pytest.importorskip("mlflow.utils.validation")
    for convention in named_conventions():
        validation._validate_metric_name(ra.trackers.mlflow_name(convention))
    with pytest.raises(Exception, match="Names may only contain"):
        validation._validate_metric_name(EMPTY_IS_1.name)


# Errors


def spearman(constant):
    return ra.evaluate([1, 0], [2, 1], f"scipy.spearmanr+constant={constant}", group_sizes=[2])


SPEARMANS = [spearman("-1"), spearman("1")]


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("mlflow", lambda: ra.trackers.log_mlflow(sample_history())),
        ("wandb", lambda: ra.trackers.log_wandb(sample_history())),
    ],
)
def test_the_error_for_a_missing_tracker_names_its_extra(package, call, monkeypatch):
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


@pytest.mark.long
def test_mlflow_stores_every_value_and_the_signatures(mlflow):
    with mlflow.start_run() as run:
        ra.trackers.log_mlflow(sample_history())
        ra.trackers.log_mlflow({EMPTY_IS_1: score(EMPTY_IS_1)})
    data = mlflow.get_run(run.info.run_id).data
    for convention, name in ((LETOR4, "ndcg_at_5/letor4"), (EMPTY_IS_1, "ndcg_at_5/letor4--empty-1")):
        expected = [(entry.iteration, entry.value) for entry in sample_history().only(convention=convention)]
        assert logged(mlflow, run.info.run_id, f"valid-{name}") == expected
        assert ra.parse(data.tags[f"convention.{name}"]) == convention
    assert data.metrics["ndcg_at_5/letor4--empty-1"] == score(EMPTY_IS_1).value


@pytest.mark.long
def test_mlflow_gets_at_most_a_thousand_values_or_a_hundred_tags_per_call(mlflow, monkeypatch):
    sizes = []

    def log_batch(_, run, metrics=(), tags=()):
        sizes.append((run, len(metrics), len(tags)))

    monkeypatch.setattr(mlflow.MlflowClient, "log_batch", log_batch)
    conventions = [f"letor4@{k}" for k in range(1, 1002)]
    x = mlflow.MlflowClient().create_run("0").info.run_id
    ra.trackers.log_mlflow(ra.evaluate([1, 0], [2, 1], conventions, group_sizes=[2]), run_id=x)
    assert sizes == [(x, 1000, 0), (x, 1, 0), *[(x, 0, 100)] * 10, (x, 0, 1)]


LABELS, QUERIES = [1, 0, 0, 1], {"group_sizes": [2, 2]}
MODELS = {"mine": [2, 1, 1, 2], "a b": [1, 2, 2, 1]}


def collections_of_scores():
    """Return results of `ra.evaluate` with the values that each name must have: the models score 1 and 1 / log2(3)."""
    bad, by = 1 / np.log2(3), ["no", "no", "se", "se"]
    convention, both = "textbook@2", ["textbook@2", "yahoo@1"]
    return [
        (
            ra.evaluate(LABELS, MODELS, convention, **QUERIES),
            {"mine-ndcg_at_2/textbook": 1, "a b-ndcg_at_2/textbook": bad},
        ),
        (
            ra.evaluate(LABELS, MODELS, both, **QUERIES),
            {"mine-ndcg_at_2/textbook": 1, "a b-ndcg_at_2/textbook": bad}
            | {"mine-ndcg_at_1/yahoo": 1, "a b-ndcg_at_1/yahoo": 0},
        ),
        (
            ra.evaluate(LABELS, [2, 1, 2, 1], both, by=by, **QUERIES),
            {"no-ndcg_at_2/textbook": 1, "se-ndcg_at_2/textbook": bad}
            | {"no-ndcg_at_1/yahoo": 1, "se-ndcg_at_1/yahoo": 0},
        ),
        (
            ra.evaluate(LABELS, MODELS, convention, by=by, **QUERIES)["no"] | {"": spearman(1)},
            {"mine-ndcg_at_2/textbook": 1, "a b-ndcg_at_2/textbook": bad, "spearman/scipy.spearmanr--constant-1": 1},
        ),
    ]


@pytest.mark.long
@pytest.mark.parametrize("number", range(4))
def test_mlflow_names_the_scores_of_models_and_segments_by_their_keys(number, mlflow):
    scores, expected = collections_of_scores()[number]
    with mlflow.start_run() as run:
        ra.trackers.log_mlflow(scores)
    assert mlflow.get_run(run.info.run_id).data.metrics == pytest.approx(expected)


@pytest.mark.long
def test_mlflow_refuses_a_name_that_means_another_convention_in_the_run(mlflow):
    first, second = (History([Evaluation("v", c, 0.5, name="same")]) for c in (LETOR4, EMPTY_IS_1))
    with mlflow.start_run() as run:
        ra.trackers.log_mlflow(first)
        ra.trackers.log_mlflow(first)  # the same meaning
        with pytest.raises(ra.InputError, match=r"two conventions would be logged as 'same': ndcg@5.*empty=0.*empty=1"):
            ra.trackers.log_mlflow(second)
    assert logged(mlflow, run.info.run_id, "v-same") == [(0, 0.5)]
    with pytest.raises(ra.InputError, match="two values would be logged"):
        ra.trackers.log_mlflow([score(), score()])
    assert mlflow.active_run() is None


@pytest.mark.long
def test_mlflow_logs_only_what_the_run_does_not_have(mlflow):
    with mlflow.start_run() as run:
        for history in (sample_history(2), sample_history(3), sample_history(3)):
            ra.trackers.log_mlflow(history)
        for _ in range(2):
            ra.trackers.log_mlflow(score())
    for name, convention in zip(NAMES, (LETOR4, EMPTY_IS_1), strict=True):
        expected = [(entry.iteration, entry.value) for entry in sample_history().only(convention=convention)]
        assert logged(mlflow, run.info.run_id, f"valid-{name}") == expected
    assert logged(mlflow, run.info.run_id, NAMES[0]) == [(0, score().value)]


@pytest.mark.long
def test_mlflow_refuses_a_name_that_has_another_value_in_the_run(mlflow):
    other_score = ra.evaluate(TRAIN.y, TRAIN.X[:, 1], LETOR4, qid=TRAIN.qid)
    other = sample_history().only(convention=LETOR4)
    other[1] = replace(other[1], value=0.75)
    with mlflow.start_run() as run:
        ra.trackers.log_mlflow([score(), sample_history()])
        with pytest.raises(
            ra.InputError, match=rf"the run already has 'valid-{NAMES[0]}' at step 1 as 0\.2, and now it "
        ):
            ra.trackers.log_mlflow([other, score(EMPTY_IS_1)])
        with pytest.raises(
            ra.InputError, match=rf"the run already has '{NAMES[0]}' as 0\.\d+, and now it would be 0\."
        ):
            ra.trackers.log_mlflow(other_score)
        ra.trackers.log_mlflow({"second": other_score})
    metrics = mlflow.get_run(run.info.run_id).data.metrics
    assert (metrics[NAMES[0]], metrics[f"second-{NAMES[0]}"]) == (score().value, other_score.value)
    assert NAMES[1] not in metrics  # a refused call logs nothing


@pytest.mark.long
def test_mlflow_refuses_a_number_where_the_run_has_nan_and_nan_where_it_has_a_number(mlflow):
    def history(*values):
        return History(Evaluation("valid", LETOR4, value, iteration=at) for at, value in enumerate(values))

    with mlflow.start_run():
        for _ in range(2):
            ra.trackers.log_mlflow(history(0.5, math.nan))
        for values in ((0.5, 0.5), (math.nan, math.nan)):
            with pytest.raises(ra.InputError, match=f"the run already has 'valid-{NAMES[0]}' at step "):
                ra.trackers.log_mlflow(history(*values))


@pytest.mark.long
def test_signatures_alone_can_be_logged_to_mlflow(mlflow):
    with mlflow.start_run() as run:
        ra.trackers.tag_mlflow([LETOR4, EMPTY_IS_1])
        ra.trackers.tag_mlflow({"loss@train": str(LOSS)})
        with pytest.raises(ra.InputError, match="two conventions would be logged as 'loss_at_train'"):
            ra.trackers.tag_mlflow({"loss@train": LETOR4})
    data = mlflow.get_run(run.info.run_id).data
    tags = {name: tag for name, tag in data.tags.items() if name.startswith("convention.")}
    names = [f"convention.{name}" for name in (*NAMES, "loss_at_train")]
    assert tags == dict(zip(names, map(str, (LETOR4, EMPTY_IS_1, LOSS)), strict=True))
    assert not data.metrics
    with pytest.raises(ra.InputError, match="two conventions would be logged as 'a_at_b'"):
        ra.trackers.tag_mlflow({"a@b": LETOR4, "a_at_b": LOSS})
    assert mlflow.active_run() is None


@pytest.fixture
def autolog(mlflow):
    """Return a function that turns on autologging of a toolkit, which is turned off after the test."""
    yield lambda flavor: getattr(mlflow, flavor).autolog(log_models=False, log_datasets=False, silent=True)
    for flavor in ("lightgbm", "xgboost"):
        if f"mlflow.{flavor}" in sys.modules:
            getattr(mlflow, flavor).autolog(disable=True, silent=True)


def train_lightgbm(log):
    lgb, metric = pytest.importorskip("lightgbm"), ra.lightgbm.eval_metric(ra.trackers.names([LETOR4, EMPTY_IS_1]))
    data, record = lgb.Dataset(TRAIN.X, label=TRAIN.y, group=TRAIN.sizes), lgb.record_evaluation(log)
    lgb.train(PARAMS, data, 3, valid_sets=[data], valid_names=["valid"], feval=metric, callbacks=[record])


def train_xgboost(log):
    xgb, metric = pytest.importorskip("xgboost"), ra.xgboost.eval_metric(ra.trackers.names([LETOR4, EMPTY_IS_1]))
    data = xgb.DMatrix(TRAIN.X, label=TRAIN.y, qid=TRAIN.qid)
    both = {"custom_metric": metric, "callbacks": [metric], "evals_result": log, "verbose_eval": False}
    xgb.train({"objective": "rank:ndcg", "nthread": 1}, data, 3, evals=[(data, "valid")], **both)


@pytest.mark.long
@pytest.mark.parametrize(("toolkit", "train"), [("lightgbm", train_lightgbm), ("xgboost", train_xgboost)])
def test_autologging_stores_every_value_in_full_precision_and_we_store_none_again(toolkit, train, mlflow, autolog):
    log = {}
    autolog(toolkit)
    with mlflow.start_run() as run:
        train(log)
        before = [logged(mlflow, run.info.run_id, f"valid-{name}") for name in NAMES]
        assert [values[:3] for values in before] == [list(enumerate(log["valid"][name])) for name in NAMES]
        ra.trackers.log_mlflow(History.of(log, ra.trackers.names([LETOR4, EMPTY_IS_1])))
    assert [logged(mlflow, run.info.run_id, f"valid-{name}") for name in NAMES] == before
    tags = mlflow.get_run(run.info.run_id).data.tags
    assert [ra.parse(tags[f"convention.{name}"]) for name in NAMES] == [LETOR4, EMPTY_IS_1]


# Weights & Biases


@pytest.fixture
def offline(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_SILENT", "true")
    run = wandb.init(mode="offline", dir=str(tmp_path), project="rankadapters")
    yield run
    wandb.finish()


@pytest.mark.long
def test_wandb_stores_every_value_and_the_signatures(offline, monkeypatch):
    rows, defined = [], []
    log, define = offline.log, offline.define_metric
    monkeypatch.setattr(offline, "log", lambda row: (rows.append(row), log(row)))
    monkeypatch.setattr(
        offline, "define_metric", lambda name, **options: (defined.append((name, options)), define(name, **options))
    )
    ra.trackers.log_wandb(sample_history(), run=offline)
    ra.trackers.log_wandb(score())  # in the active run
    names = ("valid_ndcg_5_letor4", "valid_ndcg_5_letor4_empty_1")
    conventions = (LETOR4, EMPTY_IS_1)
    letor4_values, empty_1_values = ([e.value for e in sample_history().only(convention=c)] for c in conventions)
    assert rows == [
        {names[0]: letor4, names[1]: empty_1, "iteration": iteration}
        for iteration, (letor4, empty_1) in enumerate(zip(letor4_values, empty_1_values, strict=True))
    ]
    assert defined == [(name, {"step_metric": "iteration"}) for name in names]
    summary = dict(offline.summary)
    assert [summary[name] for name in names] == [letor4_values[-1], empty_1_values[-1]]
    assert summary["ndcg_5_letor4"] == score().value
    assert offline.config["conventions"] == {"ndcg_5_letor4": str(LETOR4), "ndcg_5_letor4_empty_1": str(EMPTY_IS_1)}


@pytest.mark.long
def test_wandb_names_the_scores_of_models_and_refuses_names_with_two_meanings(offline):
    ra.trackers.log_wandb(ra.evaluate(LABELS, MODELS, "textbook@2", **QUERIES))
    expected = {"mine_ndcg_2_textbook": 1, "a_b_ndcg_2_textbook": 1 / np.log2(3)}
    assert {name: offline.summary[name] for name in expected} == pytest.approx(expected)
    ra.trackers.log_wandb(SPEARMANS[0])
    config = dict(offline.config["conventions"])
    with pytest.raises(ra.InputError, match="logged as 'spearman_scipy_spearmanr_constant_1'"):
        ra.trackers.log_wandb(SPEARMANS[1])
    assert offline.config["conventions"] == config
    assert offline.summary["spearman_scipy_spearmanr_constant_1"] == SPEARMANS[0].value


@pytest.mark.long
def test_wandb_refuses_names_that_have_values_in_the_run(offline):
    ra.trackers.log_wandb({"": score(), "a": sample_history()}, run=offline)
    before = dict(offline.summary)
    ra.trackers.log_wandb(score(), run=offline)  # the same value
    with pytest.raises(
        ra.InputError, match="the run already has 'a_valid_ndcg_5_letor4', and its rounds would be logged"
    ):
        ra.trackers.log_wandb({"a": sample_history(4)}, run=offline)
    other = ra.evaluate(TRAIN.y, TRAIN.X[:, 1], LETOR4, qid=TRAIN.qid)
    with pytest.raises(ra.InputError, match=r"the run already has 'ndcg_5_letor4' as 0\.\d+, and now it would be 0\."):
        ra.trackers.log_wandb(other, run=offline)
    assert {name: offline.summary[name] for name in before if name[0] != "_"} == {
        name: value for name, value in before.items() if name[0] != "_"
    }


def test_logging_to_wandb_without_a_run_is_refused_with_a_hint():
    wandb = pytest.importorskip("wandb")
    assert wandb.run is None
    with pytest.raises(ra.InputError, match=r"has no run\.\nHint: wandb\.init"):
        ra.trackers.log_wandb(score())
