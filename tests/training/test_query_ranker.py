"""Trainings of QueryRanker: what may be combined with each toolkit's ranker, and what must happen.

QueryRanker gets scattered rows; by hand, the toolkit itself trains on the rows query by query.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np
import pytest

import rankadapters as ra
from tests.training.training_table import (
    EQUAL,
    ERR,
    LOSS,
    MAP,
    MRR,
    NDCG,
    PATIENCE,
    Error,
    Objects,
    Row,
    Trained,
    Training,
    Warns,
    cases,
    check,
    pickled,
    same,
    train,
)

sklearn = pytest.importorskip("sklearn")
cb, lgb, xgb = (pytest.importorskip(name) for name in ("catboost", "lightgbm", "xgboost"))
from sklearn.base import clone  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from rankadapters.sklearn import QueryRanker  # noqa: E402

OBJECTIVE = "lightgbm.lambdarank"
WEIGHTED = MAP
FRACTION = 0.45


# Toolkits: a ranker, and the same training by hand


class LightGBM:
    margin, margin_of_sets = "init_score", "eval_init_score"
    params: ClassVar = {
        "num_leaves": 7, "min_child_samples": 5, "learning_rate": 0.1, "n_jobs": 1, "verbosity": -1, "random_state": 1,
    }  # fmt: skip

    def ranker(self, training):
        patience = {"early_stopping_rounds": PATIENCE} if training.stop else {}
        return lgb.LGBMRanker(n_estimators=training.rounds, **{**self.params, **patience, **training.params})

    def by_hand(self, training, rows, weight, margin):
        """Train on rows in order; return a function that predicts with the trees of the first rounds."""
        ranker = lgb.LGBMRanker(n_estimators=training.rounds, **{**self.params, **training.params})
        if training.objective:
            ranker.set_params(objective=ra.lightgbm.objective(training.objective), metric="None")
        ranker.fit(rows.X, rows.y, group=rows.sizes, sample_weight=weight, init_score=margin)
        return lambda X, rounds, margin=0: ranker.predict(X, num_iteration=rounds) + margin

    def best(self, ranker):
        return ranker.best_iteration_ - 1


class XGBoost:
    margin, margin_of_sets = "base_margin", "base_margin_eval_set"
    params: ClassVar = {"max_depth": 3, "learning_rate": 0.1, "n_jobs": 1, "random_state": 1, "tree_method": "exact"}

    def ranker(self, training):
        patience = {"early_stopping_rounds": PATIENCE} if training.stop else {}
        return xgb.XGBRanker(n_estimators=training.rounds, **{**self.params, **patience, **training.params})

    def by_hand(self, training, rows, weight, margin):
        """Train on rows in order; return a function that predicts with the trees of the first rounds."""
        weight = None if weight is None else rows.query_weight
        first = xgb.DMatrix(rows.X, rows.y, qid=rows.qid, weight=weight, base_margin=margin)
        params, options = {"objective": "rank:ndcg", **self.params, **training.params}, {}
        if training.objective:
            options["obj"] = ra.xgboost.objective(training.objective)
            params |= options["obj"].replay_params(first)
        booster = xgb.train(params, first, training.rounds, **options)

        def predict(X, rounds, margin=None):
            return booster.predict(xgb.DMatrix(X, base_margin=margin), iteration_range=(0, rounds))

        return predict

    def best(self, ranker):
        return ranker.best_iteration


class CatBoost:
    margin, margin_of_sets = "baseline", None
    params: ClassVar = {
        "depth": 3, "learning_rate": 0.2, "thread_count": 1, "random_seed": 1, "allow_writing_files": False,
        "verbose": False,
    }  # fmt: skip

    def ranker(self, training):
        patience = {"early_stopping_rounds": PATIENCE} if training.stop else {"use_best_model": False}
        return cb.CatBoostRanker(iterations=training.rounds, **{**self.params, **patience, **training.params})

    def by_hand(self, training, rows, weight, margin):
        """Train on rows in order; return a function that predicts with the trees of the first rounds."""
        pool = cb.Pool(rows.X, rows.y, group_id=rows.qid, group_weight=weight, baseline=margin)
        params = {**self.params, **training.params, "iterations": training.rounds}
        if training.objective:
            params = {name: value for name, value in params.items() if name not in {"allow_writing_files", "verbose"}}
            model = ra.catboost.train(params, pool, training.objective)
        else:
            model = cb.CatBoostRanker(**params).fit(pool)
        return lambda X, rounds, margin=0: model.predict(X, ntree_end=rounds) + margin

    def best(self, ranker):
        return ranker.get_best_iteration()


# Runners


def no_objects(training):
    """Return nothing: QueryRanker makes the metric itself."""
    return Objects(None)


def divided(rows):
    """Return the rows that validation_fraction keeps, and those of the queries with the smallest hashes of ids."""
    queries = ra.Queries(rows.y, qid=rows.qid)
    n_held = round(FRACTION * queries.n_queries)
    held = np.isin(rows.qid, np.array(queries.query_ids)[np.argsort(queries.id_hashes, kind="stable")[:n_held]])
    return rows.take(~held), rows.take(held)


def fit_arguments(training, data, toolkit, *, validates):
    first, options = data["train"], training.options
    sets = [data[name] for name in training.sets]
    arguments = {"qid": first.qid, **options.get("fit", {})}
    if training.weighted:
        arguments["sample_weight"] = first.row_weight
    if training.margin:
        arguments[toolkit.margin] = first.margin
    if validates and "fraction" not in options:
        weights = [[rows.row_weight] if training.weighted else [] for rows in sets]
        arguments["eval_set"] = [
            (rows.X, rows.y, rows.qid, *weight) for rows, weight in zip(sets, weights, strict=True)
        ]
        if options.get("margin of sets"):
            arguments[toolkit.margin_of_sets] = [rows.margin for rows in sets]
    return arguments


def query_ranker(training, toolkit, *, validates):
    estimator, options = toolkit.ranker(training), training.options
    own = {"objective": training.objective}
    if validates:
        own |= {"eval_metric": training.measures[0], "validation_fraction": options.get("fraction")}
    elif toolkit is CATBOOST:
        estimator.set_params(use_best_model=None)
    return QueryRanker(make_pipeline(StandardScaler(), estimator) if options.get("pipeline") else estimator, **own)


def by_hand(training, parts, toolkit):
    """Train by hand; return a function that predicts a set with the trees of the first rounds."""
    rows = parts["train"].in_order()
    scale = StandardScaler().fit(rows.X).transform if training.options.get("pipeline") else lambda X: X
    weight, margin = rows.row_weight if training.weighted else None, rows.margin if training.margin else None
    predict = toolkit.by_hand(training, replace(rows, X=scale(rows.X)), weight, margin)
    counts = training.margin and {"fraction", "margin of sets"} & {*training.options}  # in the values of the sets

    def scores(name, rounds, *, logged):
        margins = {"margin": parts[name].margin} if counts and logged else {}
        return predict(scale(parts[name].X), rounds, **margins)

    return scores


def rows_of(training, data):
    """Return the rows that QueryRanker gets, and those that it trains and evaluates on."""
    if not training.options.get("in order"):
        data = {name: rows.scattered() for name, rows in data.items()}
    if "fraction" not in training.options:
        return data, data
    kept, held = divided(data["train"])
    return data, {**data, "train": kept, "valid": held}


def fit(training, data, objects, *, fails, toolkit):
    data, parts = rows_of(training, data)
    scores = by_hand(training, parts, toolkit)
    ranker = query_ranker(training, toolkit, validates=True)
    for _ in range(training.options.get("fits", 1)):
        ranker = training.options.get("change", lambda ranker: ranker)(ranker)
        ranker.fit(data["train"].X, data["train"].y, **fit_arguments(training, data, toolkit, validates=True))
    ranker = pickled(ranker) if training.options.get("pickles") else ranker
    log = {}
    for name, entries in zip(training.sets, ranker.history_.series().values(), strict=True):
        log[name] = {entries[0].name: [entry.value for entry in entries]}
    last = ranker.estimator_.steps[-1][1] if training.options.get("pipeline") else ranker.estimator_
    best = toolkit.best(last) if training.stop else len(entries) - 1
    expected = scores("valid", best + 1, logged=False)
    same("the predictions", ranker.predict(parts["valid"].X).tolist(), expected.tolist())

    def value(name, measure, index):
        return parts[name].value(scores(name, index + 1, logged=True), measure, weighted=training.weighted)

    return Trained(log, value, len(entries), best)


def predictions(row, toolkit, seed):
    """Fit without validation sets, and compare the predictions of the last round."""
    training = Training(seed=seed, **row.settings)
    data, parts = rows_of(training, training.data())
    ranker = query_ranker(training, toolkit, validates=False)
    ranker.fit(data["train"].X, data["train"].y, **fit_arguments(training, data, toolkit, validates=False))
    expected = by_hand(training, parts, toolkit)("valid", training.rounds, logged=False)
    same("the predictions", ranker.predict(data["valid"].X).tolist(), expected.tolist())


LIGHTGBM, XGBOOST, CATBOOST = LightGBM(), XGBoost(), CatBoost()
TOOLKITS = (("LGBMRanker", LIGHTGBM, 600), ("XGBRanker", XGBOOST, 1200), ("CatBoostRanker", CATBOOST, 100))
RUNNERS = {}
for name, toolkit, seed in TOOLKITS:
    runner = partial(fit, toolkit=toolkit)
    RUNNERS[f"QueryRanker({name})"] = partial(train, runner=runner, objects_of=no_objects, seed=seed)
    RUNNERS[f"QueryRanker({name}) without sets"] = partial(predictions, toolkit=toolkit, seed=seed)


# The table

LGBM, XGB, CAT = (f"QueryRanker({name})" for name, _, _ in TOOLKITS)
EVERY = f"{LGBM} | {XGB} | {CAT}"
ALONE = " | ".join(f"{way} without sets" for way in (LGBM, XGB, CAT))
IGNORED = "ignores them"
STOPS = {"stop": "toolkit", "rounds": 60}
TWO_SETS = ("valid", "other")

ROWS = [
    Row(EVERY, "scattered rows", EQUAL),
    Row(EVERY, "rows in order", EQUAL, options={"in order": True}),
    Row(ALONE, "scattered rows", EQUAL),
    Row(EVERY, "two sets", EQUAL, sets=TWO_SETS),
    Row(EVERY, "held out queries", EQUAL, options={"fraction": FRACTION}),
    *(Row(EVERY, f"early stopping on {measure}", EQUAL, measures=(measure,), long=measure == ERR, **STOPS)
      for measure in (NDCG, MAP, ERR, LOSS)),
    Row(CAT, f"early stopping on {MRR}, which CatBoost computes itself", EQUAL, measures=(MRR,), **STOPS),
    Row(EVERY, "early stopping on held out queries", EQUAL, options={"fraction": FRACTION}, **STOPS),
    # Weights and margins
    Row(EVERY, "weights that the convention uses", EQUAL, measures=(WEIGHTED,), weighted=True),
    Row(EVERY, "weights that the convention ignores", Warns(IGNORED), weighted=True),
    Row(EVERY, "weights, a loss, held out queries, and early stopping", EQUAL, measures=(LOSS,), weighted=True,
        options={"fraction": FRACTION}, **STOPS),
    Row(ALONE, "a margin of every row", EQUAL, margin=True),
    Row(f"{LGBM} | {XGB}", "a margin of every row, and of every row of two sets", EQUAL, margin=True, sets=TWO_SETS,
        options={"margin of sets": True}),
    Row(EVERY, "a margin of every row, and held out queries", EQUAL, margin=True, options={"fraction": FRACTION}),
    Row(ALONE, "a margin of every row, weights, and a declared objective", EQUAL, margin=True, weighted=True,
        objective=OBJECTIVE),
    # Objectives, boosters and samples
    Row(EVERY, "a declared objective", EQUAL, objective=OBJECTIVE),
    Row(EVERY, "a declared objective, weights and early stopping", EQUAL, objective=OBJECTIVE, measures=(WEIGHTED,),
        weighted=True, **STOPS),
    Row(LGBM, "bagging by query", EQUAL, params={"subsample": 0.6, "subsample_freq": 1, "bagging_by_query": True},
        **STOPS),
    Row(XGB, "samples of rows and features", EQUAL, params={"subsample": 0.6, "colsample_bytree": 0.6}, **STOPS),
    Row(LGBM, "LightGBM's own metric beside ours", EQUAL, params={"metric": "map"}, **STOPS),
    Row(XGB, "XGBoost's own metric beside ours", EQUAL, params={"eval_metric": "map"}, **STOPS),
    # Pipelines, continued and repeated trainings
    Row(EVERY, "a pipeline inside", EQUAL, options={"pipeline": True}, **STOPS),
    Row(EVERY, "a pipeline inside, and held out queries", EQUAL, options={"pipeline": True, "fraction": FRACTION}),
    *(Row(EVERY, f"a second fit of {name}", EQUAL, options={"fits": 2, "change": change},
          long=change is not clone, **STOPS)
      for name, change in (("itself", lambda ranker: ranker), ("a clone", clone), ("a deep copy", copy.deepcopy),
                           ("a pickle", pickled))),
    Row(EVERY, "a pickled ranker", EQUAL, options={"pickles": True}, **STOPS),
    Row(EVERY, "two threads", EQUAL, threads=2, **STOPS),
    Row(CAT, "a declared objective continues another model", Error("init_model"), objective=OBJECTIVE,
        options={"fit": {"init_model": cb.CatBoost({"iterations": 1})}}),
]  # fmt: skip


@pytest.mark.parametrize(("row", "runner"), cases(ROWS, RUNNERS))
def test_a_training_does_what_its_row_says(row, runner):
    check(row, partial(runner, row))
