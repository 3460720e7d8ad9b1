"""Records of CatBoost, generated data and every convention that it can express."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.shared_data import kept, shared_records

BASE = ra.presets.catboost(10)


def kept_records() -> list[Any]:
    """What CatBoost 1.2.10 printed, as kept in this checkout, as test parameters."""
    return [pytest.param(record, id=f"{record['case']}-{record['seed']}") for record in kept("toolkits")["catboost"]]


def records() -> list[Any]:
    """Those, and all in a thorough run."""
    whole = shared_records("toolkits/catboost_metrics")
    return [*kept_records(), *(pytest.param(r, id=f"full-{r['case']}-{r['seed']}") for r in whole)]


def printed(record: dict[str, Any]) -> dict[str, float]:
    """NDCG and DCG of a record, by metric string."""
    return {m["metric"]: m["value"] for m in record["metrics"] if m["metric"].startswith(("NDCG:", "DCG:"))}


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
    return ra.DCG(**{name: value for name, value in ndcg.to_dict().items() if name in ra.DCG.fields()})


def float32(values):
    return None if values is None else np.asarray(values, np.float32).astype(float)


def without_exp(values, labels):
    return {metric: value for metric, value in values.items() if min(labels) >= 0 or "type=Exp" not in metric}


def make_data(seed=0, lowest=0.0):
    """Ragged queries with ties, fractional labels, one-document queries, empty queries and weights."""
    rng = np.random.default_rng(seed)
    sizes = np.concatenate([[1, 1, 2], rng.integers(1, 25, 27)])
    qid = np.repeat(np.arange(sizes.size), sizes)
    labels = float32(np.maximum(rng.normal(1, 1.5, qid.size).round(1), lowest))
    labels[np.isin(qid, [1, 4, 5])] = 0
    return labels, rng.integers(0, 8, qid.size) / 8, qid, float32(rng.uniform(0.1, 5, sizes.size))


def expressible():
    every = product((None, 1, 3, 10, 1000), ("Base", "Exp"), ("LogPosition", "Position"), (True, False))
    options = [dict(zip(("k", "type", "denominator", "use_weights"), choice, strict=True)) for choice in every]
    return [make(**choice) for make in (ra.presets.catboost, ra.presets.catboost.dcg) for choice in options]
