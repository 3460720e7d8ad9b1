"""Trainings of XGBoost with declared metrics and objectives: what may be combined, and what must happen."""

import copy
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
    Error,
    InterruptedTrainingError,
    Objects,
    Row,
    Trained,
    Training,
    Warns,
    cases,
    check,
    pickled,
    train,
)

xgb = pytest.importorskip("xgboost")
pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402

PARAMS = {
    "objective": "rank:ndcg", "disable_default_eval_metric": True, "nthread": 1, "max_depth": 3, "eta": 0.1, "seed": 1,
    "tree_method": "exact",
}  # fmt: skip
OBJECTIVE = "lightgbm.lambdarank"
WEIGHTED = "xgboost@5"  # uses query weights
LINEAR = {"verbosity": 0, "booster": "gblinear", "max_depth": None, "tree_method": None}
BOTH, TWO_SETS = (NDCG, MAP), ("valid", "other")


# Runners


def metric_of(training):
    metric = ra.xgboost.eval_metric(training.reported)
    return Objects(metric, stop_of(training))


def callback_of(training):
    data, sets = rows_of(training), []
    for name in training.sets:
        rows = data[name]
        columns = (rows.X, rows.y, rows.qid, rows.query_weight)[: 4 if training.weighted else 3]
        sets.append((matrix(rows, training) if training.margin or training.options.get("matrix") else columns, name))
    callback = ra.xgboost.EvalCallback(training.reported, sets)
    return Objects(callback, stop_of(training))


def rows_of(training):
    """Return the rows that an EvalCallback gets, which may be scattered."""
    data = training.data()
    return {name: rows.scattered() for name, rows in data.items()} if training.options.get("scattered") else data


def stop_of(training):
    if training.stop != "ours":
        return None
    [(dataset, _)] = training.decides
    options = {"data_name": dataset} if len(training.sets) > 1 else {}
    return ra.xgboost.early_stopping(training.stops_on, PATIENCE, **options, **training.options.get("stop", {}))


def stopping_of(training):
    """Return the arguments of XGBoost's own early stopping, with or without the direction."""
    if training.stop in {None, "ours"}:
        return {}
    direction = ra.parse(training.decides[0][1]).higher_is_better
    maximize = {"toolkit": direction, "forgotten": None, "opposite": not direction}[training.stop]
    return {"early_stopping_rounds": PATIENCE, "maximize": maximize}


def matrix(rows, training, kind=xgb.DMatrix):
    weight = rows.query_weight if training.weighted else None
    margin = rows.margin if training.margin else None
    if (np.diff(rows.qid) < 0).any():
        return kind(rows.X)  # only to predict
    return kind(rows.X, rows.y, qid=rows.qid, weight=weight, base_margin=margin, nthread=1)


class Interrupt(xgb.callback.TrainingCallback):
    def after_iteration(self, model, epoch, evals_log):
        if epoch == 2:
            raise InterruptedTrainingError


class Snapshots(xgb.callback.TrainingCallback):
    """The predictions of the model after every round, which a later round may change."""

    def __init__(self, training, data):
        self.training, self.data, self.rounds = training, data, []
        self.matrices = {name: matrix(data[name], training) for name in training.sets}

    def after_iteration(self, model, epoch, evals_log):
        self.rounds.append({name: model.predict(self.matrices[name]) for name in self.training.sets})

    def __deepcopy__(self, memo):
        """Let the clone of a ranker fill these snapshots."""
        return self

    def value(self, name, measure, index):
        return self.data[name].value(self.rounds[index][name], measure, weighted=self.training.weighted)

    def trained(self, log, best, predict=None, **options):
        def final(name, measure):
            return self.data[name].value(predict(name), measure, weighted=self.training.weighted)

        best = best - self.training.start if self.training.stop else None
        return Trained(log, self.value, len(self.rounds), best, final if predict else None, **options)


class FoldSnapshots(Snapshots):
    def __init__(self, training):
        self.training, self.rounds = training, []

    def after_iteration(self, model, epoch, evals_log):
        self.rounds.append([
            {name: (data, fold.bst.predict(data)) for name, data in (("valid", fold.dtest), ("train", fold.dtrain))}
            for fold in model.cvfolds
        ])  # fmt: skip

    def value(self, name, measure, index):
        values = []
        for fold in self.rounds[index]:
            data, scores = fold[name]
            sizes = np.diff(data.get_uint_info("group_ptr").astype(int))
            labels = np.round(data.get_label().astype(float), 6)  # as they were before float32
            values.append(ra.evaluate(labels, scores, measure, group_sizes=sizes).value)
        return np.mean(values)


