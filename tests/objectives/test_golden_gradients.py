"""Gradients against recorded numbers of other programs: leaf sums and values of first trees, and Rax's gradients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.checkout import golden_file, shared_losses
from tests.helpers.objective_rankings import first_trees
from tests.helpers.random_loss_records import float64_gradients, leaf_values, named_trees, read_loss

pytestmark = pytest.mark.long

PRESETS = {
    "lambdarank": objectives.lightgbm.lambdarank,
    "rank_xendcg": objectives.lightgbm.xendcg,
    "rank:ndcg": objectives.xgboost.ndcg,
    "rank:pairwise": objectives.xgboost.pairwise,
    "rank:map": objectives.xgboost.map,
}
BUILT_IN = [
    (toolkit, name, record)
    for toolkit in ("lightgbm", "xgboost")
    for name, record in first_trees(toolkit).items()
    if not record["params"].get("lambdarank_unbiased")  # needs a position bias
]


@pytest.mark.parametrize(
    "record", [record for *_, record in BUILT_IN], ids=[f"{toolkit} {name}" for toolkit, name, _ in BUILT_IN]
)
def test_leaf_sums_equal_those_of_the_built_in_objective(record):
    value = PRESETS[record["objective"]](**record["params"])
    scores = np.array(record["scores"])
    if record["library"] == "xgboost":
        scores = scores.astype(np.float32)
    sizes = record["group"]
    query_weights = record.get("query_weight") or None
    grad, hess = objectives.gradients(record["labels"], scores, value, group_sizes=sizes, query_weight=query_weights)
    weights = np.array(record.get("row_weight") or np.ones(len(grad)))  # LightGBM multiplies by them
    for part, name in ((grad, "gradient"), (hess, "hessian")):
        sums = [(part * weights)[np.array(record["leaf_of_row"]) == leaf].sum() for leaf in record["leaf_ids"]]
        expected = np.array(record[f"leaf_sum_{name}"])
        np.testing.assert_allclose(sums, expected, rtol=2e-5, atol=2e-6 * np.abs(part).sum())


OPTION_TYPES: dict[str, Any] = {"top": int, "sigma": float, "norm": lambda text: text == "true"}


def lambdamart_models() -> dict[str, dict[str, Any]]:
    """Return CatBoost's recorded models by name: those in this repository, and those of the shared data if present."""
    records_by_name = {}
    for prefix, source, records in (("", golden_file("lambdamart"), "records"), ("full-", shared_losses(), "catboost")):
        for record in source.get(records, []):
            if record["loss"].startswith("LambdaMart"):
                name = f"{prefix}{record['loss']}-{record['leaf_estimation_method']}-{record['data']}"
                records_by_name[name] = {**record, **source["data"][record["data"]]}
    return records_by_name


LAMBDAMART_MODELS = lambdamart_models()


def read_lambdamart(loss: str) -> objectives.LambdaRank:
    options = dict(pair.split("=") for pair in loss.partition(":")[2].split(";"))
    return objectives.catboost.lambdamart(**{name: OPTION_TYPES.get(name, str)(text) for name, text in options.items()})


def leaf_steps(record: dict[str, Any], grad: Any, hess: Any) -> Any:
    """Return CatBoost's leaf values. Its derivatives have the wrong sign, which cancels in Newton steps."""
    gradients, hessians, rows = (np.bincount(record["leaf"], weights, len(record["leaf_values"]))
                                 for weights in (grad, hess, np.ones(len(grad))))  # fmt: skip
    divisor = -hessians if record["leaf_estimation_method"] == "Newton" else rows
    return np.divide(gradients, divisor, out=np.zeros_like(gradients), where=divisor != 0)


@pytest.mark.parametrize("record", LAMBDAMART_MODELS.values(), ids=LAMBDAMART_MODELS)
def test_leaf_values_of_lambdamart_equal_catboosts(record):
    """They agree to 1e-12 before our gradients are rounded to float32."""
    value, queries = read_lambdamart(record["loss"]), ra.Queries(record["labels"], qid=record["qid"])
    expected = np.array(record["leaf_values"])
    exact = leaf_steps(record, *float64_gradients(value, queries, record["scores"]))
    np.testing.assert_allclose(exact, expected, rtol=1e-12, atol=1e-12)
    rounded = leaf_steps(record, *objectives.gradients(queries, record["scores"], value))
    np.testing.assert_allclose(rounded, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


RANDOM_LOSSES = named_trees()


@pytest.mark.parametrize("record", RANDOM_LOSSES.values(), ids=RANDOM_LOSSES)
def test_leaf_values_of_random_losses_equal_catboosts(record):
    value = read_loss(record["loss"], int(record["call_seed"]))
    queries = ra.Queries(record["labels"], qid=record["qid"])
    exact = leaf_values(value, record, *float64_gradients(value, queries, record["scores"]))
    np.testing.assert_allclose(exact, record["leaf_values"], rtol=1e-12, atol=1e-12)
    rounded = [part.astype(float) for part in objectives.gradients(queries, record["scores"], value)]
    np.testing.assert_allclose(leaf_values(value, record, *rounded), record["leaf_values"], rtol=1e-6, atol=1e-6)


NDCG = ra.presets.textbook(None)
PAIRS = objectives.LambdaLoss(convention=NDCG, scheme="ndcg2", truncation=None, sigma=1)
APPROXIMATE = objectives.ApproxNDCG(convention=NDCG, temperature=1, hessian=1)

# Each loss comes with the factor between Rax's gradient and ours: Rax takes natural logarithms, and multiplies the pair
# losses that NDCG weighs by the length of the list.
RAX_LOSSES = {
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
RECORDS = golden_file("list_losses")["records"]


def test_every_recorded_rax_loss_is_compared():
    assert {name for record in RECORDS for name in record["rax"]} == set(RAX_LOSSES)


@pytest.mark.parametrize(
    ("record", "name"),
    [(record, name) for record in RECORDS for name in RAX_LOSSES],
    ids=[f"{len(record['labels'])} rows, {name}" for record in RECORDS for name in RAX_LOSSES],
)
def test_gradients_equal_raxs(record, name):
    value, factor = RAX_LOSSES[name]
    n = len(record["labels"])
    binding = value.bind(ra.Queries(record["labels"], group_sizes=[n]))
    grad, hess = np.zeros(n), np.zeros(n)
    assert set(binding.kernel(np.array(record["scores"]), grad, hess, 0, 1)) == {-1}
    np.testing.assert_allclose(grad * factor(n), record["rax"][name]["gradient"], rtol=1e-12, atol=1e-14)
    derivatives = objectives.gradients(record["labels"], record["scores"], value, group_sizes=[n])
    np.testing.assert_allclose(derivatives, [grad, hess], rtol=1e-6)
