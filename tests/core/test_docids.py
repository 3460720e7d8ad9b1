from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core.data.docids import rank_docids

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


@given(st.lists(st.tuples(st.integers(0, 2), TEXT), min_size=1, max_size=30, unique=True))
def test_ranks_follow_the_utf8_bytes(pairs):
    query, ids = np.array([q for q, _ in pairs]), np.array([text for _, text in pairs])
    ranks, twice = rank_docids(ids, query)
    expected = sorted(range(len(pairs)), key=lambda row: (pairs[row][0], pairs[row][1].encode()))
    assert np.argsort(ranks).tolist() == expected
    assert twice == -1


@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from(["a", "b", "é", "aa"])), min_size=1, max_size=12))
def test_a_second_stand_in_one_query_is_found(pairs):
    _, twice = rank_docids(np.array([text for _, text in pairs]), np.array([q for q, _ in pairs]))
    assert (twice >= 0) == (len(set(pairs)) < len(pairs))
    if twice >= 0:
        assert pairs.count(pairs[twice]) > 1


def test_docids_that_differ_in_a_nul_at_their_end_are_two():
    batch = {"label": [1, 0], "score": [1, 1], "qid": [7, 7], "docid": ["a\0", "a"]}
    convention = ra.presets.textbook(1).replace(ties="docid-descending")
    assert ra.evaluate_stream([batch], convention, docid="docid").value == 1.0


def test_docids_of_interleaved_queries_break_ties():
    convention = ra.presets.textbook(1).replace(ties="docid-descending")
    columns = {"qid": ["a", "b", "a", "b"], "docid": ["x", "ab", "y", "aa"]}
    assert ra.Evaluator([0, 0, 1, 1], convention, **columns).per_query([1, 1, 1, 1]).tolist() == [1.0, 0.0]
