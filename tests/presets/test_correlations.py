"""Correlations equal those that scipy, pandas and polars computed, and those that the installed releases compute."""

from __future__ import annotations

import json
import math
from importlib.metadata import version

import numpy as np
import pytest

import rankadapters as ra
from tests.record_correlations import CALLS, FILE, cases, computed

OLDEST = {"scipy": (1, 15), "pandas": (2, 2), "polars": (1, 20)}  # versions that give these numbers too
RECORDED = json.loads(FILE.read_text(encoding="utf-8"))
INSTALLED = [pytest.param(name, call, id=f"{name} {call.preset}") for name, calls in CALLS.items() for call in calls]


def compare_correlation(preset, columns, library_values, tolerance):
    """Compare each query, all rows, and the mean without NaN, in which a query with equal scores counts 0."""
    labels, scores, sizes = columns["labels"], columns["scores"], columns["group_sizes"]
    convention = ra.parse(preset)
    our_values = ra.Evaluator(labels, convention, group_sizes=sizes).per_query(scores)
    starts = np.cumsum([0, *sizes])
    expected = []
    for start, end, value in zip(starts, starts[1:], library_values["per_query"], strict=False):
        undefined = len(set(labels[start:end])) == 1
        assert (value is None) == (undefined or len(set(scores[start:end])) == 1)
        expected.append(math.nan if undefined else 0.0 if value is None else value)
    np.testing.assert_allclose(our_values, expected, rtol=0, atol=tolerance)
    value = ra.evaluate(labels, scores, convention, group_sizes=sizes).value
    assert value == pytest.approx(np.nanmean(expected), rel=0, abs=tolerance)
    value_of_rows = ra.evaluate(labels, scores, convention.replace(pool="rows"), group_sizes=sizes).value
    assert value_of_rows == pytest.approx(library_values["rows"], rel=0, abs=tolerance)


@pytest.mark.parametrize("case", RECORDED["cases"])
@pytest.mark.parametrize("record", RECORDED["records"], ids=lambda record: f"{record['library']} {record['preset']}")
def test_a_correlation_equals_what_the_library_printed(record, case):
    compare_correlation(record["preset"], RECORDED["cases"][case], record["results"][case], record["tolerance"])


@pytest.mark.long
@pytest.mark.parametrize("case", cases())
@pytest.mark.parametrize(("name", "call"), INSTALLED)
def test_a_correlation_equals_what_the_installed_library_computes(name, call, case):
    module, library = pytest.importorskip(name), name.partition(".")[0]
    if tuple(map(int, version(library).split(".")[:2])) < OLDEST[library]:
        pytest.skip(f"{library} {version(library)} gives different numbers, as its preset says")
    columns = cases()[case]
    compare_correlation(call.preset, columns, computed(module, call, columns), call.tolerance)


def test_a_mean_that_skips_nan_can_be_computed_as_inexpressible_says():
    """Multiply our value by the queries scored and divide it by the queries with different scores."""
    pd = pytest.importorskip("pandas")
    columns = RECORDED["cases"]["constants"]
    qid = np.repeat(range(4), columns["group_sizes"])
    frame = pd.DataFrame({"qid": qid, "label": columns["labels"], "score": columns["scores"]})
    pandas_mean = frame.groupby("qid")[["label", "score"]].corr(method="spearman").xs("label", level=1)["score"].mean()
    score = ra.evaluate(frame["label"], frame["score"], "pandas.spearman", qid=qid)
    assert (score.value, score.n_scored) == (-0.5, 2)
    assert score.value * score.n_scored / 1 == pytest.approx(pandas_mean, rel=1e-14)
