"""What a history is: a list of entries that knows trainings and rounds, a table and a plot; and who makes one."""

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


def history():
    """Two trainings of three rounds, one set under two conventions, of one of which lower is better."""
    return History(
        Evaluation("valid", convention, value + run, run=run, iteration=iteration)
        for run in range(2)
        for iteration, value in enumerate(VALUES)
        for convention in (NDCG, LOSS)
    )


def test_an_entry_is_the_tuple_that_it_was_and_knows_more():
    entry = Evaluation(0, NDCG, 0.5, run=1, iteration=7)
    place, convention, value = entry
    assert (place, convention, value) == entry == (0, NDCG, 0.5)
    assert (entry.dataset, entry.convention, entry.value) == entry
    assert (entry.name, entry.run, entry.iteration) == (NDCG.name, 1, 7)
    assert repr(entry) == "Evaluation(dataset=0, name='ndcg@5/letor4', value=0.5, run=1, iteration=7)"


def test_a_copied_entry_knows_the_same_and_a_replaced_field_leaves_the_others():
    entry = Evaluation("valid", NDCG, 0.5, name="mine", run=1, iteration=7)
    for copied in (copy.copy(entry), copy.deepcopy(entry), pickle.loads(pickle.dumps(entry)), entry._replace()):
        assert copied == entry
        assert vars(copied) == {"name": "mine", "run": 1, "iteration": 7}
    assert vars(Evaluation("valid", NDCG, 0.5)) == {"name": NDCG.name, "run": 0, "iteration": 0}
    entry = entry._replace(dataset=3, run=2)
    assert (entry, entry.name, entry.run, entry.iteration) == ((3, NDCG, 0.5), "mine", 2, 7)


def test_a_history_is_a_list_whose_parts_are_histories():
    found = history()
    assert found == list(found)
    assert isinstance(found[2:4], History)
    assert found[-1] == ("valid", LOSS, 1.5)
    assert found.runs == [0, 1]
    assert {entry.run for entry in found.only(run=-2)} == {0}
    assert [entry.value for entry in found.only(run=-1, convention=NDCG)] == [1.25, 1.75, 1.5]
    assert found.only(run=0, dataset="valid", convention="letor4@5") == [("valid", NDCG, value) for value in VALUES]
    assert History().only(dataset="valid") == []


@for_each(
    ("wanted", "said"),
    [
        ({"run": 2}, r"run=2; the runs are 0, 1\.\nHint: run=-1 is the last"),
        ({"run": -3}, r"run=-3; the runs are 0, 1"),
        ({"run": "a"}, r"run='a'; the runs are 0, 1"),
        ({"dataset": "train"}, r"no entry of the history matches\.\nHint: its sets are 'valid', its conv"),
        ({"convention": "yahoo@5"}, "no entry of the history matches"),
    ],
)
def test_what_is_not_there_is_said(wanted, said):
    with pytest.raises(ra.InputError, match=said):
        history().only(**wanted)


def test_a_follower_sees_each_entry_as_it_comes_and_no_copy_has_it():
    found, seen = History(), []
    first, second, third = history()[:3]
    with found.followed(seen.append):
        found.record([first, second])
        again = pickle.loads(pickle.dumps(found))
        again.record([third])
    found.record([third])
    assert seen == [first, second]
    assert (len(found), len(again)) == (3, 3)

    def stop(entry):
        raise KeyError(entry.name)

    with pytest.raises(KeyError, match=LOSS.name), found.followed(stop):
        found.record([history()[1]])
    assert len(found) == 4  # what came is kept


def test_the_table_says_how_each_series_ends_and_when_it_was_best():
    table = history().summary()
    assert table.caption == "2 runs, 6 iterations"
    assert table.lines == (
        ("0", "valid", NDCG.name, "3", "0.500000", "0.750000", "1"),
        ("0", "valid", LOSS.name, "3", "0.500000", "0.250000", "0"),  # of a loss the lowest is the best
        ("1", "valid", NDCG.name, "3", "1.500000", "1.750000", "1"),
        ("1", "valid", LOSS.name, "3", "1.500000", "1.250000", "0"),
    )
    assert History([Evaluation("valid", NDCG, 0.5)]).summary().caption == "1 run, 1 iteration"
    assert history()._repr_html_() == table.html()
    assert history()._repr_markdown_() == table.markdown()


def test_a_frame_has_a_row_per_entry():
    pytest.importorskip("pandas")
    frame = history().to_frame()
    assert list(frame.columns) == ["run", "iteration", "dataset", "name", "convention", "value"]
    assert frame.iloc[-1].to_dict() == {
        "run": 1, "iteration": 2, "dataset": "valid", "name": LOSS.name, "convention": str(LOSS), "value": 1.5,
    }  # fmt: skip
    assert list(frame[frame["run"].eq(0) & frame["name"].eq(NDCG.name)]["value"]) == VALUES
    assert list(History().to_frame().columns) == list(frame.columns)


def test_without_pandas_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ra.MissingToolkitError, match=r'pip install "rankadapters\[frame\]"'):
        history().to_frame()


