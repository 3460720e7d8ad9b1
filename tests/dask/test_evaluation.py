"""Values of the rows of a Dask DataFrame: the bits of one process, and what has no value."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.engines import failure_of
from tests.helpers.partitioned_rows import (
    BY_ROW,
    COLUMNS,
    N_PARTITIONS,
    TIED,
    conventions,
    cut,
    exactly,
    reference,
    rows,
)
from tests.helpers.tables import for_each

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

DATA = rows()
NO_HANG = 60  # seconds in which a loaded machine too has imported everything in its workers and failed
LONGEST = np.bincount(DATA["query"] + 20).argmax() - 20
EVERY = {"order": "position", "docid": "document"}


def frame(parts, **types):
    """A Dask DataFrame of exactly these partitions, with columns of these types."""
    tables = [pd.DataFrame(part).astype(types) for part in parts]
    return dd.from_delayed([dask.delayed(table) for table in tables], meta=tables[0].iloc[:0], verify_meta=False)


def changed(**columns):
    """Three partitions of sorted rows, of which some columns are others."""
    return frame(cut({**DATA, **columns}, 3))


def same_value(df, data=DATA, **options):
    """Check a value that no order of the rows changes."""
    found = ra.dask.evaluate(df, TIED, **COLUMNS, **options)
    assert found.to_dict() == reference(data, [TIED])[TIED].to_dict()


@pytest.fixture(autouse=True)
def _here(request):
    """Run tasks in this thread, unless the test has a cluster."""
    if any("cluster" in name for name in request.fixturenames):
        yield
        return
    with dask.config.set({"scheduler": "synchronous", "dataframe.convert-string": False}):
        yield


@for_each(
    ("partitions", "how", "n_partitions"),
    [
        ("whole", {"whole": True}, 1),
        ("whole", {"whole": True}, 3),
        ("sorted", {}, 2),
        ("sorted", {}, 17),
        ("shuffle", {}, 3),
        ("shuffle", {"mixed": True}, 1),
        ("shuffle", {"mixed": True}, 17),
    ],
)
def test_every_measure_has_the_bits_of_one_process(partitions, how, n_partitions):
    several = conventions()
    df = frame(cut(DATA, n_partitions, empty=n_partitions == 3, **how))
    found = ra.dask.evaluate(df, several, **COLUMNS, **EVERY, partitions=partitions)
    assert exactly(found) == exactly(reference(DATA, several))


@pytest.mark.parametrize(
    ("cluster", "partitions", "how"),
    [("cluster2", "whole", {"whole": True}), ("cluster2", "sorted", {}), ("cluster3", "shuffle", {"mixed": True})],
    ids=["whole", "sorted", "shuffle"],
)
def test_processes_have_the_bits_of_one(request, cluster, partitions, how):
    several = [*conventions(), TIED]
    with request.getfixturevalue(cluster).as_current():
        df = frame(cut(DATA, 17, empty=True, **how))
        found = ra.dask.evaluate(df, several, **COLUMNS, **EVERY, partitions=partitions)
    assert exactly(found) == exactly(reference(DATA, several))


@for_each("partitions", ["sorted", "shuffle"])
@for_each("n_partitions", N_PARTITIONS)
def test_one_query_may_lie_in_all_partitions(partitions, n_partitions):
    data = {**DATA, "query": np.full(DATA["query"].size, 7)}
    same_value(frame(cut(data, n_partitions)), data, partitions=partitions)


@for_each("wide", [1, 2**20, 2**50, -(2**50)])
@for_each("kind", ["int8", "uint64", "int64"])
def test_integers_of_any_size_are_grouped(kind, wide):
    query = DATA["query"].astype("int64") * (1 if kind == "int8" else wide)
    data = {**DATA, "query": query.astype(kind)}  # of which uint64 wraps
    same_value(frame(cut(data, 3, mixed=True)), data, partitions="shuffle")


@for_each("kind", ["str", "category", "int32", "Int64", "object"])
def test_queries_are_integers_or_texts_of_any_type(kind):
    text = kind in {"str", "category", "object"}
    data = {**DATA, "query": np.array([f"q{each + 20:03}" for each in DATA["query"]]) if text else DATA["query"]}
    same_value(frame(cut(data, 3), query=kind), data, partitions="sorted")


@for_each("partitions", ["sorted", "shuffle"])
@for_each(
    ("convention", "columns", "weights"),
    [
        (TIED.replace(average="query"), {"query_weight": "weight"}, {"weight": "weight"}),
        (BY_ROW, {"row_weight": "share", "order": "position"}, {"row_weight": "share"}),
    ],
)
def test_weights_count_by_query_or_by_row(convention, columns, weights, partitions):
    found = ra.dask.evaluate(frame(cut(DATA, 3)), convention, **COLUMNS, **columns, partitions=partitions)
    expected = reference(DATA, [convention], **weights)[convention]
    assert found.to_dict() == expected.to_dict()
    even = convention.replace(average="uniform")
    assert expected.value != reference(DATA, [even])[even].value


@pytest.mark.parametrize("partitions", ["sorted", "shuffle"])
def test_a_mean_above_all_values_is_warned_of(partitions):
    lifted = TIED.replace(average="query-except-empty", empty=1)
    data = {**DATA, "weight": np.full(DATA["query"].size, 0.01)}
    with pytest.warns(ra.AboveValuesWarning, match="is above every query's value") as expected:
        value = ra.evaluate(
            data["grade"], data["model"], lifted, qid=data["query"], query_weight=np.full(40, 0.01)
        ).value
    with pytest.warns(ra.AboveValuesWarning) as found:
        score = ra.dask.evaluate(frame(cut(data, 3)), lifted, **COLUMNS, query_weight="weight", partitions=partitions)
    assert (score.value, [str(each.message) for each in found]) == (value, [str(each.message) for each in expected])
    assert found[0].filename == __file__


@pytest.mark.parametrize("kind", ["int64", "float64", "datetime64[ns]"])
def test_the_order_of_tied_rows_is_that_of_a_column(kind):
    column = pd.Series(DATA["position"]).astype(kind).to_numpy()
    found = ra.dask.evaluate(
        frame(cut({**DATA, "position": column}, 17, mixed=True)),
        [TIED.replace(ties=ties) for ties in ("input", "reverse")],
        **COLUMNS, order="position", partitions="shuffle",
    )  # fmt: skip
    expected = reference(DATA, list(found))
    assert exactly(found) == exactly(expected)
    assert len({score.value for score in expected.values()}) == 2


@for_each("partitions", ["sorted", "shuffle"])
def test_beyond_some_queries_no_ids_are_compared(partitions):
    same_value(frame(cut(DATA, 17)), partitions=partitions, ids_up_to=0)


def test_as_many_ids_as_are_allowed_are_compared():
    same_value(frame(cut(DATA, 3, whole=True)), partitions="whole", ids_up_to=40)
    with pytest.raises(ra.InputError, match=r"is in partitions 0 and 1, and 39 more"):
        ra.dask.evaluate(frame([DATA, DATA]), TIED, **COLUMNS, partitions="whole", ids_up_to=80)


@pytest.mark.parametrize("partitions", ["whole", "sorted", "shuffle"])
def test_values_of_the_queries_are_a_frame(partitions):
    several = [TIED, ra.presets.textbook(3).replace(ties="docid-ascending", empty="skip")]
    df = frame(cut(DATA, 3, whole=partitions == "whole", empty=True))
    found = ra.dask.per_query(df, several, **COLUMNS, docid="document", partitions=partitions)
    assert isinstance(found, dd.DataFrame)
    assert found.columns.tolist() == ["query", *(each.name for each in several)]
    table = found.compute().sort_values("query")
    assert table["query"].tolist() == np.unique(DATA["query"]).tolist()
    panel = ra.Panel(DATA["grade"], several, qid=DATA["query"], docid=[str(each) for each in DATA["document"]])
    for convention, values in panel.per_query(DATA["model"]).items():
        np.testing.assert_array_equal(table[convention.name], values)
    assert table[several[1].name].isna().any()


def test_a_cluster_computes_the_frame_when_asked(cluster2):
    with cluster2.as_current():
        found = ra.dask.per_query(frame(cut(DATA, 17, mixed=True)), TIED, **COLUMNS, partitions="shuffle")
        table = found.compute().set_index("query")[TIED.name]
    expected = ra.Evaluator(DATA["grade"], TIED, qid=DATA["query"])
    assert table[expected.query_ids].tolist() == expected.per_query(DATA["model"]).tolist()


@pytest.mark.parametrize("evaluate", ["evaluate", "per_query"])
def test_a_query_that_is_cut_is_named(evaluate):
    halves = [{name: column[half::2] for name, column in DATA.items()} for half in (0, 1)]
    other = [each["query"] + 1000 * half * (each["query"] != LONGEST) for half, each in enumerate(halves)]
    one = [{**each, "query": query} for each, query in zip(halves, other, strict=True)]
    with pytest.raises(
        ra.InputError, match=rf"^query {LONGEST} is in partitions 0 and 1\.\nHint: partitions='shuffle'"
    ):
        getattr(ra.dask, evaluate)(frame(one), TIED, **COLUMNS, partitions="whole")
    more = np.intersect1d(*(each["query"] for each in halves)).size - 1
    with pytest.raises(
        ra.InputError, match=rf"query -?\d+ is in partitions 0 and 1, and {more} more queries are in several"
    ):
        getattr(ra.dask, evaluate)(frame(halves), TIED, **COLUMNS, partitions="whole")


def test_two_texts_of_one_id_are_two_queries(monkeypatch):
    monkeypatch.setattr("rankadapters.core.data.fingerprint.hash_ids", lambda ids: np.zeros(ids.size, np.uint64))
    monkeypatch.setattr("rankadapters.partitions.jobs.hash_ids", lambda ids: np.zeros(ids.size, np.uint64))
    three = {name: column[:3] for name, column in DATA.items()}
    two = [{**three, "query": np.full(3, name)} for name in "ab"]
    found = ra.dask.evaluate(frame(two), TIED, **COLUMNS, partitions="whole")
    assert found.n_queries == 2


def test_what_is_wrong_at_the_ends_of_partitions_is_told():
    grade = np.where(np.arange(DATA["query"].size) == 0, 7, DATA["grade"])
    with pytest.raises(ra.InputError, match=r"^queries at the ends of partitions: labels\[\d+\] is 7, outside") as told:
        ra.dask.evaluate(changed(grade=grade), TIED.replace(gain="table_0_1_3"), **COLUMNS, partitions="sorted")
    assert told.value.row is None


def test_a_text_that_is_cut_is_named():
    text = changed(query=np.array([f"q{each}" for each in DATA["query"]]))
    with pytest.raises(ra.InputError, match=r"query q-?\d+ is in partitions"):
        ra.dask.evaluate(text, TIED, **COLUMNS, partitions="whole")


def test_rows_that_are_not_sorted_are_refused_as_sorted():
    with pytest.raises(
        ra.InputError, match=r"^partition 0: the rows are not sorted by qid: query -?\d+ is after query -?\d+\."
    ):
        ra.dask.evaluate(frame(cut(DATA, 3, mixed=True)), TIED, **COLUMNS, partitions="sorted")
    with pytest.raises(
        ra.InputError, match=r"^the rows are not sorted by qid: a partition begins with query -20, another ends with"
    ):
        ra.dask.evaluate(frame(cut(DATA, 2)[:1] * 2), TIED, **COLUMNS, partitions="sorted")


def test_sorted_partitions_may_come_in_any_order():
    same_value(frame(cut(DATA, 17)[::-1]), partitions="sorted")


NAN = np.where(np.arange(DATA["query"].size) == 5, np.nan, DATA["model"])
MIXED = np.full(DATA["query"].size, 1, object)
MIXED[1] = pd.Series([1, 2])  # which is written in several lines
TWO_KINDS = np.array([1, "1"] * DATA["query"].size, object)[: DATA["query"].size]
WEIGHED = {"query_weight": "weight", "convention": TIED.replace(average="query")}
REFUSED = {
    "a missing label": ({"grade": NAN}, {}, "^partition 0: row 5: grade is missing"),
    "an infinite score": (
        {"model": np.where(np.isnan(NAN), np.inf, 0)},
        {},
        "^partition 0: row 5: model is inf; expected a finite number",
    ),
    "a missing qid": ({"query": NAN}, {}, "^partition 0: row 5: query is missing"),
    "qid of floats": (
        {"query": DATA["query"] * 1.0},
        {},
        "^partition 0: column 'query' has type double, but strings or integers",
    ),
    "qid of times": (
        {"query": DATA["query"].astype("M8[s]")},
        {},
        "column 'query' has type timestamp.*but strings or integers",
    ),
    "qid of both": ({"query": TWO_KINDS}, {}, "partition 0: query holds values of several types"),
    "qid of numbers and a column": (
        {"query": MIXED},
        {},
        r"several types, but one is needed \(Could not convert .*\)\.\nHint: convert the column",
    ),
    "labels of text": (
        {"grade": DATA["grade"].astype(str)},
        {},
        "partition 0: column 'grade' has type large_string, but numbers are needed",
    ),
    "weights of rows": (
        {"weight": DATA["model"] + 9},
        WEIGHED,
        r"partition 0: query -?\d+ has rows of different weights",
    ),
    "no order": (
        {"position": DATA["position"] // 9 * 9},
        {"order": "position"},
        r"two rows of query -?\d+ have order \d+, so neither comes first",
    ),
    "an order of text": ({}, {"order": "text"}, "column 'text' has type large_string, but numbers or times are needed"),
    "a document twice": ({"document": DATA["document"] // 99}, {"docid": "document"}, "occurs twice in its query"),
    "documents of floats": ({}, {"docid": "model"}, "column 'model' has type double, but strings or integers"),
    "weights that do not count": ({}, {"query_weight": "weight"}, "query_weight"),
}


@for_each(("columns", "asked", "message"), REFUSED.values(), ids=REFUSED)
def test_columns_are_refused_with_their_partition_and_row(columns, asked, message):
    df = changed(text=DATA["query"].astype(str), **columns)
    with pytest.raises(ra.InputError, match=message):
        ra.dask.evaluate(df, **{"convention": TIED, **COLUMNS, "partitions": "whole", **asked})


@pytest.mark.parametrize("order", [None, "position"])
@pytest.mark.parametrize(("partitions", "how"), [("sorted", {}), ("shuffle", {"mixed": True})])
def test_a_row_is_told_by_its_place_in_the_partition(partitions, how, order):
    [part] = cut({**DATA, "grade": np.where(DATA["query"] == LONGEST, 7, DATA["grade"])}, 1, **how)
    letor = TIED.replace(gain="table_0_1_3")
    row = np.argmax(part["grade"] == 7)
    with pytest.raises(ra.InputError, match=rf"^partition 0: labels\[{row}\] is 7, outside the gain table"):
        ra.dask.evaluate(frame([part]), letor, **COLUMNS, order=order, partitions=partitions)


@for_each(
    ("dtype", "kind", "partitions"),
    [(str, "texts", "whole"), (np.uint64, "unsigned integers", "whole"), (np.uint64, "unsigned integers", "sorted")],
)
def test_types_of_qid_that_differ_between_partitions_are_refused(dtype, kind, partitions):
    parts = cut({**DATA, "query": DATA["query"] + 20}, 2, whole=True)
    parts[1]["query"] = parts[1]["query"].astype(dtype)
    with pytest.raises(ra.InputError, match=f"qid holds {kind} in some partitions and integers in others"):
        ra.dask.evaluate(frame(parts), TIED, **COLUMNS, partitions=partitions)


@for_each("partitions", ["sorted", "whole"])
def test_integers_of_any_width_are_the_same_queries(partitions):
    parts = cut(DATA, 2, whole=partitions == "whole")
    parts[1]["query"] = parts[1]["query"].astype(np.int16)
    same_value(frame(parts), partitions=partitions)


ARGUMENTS = {
    "partitions": (
        {"partitions": "hash"},
        ra.InputError,
        "partitions='hash'; allowed are 'whole', 'sorted', 'shuffle'",
    ),
    "a column": ({"score": "prediction"}, ra.InputError, "score='prediction' is not a column of the frame, which has"),
    "no column": ({"label": None}, ra.InputError, "label=None; allowed are names of columns"),
    "a list of columns": ({"row_weight": ["weight"]}, ra.InputError, r"row_weight=\['weight'\]; allowed are names"),
    "ids_up_to": ({"ids_up_to": -1}, ra.InputError, "ids_up_to=-1; allowed are whole numbers from 0"),
    "too few ids": (
        {"ids_up_to": 5},
        ra.InputError,
        "needs to compare ids, but there are 40 queries and ids_up_to is 5",
    ),
    "a frame": ({"df": pd.DataFrame(DATA)}, ra.InputError, r"df is a DataFrame, but a dask\.dataframe\.DataFrame"),
    "no rows": (
        {"df": frame([{name: column[:0] for name, column in DATA.items()}] * 2)},
        ra.InputError,
        "holds no rows",
    ),
    "convention": ({"convention": 7}, ra.ConventionError, "7 is not a convention"),
    "ties by input": (
        {"convention": "yahoo@5"},
        ra.InputError,
        r"ties='input'\), but rows of a cluster have no order.\nHint: order=",
    ),
    "ties reversed": ({"convention": TIED.replace(ties="reverse")}, ra.InputError, r"ties='reverse'\)"),
    "ties by document": ({"convention": TIED.replace(ties="docid-ascending")}, ra.InputError, "docid= was not given"),
    "pool of rows": (
        {"convention": "sklearn.roc_auc_score"},
        ra.UnsupportedConventionError,
        r"pools all rows \(pool='rows'\), so the results of partitions cannot be added up.\nHint: pool='queries'",
    ),
    "given pairs": ({"convention": "catboost.pair_logit"}, ra.UnsupportedConventionError, "takes given pairs of rows"),
}


@pytest.mark.parametrize("evaluate", ["evaluate", "per_query"])
@for_each(("asked", "error", "message"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_arguments_are_refused_before_anything_is_read(evaluate, asked, error, message):
    given = {"df": frame(cut(DATA, 3, whole=True)), "convention": TIED, **COLUMNS, "partitions": "whole", **asked}
    with pytest.raises(error, match=message):
        getattr(ra.dask, evaluate)(**given)


def test_partitions_have_no_default():
    with pytest.raises(TypeError, match="required keyword-only argument: 'partitions'"):
        ra.dask.evaluate(frame(cut(DATA, 3)), TIED, **COLUMNS)


def broken(table):
    """What a worker may meet: an error of its own."""
    if (table["query"] == DATA["query"][-1]).any():
        msg = "the disk is gone"
        raise OSError(msg)
    return table


def test_an_error_of_a_worker_ends_the_evaluation(cluster2):
    def run():
        with cluster2.as_current():
            df = frame(cut(DATA, 17)).map_partitions(broken, meta=pd.DataFrame(DATA).iloc[:0])
            ra.dask.evaluate(df, TIED, **COLUMNS, partitions="sorted")

    assert "the disk is gone" in str(failure_of(run, NO_HANG))


def test_what_is_wrong_with_the_rows_of_a_worker_is_told(cluster2):
    def run():
        with cluster2.as_current():
            ra.dask.evaluate(changed(grade=NAN), TIED, **COLUMNS, partitions="sorted")

    error = failure_of(run, NO_HANG)
    assert isinstance(error, ra.InputError)
    assert str(error).startswith("partition 0: row 5: grade is missing")
