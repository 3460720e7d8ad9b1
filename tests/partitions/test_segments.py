"""Segments in Dask and Spark equal those in memory, however the partitions cut the queries."""

from datetime import date

import numpy as np
import pytest

import rankadapters as ra
from tests.evaluation.segment_rows import segment_results
from tests.helpers.partitioned_rows import AVERAGED_TIES, COLUMNS, ORDER_AND_DOCID, conventions, partition_rows, rows

DATA = rows()
DATA["market"] = np.array(["se", "no", "dk"])[DATA["query"] % 5 % 3]
DATA["head"] = DATA["query"] % 2
SEGMENTS = dict(zip(DATA["query"].tolist(), DATA["market"].tolist(), strict=True))
ALL_COLUMNS = {**COLUMNS, **ORDER_AND_DOCID}


def evaluate_in_memory(convention, by, **changes):
    data = {**DATA, **changes}
    order = np.argsort(data["position"])
    data = {name: column[order] for name, column in data.items()}
    queries = ra.Queries(data["grade"], qid=data["query"], docid=[str(document) for document in data["document"]])
    return ra.evaluate(queries, data["model"], convention, by=data[by] if isinstance(by, str) else by)


@pytest.mark.parametrize(
    ("partitions", "cut_options", "by"),
    [
        ("whole", {"whole_queries": True}, SEGMENTS),
        ("whole", {"whole_queries": True}, {query: (name, date(2026, 1, 31)) for query, name in SEGMENTS.items()}),
        ("shuffle", {}, "market"),
        ("shuffle", {"shuffled": True}, "head"),
    ],
    ids=["whole and a mapping", "whole and a mapping to tuples", "shuffle and texts", "shuffle and integers"],
)
def test_partitions_give_the_same_segments_as_memory(engine, partitions, cut_options, by):
    convention_list = conventions() if by == "market" else [AVERAGED_TIES]
    df = engine.frame(partition_rows(DATA, 3, with_empty=True, **cut_options))
    segments = engine.module.evaluate(df, convention_list, **ALL_COLUMNS, partitions=partitions, by=by)
    assert segment_results(segments) == segment_results(evaluate_in_memory(convention_list, by))


@pytest.mark.parametrize("by", ["market", SEGMENTS])
def test_one_convention_has_a_score_for_each_segment(engine, by):
    df = engine.frame(partition_rows(DATA, 17))
    segments = engine.module.evaluate(df, AVERAGED_TIES, **COLUMNS, partitions="shuffle", by=by)
    assert repr(segments) == repr(evaluate_in_memory(AVERAGED_TIES, by))
    assert isinstance(segments["se"], ra.Score)


def test_a_segment_that_varies_within_a_query_is_refused_by_partition_and_row(engine):
    market = DATA["market"].copy()
    starts = np.flatnonzero(np.diff(DATA["query"], prepend=-1000))
    row = int(starts[np.argmax(np.diff(starts) > 2)]) + 1
    market[row] = "xx"
    df = engine.frame(partition_rows({**DATA, "market": market}, 1))
    with pytest.raises(ra.InputError, match=rf"partition 0: by\[{row}\] is 'xx', but query") as error:
        engine.module.evaluate(df, AVERAGED_TIES, **COLUMNS, partitions="whole", by="market")
    assert error.value.row == row


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ({**SEGMENTS, 1000: "x", 2000: "x"}, "by names query 1000 and 1 more queries, but the data have no such query"),
        (dict(list(SEGMENTS.items())[1:]), "by has no segment for query -20"),
        (dict.fromkeys(SEGMENTS), "is None, but every query belongs to a segment"),
        ("xx", "the frame has no column 'xx'"),
        (["se"], "the frame has no column 'se'"),
        ([3], "by=3; allowed are names of columns, and a mapping"),
    ],
)
def test_bad_segments_are_refused(engine, by, message):
    with pytest.raises(ra.InputError, match=message):
        engine.module.evaluate(
            engine.frame(partition_rows(DATA, 2)), AVERAGED_TIES, **COLUMNS, partitions="shuffle", by=by
        )


MODELS = {"model": DATA["model"], "rival": np.random.default_rng(3).standard_normal(DATA["query"].size)}
OF_MODELS = {**ALL_COLUMNS, "score": list(MODELS), "query_weight": "weight"}
TWO = [AVERAGED_TIES.replace(average="query"), AVERAGED_TIES.at(3).replace(average="query")]


@pytest.mark.parametrize("by", [None, "market", ["market", "head"]])
def test_several_models_equal_those_of_a_table(engine, by):
    data = {**DATA, **MODELS}
    frame = engine.frame(partition_rows(data, 3, with_empty=True))
    ordered = {name: column[np.argsort(data["position"])] for name, column in data.items()}
    columns = {name: column for name, column in OF_MODELS.items() if name != "order"}
    results = engine.module.evaluate(frame, TWO, **OF_MODELS, partitions="shuffle", by=by)
    expected = ra.evaluate_table(ordered, TWO, **columns, by=by, unsorted=True)
    assert (str(results), repr(results)) == (str(expected), repr(expected))


def test_order_of_a_frame_of_values_equals_that_of_a_table(engine):
    data = {**DATA, **MODELS}
    frame = engine.frame(partition_rows(data, 3, with_empty=True))
    values = engine.module.per_query(frame, TWO, **OF_MODELS, partitions="shuffle", by=["market", "head"])
    values = engine.in_memory(values)
    columns = {name: column for name, column in OF_MODELS.items() if name != "order"}
    expected = ra.per_query_table(data, TWO, **columns, by=["market", "head"])
    values = values.sort_values(["model", "qid"]).reset_index(drop=True)
    assert values.columns.tolist() == expected.columns.tolist()
    assert values.to_numpy().tolist() == expected.to_numpy().tolist()
    reports = [ra.audit.order(table, by=["market", "head"], n_resamples=99) for table in (values, expected)]
    assert reports[0].to_dict() == reports[1].to_dict()


def test_models_need_columns_of_their_own(engine):
    frame = engine.frame(partition_rows(DATA, 1))
    with pytest.raises(ra.InputError, match=r"score=\[\] names no column"):
        engine.module.evaluate(frame, AVERAGED_TIES, partitions="whole", score=[])


def test_several_columns_give_the_same_segments_as_memory(engine):
    frame = engine.frame(partition_rows(DATA, 3))
    segments = engine.module.evaluate(frame, [AVERAGED_TIES], partitions="shuffle", **COLUMNS, by=["market", "head"])
    order = np.argsort(DATA["position"])
    columns = {name: DATA[name][order] for name in ("market", "head")}
    expected = evaluate_in_memory([AVERAGED_TIES], columns)
    assert segment_results(segments) == segment_results(expected)
    assert str(next(iter(segments))) == "market=dk, head=0"
