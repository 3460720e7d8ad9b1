"""Trainings of CatBoost with declared metrics and objectives: what may be combined, and what must happen."""

import copy
from functools import partial

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
    Error,
    InterruptedTrainingError,
    Objects,
    Row,
    Trained,
    Warns,
    cases,
    check,
    pickled,
    train,
)

cb = pytest.importorskip("catboost")

PARAMS = {
    "loss_function": "QueryRMSE", "depth": 3, "learning_rate": 0.2, "thread_count": 1, "random_seed": 1,
    "allow_writing_files": False, "verbose": False,
}  # fmt: skip
OBJECTIVE = "lightgbm.lambdarank"
WEIGHTED = MAP
TWO_SETS = ("valid", "other")


# Runners


def metric_of(training):
    [measure] = training.measures
    declared, data = training.options.get("declared", "pools"), training.data()
    if callable(declared):
        return Objects(declared(data))
    sets = [data[name] for name in training.sets]
    if declared == "pools":
        sets = [pool(rows, training) for rows in sets]
    else:
        sets = [(rows.y, rows.qid, *[rows.query_weight] * training.weighted) for rows in sets]
    [name] = training.names or [None]
    return Objects(ra.catboost.eval_metric({name: measure} if name else measure, sets))


def no_objects(training):
    """Return nothing: `ra.catboost.train` takes conventions."""
    return Objects(None)


def pool(rows, training):
    weight = rows.row_weight if training.weighted else None
    margin = rows.margin if training.margin else None
    return cb.Pool(rows.X, rows.y, group_id=rows.qid, group_weight=weight, baseline=margin)


class Interrupt:
    def after_iteration(self, info):
        if info.iteration == 3:
            raise InterruptedTrainingError
        return True


def pools_of(training, data):
    data |= {name: rows for name, rows in training.data().items() if name != "train"}  # as the metric declares them
    return pool(data["train"], training), {
        name: pool(data[name], training) for name in training.sets if name != "train"
    }


def by_set(training, log):
    """Return CatBoost's log with the names of the sets; the training set only if it is declared."""
    others = [name for name in training.sets if name != "train"]
    keys = {"validation": others[0]} if len(others) == 1 else {f"validation_{i}": name for i, name in enumerate(others)}
    keys |= {"learn": "train"} if "train" in training.sets else {}
    return {shown: log[key] for key, shown in keys.items()}


def trained(training, data, log, model, twin):
    """Return the log of a model with the numbers by hand: the twin is the same model with the trees of every round."""

    def scores(name, used, **options):
        predictions = used.predict(data[name].X, **options)
        return predictions + data[name].margin if training.margin else predictions

    def value(name, measure, index):
        by_round = scores(name, twin, ntree_end=training.start + index + 1)
        return data[name].value(by_round, measure, weighted=training.weighted)

    def final(name, measure):
        return data[name].value(scores(name, model), measure, weighted=training.weighted)

    rounds = len(next(iter(next(iter(log.values())).values())))
    return Trained(by_set(training, log), value, rounds, model.get_best_iteration(), final)


def starting_model(training, first):
    return cb.CatBoost({**PARAMS, "iterations": training.start}).fit(first) if training.start else None


def arguments_of(training, others, *, fails):
    return {
        "eval_set": [*others.values()] or None, "early_stopping_rounds": PATIENCE if training.stop else None,
        "callbacks": [*training.options.get("callbacks", []), *[Interrupt()] * fails] or None,
    }  # fmt: skip


def catboost_ranker(training, data, objects, *, fails):
    first, others = pools_of(training, data)
    params = {**PARAMS, **training.params, "iterations": training.rounds}
    arguments, start = arguments_of(training, others, fails=fails), starting_model(training, first)
    keeps_best = {"use_best_model": training.stop is not None}
    model = cb.CatBoostRanker(**params, eval_metric=objects.metric)
    for _ in range(training.options.get("fits", 1)):
        model = model.copy() if training.options.get("copies") else model
        model.fit(first, init_model=start, **keeps_best, **arguments)
    twin = cb.CatBoostRanker(**params).fit(first, init_model=start)
    model = pickled(model) if training.options.get("pickles") else model
    return trained(training, data, model.get_evals_result(), model, twin)


def cb_train(training, data, objects, *, fails):
    first, others = pools_of(training, data)
    params = {**PARAMS, **training.params, "iterations": training.rounds}
    arguments, start = arguments_of(training, others, fails=fails), starting_model(training, first)
    callbacks = arguments.pop("callbacks")
    if callbacks:  # cb.train has no callbacks
        raise InterruptedTrainingError
    own = {**params, "eval_metric": objects.metric, "use_best_model": training.stop is not None}
    model = cb.train(first, own, init_model=start, **arguments)
    twin = cb.train(first, params, init_model=start)
    return trained(training, data, model.get_evals_result(), model, twin)


