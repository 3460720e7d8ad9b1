"""Trainings of LightGBM with declared metrics and objectives: what may be combined, and what must happen."""

import copy
import inspect
from functools import partial

import numpy as np
import pytest

import rankadapters as ra
from tests.training.training_table import (
    EQUAL,
    ERR,
    FRACTIONAL,
    LOSS,
    MAP,
    MRR,
    NDCG,
    PATIENCE,
    WEIGHTED,
    Error,
    InterruptedTrainingError,
    Objects,
    Row,
    Trained,
    Warns,
    cases,
    check,
    pickled,
    same,
    train,
)

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402

PARAMS = {
    "objective": "lambdarank", "metric": "None", "verbosity": -1, "num_threads": 1, "min_data_in_leaf": 5,
    "num_leaves": 7, "learning_rate": 0.1, "seed": 1,
}  # fmt: skip
OURS_OBJECTIVE = "lightgbm.lambdarank"
NO_TRAINING_SET = ("valid", "other")


# Runners


def objects_of(training):
    metric = ra.lightgbm.eval_metric(training.reported)
    return Objects(metric, stop_of(training))


def stop_of(training):
    """Return the early stopping callback: LightGBM's, or ours on the first measure that decides."""
    if training.stop is None:
        return None
    if training.stop == "ours":
        options = training.options.get("stop", {})
        return ra.lightgbm.early_stopping(training.stops_on, PATIENCE, verbose=False, **options)
    return lgb.early_stopping(PATIENCE, first_metric_only=training.stop == "first metric", verbose=False)


def interrupt(env):
    if env.iteration - env.begin_iteration == 2:
        raise InterruptedTrainingError


class Snapshots:
    """The predictions of the model after every round, which a later round or the end of a training may change."""

    order, before_iteration = -100, False  # LightGBM reads these; other callbacks may stop the training

    def __init__(self, training, data):
        self.training, self.data, self.rounds = training, data, []

    def __call__(self, env):
        self.rounds.append({name: self.scores(env.model, name) for name in self.training.sets})

    def scores(self, model, name):
        scores = model.predict(self.data[name].X, num_threads=1)
        return scores + self.data[name].margin if self.training.margin else scores

    def value(self, name, measure, index):
        return self.data[name].value(self.rounds[index][name], measure, weighted=self.training.weighted)

    def trained(self, log, best, model):
        def final(name, measure):
            return self.data[name].value(self.scores(model, name), measure, weighted=self.training.weighted)

        return Trained(log, self.value, len(self.rounds), best - self.training.start - 1, final)


class FoldSnapshots(Snapshots):
    def __call__(self, env):
        self.rounds.append([(booster, booster.predict(self.data.X, num_threads=1)) for booster in env.model.boosters])

    def value(self, name, measure, index):
        values = []
        for booster, scores in self.rounds[index]:
            held = np.asarray(booster.valid_sets[-1].used_indices)
            rows = held if name == "valid" else np.setdiff1d(np.arange(self.data.y.size), held)
            values.append(self.data.take(rows).value(scores[rows], measure, weighted=self.training.weighted))
        return np.mean(values)


def callbacks_of(training, objects, *more, fails):
    stop = [] if objects.stop is None else [objects.stop]
    return [*training.options.get("callbacks", []), *more, *stop, *[interrupt] * fails]


def params_of(training):
    params = {**PARAMS, **training.params}
    if training.objective:
        params["objective"] = ra.lightgbm.objective(training.objective)
    return params


def dataset(rows, training, **options):
    columns = {
        "weight": rows.row_weight if training.weighted else None,
        "init_score": rows.margin if training.margin else None,
    }
    columns |= {"group": rows.sizes, **training.options.get("change", {})}
    if "position" in columns:
        columns["position"] = np.arange(rows.y.size) % 4
    return lgb.Dataset(rows.X, rows.y, free_raw_data=False, **columns, **options)


def starting_model(training, data):
    if not training.start:
        return None
    return lgb.train({**PARAMS, "seed": 3}, dataset(data["train"], training), training.start)


def lgb_train(training, data, objects, *, fails):
    log, snapshots, first = {}, Snapshots(training, data), dataset(data["train"], training)
    sets = {
        name: first if name == "train" else dataset(data[name], training, reference=first) for name in training.sets
    }
    booster = lgb.train(
        params_of(training), first, training.rounds, valid_sets=[*sets.values()], valid_names=[*sets],
        feval=training.options.get("feval", lambda metric: metric)(objects.metric),
        callbacks=callbacks_of(training, objects, lgb.record_evaluation(log), snapshots, fails=fails),
        init_model=starting_model(training, data),
    )  # fmt: skip
    return snapshots.trained(log, booster.best_iteration, booster)


