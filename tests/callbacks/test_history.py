"""What a history is: a list of entries that knows trainings and rounds, a table and a plot."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.callbacks.history import Evaluation, History

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


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda entry: pickle.loads(pickle.dumps(entry)), Evaluation._replace]
)
def test_a_copied_entry_knows_the_same(copied):
    entry = Evaluation("valid", NDCG, 0.5, name="mine", run=1, iteration=7)
    assert copied(entry) == entry
    assert vars(copied(entry)) == {"name": "mine", "run": 1, "iteration": 7}


def test_a_replaced_field_leaves_the_others():
    entry = Evaluation("valid", NDCG, 0.5, name="mine", run=1, iteration=7)._replace(dataset=3, run=2)
    assert (entry, entry.name, entry.run, entry.iteration) == ((3, NDCG, 0.5), "mine", 2, 7)


def test_a_history_is_a_list_and_its_parts_are_histories():
    found = history()
    assert found == list(found)
    assert isinstance(found[2:4], History)
    assert found[-1] == ("valid", LOSS, 1.5)
    assert found.runs == [0, 1]


def test_only_keeps_a_run_a_set_and_a_convention():
    found = history()
    assert [entry.value for entry in found.only(run=-1, convention=NDCG)] == [1.25, 1.75, 1.5]
    assert found.only(run=0, dataset="valid", convention="letor4@5") == [("valid", NDCG, value) for value in VALUES]
    assert History().only(dataset="valid") == []


@pytest.mark.parametrize(
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


def test_what_a_follower_raises_stops_the_recording():
    def stop(entry):
        raise KeyError(entry.name)

    found = History()
    with pytest.raises(KeyError, match=LOSS.name), found.followed(stop):
        found.record([history()[1]])
    assert len(found) == 1  # what came is kept


def test_the_table_says_how_each_series_ends_and_when_it_was_best():
    table = history().summary()
    assert table.caption == "2 runs, 6 iterations"
    assert table.lines == (
        ("0", "valid", NDCG.name, "3", "0.500000", "0.750000", "1"),
        ("0", "valid", LOSS.name, "3", "0.500000", "0.250000", "0"),  # of a loss the lowest is the best
        ("1", "valid", NDCG.name, "3", "1.500000", "1.750000", "1"),
        ("1", "valid", LOSS.name, "3", "1.500000", "1.250000", "0"),
    )
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


def test_the_plot_has_a_line_per_series_named_by_what_differs():
    pytest.importorskip("matplotlib")
    [axes] = (figure := history().plot()).axes
    assert [line.get_label() for line in axes.lines] == [
        f"run {run}, valid, {name}" for run in (0, 1) for name in (NDCG.name, LOSS.name)
    ]
    assert axes.lines[0].get_xydata().tolist() == [[0, 0.25], [1, 0.75], [2, 0.5]]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("iteration", "value")
    figure.draw_without_rendering()  # warns where the axes collapse, which fails a test


def test_the_plot_of_one_convention_is_named_by_it_and_a_shorter_run_ends_earlier():
    pytest.importorskip("matplotlib")
    found = history().only(convention=NDCG)
    [axes] = History(found[:-1]).plot().axes
    assert axes.get_ylabel() == NDCG.name
    assert [line.get_label() for line in axes.lines] == ["run 0, valid", "run 1, valid"]
    longer, shorter = (line.get_ydata() for line in axes.lines)
    assert list(longer) == VALUES
    assert shorter.tolist()[:2] == [1.25, 1.75]
    assert np.isnan(shorter[2])


def test_the_plot_of_one_run_does_not_number_it():
    pytest.importorskip("matplotlib")
    [axes] = history().only(run=0).plot().axes
    assert [line.get_label() for line in axes.lines] == [f"valid, {name}" for name in (NDCG.name, LOSS.name)]


def test_there_is_no_plot_of_nothing():
    with pytest.raises(ra.InputError, match="the history has no entry"):
        History().plot()