def labels(axes):
    return [line.get_label() for line in axes.lines]


def test_the_plot_has_a_line_per_series_named_by_what_differs():
    pytest.importorskip("matplotlib")
    [axes] = (figure := history().plot()).axes
    assert labels(axes) == [f"run {run}, valid, {name}" for run in (0, 1) for name in (NDCG.name, LOSS.name)]
    assert axes.lines[0].get_xydata().tolist() == [[0, 0.25], [1, 0.75], [2, 0.5]]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("iteration", "value")
    figure.draw_without_rendering()  # warns where the axes collapse, which fails a test
    [axes] = history().only(run=0).plot().axes
    assert labels(axes) == [f"valid, {name}" for name in (NDCG.name, LOSS.name)]  # one run is not numbered
    with pytest.raises(ra.InputError, match="the history has no entry"):
        History().plot()


def test_the_plot_of_one_convention_is_named_by_it_and_a_shorter_run_ends_earlier():
    pytest.importorskip("matplotlib")
    [axes] = History(history().only(convention=NDCG)[:-1]).plot().axes
    assert axes.get_ylabel() == NDCG.name
    assert labels(axes) == ["run 0, valid", "run 1, valid"]
    longer, shorter = (line.get_ydata() for line in axes.lines)
    assert list(longer) == VALUES
    assert shorter.tolist()[:2] == [1.25, 1.75]
    assert np.isnan(shorter[2])


# Which training and which round the histories of CatBoost, QueryRanker and the learners say they are of.

ONE, TWO = ranking(1), ranking(2)


def rounds(history):
    return [(entry.run, entry.iteration) for entry in history]


def test_each_fit_of_catboost_is_a_run():
    cb = pytest.importorskip("catboost")
    metric = ra.catboost.eval_metric("letor4@5", [(ONE.y, ONE.qid), (TWO.y, TWO.qid)], names=["mine"])
    model = cb.CatBoostRanker(iterations=2, eval_metric=metric, **CATBOOST)
    for _ in range(2):
        model.fit(ONE.X, ONE.y, group_id=ONE.qid, eval_set=cb.Pool(TWO.X, TWO.y, group_id=TWO.qid))
    for name in ("learn", "validation"):
        assert rounds(metric.history.only(dataset=name)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert {entry.name for entry in metric.history} == {"mine"}
    assert pickle.loads(pickle.dumps(metric)).history.runs == []


def test_catboost_train_counts_its_rounds():
    cb = pytest.importorskip("catboost")
    pools = [cb.Pool(data.X, data.y, group_id=data.qid) for data in (ONE, TWO)]
    model = ra.catboost.train({"iterations": 3, "thread_count": 1}, pools[0], ra.objectives.QueryRMSE(),
                              ["letor4@5", "yahoo@5"], eval_set=pools[1], names=["a", "b"])  # fmt: skip
    found = [(entry.iteration, entry.dataset, entry.name) for entry in model.history]
    assert found == [(i, name, each) for i in range(3) for name in ("learn", "validation") for each in "ab"]
    assert model.history.only(dataset="validation").runs == [0]


CATBOOST = {"thread_count": 1, "verbose": False, "allow_writing_files": False, "use_best_model": False}
RANKERS = {  # the class and its settings, and what the set of a fit is called
    "lightgbm": ("LGBMRanker", {"n_estimators": 2, "verbosity": -1, "min_child_samples": 5, "n_jobs": 1}, "valid_0"),
    "xgboost": ("XGBRanker", {"n_estimators": 2, "n_jobs": 1}, "validation_0"),
    "catboost": ("CatBoostRanker", {"iterations": 2, **CATBOOST}, "validation"),
}


@pytest.mark.parametrize("toolkit", ["lightgbm", "xgboost", "catboost", "catboost objective"])
def test_query_ranker_counts_its_rounds(toolkit):
    pytest.importorskip("sklearn")
    package, _, word = toolkit.partition(" ")
    name, settings, dataset = RANKERS[package]
    inner = getattr(pytest.importorskip(package), name)(**settings)
    objective = ra.objectives.QueryRMSE() if word else None
    ranker = ra.sklearn.QueryRanker(inner, eval_metric="letor4@5", objective=objective)
    found = ranker.fit(ONE.X, ONE.y, qid=ONE.qid, eval_set=(TWO.X, TWO.y, TWO.qid)).history_
    assert isinstance(found, History)
    assert rounds(found) == [(0, 0), (0, 1)]
    assert {entry.dataset for entry in found} == {dataset}


def test_a_learner_counts_its_rounds():
    pytest.importorskip("sklearn")
    model = ra.learners.AdaRank(convention="letor4@5", max_iter=3)
    found = model.fit(ONE.X, ONE.y, qid=ONE.qid, eval_set=(TWO.X, TWO.y, TWO.qid)).history_
    assert isinstance(found, History)
    assert rounds(found.only(dataset="valid_0")) == [(0, 0), (0, 1), (0, 2)]
