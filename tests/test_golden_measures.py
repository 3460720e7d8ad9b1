"""Measures other than NDCG, as the real programs printed them, per query and in the mean.

`golden/measures.json` is a selection of the records, made by `tests/select_golden.py`; the whole files are read where
the shared data are there.
"""

from __future__ import annotations

import math
from numbers import Real

import pytest

import rankadapters as ra
from tests.golden_measures import TOOLKITS, Record, compared, convention_of, data_of, kept_records, records
from tests.shared_data import shared_records

NEEDED = {"lightgbm": "lightgbm"}  # whose arithmetic of weights our adapter has


CASES = [pytest.param(kit, record, id=f"{kit}-{name}") for kit in TOOLKITS for name, record in records(kit)]


@pytest.mark.parametrize(("toolkit", "record"), CASES)
def test_the_preset_gives_what_the_program_prints(toolkit, record):
    if toolkit in NEEDED:
        pytest.importorskip(NEEDED[toolkit])
    for metric in record["metrics"]:
        compare(toolkit, metric, record)


def compare(toolkit: str, metric: Record, record: Record) -> None:
    """Compare one metric's numbers, where there are any."""
    convention = convention_of(toolkit, metric, record)
    if convention is None or not compared(toolkit, metric, record):
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


@pytest.mark.parametrize(("toolkit", "least"), [
    ("lightgbm", 330), ("xgboost", 60), ("catboost", 1100), ("catboost_pool", 200), ("scikit_learn", 80), ("trec", 450),
    ("trec_eval", 1200), ("ir_measures", 300), ("ranx", 190), ("torchmetrics", 200), ("ranklib", 150),
])  # fmt: skip
def test_no_record_is_passed_over_in_silence(toolkit, least):
    kept, whole = (
        [compared(toolkit, metric, record) for record in found for metric in record["metrics"]]
        for found in (kept_records(toolkit), shared_records(f"measures/{toolkit}_measures"))
    )
    assert all(kept)
    assert len(kept) >= least / 5
    assert not whole or sum(whole) >= least
