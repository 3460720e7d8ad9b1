"""Tallies of any partition merge into the same bits; tallies that share queries or disagree are refused."""

from __future__ import annotations

import pickle

import pytest

import rankadapters as ra
from tests.helpers.rankings import TEXTBOOK, ragged_columns


def test_tallies_are_read_back_from_plain_data_unless_it_is_damaged():
    labels, scores, qid = ragged_columns(3)
    tally = ra.Evaluator(labels, TEXTBOOK, qid=[f"q{query}" for query in qid]).tally(scores)
    assert ra.Tally.from_dict(tally.to_dict()).score() == tally.score()
    assert pickle.loads(pickle.dumps(tally)).score() == tally.score()
    damage = [{"numerator": "zz"}, {"ids": ["zz"]}, {"ids": []}, {"n_queries": "x"}, {"ids": "AA=="}, {"ids": "?"}]
    for data in ({"convention": str(TEXTBOOK)}, *({**tally_of("a").to_dict(), **change} for change in damage)):
        with pytest.raises(ra.InputError, match="this is not a tally"):
            ra.Tally.from_dict(data)


def test_tallies_that_share_a_query_or_differ_in_convention_do_not_add_up():
    tally = ra.Evaluator([1, 0], TEXTBOOK, group_sizes=[2]).tally([1, 2])
    with pytest.raises(
        ra.InputError, match=r"query number 0 of tally 0 is in tallies 0 and 1\.\nHint: each query in one part only"
    ):
        tally + tally
    tally_at_5 = ra.Evaluator([1, 0], TEXTBOOK.at(5), qid=["x", "x"]).tally([1, 2])
    with pytest.raises(ra.IncomparableScoresError, match="differ in k"):
        tally + tally_at_5
    with pytest.raises(TypeError):
        tally + 1.0


def test_a_query_in_two_of_many_tallies_is_refused_by_its_number():
    parts = [["q1", "q2"], ["q3", "q4", "q7"], ["q5"], ["q7", "q6"]]
    message = "query number 2 of tally 1 is in tallies 1 and 3.\nHint: each query in one part only"
    with pytest.raises(ra.InputError, match=message):
        ra.Tally.merge(tally_of(*ids) for ids in parts)


def tally_of(*ids):
    return ra.Evaluator([1] * len(ids), TEXTBOOK, qid=ids).tally([0.5] * len(ids))


def test_a_merged_tally_is_merged_again_but_not_with_a_repeated_query():
    whole = ra.Tally.merge([tally_of("a"), tally_of("b")]) + tally_of("c")
    with pytest.raises(ra.InputError, match=r"query number [012] of tally 0 is in tallies 0 and 1"):
        whole + tally_of("b")
    assert whole.score() - sum([tally_of("c"), tally_of("a"), tally_of("b")]).score() == 0.0


def test_a_part_of_weight_zero_is_merged():
    convention = ra.presets.sklearn(2)
    parts = [
        ra.Evaluator([1, 0], convention, qid=[query, query], query_weight=[weight]).tally([1, 2])
        for query, weight in (("a", 0.0), ("b", 1.0))
    ]
    whole = ra.evaluate([1, 0, 1, 0], [1, 2, 1, 2], convention, qid=list("aabb"), query_weight=[0, 1])
    assert sum(parts).score() - whole == 0.0


def test_a_tally_shows_its_convention_and_counts():
    assert repr(tally_of("a", "b")) == f"Tally({TEXTBOOK.short_name!r}, n_queries=2, n_scored=2, n_empty=0, n_short=2)"