def cb_cv(training, data, objects, *, fails):
    cb.cv(pool(data["train"], training), {**PARAMS, "eval_metric": objects.metric, "iterations": 5}, fold_count=3)


def ra_train(training, data, objects, *, fails):
    first, others = pools_of(training, data)
    refused = ("loss_function", "allow_writing_files", "verbose")
    params = {name: value for name, value in {**PARAMS, **training.params}.items() if name not in refused}
    params["iterations"] = training.rounds
    arguments = arguments_of(training, others, fails=fails)
    arguments["use_best_model"] = training.stop is not None
    objective = training.objective or OBJECTIVE
    model = ra.catboost.train(params, first, objective, training.reported, **arguments)
    twin = ra.catboost.train(params, first, objective)
    log = {name: {} for name in model.get_evals_result()}
    for entry in model.history:  # in full precision
        log[entry.dataset].setdefault(entry.name, []).append(entry.value)
    return trained(training, data, log, model, twin)


RUNNERS = {
    way: partial(train, runner=runner, objects_of=objects_of, seed=100)
    for way, runner, objects_of in (
        ("CatBoostRanker", catboost_ranker, metric_of),
        ("cb.train", cb_train, metric_of),
        ("cb.cv", cb_cv, metric_of),
        ("ra.catboost.train", ra_train, no_objects),
    )
}


# The table

METRIC = "CatBoostRanker | cb.train"
EVERY_WAY = f"{METRIC} | ra.catboost.train"
IGNORED = "ignores them"
STOPS = {"stop": "toolkit", "rounds": 60}
COPIES = (("a copy", copy.copy), ("a deep copy", copy.deepcopy), ("a pickle", pickled))


def wrapped(match):
    return Error(match, cb.CatBoostError)


