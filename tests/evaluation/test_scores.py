"""Results of many conventions: their lookup by convention, and their tables as text and in notebooks."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.errors import LabelsWarning
from rankadapters.evaluation import passes
from rankadapters.evaluation.table import distinct_decimals

LABELS, SIZES = [1, 0, 1, 0], [2, 2]
CONVENTIONS = ["textbook@1", "yahoo@2"]


def evaluate_conventions(scores=(2, 1, 1, 2)):
    return ra.evaluate(LABELS, scores, CONVENTIONS, group_sizes=SIZES)


def test_the_table_has_a_line_for_each_model_and_escapes_its_name():
    models = {"<i>": [2, 1, 1, 2], "down": [1, 2, 2, 1]}
    html = evaluate_conventions(models)._repr_html_()
    assert html.count("<tr>") == 3
    assert '<th scope="row">&lt;i&gt;</th>' in html
    assert "<i>" not in html


def test_many_conventions_of_models_are_printed_as_lines():
    models, conventions = {"a": [2, 1, 1, 2], "b": [1, 2, 2, 1]}, [f"textbook@{k}" for k in range(1, 8)]
    scores = ra.evaluate(LABELS, models, conventions, group_sizes=SIZES)
    first, head, *lines = str(scores).splitlines()
    assert (first, head.split()) == ("2 models, 7 conventions", ["name", "a", "b"])
    assert [line.split()[0] for line in lines] == [convention.name for convention in scores]
    assert scores.table().head[1:] == tuple(convention.name for convention in scores)


@pytest.mark.parametrize(
    ("values", "decimals"),
    [([0.5], 4), ([0.5, 0.5001], 4), ([0.5, 0.50001, 0.7], 5), ([0.5, 0.50000001], 8), ([0.5, 0.500000001], 4)],
)
def test_values_have_4_to_8_decimals_so_that_different_ones_do_not_look_equal(values, decimals):
    assert distinct_decimals(values) == decimals


@pytest.mark.parametrize("make_copy", [copy.copy, copy.deepcopy, lambda results: pickle.loads(pickle.dumps(results))])
def test_copied_and_pickled_results_are_equal_and_shown_alike(make_copy):
    results = evaluate_conventions()
    assert make_copy(results) == results == dict(results)
    assert make_copy(results)._repr_html_() == results._repr_html_()


EQUAL_CONVENTIONS = ["letor3@2", "yahoo@2", "letor4@2", "yahoo@2"]  # the letors are equal, yahoo is repeated


def evaluate_as_stream(conventions):
    return ra.evaluate_table([{"label": LABELS, "score": [2.0, 1.0, 1.0, 2.0], "qid": [0, 0, 1, 1]}], conventions)


ENTRY_POINTS = {
    "evaluate": lambda conventions: ra.evaluate(LABELS, [2, 1, 1, 2], conventions, group_sizes=SIZES),
    "Evaluator": lambda conventions: ra.Evaluator(LABELS, conventions, group_sizes=SIZES).evaluate([2, 1, 1, 2]),
    "stream": evaluate_as_stream,
}


@pytest.mark.parametrize(("name", "evaluate"), ENTRY_POINTS.items())
def test_every_requested_convention_has_an_entry_found_by_any_text_of_it(name, evaluate):
    scores = evaluate(EQUAL_CONVENTIONS)
    assert [convention.short_name for convention in scores] == EQUAL_CONVENTIONS
    assert [score.convention.short_name for score in scores.values()] == EQUAL_CONVENTIONS
    assert [convention.short_name for convention, _ in scores.items()] == EQUAL_CONVENTIONS
    assert len(scores) == len(scores.table().lines) == 4
    assert evaluate(CONVENTIONS)._repr_html_() == evaluate_conventions()._repr_html_()
    for text in EQUAL_CONVENTIONS:
        convention = ra.parse(text)
        for key in (text, convention, convention.name, str(convention)):
            assert scores[key].value == ra.evaluate(LABELS, [2, 1, 1, 2], text, group_sizes=SIZES).value
            assert key in scores
        assert scores[text].convention.short_name == text


def test_equal_conventions_keep_separate_entries_with_models():
    scores = ra.evaluate(LABELS, {"a": [2, 1, 1, 2]}, EQUAL_CONVENTIONS, group_sizes=SIZES)
    assert [convention.short_name for convention in scores] == EQUAL_CONVENTIONS
    assert scores["letor4@2"]["a"].convention.short_name == "letor4@2"


def test_every_result_of_an_evaluator_has_an_entry_for_every_requested_convention():
    results = ra.Evaluator(LABELS, EQUAL_CONVENTIONS, group_sizes=SIZES).measure([2, 1, 1, 2])
    for by_convention in (results.per_query, results.tallies, results.shares, results.standard_errors):
        assert [convention.short_name for convention in by_convention] == EQUAL_CONVENTIONS
    assert results.per_query["letor4@2"].tolist() == [1.0, 1.0]  # jk2 discounts rank 2 as rank 1


@pytest.mark.parametrize("key", ["yahoo@3", "yaho@2", 2])
def test_an_unknown_key_is_a_key_error_and_a_convention_error(key):
    scores = evaluate_conventions()
    for error in (ra.ConventionError, KeyError):
        with pytest.raises(error):
            scores[key]
    assert key not in scores
    assert scores.get(key) is None


@pytest.mark.parametrize("method", ["evaluate", "tally", "per_query", "standard_error"])
def test_an_evaluator_of_one_convention_has_one_result_and_of_a_sequence_a_mapping(method):
    one, sequence = (ra.Evaluator(LABELS, given, group_sizes=SIZES) for given in ("yahoo@2", ["yahoo@2"]))
    assert (one.convention, one.conventions) == (ra.parse("yahoo@2"), [ra.parse("yahoo@2")])
    assert (sequence.convention, sequence.conventions) == (None, one.conventions)
    results = getattr(sequence, method)([2, 1, 1, 2])
    assert list(results) == one.conventions
    result = getattr(one, method)([2, 1, 1, 2])
    if method == "tally":
        assert result.to_dict() == results["yahoo@2"].to_dict()
    else:
        np.testing.assert_array_equal(result, results["yahoo@2"])


@pytest.mark.parametrize("bind", [passes.bind, passes.bind_usable])
def test_the_time_to_bind_conventions_does_not_grow_with_their_square(monkeypatch, bind):
    conventions = [ra.parse(f"textbook@{k}") for k in range(1, 17)]
    names, get = [], ra.NDCG.get
    monkeypatch.setattr(ra.NDCG, "get", lambda convention, name: names.append(name) or get(convention, name))
    queries, n_reads = ra.Queries([1, 0], group_sizes=[2]), []
    for n_conventions in (8, 16):
        names.clear()
        assert len(bind(queries, conventions[:n_conventions])) == n_conventions
        n_reads.append(names.count("k"))
    assert 8 <= n_reads[0] <= n_reads[1] <= 2 * n_reads[0]


def test_the_time_for_many_equal_conventions_does_not_grow_with_their_square(monkeypatch):
    convention, n_names, name = ra.parse("textbook@2"), [], ra.NDCG.name.fget
    monkeypatch.setattr(ra.NDCG, "name", property(lambda self: n_names.append(1) or name(self)))
    scores = ra.evaluate([1, 0], {"a": [1, 2], "b": [2, 1]}, [convention] * 50, group_sizes=[2])
    assert [of_models["b"].value for of_models in scores.values()] == [1.0] * 50
    assert len(n_names) <= 4 * 50


def test_only_an_evaluator_made_by_its_class_warns_of_labels():
    queries = ra.Queries([0.5, 0], group_sizes=[2])
    with pytest.warns(LabelsWarning, match=r"labels\[0\] is 0.5, which RankLib"):
        ra.Evaluator(queries, ["ranklib.rr@2"])
    assert ra.Evaluator.of(queries, [ra.parse("ranklib.rr@2")]).conventions == [ra.parse("ranklib.rr@2")]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029"])
def test_line_ends_in_a_models_name_leave_its_line_whole(end):
    models = {f"a{end}b": [2, 1, 1, 2], f"c{end}": [2, 1, 1, 2], "d": [2, 1, 1, 2]}
    for conventions, n_lines in ((CONVENTIONS, 5), (CONVENTIONS[0], 5), (["textbook@1"] * 8, 10)):
        scores = ra.evaluate(LABELS, models, conventions, group_sizes=SIZES)
        table = scores.table()
        assert len(str(scores).splitlines()) == n_lines
        assert len(table.markdown().splitlines()) == 7
        assert len(table.latex().splitlines()) == 10
        assert table.lines[0][0] == "a" + repr(end)[1:-1] + "b"
        assert end not in table.html()
