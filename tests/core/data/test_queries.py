"""Queries: row weights, pairs, and conversions between values of rows and values of queries."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra

QID = ["b", "a", "b", "c", "a"]
QUERIES = ra.Queries([3, 0, 1, 2, 1], qid=QID, query_weight=[1, 2, 3], row_weight=[0.5, 1, 1.5, 2, 2.5])


def test_group_sizes_of_queries_whose_rows_are_apart_are_refused():
    with pytest.raises(ra.InputError, match=r"the rows of query b are not contiguous: row 1 is of query a"):
        _ = QUERIES.group_sizes
    assert QUERIES.subset(np.arange(3))[0].group_sizes.tolist() == [2, 2, 1]
    with pytest.raises(ra.InputError, match=r"the rows of query a are not contiguous: row 2 is of query c"):
        _ = ra.Queries([0, 1, 2, 0], qid=["b", "a", "c", "a"]).group_sizes


def test_subset_returns_queries_in_the_requested_order():
    taken, rows = QUERIES.subset(np.array([2, 0]))
    assert rows.tolist() == [3, 0, 2]
    assert taken.query_ids.tolist() == ["c", "b"]
    assert taken.labels.tolist() == [2, 3, 1]
    assert taken.query_weight.tolist() == [3, 1]
    assert taken.row_weight.tolist() == [2, 0.5, 1.5]
    assert taken.order is None


def test_with_weights_returns_new_queries_and_changes_none():
    digest = QUERIES.digest
    unweighted = QUERIES.with_weights()
    assert unweighted.weights == ()
    assert unweighted.digest != digest
    assert QUERIES.digest == digest
    assert QUERIES.with_weights([1, 2, 3], row_weight=[0.5, 1, 1.5, 2, 2.5]).digest == digest
    with pytest.raises(ra.InputError, match="query_weight has 2 entries, but 3 are needed, one per query"):
        QUERIES.with_weights([1, 2])


def test_the_digest_covers_row_weights_and_pairs_where_given():
    plain = ra.Queries([1, 0, 1], group_sizes=[3])
    weighted = ra.Queries([1, 0, 1], group_sizes=[3], row_weight=[1, 1, 1])
    paired, mirrored = (ra.Queries([1, 0, 1], group_sizes=[3], pairs=pairs) for pairs in (([0], [1]), ([2], [1])))
    assert len({plain.digest, weighted.digest, paired.digest}) == 3
    assert paired.digest == mirrored.digest  # the two winners have equal labels, so only the order of the rows differs
    assert paired.digest != ra.Queries([1, 0, 1], group_sizes=[3], pairs=([1], [0])).digest


@given(st.permutations(range(6)))
@settings(deadline=None)
def test_the_order_of_rows_does_not_change_the_score_of_pairs(order):
    labels, scores, qid = np.array([2, 0, 1, 1, 0, 3]), np.array([3, 1, 2, 5, 4, 6.0]), np.array(list("aaabbb"))
    winner, loser, weight = np.array([0, 2, 3, 5]), np.array([1, 1, 4, 3]), np.array([1.0, 0.5, 2.0, 0.25])
    convention = ra.presets.catboost.pair_accuracy()
    new_row = np.argsort(order)
    original = ra.evaluate(labels, scores, convention, qid=qid, pairs=(winner, loser, weight))
    reordered = ra.evaluate(
        labels[order], scores[order], convention, qid=qid[order], pairs=(new_row[winner], new_row[loser], weight)
    )
    assert original.value == reordered.value
    assert original - reordered == 0  # does not raise: both scores are over the same queries


def test_an_empty_list_of_pairs_is_allowed():
    queries = ra.Queries([1, 0, 1, 0], qid=["a", "a", "b", "b"], pairs=([], [], []))
    assert queries.pairs.winner.size == 0
    conv = ra.presets.catboost.pair_accuracy()
    assert ra.evaluate(queries, [1, 2, 3, 4], conv).value == conv.empty


@pytest.mark.parametrize("numbers", [[0, 0], [2], [-1], [0.0], []])
def test_subset_refuses_numbers_that_are_not_different_queries(numbers):
    queries = ra.Queries([1, 0, 1, 0], qid=["a", "a", "b", "b"])
    with pytest.raises(ra.InputError, match="allowed are different whole numbers from 0 to 1"):
        queries.subset(np.array(numbers))


@pytest.mark.parametrize("column", [None, "query_weight", "row_weight", "pair_weight"])
def test_weighed_by_keeps_one_column_of_weights_and_the_pairs(column):
    queries = ra.Queries(
        [1, 0, 1, 0], qid=["a", "a", "b", "b"], query_weight=[1, 2], row_weight=[1, 2, 3, 4], pairs=([0], [1], [2.0])
    )
    assert queries.weighed_by(column).weights == (() if column is None else (column,))
    assert queries.weighed_by(column).pairs.winner.tolist() == [0]


def test_an_evaluator_ranks_once_for_all_its_results(monkeypatch):
    from rankadapters.evaluation import passes as module

    calls, ranked = [], module.ranked
    monkeypatch.setattr(module, "ranked", lambda *args: calls.append(1) or ranked(*args))
    evaluator = ra.Evaluator([2, 0, 1, 0], ["yahoo@2", "lightgbm@1", "lightgbm.map@2"], group_sizes=[2, 2])
    results = evaluator.measure([0.1, 0.2, 0.3, 0.4])
    for convention in evaluator.conventions:
        score = results.scores[convention]
        assert results.tallies[convention].score() == score
        assert np.nansum(results.shares[convention]) == pytest.approx(score.value)
        assert ra.Evaluator([2, 0, 1, 0], convention, group_sizes=[2, 2]).per_query([0.1, 0.2, 0.3, 0.4]).tolist() == (
            results.per_query[convention].tolist()
        )
    assert len(calls) == 1 + len(evaluator.conventions)  # one ranking for all of them, one for each evaluator above


def test_a_measure_over_all_rows_has_a_value_but_no_parts():
    evaluator = ra.Evaluator([2, 0, 1, 0], ["lightgbm.auc"], group_sizes=[2, 2])
    assert evaluator.evaluate([0.9, 0.2, 0.3, 0.4])[ra.presets.lightgbm.auc()].value == 0.75
    for method in (evaluator.per_query, evaluator.tally):
        with pytest.raises(ra.UnsupportedConventionError, match="pool='rows' takes all rows as one query"):
            method([0.9, 0.2, 0.3, 0.4])
    with pytest.raises(ra.UnsupportedConventionError, match="is not a sum over the queries"):
        evaluator.measure([0.9, 0.2, 0.3, 0.4]).shares  # noqa: B018 - reading the property raises


def test_a_measure_over_all_rows_ranks_ties_in_the_order_of_the_caller():
    convention = ra.presets.ranx.map(None).replace(pool="rows", ties="input")
    one_query = ra.evaluate([1, 0, 1, 0, 0], [0] * 5, convention, group_sizes=[5])
    interleaved = ra.evaluate([1, 0, 1, 0, 0], [0] * 5, convention, qid=list("babca"))
    assert interleaved.value == one_query.value == (1 + 2 / 3) / 2


@pytest.mark.parametrize(
    "function", [ra.evaluate, ra.per_query, ra.Evaluator, ra.inert, ra.audit.order, ra.audit.page, ra.parity.crosscheck]
)
def test_main_functions_describe_the_columns_as_queries_does(function):
    described = inspect.cleandoc(ra.Queries.__doc__)
    start, end = (described.index(f"\n{name} : ") for name in ("docid", "retrieved"))
    assert described[start:end] in function.__doc__
    assert "As in `Queries`" not in function.__doc__
