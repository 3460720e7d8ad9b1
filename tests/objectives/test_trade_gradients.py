"""LambdaRank under AP, RR and ERR: a pair weighs the change of the measure if its two rows swap their ranks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters import objectives
from rankadapters.objectives.moves import kernel_kinds
from tests.helpers.depth import examples
from tests.helpers.gradient_rows import EXACT
from tests.helpers.oracle_rows import columns_and_scores, ragged_queries
from tests.helpers.pairwise_gradients_by_hand import query_gradients
from tests.helpers.random_objectives import lambdaranks
from tests.helpers.tables import for_each
from tests.oracles.rows import Row

AP, RR = ra.presets.catboost.map(None), ra.presets.catboost.mrr(None)
ERR = ra.presets.catboost.err(None).replace(ties="input")
PLAIN = EXACT.replace(normalization="none", truncation=None, beyond_k="cut")


@given(queries=ragged_queries(), value=lambdaranks(), weighted=st.booleans())
@settings(max_examples=examples(300), deadline=None)
def test_gradients_equal_brute_force_swaps(queries, value, weighted):
    queries = [query[:12] for query in queries]
    table, scores = columns_and_scores(queries)
    weights = np.arange(len(queries)) % 3 + 0.5
    if weighted and value.uses_weights:
        table["query_weight"] = weights / weights.mean() if value.divides_weights else weights
    grad, hess = objectives.gradients(table.pop("labels"), scores, value, **table)
    factors = table.get("query_weight", np.ones(len(queries)))
    pairs = [query_gradients(query, value) for query in queries]
    for actual, index in ((grad, 0), (hess, 1)):
        expected = [factor * np.array(pair[index]) for factor, pair in zip(factors, pairs, strict=True)]
        np.testing.assert_allclose(actual, np.concatenate(expected), rtol=1e-6, atol=1e-9)
    starts = np.cumsum([0, *map(len, queries[:-1])])
    np.testing.assert_allclose(np.add.reduceat(grad.astype(float), starts), 0, atol=1e-5 * max(np.abs(grad).max(), 1))


@for_each(
    ("convention", "labels", "change"),
    [
        (AP, [0, 1], 1 / 2),
        (RR, [0, 1], 1 / 2),
        (ERR, [0.5, 1], 0.25),  # 1/2 + 1/2 x 1/2, or 1
        (ERR, [0, 1], 1 / 2),
    ],
)
def test_the_gradient_of_one_pair_is_the_change_of_its_swap(convention, labels, change):
    grad, hess = objectives.gradients(labels, [0.0, -1.0], PLAIN.replace(convention=convention), group_sizes=[2])
    p = 1 / (1 + math.exp(-1))  # the lower row should rank higher
    np.testing.assert_allclose(grad, [p * change, -p * change], rtol=1e-6)
    np.testing.assert_allclose(hess, [p * (1 - p) * change] * 2, rtol=1e-6)


def test_swaps_below_a_row_that_stops_every_reader_change_nothing():
    value, scores = PLAIN.replace(convention=ERR), [4.0, 3, 2, 1]
    whole, first = (
        objectives.gradients([1, 0.25, 0.5, 1], scores, value.replace(truncation=ranks), group_sizes=[4])
        for ranks in (None, 1)
    )
    np.testing.assert_array_equal(whole, first)
    assert np.all(whole[0][:3] != 0)


@for_each("name", ["catboost.pfound@3", "yahoo.err", "catboost.err@all"])
def test_labels_whose_stopping_probability_exceeds_1_are_refused(name):
    convention = ra.parse(name).replace(scale=2.0)
    message = r"(?s)labels\[2\] is 4, whose probability to stop a reader is .*; allowed is 0 to 1.\nHint: scale="
    with pytest.raises(ra.InputError, match=message) as error:
        objectives.gradients([1, 0, 4], np.zeros(3), PLAIN.replace(convention=convention), qid=["b", "a", "b"])
    assert error.value.row == 2


ROWS, BY_ROW = AP.replace(pool="rows", average="query"), AP.replace(divisor="relevant", average="row")


@for_each(
    ("changes", "message"),
    [
        ({"convention": "lightgbm.map@5", "sigmoid": "table"}, "sigmoid='table' replays a built-in objective for NDCG"),
        ({"convention": "lightgbm.map@5", "sigmoid": "float32"}, r"not for ap\.\nHint: .*objectives\.xgboost\.map"),
        ({"convention": ROWS}, r"ranks the rows of each query, .* pool='rows'"),
        ({"convention": BY_ROW}, "gives all rows the same weight, .* average='row'"),
        ({"convention": RR.replace(retrieve="above_0")}, "keeps rows whatever their score, .* retrieve='above_0'"),
        ({"convention": "catboost.precision_at@5"}, "needs a convention of NDCG, AP, RR or ERR, not precision@5"),
        ({"convention": "lightgbm.auc"}, "needs a convention of NDCG, AP, RR or ERR, not auc/"),
    ],
)
def test_conventions_that_lambdarank_cannot_swap_under_are_refused(changes, message):
    with pytest.raises(ra.ConventionError, match=message):
        PLAIN.replace(**changes)


def test_a_query_split_over_kernel_calls_has_the_gradients_of_one_call(monkeypatch):
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(0, 2, 300), rng.standard_normal(300)
    values = [PLAIN.replace(convention=convention) for convention in (AP, RR, ERR)]
    single_call = [objectives.gradients(labels, scores, value, group_sizes=[300]) for value in values]
    monkeypatch.setattr(ra.core.evaluation.threads, "WORK_PER_CALL", 7 * 300)
    for value, expected in zip(values, single_call, strict=True):
        np.testing.assert_array_equal(objectives.gradients(labels, scores, value, group_sizes=[300]), expected)


@for_each("ties", ["worst", "best"])
@for_each("convention", [RR, AP])
def test_tied_rows_of_equal_relevance_rank_in_row_order_whatever_their_labels(convention, ties):
    value = PLAIN.replace(convention=convention.replace(ties=ties, relevant="above_0"))
    labels, scores = np.array([2, 3, 1, 0]), [0.5, 0.5, 0.5, 0.1]
    graded = ra.objectives.gradients(labels, scores, value, group_sizes=[4])
    np.testing.assert_array_equal(graded, ra.objectives.gradients(labels > 0, scores, value, group_sizes=[4]))
    assert graded[0][0] < 0  # the tie ranks its first row first, and swapping it with the last row changes most
    assert graded[0][0] == graded[0].min()


@for_each("divisor", ["relevant", "cutoff", "found"])
@for_each("beyond_k", ["keep", "cut"])
def test_swaps_of_average_precision_use_its_divisor(divisor, beyond_k):
    value = PLAIN.replace(convention=AP.replace(k=3, divisor=divisor), beyond_k=beyond_k)
    labels, scores = [0, 1, 0, 1, 1, 0, 1], -np.arange(7.0)
    rows = [Row(label, score) for label, score in zip(labels, scores, strict=True)]
    derivatives = objectives.gradients(labels, scores, value, group_sizes=[7])
    np.testing.assert_allclose(derivatives, query_gradients(rows, value), rtol=1e-6, atol=1e-12)


def test_the_divisor_of_a_convention_selects_the_swap_kernel():
    first_kinds, second_kinds = (
        kernel_kinds(ra.parse("lightgbm.map@3").replace(divisor=word)) for word in ("relevant", "found")
    )
    assert first_kinds.swap != second_kinds.swap
    assert first_kinds.lambdamart == second_kinds.lambdamart
