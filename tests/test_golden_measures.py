"""Measures other than NDCG, as the real programs printed them, per query and in the mean.

`golden/measures.json` is a selection of the records; the full files are read where they lie beside the checkout.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import pytest

import rankadapters as ra
from tests.golden_measures import FULL, TOOLKITS, Record, convention_of, data_of, records

NEEDED = {"lightgbm": "lightgbm"}  # whose arithmetic of weights our adapter has


def cases() -> list[Any]:
    found = [
        pytest.param(kit, record, id=f"{kit}-{name}") for kit in TOOLKITS for name, record in records(kit)
    ]  # fmt: skip
    if not FULL.is_dir():
        skip = pytest.mark.skip(reason="the full golden files are not beside this checkout")
        found.append(pytest.param("", {}, id="full", marks=skip))
    return found


@pytest.mark.parametrize(("toolkit", "record"), cases())
def test_the_preset_gives_what_the_program_prints(toolkit, record):
    if toolkit in NEEDED:
        pytest.importorskip(NEEDED[toolkit])
    for metric in record["metrics"]:
        compare(toolkit, metric, record)


def compare(toolkit: str, metric: Record, record: Record) -> None:
    """Compare one metric's numbers, where there are any."""
    convention = convention_of(toolkit, metric, record)
    numbers = [metric.get("value"), *(metric.get("per_query") or [])]
    if convention is None or not any(isinstance(number, Real) for number in numbers):
        return
    labels, scores, columns = data_of(toolkit, convention, metric, record)
    panel = ra.Panel(labels, [convention], **columns)
    found, close = panel.measure(scores), TOOLKITS[toolkit].tolerance
    if isinstance(metric.get("value"), Real):
        value = 0.0 if nothing_left(toolkit, metric) else found.scores[convention].value
        assert value == pytest.approx(metric["value"], rel=close, abs=close), metric
    if metric.get("per_query") and convention.over != "rows" and convention.floor is None:
        for ours, theirs in zip(found.per_query[convention], metric["per_query"], strict=True):
            if isinstance(theirs, Real):  # else not printed, or an error
                assert (0.0 if math.isnan(ours) else ours) == pytest.approx(theirs, rel=close, abs=close), metric


def nothing_left(toolkit: str, metric: Record) -> bool:
    """Whether torchmetrics skipped every query, which counts 0 there and is an error here."""
    return toolkit == "torchmetrics" and metric["params"]["empty_target_action"] == "skip" and metric["value"] == 0


@pytest.mark.skipif(not FULL.is_dir(), reason="the full golden files are not beside this checkout")
@pytest.mark.parametrize(("toolkit", "least"), [
    ("lightgbm", 330), ("xgboost", 60), ("catboost", 1200), ("catboost_pool", 200), ("scikit_learn", 80), ("trec", 450),
    ("trec_eval", 1200), ("ir_measures", 300), ("ranx", 190), ("torchmetrics", 200), ("ranklib", 150),
])  # fmt: skip
def test_no_record_is_passed_over_in_silence(toolkit, least):
    full = [record for name, record in records(toolkit) if name.startswith("measures-")]
    read = [convention_of(toolkit, metric, record) for record in full for metric in record["metrics"]]
    assert sum(convention is not None for convention in read) >= least
