"""What toolkits are known to compute otherwise, by version, held to the letter of known_differences.toml."""

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
from tests.helpers.tables import for_each

pytestmark = pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")  # whatever labels a tool takes

DIFFERENCES = tomllib.loads((Path(__file__).parent / "known_differences.toml").read_text(encoding="utf-8"))[
    "difference"
]
REFUSED = "refused"
DECIMALS = 4  # of the values in the file


def or_refused(ask, *errors):
    try:
        return round(float(ask()), DECIMALS)
    except errors:
        return REFUSED


def ours(labels, scores, make, sizes=None, **columns):
    sizes = [len(labels)] if sizes is None else sizes
    return or_refused(lambda: ra.evaluate(labels, scores, make(), group_sizes=sizes, **columns), ra.RankAdaptersError)


def catboost(labels, scores, metric):
    from catboost import CatBoostError
    from catboost.utils import eval_metric

    theirs = or_refused(lambda: eval_metric(labels, scores, metric, group_id=[0] * len(labels))[0], CatBoostError)
    return theirs, ours(labels, scores, lambda: ra.catboost.read_metric(metric))


def asked(name, labels, sizes, **columns):
    """Ask a toolkit under its own NDCG, without the checker's own refusals."""
    toolkit, convention = importlib.import_module(f"rankadapters.{name}.parity").TOOLKIT, getattr(ra.presets, name)(3)
    scores = np.arange(len(labels), dtype=np.float64)
    data = ToolkitData(queries=ra.Queries(labels, group_sizes=sizes, **columns), scores=scores)
    words = getattr(ra, name).native_metric(convention)
    said = ours(labels, scores, lambda: convention, sizes, **columns)
    return or_refused(lambda: toolkit.ask(data, words), ra.InputError), said


def sklearn(labels):
    from sklearn.metrics import ndcg_score

    scores = list(range(len(labels)))
    said = ours(labels, scores, lambda: ra.presets.sklearn(None))
    return or_refused(lambda: ndcg_score([labels], [scores]), ValueError), said


PROBES = {
    "catboost_top_0": lambda: catboost([0, 1, 2], [3, 2, 1], "NDCG:top=0"),
    "catboost_top_below_minus_1": lambda: catboost([0, 1, 2], [3, 2, 1], "NDCG:top=-5"),
    "catboost_nan_scores": lambda: catboost([3, 2, 1, 0], [math.nan] * 4, "NDCG"),
    "catboost_negative_label_exp": lambda: catboost([2, -1, 1], [1, 3, 2], "NDCG:type=Exp"),
    "lightgbm_fractional_labels": lambda: asked("lightgbm", [0.5, 1, 0], [3]),
    "lightgbm_long_query": lambda: asked("lightgbm", [0, 1] * 5001, [10_002]),
    "xgboost_fractional_labels": lambda: asked("xgboost", [0.5, 1, 0], [3]),
    "xgboost_mean_above_1": lambda: asked("xgboost", [0, 0, 1, 0], [2, 2], query_weight=[0.1, 0.2]),
    "sklearn_one_document": lambda: sklearn([1]),
    "sklearn_negative_label": lambda: sklearn([1, -1, 2]),
}


@pytest.mark.filterwarnings("ignore:a mean under:rankadapters.AboveValuesWarning")  # one of the probes is that
@pytest.mark.parametrize("probe", PROBES)
def test_a_toolkit_differs_as_recorded_for_its_version_and_not_otherwise(probe):
    name = probe.partition("_")[0]
    version = pytest.importorskip(name).__version__
    recorded = [each for each in DIFFERENCES if each["probe"] == probe and version in SpecifierSet(each["versions"])]
    assert len(recorded) < 2, "two lines cover this version"
    theirs, said = PROBES[probe]()
    if recorded:
        assert (theirs, said) == (recorded[0]["theirs"], recorded[0]["ours"])
    else:
        assert theirs == said, f"{name} {version} differs, and known_differences.toml does not say so"


@for_each("line", DIFFERENCES, ids=lambda line: line["probe"])
def test_every_line_is_complete_and_is_a_difference(line):
    assert list(line) == ["probe", "toolkit", "versions", "theirs", "ours", "why", "where"]
    assert line["probe"] in PROBES
    assert line["probe"].startswith(line["toolkit"])
    assert line["theirs"] != line["ours"]
    assert line["where"].startswith("https://")
