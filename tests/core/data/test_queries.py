"""Queries: row weights, pairs, and the ways between rows and queries that callers need."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from tests.helpers.tables import for_each

QID = ["b", "a", "b", "c", "a"]
QUERIES = ra.Queries([3, 0, 1, 2, 1], qid=QID, query_weight=[1, 2, 3], row_weight=[0.5, 1, 1.5, 2, 2.5])


def test_rows_and_queries_lead_to_each_other():
    assert QUERIES.rows.tolist() == [0, 2, 1, 4, 3]
    assert QUERIES.query_of_row.tolist() == [0, 1, 0, 2, 1]
    assert QUERIES.by_query(np.array(QID)).tolist() == ["b", "b", "a", "a", "c"]
    assert QUERIES.per_row(np.array([10, 20, 30])).tolist() == [10, 20, 10, 30, 20]
    assert not QUERIES.are_together
    assert QUERIES.longest == 2
    together, rows = QUERIES.together()
    assert together.digest == QUERIES.digest
    assert rows.tolist() == QUERIES.rows.tolist()


def test_per_row_values_become_per_query_ones_unless_they_vary():
    values, varies = QUERIES.per_query(np.array([7, 8, 7, 9, 8]))
    assert (values.tolist(), varies) == ([7, 8, 9], -1)
    assert QUERIES.per_query(np.array([7, 8, 7, 9, 5]))[1] == 1


def test_some_queries_are_taken_in_the_order_asked_for():
    some, rows = QUERIES.take(np.array([2, 0]))
    assert rows.tolist() == [3, 0, 2]
    assert some.query_ids.tolist() == ["c", "b"]
    assert some.labels.tolist() == [2, 3, 1]
    assert some.query_weight.tolist() == [3, 1]
    assert some.row_weight.tolist() == [2, 0.5, 1.5]
    assert some.are_together


def test_other_weights_make_other_queries_and_leave_these_alone():
    digest = QUERIES.digest
    bare = QUERIES.with_weights()
    assert bare.weights == ()
    assert bare.digest != digest
    assert QUERIES.digest == digest
    assert QUERIES.with_weights([1, 2, 3], row_weight=[0.5, 1, 1.5, 2, 2.5]).digest == digest
    with pytest.raises(ra.InputError, match="query_weight has 2 entries but there are 3 queries"):
        QUERIES.with_weights([1, 2])


def test_row_weights_and_pairs_are_part_of_the_digest_only_where_given():
    plain = ra.Queries([1, 0, 1], group_sizes=[3])
    weighted = ra.Queries([1, 0, 1], group_sizes=[3], row_weight=[1, 1, 1])
    paired, other = (ra.Queries([1, 0, 1], group_sizes=[3], pairs=pairs) for pairs in (([0], [1]), ([2], [1])))
    assert len({plain.digest, weighted.digest, paired.digest}) == 3
    assert paired.digest == other.digest  # rows of equal labels: the same query in another order of rows
    assert paired.digest != ra.Queries([1, 0, 1], group_sizes=[3], pairs=([1], [0])).digest


@given(st.permutations(range(6)))
@settings(deadline=None)
def test_pairs_follow_their_rows_in_any_order(order):
    labels, scores, qid = np.array([2, 0, 1, 1, 0, 3]), np.array([3, 1, 2, 5, 4, 6.0]), np.array(list("aaabbb"))
    winner, loser, weight = np.array([0, 2, 3, 5]), np.array([1, 1, 4, 3]), np.array([1.0, 0.5, 2.0, 0.25])
    convention = ra.presets.catboost.pair_accuracy()
    place = np.argsort(order)
    here = ra.evaluate(labels, scores, convention, qid=qid, pairs=(winner, loser, weight))
    moved = ra.evaluate(
        labels[order], scores[order], convention, qid=qid[order], pairs=(place[winner], place[loser], weight)
    )
    assert here.value == moved.value
    assert here - moved == 0  # comparable: the same queries


@for_each(
    ("columns", "problem"),
    [
        ({"row_weight": [1, 1]}, "row_weight has 2 rows but labels has 4"),
        ({"row_weight": [1, 1, -1, 1]}, r"row_weight\[2\] is -1.0, but weights are >= 0"),
        ({"row_weight": [1, 1, float("nan"), 1]}, r"row_weight\[2\] is nan"),
        ({"pairs": 5}, r"pairs is 5; allowed are \(winner, loser\)"),
        ({"pairs": ([0], [1], [1], [1])}, "allowed are"),
        ({"pairs": ([0], [4])}, r"pairs loser\[0\] is 4, but the rows are 0 to 3"),
        ({"pairs": ([0.5], [1])}, "pairs winner has dtype float64"),
        ({"pairs": ([0, 1], [1])}, "pairs has 2 winners but 1 losers"),
        ({"pairs": ([0], [1], [1, 2])}, "pairs has 1 winners but 2 weights"),
        ({"pairs": ([0], [1], [-1])}, r"pairs weight\[0\] is -1.0"),
        ({"pairs": ([0, 0], [1, 2])}, "pair 1 joins rows 0 and 2, of queries a and b"),
        ({"pairs": ([0], [0])}, "pair 0 joins row 0 with itself"),
        (
            {"pairs": [(0, 1), (2, 3)]},
            r"pairs is \[\(0, 1\), \(2, 3\)\]; allowed .*\nHint: tuple\(zip\(\*pairs\)\)",
        ),
        ({"group": [2, 2]}, "'group' is not an accepted column; .*\nHint: group_sizes= takes the rows of each query"),
        ({"sample_weight": [1, 1, 1, 1]}, "Hint: row_weight= takes one weight per row"),
    ],
)
def test_bad_row_weights_and_pairs(columns, problem):
    with pytest.raises(ra.InputError, match=problem):
        ra.Queries([1, 0, 1, 0], qid=["a", "a", "b", "b"], **columns)


def test_no_pairs_at_all_are_no_mistake():
    queries = ra.Queries([1, 0, 1, 0], qid=["a", "a", "b", "b"], pairs=([], [], []))
    assert queries.pairs.winner.size == 0
    conv = ra.presets.catboost.pair_accuracy()
    assert ra.evaluate(queries, [1, 2, 3, 4], conv).value == conv.empty


@for_each("numbers", [[0, 0], [2], [-1], [0.0], []])
def test_taking_queries_that_are_not_there(numbers):
    queries = ra.Queries([1, 0, 1, 0], qid=["a", "a", "b", "b"])
    with pytest.raises(ra.InputError, match="allowed are different whole numbers from 0 to 1"):
        queries.take(np.array(numbers))


def test_other_columns_stand_in_the_order_of_the_rows():
    pandas = pytest.importorskip("pandas")
    queries = ra.Queries(pandas.Series([1, 0, 2], index=["x", "y", "z"]), group_sizes=[3])
    other = pandas.Series([1.0, 2.0, 3.0], index=["z", "y", "x"])
    with pytest.raises(ra.InputError, match="row_weight"):
        queries.with_weights(row_weight=other)
    with pytest.raises(ra.InputError, match="labels"):
        queries.with_labels(other)


@for_each("column", [None, "query_weight", "row_weight", "pair_weight"])
def test_one_column_of_weights_is_kept(column):
    queries = ra.Queries(
        [1, 0, 1, 0], qid=["a", "a", "b", "b"], query_weight=[1, 2], row_weight=[1, 2, 3, 4], pairs=([0], [1], [2.0])
    )
    assert queries.weighed_by(column).weights == (() if column is None else (column,))
    assert queries.weighed_by(column).pairs.winner.tolist() == [0]


def test_a_panel_whose_members_disagree_on_weights_says_which():
    with pytest.raises(ra.InputError, match=r"ndcg@5/yahoo says average='uniform', .* while ndcg@5/lightgbm says"):
        ra.Panel([1, 0], ["lightgbm@5", "yahoo@5"], group_sizes=[2], query_weight=[2])
    with pytest.raises(ra.InputError, match="row_weight was given but the convention says average='uniform'"):
        ra.evaluate([1, 0], [1, 2], "yahoo@5", group_sizes=[2], row_weight=[1, 2])
    uniform = ra.presets.catboost.pair_accuracy(use_weights=False)
    with pytest.raises(ra.InputError, match="pair_weight was given but the convention says average='uniform'"):
        ra.evaluate([1, 0], [1, 2], uniform, group_sizes=[2], pairs=([0], [1], [2]))


def test_a_panel_gives_everything_from_one_pass(monkeypatch):
    from rankadapters.core.evaluation import members

    calls = []
    whole = members.SharedRanking.values
    monkeypatch.setattr(members.SharedRanking, "values", lambda *args: calls.append(1) or whole(*args))
    panel = ra.Panel([2, 0, 1, 0], ["yahoo@2", "lightgbm@1", "lightgbm.map@2"], group_sizes=[2, 2])
    found = panel.measure([0.1, 0.2, 0.3, 0.4])
    for convention in panel.conventions:
        score = found.scores[convention]
        assert found.tallies[convention].score() == score
        assert np.nansum(found.shares[convention]) == pytest.approx(score.value)
        assert ra.Evaluator([2, 0, 1, 0], convention, group_sizes=[2, 2]).per_query([0.1, 0.2, 0.3, 0.4]).tolist() == (
            found.per_query[convention].tolist()
        )
    assert len(calls) == 1 + len(panel.conventions)  # one ranking for the panel, one for each evaluator above


def test_measures_over_all_rows_have_a_value_but_no_parts():
    panel = ra.Panel([2, 0, 1, 0], ["lightgbm.auc"], group_sizes=[2, 2])
    assert panel.evaluate([0.9, 0.2, 0.3, 0.4])[ra.presets.lightgbm.auc()].value == 0.75
    for method in (panel.per_query, panel.tally):
        with pytest.raises(ra.UnsupportedConventionError, match="pool='rows' takes all rows as one query"):
            method([0.9, 0.2, 0.3, 0.4])
    with pytest.raises(ra.UnsupportedConventionError, match="is not a sum over the queries"):
        panel.measure([0.9, 0.2, 0.3, 0.4]).shares  # noqa: B018 - asking is what is refused


def test_all_rows_are_one_query_in_the_callers_order():
    one = QUERIES.as_one(row_weight=QUERIES.row_weight)
    assert one.n_queries == 1
    assert one.labels.tolist() == [3, 0, 1, 2, 1]
    assert one.query_weight is None
    assert one.row_weight.tolist() == [0.5, 1, 1.5, 2, 2.5]
