"""First-round gradients, summed over the leaves of the first tree, against what the built-in objectives summed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankadapters import objectives

HERE = Path(__file__).parent
KEPT = json.loads((HERE.parent / "golden" / "objectives.json").read_text())
FULL = HERE.parents[2] / "shared" / "golden" / "toolkits"
PRESETS = {
    "lambdarank": objectives.lightgbm_lambdarank,
    "rank_xendcg": objectives.lightgbm_xendcg,
    "rank:ndcg": objectives.xgboost_ndcg,
    "rank:pairwise": objectives.xgboost_pairwise,
    "rank:map": objectives.xgboost_map,
}


def records() -> list[Any]:
    """The selection of this checkout, and all where they lie beside it; none with position bias, which we lack."""
    kept = [{**record, **KEPT["inputs"][record["input"]]} for record in KEPT["records"]]
    cases = [pytest.param(record, id=f"{record['objective']}-{place}") for place, record in enumerate(kept)]
    for toolkit in ("lightgbm", "xgboost"):
        file = FULL / f"{toolkit}_objectives.json"
        if not file.exists():
            reason = "the full golden files are not beside this checkout"
            cases.append(pytest.param({}, id=f"full-{toolkit}", marks=pytest.mark.skip(reason=reason)))
            continue
        for place, record in enumerate(json.loads(file.read_text())["records"]):
            if not record["params"].get("lambdarank_unbiased"):
                cases.append(pytest.param(record, id=f"full-{record['objective']}-{place}"))
    return cases


@pytest.mark.parametrize("record", records())
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