def callbacks_of(training, objects, snapshots, *, with_metric, fails):
    ours = [objects.metric] * with_metric + ([] if objects.stop is None else [objects.stop])
    ours = ours[::-1] if training.options.get("stop first") else ours
    return [*training.options.get("callbacks", []), snapshots, *ours, *[Interrupt()] * fails]


def starting_model(training, data):
    if not training.start:
        return None
    booster = xgb.train({**PARAMS, "seed": 3}, matrix(data["train"], training), training.start)
    if training.options.get("stopped"):
        booster.set_attr(best_iteration="1", best_score="0.9")
    return booster


def params_of(training):
    return {name: value for name, value in {**PARAMS, **training.params}.items() if value is not None}


def objective_of(training, first):
    if training.objective is None:
        return {}, {}
    objective = ra.xgboost.objective(training.objective)
    return {"obj": objective}, objective.replay_params(first, base_score=0.5)


def xgb_train(training, data, objects, *, fails, custom=True, with_metric=True, decimals=None):
    data = data if custom else rows_of(training)
    log, snapshots, first = {}, Snapshots(training, data), matrix(training_rows(training, data), training)
    evals = [(first if name == "train" else matrix(data[name], training), name) for name in training.sets]
    obj, base = objective_of(training, first)
    booster = xgb.train(
        {**params_of(training), **base}, first, training.rounds, evals=evals if custom else [], evals_result=log,
        custom_metric=objects.metric if custom else None, verbose_eval=False, xgb_model=starting_model(training, data),
        callbacks=callbacks_of(training, objects, snapshots, with_metric=with_metric, fails=fails),
        **obj, **stopping_of(training),
    )  # fmt: skip
    ends_with_best = training.stop is None or training.options.get("stop", {}).get("save_best")
    predict = (lambda name: booster.predict(snapshots.matrices[name])) if ends_with_best else None
    best = booster.best_iteration if training.stop else 0
    return snapshots.trained(log, best, predict, decimals=decimals)


def training_rows(training, data):
    """Return the training rows in the order of their queries, as a DMatrix needs them."""
    return data["train"].in_order() if training.options.get("scattered") else data["train"]


def xgb_ranker(training, data, objects, *, fails):
    renamed = {"nthread": "n_jobs", "seed": "random_state"}
    params = {renamed.get(name, name): value for name, value in params_of(training).items()}
    evaluated, first = rows_of(training), data["train"]
    patience = PATIENCE if training.stop == "forgotten" else None
    ranker = xgb.XGBRanker(n_estimators=training.rounds, early_stopping_rounds=patience, **params)
    fit = {"sample_weight": first.query_weight} if training.weighted else {}
    fit |= {"base_margin": first.margin} if training.margin else {}
    fit |= training.options.get("fit", {})
    snapshots = Snapshots(training, evaluated)
    ranker.set_params(callbacks=callbacks_of(training, objects, snapshots, with_metric=True, fails=fails))
    for _ in range(training.options.get("fits", 1)):
        snapshots.rounds.clear()
        ranker = clone(ranker) if training.options.get("clones") else ranker
        ranker.fit(first.X, first.y, qid=first.qid, verbose=False, xgb_model=starting_model(training, data), **fit)
    log = ranker.evals_result()
    ranker = pickled(ranker.set_params(callbacks=None)) if training.options.get("pickles") else ranker
    margins = (lambda name: {"base_margin": evaluated[name].margin}) if training.margin else lambda name: {}
    predict = lambda name: ranker.predict(evaluated[name].X, **margins(name))  # noqa: E731
    return snapshots.trained(log, ranker.best_iteration if training.stop else 0, predict)


