"""A history is read from a toolkit's log: a list of entries with their rounds, a table and a plot."""

import copy
import pickle
import re
from dataclasses import replace

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.callbacks.history import Evaluation, History
from tests.helpers.rankings import ranking

NDCG, LOSS = ra.presets.letor4(5), ra.presets.catboost.query_rmse()
VALUES = [0.25, 0.75, 0.5]


LOG = {
    "train": {NDCG.name: [0.5, 0.25, 1.0], "binary_logloss": [0.7, 0.6, 0.5]},
    "valid": {NDCG.name: VALUES, "ndcg@5": [0.0, 0.0, 0.0], LOSS.name: VALUES},
}


def make_history():
    """Return a training of three rounds; of the second convention, lower is better."""
    return History.of({"valid": {NDCG.name: VALUES, LOSS.name: VALUES}})


def test_an_entry_unpacks_as_three_and_has_further_attributes():
    entry = Evaluation("valid", NDCG, 0.5, iteration=7)
    dataset, convention, value = entry
    assert (dataset, convention, value) == ("valid", NDCG, 0.5) == (entry.dataset, entry.convention, entry.value)
    assert (entry.name, entry.iteration) == (NDCG.name, 7)
    assert repr(entry) == "Evaluation(dataset='valid', value=0.5, name='ndcg@5/letor4', iteration=7)"


def test_copies_and_replacements_of_an_entry_keep_its_attributes():
    entry = Evaluation("valid", NDCG, 0.5, name="mine", iteration=7)
    for copied in (copy.copy(entry), copy.deepcopy(entry), pickle.loads(pickle.dumps(entry)), replace(entry)):
        assert copied == entry
        assert (copied.name, copied.iteration) == ("mine", 7)
    entry = replace(entry, dataset="test")
    assert (*entry, entry.name, entry.iteration) == ("test", NDCG, 0.5, "mine", 7)


def test_the_history_of_a_log_has_each_value_of_a_convention_by_round_then_set_then_name():
    entries = [(entry.iteration, entry.dataset, entry.name, entry.value) for entry in History.of(LOG)]
    assert entries == [
        (iteration, dataset, name, LOG[dataset][name][iteration])
        for iteration in range(3)
        for dataset, name in [("train", NDCG.name), ("valid", NDCG.name), ("valid", LOSS.name)]
    ]
    assert {entry.convention for entry in History.of(LOG)} == {NDCG, LOSS}


def test_a_shorter_series_ends_early():
    history = History.of({"a": {NDCG.name: [0.5]}, "b": {NDCG.name: [0.25, 0.75]}})
    assert [(entry.iteration, entry.dataset) for entry in history] == [(0, "a"), (0, "b"), (1, "b")]


def test_every_display_name_is_read_as_its_convention(toolkit):
    conventions = [toolkit.preset, toolkit.preset.replace(average="query", empty=0), LOSS, ra.presets.textbook(None)]
    log = {"valid": {convention.name: [0.5] for convention in conventions}}
    assert [entry.convention for entry in History.of(log)] == conventions


def test_names_give_the_conventions_of_names_that_the_user_chose():
    log = {"valid": {"mine": [0.5], "other": [0.25], NDCG.name: [1.0]}}
    history = History.of(log, {"mine": LOSS, "other": "yahoo@5"})
    entries = [(entry.name, entry.convention) for entry in history]
    assert entries == [("mine", LOSS), ("other", ra.parse("yahoo@5")), (NDCG.name, NDCG)]
    assert History.of({"valid": {NDCG.name: [0.5]}}, {NDCG.name: LOSS})[0].convention == LOSS


def test_a_name_with_a_hash_needs_its_convention():
    hashed = ra.NDCG(**{**NDCG.to_dict(), "gain": "table_0_2_7", "discount": "log2", "empty": 0.25, "k": 3})
    log = {"valid": {hashed.name: [0.5], NDCG.name: [0.25]}}
    assert re.search("/[0-9a-f]{7}$", hashed.name)
    assert [entry.convention for entry in History.of(log, {hashed.name: hashed})] == [hashed, NDCG]
    with pytest.raises(ra.InputError, match=f"the convention of '{hashed.name}' cannot be read"):
        History.of(log)


def test_nan_is_the_worst_value():
    assert History.of({"valid": {NDCG.name: [float("nan"), 0.25, 0.5]}}).best().iteration == 2
    assert History.of({"valid": {LOSS.name: [float("nan"), 0.25, 0.5]}}).best().iteration == 1


