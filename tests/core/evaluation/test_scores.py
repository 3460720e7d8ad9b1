"""Scores of several conventions are a table in a notebook."""

from __future__ import annotations

import copy
import pickle

import pytest

import rankadapters as ra
from tests.helpers.tables import for_each

LABELS, SIZES = [1, 0, 1, 0], [2, 2]
CONVENTIONS = ["textbook@1", "yahoo@2"]


def several(scores=(2, 1, 1, 2)):
    return ra.evaluate(LABELS, scores, CONVENTIONS, group_sizes=SIZES)


def test_scores_are_a_table_with_a_line_for_each_convention():
    html = several()._repr_html_()
    assert html.startswith("<table><caption>2 conventions</caption>")
    assert '<th scope="row">ndcg@1/textbook</th><td style="text-align:right">0.5000</td>' in html
    assert html.count("<tr>") == 3
    lines = several()._repr_markdown_().splitlines()
    assert lines[0] == "2 conventions"
    assert lines[2].startswith("| name | value | queries |")
    assert lines[4].startswith("| ndcg@1/textbook | 0.5000 | 2 |")


def test_scores_of_models_have_a_line_for_each_model_whose_name_is_escaped():
    models = {"<b>": [2, 1, 1, 2], "down": [1, 2, 2, 1]}
    html = several(models)._repr_html_()
    assert html.count("<tr>") == 5
    assert "<td>&lt;b&gt;</td>" in html
    assert "<b>" not in html


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda scores: pickle.loads(pickle.dumps(scores))])
def test_scores_stay_what_they_are_in_a_copy(again):
    scores = several()
    assert again(scores) == scores == dict(scores)
    assert again(scores)._repr_html_() == scores._repr_html_()


ALIKE = ["letor3@2", "yahoo@2", "letor4@2", "yahoo@2"]


def streamed(conventions):
    return ra.evaluate_stream([{"label": LABELS, "score": [2.0, 1.0, 1.0, 2.0], "qid": [0, 0, 1, 1]}], conventions)


RESULTS = {
    "evaluate": lambda conventions: ra.evaluate(LABELS, [2, 1, 1, 2], conventions, group_sizes=SIZES),
    "panel": lambda conventions: ra.Panel(LABELS, conventions, group_sizes=SIZES).evaluate([2, 1, 1, 2]),
    "stream": streamed,
}


@for_each(("name", "result"), RESULTS.items())
def test_every_convention_asked_for_has_its_entry_in_order_by_any_text_of_it(name, result):
    scores = result(ALIKE)
    assert [convention.short_name for convention in scores] == ALIKE
    assert [score.convention.short_name for score in scores.values()] == ALIKE
    assert [convention.short_name for convention, _ in scores.items()] == ALIKE
    assert len(scores) == len(scores.table().lines) == 4
    assert result(CONVENTIONS)._repr_html_() == several()._repr_html_()
    for text in ALIKE:
        convention = ra.parse(text)
        for key in (text, convention, convention.name, str(convention)):
            assert scores[key].value == ra.evaluate(LABELS, [2, 1, 1, 2], text, group_sizes=SIZES).value
            assert key in scores
        assert scores[text].convention.short_name == text


def test_models_under_equal_conventions_keep_both_entries():
    scores = ra.evaluate(LABELS, {"a": [2, 1, 1, 2]}, ALIKE, group_sizes=SIZES)
    assert [convention.short_name for convention in scores] == ALIKE
    assert scores["letor4@2"]["a"].convention.short_name == "letor4@2"


def test_a_panel_gives_the_values_of_each_query_for_every_convention_asked_for():
    measured = ra.Panel(LABELS, ALIKE, group_sizes=SIZES).measure([2, 1, 1, 2])
    for found in (measured.per_query, measured.tallies, measured.shares, measured.standard_errors):
        assert [convention.short_name for convention in found] == ALIKE
    assert measured.per_query["letor4@2"].tolist() == [1.0, 1.0]  # jk2 discounts rank 2 as rank 1


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("yahoo@3", r"^yahoo@3 was not asked for\.\nHint: this result holds 'textbook@1', 'yahoo@2'\.$"),
        ("yaho@2", r"^'yaho@2' is neither a preset@k .*\nHint: did you mean 'yahoo@2'"),
        (2, r"^2 is not a convention\.\nHint: "),
    ],
)
def test_a_key_that_was_not_asked_for_gets_an_error_that_names_the_entries(key, message):
    scores = several()
    for error in (ra.ConventionError, KeyError):
        with pytest.raises(error, match=message):
            scores[key]
    assert key not in scores
    assert scores.get(key) is None