def ranker_of(training):
    params = params_of(training)
    renamed = {"num_threads": "n_jobs", "min_data_in_leaf": "min_child_samples", "seed": "random_state"}
    params = {renamed.get(name, name): value for name, value in params.items()}
    return lgb.LGBMRanker(n_estimators=training.rounds, **params)


def lgbm_ranker(training, data, objects, *, fails):
    ranker, first = ranker_of(training), data["train"]
    sets = [data[name] for name in training.sets]
    arguments = {"eval_group": [rows.sizes for rows in sets], "eval_names": [*training.sets]}
    if "eval_X" in inspect.signature(ranker.fit).parameters:  # since LightGBM 4.7
        arguments |= {"eval_X": tuple(rows.X for rows in sets), "eval_y": tuple(rows.y for rows in sets)}
    else:
        arguments["eval_set"] = [(rows.X, rows.y) for rows in sets]
    if training.weighted:
        arguments |= {"sample_weight": first.row_weight, "eval_sample_weight": [rows.row_weight for rows in sets]}
    if training.margin:
        arguments |= {"init_score": first.margin, "eval_init_score": [rows.margin for rows in sets]}
    metric = training.options.get("feval", lambda metric: metric)(objects.metric)
    for _ in range(training.options.get("fits", 1)):
        ranker = clone(ranker) if training.options.get("clones") else ranker
        snapshots = Snapshots(training, data)
        ranker.fit(
            first.X, first.y, group=first.sizes, eval_metric=metric, init_model=starting_model(training, data),
            callbacks=callbacks_of(training, objects, snapshots, fails=fails), **arguments,
        )  # fmt: skip
    ranker = pickled(ranker) if training.options.get("pickles") else ranker
    return snapshots.trained(ranker.evals_result_, ranker.best_iteration_, ranker)


