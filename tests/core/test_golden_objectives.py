"""First-round gradients, summed over the leaves of the first tree, against what the built-in objectives summed."""

from __future__ import annotations

import numpy as np

from rankadapters import objectives
from tests.helpers.objective_data import recorded
from tests.tables import for_each

PRESETS = {
    "lambdarank": objectives.lightgbm.lambdarank,
    "rank_xendcg": objectives.lightgbm.xendcg,
    "rank:ndcg": objectives.xgboost.ndcg,
    "rank:pairwise": objectives.xgboost.pairwise,
    "rank:map": objectives.xgboost.map,
}
RECORDS = [
    (toolkit, name, record)
    for toolkit in ("lightgbm", "xgboost")
    for name, record in recorded(toolkit)
    if not record["params"].get("lambdarank_unbiased")  # position bias, which we lack
]


@for_each("record", [record for *_, record in RECORDS], ids=[f"{toolkit} {name}" for toolkit, name, _ in RECORDS])
def test_leaf_sums_are_those_of_the_built_in_objective(record):
    value = PRESETS[record["objective"]](**record["params"])
    scores = np.array(record["scores"])
    if record["library"] == "xgboost":
        scores = scores.astype(np.float32)
    sizes = record["group"]
    of_queries = record.get("query_weight") or None
    grad, hess = objectives.gradients(record["labels"], scores, value, group_sizes=sizes, query_weight=of_queries)
    weights = np.array(record.get("row_weight") or np.ones(len(grad)))  # LightGBM's, which multiply
    for part, name in ((grad, "gradient"), (hess, "hessian")):
        sums = [(part * weights)[np.array(record["leaf_of_row"]) == leaf].sum() for leaf in record["leaf_ids"]]
        expected = np.array(record[f"leaf_sum_{name}"])
        np.testing.assert_allclose(sums, expected, rtol=2e-5, atol=2e-6 * np.abs(part).sum())
