"""NDCG and DCG of the toolkits and libraries, as the real programs printed them.

`golden/toolkits.json` is a selection of the records of each, made by `tests/select_golden.py`; a thorough run
reads the whole files too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import presets
from tests.helpers.shared_data import kept, shared_records
from tests.tables import for_each

PRECISE = 1e-12

Record = dict[str, Any]


def records(toolkit: str) -> list[Any]:
    named = [("", kept("toolkits")[toolkit]), ("full-", shared_records(f"toolkits/{toolkit}_metrics"))]
    return [pytest.param(r, id=f"{name}{r['case']}-{r['seed']}") for name, records in named for r in records]


def printed(metric: Record) -> bool:
    """Tell whether the program gave a number; {"error": ...} stands for input that it refuses."""
    return isinstance(metric.get("value"), float | int)


def cutoff(metric: str) -> int | None:
    digits = metric.rstrip("-").partition("@")[2]
    return int(digits) if digits else 32


def as_float32(values: list[float]) -> np.ndarray:
    return np.asarray(values, np.float32)


def as_dcg(convention: ra.NDCG) -> ra.DCG:
    return ra.DCG(**{n: v for n, v in convention.to_dict().items() if n not in {"ideal", "empty"}})


def weights_of(record: Record) -> np.ndarray | None:
    """LightGBM was given row weights: those of the query, repeated, or uneven ones."""
    from rankadapters.lightgbm.metrics import query_weights

    if "query_weight" in record:
        record = {**record, "row_weight": np.repeat(record["query_weight"], record["group"])}
    if "row_weight" not in record:
        return None
    return query_weights(np.asarray(record["row_weight"]), np.asarray(record["group"]))


@for_each("record", records("lightgbm"))
def test_lightgbm(record):
    pytest.importorskip("lightgbm")
    data = {"group_sizes": record["group"], "query_weight": weights_of(record)}
    compared = 0
    for metric in record["metrics"]:
        if not metric["metric"].startswith("ndcg") or not printed(metric):
            continue
        convention = presets.lightgbm(cutoff(metric["metric"]), label_gain=metric["params"].get("label_gain"))
        value = ra.evaluate(as_float32(record["labels"]), record["scores"], convention, **data).value
        assert value == pytest.approx(metric["value"], rel=PRECISE), metric["metric"]
        compared += 1
    refused = {"fractional_0_1", "negative_labels", "label_31", "label_32"}
    assert compared or record["case"] in refused


@for_each("record", records("xgboost"))
def test_xgboost(record):
    weights = record.get("query_weight")
    data = {"group_sizes": record["group"], "query_weight": None if weights is None else as_float32(weights)}
    compared = 0
    for metric in record["metrics"]:
        name = metric["metric"]
        if not name.startswith("ndcg") or not printed(metric):
            continue
        ndcg_exp_gain = metric["params"].get("ndcg_exp_gain", True)
        convention = presets.xgboost(cutoff(name), ndcg_exp_gain=ndcg_exp_gain, minus=name.endswith("-"))
        value = ra.evaluate(as_float32(record["labels"]), as_float32(record["scores"]), convention, **data).value
        assert value == pytest.approx(metric["value"], rel=PRECISE, abs=1e-300), name
        compared += 1
    assert compared or record["case"] == "row_weights_uneven"


# What the function refuses, its parts compute.
@pytest.mark.filterwarnings("ignore:.*ndcg_score:rankadapters.LabelsWarning")
@for_each("record", records("scikit_learn"))
def test_scikit_learn(record):
    compared = 0
    for metric in record["metrics"]:
        if metric["ignore_ties"]:
            continue  # an unstable argsort decides there
        convention = presets.sklearn(metric["k"])
        if metric["metric"] == "dcg_score":
            convention = as_dcg(convention)
        got = ra.Evaluator(record["labels"], convention, group_sizes=record["group"]).per_query(record["scores"])
        theirs = metric["per_query"]
        for ours, value in zip(got, theirs.values() if isinstance(theirs, dict) else theirs, strict=True):
            if isinstance(value, float | int):  # null where the function refuses one document or negative labels
                assert ours == pytest.approx(value, rel=PRECISE, abs=1e-14)
                compared += 1
    assert compared or record["case"] == "negative_labels"


def docids(record: Record) -> list[str]:
    """As the records' notes say: d000, d001, ... in input order inside each query."""
    return [f"d{place:03d}" for size in record["group"] for place in range(size)]


LIBRARIES = {
    "ranx": {
        "ndcg": presets.ranx,
        "ndcg_burges": lambda k: presets.ranx(k, burges=True),
        "dcg": lambda k: as_dcg(presets.ranx(k)),
        "dcg_burges": lambda k: as_dcg(presets.ranx(k, burges=True)),
    },
    "ir_measures": {"nDCG": presets.ir_measures},
    "pytrec_eval_terrier": {"ndcg": presets.pytrec_eval, "ndcg_cut": presets.pytrec_eval},
}


@pytest.mark.parametrize("toolkit", LIBRARIES)
@for_each("record", records)
def test_libraries_of_information_retrieval(toolkit, record):
    compared = 0
    for metric in record["metrics"]:
        name, _, k = metric["metric"].replace("ndcg_cut_", "ndcg_cut@").partition("@")
        if name not in LIBRARIES[toolkit]:
            continue
        convention = LIBRARIES[toolkit][name](int(k) if k else None)
        score = ra.evaluate(
            record["labels"], record["scores"], convention, group_sizes=record["group"], docid=docids(record)
        )
        assert score.value == pytest.approx(metric["value"], rel=1e-9), metric["metric"]
        compared += 1
    assert compared


def compare_torchmetrics(record: Record) -> None:
    for metric in record["metrics"]:
        convention = presets.torchmetrics(metric["top_k"], empty_target_action=metric["empty_target_action"])
        labels = as_float32(record["labels"])
        value = ra.evaluate(labels, as_float32(record["scores"]), convention, group_sizes=record["group"]).value
        assert value == pytest.approx(metric["value"], abs=2e-6)


@for_each("record", [case for case in records("torchmetrics") if "negative" not in case.id])
def test_torchmetrics(record):
    compare_torchmetrics(record)


@pytest.mark.xfail(strict=True, reason=presets.inexpressible()["torchmetrics_negative_labels"])
@pytest.mark.parametrize("record", [case for case in records("torchmetrics") if "negative" in case.id])
def test_torchmetrics_of_negative_labels(record):
    compare_torchmetrics(record)