def test_a_history_is_a_list_whose_slices_and_selections_are_histories():
    history = make_history()
    assert history == list(history)
    assert isinstance(history[2:4], History)
    assert tuple(history[-1]) == ("valid", LOSS, 0.5)
    selected = history.only(dataset="valid", convention="letor4@5")
    assert list(map(tuple, selected)) == [("valid", NDCG, value) for value in VALUES]
    assert History().only(dataset="valid") == []
    assert History.of({}) == []


def test_the_best_entry_is_the_first_of_the_best_values_of_one_convention_on_one_set():
    history = History.of({"valid": {NDCG.name: [0.25, 0.75, 0.75], LOSS.name: VALUES}, "test": {NDCG.name: VALUES}})
    best = history.best(dataset="valid", convention=NDCG)
    assert (*best, best.iteration) == ("valid", NDCG, 0.75, 1)
    assert history.best(convention=LOSS).iteration == 0  # the lowest loss
    with pytest.raises(ra.InputError, match=r"one convention on one set, but these match: 'valid, ndcg.*'test, ndcg"):
        history.best(convention=NDCG)
    with pytest.raises(ra.InputError, match="one convention on one set"):
        history.best()


def test_an_entry_is_found_by_the_name_that_the_log_shows():
    history = ra.History.of(
        {"valid": {"mine": [0.5, 0.25], "ap": [0.1, 0.2]}}, {"mine": "letor4@5", "ap": "letor4.map"}
    )
    assert history.best(convention="mine") == history.best(convention="letor4@5") == history[0]
    with pytest.raises(ra.ConventionError, match="yours"):
        history.best(convention="others")


def test_the_best_entry_of_an_empty_history_is_refused_with_the_reason():
    for history in (History(), History.of({})):
        with pytest.raises(ra.InputError, match=r"the history has no entry, as after a training without a set"):
            history.best()


def test_names_that_are_no_texts_become_texts():
    """LightGBM takes such names: valid_names=[0]."""
    history = History.of({0: {NDCG.name: VALUES}, None: {NDCG.name: VALUES}})
    assert [line[:2] for line in history.summary().lines] == [("0", NDCG.name), ("None", NDCG.name)]
    assert history.best(dataset="0").iteration == 1
    with pytest.raises(ra.InputError, match="different names in the log are equal as texts"):
        History.of({0: {NDCG.name: VALUES}, "0": {NDCG.name: VALUES}})


def test_a_history_prints_its_table_and_its_repr_is_short():
    history = History.of({"valid": {NDCG.name: VALUES * 100, LOSS.name: VALUES * 100}})
    assert str(history) == str(history.summary())
    assert repr(history) == f"<History, 300 iterations: 'valid, {NDCG.name}', 'valid, {LOSS.name}'>"
    assert repr(History()) == "<History, 0 iterations: no entry>"


TWICE = [value for value in VALUES for _ in range(2)]


@pytest.mark.parametrize(
    "log",
    [
        {"valid": {"ndcg@5": VALUES, NDCG.name: TWICE}},  # another name
        {"train": {NDCG.name: TWICE}, "valid": {NDCG.name: VALUES}},  # another set
    ],
)
def test_a_metric_that_was_logged_twice_in_each_round_is_refused(log):
    with pytest.raises(
        ra.InputError, match=rf"the log has 2 equal values of '{NDCG.name}' on '\w+' for each of 3 rounds"
    ):
        History.of(log)


@pytest.mark.parametrize(
    "log",
    [
        {"a": {NDCG.name: VALUES}, "b": {NDCG.name: [*VALUES, *VALUES]}},  # six rounds
        {"a": {NDCG.name: VALUES[:2]}, "b": {NDCG.name: [*TWICE, 0.5]}},  # seven rounds
        {"learn": {NDCG.name: VALUES}, "validation": {NDCG.name: TWICE}},  # CatBoost's metric_period=2
    ],
)
def test_longer_series_are_not_refused_without_proof(log):
    assert len(History.of(log)) == sum(len(values) for metrics in log.values() for values in metrics.values())


def test_the_summary_has_the_last_and_the_best_value_of_each_series():
    table = make_history().summary()
    assert table.caption == "3 iterations"
    assert table.lines == (
        ("valid", NDCG.name, "3", "0.500000", "0.750000", "1"),
        ("valid", LOSS.name, "3", "0.500000", "0.250000", "0"),  # the lowest loss is the best
    )
    assert History([Evaluation("valid", NDCG, 0.5)]).summary().caption == "1 iteration"
    assert make_history()._repr_html_() == table.html()
    assert make_history()._repr_markdown_() == table.markdown()