def lgb_cv(training, data, objects, *, fails):
    rows, folds = data["train"], training.options.get("folds", "by qid")
    options = {}
    if folds == "by qid":
        fold = rows.qid // 2 % 3
        options["folds"] = [(np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in range(3)]
    if folds == "QueryKFold":
        options["folds"] = ra.sklearn.QueryKFold(4)
    snapshots = FoldSnapshots(training, rows)
    results = lgb.cv(
        params_of(training), dataset(rows, training), training.rounds, nfold=3, feval=objects.metric,
        callbacks=callbacks_of(training, objects, snapshots, fails=fails), eval_train_metric="train" in training.sets,
        **options,
    )  # fmt: skip
    log = {name: {} for name in training.sets}
    for name, values in results.items():
        dataset_name, _, shown = name.removesuffix("-mean").partition(" ")
        if name.endswith("-mean"):
            log[dataset_name][shown] = values
    if training.options.get("history"):
        same("the history", [entry.value for entry in ra.History.of(results)], log["valid"][ra.parse(NDCG).name])
    return Trained(log, snapshots.value, len(snapshots.rounds), len(values) - 1)


RUNNERS = {
    way: partial(train, runner=runner, objects_of=objects_of, seed=600)
    for way, runner in (("lgb.train", lgb_train), ("LGBMRanker", lgbm_ranker), ("lgb.cv", lgb_cv))
}


# The table

EVERY_WAY = "lgb.train | LGBMRanker | lgb.cv"
TRAIN_AND_RANKER = "lgb.train | LGBMRanker"
IGNORED = "ignores them"
BOTH = (NDCG, MAP)


def added(*metrics):
    """Return a function that lists LightGBM's own metrics, or functions, beside ours."""
    return lambda metric: [metric, *metrics]


def zero(preds, data, *more):
    return "zero", 0.0, True


ROWS = [
    # Sets and measures
    Row(EVERY_WAY, "one set and one measure", EQUAL),
    Row(EVERY_WAY, "the training set first, and two measures", EQUAL, sets=("train", "valid"), measures=BOTH),
    Row(TRAIN_AND_RANKER, "three sets and three measures in any order", EQUAL,
        sets=("other", "train", "valid"), measures=(LOSS, NDCG, ERR)),
    Row(EVERY_WAY, "display names of one's own", EQUAL, measures=BOTH, names=("first", "second")),
    *(Row(EVERY_WAY, f"LightGBM's early stopping on {measure}", EQUAL, measures=(measure,), stop="toolkit", rounds=60,
          long=measure in {ERR, MRR})
      for measure in (NDCG, MAP, ERR, MRR, LOSS)),
    *(Row(EVERY_WAY, f"our early stopping on {measure}, the second of two", EQUAL, measures=(WEIGHTED, measure),
          watched=(("valid", measure),), stop="ours", rounds=60) for measure in (NDCG, MAP, LOSS)),
    Row(EVERY_WAY, "first_metric_only on the first of two measures", EQUAL, measures=(MAP, NDCG),
        watched=(("valid", MAP),), stop="first metric", rounds=60),
    Row(EVERY_WAY, "LightGBM's early stopping on whichever measure stops first", EQUAL, measures=(NDCG, LOSS),
        watched=(("valid", NDCG), ("valid", LOSS)), stop="toolkit", rounds=60),
    Row(TRAIN_AND_RANKER, "LightGBM's early stopping on whichever set stops first", EQUAL, sets=NO_TRAINING_SET,
        watched=(("valid", NDCG), ("other", NDCG)), stop="toolkit", rounds=60),
    Row(TRAIN_AND_RANKER, "our early stopping on whichever set stops first", EQUAL, sets=NO_TRAINING_SET, measures=BOTH,
        watched=(("valid", MAP), ("other", MAP)), stop="ours", rounds=60),
    Row(TRAIN_AND_RANKER, "our early stopping on one of two sets by data_name=", EQUAL, sets=NO_TRAINING_SET,
        watched=(("other", NDCG),), stop="ours", rounds=60, options={"stop": {"data_name": "other"}}),
    Row(EVERY_WAY, "our early stopping does not count the training set", EQUAL, sets=("train", "valid"), stop="ours",
        rounds=60),
    Row(EVERY_WAY, "our early stopping on a measure by its own name", EQUAL, names=("mine",), stop="ours", rounds=60),
    Row(EVERY_WAY, "a name that is the end of another name does not stop for it", EQUAL, measures=(LOSS, NDCG),
        names=("my ndcg", "ndcg"), watched=(("valid", NDCG),), stop="ours", rounds=60),
    Row("lgb.train | LGBMRanker", "our early stopping beside a metric of somebody else", EQUAL, stop="ours", rounds=60,
        options={"feval": added(zero)}),
    Row("LGBMRanker", "our early stopping beside LightGBM's own map", EQUAL, stop="ours", rounds=60,
        options={"feval": added("map")}),
    Row("lgb.train | LGBMRanker | lgb.cv", "our early stopping beside LightGBM's default metric", EQUAL, stop="ours",
        params={"metric": "ndcg"}, rounds=60),
    Row("lgb.train", "our early stopping on a measure that nobody reports", Error("but the sets report"),
        measures=(MAP,), watched=(("valid", NDCG),), stop="ours"),
    Row("lgb.train", "the same metric twice", Error("twice"), sets=NO_TRAINING_SET,
        options={"feval": lambda metric: [metric, ra.lightgbm.eval_metric([NDCG])]}, measures=BOTH),
    # Weights and margins
    Row(EVERY_WAY, "weights that the convention uses", EQUAL, measures=(WEIGHTED,), weighted=True),
    Row(EVERY_WAY, "weights, a loss, and early stopping", EQUAL, measures=(LOSS,), weighted=True, stop="ours",
        rounds=60),
    Row(EVERY_WAY, "weights that the convention ignores", Warns(IGNORED), weighted=True),
    Row(TRAIN_AND_RANKER, "weights that one of two conventions ignores", Warns(IGNORED), measures=(WEIGHTED, NDCG),
        weighted=True, sets=NO_TRAINING_SET),
    Row(TRAIN_AND_RANKER, "init_score of every set", EQUAL, margin=True, sets=("train", "valid")),
    Row(TRAIN_AND_RANKER, "init_score, weights and early stopping", EQUAL, margin=True, weighted=True, rounds=60,
        measures=(WEIGHTED,), stop="ours"),
    # Labels and queries
    Row(EVERY_WAY, "queries with nothing relevant", EQUAL, measures=(NDCG, WEIGHTED, MAP), labels="empty"),
    Row(TRAIN_AND_RANKER, "a validation set of one query", EQUAL, n_valid=1),
    Row(EVERY_WAY, "binary labels", EQUAL, measures=(MAP, MRR), labels="binary"),
    Row("lgb.train | LGBMRanker", "a threshold that float32 moves", EQUAL, measures=(FRACTIONAL,), labels="fractional",
        params={"objective": "regression"}),
    Row("lgb.cv", "a threshold that float32 moves", EQUAL, measures=(FRACTIONAL,), labels="fractional",
        params={"objective": "regression"}),
    # Boosters and samples
    Row(EVERY_WAY, "goss", EQUAL, long=True, params={"data_sample_strategy": "goss"}, stop="ours", rounds=60),
    Row(EVERY_WAY, "bagging and feature fractions", EQUAL, stop="ours", rounds=60,
        params={"bagging_fraction": 0.6, "bagging_freq": 1, "feature_fraction": 0.6}),
    Row(EVERY_WAY, "bagging by query", EQUAL,
        params={"bagging_fraction": 0.6, "bagging_freq": 1, "bagging_by_query": True}),
    Row(TRAIN_AND_RANKER, "random forest", EQUAL, sets=("train", "valid"),
        params={"boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1}),
    Row(TRAIN_AND_RANKER, "dart", EQUAL, params={"boosting": "dart"}),
    Row(EVERY_WAY, "rank_xendcg", EQUAL, long=True, params={"objective": "rank_xendcg"}, stop="ours", rounds=60),
    Row(TRAIN_AND_RANKER, "regression on the grades", EQUAL, params={"objective": "regression"}, sets=("train",
        "valid")),
    Row("lgb.train", "probabilities of binary", EQUAL, params={"objective": "binary"}, labels="binary"),
    # Declared objectives
    Row(EVERY_WAY, "a declared objective", EQUAL, objective=OURS_OBJECTIVE),
    Row(EVERY_WAY, "a declared objective and early stopping", EQUAL, objective="lightgbm.xendcg", stop="ours",
        rounds=60),
    Row(TRAIN_AND_RANKER, "a declared objective, weights and init_score", EQUAL, objective=OURS_OBJECTIVE,
        measures=(WEIGHTED,), weighted=True, margin=True),
    Row(EVERY_WAY, "a declared objective and bagging of rows", EQUAL, objective=OURS_OBJECTIVE,
        params={"bagging_fraction": 0.6, "bagging_freq": 1}),
    # LGBMRanker does not tell the objective.
    Row("lgb.train | lgb.cv", "a declared objective and bagging by query", Error("bagging_by_query"),
        objective=OURS_OBJECTIVE, params={"bagging_fraction": 0.6, "bagging_freq": 1, "bagging_by_query": True}),
    Row("lgb.train", "a declared objective continues another model", EQUAL, objective=OURS_OBJECTIVE, start=5),
    Row("lgb.train | LGBMRanker", "a declared objective in two threads", EQUAL, objective=OURS_OBJECTIVE, threads=2),
    # Folds of lgb.cv
    Row("lgb.cv", "LightGBM's own folds", EQUAL, options={"folds": "default"}),
    Row("lgb.cv", "LightGBM's own folds, and the training set", EQUAL, sets=("train", "valid"),
        options={"folds": "default"}),
    Row("lgb.cv", "our splitter", EQUAL, long=True, stop="ours", rounds=60, options={"folds": "QueryKFold"}),
    Row("lgb.cv", "the history of its results", EQUAL, options={"history": True}),
    Row("lgb.cv", "own folds of a declared objective", Error("quer"), objective=OURS_OBJECTIVE,
        options={"folds": "default"}),
    # Repeated and continued trainings, copies and threads
    Row(TRAIN_AND_RANKER, "continued training", EQUAL, start=5),
    Row(TRAIN_AND_RANKER, "continued training and early stopping", EQUAL, start=3, stop="ours", rounds=60),
    Row(EVERY_WAY, "metric and early stopping trained before", EQUAL, stop="ours", rounds=60, earlier="trained"),
    Row(EVERY_WAY, "LightGBM's early stopping used twice", EQUAL, stop="toolkit", rounds=60, earlier="trained"),
    Row(EVERY_WAY, "a training that failed before", EQUAL, stop="ours", rounds=60, earlier="failed"),
    *(Row(EVERY_WAY, f"{name} of the metric and of our early stopping, {when}", EQUAL, stop="ours", rounds=60,
          change=change, earlier=earlier, long=change is not pickled)
      for name, change in (("a copy", copy.copy), ("a deep copy", copy.deepcopy), ("a pickle", pickled))
      for when, earlier in (("unused", None), ("used before", "trained"))),
    Row(EVERY_WAY, "two threads with one metric", EQUAL, threads=2, measures=BOTH),
    Row("LGBMRanker", "a second fit", EQUAL, stop="ours", rounds=60, options={"fits": 2}),
    Row("LGBMRanker", "a fit of a clone", EQUAL, stop="ours", rounds=60, options={"fits": 2, "clones": True}),
    Row("LGBMRanker", "the log of a pickled ranker", EQUAL, stop="toolkit", rounds=60, options={"pickles": True}),
    # Metrics in the wrong place, and what a Dataset lacks or has
    Row("lgb.train", "a Dataset without group", Error("has no group"), params={"objective": "regression"},
        options={"change": {"group": None}}),
    Row("lgb.train", "positions of which a declared objective models no bias", Warns("positions"),
        objective=OURS_OBJECTIVE,
        options={"change": {"position": 0}}),
    Row("lgb.cv", "global_eval", Error("not for lgb.cv"), options={"callbacks": [ra.lightgbm.global_eval(NDCG)]}),
    Row("lgb.train | LGBMRanker", "the metric in callbacks=", Error("passed as callbacks="),
        options={"callbacks": [ra.lightgbm.eval_metric(NDCG)]}),
]  # fmt: skip


@pytest.mark.parametrize(("row", "runner"), cases(ROWS, RUNNERS))
def test_a_training_does_what_its_row_says(row, runner):
    check(row, partial(runner, row))
