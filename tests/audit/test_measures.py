"""The audits work for all measures. Parts of a gap are split by query if the value is a sum over queries."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.measures import MEASURES as ALL_MEASURES
from rankadapters.statistics.grid import has_cutoff, measure_named, values_to_search
from tests.helpers.parameters import examples
from tests.helpers.rankings import small_queries

MEASURES = {name: measure for name, measure in ALL_MEASURES.items() if name != "ndcg"}
SUM_PAIRS = {
    "ndcg": ("sklearn@5", "letor4@3"),
    "weighted ndcg": ("sklearn@5+average=query", "xgboost@3+average=query+empty=skip"),
    "dcg": ("sklearn.dcg@5", "catboost.dcg@3"),
    "ap": ("lightgbm.map@5", "trec_eval_9.map_cut@3+ties=input"),
    "rr": ("catboost.mrr@5", "ranx.mrr@2+ties=worst"),
    "auc": ("catboost.query_auc+pairs=from_1", "catboost.query_auc+pairs=label+ties=worst"),
    "precision": ("trec_eval_9.P@5+ties=input", "xgboost.pre@3"),
    "recall": ("catboost.recall_at@5", "trec_eval_9.recall@3+ties=input"),
    "success": ("ranx.hit_rate@1", "torchmetrics.hit_rate@3"),
    "err": ("yahoo.err", "catboost.pfound@5"),
    "rbp": ("ranx.rbp", "ranx.rbp+persistence=0.5"),
    "r-precision": ("ranx.r_precision", "torchmetrics.r_precision+ties=worst"),
    "f-measure": ("ranx.f1@5", "trec_eval_9.set_F+ties=input"),
    "fall-out": ("torchmetrics.fall_out@5", "torchmetrics.fall_out@3+empty=0"),
    "coverage": ("sklearn.coverage_error", "sklearn.coverage_error+ties=best"),
    "filtered-dcg": ("catboost.filtered_dcg", "catboost.filtered_dcg+discount=log2"),
    "bpref": ("trec_eval_9.bpref+ties=input", "trec_eval_9.bpref+ties=worst"),
    "query-soft-max": ("catboost.query_soft_max", "catboost.query_soft_max+beta=2"),
    "query-cross-entropy": ("catboost.query_cross_entropy+alpha=0", "catboost.query_cross_entropy+alpha=0.5"),
    "pooled pairs": ("catboost.query_auc+pool=pairs+average=query+ties=worst", "catboost.query_auc+pairs=from_1"),
}
TOTAL_PAIRS = {
    "all rows": ("lightgbm.auc", "lightgbm.auc+ties=worst"),
    "from queries to all rows": ("catboost.query_auc+average=query+pairs=label", "lightgbm.auc+average=query"),
    "geometric": ("trec_eval_9.gm_map+ties=input", "trec_eval_9.gm_map+ties=input+empty=0.5"),
    "geometric NDCG": ("letor4@5+average=geometric_1e-05", "yahoo@5"),
}
EQUAL_PAIRS = {  # equal values without weights
    "query-rmse": ("catboost.query_rmse", "catboost.query_rmse+average=uniform"),
    "pair-logit": ("catboost.pair_logit+pairs=label+average=query", "catboost.pair_logit+pairs=label+average=uniform"),
}


def binary(seed=0, **columns):
    queries, scores = small_queries(seed, **columns)
    return queries.with_labels((queries.labels > 0).astype(float)), scores


def test_parts_add_up_over_fields_and_over_queries():
    plain, scores = binary()
    for pair, texts in SUM_PAIRS.items():
        a, b = map(ra.parse, texts)
        queries = plain.with_weights(np.arange(1.0, 41)) if "weighted" in pair else plain
        report = ra.audit.explain(queries, scores, a, b)
        gap = ra.evaluate(queries, scores, b).value - ra.evaluate(queries, scores, a).value
        assert report.gap == gap, pair
        assert set(report.contributions) == set(a.diff(b)), pair
        assert math.fsum(report.contributions.values()) == pytest.approx(gap, abs=1e-12)
        for name, part in report.contributions.items():
            assert math.fsum(report.per_query[name]) == pytest.approx(part, abs=1e-12), pair
        assert "queries that contribute most" in str(report)


@pytest.mark.parametrize("pair", TOTAL_PAIRS)
def test_a_value_that_is_no_sum_over_queries_is_split_by_field_only(pair):
    queries, scores = binary()
    a, b = map(ra.parse, TOTAL_PAIRS[pair])
    report = ra.audit.explain(queries, scores, a, b)
    gap = ra.evaluate(queries, scores, b).value - ra.evaluate(queries, scores, a).value
    assert report.gap == gap != 0
    assert math.fsum(report.contributions.values()) == pytest.approx(gap, abs=1e-12)
    assert report.per_query is None
    assert report.queries() == []
    assert report.to_dict()["queries"] is None
    assert "Totals only: under " in str(report)
    assert "the value is not a sum over the queries" in str(report)


def test_the_error_names_a_mixture_that_is_no_valid_convention():
    a, b = ra.parse("catboost.query_auc+average=query-except-empty+empty=0.5"), ra.parse("lightgbm.auc+empty=0.5")
    with pytest.raises(ra.ConventionError, match=r"a with pool of b is not a valid convention: .*\nHint: .*two steps"):
        ra.audit.explain(*binary(), a, b)


@pytest.mark.long
def test_differences_are_tested_only_if_the_value_is_a_sum_over_queries():
    queries, scores = binary()
    for pair in [*SUM_PAIRS.values(), *TOTAL_PAIRS.values(), *EQUAL_PAIRS.values()]:
        conventions = list(map(ra.parse, pair))
        report = ra.audit.order(queries, {"a": scores, "b": -scores}, conventions, n_resamples=99)
        notes = " ".join(report.notes)
        for comparison in report.comparisons:
            convention = comparison.convention
            values = [ra.evaluate(queries, sign * scores, convention).value for sign in (1, -1)]
            assert comparison.difference == values[0] - values[1], convention
            better = values[0] > values[1] if convention.higher_is_better else values[0] < values[1]
            assert comparison.ahead == ("a" if better else "b") or values[0] == values[1]
            assert (comparison.p_value is not None) is convention.is_sum
            assert (comparison.p_corrected is not None) is convention.is_sum
            assert (f"nothing is tested under {convention.name}" in notes) is not convention.is_sum
        assert len(report.comparisons) == 2, pair


@pytest.mark.long
def test_effects_are_changes_of_presets_of_the_same_measure():
    queries, scores = binary()
    for measure, convention_class in MEASURES.items():
        for profile_scores in (scores, None):
            report = ra.audit.profile(queries, k=5, scores=profile_scores, measure=measure)
            assert report.measure == measure
            effect_fields = {effect.field for effect in report.effects}
            fields = set(convention_class.fields())
            assert {"ties", "precision"} & fields <= effect_fields <= fields, measure
            assert {effect.convention.measure for effect in report.effects} == {measure}
            assert f"Largest change of {measure.upper()} that each field makes" in str(report)


def test_a_field_that_ndcg_lacks_has_an_effect():
    # With labels above 0.5 relevant (CatBoost's default), the reciprocal rank is 1; with labels from 2 on, 1/2.
    report = ra.audit.profile([1, 2], k=2, scores=[2.0, 1.0], group_sizes=[2], measure="rr")
    [effect] = [effect for effect in report.effects if effect.field == "relevant"]
    assert (effect.change, effect.lowest, effect.highest) == (0.5, "from_2", "above_0.5")


@pytest.mark.long
@pytest.mark.parametrize("pair", ["rbp", "all rows"])  # with and without a value of each query
def test_a_page_shows_the_values_and_the_parts_of_the_gap(pair):
    pytest.importorskip("matplotlib")
    queries, scores = binary(n_queries=10)
    conventions = list(map(ra.parse, {**SUM_PAIRS, **TOTAL_PAIRS}[pair]))
    text = ra.audit.page(queries, {"a": scores, "b": -scores}, conventions, n_resamples=19)
    for convention in conventions:
        assert f"{ra.evaluate(queries, scores, convention).value:.6f}" in text
    assert "parts of the gap" in text


def random_convention(rng, measure, queries, scores):
    """Return a random convention that has a value on the data, and the value."""
    for _ in range(1000):
        grid = values_to_search(measure, queries)
        fields = {name: values[rng.integers(len(values))] for name, values in grid.items()}
        fields |= {"k": [None, 1, 3, 5, 12, 40][rng.integers(6)]} if has_cutoff(measure) else {}
        try:
            convention = measure(**fields)
            return convention, ra.evaluate(queries, scores, convention).value
        except (ra.ConventionError, ra.InputError):
            continue
    raise AssertionError("no convention has a value")


def retrieval():
    """Return queries with unretrieved and unjudged rows; the first has only unretrieved rows."""
    queries, scores = small_queries(5)
    rng = np.random.default_rng(5)
    judged = rng.random(queries.n_docs) < 0.8
    retrieved = (rng.random(queries.n_docs) < 0.8) | ~judged
    retrieved[: queries.indptr[1]], judged[: queries.indptr[1]] = False, True
    columns = {"docid": [f"d{i}" for i in rng.permutation(queries.n_docs)], "judged": judged, "retrieved": retrieved}
    return ra.Queries(queries.labels, group_sizes=np.diff(queries.indptr), **columns), scores


def weighted():
    queries, scores = small_queries(2, docids=True)
    return queries.with_weights(np.arange(40.0)), scores


DATA = {"plain": small_queries(1, docids=True), "retrieval": retrieval(), "weighted": weighted()}


@pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")  # a random scale may give a chance above 1
@pytest.mark.parametrize(
    "measure",
    [pytest.param(name, marks=[pytest.mark.long] * (name != "rr")) for name in ALL_MEASURES],
)
def test_exactly_one_match_covers_a_random_convention(measure):
    rng = np.random.default_rng(3)
    for queries, scores in DATA.values():
        check_random_conventions(rng, measure, queries, scores)


def check_random_conventions(rng, measure, queries, scores):
    if measure == "query-cross-entropy":
        queries = queries.with_labels(queries.labels / 2)
    for _ in range(examples(6) if measure in {"ndcg", "ap", "auc"} else 1):
        convention, value = random_convention(rng, ALL_MEASURES[measure], queries, scores)
        k = getattr(convention, "k", None)
        matches = ra.audit.identify(queries, scores, value=f"{value:.6f}", measure=measure, k=k)
        covering = [match for match in matches if match.covers(convention)]
        assert len(covering) == 1, str(convention)
        assert covering[0].value == ra.evaluate(queries, scores, covering[0].convention).value
        if convention.over == covering[0].convention.over != "rows":
            np.testing.assert_array_equal(
                ra.Evaluator(queries, covering[0].convention).per_query(scores),
                ra.Evaluator(queries, convention).per_query(scores),
            )


@pytest.mark.long
def test_the_usual_persistences_are_identified():
    queries, scores = small_queries()
    for persistence in (0.5, 0.8, 0.95):
        convention = ra.parse("ranx.rbp").replace(persistence=persistence)
        value = ra.evaluate(queries, scores, convention).value
        matches = ra.audit.identify(queries, scores, value=f"{value:.8f}", measure="rbp", k=None)
        assert sum(match.covers(convention) for match in matches) == 1, persistence


def test_the_tried_and_further_values_of_a_field_are_valid_and_distinct():
    for measure in ALL_MEASURES.values():
        for name, field in measure.declared().items():
            values = (*field.tried, *field.further)
            checked = [field.check(name, value) for value in values]
            assert checked == list(dict.fromkeys(values)), (measure, name)


def test_labels_of_0_and_minus_0_give_the_same_report():
    labels, scores = np.array([0, -0.0, 0, 1, 0.5, 0]), [2, 2, 1, 0, 2, 3]
    signed_matches, unsigned_matches = (
        ra.audit.identify(signed_or_not, scores, value="0.57", measure="err", k=2, group_sizes=[3, 3])
        for signed_or_not in (labels, abs(labels))
    )
    assert signed_matches.to_dict() == unsigned_matches.to_dict()
    assert signed_matches.nearest.alike["gain"] == ("linear", "linear-positive")


def test_a_measure_may_have_a_tools_word():
    words = {"map": "ap", "mrr": "rr", "rprec": "r-precision", "ap": "ap"}
    assert {word: measure_named(word).measure for word in words} == words
