"""Gradients of LambdaRank under AP, RR and ERR by swaps, and special cases of the losses of lists."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.oracle_rows import columns_and_scores, ragged_queries
from tests.helpers.parameters import examples
from tests.objectives.examples import EXACT, lambdaranks
from tests.objectives.gradients_by_hand import query_gradients

pytestmark = pytest.mark.long

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


@pytest.mark.parametrize(
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


# LambdaLoss, ApproxNDCG and ListMLE


NDCG_AT_5 = ra.presets.textbook(5)


@pytest.mark.parametrize("value", [
    objectives.LambdaLoss(convention=NDCG_AT_5, scheme="ndcg2", truncation=None, sigma=1),
    objectives.ApproxNDCG(convention=NDCG_AT_5, temperature=1, hessian=1),
], ids=lambda value: value.kind)  # fmt: skip
def test_queries_that_are_short_or_have_no_relevant_row_have_no_gradient(value):
    short = value.replace(convention=value.convention.replace(short="zero"))
    derivatives = objectives.gradients([0, 0, 1, 0, 2, 0, 0, 1], np.arange(8.0), short, group_sizes=[2, 5, 1])
    for part in derivatives:
        assert not part[[0, 1, 7]].any()
        assert part[2:7].any()


def test_list_mle_ranks_rows_of_equal_labels_in_row_order():
    """Once the first of two rows is drawn, the second is drawn with probability 1 and adds nothing."""
    grad, hess = objectives.gradients([1, 1], [0.0, math.log(3)], objectives.ListMLE(), group_sizes=[2])
    np.testing.assert_allclose(grad, [1 / 4 - 1, 3 / 4], rtol=1e-6)
    np.testing.assert_allclose(hess, [3 / 16, 3 / 16], rtol=1e-6)


@pytest.mark.parametrize("convention", [AP, RR, ERR, ra.parse("yahoo@5")])
def test_a_single_query_without_a_retrieved_row_has_gradients_of_0(convention):
    value = PLAIN.replace(convention=convention.replace(missing="zero"))
    grad, hess = objectives.gradients([1.0, 0.0], [0.5, 0.2], value, group_sizes=[2], retrieved=[False, False])
    assert not grad.any()
    assert not hess.any()
