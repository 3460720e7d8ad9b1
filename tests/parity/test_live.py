"""The installed toolkits on generated cases: every difference is within the tolerance or explained by name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.statistics.grid import grid
from tests.helpers.depth import examples
from tests.helpers.tables import for_each

pytestmark = pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")  # labels that some tools refuse

N_CASES, MIN_CASES = examples(200), examples(30)
# Errors with which our convention or a toolkit refuses some of the generated data. Any other error fails the test.
OUR_NDCG_REFUSALS = r"outside the gain table of table_0_1_3|every query was skipped|the convention says empty='error'"
NDCG_REFUSALS = {
    "sklearn": "every query has one document, which sklearn's functions refuse",
    "lightgbm": r"labels\[\d+\] is \d\.\d+, but lightgbm takes whole labels from 0 to (30|[24])",
    "xgboost": r"labels\[\d+\] is \d\.\d+, but xgboost takes whole labels|Invalid output score, might be caused by",
    "catboost": "(?!)",
}
REFUSALS = (
    r"nothing is left to average|has nothing to find, and the convention says empty='error'|outside the gain table|"
    r"would ignore it|every query has one document, which sklearn's functions refuse|"
    r"top size for AverageGain should be greater|Target data is constant. Cannot generate pairs|"
    r"pairs='unit' takes labels in \[0, 1\]"  # CatBoost's classic AUC, the nearest to pairs='above_0'
)
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


CUTOFFS = (1, 3, 5, 10, None)


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


# Measures other than NDCG, for each toolkit that computes them.

BORDERS = (0.5, 0, 0.1, 1, 2)
ANY, BINARY, UNIT, ONE_CLASS = "any", "binary", "unit", "one class"  # kinds of labels


class Metric(NamedTuple):
    """A toolkit's metric: a function of cutoff and generator that makes a convention, and the kind of its labels."""

    make: Callable[[int | None, np.random.Generator], ra.Convention]
    labels: str = BINARY


def _pick(rng, *values):
    return values[int(rng.integers(len(values)))]


def _weighting(rng):
    return _pick(rng, None, "row", "query")


def _flag(rng):
    return bool(rng.integers(2))


sk, lg, xg, cb = ra.presets.sklearn, ra.presets.lightgbm, ra.presets.xgboost, ra.presets.catboost
METRICS = {
    "sklearn": {
        "average_precision_score": Metric(lambda k, r: sk.average_precision_score(pool=_pick(r, "rows", "queries"))),
        "roc_auc_score": Metric(lambda k, r: sk.roc_auc_score()),
        "label_ranking_average_precision_score": Metric(lambda k, r: sk.label_ranking_average_precision_score()),
        "coverage_error": Metric(lambda k, r: sk.coverage_error()),
        "dcg_score": Metric(lambda k, r: sk.dcg(k, log_base=_pick(r, 2, 10, 1.5)), ANY),
        "top_k_accuracy_score": Metric(lambda k, r: sk.top_k_accuracy_score(k), ONE_CLASS),
    },
    "lightgbm": {
        "map": Metric(lambda k, r: lg.map(k), ANY),
        "auc": Metric(lambda k, r: lg.auc(), ANY),
        "average_precision": Metric(lambda k, r: lg.average_precision(), ANY),
    },
    "xgboost": {
        "map": Metric(lambda k, r: xg.map(k, minus=_flag(r))),
        "pre": Metric(lambda k, r: xg.pre(k)),
        "auc": Metric(lambda k, r: xg.auc(groups=True), ANY),
        "auc without groups": Metric(lambda k, r: xg.auc(groups=False), UNIT),
    },
    "catboost": {
        "PFound": Metric(lambda k, r: cb.pfound(k, decay=_pick(r, 0.85, 0.5, 1), use_weights=_flag(r)), UNIT),
        "ERR": Metric(lambda k, r: cb.err(k, use_weights=_flag(r)), UNIT),
        "MRR": Metric(lambda k, r: cb.mrr(k, border=_pick(r, *BORDERS), use_weights=_flag(r)), ANY),
        "MAP": Metric(lambda k, r: cb.map(k, border=_pick(r, *BORDERS)), ANY),
        "PrecisionAt": Metric(lambda k, r: cb.precision_at(k, border=_pick(r, *BORDERS)), ANY),
        "RecallAt": Metric(lambda k, r: cb.recall_at(k, border=_pick(r, *BORDERS)), ANY),
        "AverageGain": Metric(lambda k, r: cb.average_gain(k, use_weights=_flag(r)), ANY),
        "DCG": Metric(lambda k, r: cb.dcg(k, type=_pick(r, "Base", "Exp"), use_weights=_flag(r)), ANY),
        "FilteredDCG": Metric(
            lambda k, r: cb.filtered_dcg(
                type=_pick(r, "Base", "Exp"), sort=_pick(r, "None", "ByPrediction", "ByTarget"),
            ), ANY
        ),
        "AUC": Metric(lambda k, r: cb.auc(type="Classic", weights=_weighting(r)), UNIT),
        "AUC:type=Ranking": Metric(lambda k, r: cb.auc(type="Ranking", weights=_weighting(r)), ANY),
        "QueryAUC": Metric(lambda k, r: cb.query_auc(type="Classic", weights=_weighting(r)), UNIT),
        "QueryAUC:type=Ranking": Metric(lambda k, r: cb.query_auc(type="Ranking", weights=_weighting(r)), ANY),
        "PairAccuracy": Metric(
            lambda k, r: cb.pair_accuracy(pairs=_pick(r, "given", "label"), use_weights=_flag(r)), ANY
        ),
        "PairLogit": Metric(lambda k, r: cb.pair_logit(pairs=_pick(r, "given", "label"), use_weights=_flag(r)), ANY),
        "QueryRMSE": Metric(lambda k, r: cb.query_rmse(weights=_weighting(r)), ANY),
        "QuerySoftMax": Metric(lambda k, r: cb.query_soft_max(beta=_pick(r, 1, 0.1, 2), weights=_weighting(r)), ANY),
        "QueryCrossEntropy": Metric(
            lambda k, r: cb.query_cross_entropy(alpha=_pick(r, None, 0, 0.3, 1), weights=_weighting(r)), UNIT
        ),
    },
}  # fmt: skip


