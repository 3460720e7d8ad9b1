"""Compare NDCG and DCG of the toolkits, and measures of other libraries, with what the real programs printed.

`golden/toolkits.json` is a selection of each toolkit's records; a thorough run
reads the whole files too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import presets
from rankadapters.presets.texts import maker
from tests.helpers.shared_data import golden_file, shared_records
from tests.helpers.tables import for_each

PRECISE = 1e-12

Record = dict[str, Any]


def records(toolkit: str) -> list[Any]:
    files = [("", golden_file("toolkits")[toolkit]), ("full-", shared_records(f"toolkits/{toolkit}_metrics"))]
    return [pytest.param(r, id=f"{prefix}{r['case']}-{r['seed']}") for prefix, records in files for r in records]


def cutoff(metric: str) -> int | None:
    digits = metric.rstrip("-").partition("@")[2]
    return int(digits) if digits else 32


def as_float32(values: list[float]) -> np.ndarray:
    return np.asarray(values, np.float32)


def as_dcg(convention: ra.NDCG) -> ra.DCG:
    return ra.DCG(**{name: value for name, value in convention.to_dict().items() if name not in {"ideal", "empty"}})


def weights_of(record: Record) -> np.ndarray | None:
    """Return the query weights that our adapter makes of the row weights that LightGBM was given."""
    from rankadapters.lightgbm.metrics import query_weights

    if "query_weight" in record:
        record = {**record, "row_weight": np.repeat(record["query_weight"], record["group"])}
    if "row_weight" not in record:
        return None
    return query_weights(np.asarray(record["row_weight"]), np.asarray(record["group"]))


def compare(
    record: Record,
    conventions: Callable[[Record], ra.Convention | None],
    columns: dict[str, Any],
    tolerance: float,
    refused: str = "",
) -> None:
    """Compare all metrics with a convention and a number; only cases that the program refused have none."""
    compared = 0
    for metric in record["metrics"]:
        convention = conventions(metric)
        if convention is not None and isinstance(metric.get("value"), float | int):
            value = ra.evaluate(convention=convention, group_sizes=record["group"], **columns).value
            assert value == pytest.approx(metric["value"], rel=tolerance, abs=1e-300), metric["metric"]
            compared += 1
    assert compared or record["case"] in refused.split()


@for_each("record", records("lightgbm"))
def test_lightgbm_presets_give_what_lightgbm_printed(record):
    pytest.importorskip("lightgbm")

    def convention(metric):
        k, gains = cutoff(metric["metric"]), metric["params"].get("label_gain")
        return presets.lightgbm(k, label_gain=gains) if metric["metric"].startswith("ndcg") else None

    columns = {"labels": as_float32(record["labels"]), "scores": record["scores"], "query_weight": weights_of(record)}
    compare(record, convention, columns, PRECISE, "fractional_0_1 negative_labels label_31 label_32")


@for_each("record", records("xgboost"))
def test_xgboost_presets_give_what_xgboost_printed(record):
    def convention(metric):
        name, exponential = metric["metric"], metric["params"].get("ndcg_exp_gain", True)
        minus = name.endswith("-")
        ndcg = name.startswith("ndcg")
        return presets.xgboost(cutoff(name), ndcg_exp_gain=exponential, minus=minus) if ndcg else None

    columns = {"labels": record["labels"], "scores": record["scores"], "query_weight": record.get("query_weight")}
    columns = {name: None if column is None else as_float32(column) for name, column in columns.items()}
    compare(record, convention, columns, PRECISE, "row_weights_uneven")


# Where the function refuses the labels, the records have what its parts compute.
@pytest.mark.filterwarnings("ignore:.*ndcg_score:rankadapters.LabelsWarning")
@for_each("record", records("scikit_learn"))
def test_scikit_learn_presets_give_what_scikit_learn_printed(record):
    compared = 0
    for metric in record["metrics"]:
        if metric["ignore_ties"]:
            continue  # an unstable argsort decides the order
        convention = presets.sklearn(metric["k"])
        if metric["metric"] == "dcg_score":
            convention = as_dcg(convention)
        our_values = ra.Evaluator(record["labels"], convention, group_sizes=record["group"]).per_query(record["scores"])
        printed = metric["per_query"]
        printed = printed.values() if isinstance(printed, dict) else printed
        for our_value, value in zip(our_values, printed, strict=True):
            if isinstance(value, float | int):  # null where the function refuses one document or negative labels
                assert our_value == pytest.approx(value, rel=PRECISE, abs=1e-14)
                compared += 1
    assert compared or record["case"] == "negative_labels"


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
def test_presets_of_retrieval_libraries_give_what_they_printed(toolkit, record):
    """The docids of each query are d000, d001, ... in input order, as the notes in the records say."""

    def convention(metric):
        name, _, k = metric["metric"].replace("ndcg_cut_", "ndcg_cut@").partition("@")
        return LIBRARIES[toolkit][name](int(k) if k else None) if name in LIBRARIES[toolkit] else None

    docid = [f"d{row:03d}" for size in record["group"] for row in range(size)]
    compare(record, convention, {"labels": record["labels"], "scores": record["scores"], "docid": docid}, 1e-9)


def compare_torchmetrics(record: Record) -> None:
    for metric in record["metrics"]:
        convention = presets.torchmetrics(metric["top_k"], empty_target_action=metric["empty_target_action"])
        labels = as_float32(record["labels"])
        value = ra.evaluate(labels, as_float32(record["scores"]), convention, group_sizes=record["group"]).value
        assert value == pytest.approx(metric["value"], abs=2e-6)


@for_each("record", [case for case in records("torchmetrics") if "negative" not in case.id])
def test_torchmetrics_presets_give_what_torchmetrics_printed(record):
    compare_torchmetrics(record)


@pytest.mark.xfail(strict=True, reason=presets.inexpressible()["negative_ideal_dcg"])
@pytest.mark.parametrize("record", [case for case in records("torchmetrics") if "negative" in case.id])
def test_torchmetrics_of_negative_labels(record):
    compare_torchmetrics(record)


@for_each(
    ("library", "record"),
    [(library, record) for library in golden_file("libraries")["libraries"] for record in library["records"]],
    ids=lambda part: part.get("case") or part["name"],
)
def test_a_preset_gives_what_the_library_printed(library, record):
    preset = maker(library["preset"])
    convention = preset(record.get("k"), **library["options"]).replace(**library["changes"])
    columns = {name: record[name] for name in ("qid", "docid", "judged", "retrieved") if name in record}
    evaluator = ra.Evaluator(record["labels"], convention, **columns)
    tolerance = library.get("tolerance", 1e-9)  # larger for libraries that compute in float32
    assert evaluator.evaluate(record["scores"]).value == pytest.approx(record["value"], rel=tolerance, abs=1e-12)
    printed = record.get("per_query") or []
    for our_value, value in zip(evaluator.per_query(record["scores"]), printed, strict=False):
        assert math.isnan(our_value) if value is None else our_value == pytest.approx(value, rel=tolerance, abs=1e-12)
