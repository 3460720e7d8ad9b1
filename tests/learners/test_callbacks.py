"""Callbacks of scikit-learn 1.9 on the learners: rounds are tasks, and ScoringMonitor records the declared values."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.callback_recorders import ModelRecorder, Recorder, rounds
from tests.helpers.rankings import ranking

sklearn = pytest.importorskip("sklearn")
callback = pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 brings callbacks")

from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402

from rankadapters.learners import AdaRank, CoordinateAscent, NeuralRanker, RankBoost, RankSVM  # noqa: E402
from rankadapters.sklearn import QueryKFold, query_scorer  # noqa: E402

CONV = "textbook@5"
DATA, VALID = ranking(1, 30), ranking(2, 20)
EVAL_SET = [(VALID.X, VALID.y, VALID.qid)]
OBJECTIVE = ra.objectives.catboost.pair_logit()
ROUNDS = {
    "AdaRank": AdaRank(CONV, max_iter=5, tol=0.1),
    "CoordinateAscent": CoordinateAscent(CONV, n_restarts=1, n_steps=4, max_iter=5, tol=0.0, random_state=0),
    "NeuralRanker": NeuralRanker(OBJECTIVE, convention=CONV, max_iter=5, random_state=0, learning_rate_init=0.1),
    "RankBoost": RankBoost(CONV, max_iter=5),
}
OTHERS = {
    "AdaRank-ranklib": AdaRank(CONV, max_iter=12, variant="ranklib"),
    "CoordinateAscent-restarts": CoordinateAscent(CONV, n_restarts=3, n_steps=4, max_iter=4, random_state=0),
    "RankBoost-without": RankBoost(max_iter=5),
    "RankSVM": RankSVM(C=0.01, convention=CONV),
}
MOST_ROUNDS = dict(zip(OTHERS.values(), [None, 12, 5, 0], strict=True))  # of the others 5
every = pytest.mark.parametrize("learner", {**ROUNDS, **OTHERS}.values(), ids={**ROUNDS, **OTHERS})
by_rounds = pytest.mark.parametrize("learner", ROUNDS.values(), ids=ROUNDS)


def fitted(learner, *callbacks, **fit):
    return clone(learner).set_callbacks(*callbacks).fit(DATA.X, DATA.y, qid=DATA.qid, **fit)


@every
@pytest.mark.parametrize("validated", [False, True])
def test_tasks_are_the_rounds_of_the_history(learner, validated):
    validated = validated and learner.convention is not None  # validation needs a convention
    recorder, models = Recorder(), ModelRecorder()
    model = fitted(learner, recorder, models, **({"eval_set": EVAL_SET} if validated else {}))
    if isinstance(learner, RankSVM):
        n_rounds = 0
    else:
        n_rounds = learner.max_iter if learner.convention is None else model.history_[-1].iteration + 1
    assert [name for name, *_ in models.seen] == [*["round"] * n_rounds, "fit"]
    assert recorder.begun[0][:2] == ("fit", 0)
    assert recorder.begun[0][2] == MOST_ROUNDS.get(learner, 5)
    assert n_rounds <= (recorder.begun[0][2] or n_rounds)
    assert {task[:2] for task in recorder.begun} == set(recorder.ended)
    assert len(recorder.ended) - 1 - n_rounds in {0, 1}  # a round may have begun that never ended
    assert recorder.open == 0


@every
def test_callbacks_change_nothing(learner):
    validated = {} if learner.convention is None else {"eval_set": EVAL_SET}
    watched, plain = fitted(learner, ModelRecorder(), **validated), fitted(learner, **validated)
    assert np.array_equal(watched.predict(VALID.X), plain.predict(VALID.X))
    assert list(watched.history_) == list(plain.history_)
    kept = {"_skl_callbacks"}
    assert set(vars(watched)) - kept == set(vars(plain))


@by_rounds
@pytest.mark.parametrize("validated", [False, True])
def test_the_monitor_records_what_a_shorter_fit_would_reach(learner, validated):
    monitor = callback.ScoringMonitor(scoring=query_scorer(CONV))
    fit = {"eval_set": EVAL_SET} if validated else {}
    model = fitted(learner, monitor, **fit)
    values, last = rounds(monitor)
    for number, recorded in enumerate(values):
        shorter = clone(learner).set_params(max_iter=number + 1).fit(DATA.X, DATA.y, qid=DATA.qid, **fit)
        assert recorded == ra.evaluate(DATA.y, shorter.predict(DATA.X), CONV, qid=DATA.qid).value
    assert len(values) > 1
    assert last == ra.evaluate(DATA.y, model.predict(DATA.X), CONV, qid=DATA.qid).value


@by_rounds
def test_a_callback_stops_the_learner(learner):
    stopped = fitted(learner, Recorder(stop_after=2))
    shorter = clone(learner).set_params(max_iter=2).fit(DATA.X, DATA.y, qid=DATA.qid)
    assert np.array_equal(stopped.predict(VALID.X), shorter.predict(VALID.X))
    assert list(stopped.history_) == list(shorter.history_)


@pytest.mark.parametrize("name", ["AdaRank-ranklib", "CoordinateAscent-restarts"])
def test_a_callback_stops_phases_and_restarts(name):
    recorder = Recorder(stop_after=2)
    model = fitted(OTHERS[name], recorder)
    assert recorder.ended == [("round", 0), ("round", 1), ("fit", 0)]
    assert {entry.iteration for entry in model.history_} <= {0, 1}


def test_a_solver_reports_its_end():
    monitor = callback.ScoringMonitor(scoring=query_scorer(CONV))
    model = fitted(OTHERS["RankSVM"], monitor)
    values, last = rounds(monitor)
    assert values == []
    assert last == model.score(DATA.X, DATA.y, qid=DATA.qid)


def test_a_warm_start_reports_the_model_that_it_begins_from():
    model = AdaRank(CONV, max_iter=3, tol=0.1, warm_start=True).fit(DATA.X, DATA.y, qid=DATA.qid)
    before = model.score(DATA.X, DATA.y, qid=DATA.qid)
    monitor, recorder = callback.ScoringMonitor(scoring=query_scorer(CONV)), Recorder()
    model.set_callbacks(monitor, recorder).fit(DATA.X, DATA.y, qid=DATA.qid)
    values, _ = rounds(monitor)
    assert values[0] == before
    assert recorder.begun[0][2] == 4
    assert len(values) == model.history_[-1].iteration + 1 <= 4


def test_the_monitor_records_every_fold_of_a_search():
    monitor = callback.ScoringMonitor(scoring=query_scorer(CONV))
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(RankBoost(CONV, max_iter=3).set_callbacks(monitor), {"n_thresholds": [5, 10]},
                              scoring=query_scorer(CONV), cv=QueryKFold(3))  # fmt: skip
        search.fit(DATA.X, DATA.y, qid=DATA.qid)
    rows = [row for row in monitor.get_logs().data if row["task_name"] == "round"]
    assert len(rows) == (2 * 3 + 1) * 3
    [refit] = [row for row in rows if row["task_id_path"] == (0, 1, 2)]
    assert refit["score"] == search.best_estimator_.score(DATA.X, DATA.y, qid=DATA.qid)


def test_the_progress_bar_shows_the_rounds(capsys):
    pytest.importorskip("rich")
    fitted(ROUNDS["RankBoost"], callback.ProgressBar())
    shown = capsys.readouterr().out
    assert "RankBoost - fit" in shown
    assert "100%" in shown
