"""Correlations as scipy, pandas and polars give them: numbers on file, and those of what is installed."""

from __future__ import annotations

import json
import math
from importlib.metadata import version

import numpy as np
import pytest

import rankadapters as ra
from tests.record_correlations import CALLS, FILE, cases, computed
from tests.tables import for_each

SINCE = {"scipy": (1, 15), "pandas": (2, 2), "polars": (1, 20)}  # which these numbers were run with too
KEPT = json.loads(FILE.read_text(encoding="utf-8"))
LIVE = [pytest.param(name, call, id=f"{name} {call.preset}") for name, calls in CALLS.items() for call in calls]


def compare(preset, columns, theirs, tolerance):
    """Compare each query, all rows, and the mean of what is not NaN, in which queries of equal scores count 0 here."""
    labels, scores, sizes = columns["labels"], columns["scores"], columns["group_sizes"]
    convention = ra.parse(preset)
    ours = ra.Evaluator(labels, convention, group_sizes=sizes).per_query(scores)
    starts = np.cumsum([0, *sizes])
    expected = []
    for start, end, value in zip(starts, starts[1:], theirs["per_query"], strict=False):
        undefined = len(set(labels[start:end])) == 1
        assert (value is None) == (undefined or len(set(scores[start:end])) == 1)
        expected.append(math.nan if undefined else 0.0 if value is None else value)
    np.testing.assert_allclose(ours, expected, rtol=0, atol=tolerance)
    value = ra.evaluate(labels, scores, convention, group_sizes=sizes).value
    assert value == pytest.approx(np.nanmean(expected), rel=0, abs=tolerance)
    rows = ra.evaluate(labels, scores, convention.replace(pool="rows"), group_sizes=sizes).value
    assert rows == pytest.approx(theirs["rows"], rel=0, abs=tolerance)


@pytest.mark.parametrize("case", KEPT["cases"])
@for_each("record", KEPT["records"], ids=lambda record: f"{record['library']} {record['preset']}")
def test_the_preset_gives_what_the_library_printed(record, case):
    compare(record["preset"], KEPT["cases"][case], record["results"][case], record["tolerance"])


@pytest.mark.parametrize("case", cases())
@for_each(("name", "call"), LIVE)
def test_the_preset_gives_what_the_installed_library_computes(name, call, case):
    module, library = pytest.importorskip(name), name.partition(".")[0]
    if tuple(map(int, version(library).split(".")[:2])) < SINCE[library]:
        pytest.skip(f"{library} {version(library)} has other numbers, as its preset says")
    columns = cases()[case]
    compare(call.preset, columns, computed(module, call, columns), call.tolerance)


def test_a_mean_without_nan_goes_over_other_queries_for_each_model():
    """The way around that `inexpressible` gives: times queries scored / queries of different scores."""
    pd = pytest.importorskip("pandas")
    columns = KEPT["cases"]["constants"]
    qid = np.repeat(range(4), columns["group_sizes"])
    frame = pd.DataFrame({"qid": qid, "label": columns["labels"], "score": columns["scores"]})
    theirs = frame.groupby("qid")[["label", "score"]].corr(method="spearman").xs("label", level=1)["score"].mean()
    score = ra.evaluate(frame["label"], frame["score"], "pandas.spearman", qid=qid)
    assert (score.value, score.n_scored) == (-0.5, 2)
    assert score.value * score.n_scored / 1 == pytest.approx(theirs, rel=1e-14)


def test_pandas_correlates_with_a_constant_that_it_rounds():
    """Seven times 0.1, whose mean it rounds: a number near 0, where scipy and this package say that there is none."""
    pd = pytest.importorskip("pandas")
    assert abs(pd.Series([0.1] * 7).corr(pd.Series(range(7)))) < 1e-15
    with pytest.raises(ra.InputError, match="nothing is left to average"):
        ra.evaluate([0.1] * 7, range(7), "pandas.pearson", group_sizes=[7])
