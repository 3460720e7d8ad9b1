"""A history is a list of entries with run and iteration, a table and a plot. CatBoost and the rankers record one."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.callbacks.history import Evaluation, History
from tests.helpers.rankings import ranking
from tests.helpers.tables import for_each

NDCG, LOSS = ra.presets.letor4(5), ra.presets.catboost.query_rmse()
VALUES = [0.25, 0.75, 0.5]


def make_history():
    """Return two trainings of three rounds, with one set under two conventions; of the second, lower is better."""
    return History(
        Evaluation("valid", convention, value + run, run=run, iteration=iteration)
        for run in range(2)
        for iteration, value in enumerate(VALUES)
        for convention in (NDCG, LOSS)
    )


def test_an_entry_is_a_tuple_of_three_with_further_attributes():
    entry = Evaluation(0, NDCG, 0.5, run=1, iteration=7)
    dataset, convention, value = entry
    assert (dataset, convention, value) == entry == (0, NDCG, 0.5)
    assert (entry.dataset, entry.convention, entry.value) == entry
    assert (entry.name, entry.run, entry.iteration) == (NDCG.name, 1, 7)
    assert repr(entry) == "Evaluation(dataset=0, name='ndcg@5/letor4', value=0.5, run=1, iteration=7)"


def test_copies_and_replacements_of_an_entry_keep_its_attributes():
    entry = Evaluation("valid", NDCG, 0.5, name="mine", run=1, iteration=7)
    for copied in (copy.copy(entry), copy.deepcopy(entry), pickle.loads(pickle.dumps(entry)), entry._replace()):
        assert copied == entry
        assert vars(copied) == {"name": "mine", "run": 1, "iteration": 7}
    assert vars(Evaluation("valid", NDCG, 0.5)) == {"name": NDCG.name, "run": 0, "iteration": 0}
    entry = entry._replace(dataset=3, run=2)
    assert (entry, entry.name, entry.run, entry.iteration) == ((3, NDCG, 0.5), "mine", 2, 7)


def test_a_history_is_a_list_whose_slices_and_selections_are_histories():
    history = make_history()
    assert history == list(history)
    assert isinstance(history[2:4], History)
    assert history[-1] == ("valid", LOSS, 1.5)
    assert history.runs == [0, 1]
    assert {entry.run for entry in history.only(run=-2)} == {0}
    assert [entry.value for entry in history.only(run=-1, convention=NDCG)] == [1.25, 1.75, 1.5]
    assert history.only(run=0, dataset="valid", convention="letor4@5") == [("valid", NDCG, value) for value in VALUES]
    assert History().only(dataset="valid") == []


@for_each(
    ("selection", "message"),
    [
        ({"run": 2}, r"run=2; the runs are 0, 1\.\nHint: run=-1 is the last"),
        ({"run": -3}, r"run=-3; the runs are 0, 1"),
        ({"run": "a"}, r"run='a'; the runs are 0, 1"),
        ({"dataset": "train"}, r"no entry of the history matches\.\nHint: its sets are 'valid', its conv"),
        ({"convention": "yahoo@5"}, "no entry of the history matches"),
    ],
)
def test_selecting_nothing_is_refused(selection, message):
    with pytest.raises(ra.InputError, match=message):
        make_history().only(**selection)


def test_a_follower_sees_each_new_entry_and_is_not_copied():
    followed, seen_entries = History(), []
    first, second, third = make_history()[:3]
    with followed.followed(seen_entries.append):
        followed.record([first, second])
        copied = pickle.loads(pickle.dumps(followed))
        copied.record([third])
    followed.record([third])
    assert seen_entries == [first, second]
    assert (len(followed), len(copied)) == (3, 3)

    def fail(entry):
        raise KeyError(entry.name)

    with pytest.raises(KeyError, match=LOSS.name), followed.followed(fail):
        followed.record([make_history()[1]])
    assert len(followed) == 4  # the entry was recorded before the follower failed


def test_the_summary_has_the_last_and_the_best_value_of_each_series():
    table = make_history().summary()
    assert table.caption == "2 runs, 6 iterations"
    assert table.lines == (
        ("0", "valid", NDCG.name, "3", "0.500000", "0.750000", "1"),
        ("0", "valid", LOSS.name, "3", "0.500000", "0.250000", "0"),  # the lowest loss is the best
        ("1", "valid", NDCG.name, "3", "1.500000", "1.750000", "1"),
        ("1", "valid", LOSS.name, "3", "1.500000", "1.250000", "0"),
    )
    assert History([Evaluation("valid", NDCG, 0.5)]).summary().caption == "1 run, 1 iteration"
    assert make_history()._repr_html_() == table.html()
    assert make_history()._repr_markdown_() == table.markdown()


def test_a_frame_has_a_row_per_entry():
    pytest.importorskip("pandas")
    frame = make_history().to_frame()
    assert list(frame.columns) == ["run", "iteration", "dataset", "name", "convention", "value"]
    assert frame.iloc[-1].to_dict() == {
        "run": 1, "iteration": 2, "dataset": "valid", "name": LOSS.name, "convention": str(LOSS), "value": 1.5,
    }  # fmt: skip
    assert list(frame[frame["run"].eq(0) & frame["name"].eq(NDCG.name)]["value"]) == VALUES
    assert list(History().to_frame().columns) == list(frame.columns)


def test_without_pandas_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ra.MissingToolkitError, match=r'pip install "rankadapters\[frame\]"'):
        make_history().to_frame()


def line_labels(axes):
    return [line.get_label() for line in axes.lines]


def test_the_plot_has_a_line_per_series_labelled_with_what_differs():
    pytest.importorskip("matplotlib")
    [axes] = (figure := make_history().plot()).axes
    assert line_labels(axes) == [f"run {run}, valid, {name}" for run in (0, 1) for name in (NDCG.name, LOSS.name)]
    assert axes.lines[0].get_xydata().tolist() == [[0, 0.25], [1, 0.75], [2, 0.5]]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("iteration", "value")
    figure.draw_without_rendering()  # a warning that the axes collapse would fail this test
    [axes] = make_history().only(run=0).plot().axes
    assert line_labels(axes) == [f"valid, {name}" for name in (NDCG.name, LOSS.name)]  # a single run has no number
    with pytest.raises(ra.InputError, match="the history has no entry"):
        History().plot()


def test_a_plot_of_one_convention_names_it_and_shows_shorter_runs():
    pytest.importorskip("matplotlib")
    [axes] = History(make_history().only(convention=NDCG)[:-1]).plot().axes
    assert axes.get_ylabel() == NDCG.name
    assert line_labels(axes) == ["run 0, valid", "run 1, valid"]
    longer, shorter = (line.get_ydata() for line in axes.lines)
    assert list(longer) == VALUES
    assert shorter.tolist()[:2] == [1.25, 1.75]
    assert np.isnan(shorter[2])


# Run and iteration in the histories of CatBoost, QueryRanker and the learners.

TRAIN, VALID = ranking(1), ranking(2)


def runs_and_iterations(history):
    return [(entry.run, entry.iteration) for entry in history]


def test_each_fit_of_catboost_is_a_run():
    cb = pytest.importorskip("catboost")
    metric = ra.catboost.eval_metric("letor4@5", [(TRAIN.y, TRAIN.qid), (VALID.y, VALID.qid)], names=["mine"])
    model = cb.CatBoostRanker(iterations=2, eval_metric=metric, **CATBOOST)
    for _ in range(2):
        model.fit(TRAIN.X, TRAIN.y, group_id=TRAIN.qid, eval_set=cb.Pool(VALID.X, VALID.y, group_id=VALID.qid))
    for name in ("learn", "validation"):
        assert runs_and_iterations(metric.history.only(dataset=name)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert {entry.name for entry in metric.history} == {"mine"}
    assert pickle.loads(pickle.dumps(metric)).history.runs == []


def test_catboost_train_counts_its_rounds():
    cb = pytest.importorskip("catboost")
    pools = [cb.Pool(data.X, data.y, group_id=data.qid) for data in (TRAIN, VALID)]
    model = ra.catboost.train({"iterations": 3, "thread_count": 1}, pools[0], ra.objectives.QueryRMSE(),
                              ["letor4@5", "yahoo@5"], eval_set=pools[1], names=["a", "b"])  # fmt: skip
    entries = [(entry.iteration, entry.dataset, entry.name) for entry in model.history]
    assert entries == [(i, dataset, name) for i in range(3) for dataset in ("learn", "validation") for name in "ab"]
    assert model.history.only(dataset="validation").runs == [0]


CATBOOST = {"thread_count": 1, "verbose": False, "allow_writing_files": False, "use_best_model": False}
RANKERS = {  # class, settings, and the name of the validation set
    "lightgbm": ("LGBMRanker", {"n_estimators": 2, "verbosity": -1, "min_child_samples": 5, "n_jobs": 1}, "valid_0"),
    "xgboost": ("XGBRanker", {"n_estimators": 2, "n_jobs": 1}, "validation_0"),
    "catboost": ("CatBoostRanker", {"iterations": 2, **CATBOOST}, "validation"),
}


@pytest.mark.parametrize("toolkit", ["lightgbm", "xgboost", "catboost", "catboost objective"])
def test_query_ranker_counts_its_rounds(toolkit):
    pytest.importorskip("sklearn")
    package, _, objective_word = toolkit.partition(" ")
    name, settings, dataset = RANKERS[package]
    inner = getattr(pytest.importorskip(package), name)(**settings)
    objective = ra.objectives.QueryRMSE() if objective_word else None
    ranker = ra.sklearn.QueryRanker(inner, eval_metric="letor4@5", objective=objective)
    history = ranker.fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid, eval_set=(VALID.X, VALID.y, VALID.qid)).history_
    assert isinstance(history, History)
    assert runs_and_iterations(history) == [(0, 0), (0, 1)]
    assert {entry.dataset for entry in history} == {dataset}


def test_a_learner_counts_its_rounds():
    pytest.importorskip("sklearn")
    model = ra.learners.AdaRank(convention="letor4@5", max_iter=3)
    history = model.fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid, eval_set=(VALID.X, VALID.y, VALID.qid)).history_
    assert isinstance(history, History)
    assert runs_and_iterations(history.only(dataset="valid_0")) == [(0, 0), (0, 1), (0, 2)]
