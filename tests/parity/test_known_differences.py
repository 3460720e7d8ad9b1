"""Each version of a toolkit differs from our numbers exactly where known_differences.toml says so."""

from __future__ import annotations

import importlib
import math
import tomllib
from pathlib import Path

import numpy as np
import pytest
from packaging.specifiers import SpecifierSet

import rankadapters as ra
from rankadapters.parity import ToolkitData

pytestmark = pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")  # labels that some tools refuse

DIFFERENCES = tomllib.loads((Path(__file__).parent / "known_differences.toml").read_text(encoding="utf-8"))[
    "difference"
]
REFUSED = "refused"
DECIMALS = 4  # of the values in known_differences.toml


def or_refused(compute, *errors):
    """Return the rounded value that is computed, or `REFUSED` if one of the errors is raised."""
    try:
        return round(float(compute()), DECIMALS)
    except errors:
        return REFUSED


def our_value(labels, scores, make, sizes=None, **columns):
    sizes = [len(labels)] if sizes is None else sizes
    return or_refused(lambda: ra.evaluate(labels, scores, make(), group_sizes=sizes, **columns), ra.RankAdaptersError)


def catboost_metric(labels, scores, metric):
    from catboost import CatBoostError
    from catboost.utils import eval_metric

    value = or_refused(lambda: eval_metric(labels, scores, metric, group_id=[0] * len(labels))[0], CatBoostError)
    return value, our_value(labels, scores, lambda: ra.catboost.read_metric(metric))


def own_ndcg(name, labels, sizes, **columns):
    """Compute a toolkit's own NDCG, without the errors that `check_parity` raises itself, and ours."""
    toolkit, convention = importlib.import_module(f"rankadapters.{name}.parity").TOOLKIT, getattr(ra.presets, name)(3)
    scores = np.arange(len(labels), dtype=np.float64)
    data = ToolkitData(queries=ra.Queries(labels, group_sizes=sizes, **columns), scores=scores)
    words = getattr(ra, name).native_metric(convention)
    our_number = our_value(labels, scores, lambda: convention, sizes, **columns)
    return or_refused(lambda: toolkit.ask(data, words), ra.InputError), our_number


def sklearn_ndcg(labels):
    from sklearn.metrics import ndcg_score

    scores = list(range(len(labels)))
    our_number = our_value(labels, scores, lambda: ra.presets.sklearn(None))
    return or_refused(lambda: ndcg_score([labels], [scores]), ValueError), our_number


PROBES = {
    "catboost_top_0": lambda: catboost_metric([0, 1, 2], [3, 2, 1], "NDCG:top=0"),
    "catboost_top_below_minus_1": lambda: catboost_metric([0, 1, 2], [3, 2, 1], "NDCG:top=-5"),
    "catboost_nan_scores": lambda: catboost_metric([3, 2, 1, 0], [math.nan] * 4, "NDCG"),
    "catboost_negative_label_exp": lambda: catboost_metric([2, -1, 1], [1, 3, 2], "NDCG:type=Exp"),
    "lightgbm_fractional_labels": lambda: own_ndcg("lightgbm", [0.5, 1, 0], [3]),
    "lightgbm_long_query": lambda: own_ndcg("lightgbm", [0, 1] * 5001, [10_002]),
    "xgboost_fractional_labels": lambda: own_ndcg("xgboost", [0.5, 1, 0], [3]),
    "xgboost_mean_above_1": lambda: own_ndcg("xgboost", [0, 0, 1, 0], [2, 2], query_weight=[0.1, 0.2]),
    "sklearn_one_document": lambda: sklearn_ndcg([1]),
    "sklearn_negative_label": lambda: sklearn_ndcg([1, -1, 2]),
}


@pytest.mark.parametrize("probe", PROBES)
def test_a_toolkit_differs_exactly_as_recorded_for_its_version(probe):
    name = probe.partition("_")[0]
    version = pytest.importorskip(name).__version__
    lines = [line for line in DIFFERENCES if line["probe"] == probe and version in SpecifierSet(line["versions"])]
    assert len(lines) < 2, "two lines cover this version"
    toolkit_value, our_number = PROBES[probe]()
    if lines:
        assert (toolkit_value, our_number) == (lines[0]["toolkit_value"], lines[0]["our_value"])
    else:
        assert toolkit_value == our_number, f"{name} {version} differs, and known_differences.toml does not say so"


@pytest.mark.parametrize("line", DIFFERENCES, ids=lambda line: line["probe"])
def test_every_line_is_complete_and_records_a_difference(line):
    assert list(line) == ["probe", "toolkit", "versions", "toolkit_value", "our_value", "why", "where"]
    assert line["probe"] in PROBES
    assert line["probe"].startswith(line["toolkit"])
    assert line["toolkit_value"] != line["our_value"]
    assert line["where"].startswith("https://")
