"""scikit-learn 1.9's callbacks on the learners: rounds are tasks, and ScoringMonitor records the declared values."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.callback_recorders import ModelRecorder, Recorder, recorded_values
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
VARIANTS = {
    "AdaRank-ranklib": AdaRank(CONV, max_iter=12, variant="ranklib"),
    "CoordinateAscent-restarts": CoordinateAscent(CONV, n_restarts=3, n_steps=4, max_iter=4, random_state=0),
    "RankBoost-without": RankBoost(max_iter=5),
    "RankSVM": RankSVM(C=0.01, convention=CONV),
}
MOST_ROUNDS = dict(zip(VARIANTS.values(), [None, 12, 5, 0], strict=True))  # 5 for the learners in ROUNDS
for_every_learner = pytest.mark.parametrize("learner", {**ROUNDS, **VARIANTS}.values(), ids={**ROUNDS, **VARIANTS})
for_learners_with_rounds = pytest.mark.parametrize("learner", ROUNDS.values(), ids=ROUNDS)


def fitted(learner, *callbacks, **options):
    return clone(learner).set_callbacks(*callbacks).fit(DATA.X, DATA.y, qid=DATA.qid, **options)


@for_every_learner
@pytest.mark.parametrize("validated", [False, True])
def test_each_round_of_the_history_is_a_task(learner, validated):
    validated = validated and learner.convention is not None  # validation needs a convention
    recorder, models = Recorder(), ModelRecorder()
    model = fitted(learner, recorder, models, **({"eval_set": EVAL_SET} if validated else {}))
    if isinstance(learner, RankSVM):
        n_rounds = 0
    else:
        n_rounds = learner.max_iter if learner.convention is None else model.history_[-1].iteration + 1
    assert [name for name, *_ in models.records] == [*["round"] * n_rounds, "fit"]
    assert recorder.begun[0][:2] == ("fit", 0)
    assert recorder.begun[0][2] == MOST_ROUNDS.get(learner, 5)
    assert n_rounds <= (recorder.begun[0][2] or n_rounds)
    assert {task[:2] for task in recorder.begun} == set(recorder.ended)
    assert len(recorder.ended) - 1 - n_rounds in {0, 1}  # a last round may have begun without ending
    assert recorder.n_open == 0


@for_every_learner
def test_callbacks_change_neither_model_nor_history(learner):
    options = {} if learner.convention is None else {"eval_set": EVAL_SET}
    watched, plain = fitted(learner, ModelRecorder(), **options), fitted(learner, **options)
    assert np.array_equal(watched.predict(VALID.X), plain.predict(VALID.X))
    assert list(watched.history_) == list(plain.history_)
    callback_attributes = {"_skl_callbacks"}
    assert set(vars(watched)) - callback_attributes == set(vars(plain))


@for_learners_with_rounds
@pytest.mark.parametrize("validated", [False, True])
def test_the_monitor_records_the_score_of_a_shorter_fit_for_each_round(learner, validated):
    monitor = callback.ScoringMonitor(scoring=query_scorer(CONV))
    options = {"eval_set": EVAL_SET} if validated else {}
    model = fitted(learner, monitor, **options)
    values, last = recorded_values(monitor)
    for iteration, value in enumerate(values):
        shorter = clone(learner).set_params(max_iter=iteration + 1).fit(DATA.X, DATA.y, qid=DATA.qid, **options)
        assert value == ra.evaluate(DATA.y, shorter.predict(DATA.X), CONV, qid=DATA.qid).value
    assert len(values) > 1
    assert last == ra.evaluate(DATA.y, model.predict(DATA.X), CONV, qid=DATA.qid).value


@for_learners_with_rounds
def test_a_callback_stops_the_learner(learner):
    stopped = fitted(learner, Recorder(stop_after=2))
    shorter = clone(learner).set_params(max_iter=2).fit(DATA.X, DATA.y, qid=DATA.qid)
    assert np.array_equal(stopped.predict(VALID.X), shorter.predict(VALID.X))
    assert list(stopped.history_) == list(shorter.history_)


@pytest.mark.parametrize("name", ["AdaRank-ranklib", "CoordinateAscent-restarts"])
def test_a_callback_also_stops_ranklibs_phases_and_restarts(name):
    recorder = Recorder(stop_after=2)
    model = fitted(VARIANTS[name], recorder)
    assert recorder.ended == [("round", 0), ("round", 1), ("fit", 0)]
    assert {entry.iteration for entry in model.history_} <= {0, 1}


def test_the_monitor_records_the_end_of_a_solver_without_rounds():
    monitor = callback.ScoringMonitor(scoring=query_scorer(CONV))
    model = fitted(VARIANTS["RankSVM"], monitor)
    values, last = recorded_values(monitor)
    assert values == []
    assert last == model.score(DATA.X, DATA.y, qid=DATA.qid)


def test_the_first_round_of_a_warm_start_has_the_score_of_the_previous_model():
    model = AdaRank(CONV, max_iter=3, tol=0.1, warm_start=True).fit(DATA.X, DATA.y, qid=DATA.qid)
    previous_score = model.score(DATA.X, DATA.y, qid=DATA.qid)
    monitor, recorder = callback.ScoringMonitor(scoring=query_scorer(CONV)), Recorder()
    model.set_callbacks(monitor, recorder).fit(DATA.X, DATA.y, qid=DATA.qid)
    values, _ = recorded_values(monitor)
    assert values[0] == previous_score
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
