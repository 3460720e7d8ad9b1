"""The installed toolkits on generated cases: every difference is within the tolerance or explained by name."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.parameters import examples

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning"),  # labels that some tools refuse
]

# Errors with which our convention or a toolkit refuses some of the generated data. Any other error fails the test.
OUR_NDCG_REFUSALS = r"outside the gain table of table_0_1_3|every query was skipped|the convention says empty='error'"
NDCG_REFUSALS = {
    "sklearn": "every query has one document, which sklearn's functions refuse",
    "lightgbm": r"labels\[\d+\] is \d\.\d+, but lightgbm takes whole labels from 0 to (30|[24])",
    "xgboost": r"labels\[\d+\] is \d\.\d+, but xgboost takes whole labels|Invalid output score, might be caused by",
    "catboost": "(?!)",
}
FIELD_MATTERS = r"cannot express .*, which matters here\.[\s\S]*\nThe nearest it can: "


def verdicts_of(toolkit, cases, refusals):
    """Count the verdicts of the cases; `is_own` marks those under the toolkit's own convention."""
    verdicts = Counter()
    for seed, is_own, convention, queries, scores in cases:
        where = f"case {seed}: {convention}\n"
        try:
            report = getattr(ra, toolkit).check_parity(queries, scores, convention)
        except ra.InputError as error:
            assert re.search(refusals, str(error)), f"{where}{error}"  # noqa: PT017 - only some cases raise
            verdicts["refused"] += 1
            continue
        assert report.ok is (report.rows[-1].verdict != "not-comparable"), f"{where}{report}"
        assert report.rows[0].verdict == "equal"
        assert not is_own or len(report.rows) == 1, f"{where}the toolkit's own convention has a second row"
        for row in report.rows[1:]:
            assert row.verdict == "equal-on-this-data" or re.search(FIELD_MATTERS, row.reason), f"{where}{report}"
        verdicts.update(row.verdict for row in report.rows)
    return verdicts


N_CASES, CUTOFFS = examples(200), (1, 3, 5, 10, None)


class Case(NamedTuple):
    labels: np.ndarray
    scores: np.ndarray
    sizes: np.ndarray
    weights: np.ndarray | None


def make_case(seed):
    """Make a case. Depending on the seed it has weights, fractional labels, ties, or ties in float32 only."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 15, rng.integers(1, 12))
    n = int(sizes.sum())
    kind = seed % 5
    labels = np.round(rng.random(n) * 3, 2) if kind == 1 else rng.integers(0, (2, 4, 5)[seed % 3], n).astype(float)
    labels *= np.repeat(rng.random(sizes.size) < 0.8, sizes)
    scores = rng.integers(0, 6, n) / 4 if seed % 2 else rng.normal(size=n)
    if kind == 2:
        scores = 1 + rng.integers(0, 4, n) * 1e-9
    return Case(labels, scores, sizes, rng.uniform(0.1, 3, sizes.size) if seed % 3 == 0 else None)


def ndcg_cases(toolkit):
    """Yield, for every seed, the toolkit's own convention and one of the presets in turn."""
    names = ra.presets.names()
    for seed in range(N_CASES):
        labels, scores, sizes, weights = make_case(seed)
        for name in (toolkit, names[seed % len(names)]):
            convention = getattr(ra.presets, name)(CUTOFFS[seed % len(CUTOFFS)])
            query_weight = None if convention.average == "uniform" else weights
            docid = [f"d{row:03}" for row in range(labels.size)]  # some conventions break ties by docid
            queries = ra.Queries(labels, group_sizes=sizes, query_weight=query_weight, docid=docid)
            yield seed, name == toolkit, convention, queries, scores


OWN_PRESETS = [name for name in ra.presets.names(None) if name.partition(".")[0] in NDCG_REFUSALS]
# These presets need one relevant row in each query, or pairs.
OTHER_DATA = {"sklearn.top_k_accuracy_score", "catboost.pair_accuracy", "catboost.pair_logit"}


@pytest.mark.parametrize("name", [name for name in OWN_PRESETS if name not in OTHER_DATA])
@pytest.mark.parametrize("ties", [True, False])
def test_a_toolkits_own_presets_have_its_numbers(name, ties):
    toolkit = name.partition(".")[0]
    pytest.importorskip(toolkit)
    rng, convention = np.random.default_rng(5), ra.presets.make(name, 5)
    labels = rng.integers(0, 2, 60)
    labels[::6], labels[1::6] = 0, 1  # every query has both
    queries = ra.Queries(labels, qid=np.repeat(np.arange(10), 6))
    scores = rng.integers(0, 9, 60) / 4 if ties else rng.permutation(60) / 7
    [row] = getattr(ra, toolkit).check_parity(queries, scores, convention).rows
    assert row.verdict == "equal"


@pytest.mark.parametrize("toolkit", NDCG_REFUSALS)
def test_every_ndcg_difference_on_generated_cases_is_explained(toolkit):
    pytest.importorskip(toolkit)
    verdicts = verdicts_of(toolkit, ndcg_cases(toolkit), f"{OUR_NDCG_REFUSALS}|{NDCG_REFUSALS[toolkit]}")
    assert verdicts["refused"] < 0.5 * N_CASES
    assert verdicts["equal"] >= 1.4 * N_CASES
    assert min(verdicts["equal-on-this-data"], verdicts["not-comparable"]) >= 0.05 * N_CASES


@pytest.mark.parametrize("text", ["lightgbm.map@5", "catboost.precision_at@5+average=query"])
def test_weights_that_catboosts_metric_ignores_make_our_mean_not_comparable(text):
    pytest.importorskip("catboost")
    rng = np.random.default_rng(0)
    queries = ra.Queries(rng.integers(0, 2, 40), group_sizes=[10] * 4, query_weight=[1, 2, 3, 4])
    report = ra.catboost.check_parity(queries, rng.random(40), text)
    assert [row.verdict for row in report.rows] == ["equal", "not-comparable"]
    assert "average='query'" in report.rows[1].reason


def test_fractional_labels_get_a_wider_tolerance_as_xgboost_sums_them_in_float32():
    pytest.importorskip("xgboost")
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(0, 5, 60) / 4, rng.integers(0, 5, 60) / 4
    report = ra.xgboost.check_parity(labels, scores, ra.presets.xgboost.auc(groups=False), group_sizes=[60])
    assert (report.ok, report.rows[0].tolerance) == (True, 1e-8)
    binary_report = ra.xgboost.check_parity(labels > 0.5, scores, ra.presets.xgboost.map(5), group_sizes=[60])
    assert binary_report.rows[0].tolerance == 1e-9


def test_catboosts_nearest_to_pairs_by_a_border_are_pairs_by_label():
    convention = ra.presets.catboost.pair_accuracy(pairs="label").replace(pairs="above_0", average="uniform")
    assert ra.presets.catboost.nearest(convention).pairs == "label"