def make_data(seed, kind, convention):
    """Make ragged queries with ties and the weights that the convention uses; a fifth have nothing relevant."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 13, rng.integers(1, 10))
    if kind == ONE_CLASS:
        sizes += 2
    n = int(sizes.sum())
    columns = {"group_sizes": sizes, "docid": [f"d{row:03}" for row in range(n)]}
    if kind == ONE_CLASS:
        labels = np.zeros(n)
        labels[np.cumsum(sizes) - sizes + rng.integers(0, sizes)] = 1
    else:
        labels = rng.integers(0, {BINARY: 2, ANY: 4, UNIT: 5}[kind], n) / (4 if kind == UNIT and seed % 2 else 1)
        labels = np.minimum(labels, 1) if kind == UNIT else labels
        labels = labels * np.repeat(rng.random(sizes.size) < 0.8, sizes)
    if convention.weighting == "query_weight" and seed % 3:
        columns["query_weight"] = rng.uniform(0.1, 3, sizes.size).astype(np.float32)
    if convention.weighting == "row_weight" and seed % 3:
        columns["row_weight"] = rng.uniform(0.1, 3, n).astype(np.float32)
    if getattr(convention, "pairs", "") == "given":
        columns["pairs"] = _pairs(rng, sizes, weighted=convention.average == "pair" and seed % 3 > 0)
    scores = rng.integers(-2, 4, n) / 4 if seed % 2 else rng.normal(size=n)
    scores = 1 + rng.integers(0, 4, n) * 1e-9 if seed % 5 == 2 else scores
    return ra.Queries(labels, **columns), scores


def _pairs(rng, sizes, *, weighted):
    """Pair each row with a random row of its query; a row paired with itself is left out."""
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    winner = np.arange(starts.size)
    loser = starts + rng.integers(0, np.repeat(sizes, sizes))
    is_pair = winner != loser
    weights = (rng.uniform(0.1, 3, int(is_pair.sum())).astype(np.float32),) if weighted else ()
    return winner[is_pair], loser[is_pair], *weights


def cases_of(toolkit, metric, seed):
    """Yield the toolkit's own convention on generated data, then one that differs in one field."""
    rng = np.random.default_rng([seed, len(metric)])
    make, label_kind = METRICS[toolkit][metric]
    native = make(CUTOFFS[seed % len(CUTOFFS)], rng)
    queries, scores = make_data(seed, label_kind, native)
    yield native, queries, scores
    names = [
        name
        for name, kind in native.declared().items()
        if kind.words and kind.numbers is None and kind.group != "retrieval"
    ]
    values_by_field = grid(type(native), queries)
    while names:
        name = names.pop(int(rng.integers(len(names))))
        for value in rng.permutation(values_by_field[name]).tolist():
            with suppress(ra.ConventionError):
                changed = native.replace(**{name: value})
                if changed != native and (changed.weighting == native.weighting or not queries.weights):
                    yield changed, queries, scores
                    return


