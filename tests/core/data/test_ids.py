"""Query ids and docids: equal ids of any type have one hash and are one query, and no hash ever changes.

A tally written today must merge with one that a later version writes. The expected hashes and fingerprints are those of
the first version: never change them.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core.data.columns import as_numbers, index_dtype
from rankadapters.core.data.grouping import grouped, stable_order
from rankadapters.core.data.ids import hash_ids, id_column, id_kind, id_value
from rankadapters.core.data.optional_columns import rank_docids


@pytest.mark.parametrize(("n", "expected"), [(1, np.int32), (2**31 - 1, np.int32), (2**31, np.int64)])
def test_row_numbers_are_int32_where_they_fit(n, expected):
    assert index_dtype(n) is expected


@pytest.mark.parametrize("kind", ["?", "i1", ">u2", "i4", ">i8", "f2", "<f4", ">f4", "<f8", ">f8"])
def test_numbers_become_native_float32_or_float64(kind):
    numbers = as_numbers("scores", np.array([0, 1, 1], kind))
    assert numbers.dtype == (np.float32 if np.dtype(kind) == np.float32 else np.float64)
    assert numbers.dtype.isnative
    assert numbers.tolist() == [0, 1, 1]


SCATTERED = {
    "int8": np.array([-128, 127, 0], np.int8),
    "bytes": np.arange(3, dtype=np.uint8),
    "two digits of 16 bits": np.array([-70_000, 2**31, 5]),
    "just too far apart": np.array([0, 2**32, 7]),
    "all of int64": np.array([-(2**63), 2**63 - 1, 0]),
    "the end of uint64": np.array([2**64 - 1, 2**64 - 2**17, 2**64 - 3], np.uint64),
    "all of uint64": np.array([0, 2**64 - 1, 2**63], np.uint64),
}


@pytest.mark.parametrize("ids", SCATTERED.values(), ids=SCATTERED)
def test_rows_are_grouped_by_first_appearance_and_sorted_stably(ids):
    qid = np.random.default_rng(0).choice(ids, 40)
    rows_of_query: dict[int, list[int]] = {}
    for row, query in enumerate(qid.tolist()):
        rows_of_query.setdefault(query, []).append(row)
    groups = grouped(qid, None, qid.size)
    assert groups["query_ids"].tolist() == list(rows_of_query)
    assert groups["query_ids"].dtype == qid.dtype
    assert np.diff(groups["indptr"]).tolist() == [len(rows) for rows in rows_of_query.values()]
    assert groups["order"].tolist() == [row for rows in rows_of_query.values() for row in rows]
    numbers = np.random.default_rng(1).choice(ids, 60)
    assert stable_order(numbers).tolist() == sorted(range(60), key=lambda row: int(numbers[row]))


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


@given(st.lists(st.tuples(st.integers(0, 2), TEXT), min_size=1, max_size=60, unique=True))
def test_docid_ranks_follow_the_utf8_bytes(pairs):
    queries = ra.Queries([0] * len(pairs), qid=[q for q, _ in pairs])
    ranks, repeated_row = rank_docids(np.array([text for _, text in pairs]), queries)
    ids = queries.query_ids.tolist()
    expected = sorted(range(len(pairs)), key=lambda row: (ids.index(pairs[row][0]), pairs[row][1].encode()))
    assert np.argsort(ranks).tolist() == expected
    assert repeated_row == -1


NOON = datetime(2026, 1, 31, 12)  # noqa: DTZ001 - times without a zone are among the ids
ZONE = timezone(timedelta(hours=1))


def objects(*items):
    column = np.empty(len(items), object)
    column[:] = items
    return column


EQUAL_IDS = {
    "integers": [np.array([7]), np.array([7], np.int8), np.array([7.0], np.float16), objects(7), objects(np.int64(7)),
                 objects(np.uint8(7)), objects(np.float32(7))],
    "large integers": [np.array([2**64 - 1], np.uint64), objects(2**64 - 1), objects(np.uint64(2**64 - 1))],
    "fractions": [np.array([0.5]), np.array([0.5], np.float32), objects(0.5), objects(np.float64(0.5))],
    "flags": [np.array([True]), objects(True), objects(np.True_)],
    "texts": [np.array(["a"]), objects("a"), objects(np.str_("a"))],
    "bytes": [np.array([b"a"]), objects(b"a"), objects(np.bytes_(b"a"))],
    "tuples": [objects(("a", 1)), objects((np.str_("a"), np.int64(1))), objects(("a", 1.0))],
    "times": [*(np.array(["2026-01-31T12:00"], f"M8[{unit}]") for unit in ("m", "s", "us", "ns")), objects(NOON),
              objects(np.datetime64("2026-01-31T12:00", "ns")), objects(NOON.replace(tzinfo=UTC)),
              objects(datetime(2026, 1, 31, 13, tzinfo=ZONE)), objects(NOON.replace(fold=1))],
    "dates": [np.array(["2026-01-31"], "M8[D]"), objects(date(2026, 1, 31)), objects(np.datetime64("2026-01-31"))],
}  # fmt: skip


@pytest.mark.parametrize("columns", EQUAL_IDS.values(), ids=EQUAL_IDS)
def test_equal_ids_of_any_type_have_one_hash_one_value_and_one_query(columns):
    assert {int(hash_ids(column)[0]) for column in columns} == {int(hash_ids(columns[0])[0])}
    assert {repr(id_value(column[0])) for column in columns} == {repr(id_value(columns[0][0]))}
    scores = [ra.evaluate([1, 0], [0.1, 0.2], "yahoo@10", qid=np.repeat(column, 2)) for column in columns]
    assert {score - scores[0] for score in scores} == {0.0}
    assert ra.Queries([1.0] * len(columns), qid=objects(*(column[0] for column in columns))).n_queries == 1


def test_ids_of_different_queries_have_different_hashes():
    columns = [equal_columns[0] for equal_columns in EQUAL_IDS.values()]
    columns += [objects("7"), objects(7.5), objects(-1), objects(2**64 + 7), objects(2**63), objects(-(2**63) - 1)]
    columns += [objects(2**63 - 1), objects(-(2**63)), np.array(["2026-01-31T12:00:00.000000001"], "M8[ns]")]
    columns += [objects("a\0"), objects(np.datetime64("2026-01-31T00:00")), objects(10**18)]
    assert np.unique([hash_ids(column)[0] for column in columns]).size == len(columns)


def test_pandas_times_have_the_hashes_of_numpy_times():
    pandas = pytest.importorskip("pandas")
    for text in ("2026-01-31T12:00", "2026-01-31T12:00:00.000000001"):
        expected = hash_ids(np.array([text], "M8[ns]"))
        assert hash_ids(objects(pandas.Timestamp(text))) == expected
        assert hash_ids(objects(pandas.Timestamp(text).tz_localize("UTC").tz_convert("Asia/Tokyo"))) == expected


@pytest.mark.parametrize(
    ("ids", "dtype", "kind"),
    [
        (np.array([1], np.int8), np.int64, "integer"),
        (np.array([1], np.uint32), np.int64, "integer"),
        (np.array([1], np.uint64), np.uint64, "unsigned integer"),
        (objects(np.int8(1), 2), np.int64, "integer"),
        (objects(1, 2**64 - 1), np.uint64, "unsigned integer"),
        (objects(-1, 2**64 - 1), object, "integer beyond 64 bits"),
        (np.array([0.5], np.float16), np.float64, "float"),
        (objects(np.float32(0.5)), np.float64, "float"),
        (objects("a", np.str_("b")), "<U1", "text"),
        (objects("a", "a\0"), object, "text"),
        (objects(True, np.False_), np.bool_, "bool"),
        (objects(1, "1"), object, "integer and text"),
        (objects((1, 2)), object, "tuple"),
        (objects(b"a"), object, "bytes"),
        (objects(NOON), "M8[us]", "datetime"),
        (objects(date(2026, 1, 31)), "M8[D]", "date"),
        (objects(np.datetime64("2026-01-31")), "M8[D]", "date"),
    ],
)
def test_an_id_column_has_the_widest_dtype_of_its_kind(ids, dtype, kind):
    column = id_column(ids)
    assert (column.dtype, id_kind(column)) == (np.dtype(dtype), kind)
    assert hash_ids(column).tolist() == hash_ids(ids).tolist()


def test_texts_that_differ_in_a_trailing_nul_stay_apart():
    queries = ra.Queries([1, 0, 1], qid=["a", "a\0", "b"])
    assert queries.query_ids.tolist() == ["a", "a\0", "b"]
    assert ra.Queries([1, 0, 1], qid=[7, 7, 7], docid=["a\0", "b", "a"]).docid_rank.tolist() == [1, 2, 0]
    assert ra.Queries([1, 0], qid=[7, 7], docid=objects("a\0\0", "a\0")).docid_rank.tolist() == [1, 0]


def test_rows_whose_docid_is_their_querys_id_are_known():
    columns = {"qid": ["7", "a", "7", "a", "b"], "docid": ["a", "a", "7", "b", "b "]}
    queries = ra.Queries([1, 0, 1, 0, 1], **columns)
    assert queries.own_docid.tolist() == [False, True, True, False, False]
    part, rows = queries.subset(np.array([1, 0]))
    assert part.own_docid.tolist() == queries.own_docid[rows].tolist()
    assert queries.select(np.array([0]))[0].own_docid.tolist() == [False, True]
    assert ra.Queries([1, 0], qid=["a", "b"], docid=["b", "a"]).own_docid is None
    assert ra.Queries([1, 0], group_sizes=[1, 1], docid=["0", "1"]).own_docid is None  # these queries have no ids
    assert ra.Queries([1, 0], qid=[0, 1]).own_docid is None


LABELS, QID = [2.0, 0.0, 1.5, 0.0, 3.0], ["a", "a", "b", "b", "b"]
PAIRS = ([0, 4], [1, 2])


def fingerprints(**columns):
    return [hex(word) for word in ra.Queries(**{"labels": LABELS, "qid": QID} | columns).fingerprints.tolist()]


WHOLE_NUMBER_HASHES = ["0xe220a8397b1dcdaf", "0x910a2dec89025cc1", "0x1fdd7128f310c389", "0xe4d971771b652c20"]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([0, 1, 2**40, -1], WHOLE_NUMBER_HASHES),
        ([0.0, 1.0, 2.0**40, -1.0], WHOLE_NUMBER_HASHES),
        (["a", "é", ""], ["0xdd433d9a4a97677d", "0x7598f8253a7bb514", "0x7cb39d447858dab6"]),
        ([0.5, -2.25], ["0x330ba5e565fe3869", "0xa8b90c8b8c0b19ee"]),
        ([True, False], ["0x910a2dec89025cc1", "0xe220a8397b1dcdaf"]),
        ([("a", 1), ("a", 2)], ["0x2a0486a9012ec09f", "0xc75fe4360b9d585c"]),
    ],
)
def test_hashes_of_ids_never_change(ids, expected):
    column = np.empty(len(ids), object) if isinstance(ids[0], tuple) else np.asarray(ids)
    column[:] = ids
    assert [hex(word) for word in hash_ids(column).tolist()] == expected


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        *((columns, ["0xe4381c778c6e650e", "0x67c8e1f8ddc80864"]) for columns in (  # all mean the same
            {}, {"labels": [-0.0 + 2, -0.0, 1.5, -0.0, 3.0]}, {"query_weight": [1.0, 1.0]}, {"judged": [True] * 5})),
        ({"qid": ["b", "a", "b", "a", "b"]}, ["0xd2c9c70ea6b01ef3", "0xf605a02f481bfe77"]),
        ({"qid": None, "group_sizes": [2, 3]}, ["0xa73a423f1b255ea9", "0xde143e0546e1d0bb"]),
        ({"query_weight": [0.5, 2.0]}, ["0x3df235b8fb58a221", "0x40bb3e3210081369"]),
        ({"row_weight": [1.0, 0.25, 0.0, 2.0, 1.0]}, ["0x59793d4b502e2c5e", "0x3a80074c121d0b31"]),
        ({"pairs": PAIRS}, ["0xa3197efaaa4f0e2a", "0x34d264067f1a7cfc"]),
        ({"pairs": (*PAIRS, [1.0, 0.5])}, ["0xa3197efaaa4f0e2a", "0x88283bf1546fda15"]),
        ({"judged": [True, False, True, True, True]}, ["0x76d29e481753438a", "0x67c8e1f8ddc80864"]),
        ({"retrieved": [True, True, True, False, True]}, ["0xe4381c778c6e650e", "0x293c05eec3492bd7"]),
    ],
)  # fmt: skip
def test_fingerprints_of_queries_never_change(columns, expected):
    assert fingerprints(**columns) == expected


def test_ids_have_the_same_hash_in_a_column_and_alone():
    for column in (np.array([0, 2**63 - 2, 2**63 - 1, 2**63, 2**64 - 1], np.uint64), np.array([-(2**63), -1, 1])):
        assert hash_ids(column).tolist() == hash_ids(objects(*column.tolist())).tolist()
