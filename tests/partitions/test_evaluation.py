"""`evaluate` and `per_query` of partitions give the values of one process, and refuse invalid rows and arguments."""

import re

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.partitioned_rows import (
    AVERAGED_TIES,
    COLUMNS,
    ORDER_AND_DOCID,
    ROW_WEIGHTED,
    as_texts,
    conventions,
    expected_scores,
    partition_rows,
    rows,
    score_dicts,
)

DATA = rows()
LONGEST = np.bincount(DATA["query"] + 20).argmax() - 20


@pytest.mark.long
@pytest.mark.parametrize(
    ("partitions", "n_partitions", "layout"),
    [
        ("whole", 3, {"whole_queries": True, "with_empty": True}),
        ("shuffle", 1, {"shuffled": True}),
        ("shuffle", 3, {"with_empty": True}),
        ("shuffle", 17, {"shuffled": True}),
    ],
)
def test_every_measure_has_the_exact_value_of_one_process(engine, partitions, n_partitions, layout):
    all_conventions = [*conventions(), AVERAGED_TIES]
    df = engine.frame(partition_rows(DATA, n_partitions, **layout))
    scores = engine.module.evaluate(df, all_conventions, **COLUMNS, **ORDER_AND_DOCID, partitions=partitions)
    assert score_dicts(scores) == score_dicts(expected_scores(DATA, all_conventions))


@pytest.mark.parametrize("n_partitions", [1, 17])
def test_one_query_may_be_spread_over_all_partitions(engine, n_partitions):
    data = {**DATA, "query": np.full(DATA["query"].size, 7)}
    df = engine.frame(partition_rows(data, n_partitions))
    score = engine.module.evaluate(df, AVERAGED_TIES, **COLUMNS, partitions="shuffle")
    assert score.to_dict() == expected_scores(data, [AVERAGED_TIES])[AVERAGED_TIES].to_dict()


@pytest.mark.parametrize("partitions", ["whole", "shuffle"])
@pytest.mark.parametrize(
    ("convention", "columns", "weights"),
    [
        (AVERAGED_TIES.replace(average="query"), {"query_weight": "weight"}, {"weight": "weight"}),
        (ROW_WEIGHTED, {"row_weight": "share", "order": "position"}, {"row_weight": "share"}),
    ],
)
def test_weights_count_by_query_or_by_row(engine, convention, columns, weights, partitions):
    df = engine.frame(partition_rows(DATA, 3, whole_queries=partitions == "whole"))
    score = engine.module.evaluate(df, convention, **COLUMNS, **columns, partitions=partitions)
    expected = expected_scores(DATA, [convention], **weights)[convention]
    assert score.to_dict() == expected.to_dict()
    unweighted = convention.replace(average="uniform")
    assert expected.value != expected_scores(DATA, [unweighted])[unweighted].value


@pytest.mark.parametrize("partitions", ["whole", "shuffle"])
@pytest.mark.parametrize("text", [False, True], ids=["integers", "texts"])
def test_per_query_returns_a_frame_of_values(engine, partitions, text):
    conventions = [AVERAGED_TIES, ra.presets.textbook(3).replace(ties="docid-ascending", empty="skip")]
    ids = as_texts(DATA["query"]) if text else DATA["query"]
    parts = partition_rows(DATA, 3, with_empty=True, whole_queries=partitions == "whole")
    parts = [{**part, "query": as_texts(part["query"])} for part in parts] if text else parts
    df = engine.frame(parts)
    values = engine.module.per_query(df, conventions, **COLUMNS, docid="document", partitions=partitions)
    facts = ["n_rows", "n_retrieved", "empty"]
    assert list(values.columns) == ["qid", *(convention.name for convention in conventions), *facts]
    table = engine.in_memory(values).sort_values("qid")
    assert table["qid"].tolist() == np.unique(ids).tolist()
    evaluator = ra.Evaluator(DATA["grade"], conventions, qid=ids, docid=list(map(str, DATA["document"])))
    for convention, expected in evaluator.per_query(DATA["model"]).items():
        np.testing.assert_array_equal(table[convention.name], expected)
    assert table[conventions[1].name].isna().any()


@pytest.mark.parametrize("evaluate", ["evaluate", "per_query"])
def test_a_query_in_two_partitions_is_refused_by_name(engine, evaluate):
    halves = [{name: column[half::2] for name, column in DATA.items()} for half in (0, 1)]
    # Only the longest query has the same id in both halves.
    parts = [
        {**part, "query": part["query"] + 1000 * half * (part["query"] != LONGEST)} for half, part in enumerate(halves)
    ]
    n_more = np.intersect1d(*(part["query"] for part in halves)).size - 1
    for rows_of_partitions, message in (
        (parts, rf"^query {LONGEST} is in partitions 0 and 1\.\nHint: partitions='shuffle'"),
        (halves, rf"query -?\d+ is in partitions 0 and 1, and {n_more} more queries are in several"),
    ):
        with pytest.raises(ra.InputError, match=message):
            getattr(engine.module, evaluate)(
                engine.frame(rows_of_partitions), AVERAGED_TIES, **COLUMNS, partitions="whole"
            )


MISSING = np.array([None if row == 5 else value for row, value in enumerate(DATA["grade"].tolist())], object)
QUERY_WEIGHTS = {"query_weight": "weight", "convention": AVERAGED_TIES.replace(average="query")}
REFUSED = {
    "a missing label": ({"grade": MISSING}, {}, "^partition 0: row 5: grade is missing"),
    "a missing qid": ({"query": MISSING}, {}, "^partition 0: row 5: query is missing"),
    "no finite score": (
        {"model": np.where(DATA["position"] == 3, np.inf, 0)},
        {},
        r"partition \d: row \d+: model is inf",
    ),
    "weights of rows": (
        {"weight": DATA["model"] + 9},
        QUERY_WEIGHTS,
        r"partition 0: row \d+: weight varies within query .*: one row has .*, another ",
    ),
    "a document twice": (
        {"document": DATA["document"] // 99},
        {"docid": "document"},
        "partition 0: row .*: document .* is also in row",
    ),
    "weights that do not count": ({}, {"query_weight": "weight"}, "query_weight"),
}


@pytest.mark.parametrize(("columns", "changes", "message"), REFUSED.values(), ids=REFUSED)
def test_invalid_columns_are_refused_with_their_partition_and_row(engine, columns, changes, message):
    df = engine.frame(partition_rows({**DATA, **columns}, 3))
    with pytest.raises(ra.InputError, match=message) as error:
        engine.module.evaluate(df, **{"convention": AVERAGED_TIES, **COLUMNS, "partitions": "whole", **changes})
    row = re.match(r"partition \d+: row (\d+)", str(error.value))
    assert error.value.row == (int(row[1]) if row else None)


def test_per_query_refuses_the_arguments_that_evaluate_refuses(engine):
    df = engine.frame(partition_rows(DATA, 3, whole_queries=True))
    with pytest.raises(ra.InputError, match="partitions='hash'; allowed are 'whole', 'shuffle'"):
        engine.module.per_query(df, AVERAGED_TIES, **COLUMNS, partitions="hash")
    with pytest.raises(ra.UnsupportedConventionError, match=r"takes all rows as one query .pool='rows'"):
        engine.module.per_query(df, "sklearn.roc_auc_score", **COLUMNS, partitions="whole")


def test_a_frame_of_another_library_is_refused(engine):
    with pytest.raises(ra.InputError, match=r"df is a dict, but a (pyspark\.sql|dask\.dataframe)\.DataFrame is needed"):
        engine.module.evaluate(DATA, AVERAGED_TIES, **COLUMNS, partitions="whole")
