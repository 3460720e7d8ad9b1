"""Segments of the rows of Dask and Spark: the same as in memory, however the partitions hold the queries."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.partitioned_rows import COLUMNS, TIED, conventions, cut, rows
from tests.helpers.tables import for_each

DATA = rows()
DATA["market"] = np.array(["se", "no", "dk"])[DATA["query"] % 5 % 3]
DATA["head"] = DATA["query"] % 2
BY = dict(zip(DATA["query"].tolist(), DATA["market"].tolist(), strict=True))
EVERY = {**COLUMNS, "order": "position", "docid": "document"}


class OnDask:
    """Dask, in this thread."""

    def __init__(self, request):
        self.dask, self.dd = pytest.importorskip("dask"), pytest.importorskip("dask.dataframe")
        self.pd = pytest.importorskip("pandas")
        context = self.dask.config.set({"scheduler": "synchronous", "dataframe.convert-string": False})
        context.__enter__()
        request.addfinalizer(lambda: context.__exit__(None, None, None))
        self.module = ra.dask

    def frame(self, parts):
        tables = [self.pd.DataFrame(part) for part in parts]
        meta = tables[0].iloc[:0]
        return self.dd.from_delayed([self.dask.delayed(table) for table in tables], meta=meta, verify_meta=False)


class OnSpark:
    """Spark, on this machine."""

    def __init__(self, request):
        pytest.importorskip("pyspark")
        self.session, self.module = request.getfixturevalue("spark"), ra.spark

    def frame(self, parts):
        from tests.helpers.spark_frames import frame

        return frame(self.session, parts)


@pytest.fixture(params=[OnDask, OnSpark], ids=["dask", "spark"])
def engine(request):
    return request.param(request)


def in_memory(several, by, **changes):
    data = {**DATA, **changes}
    order = np.argsort(data["position"])
    data = {name: column[order] for name, column in data.items()}
    queries = ra.Queries(data["grade"], qid=data["query"], docid=[str(each) for each in data["document"]])
    return ra.evaluate(queries, data["model"], several, by=data[by] if isinstance(by, str) else by)


def everything(segments):
    """All that is known of segments, their digests and intervals too."""
    digests = [[score.to_dict() for score in scores.values()] for scores in (*segments.values(), segments.all)]
    return list(segments), digests, segments.to_dict()


@pytest.mark.parametrize(
    ("partitions", "how", "by"),
    [("whole", {"whole": True}, BY), ("sorted", {}, "market"), ("shuffle", {"mixed": True}, "head")],
    ids=["whole and a mapping", "sorted and texts", "shuffle and integers"],
)
def test_partitions_have_the_segments_of_memory(engine, partitions, how, by):
    several = conventions() if by == "market" else [TIED]
    df = engine.frame(cut(DATA, 3, empty=True, **how))
    found = engine.module.evaluate(df, several, **EVERY, partitions=partitions, by=by)
    assert everything(found) == everything(in_memory(several, by))


@for_each("by", ["market", BY])
def test_one_convention_has_a_score_for_each_segment(engine, by):
    df = engine.frame(cut(DATA, 17))
    found = engine.module.evaluate(df, TIED, **COLUMNS, partitions="sorted", by=by)
    assert repr(found) == repr(in_memory(TIED, by))
    assert isinstance(found["se"], ra.Score)


def test_weights_lift_a_segment_above_its_values_as_in_memory(engine):
    lifted = TIED.replace(average="query-except-empty", empty=1)
    light = np.where(DATA["market"] == "se", 0.01, 1.0)
    df = engine.frame(cut({**DATA, "weight": light}, 3))
    with pytest.warns(ra.AboveValuesWarning, match="segment 'se': a mean under") as warned:
        engine.module.evaluate(df, lifted, **COLUMNS, query_weight="weight", partitions="sorted", by="market")
    ours = {each.filename for each in warned if issubclass(each.category, ra.AboveValuesWarning)}
    assert ours == {__file__}


def test_a_segment_that_varies_is_refused_by_the_row_of_its_partition(engine):
    market = DATA["market"].copy()
    starts = np.flatnonzero(np.diff(DATA["query"], prepend=-1000))
    row = int(starts[np.argmax(np.diff(starts) > 2)]) + 1
    market[row] = "xx"
    df = engine.frame(cut({**DATA, "market": market}, 1))
    with pytest.raises(ra.InputError, match=rf"partition 0: by\[{row}\] is 'xx', but query") as error:
        engine.module.evaluate(df, TIED, **COLUMNS, partitions="whole", by="market")
    assert error.value.row == row


@for_each(
    ("by", "message"),
    [
        ({**BY, 1000: "x", 2000: "x"}, "by names query 1000 and 1 more queries, but the data have no such query"),
        (dict(list(BY.items())[1:]), "by has no segment for query -20"),
        (dict.fromkeys(BY, ("x", 1)), "by=.'x', 1.; allowed are segments that are texts, numbers or bools"),
        (dict.fromkeys(BY), "is None, but every query belongs to a segment"),
        ("xx", "by='xx' is not a column of the frame"),
        (["se"], "by=.*; allowed are names of columns"),
    ],
)
def test_what_names_no_segment_is_refused(engine, by, message):
    with pytest.raises(ra.InputError, match=message):
        engine.module.evaluate(engine.frame(cut(DATA, 2)), TIED, **COLUMNS, partitions="sorted", by=by)


def test_values_of_queries_have_no_segments(engine):
    with pytest.raises(ra.InputError, match="by was given, but per-query values have no segments"):
        engine.module.per_query(engine.frame(cut(DATA, 1)), TIED, **COLUMNS, partitions="whole", by="market")
