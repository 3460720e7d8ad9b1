"""The installed toolkits on generated cases: every difference within tolerance, or explained by name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.declaration.fields import Words
from rankadapters.statistics.grid import grid
from tests.helpers.depth import examples
from tests.helpers.tables import for_each

pytestmark = pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")  # whatever labels a tool takes

N_CASES, LEAST = examples(200), examples(30)
# What our own convention refuses of the data, and what a toolkit does; each must say why.
OURS_OF_NDCG = r"outside the gain table of table_0_1_3|every query was skipped|the convention says empty='error'"
REFUSALS_OF_NDCG = {
    "sklearn": "every query has one document, which sklearn's functions refuse",
    "lightgbm": r"labels\[\d+\] is \d\.\d+, but lightgbm takes whole labels from 0 to (30|[24])",
    "xgboost": r"labels\[\d+\] is \d\.\d+, but xgboost takes whole labels|Invalid output score, might be caused by",
    "catboost": "(?!)",
}
REFUSALS = (
    r"nothing is left to average|has nothing to find, and the convention says empty='error'|outside the gain table|"
    r"would ignore it|every query has one document, which sklearn's functions refuse|"
    r"top size for AverageGain should be greater|Target data is constant. Cannot generate pairs"
)
MATTERS = r"cannot express .*, which matters here\.[\s\S]*\nThe nearest it can: "


def verdicts_of(toolkit, generated, refusals):
    """Count the verdicts of checks of (seed, if it is the toolkit's own, convention, queries, scores)."""
    verdicts = Counter()
    for seed, is_own, convention, queries, scores in generated:
        where = f"case {seed}: {convention}\n"
        try:
            report = getattr(ra, toolkit).check_parity(queries, scores, convention)
        except ra.InputError as error:
            assert re.search(refusals, str(error)), f"{where}{error}"  # noqa: PT017 - some refuse
            verdicts["refused"] += 1
            continue
        assert report.ok, f"{where}{report}"
        assert report.rows[0].verdict == "equal"
        assert not is_own or len(report.rows) == 1, f"{where}its own convention is another to it"
        for row in report.rows[1:]:
            assert row.verdict == "equal-on-this-data" or re.search(MATTERS, row.reason), f"{where}{report}"
        verdicts.update(row.verdict for row in report.rows)
    return verdicts


CUTOFFS = (1, 3, 5, 10, None)


class Case(NamedTuple):
    labels: np.ndarray
    scores: np.ndarray
    sizes: np.ndarray
    weights: np.ndarray | None


def case(seed):
    """A third is weighted, a fifth has fractional labels, a fifth scores that tie in float32 only, half ties proper."""
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
    """The toolkit's own convention, and one of the presets in turn."""
    names = ra.presets.names()
    for seed in range(N_CASES):
        labels, scores, sizes, weights = case(seed)
        for name in (toolkit, names[seed % len(names)]):
            convention = getattr(ra.presets, name)(CUTOFFS[seed % len(CUTOFFS)])
            weighted = None if convention.average == "uniform" else weights
            docid = [f"d{row:03}" for row in range(labels.size)]  # which some conventions break ties by
            queries = ra.Queries(labels, group_sizes=sizes, query_weight=weighted, docid=docid)
            yield seed, name == toolkit, convention, queries, scores


# Measures other than NDCG, for each toolkit that computes them.

BORDERS = (0.5, 0, 0.1, 1, 2)
ANY, BINARY, UNIT, ONE_CLASS = "any", "binary", "unit", "one class"  # labels that a metric takes


class Asked(NamedTuple):
    """A metric of a toolkit: its conventions by cutoff and draw, and the labels that it takes."""

    make: Callable[[int | None, np.random.Generator], ra.Convention]
    labels: str = BINARY


def _pick(rng, *values):
    return values[int(rng.integers(len(values)))]


def _weights(rng):
    return _pick(rng, None, "row", "query")


def _use(rng):
    return bool(rng.integers(2))


sk, lg, xg, cb = ra.presets.sklearn, ra.presets.lightgbm, ra.presets.xgboost, ra.presets.catboost
ASKED = {
    "sklearn": {
        "average_precision_score": Asked(lambda k, r: sk.average_precision_score(pool=_pick(r, "rows", "queries"))),
        "roc_auc_score": Asked(lambda k, r: sk.roc_auc_score()),
        "label_ranking_average_precision_score": Asked(lambda k, r: sk.label_ranking_average_precision_score()),
        "coverage_error": Asked(lambda k, r: sk.coverage_error()),
        "dcg_score": Asked(lambda k, r: sk.dcg(k, log_base=_pick(r, 2, 10, 1.5)), ANY),
        "top_k_accuracy_score": Asked(lambda k, r: sk.top_k_accuracy_score(k), ONE_CLASS),
    },
    "lightgbm": {
        "map": Asked(lambda k, r: lg.map(k), ANY),
        "auc": Asked(lambda k, r: lg.auc(), ANY),
        "average_precision": Asked(lambda k, r: lg.average_precision(), ANY),
    },
    "xgboost": {
        "map": Asked(lambda k, r: xg.map(k, minus=_use(r))),
        "pre": Asked(lambda k, r: xg.pre(k)),
        "auc": Asked(lambda k, r: xg.auc(groups=True), ANY),
        "auc without groups": Asked(lambda k, r: xg.auc(groups=False), UNIT),
    },
    "catboost": {
        "PFound": Asked(lambda k, r: cb.pfound(k, decay=_pick(r, 0.85, 0.5, 1), use_weights=_use(r)), UNIT),
        "ERR": Asked(lambda k, r: cb.err(k, use_weights=_use(r)), UNIT),
        "MRR": Asked(lambda k, r: cb.mrr(k, border=_pick(r, *BORDERS), use_weights=_use(r)), ANY),
        "MAP": Asked(lambda k, r: cb.map(k, border=_pick(r, *BORDERS)), ANY),
        "PrecisionAt": Asked(lambda k, r: cb.precision_at(k, border=_pick(r, *BORDERS)), ANY),
        "RecallAt": Asked(lambda k, r: cb.recall_at(k, border=_pick(r, *BORDERS)), ANY),
        "AverageGain": Asked(lambda k, r: cb.average_gain(k, use_weights=_use(r)), ANY),
        "DCG": Asked(lambda k, r: cb.dcg(k, type=_pick(r, "Base", "Exp"), use_weights=_use(r)), ANY),
        "FilteredDCG": Asked(
            lambda k, r: cb.filtered_dcg(
                type=_pick(r, "Base", "Exp"), sort=_pick(r, "None", "ByPrediction", "ByTarget"),
            ), ANY
        ),
        "AUC": Asked(lambda k, r: cb.auc(type="Classic", weights=_weights(r)), UNIT),
        "AUC:type=Ranking": Asked(lambda k, r: cb.auc(type="Ranking", weights=_weights(r)), ANY),
        "QueryAUC": Asked(lambda k, r: cb.query_auc(type="Classic", weights=_weights(r)), UNIT),
        "QueryAUC:type=Ranking": Asked(lambda k, r: cb.query_auc(type="Ranking", weights=_weights(r)), ANY),
        "PairAccuracy": Asked(
            lambda k, r: cb.pair_accuracy(pairs=_pick(r, "given", "label"), use_weights=_use(r)), ANY
        ),
        "PairLogit": Asked(lambda k, r: cb.pair_logit(pairs=_pick(r, "given", "label"), use_weights=_use(r)), ANY),
        "QueryRMSE": Asked(lambda k, r: cb.query_rmse(weights=_weights(r)), ANY),
        "QuerySoftMax": Asked(lambda k, r: cb.query_soft_max(beta=_pick(r, 1, 0.1, 2), weights=_weights(r)), ANY),
        "QueryCrossEntropy": Asked(
            lambda k, r: cb.query_cross_entropy(alpha=_pick(r, None, 0, 0.3, 1), weights=_weights(r)), UNIT
        ),
    },
}  # fmt: skip


def data(seed, labels, convention):
    """Ragged queries, of which a fifth has nothing to find, with ties, and the weights that the convention counts."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 13, rng.integers(1, 10))
    if labels == ONE_CLASS:
        sizes += 2
    n = int(sizes.sum())
    columns = {"group_sizes": sizes, "docid": [f"d{row:03}" for row in range(n)]}
    if labels == ONE_CLASS:
        found = np.zeros(n)
        found[np.cumsum(sizes) - sizes + rng.integers(0, sizes)] = 1
    else:
        found = rng.integers(0, {BINARY: 2, ANY: 4, UNIT: 5}[labels], n) / (4 if labels == UNIT and seed % 2 else 1)
        found = np.minimum(found, 1) if labels == UNIT else found
        found = found * np.repeat(rng.random(sizes.size) < 0.8, sizes)
    if convention.weighting == "query_weight" and seed % 3:
        columns["query_weight"] = rng.uniform(0.1, 3, sizes.size).astype(np.float32)
    if convention.weighting == "row_weight" and seed % 3:
        columns["row_weight"] = rng.uniform(0.1, 3, n).astype(np.float32)
    if getattr(convention, "pairs", "") == "given":
        columns["pairs"] = _pairs(rng, sizes, weighted=convention.average == "pair" and seed % 3 > 0)
    scores = rng.integers(-2, 4, n) / 4 if seed % 2 else rng.normal(size=n)
    scores = 1 + rng.integers(0, 4, n) * 1e-9 if seed % 5 == 2 else scores
    return ra.Queries(found, **columns), scores


def _pairs(rng, sizes, *, weighted):
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    winner = np.arange(starts.size)
    loser = starts + rng.integers(0, np.repeat(sizes, sizes))
    kept = winner != loser
    weights = (rng.uniform(0.1, 3, int(kept.sum())).astype(np.float32),) if weighted else ()
    return winner[kept], loser[kept], *weights


def cases(toolkit, metric, seed):
    """The toolkit's own convention on generated data, and one with another value of one field."""
    rng = np.random.default_rng([seed, len(metric)])
    asked = ASKED[toolkit][metric]
    own = asked.make(CUTOFFS[seed % len(CUTOFFS)], rng)
    queries, scores = data(seed, asked.labels, own)
    yield own, queries, scores
    names = [name for name, kind in own.declared().items() if isinstance(kind, Words) and kind.group != "retrieval"]
    tried = grid(type(own), queries)
    while names:
        name = names.pop(int(rng.integers(len(names))))
        for value in rng.permutation(tried[name]).tolist():
            with suppress(ra.ConventionError):
                other = own.replace(**{name: value})
                if other != own and (other.weighting == own.weighting or not queries.weights):
                    yield other, queries, scores
                    return


@pytest.mark.parametrize("toolkit", ASKED)
def test_no_difference_of_ndcg_on_generated_cases_is_unexplained(toolkit):
    pytest.importorskip(toolkit)
    verdicts = verdicts_of(toolkit, ndcg_cases(toolkit), f"{OURS_OF_NDCG}|{REFUSALS_OF_NDCG[toolkit]}")
    assert verdicts["refused"] < 0.5 * N_CASES
    assert verdicts["equal"] >= 1.4 * N_CASES
    assert min(verdicts["equal-on-this-data"], verdicts["not-comparable"]) >= 0.05 * N_CASES


@pytest.mark.parametrize(("toolkit", "metric"), [(toolkit, metric) for toolkit in ASKED for metric in ASKED[toolkit]])
def test_no_difference_of_a_measure_on_generated_cases_is_unexplained(toolkit, metric):
    """The cases of a toolkit are dealt to its metrics in turn, and each metric has `LEAST` of them or more."""
    pytest.importorskip(toolkit)
    first, n_metrics = list(ASKED[toolkit]).index(metric), len(ASKED[toolkit])
    seeds = range(first, max(N_CASES, LEAST * n_metrics), n_metrics)
    generated = ((seed, number == 0, *one) for seed in seeds for number, one in enumerate(cases(toolkit, metric, seed)))
    verdicts = verdicts_of(toolkit, generated, REFUSALS)
    assert verdicts["equal"] >= LEAST
    assert verdicts["refused"] < 0.5 * verdicts["equal"]


@for_each("seed", [3, 9, 27])
@pytest.mark.parametrize("toolkit", ASKED)
def test_what_is_not_comparable_differs_indeed(toolkit, seed):
    pytest.importorskip(toolkit)
    convention, graded = ra.presets.letor4(3), case(seed)
    queries = ra.Queries(graded.labels.clip(0, 2), group_sizes=graded.sizes)
    report = getattr(ra, toolkit).check_parity(queries, graded.scores, convention)
    row = report.rows[-1]
    assert row.verdict == "not-comparable"
    assert row.per_query.largest()
    inert = ra.inert(queries, graded.scores, convention, report.rows[0].convention)
    assert not any(f"{name}=" in row.reason.partition(" which matters")[0] for name in inert)


@for_each("text", ["lightgbm.map@5", "catboost.precision_at@5+average=query"])
def test_weights_that_catboosts_map_and_precision_ignore_are_left_aside(text):
    """The means differ, and that is said."""
    pytest.importorskip("catboost")
    rng = np.random.default_rng(0)
    queries = ra.Queries(rng.integers(0, 2, 40), group_sizes=[10] * 4, query_weight=[1, 2, 3, 4])
    report = ra.catboost.check_parity(queries, rng.random(40), text)
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