@pytest.mark.parametrize("toolkit", METRICS)
def test_every_ndcg_difference_on_generated_cases_is_explained(toolkit):
    pytest.importorskip(toolkit)
    verdicts = verdicts_of(toolkit, ndcg_cases(toolkit), f"{OUR_NDCG_REFUSALS}|{NDCG_REFUSALS[toolkit]}")
    assert verdicts["refused"] < 0.5 * N_CASES
    assert verdicts["equal"] >= 1.4 * N_CASES
    assert min(verdicts["equal-on-this-data"], verdicts["not-comparable"]) >= 0.05 * N_CASES


@pytest.mark.parametrize(("toolkit", "metric"), [(name, metric) for name in METRICS for metric in METRICS[name]])
def test_every_difference_of_a_metric_on_generated_cases_is_explained(toolkit, metric):
    """The metrics of a toolkit take turns in its seeds; each gets at least `MIN_CASES`."""
    pytest.importorskip(toolkit)
    first, n_metrics = list(METRICS[toolkit]).index(metric), len(METRICS[toolkit])
    seeds = range(first, max(N_CASES, MIN_CASES * n_metrics), n_metrics)
    cases = ((seed, index == 0, *case) for seed in seeds for index, case in enumerate(cases_of(toolkit, metric, seed)))
    verdicts = verdicts_of(toolkit, cases, REFUSALS)
    assert verdicts["equal"] >= MIN_CASES
    assert verdicts["refused"] < 0.5 * verdicts["equal"]


@for_each("seed", [3, 9, 27])
@pytest.mark.parametrize("toolkit", METRICS)
def test_a_not_comparable_row_names_queries_and_only_fields_that_matter(toolkit, seed):
    pytest.importorskip(toolkit)
    convention, case = ra.presets.letor4(3), make_case(seed)
    queries = ra.Queries(case.labels.clip(0, 2), group_sizes=case.sizes)
    report = getattr(ra, toolkit).check_parity(queries, case.scores, convention)
    row = report.rows[-1]
    assert row.verdict == "not-comparable"
    assert row.per_query.largest()
    inert = ra.inert(queries, case.scores, convention, report.rows[0].convention)
    assert not any(f"{name}=" in row.reason.partition(" which matters")[0] for name in inert)


@for_each("text", ["lightgbm.map@5", "catboost.precision_at@5+average=query"])
def test_weights_that_catboosts_metric_ignores_make_our_mean_not_comparable(text):
    pytest.importorskip("catboost")
    rng = np.random.default_rng(0)
    queries = ra.Queries(rng.integers(0, 2, 40), group_sizes=[10] * 4, query_weight=[1, 2, 3, 4])
    report = ra.catboost.check_parity(queries, rng.random(40), text)
    assert [row.verdict for row in report.rows] == ["equal", "not-comparable"]
    assert "average='query'" in report.rows[1].reason


def test_catboosts_nearest_to_pairs_by_a_border_are_pairs_by_label():
    convention = ra.presets.catboost.pair_accuracy(pairs="label").replace(pairs="above_0", average="uniform")
    assert ra.presets.catboost.nearest(convention).pairs == "label"


def test_fractional_labels_get_a_wider_tolerance_as_xgboost_sums_them_in_float32():
    pytest.importorskip("xgboost")
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(0, 5, 60) / 4, rng.integers(0, 5, 60) / 4
    report = ra.xgboost.check_parity(labels, scores, ra.presets.xgboost.auc(groups=False), group_sizes=[60])
    assert (report.ok, report.rows[0].tolerance) == (True, 1e-8)
    binary_report = ra.xgboost.check_parity(labels > 0.5, scores, ra.presets.xgboost.map(5), group_sizes=[60])
    assert binary_report.rows[0].tolerance == 1e-9