def xgb_cv(training, data, objects, *, fails, with_metric=False):
    snapshots = FoldSnapshots(training)
    first = matrix(data["train"], training)
    obj, base = objective_of(training, first)
    results = xgb.cv(
        {**params_of(training), **base}, first, training.rounds, nfold=3, custom_metric=objects.metric,
        callbacks=callbacks_of(training, objects, snapshots, with_metric=with_metric, fails=fails),
        as_pandas=False, seed=2, **obj, **stopping_of(training),
    )  # fmt: skip
    log = {name: {} for name in training.sets}
    for name, values in results.items():
        dataset, _, shown = name.removesuffix("-mean").partition("-")
        if name.endswith("-mean") and {"test": "valid"}.get(dataset, dataset) in log:
            log[{"test": "valid"}.get(dataset, dataset)][shown] = values
    return Trained(log, snapshots.value, len(snapshots.rounds), len(values) - 1, decimals=6)


def per_query(row):
    """Give XGBRanker a metric, which it calls with the rows of one query at a time."""
    rows, valid = Training(seed=1200).data()["train"], Training(seed=1200).data()["valid"]
    ranker = xgb.XGBRanker(n_estimators=2, n_jobs=1, eval_metric=ra.xgboost.eval_metric(NDCG))
    ranker.fit(rows.X, rows.y, qid=rows.qid, eval_set=[(valid.X, valid.y)], eval_qid=[valid.qid], verbose=False)


ALONE, CUSTOM, CALLBACK = "xgb.train(custom_metric=)", "xgb.train(callbacks=)", "xgb.train(EvalCallback)"
RUNNERS = {
    way: partial(train, runner=runner, objects_of=objects_of, seed=1200)
    for way, runner, objects_of in (
        (ALONE, partial(xgb_train, with_metric=False, decimals=6), metric_of),
        (CUSTOM, xgb_train, metric_of),
        (CALLBACK, partial(xgb_train, custom=False), callback_of),
        ("XGBRanker", xgb_ranker, callback_of),
        ("xgb.cv", xgb_cv, metric_of),
        ("xgb.cv(callbacks=)", partial(xgb_cv, with_metric=True), metric_of),
    )
}
RUNNERS |= {"XGBRanker.fit": per_query}


# The table

METRIC, EVAL_CALLBACK = f"{ALONE} | {CUSTOM}", f"{CALLBACK} | XGBRanker"
FULL, TRAIN = f"{CUSTOM} | {EVAL_CALLBACK}", f"{METRIC} | {EVAL_CALLBACK}"
EVERY_WAY = f"{TRAIN} | xgb.cv"
IGNORED = "ignores them"
COPIES = (("a copy", copy.copy), ("a deep copy", copy.deepcopy), ("a pickle", pickled))

