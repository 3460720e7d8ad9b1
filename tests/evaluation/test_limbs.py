"""Tallies as arrays of integers (limbs) that any engine can add up."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.rankings import TEXTBOOK, ragged_columns


def whole_and_parts(convention, n_parts):
    """Return the tally of all queries and the tallies of its parts."""
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
