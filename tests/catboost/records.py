"""Values that CatBoost printed, generated columns, and every convention that CatBoost can express."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.checkout import golden_file, shared_records

BASE = ra.presets.catboost(10)


def records() -> list[Any]:
    """Return records of CatBoost 1.2.10 as test parameters: those of the checkout, and all in a thorough run."""
    parts = {"": golden_file("toolkits")["catboost"], "full-": shared_records("toolkits/catboost_metrics")}
    return [
        pytest.param(record, id=f"{prefix}{record['case']}-{record['seed']}")
        for prefix, part in parts.items()
        for record in part
    ]


def values_by_metric(record: dict[str, Any]) -> dict[str, float]:
    """Return NDCG and DCG of a record, by metric string."""
    values = {metric["metric"]: metric["value"] for metric in record["metrics"]}
    return {metric: value for metric, value in values.items() if metric.startswith(("NDCG:", "DCG:"))}


def convention_of(metric):
    name, _, spelled = metric.partition(":")
    params = dict(part.split("=") for part in spelled.split(";"))
    convention = ra.presets.catboost(
        int(params["top"]) if "top" in params else None,
        type=params.get("type", "Base"),
        denominator=params.get("denominator", "LogPosition"),
        use_weights=params.get("use_weights") != "false",
    )
    return convention if name == "NDCG" else as_dcg(convention)


def as_dcg(ndcg):
    """Return the DCG that has the fields of an NDCG."""
    return ra.DCG(**{name: value for name, value in ndcg.to_dict().items() if name in ra.DCG.fields()})


def as_float32(values):
    """Return values rounded to float32, in float64; None for None."""
    return None if values is None else np.asarray(values, np.float32).astype(float)


def without_undefined_gains(values, labels):
    """Return the values without those of type=Exp if a label is negative."""
    return {metric: value for metric, value in values.items() if min(labels) >= 0 or "type=Exp" not in metric}


def weighted_columns(seed=0, lowest=0.0):
    """Return labels, scores, query ids and row weights: fractional labels, ties, and short and empty queries."""
    rng = np.random.default_rng(seed)
    sizes = np.concatenate([[1, 1, 2], rng.integers(1, 25, 27)])
    qid = np.repeat(np.arange(sizes.size), sizes)
    labels = as_float32(np.maximum(rng.normal(1, 1.5, qid.size).round(1), lowest))
    labels[np.isin(qid, [1, 4, 5])] = 0
    return labels, rng.integers(0, 8, qid.size) / 8, qid, as_float32(rng.uniform(0.1, 5, sizes.size))


def expressible_conventions():
    """Return every NDCG and DCG that CatBoost can express, at five cutoffs."""
    choices = product((None, 1, 3, 10, 1000), ("Base", "Exp"), ("LogPosition", "Position"), (True, False))
    options = [dict(zip(("k", "type", "denominator", "use_weights"), choice, strict=True)) for choice in choices]
    return [make(**option) for make in (ra.presets.catboost, ra.presets.catboost.dcg) for option in options]