START = 2  # rounds of a model from which early stopping continues
ROWS = [
    # Sets and measures
    Row(EVERY_WAY, "one set and one measure", EQUAL),
    Row(EVERY_WAY, "the training set first, and two measures", EQUAL, sets=("train", "valid"), measures=BOTH),
    Row(TRAIN, "three sets and three measures in any order", EQUAL, sets=("other", "train", "valid"),
        measures=(LOSS, NDCG, ERR)),
    Row(EVERY_WAY, "display names of one's own", EQUAL, measures=BOTH, names=("first", "second")),
    *(Row(f"{METRIC} | {CALLBACK} | xgb.cv", f"early_stopping_rounds and maximize= on {measure}", EQUAL,
          measures=(measure,), stop="toolkit", rounds=60, long=measure in {ERR, MRR})
      for measure in (NDCG, MAP, ERR, MRR, LOSS)),
    *(Row(EVERY_WAY, f"our early stopping on {measure}, the first of two", EQUAL, measures=(measure, WEIGHTED),
          watched=(("valid", measure),), stop="ours", rounds=60) for measure in (NDCG, MAP, LOSS)),
    Row(METRIC, "early_stopping_rounds watches the last metric of the last set", EQUAL,
        sets=TWO_SETS, measures=(LOSS, NDCG), watched=(("other", NDCG),), stop="toolkit", rounds=60),
    Row(TRAIN, "our early stopping on the first of two sets", EQUAL, sets=TWO_SETS, watched=(("valid", NDCG),),
        stop="ours", rounds=60),
    Row(TRAIN, "our early stopping on a measure by its own name", EQUAL, names=("mine",), stop="ours", rounds=60),
    Row(TRAIN, "our early stopping that keeps the best model", EQUAL, stop="ours", rounds=60,
        options={"stop": {"save_best": True}}),
    Row(FULL, "our early stopping on a measure that nobody reports",
        Error("No metric named", ValueError), measures=(MAP,), watched=(("valid", NDCG),), stop="ours"),
    # The direction of XGBoost's own early stopping
    *(Row(CUSTOM, f"maximize= forgotten for {measure}, which XGBoost guesses", EQUAL,
          measures=(measure,), stop="forgotten", rounds=60) for measure in (NDCG, LOSS)),
    Row("xgb.cv(callbacks=)", "maximize= given", EQUAL, measures=(MAP,), stop="toolkit", rounds=60),
    Row(f"{EVAL_CALLBACK} | xgb.cv(callbacks=)", "maximize= forgotten for lightgbm.map@10",
        Error("maximize=True"), measures=(MAP,), stop="forgotten", rounds=60),
    Row(f"{CALLBACK} | xgb.cv(callbacks=)", "maximize=True for a loss", Error("maximize=False"), measures=(LOSS,),
        stop="opposite", rounds=60),
    Row("XGBRanker", "early_stopping_rounds on a name that begins with ndcg", EQUAL, stop="forgotten", rounds=60),
    # Weights, margins and the order of rows
    Row(TRAIN, "weights that the convention uses", EQUAL, measures=(WEIGHTED,), weighted=True),
    Row(TRAIN, "weights that the convention ignores", Warns(IGNORED), weighted=True),
    Row(TRAIN, "weights, a loss, and early stopping", EQUAL, measures=(LOSS,), weighted=True, stop="ours", rounds=60),
    Row("xgb.cv", "weights, which xgb.cv drops", EQUAL, measures=(WEIGHTED,), weighted=True),
    Row(TRAIN, "base_margin of every set", EQUAL, margin=True),
    Row(TRAIN, "base_margin, weights and early stopping", EQUAL, margin=True, weighted=True, measures=(WEIGHTED,),
        stop="ours", rounds=60),
    Row(EVAL_CALLBACK, "evaluation sets of scattered rows", EQUAL, options={"scattered": True}, sets=TWO_SETS,
        measures=BOTH),
    Row(EVAL_CALLBACK, "evaluation sets of scattered rows with weights", EQUAL, options={"scattered": True},
        weighted=True,
        measures=(WEIGHTED,), stop="ours", rounds=60),
    Row(EVAL_CALLBACK, "a DMatrix as evaluation set", EQUAL, options={"matrix": True}, measures=BOTH),
    # Labels and queries
    Row(EVERY_WAY, "queries with nothing relevant", EQUAL, measures=(NDCG, WEIGHTED, MAP), labels="empty"),
    Row(TRAIN, "a validation set of one query", EQUAL, n_valid=1),
    Row(EVERY_WAY, "binary labels", EQUAL, long=True, measures=(MAP, MRR), labels="binary"),
    Row(f"{METRIC} | xgb.cv", "a threshold that float32 moves", EQUAL, measures=(FRACTIONAL,), labels="fractional",
        params={"objective": "reg:squarederror"}),
    Row(EVAL_CALLBACK, "a threshold that float32 does not move in a tuple of columns", EQUAL, measures=(FRACTIONAL,),
        labels="fractional", params={"objective": "rank:pairwise"}),
    # Boosters and samples
    Row(TRAIN, "dart", EQUAL, params={"verbosity": 0, "booster": "dart", "rate_drop": 0.3}),
    Row(TRAIN, "gblinear", EQUAL, params=LINEAR),
    Row(EVERY_WAY, "samples of rows and features", EQUAL, params={"subsample": 0.6, "colsample_bytree": 0.6},
        stop="ours", rounds=60),
    Row(TRAIN, "a forest of four trees a round", EQUAL, params={"num_parallel_tree": 4, "subsample": 0.8}, stop="ours",
        rounds=60),
    Row(EVERY_WAY, "rank:map", EQUAL, long=True, params={"objective": "rank:map"}, labels="binary", measures=(MAP,)),
    Row(TRAIN, "hist", EQUAL, long=True, params={"tree_method": "hist"}, stop="ours", rounds=60),
    Row(METRIC, "probabilities of binary:logistic", EQUAL, params={"objective": "binary:logistic"}, labels="binary"),
    # Declared objectives
    Row(f"{METRIC} | {CALLBACK} | xgb.cv", "a declared objective", EQUAL, objective=OBJECTIVE),
    Row(f"{METRIC} | xgb.cv", "a declared objective, weights and early stopping", EQUAL, objective=OBJECTIVE,
        measures=(NDCG,), stop="ours", rounds=60),
    Row(CUSTOM, "a declared objective, weights and base_margin", EQUAL, objective=OBJECTIVE,
        measures=(WEIGHTED,), weighted=True, margin=True),
    Row(CUSTOM, "a declared objective in two threads", EQUAL, objective=OBJECTIVE, threads=2),
    Row(CUSTOM, "a declared objective continues another model", EQUAL, objective=OBJECTIVE, start=5),
    # Repeated and continued trainings, copies and threads
    Row(TRAIN, "continued training", EQUAL, start=5),
    Row(TRAIN, "continued training and early stopping", EQUAL, start=START, stop="ours", rounds=60),
    Row(TRAIN, "continued training of a model that was stopped early", EQUAL, start=5, options={"stopped": True}),
    Row(EVERY_WAY, "the metric trained before", EQUAL, earlier="trained"),
    Row(EVERY_WAY, "a training that failed before", EQUAL, earlier="failed"),
    Row(EVERY_WAY, "our early stopping trained before", EQUAL, stop="ours", rounds=60, earlier="trained"),
    Row(EVERY_WAY, "our early stopping in a training that failed before", EQUAL, stop="ours", rounds=60,
        earlier="failed"),
    *(Row(EVERY_WAY, f"{name} of the metric and of our early stopping", EQUAL, stop="ours", rounds=60, change=change,
          long=change is not pickled)
      for name, change in COPIES),
    *(Row(EVERY_WAY, f"{name} of the metric after a training", EQUAL, change=change, earlier="trained",
          long=change is not pickled)
      for name, change in COPIES),
    *(Row(f"{CUSTOM} | XGBRanker", f"{name} of our early stopping after a training", EQUAL, stop="ours", rounds=60,
          change=change, earlier="trained") for name, change in COPIES),
    Row(f"{METRIC} | xgb.cv", "two threads with one metric", EQUAL, threads=2, measures=BOTH),
    Row(EVAL_CALLBACK, "two threads with one EvalCallback", EQUAL, threads=2, measures=BOTH),
    Row("XGBRanker", "a second fit", EQUAL, stop="ours", rounds=60, options={"fits": 2}),
    Row("XGBRanker", "a fit of a clone of an unfitted ranker", EQUAL, stop="ours", rounds=60, options={"clones": True}),
    Row("XGBRanker", "a fit of a clone of a fitted ranker", EQUAL, stop="ours", rounds=60,
        options={"fits": 2, "clones": True}),
    Row("XGBRanker", "a pickled ranker", EQUAL, stop="ours", rounds=60, options={"pickles": True}),
    # Callbacks in the wrong place
    Row(EVAL_CALLBACK, "early stopping before EvalCallback", EQUAL, stop="ours", rounds=60,
        options={"stop first": True}),
    Row("xgb.cv", "an EvalCallback", Error("cannot predict inside xgb.cv"),
        options={"callbacks": [ra.xgboost.EvalCallback(NDCG, [((np.eye(2), [0, 1], [0, 0]), "valid")])]}),
    Row(f"{CALLBACK} | XGBRanker", "the metric in callbacks= alone", Error("evaluated no set"),
        options={"callbacks": [ra.xgboost.eval_metric(NDCG)]}),
    Row(CUSTOM, "an EvalCallback of the same set and measure", Error("is reported twice a round"),
        options={"callbacks": [ra.xgboost.EvalCallback(NDCG, [((np.eye(2), [0, 1], [0, 0]), "valid")])]}),
    Row("XGBRanker.fit", "the metric as eval_metric=", Error("one query at a time")),
    Row(CUSTOM, "another metric object in callbacks=", Error("one object"),
        options={"callbacks": [ra.xgboost.eval_metric(NDCG)]}),
]  # fmt: skip


@pytest.mark.parametrize(("row", "runner"), cases(ROWS, RUNNERS))
def test_a_training_does_what_its_row_says(row, runner):
    check(row, partial(runner, row))
