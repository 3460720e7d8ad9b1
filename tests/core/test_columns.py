"""Columns: their types, query ids wherever their rows stand, and the order of docids."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core.data.columns import as_numbers, index_dtype
from rankadapters.core.data.docids import rank_docids
from rankadapters.core.data.grouping import grouped, stable_order
from tests.tables import for_each


@for_each(("n", "expected"), [(1, np.int32), (2**31 - 1, np.int32), (2**31, np.int64)])
def test_rows_are_numbered_in_half_the_bits_as_far_as_these_go(n, expected):
    assert index_dtype(n) is expected


@for_each("kind", ["?", "i1", ">u2", "i4", ">i8", "f2", "<f4", ">f4", "<f8", ">f8"])
def test_numbers_are_read_in_the_machines_own_float64_or_float32(kind):
    found = as_numbers("scores", np.array([0, 1, 1], kind))
    assert found.dtype == (np.float32 if np.dtype(kind) == np.float32 else np.float64)
    assert found.dtype.isnative
    assert found.tolist() == [0, 1, 1]


IDS = {
    "int8": np.array([-128, 127, 0], np.int8),
    "bytes": np.arange(3, dtype=np.uint8),
    "two digits of 16 bits": np.array([-70_000, 2**31, 5]),
    "just too far apart": np.array([0, 2**32, 7]),
    "all of int64": np.array([-(2**63), 2**63 - 1, 0]),
    "the end of uint64": np.array([2**64 - 1, 2**64 - 2**17, 2**64 - 3], np.uint64),
    "all of uint64": np.array([0, 2**64 - 1, 2**63], np.uint64),
}


@for_each("ids", IDS.values(), ids=IDS)
def test_scattered_rows_are_brought_together_as_by_a_dict_and_sorted_stably(ids):
    qid = np.random.default_rng(0).choice(ids, 40)
    rows: dict[int, list[int]] = {}
    for row, query in enumerate(qid.tolist()):
        rows.setdefault(query, []).append(row)
    found = grouped(qid, None, qid.size)
    assert found["query_ids"].tolist() == list(rows)
    assert found["query_ids"].dtype == qid.dtype
    assert np.diff(found["indptr"]).tolist() == [len(several) for several in rows.values()]
    assert found["order"].tolist() == [row for several in rows.values() for row in several]
    numbers = np.random.default_rng(1).choice(ids, 60)
    assert stable_order(numbers).tolist() == sorted(range(60), key=lambda row: int(numbers[row]))


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
