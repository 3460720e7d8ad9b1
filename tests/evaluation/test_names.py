"""Mappings of names to conventions: results, tables and files carry the caller's names."""

from __future__ import annotations

import copy
import pickle

import pytest

import rankadapters as ra

LABELS, SCORES, QID = [1, 0, 2, 0], [0.9, 0.2, 0.1, 0.4], [0, 0, 1, 1]
NAMED = {"ndcg_10": "textbook@10", "web": ra.parse("yahoo@5"), "yahoo@10": "yahoo@10"}


def scores(convention, **arguments):
    return ra.evaluate(LABELS, SCORES, convention, qid=QID, **arguments)


def test_named_conventions_have_the_values_of_a_list_of_them():
    named, listed = scores(NAMED), scores(list(NAMED.values()))
    assert named == listed  # conventions are equal under any name
    assert [convention.name for convention in named] == list(NAMED)
    assert [named[name].value for name in NAMED] == [score.value for score in listed.values()]
    assert named["textbook@10"] == named["ndcg_10"]
    assert repr(named).startswith("Scores({'ndcg_10': Score(")
    assert [line.split()[0] for line in str(named).splitlines()[2:]] == list(NAMED)


def test_equal_conventions_may_have_two_names():
    twice = scores({"a": "yahoo@5", "b": "yahoo@5"})
    assert [score.convention.name for score in (twice["a"], twice["b"])] == ["a", "b"]


def test_a_mapping_of_one_name_gives_a_result_by_convention():
    assert list(scores({"mine": "yahoo@5"})) == [ra.parse("yahoo@5")]


def test_results_by_convention_are_taken_as_conventions():
    listed = scores(["lightgbm@1", "yahoo@2"])
    assert scores(listed) == listed
    assert [convention.name for convention in scores(scores(NAMED))] == list(NAMED)


@pytest.mark.parametrize(
    "same",
    [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), lambda x: ra.Score.from_json(x.to_json())],
)
def test_a_name_survives_copies_and_files(same):
    score = scores(NAMED)["web"]
    assert same(score) == score
    assert same(score).convention.name == "web"


def test_a_changed_convention_has_no_name_of_the_first():
    web = scores(NAMED)["web"].convention
    assert (web.at(10).name, web.replace(empty=0).name) == ("ndcg@10/yahoo", "ndcg@5/yahoo+empty=0")


def test_frames_of_queries_and_streams_have_the_names_as_columns():
    values = ra.per_query(LABELS, SCORES, NAMED, qid=QID, frame=True)
    assert list(values.columns)[1:4] == list(NAMED)
    table = {"qid": QID, "label": LABELS, "score": SCORES}
    assert [convention.name for convention in ra.evaluate_table(table, NAMED)] == list(NAMED)
    models = {"up": SCORES, "down": [-score for score in SCORES]}
    report = ra.audit.order(LABELS, models, NAMED, qid=QID)
    assert all(name in str(report) for name in NAMED)


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"yahoo@10": "textbook@10"}, "the name 'yahoo@10' means another convention than 'ndcg@10/gain=exp2"),
        ({"ndcg@5/0000000": "yahoo@5"}, "ends with digits of a hash"),
        ({"": "yahoo@5"}, "'' is not a name for a convention"),
        ({" ": "yahoo@5"}, "' ' is not a name for a convention"),
        ({"two\nlines": "yahoo@5"}, "is not a name for a convention"),
        ({3: "yahoo@5"}, "3 is not a name for a convention"),
        ({"mine": "yahu@5"}, "did you mean 'yahoo@5'"),
        ({"mine": 5}, "5 is not a convention"),
        ({"mine": ["yahoo@5", "yahoo@10"]}, "is not a convention"),
        ({}, "no convention was given"),
    ],
)
def test_a_name_that_means_something_else_is_refused(named, message):
    with pytest.raises(ra.ConventionError, match=message):
        scores(named)


def test_a_name_that_was_not_asked_for_lists_the_names():
    with pytest.raises(KeyError, match=r"'ndgc_10' was not asked for\.(.|\n)*holds 'ndcg_10', 'web', 'yahoo@10'"):
        scores(NAMED)["ndgc_10"]
