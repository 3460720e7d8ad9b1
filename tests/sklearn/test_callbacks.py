"""scikit-learn 1.9's callbacks on QueryRanker: rounds are tasks, and ScoringMonitor records the declared values."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import rankadapters as ra
from tests.helpers.callback_recorders import ModelRecorder, Recorder, recorded_values
from tests.helpers.rankings import ranking
from tests.helpers.tables import for_each
from tests.helpers.toolkit_rankers import RANKERS, ROUNDS, catboost, lightgbm

sklearn = pytest.importorskip("sklearn")
callback = pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 brings callbacks")

from sklearn.experimental import enable_halving_search_cv  # noqa: E402, F401 - brings HalvingGridSearchCV
from sklearn.linear_model import LogisticRegression, Ridge  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    cross_validate,
)
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from rankadapters.sklearn import QueryKFold, QueryRanker, query_scorer  # noqa: E402

DATA, VALID = ranking(3, 60), ranking(4, 30)
EVAL_SET = [(VALID.X, VALID.y, VALID.qid)]
CONV, LIGHTGBM, WEIGHTED = "textbook@5", "lightgbm@3", ra.presets.lightgbm(5).replace(average="query")
SHUFFLED = np.random.default_rng(0).permutation(DATA.y.size)
WEIGHTS = np.repeat(np.arange(1.0, 1 + DATA.sizes.size) % 4 + 1, DATA.sizes)
FRAME = pd.DataFrame(DATA.X, columns=list("abcde"))
for_every_toolkit = pytest.mark.parametrize("make", RANKERS)


def ranker_of_rounds(make, n_rounds):
    return make(**{"iterations" if make is catboost else "n_estimators": n_rounds})


def value_of(model, X, y, qid, convention=CONV, **columns):
    return ra.evaluate(y, model.predict(X), convention, qid=qid, **columns).value


def fit_monitored(model, scoring, X=DATA.X, y=DATA.y, qid=DATA.qid, **options):
    monitor = callback.ScoringMonitor(scoring=scoring)
    return model.set_callbacks(monitor).fit(X, y, qid=qid, **options), monitor


# Tasks


@for_every_toolkit
@pytest.mark.parametrize("kind", [Recorder, ModelRecorder])
def test_a_callback_stops_the_training(make, kind):
    recorder = kind(stop_after=4)
    model = QueryRanker(make()).set_callbacks(recorder).fit(DATA.X, DATA.y, qid=DATA.qid)
    shorter = QueryRanker(ranker_of_rounds(make, 4)).fit(DATA.X, DATA.y, qid=DATA.qid)
    if make is catboost and kind is ModelRecorder:  # rounds are reported after the training
        assert model.estimator_.tree_count_ == ROUNDS
        return
    assert recorder.begun[:5] == [("fit", 0, ROUNDS), *(("round", number, 0) for number in range(4))]
    assert recorder.ended == [*(("round", number) for number in range(4)), ("fit", 0)]
    assert recorder.n_open == 0
    assert np.array_equal(model.predict(VALID.X), shorter.predict(VALID.X))


@for_every_toolkit
def test_every_round_is_a_task_with_the_trees_so_far_and_callbacks_change_no_model(make):
    keep_all_trees = {"use_best_model": False} if make is catboost else {}
    watched, plain = (QueryRanker(make(**keep_all_trees), eval_metric=CONV) for _ in range(2))
    watched.set_callbacks(recorder := ModelRecorder(), Recorder())
    for model in (watched, plain):
        model.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=EVAL_SET)
    assert recorder.begun == [("fit", 0, ROUNDS), *(("round", iteration, 0) for iteration in range(ROUNDS))]
    assert recorder.ended == [*(("round", iteration) for iteration in range(ROUNDS)), ("fit", 0)]
    assert recorder.n_open == 0
    assert [name for name, *_ in recorder.records] == [*["round"] * ROUNDS, "fit"]
    for iteration in (0, 5, ROUNDS - 1):
        _, X, y, _, model = recorder.records[iteration]
        assert X is DATA.X
        assert y is DATA.y
        shorter = QueryRanker(ranker_of_rounds(make, iteration + 1)).fit(DATA.X, DATA.y, qid=DATA.qid)
        assert np.array_equal(model.predict(VALID.X), shorter.predict(VALID.X))
    assert np.array_equal(watched.predict(VALID.X), plain.predict(VALID.X))
    assert [entry.value for entry in watched.history_] == [entry.value for entry in plain.history_]
    assert not {"_training_rows", "_callback_fit_ctx"} & set(vars(watched))


@for_every_toolkit
def test_a_training_that_stops_early_reports_its_rounds_and_ends_every_task(make):
    recorder = ModelRecorder()
    inner = ranker_of_rounds(make, 60).set_params(early_stopping_rounds=3, learning_rate=0.5)
    model = QueryRanker(inner, eval_metric=CONV).set_callbacks(recorder)
    model.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=EVAL_SET)
    n_rounds = len({entry.iteration for entry in model.history_})
    reported = [name for name, *_ in recorder.records[:-1]]
    assert len(reported) == (model.estimator_.tree_count_ if make is catboost else n_rounds) < 60
    assert len(recorder.ended) == len(recorder.begun) == len(reported) + 2  # the fit, and the round after the last
    assert recorder.ended[-1] == ("fit", 0)


def test_lightgbm_callbacks_are_called_beside_scikit_learns():
    lgb = pytest.importorskip("lightgbm")
    log = {}
    recorder = Recorder()
    model = QueryRanker(lightgbm(metric="ndcg")).set_callbacks(recorder)
    model.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=EVAL_SET, callbacks=[lgb.record_evaluation(log)])
    assert len(log["valid_0"]["ndcg@5"]) == ROUNDS == len(recorder.ended) - 1


class StopInThirdRound:
    def after_iteration(self, info):
        return info.iteration < 3


@pytest.mark.parametrize("objective", [None, ra.objectives.lambdarank(CONV, truncation=10)])
def test_catboost_callbacks_are_called_beside_scikit_learns(objective):
    recorder = Recorder()
    model = QueryRanker(catboost(), objective=objective).set_callbacks(recorder)
    model.fit(DATA.X, DATA.y, qid=DATA.qid, callbacks=[StopInThirdRound()])
    assert model.estimator_.tree_count_ == 3
    assert [task for task in recorder.ended if task[0] == "round"][:3] == [("round", number) for number in range(3)]


def test_fit_keeps_its_name_and_docstring():
    assert (QueryRanker.fit.__name__, QueryRanker.fit.__doc__.partition("\n")[0][:3]) == ("fit", "Fit")


def test_a_fit_that_fails_leaves_no_task_open():
    recorder = Recorder()
    model = QueryRanker(lightgbm(num_leaves=-1)).set_callbacks(recorder)
    with pytest.raises(Exception, match="num_leaves"):
        model.fit(DATA.X, DATA.y, qid=DATA.qid)
    assert recorder.n_open == 0


def test_the_number_of_rounds_is_unknown_if_given_by_a_lightgbm_alias():
    recorder = Recorder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # LightGBM warns which alias it uses
        QueryRanker(lightgbm(num_trees=5)).set_callbacks(recorder).fit(DATA.X, DATA.y, qid=DATA.qid)
    assert recorder.begun[0] == ("fit", 0, None)
    assert len(recorder.ended) == 6 + 1  # a sixth round begins when the last one ends


# ScoringMonitor


def shuffled_rows(table):
    """Return the shuffled rows as one kind of table, with their labels and query ids."""
    X = {"array": DATA.X, "list": DATA.X, "frame": FRAME, "column": FRAME.assign(query=DATA.qid)}[table]
    X = X.iloc[SHUFFLED].reset_index(drop=True) if hasattr(X, "iloc") else X[SHUFFLED]
    y, qid = DATA.y[SHUFFLED], DATA.qid[SHUFFLED]
    return (X, y.tolist(), qid.tolist()) if table == "list" else (X, y, None if table == "column" else qid)


OBJECTIVE = {"objective": ra.objectives.lambdarank(CONV, truncation=10)}
CASES = [
    *(("array", options, routed, False) for options in ({}, OBJECTIVE) for routed in (False, True)),
    *((kind, {"qid": "query"} if kind == "column" else {}, False, False) for kind in ("frame", "list", "column")),
    ("array", {}, False, True),
]


@for_every_toolkit
@for_each(("table", "options", "routed", "piped"), CASES)
def test_the_monitor_records_the_declared_value_of_every_round(make, table, options, routed, piped):
    def ranker(n_rounds):
        inner = ranker_of_rounds(make, n_rounds)
        return QueryRanker(make_pipeline(StandardScaler(), inner) if piped else inner, **options)

    X, y, qid = shuffled_rows(table)
    with sklearn.config_context(enable_metadata_routing=routed):
        model, monitor = fit_monitored(ranker(ROUNDS), query_scorer(CONV), X, y, qid)
    values, last = recorded_values(monitor)
    assert len(values) == ROUNDS
    assert values[-1] == last == value_of(model, X, y, DATA.qid[SHUFFLED])
    for n_rounds_fitted in (1, ROUNDS // 2):
        shorter = ranker(n_rounds_fitted).fit(X, y, qid=qid)
        assert values[n_rounds_fitted - 1] == value_of(shorter, X, y, DATA.qid[SHUFFLED])


@for_every_toolkit
def test_scikit_learn_scorers_work_beside_declared_ones_in_a_dict(make):
    scoring = {**query_scorer([CONV, LIGHTGBM], names=["a", "b"]), "r2": "r2", "own": largest_score}
    scoring["r2"] = sklearn.metrics.get_scorer("r2")
    model, monitor = fit_monitored(QueryRanker(make()), scoring)
    scores = model.predict(DATA.X)
    assert recorded_values(monitor, "a")[1] == ra.evaluate(DATA.y, scores, CONV, qid=DATA.qid).value
    assert recorded_values(monitor, "b")[1] == ra.evaluate(DATA.y, scores, LIGHTGBM, qid=DATA.qid).value
    assert recorded_values(monitor, "r2")[1] == sklearn.metrics.r2_score(DATA.y, scores)
    assert recorded_values(monitor, "own")[1] == scores.max()


def largest_score(estimator, X, y):
    return estimator.predict(X).max()


WITHOUT_WEIGHTS = pytest.mark.xfail(
    strict=True, raises=TypeError,
    reason="scikit-learn 1.9.1 passes the weights of the rows to scorers that request none, under metadata routing: "
    "https://github.com/scikit-learn/scikit-learn/blob/1.9.1/sklearn/callback/_scoring_monitor.py#L176",
)  # fmt: skip


@pytest.mark.parametrize(
    ("convention", "routed"),
    [(CONV, False), (WEIGHTED, False), (WEIGHTED, True), pytest.param(CONV, True, marks=WITHOUT_WEIGHTS)],
)
def test_weights_count_if_the_convention_uses_them(convention, routed):
    with sklearn.config_context(enable_metadata_routing=routed):
        model, monitor = fit_monitored(QueryRanker(lightgbm()), query_scorer(convention), sample_weight=WEIGHTS)
    first_rows = np.unique(DATA.qid, return_index=True)[1]
    weights = {"query_weight": WEIGHTS[np.sort(first_rows)]} if convention is WEIGHTED else {}
    assert recorded_values(monitor)[1] == value_of(model, DATA.X, DATA.y, DATA.qid, convention, **weights)


def test_the_model_of_a_round_knows_the_queries_of_its_training_rows_only():
    recorder, scorer = ModelRecorder(), query_scorer(CONV)
    QueryRanker(lightgbm(), convention=CONV).set_callbacks(recorder).fit(DATA.X, DATA.y, qid=DATA.qid)
    _, X, y, _, model = recorder.records[3]
    assert model.score(X, y) == scorer(model, X, y) == value_of(model, DATA.X, DATA.y, DATA.qid)
    with pytest.raises(ra.InputError, match="score got no qid"):
        model.score(X.copy(), y)
    with pytest.raises(ra.InputError, match="got no 'qid'"):
        scorer(model, X.copy(), y)


@pytest.mark.xfail(
    strict=True, raises=TypeError,
    reason="scikit-learn 1.9.1 expects a dict of values where an estimator's own score gives one number: "
    "https://github.com/scikit-learn/scikit-learn/blob/1.9.1/sklearn/callback/_scoring_monitor.py#L176",
)  # fmt: skip
def test_without_scoring_the_monitor_records_the_score_of_the_estimator():
    model, monitor = fit_monitored(QueryRanker(lightgbm(), convention=CONV), None)
    assert recorded_values(monitor)[1] == model.score(DATA.X, DATA.y, qid=DATA.qid)


@for_every_toolkit
def test_held_out_queries_are_not_scored(make):
    recorder = ModelRecorder()
    model = QueryRanker(make(), validation_fraction=0.3, eval_metric=CONV)
    frame = FRAME.iloc[SHUFFLED].reset_index(drop=True)
    model, monitor = fit_monitored(model, query_scorer(CONV), frame, DATA.y[SHUFFLED], DATA.qid[SHUFFLED])
    model.set_callbacks(recorder).fit(frame, DATA.y[SHUFFLED], qid=DATA.qid[SHUFFLED])
    _, X, y, _, last_model = recorder.records[-1]
    training_rows = X.index.to_numpy()
    assert (np.diff(training_rows) > 0).all()
    assert 0.6 < training_rows.size / SHUFFLED.size < 0.8
    assert np.array_equal(DATA.y[SHUFFLED][training_rows], y)
    assert recorded_values(monitor)[1] == value_of(last_model, X, y, DATA.qid[SHUFFLED][training_rows])


HALVING = {"resource": "estimator__n_estimators", "min_resources": 4, "max_resources": 8, "factor": 2}
SEARCHES = {
    "grid": (GridSearchCV, {}),
    "randomized": (RandomizedSearchCV, {"n_iter": 2}),
    "halving": (HalvingGridSearchCV, HALVING),
    "halving-random": (HalvingRandomSearchCV, {**HALVING, "n_candidates": 2, "random_state": 0}),
}


def make_search(model, kind="grid", **arguments):
    search, options = SEARCHES[kind]
    grid = {"estimator__num_leaves": [4, 8]}
    return search(model, grid, scoring=query_scorer(CONV), cv=QueryKFold(3), **options, **arguments)


@pytest.mark.parametrize(("kind", "n_jobs"), [("grid", 2), *((kind, 1) for kind in SEARCHES)])
def test_the_monitor_records_every_fold_of_a_search(kind, n_jobs):
    monitor = callback.ScoringMonitor(scoring=query_scorer(CONV))
    with sklearn.config_context(enable_metadata_routing=True):
        model = QueryRanker(lightgbm()).set_callbacks(monitor)
        search = make_search(model, kind, n_jobs=n_jobs).fit(DATA.X, DATA.y, qid=DATA.qid)
    rows = monitor.get_logs().data
    fits = [row for row in rows if row["estimator_name"] == "QueryRanker" and row["task_name"] == "fit"]
    assert len(fits) == len(search.cv_results_["params"]) * 3 + 1  # every fold, and the refit
    refitted = value_of(search.best_estimator_, DATA.X, DATA.y, DATA.qid)
    assert refitted in [row["score"] for row in fits]
    for fold, (train, _) in enumerate(QueryKFold(3).split(DATA.X, DATA.y, DATA.qid)):
        resources = {"estimator__n_estimators": 4} if kind.startswith("halving") else {}
        fold_model = search.best_estimator_.__sklearn_clone__().set_callbacks()
        fold_model.set_params(**{**search.cv_results_["params"][0], **resources}).fit(
            DATA.X[train], DATA.y[train], qid=DATA.qid[train]
        )
        expected = value_of(fold_model, DATA.X[train], DATA.y[train], DATA.qid[train])
        assert expected in [row["score"] for row in fits], fold


def test_the_monitor_records_every_fold_of_a_cross_validation():
    monitor = callback.ScoringMonitor(scoring=query_scorer(CONV))
    with sklearn.config_context(enable_metadata_routing=True):
        cv = cross_validate(
            QueryRanker(lightgbm()).set_callbacks(monitor), DATA.X, DATA.y, scoring=query_scorer(CONV),
            cv=QueryKFold(3), params={"qid": DATA.qid}, return_train_score=True,
        )  # fmt: skip
    scores = [next(row["score"] for row in log.data if row["task_name"] == "fit") for log in monitor.get_logs("all")]
    assert sorted(scores) == sorted(cv["train_score"])


def test_the_monitor_records_a_ranker_that_ends_a_pipeline():
    monitor = callback.ScoringMonitor(scoring=query_scorer(CONV))
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), QueryRanker(lightgbm()).set_callbacks(monitor))
        pipeline.fit(DATA.X, DATA.y, qid=DATA.qid)
    assert monitor.get_logs().data[0]["score"] == value_of(pipeline, DATA.X, DATA.y, DATA.qid)


@pytest.mark.xfail(
    strict=True, raises=ValueError,
    reason="scikit-learn 1.9.1 hands callbacks of a search no fitted estimator: "
    "https://github.com/scikit-learn/scikit-learn/blob/1.9.1/sklearn/model_selection/_search.py#L1192",
)  # fmt: skip
def test_the_monitor_may_be_set_on_a_search():
    monitor = callback.ScoringMonitor(scoring=query_scorer(CONV))
    with sklearn.config_context(enable_metadata_routing=True):
        make_search(QueryRanker(lightgbm())).set_callbacks(monitor).fit(DATA.X, DATA.y, qid=DATA.qid)
    monitor.get_logs()


# Estimators that are not rankers


def test_an_estimator_with_callbacks_reports_its_own_tasks():
    recorder = Recorder()
    labels = (DATA.y > 1).astype(int)
    classifier = LogisticRegression(max_iter=50).set_callbacks(recorder)
    model, monitor = fit_monitored(QueryRanker(classifier), query_scorer(CONV), y=labels)
    assert recorded_values(monitor)[1] == value_of(model, DATA.X, labels, DATA.qid)
    assert len(recorded_values(monitor)[0]) == 0
    assert recorder.ended[0] == ("lbfgs-iter", 0)
    assert recorder.ended[-1] == ("fit", 0)


def test_a_fit_of_an_estimator_without_callbacks_is_one_task():
    recorder = Recorder()
    QueryRanker(Ridge()).set_callbacks(recorder).fit(DATA.X, DATA.y)
    assert recorder.begun == [("fit", 0, 0)]
    assert recorder.ended == [("fit", 0)]


# ProgressBar


@for_every_toolkit
def test_the_progress_bar_shows_the_rounds(make, capsys):
    pytest.importorskip("rich")
    QueryRanker(make()).set_callbacks(callback.ProgressBar()).fit(DATA.X, DATA.y, qid=DATA.qid)
    shown = capsys.readouterr().out
    assert "QueryRanker - fit" in shown
    assert "100%" in shown


def test_the_progress_bar_of_a_search_reaches_the_ranker(capsys):
    pytest.importorskip("rich")
    with sklearn.config_context(enable_metadata_routing=True):
        search = make_search(QueryRanker(lightgbm())).set_callbacks(callback.ProgressBar())
        search.fit(DATA.X, DATA.y, qid=DATA.qid)
    shown = capsys.readouterr().out
    assert "GridSearchCV - fit" in shown
    assert "candidate-split-evaluation | QueryRanker - fit" in shown
