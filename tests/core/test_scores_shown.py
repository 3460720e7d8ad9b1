"""Scores of several conventions are a table in a notebook."""

from __future__ import annotations

import copy
import pickle

import pytest

import rankadapters as ra

LABELS, SIZES = [1, 0, 1, 0], [2, 2]
CONVENTIONS = ["textbook@1", "yahoo@2"]


def several(scores=(2, 1, 1, 2)):
    return ra.evaluate_many(LABELS, scores, CONVENTIONS, group_sizes=SIZES)


def test_scores_are_a_table_with_a_line_for_each_convention():
    html = several()._repr_html_()

    assert html.startswith("<table><caption>2 conventions</caption>")
    assert '<th scope="row">ndcg@1/textbook</th><td style="text-align:right">0.5000</td>' in html
    assert html.count("<tr>") == 3


def test_scores_of_models_have_a_line_for_each_model_whose_name_is_escaped():
    models = {"<b>": [2, 1, 1, 2], "down": [1, 2, 2, 1]}

    html = several(models)._repr_html_()

    assert html.count("<tr>") == 5
    assert "<td>&lt;b&gt;</td>" in html
    assert "<b>" not in html


def test_markdown_has_the_same_lines():
    lines = several()._repr_markdown_().splitlines()

    assert lines[0] == "2 conventions"
    assert lines[2].startswith("| name | value | queries |")
    assert lines[4].startswith("| ndcg@1/textbook | 0.5000 | 2 |")


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda scores: pickle.loads(pickle.dumps(scores))])
def test_scores_stay_what_they_are_in_a_copy(again):
    scores = several()

    assert again(scores) == scores == dict(scores)
    assert again(scores)._repr_html_() == scores._repr_html_()


def test_a_panel_and_a_stream_give_such_scores_too():
    panel = ra.Panel(LABELS, CONVENTIONS, group_sizes=SIZES)
    batch = {"label": LABELS, "score": [2.0, 1.0, 1.0, 2.0], "qid": [0, 0, 1, 1]}

    for scores in (panel.evaluate([2, 1, 1, 2]), ra.evaluate_stream([batch], CONVENTIONS)):
        assert scores._repr_html_() == several()._repr_html_()


def test_one_score_is_shown_in_markdown_too():
    score = ra.evaluate(LABELS, [2, 1, 1, 2], "textbook@1", group_sizes=SIZES)

    assert score._repr_markdown_() == f"**0.5000** `{score.convention}`  \nqueries 2, scored 2, empty 0, short 0"
