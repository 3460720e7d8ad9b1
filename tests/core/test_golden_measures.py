"""Measures other than NDCG, as the real programs printed them, per query and in the mean.

`golden/measures.json` is a selection of the records, made by `tests/select_golden.py`; a thorough run reads the
whole files too.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterable
from numbers import Real
from typing import Any

import pytest

import rankadapters as ra
from tests.helpers.golden_measures import (
    TOOLKITS,
    Record,
    compared,
    convention_of,
    data_of,
    has_number,
    kept_records,
    records,
    tolerance,
)
from tests.helpers.shared_data import shared_records
from tests.tables import for_each

NEEDED = {"lightgbm": "lightgbm"}  # whose arithmetic of weights our adapter has


@pytest.mark.parametrize("toolkit", TOOLKITS)
@for_each("record", lambda toolkit: [pytest.param(record, id=name) for name, record in records(toolkit)])
def test_the_preset_gives_what_the_program_prints(toolkit, record):
    if toolkit in NEEDED:
        pytest.importorskip(NEEDED[toolkit])
    for (labels, scores, columns), asked in by_data(toolkit, record):
        found = ra.Panel(labels, list(dict.fromkeys(convention for convention, _ in asked)), **columns).measure(scores)
        for convention, metric in asked:
            close = tolerance(toolkit, convention)
            compare(close, metric, found.scores[convention].value)
            if metric.get("per_query") and convention.over != "rows" and convention.floor is None:
                compare_per_query(close, metric, found.per_query[convention])


def by_data(toolkit: str, record: Record) -> Iterable[tuple[tuple[Any, ...], list[tuple[ra.Convention, Record]]]]:
    """The metrics of a record that can be compared, those that were given the same data together."""
    found: dict[bytes, tuple[tuple[Any, ...], list[tuple[ra.Convention, Record]]]] = {}
    for metric in record["metrics"]:
        convention = convention_of(toolkit, metric, record)
        if convention is not None and has_number(metric) and not nothing_left(toolkit, metric):
            data = data_of(toolkit, convention, metric, record)
            key = pickle.dumps((data, convention.over))  # over all rows there are no values per query
            found.setdefault(key, (data, []))[1].append((convention, metric))
    return found.values()


def compare(close: float, metric: Record, value: float) -> None:
    """Compare the mean, where there is one."""
    if isinstance(metric.get("value"), Real):
        assert value == pytest.approx(metric["value"], rel=close, abs=close), metric


def compare_per_query(close: float, metric: Record, values: Iterable[float]) -> None:
    """Compare each query's value; what is not a number was not printed, or is an error."""
    for ours, theirs in zip(values, metric["per_query"], strict=True):
        if isinstance(theirs, Real):
            assert (0.0 if math.isnan(ours) else ours) == pytest.approx(theirs, rel=close, abs=close), metric


def nothing_left(toolkit: str, metric: Record) -> bool:
    """Whether torchmetrics skipped every query, which counts 0 there and is an error here."""
    return toolkit == "torchmetrics" and metric["params"]["empty_target_action"] == "skip" and metric["value"] == 0


@pytest.mark.parametrize(("toolkit", "least"), [
    ("lightgbm", 330), ("xgboost", 600), ("catboost", 2980), ("catboost_pool", 320), ("scikit_learn", 80),
    ("trec", 1970), ("trec_eval", 3430), ("ir_measures", 1170), ("ranx", 1700), ("torchmetrics", 1040),
    ("ranklib", 1000),
])  # fmt: skip
def test_no_record_is_passed_over_in_silence(toolkit, least):
    kept, whole = (
        [compared(toolkit, metric, record) for record in found for metric in record["metrics"]]
        for found in (kept_records(toolkit), shared_records(f"measures/{toolkit}_measures"))
    )
    assert all(kept)
    assert len(kept) >= least / 10
    assert not whole or sum(whole) >= least
