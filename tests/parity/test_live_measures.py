"""The installed toolkits on generated cases of measures other than NDCG: nothing differs without an explanation."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.depth import examples
from tests.parity.cases import N_CASES
from tests.parity.measure_cases import ASKED, cases

# What our own convention refuses of the data, and what a toolkit does.
OURS = (
    r"nothing is left to average|has nothing to find, and the convention says empty='error'|"
    r"outside the gain table|would ignore it"
)
THEIRS = (
    r"every query has one document, which sklearn's functions refuse|top size for AverageGain should be greater|"
    r"Target data is constant. Cannot generate pairs"
)
MATTERS = r"cannot express .*, which matters here\.[\s\S]*\nThe nearest it can: "
LEAST = examples(30)
TURNS = [(toolkit, metric) for toolkit, metrics in ASKED.items() for metric in metrics]


@pytest.mark.parametrize(("toolkit", "metric"), TURNS)
def test_no_difference_on_generated_cases_is_unexplained(toolkit, metric):
    """The cases of a toolkit are dealt to its metrics in turn, and each metric has `LEAST` of them or more."""
    pytest.importorskip(toolkit)
    verdicts: Counter[str] = Counter()
    place, several = list(ASKED[toolkit]).index(metric), len(ASKED[toolkit])
    for seed in range(place, max(N_CASES, LEAST * several), several):
        for number, (convention, queries, scores) in enumerate(cases(toolkit, metric, seed)):
            where = f"case {seed}: {convention}\n"
            try:
                report = getattr(ra, toolkit).check_parity(queries, scores, convention)
            except ra.InputError as error:
                assert re.search(f"{OURS}|{THEIRS}", str(error)), f"{where}{error}"  # noqa: PT017 - of all, some refuse
                verdicts["refused"] += 1
                continue
            assert report.ok, f"{where}{report}"
            assert report.rows[0].verdict == "equal"
            assert number or len(report.rows) == 1, f"{where}its own convention is another to it"
            for row in report.rows[1:]:
                assert row.verdict == "equal-on-this-data" or re.search(MATTERS, row.reason), f"{where}{report}"
            verdicts.update(row.verdict for row in report.rows)
    assert verdicts["equal"] >= LEAST
    assert verdicts["refused"] < 0.5 * verdicts["equal"]


@pytest.mark.parametrize(
    ("toolkit", "text"), [("catboost", "lightgbm.map@5"), ("catboost", "catboost.precision_at@5+average=query")]
)
def test_weights_that_a_toolkits_metric_ignores_are_left_aside(toolkit, text):
    """CatBoost's MAP and PrecisionAt have no weights: the means differ, and that is said."""
    pytest.importorskip(toolkit)
    rng = np.random.default_rng(0)
    queries = ra.Queries(rng.integers(0, 2, 40), group_sizes=[10] * 4, query_weight=[1, 2, 3, 4])
    report = getattr(ra, toolkit).check_parity(queries, rng.random(40), text)
    assert [row.verdict for row in report.rows] == ["equal", "not-comparable"]
    assert "average='query'" in report.rows[1].reason


def test_pairs_by_a_border_are_nearest_to_pairs_of_labels():
    convention = ra.presets.catboost.pair_accuracy(pairs="label").replace(pairs="above_0", average="uniform")
    assert ra.presets.catboost.nearest(convention).pairs == "label"


def test_fractional_labels_are_trusted_to_what_xgboost_sums_them_in():
    pytest.importorskip("xgboost")
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(0, 5, 60) / 4, rng.integers(0, 5, 60) / 4
    report = ra.xgboost.check_parity(labels, scores, ra.presets.xgboost.auc(groups=False), group_sizes=[60])
    assert (report.ok, report.rows[0].tolerance) == (True, 1e-8)
    whole = ra.xgboost.check_parity(labels > 0.5, scores, ra.presets.xgboost.map(5), group_sizes=[60])
    assert whole.rows[0].tolerance == 1e-9
