"""Gradients of list losses, before they are rounded to float32, against Rax."""

from __future__ import annotations

import math

import numpy as np

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.shared_data import kept
from tests.tables import for_each

NDCG = ra.presets.textbook(None)
PAIRS = objectives.LambdaLoss(convention=NDCG, scheme="ndcg2", truncation=None, sigma=1)
APPROXIMATE = objectives.ApproxNDCG(convention=NDCG, temperature=1, hessian=1)

# Rax multiplies the pair losses that NDCG weighs by the length of the list, and takes natural logarithms.
LOSSES = {
    "listmle_loss": (objectives.ListMLE(), lambda _: 1),
    "approx_t12n(ndcg_metric), temperature 1": (APPROXIMATE, lambda _: 1),
    "approx_t12n(ndcg_metric), temperature 0.1": (APPROXIMATE.replace(temperature=0.1), lambda _: 1),
    "pairwise_logistic_loss, sum, dcg2_lambdaweight(normalize=True)": (PAIRS, lambda n: n * math.log(2)),
    "pairwise_logistic_loss, sum, dcg_lambdaweight(normalize=True)": (
        PAIRS.replace(scheme="ndcg2++_0"),
        lambda n: n * math.log(2),
    ),
    "pairwise_logistic_loss, sum, labeldiff_lambdaweight": (
        PAIRS.replace(scheme="arp2", convention=NDCG.replace(gain="linear")),
        lambda _: math.log(2),
    ),
}
RECORDS = kept("list_losses")["records"]


def test_every_loss_is_compared():
    assert {name for record in RECORDS for name in record["rax"]} == set(LOSSES)


@for_each(
    ("record", "name"),
    [(record, name) for record in RECORDS for name in LOSSES],
    ids=[f"{len(record['labels'])} rows, {name}" for record in RECORDS for name in LOSSES],
)
def test_gradients_are_raxs(record, name):
    value, factor = LOSSES[name]
    n = len(record["labels"])
    bound = value.bind(ra.Queries(record["labels"], group_sizes=[n]))
    grad, hess = np.zeros(n), np.zeros(n)
    assert set(bound.kernel(np.array(record["scores"]), 0, 1, grad, hess)) == {-1}
    np.testing.assert_allclose(grad * factor(n), record["rax"][name]["gradient"], rtol=1e-12, atol=1e-14)
    found = objectives.gradients(record["labels"], record["scores"], value, group_sizes=[n])
    np.testing.assert_allclose(found, [grad, hess], rtol=1e-6)
