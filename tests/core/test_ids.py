"""One function says what an id is: the same id in any type has one value, one hash and one query."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.data.fingerprint import hash_ids
from rankadapters.core.data.ids import hash_word, hash_words, id_column, id_kind, id_value

NOON = datetime(2026, 1, 31, 12)  # noqa: DTZ001 - a time without a zone is one of the ids
ZONE = timezone(timedelta(hours=1))


def objects(*items):
    column = np.empty(len(items), object)
    column[:] = items
    return column


def pandas_time(text):
    return import_module("pandas").Timestamp(text)


SAME = {
    "integers": [np.array([7]), np.array([7], np.int8), np.array([7.0], np.float16), objects(7), objects(np.int64(7)),
                 objects(np.uint8(7)), objects(np.float32(7)), objects(Decimal(7)), objects(Fraction(7))],
    "large integers": [np.array([2**64 - 1], np.uint64), objects(2**64 - 1), objects(np.uint64(2**64 - 1))],
    "fractions": [np.array([0.5]), np.array([0.5], np.float32), objects(0.5), objects(np.float64(0.5)),
                  objects(Decimal("0.50")), objects(Fraction(1, 2))],
    "decimals": [objects(Decimal("0.1")), objects(Decimal("0.10")), objects(Fraction(1, 10))],
    "flags": [np.array([True]), objects(True), objects(np.True_)],
    "texts": [np.array(["a"]), objects("a"), objects(np.str_("a"))],
    "bytes": [np.array([b"a"]), objects(b"a"), objects(np.bytes_(b"a"))],
    "tuples": [objects(("a", 1)), objects((np.str_("a"), np.int64(1))), objects(("a", 1.0))],
    "times": [*(np.array(["2026-01-31T12:00"], f"M8[{unit}]") for unit in ("m", "s", "us", "ns")), objects(NOON),
              objects(np.datetime64("2026-01-31T12:00", "ns")), objects(NOON.replace(tzinfo=UTC)),
              objects(datetime(2026, 1, 31, 13, tzinfo=ZONE)), objects(NOON.replace(fold=1))],
    "dates": [np.array(["2026-01-31"], "M8[D]"), objects(date(2026, 1, 31)), objects(np.datetime64("2026-01-31"))],
    "durations": [np.array([90], "m8[s]"), np.array([90 * 10**9], "m8[ns]"), objects(timedelta(seconds=90))],
}  # fmt: skip


@pytest.mark.parametrize("columns", SAME.values(), ids=SAME)
def test_the_same_id_has_one_hash_in_every_type(columns):
    assert {int(hash_ids(column)[0]) for column in columns} == {int(hash_ids(columns[0])[0])}
    assert {repr(id_value(column[0])) for column in columns} == {repr(id_value(columns[0][0]))}


@pytest.mark.parametrize("columns", SAME.values(), ids=SAME)
def test_equal_scores_compare_whatever_type_the_ids_have(columns):
    scores = [ra.evaluate([1, 0], [0.1, 0.2], "yahoo@10", qid=np.repeat(column, 2)) for column in columns]
    assert {score - scores[0] for score in scores} == {0.0}


@pytest.mark.parametrize("columns", SAME.values(), ids=SAME)
def test_the_same_id_in_two_types_is_one_query(columns):
    assert ra.Queries([1.0] * len(columns), qid=objects(*(column[0] for column in columns))).n_queries == 1


def test_ids_of_different_queries_have_different_hashes():
    several = [columns[0] for columns in SAME.values()]
    several += [objects("7"), objects(7.5), objects(-1), objects(2**64 + 7), objects(2**63), objects(-(2**63) - 1)]
    several += [objects(2**63 - 1), objects(-(2**63)), np.array(["2026-01-31T12:00:00.000000001"], "M8[ns]")]
    several += [objects("a\0"), objects(np.datetime64("2026-01-31T00:00")), objects(10**18)]
    assert np.unique([hash_ids(column)[0] for column in several]).size == len(several)


def test_pandas_times_are_those_of_numpy():
    pytest.importorskip("pandas")
    for text in ("2026-01-31T12:00", "2026-01-31T12:00:00.000000001"):
        expected = hash_ids(np.array([text], "M8[ns]"))
        assert hash_ids(objects(pandas_time(text))) == expected
        assert hash_ids(objects(pandas_time(text).tz_localize("UTC").tz_convert("Asia/Tokyo"))) == expected


def test_a_set_has_one_hash_in_every_process():
    """The repr of a set of texts follows the hashes of texts, which differ from process to process."""
    assert id_value(frozenset({"b", "a"})) == ("frozenset", "'a'", "'b'")


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
        (objects((1, 2)), object, "object"),
        (objects(b"a"), object, "bytes"),
        (objects(NOON), "M8[us]", "datetime"),
        (objects(date(2026, 1, 31)), "M8[D]", "date"),
        (objects(np.datetime64("2026-01-31")), "M8[D]", "date"),
        (objects(timedelta(1)), "m8[us]", "timedelta"),
        (np.array([1], "m8[s]"), "m8[s]", "timedelta"),
    ],
    ids=str,
)
def test_a_column_has_the_widest_type_of_its_kind(ids, dtype, kind):
    column = id_column(ids)
    assert (column.dtype, id_kind(column)) == (np.dtype(dtype), kind)
    assert hash_ids(column).tolist() == hash_ids(ids).tolist()


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= np.finfo(float).nmant, reason="long double is float64 here")
def test_floats_that_float64_would_merge_stay_apart():
    near = np.nextafter(np.longdouble(1), np.longdouble(2))
    for ids in (np.array([1, near]), objects(np.longdouble(1), near)):
        assert np.unique(hash_ids(id_column(ids))).size == 2


def test_texts_that_differ_in_a_nul_at_their_end_are_two_ids():
    queries = ra.Queries([1, 0, 1], qid=["a", "a\0", "b"])
    assert queries.query_ids.tolist() == ["a", "a\0", "b"]
    assert ra.Queries([1, 0, 1], qid=[7, 7, 7], docid=["a\0", "b", "a"]).docid_rank.tolist() == [1, 2, 0]
    assert ra.Queries([1, 0], qid=[7, 7], docid=objects("a\0\0", "a\0")).docid_rank.tolist() == [1, 0]


def test_weights_indexed_by_times_in_another_order_are_refused():
    pandas = pytest.importorskip("pandas")
    days = pandas.to_datetime(["2026-02-01", "2026-01-31"]).as_unit("ns")
    with pytest.raises(ra.InputError, match="indexed by query id, in an order other than"):
        ra.Queries([1, 0], qid=days, query_weight=pandas.Series([1.0, 2.0], index=days[::-1]))


def test_models_whose_ids_have_other_types_are_compared():
    times = np.array(["2026-01-31T12:00", "2026-02-01T12:00"])
    queries = {unit: ra.Queries([1, 0, 0, 1], qid=np.repeat(times.astype(f"M8[{unit}]"), 2)) for unit in ("ns", "us")}
    scores = {unit: np.arange(4.0) for unit in queries}
    found = ra.audit.order(queries, scores, "yahoo@10", n_resamples=9).scores
    assert list(found["ns"].values()) == list(found["us"].values())


def test_the_hash_of_a_column_is_that_of_its_ids():
    for column in (np.array([0, 2**63 - 2, 2**63 - 1, 2**63, 2**64 - 1], np.uint64), np.array([-(2**63), -1, 1])):
        assert hash_words(column).tolist() == [hash_word(each) for each in column.tolist()]