ROWS = [
    # Sets and measures
    Row(EVERY_WAY, "one set", EQUAL),
    Row(EVERY_WAY, "the training set too", EQUAL, sets=("train", "valid")),
    Row(EVERY_WAY, "two sets", EQUAL, sets=TWO_SETS),
    Row("ra.catboost.train", "two sets and three measures", EQUAL, sets=TWO_SETS, measures=(LOSS, NDCG, ERR)),
    Row(METRIC, "sets as columns", EQUAL, sets=TWO_SETS, options={"declared": "columns"}),
    Row(EVERY_WAY, "a display name of one's own", EQUAL, names=("mine",)),
    *(Row(EVERY_WAY, f"early stopping on {measure}", EQUAL, measures=(measure,), long=measure in {ERR, MRR}, **STOPS)
      for measure in (NDCG, MAP, ERR, MRR, LOSS)),
    Row(EVERY_WAY, "early stopping on the last of two sets", EQUAL, sets=TWO_SETS, **STOPS),
    Row("ra.catboost.train", "early stopping on the first of two measures", EQUAL, measures=(MAP, LOSS), **STOPS),
    # Sets that are not declared
    Row(METRIC, "an eval_set that is not declared", wrapped("match none of the declared sets"),
        options={"declared": lambda data: ra.catboost.eval_metric(NDCG, [(data["other"].y, data["other"].qid)])}),
    Row(METRIC, "an eval_set in another order than declared", wrapped("different order"),
        options={"declared": lambda data: ra.catboost.eval_metric(NDCG, [(data["valid"].y[::-1],
        data["valid"].qid[::-1])])}),
    Row(METRIC, "two sets of equal labels and different queries", Error("same labels but different queries"),
        options={"declared": lambda data: ra.catboost.eval_metric(
            NDCG, [(data["valid"].y, data["valid"].qid), (data["valid"].y, data["valid"].qid // 2)])}),
    Row("CatBoostRanker", "a convention as eval_metric=", Error("ra.catboost.eval_metric", Exception),
        options={"declared": lambda data: ra.parse(NDCG)}),
    Row("CatBoostRanker", "LightGBM's metric as eval_metric=", Error("is_max_optimal", cb.CatBoostError),
        options={"declared": lambda data: ra.lightgbm.eval_metric(NDCG)}),
    Row("cb.cv", "the metric of the whole training set", wrapped("match none of the declared sets"),
        sets=("train",)),
    Row("CatBoostRanker", "the metric in callbacks= too", Error("after_iteration", Exception),
        options={"callbacks": [ra.catboost.eval_metric(NDCG, [([0, 1], [0, 0])])]}),
    # Weights and margins
    Row(EVERY_WAY, "weights that the convention uses", EQUAL, measures=(WEIGHTED,), weighted=True),
    Row(EVERY_WAY, "weights that the convention ignores", Warns(IGNORED), weighted=True),
    Row(EVERY_WAY, "weights, a loss, and early stopping", EQUAL, measures=(LOSS,), weighted=True, **STOPS),
    Row(METRIC, "weights that the columns declare", EQUAL, measures=(WEIGHTED,), weighted=True,
        options={"declared": "columns"}),
    Row(EVERY_WAY, "baseline of every set", EQUAL, margin=True),
    Row(EVERY_WAY, "baseline, weights and early stopping", EQUAL, measures=(WEIGHTED,), margin=True, weighted=True,
        **STOPS),
    # Labels and queries
    *(Row(EVERY_WAY, f"queries with nothing relevant under {measure}", EQUAL, measures=(measure,), labels="empty")
      for measure in (NDCG, MAP)),
    Row(EVERY_WAY, "a validation set of one query", EQUAL, n_valid=1),
    Row(EVERY_WAY, "binary labels", EQUAL, measures=(MAP,), labels="binary"),
    Row(EVERY_WAY, "a threshold that float32 moves", EQUAL, measures=(FRACTIONAL,), labels="fractional"),
    Row(METRIC, "a threshold that float32 does not move in declared columns", EQUAL, measures=(FRACTIONAL,),
        labels="fractional",
        options={"declared": "columns"}),
    # Losses, trees and samples
    *(Row(METRIC, f"the loss {loss}", EQUAL, params={"loss_function": loss}, long=loss != "YetiRank")
      for loss in ("YetiRank", "PairLogit", "QuerySoftMax")),
    Row("cb.train", "the loss RMSE, which knows no queries", EQUAL, params={"loss_function": "RMSE"}),
    Row(EVERY_WAY, "samples of rows and features", EQUAL, params={"bootstrap_type": "Bernoulli", "subsample": 0.6,
        "rsm": 0.6}),
    Row(EVERY_WAY, "trees grown by depth", EQUAL, long=True, params={"grow_policy": "Depthwise"}),
    Row(METRIC, "ordered boosting", EQUAL, params={"boosting_type": "Ordered"}, **STOPS),
    # Declared objectives
    *(Row("ra.catboost.train", f"the objective {objective} and early stopping", EQUAL, objective=objective,
          long=objective != OBJECTIVE, **STOPS)
      for objective in (OBJECTIVE, "catboost.query_rmse", "catboost.query_soft_max")),
    Row("ra.catboost.train", "a loss function beside the objective", Error("the objective decides the loss"),
        params={"objective": "RMSE"}),
    Row("ra.catboost.train", "a metric beside the conventions", Error("convention= decides"),
        params={"eval_metric": "NDCG"}),
    Row("ra.catboost.train", "ordered boosting", Error("Ordered boosting"), params={"boosting_type": "Ordered"}),
    Row("ra.catboost.train", "a second wait for early stopping", Error("is also in params"), stop="toolkit",
        params={"od_wait": 5}),
    # Repeated and continued trainings, copies and threads
    Row(METRIC, "continued training", EQUAL, start=5),
    Row(METRIC, "continued training and early stopping", EQUAL, start=3, **STOPS),
    Row(METRIC, "the metric trained before", EQUAL, earlier="trained", options={"declared": "columns"}),
    Row(EVERY_WAY, "a training that failed before", EQUAL, earlier="failed", **STOPS),
    *(Row(METRIC, f"{name} of the metric", EQUAL, change=change, long=change is not pickled, **STOPS)
      for name, change in COPIES),
    *(Row(METRIC, f"{name} of the metric after a training", EQUAL, change=change, earlier="trained",
          long=change is not pickled, **STOPS)
      for name, change in COPIES),
    Row(EVERY_WAY, "two threads", EQUAL, threads=2),
    Row("CatBoostRanker", "a second fit", EQUAL, options={"fits": 2}, **STOPS),
    Row("CatBoostRanker", "a fit of a copied ranker", EQUAL, options={"fits": 2, "copies": True}, **STOPS),
    Row("CatBoostRanker", "a pickled ranker", EQUAL, options={"pickles": True}, **STOPS),
]  # fmt: skip


@pytest.mark.parametrize(("row", "runner"), cases(ROWS, RUNNERS))
def test_a_training_does_what_its_row_says(row, runner):
    check(row, partial(runner, row))