def test_a_frame_has_a_row_per_entry():
    pytest.importorskip("pandas")
    frame = make_history().to_frame()
    assert list(frame.columns) == ["iteration", "dataset", "name", "convention", "value"]
    assert frame.iloc[-1].to_dict() == {
        "iteration": 2, "dataset": "valid", "name": LOSS.name, "convention": str(LOSS), "value": 0.5,
    }  # fmt: skip
    assert list(frame[frame["name"].eq(NDCG.name)]["value"]) == VALUES
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
    assert line_labels(axes) == [f"valid, {name}" for name in (NDCG.name, LOSS.name)]
    assert axes.lines[0].get_xydata().tolist() == [[0, 0.25], [1, 0.75], [2, 0.5]]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("iteration", "value")
    figure.draw_without_rendering()  # a warning that the axes collapse would fail this test
    with pytest.raises(ra.InputError, match="the history has no entry"):
        History().plot()


def test_a_plot_of_one_convention_names_it_and_shows_shorter_series():
    pytest.importorskip("matplotlib")
    [axes] = History.of({"train": {NDCG.name: VALUES}, "valid": {NDCG.name: [1.25, 1.75]}}).plot().axes
    assert axes.get_ylabel() == NDCG.name
    assert line_labels(axes) == ["train", "valid"]
    longer, shorter = (line.get_ydata() for line in axes.lines)
    assert list(longer) == VALUES
    assert shorter.tolist()[:2] == [1.25, 1.75]
    assert np.isnan(shorter[2])


# The histories of trainings, from the toolkits' own logs.

TRAIN = ranking(1)


def entries_of(history):
    return [(entry.dataset, entry.name, entry.iteration, entry.value) for entry in history]


def means_by_round(means):
    return [(*key, iteration, values[iteration]) for iteration in range(3) for key, values in means.items()]


def test_the_means_of_lightgbms_cross_validation_are_read():
    lgb = pytest.importorskip("lightgbm")
    params = {"objective": "lambdarank", "metric": "ndcg", "verbosity": -1, "num_threads": 1, "min_data_in_leaf": 5}
    data = lgb.Dataset(TRAIN.X, TRAIN.y, group=TRAIN.sizes)
    metric, options = ra.lightgbm.eval_metric([NDCG, "textbook@5"]), {"nfold": 3, "eval_train_metric": True}
    log = lgb.cv(params, data, 3, feval=metric, return_cvbooster=True, **options)
    names = (NDCG.name, "ndcg@5/textbook")
    means = {(dataset, name): log[f"{dataset} {name}-mean"] for dataset in ("train", "valid") for name in names}
    history = History.of(log)
    assert entries_of(history) == means_by_round(means)
    best = history.best(dataset="valid", convention=NDCG)
    assert best.iteration == int(np.argmax(log[f"valid {NDCG.name}-mean"]))


@pytest.mark.parametrize("as_pandas", [False, True])
def test_the_means_of_xgboosts_cross_validation_are_read(as_pandas):
    xgb = pytest.importorskip("xgboost")
    if as_pandas:
        pytest.importorskip("pandas")
    data = xgb.DMatrix(TRAIN.X, TRAIN.y, qid=TRAIN.qid)
    metric, params = ra.xgboost.eval_metric(NDCG), {"objective": "rank:ndcg", "nthread": 1}
    log = xgb.cv(params, data, 3, nfold=3, custom_metric=metric, as_pandas=as_pandas)
    means = {(dataset, NDCG.name): list(log[f"{dataset}-{NDCG.name}-mean"]) for dataset in ("train", "test")}
    history = History.of(log)
    assert entries_of(history) == means_by_round(means)
    assert history.best(dataset="test").iteration == int(np.argmax(log[f"test-{NDCG.name}-mean"]))


def test_the_means_of_catboosts_cross_validation_need_the_convention_of_their_name():
    log = {
        "iterations": [0, 1],
        "test-NDCG:top=5;type=Base-mean": [0.5, 0.25],
        "test-NDCG:top=5;type=Base-std": [0.1, 0],
    }
    history = History.of(log, {"NDCG:top=5;type=Base": "catboost@5"})
    assert entries_of(history) == [("test", "NDCG:top=5;type=Base", index, [0.5, 0.25][index]) for index in range(2)]
    with pytest.raises(ra.InputError, match="no metric of a convention, but 'NDCG:top=5;type=Base'"):
        History.of(log)
