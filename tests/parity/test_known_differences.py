"""What toolkits are known to compute otherwise, by version, held to the letter of known_differences.toml."""

from __future__ import annotations

import importlib
import math
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packaging.specifiers import SpecifierSet

import rankadapters as ra
from rankadapters.parity import ToolkitData

pytestmark = pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")  # whatever labels a tool takes

DIFFERENCES = tomllib.loads((Path(__file__).parent / "known_differences.toml").read_text(encoding="utf-8"))[
    "difference"
]
REFUSED = "refused"
DECIMALS = 4  # of the values in the file

Value = float | str


def or_refused(ask: Callable[[], Any], *errors: type[Exception]) -> Value:
    try:
        return float(ask())
    except errors:
        return REFUSED


def catboost(labels: list[float], scores: list[float], metric: str) -> Value:
    from catboost import CatBoostError
    from catboost.utils import eval_metric

    return or_refused(lambda: eval_metric(labels, scores, metric, group_id=[0] * len(labels))[0], CatBoostError)


def ours(labels: list[float], scores: list[float], make: Callable[[], ra.Convention], **columns: Any) -> Value:
    given = columns or {"group_sizes": [len(labels)]}
    return or_refused(lambda: ra.evaluate(labels, scores, make(), **given), ra.RankAdaptersError)


def catboost_top_0():
    case, metric = ([0, 1, 2], [3, 2, 1]), "NDCG:top=0"
    return catboost(*case, metric), ours(*case, lambda: ra.catboost.read_metric(metric))


def catboost_top_below_minus_1():
    case, metric = ([0, 1, 2], [3, 2, 1]), "NDCG:top=-5"
    return catboost(*case, metric), ours(*case, lambda: ra.catboost.read_metric(metric))


def catboost_nan_scores():
    case = ([3, 2, 1, 0], [math.nan] * 4)
    return catboost(*case, "NDCG"), ours(*case, lambda: ra.presets.catboost(None))


def catboost_negative_label_exp():
    case, metric = ([2, -1, 1], [1, 3, 2]), "NDCG:type=Exp"
    return catboost(*case, metric), ours(*case, lambda: ra.catboost.read_metric(metric))


def toolkit(
    name: str, labels: list[float], make: Callable[[int], ra.Convention], sizes: list[int], **columns: Any
) -> Value:
    """Ask without the checker's own refusals."""
    asked = importlib.import_module(f"rankadapters.{name}.parity").TOOLKIT
    queries = ra.Queries(labels, group_sizes=sizes, **columns)
    scores = np.arange(len(labels), dtype=np.float64)
    words = getattr(ra, name).native_metric(make(3))
    return or_refused(lambda: asked.ask(ToolkitData(queries=queries, scores=scores), words), ra.InputError)


def against(name: str, labels: list[float], make: Callable[[int], ra.Convention], sizes: list[int], **columns: Any):
    scores = np.arange(len(labels), dtype=np.float64)
    said = ours(labels, scores, lambda: make(3), group_sizes=sizes, **columns)
    return toolkit(name, labels, make, sizes, **columns), said


def lightgbm_fractional_labels():
    return against("lightgbm", [0.5, 1, 0], ra.presets.lightgbm, [3])


def lightgbm_long_query():
    return against("lightgbm", [0, 1] * 5001, ra.presets.lightgbm, [10_002])


def xgboost_fractional_labels():
    return against("xgboost", [0.5, 1, 0], ra.presets.xgboost, [3])


def xgboost_mean_above_1():
    return against("xgboost", [0, 0, 1, 0], ra.presets.xgboost, [2, 2], query_weight=[0.1, 0.2])


def sklearn(labels: list[float]) -> tuple[Value, Value]:
    from sklearn.metrics import ndcg_score

    scores = list(range(len(labels)))
    return or_refused(lambda: ndcg_score([labels], [scores]), ValueError), ours(
        labels, scores, lambda: ra.presets.sklearn(None)
    )


def sklearn_one_document():
    return sklearn([1])


def sklearn_negative_label():
    return sklearn([1, -1, 2])


PROBES = {
    probe.__name__: probe
    for probe in (
        catboost_top_0,
        catboost_top_below_minus_1,
        catboost_nan_scores,
        catboost_negative_label_exp,
        lightgbm_fractional_labels,
        lightgbm_long_query,
        xgboost_fractional_labels,
        xgboost_mean_above_1,
        sklearn_one_document,
        sklearn_negative_label,
    )
}


def rounded(value: Value) -> Value:
    return value if isinstance(value, str) else round(value, DECIMALS)


@pytest.mark.filterwarnings("ignore:a mean under:rankadapters.AboveValuesWarning")  # one of the probes is that
@pytest.mark.parametrize("probe", PROBES)
def test_a_toolkit_differs_as_recorded_for_its_version_and_not_otherwise(probe):
    name = probe.partition("_")[0]
    version = pytest.importorskip(name).__version__
    recorded = [each for each in DIFFERENCES if each["probe"] == probe and version in SpecifierSet(each["versions"])]
    assert len(recorded) < 2, "two lines cover this version"
    theirs, said = map(rounded, PROBES[probe]())
    if recorded:
        assert (theirs, said) == (recorded[0]["theirs"], recorded[0]["ours"])
    else:
        assert theirs == said, f"{name} {version} differs, and known_differences.toml does not say so"


@pytest.mark.parametrize("line", DIFFERENCES, ids=lambda line: line["probe"])
def test_every_line_is_complete_and_is_a_difference(line):
    assert list(line) == ["probe", "toolkit", "versions", "theirs", "ours", "why", "where"]
    assert line["probe"] in PROBES
    assert line["probe"].startswith(line["toolkit"])
    assert line["theirs"] != line["ours"]
    assert line["where"].startswith("https://")
