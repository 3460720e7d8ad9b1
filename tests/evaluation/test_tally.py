"""Tallies of any partition merge into the same bits, also as limbs; those that share queries are refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.rankings import TEXTBOOK, ragged_columns


def test_tallies_are_read_back_from_plain_data_unless_it_is_damaged():
    labels, scores, qid = ragged_columns(3)
    tally = ra.Evaluator(labels, TEXTBOOK, qid=[f"q{query}" for query in qid]).tally(scores)
    assert ra.Tally.from_dict(tally.to_dict()).score() == tally.score()
    assert pickle.loads(pickle.dumps(tally)).score() == tally.score()
    right = tally_of("a").to_dict()
    damage = [
        {"numerator": "zz"},
        {"n_queries": "x"},
        *({"ids": ids} for ids in (["zz"], [], "AA==", "?" + right["ids"])),
    ]
    for data in ({"convention": str(TEXTBOOK)}, *({**right, **change} for change in damage)):
        with pytest.raises(ra.InputError, match="this is not a tally"):
            ra.Tally.from_dict(data)
    with pytest.raises(ra.ConventionError, match=r"^'none'"):
        ra.Tally.from_dict({**tally.to_dict(), "convention": "none"})


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


def whole_and_parts(convention, n_parts):
    labels, scores, qid = ragged_columns(7)
    part = np.unique(qid, return_inverse=True)[1] % n_parts
    tallies = [
        ra.Evaluator(labels[rows], convention, qid=qid[rows]).tally(scores[rows])
        for rows in (part == number for number in range(n_parts))
    ]
    return ra.Evaluator(labels, convention, qid=qid).tally(scores), tallies


@pytest.mark.parametrize("name", ["textbook@5", "letor4.map", "yahoo.err", "catboost.query_rmse", "lightgbm@3"])
@pytest.mark.parametrize("n_parts", [1, 2, 3, 17])
def test_the_limbs_of_parts_add_up_to_the_limbs_of_the_whole(name, n_parts):
    convention = ra.parse(name)
    whole, tallies = whole_and_parts(convention, n_parts)
    limbs = np.sum([tally.to_limbs() for tally in tallies[::-1]], axis=0)
    ids = np.concatenate([tally.ids for tally in tallies])
    for merged in (ra.Tally.from_limbs(limbs, convention), ra.Tally.from_limbs(limbs, convention, ids=ids)):
        assert merged.score().to_dict() == whole.score().to_dict()
        assert np.array_equal(merged.to_limbs(), whole.to_limbs())
    assert limbs.shape == (ra.Tally.N_LIMBS,) == (146,)


def test_limbs_with_ids_reveal_a_query_that_is_merged_twice():
    whole, (first, second) = whole_and_parts(TEXTBOOK, 2)
    from_limbs = ra.Tally.from_limbs(first.to_limbs(), TEXTBOOK, ids=first.ids)
    assert (from_limbs + second).score() - whole.score() == 0.0
    with pytest.raises(ra.InputError, match=r"query number \d+ of tally 0 is in tallies 0 and 1"):
        from_limbs + ra.Tally.from_limbs(first.to_limbs(), TEXTBOOK, ids=first.ids)


def test_tallies_that_may_share_queries_are_not_merged():
    _, (first, second) = whole_and_parts(TEXTBOOK, 2)
    without_ids = ra.Tally.from_limbs(second.to_limbs(), TEXTBOOK)
    with pytest.raises(ra.InputError, match=r"tally 1 has no ids, so that a query .*\nHint: Tally.from_limbs"):
        first + without_ids
    assert ra.Tally.merge([without_ids]).ids is None


@pytest.mark.parametrize(
    ("problem", "change"),
    [
        (r"it has \d+ ids of dtype uint64 for \d+ queries", lambda ids: ids[1:]),
        ("ids of dtype float64", lambda ids: ids.astype(float)),
        (r"ids\[0\] and ids\[\d+\] are one query", lambda ids: np.concatenate([ids[:-1], ids[:1]])),
    ],
)
def test_bad_ids_are_refused(problem, change):
    tally, _ = whole_and_parts(TEXTBOOK, 1)
    with pytest.raises(ra.InputError, match=problem):
        ra.Tally.from_limbs(tally.to_limbs(), TEXTBOOK, ids=change(tally.ids))
