"""`ra.audit.order` says whether the choice of the convention changes which model wins."""

from __future__ import annotations

import json
import math
import runpy
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.audit import Comparison
from rankadapters.audit.order_report import verdict
from rankadapters.statistics.significance import holm
from tests.helpers.rankings import small_queries

LETOR4, YAHOO, CATBOOST = ra.presets.letor4(5), ra.presets.yahoo(5), ra.presets.catboost(5)


def make_models(n_queries=60):
    """Return queries and the scores of three models: a good one, one that ties all rows, and noise."""
    queries, _ = small_queries(0, n_queries)
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(2, queries.n_docs))
    return queries, {
        "good": queries.labels + noise[0],
        "tied": np.zeros(queries.n_docs),
        "noise": noise[1],
    }


def test_values_equal_evaluate_and_correlations_equal_scipy():
    kendalltau = pytest.importorskip("scipy.stats").kendalltau
    queries, scores = make_models()
    report = ra.audit.order(queries, scores, [LETOR4, YAHOO, CATBOOST], n_resamples=99)
    values = {}
    for convention in (LETOR4, YAHOO, CATBOOST):
        values[convention] = [ra.evaluate(queries, model_scores, convention) for model_scores in scores.values()]
        assert [row[convention] for row in report.scores.values()] == values[convention]
    for (i, first), (j, second) in product(enumerate(values.values()), repeat=2):
        expected = kendalltau([score.value for score in first], [score.value for score in second]).statistic
        assert report.correlations[i][j] == pytest.approx(expected)


def test_a_pair_that_swaps_is_listed_under_every_convention():
    # Tied scores keep the order of the file under yahoo (1 first) and have the worst order under catboost.
    labels, sizes = [1, 0] * 20, [2] * 20
    scores = {"tied": np.zeros(40), "half": np.tile([1, 0, 0, 1], 10)}
    report = ra.audit.order(labels, scores, [YAHOO, CATBOOST], group_sizes=sizes)
    [change] = report.changes
    assert change.models == ("tied", "half")
    assert [comparison.ahead for comparison in report.comparisons] == ["tied", "half"]
    loss = 1 - 1 / math.log2(3)
    assert [comparison.difference for comparison in report.comparisons] == pytest.approx([loss / 2, -loss / 2])
    assert change.significant
    assert report.correlations[0][1] == -1
    assert "1 of 1 pairs of models change places, 1 of them with a significant difference" in str(report)


def test_a_swap_within_the_noise_is_not_significant():
    labels, sizes = [1, 0, 1, 0, 1, 0], [2, 2, 2]
    scores = {"tied": np.zeros(6), "half": [1, 0, 0, 1, 1, 0]}
    report = ra.audit.order(labels, scores, [YAHOO, CATBOOST], group_sizes=sizes)
    [change] = report.changes
    assert not change.significant
    # All 8 swaps of three queries are tried, so a two-sided p-value is a multiple of 1/8.
    assert {comparison.p_value * 8 % 1 for comparison in report.comparisons} == {0}
    assert "no difference can be significant" in report.notes[0]


@pytest.mark.parametrize(
    ("n_queries", "n_resamples", "notes"),
    [
        (60, 78, ["of 78 resamples of 60 queries, corrected for 2 comparisons, is 0.051"]), (60, 79, []),
        (6, 9999, ["of 9999 resamples of 6 queries, corrected for 2 comparisons, is 0.062"]), (7, 9999, []),
    ],
)  # fmt: skip
def test_a_note_warns_of_too_few_resamples_or_queries_for_significance(n_queries, n_resamples, notes):
    queries, scores = make_models(n_queries=n_queries)
    pair = {name: scores[name] for name in ("good", "tied")}
    report = ra.audit.order(queries, pair, [YAHOO, LETOR4], n_resamples=n_resamples, confidence=0.95)
    assert [note.partition("the smallest p-value ")[2] for note in report.notes] == notes


def test_a_p_value_that_equals_the_level_is_significant():
    """Of three queries, the smallest p-value is 1/4."""
    pair = {"best": [1, 0] * 3, "worst": [0, 1] * 3}
    report = ra.audit.order([1, 0] * 3, pair, YAHOO, group_sizes=[2] * 3, confidence=0.75)
    assert [(comparison.p_value, comparison.significant) for comparison in report.comparisons] == [(0.25, True)]
    assert report.notes == ()


def test_equal_models_never_differ():
    queries, scores = make_models()
    report = ra.audit.order(queries, {"a": scores["good"], "b": scores["good"] * 2}, [YAHOO, LETOR4])
    for comparison in report.comparisons:
        assert (comparison.difference, comparison.p_value, comparison.low, comparison.high) == (0, 1, 0, 0)
        assert comparison.ahead is None
    assert report.changes == ()
    assert report.correlations == ((None, None), (None, None))


def test_the_seed_determines_the_report():
    queries, scores = make_models()
    seeds = (3, 3, 4, *map(np.random.default_rng, (1, 1)))
    reports = [ra.audit.order(queries, scores, [YAHOO], n_resamples=199, random_state=s).to_dict() for s in seeds]
    assert reports[0] == reports[1] != reports[2]
    assert reports[3] == reports[4]


@pytest.mark.parametrize("package_name", ["pandas", "polars", "pyarrow", "numpy"])
def test_a_table_or_matrix_has_a_column_for_each_model(package_name):
    package = pytest.importorskip(package_name)
    queries, scores = make_models()
    make_table = package.table if package_name == "pyarrow" else getattr(package, "DataFrame", None)
    table = make_table(scores) if make_table else np.stack(list(scores.values()), axis=1)
    report = ra.audit.order(queries, table, [YAHOO], n_resamples=49)
    names = scores if make_table else "012"
    expected = dict(zip(names, scores.values(), strict=True))
    assert report.to_dict() == ra.audit.order(queries, expected, [YAHOO], n_resamples=49).to_dict()


def test_p_values_are_corrected_over_all_pairs_and_conventions():
    queries, scores = make_models()
    report = ra.audit.order(queries, scores, [YAHOO, LETOR4], n_resamples=499)
    assert len(report.comparisons) == 6
    assert [c.p_corrected for c in report.comparisons] == holm([c.p_value for c in report.comparisons]).tolist()
    assert [c.significant for c in report.comparisons] == [c.p_corrected <= 1 - 0.95 for c in report.comparisons]
    assert any(c.significant for c in report.comparisons)


def test_weights_count_in_values_and_tests():
    labels, sizes, weights = [1, 0] * 6, [2] * 6, [10, 1, 1, 1, 1, 1]
    scores = {"first": [2, 1] + [1, 2] * 5, "rest": [1, 2] + [2, 1] * 5}
    plain = ra.audit.order(labels, scores, [YAHOO], group_sizes=sizes)
    convention = YAHOO.replace(average="query")
    weighted = ra.audit.order(labels, scores, [convention], group_sizes=sizes, query_weight=weights)
    assert plain.comparisons[0].ahead == "rest"
    assert weighted.comparisons[0].ahead == "first"
    assert weighted.comparisons[0].low < weighted.comparisons[0].difference < weighted.comparisons[0].high


def test_each_model_may_have_its_own_queries():
    columns = {"qid": [1, 1, 2, 2], "judged": [True] * 4}
    queries = {
        "a": ra.Queries([1, 0, 1, 0], retrieved=[True, True, True, True], **columns),
        "b": ra.Queries([1, 0, 0, 1], qid=[2, 2, 1, 1], retrieved=[True, True, True, False]),
    }
    scores = {"a": [2, 1, 1, 2], "b": [2, 1, 1, np.nan]}
    convention = ra.presets.trec_eval_9(2).replace(ties="input")
    report = ra.audit.order(queries, scores, [convention])
    [comparison] = report.comparisons
    assert comparison.difference == pytest.approx((1 + 1 / math.log2(3)) / 2 - 1 / 2)
    unequal_queries = {"a": queries["a"], "b": ra.Queries([1, 0], qid=[3, 3])}
    with pytest.raises(ra.InputError, match=r"model 'b' and the first model have different queries \(1 and 2\).\nHint"):
        ra.audit.order(unequal_queries, {"a": [2, 1, 1, 2], "b": [2, 1]}, [convention])
    with pytest.raises(ra.InputError, match="labels has no queries for model 'c'"):
        ra.audit.order(queries, {**scores, "c": [1]}, [convention])


def runs_of(n_queries, found_by, n_docs=6):
    """Return the queries and scores of runs that have results for some queries only."""
    rng = np.random.default_rng(0)
    labels, qid = rng.integers(0, 3, n_queries * n_docs), np.repeat(np.arange(n_queries), n_docs)
    columns = {"qid": qid, "judged": np.ones(qid.size, np.bool_), "docid": [f"d{row}" for row in range(qid.size)]}
    queries = {
        name: ra.Queries(labels, retrieved=np.isin(qid, list(found)), **columns) for name, found in found_by.items()
    }
    return queries, {name: labels + rng.normal(0, 1.5, qid.size) for name in found_by}


SKIPPING = [
    ra.presets.trec_eval_9(5),
    ra.presets.pytrec_eval.map(),
    ra.presets.mteb.mrr(5),
    ra.presets.trec_eval_9.gm_map(),
]


@pytest.mark.parametrize("convention", SKIPPING)
def test_runs_are_compared_over_the_queries_that_all_of_them_scored(convention):
    queries, scores = runs_of(20, {"all": range(20), "few": range(3, 9), "most": range(5, 20)})
    report = ra.audit.order(queries, scores, [convention, ra.presets.ranx(5)], n_resamples=99)
    common, counted = range(5, 9), ra.presets.ranx(5)
    rows = np.isin(queries["all"].query_of_row, common)
    for name in queries:
        subset, _ = queries[name].subset(np.array(common))
        assert report.scores[name][convention] == ra.evaluate(subset, scores[name][rows], convention)
        assert report.scores[name][convention].n_queries == 4
        assert report.scores[name][counted] == ra.evaluate(queries[name], scores[name], counted)  # counts missing as 0
    alone = ra.audit.order(
        {name: of_model.subset(np.array(common))[0] for name, of_model in queries.items()},
        {name: of_model[rows] for name, of_model in scores.items()}, [convention], n_resamples=99,
    )  # fmt: skip
    tested = [(c.difference, c.p_value, c.low, c.high) for c in report.comparisons if c.convention == convention]
    assert tested == [(c.difference, c.p_value, c.low, c.high) for c in alone.comparisons]
    note = (
        f"under {convention.name}, all scored 20 queries, few scored 6, most scored 15: "
        "the comparison is over the 4 queries of all models"
    )
    assert note in report.notes
    assert not [line for line in report.notes if line.startswith(f"under {counted.name}")]


def test_runs_without_a_common_query_and_runs_without_results_are_named():
    convention = SKIPPING[0]
    queries, scores = runs_of(6, {"first": range(4), "last": range(4, 6)})
    with pytest.raises(
        ra.InputError, match=r"no query has a value for every model under .*first scored 4.*last scored 2\."
    ):
        ra.audit.order(queries, scores, convention)
    queries, scores = runs_of(6, {"some": range(4), "none": []})
    with pytest.raises(ra.InputError, match=r"^model 'none', which has no results for any query: nothing is left"):
        ra.audit.order(queries, scores, convention)
    assert "none has no results for any query" in ra.audit.order(queries, scores, "ranx@5", n_resamples=9).notes


def test_a_single_common_query_is_not_tested():
    queries, scores = runs_of(6, {"first": range(4), "last": range(3, 6)})
    report = ra.audit.order(queries, scores, [SKIPPING[0], "ranx@5"], n_resamples=99)
    assert [c.p_value is None for c in report.comparisons] == [True, False]
    assert f"nothing is tested under {SKIPPING[0].name}: a single query is common" in report.notes


def test_short_queries_that_a_model_skips_are_left_out_for_all_models():
    convention = ra.presets.yahoo(2).replace(short="skip", missing="zero")
    queries = {
        "a": ra.Queries([1, 0, 1, 0], qid=[1, 1, 2, 2], retrieved=[True] * 4, judged=[True] * 4),
        "b": ra.Queries([1, 0, 1, 0], qid=[1, 1, 2, 2], retrieved=[True, True, True, False], judged=[True] * 4),
    }
    report = ra.audit.order(queries, {"a": [1, 2, 2, 1], "b": [1, 2, 2, 1]}, convention)
    assert [score.value for of_model in report.scores.values() for score in of_model.values()] == [1 / math.log2(3)] * 2


def test_a_single_query_has_an_order_but_no_significance():
    report = ra.audit.order([1, 0], {"a": [2, 1], "b": [1, 2]}, [YAHOO, YAHOO.at(1)], group_sizes=[2])
    assert [c.ahead for c in report.comparisons] == ["a", "a"]
    assert {c.p_value for c in report.comparisons} == {c.p_corrected for c in report.comparisons} == {None}
    assert "a single query says nothing of significance" in report.notes[0]
    assert json.loads(report.to_json())["comparisons"][0]["p_value"] is None


def test_ranks_count_the_better_models_so_equal_models_share_theirs():
    models = {"last": [1, 2, 3], "a": [3, 2, 1], "b": [3, 1, 2], "middle": [2, 3, 1], "c": [2, 1, 0]}
    report = ra.audit.order([1, 0, 0], models, "textbook@3", n_resamples=9, group_sizes=[3])
    assert [line[1][-3:] for line in report.values_table().lines] == ["(5)", "(1)", "(1)", "(4)", "(1)"]


def test_progress_has_one_step_for_the_swaps_and_one_for_the_samples():
    queries, scores = make_models()
    steps = []
    ra.audit.order(queries, scores, [YAHOO, LETOR4], n_resamples=9, progress=lambda *step: steps.append(step))
    assert steps == [(1, 2), (2, 2)]


def test_a_comparison_does_not_depend_on_the_other_models_and_conventions():
    queries, scores = make_models()
    all_comparisons = ra.audit.order(queries, scores, [YAHOO, LETOR4], n_resamples=99).comparisons
    report = ra.audit.order(queries, {name: scores[name] for name in ("tied", "noise")}, [LETOR4], n_resamples=99)
    [alone] = report.comparisons
    [among_all] = [c for c in all_comparisons if (c.first, c.second, c.convention) == ("tied", "noise", LETOR4)]
    assert (alone.p_value, alone.low, alone.high) == (among_all.p_value, among_all.low, among_all.high)


@pytest.mark.long
def test_the_example_orders_the_models_of_the_installed_toolkits(capsys, monkeypatch):
    for toolkit in ("sklearn", "lightgbm"):
        pytest.importorskip(toolkit)
    example = Path(__file__).parent.parent.parent / "examples" / "order_toolkits.py"
    monkeypatch.setattr(sys, "argv", [str(example)])
    runpy.run_path(str(example))
    printed = capsys.readouterr().out
    assert "lightgbm" in printed
    assert "Kendall's tau-b" in printed


def test_equal_judgments_in_a_different_order_are_accepted():
    first = ra.Queries([2, 0, 0, 0, 1, 0], qid=[0, 0, 0, 1, 1, 1])
    second = ra.Queries([0, 1, 0, 0, 0, 2], qid=[1, 1, 1, 0, 0, 0])
    scores = {"a": [3, 2, 1, 1, 2, 3], "b": [3, 2, 1, 3, 2, 1]}
    report = ra.audit.order({"a": first, "b": second}, scores, [ra.presets.lightgbm(2), ra.presets.letor4(2)])
    assert "ndcg@2/lightgbm" in str(report)
    first = ra.Queries(first.labels, qid=[0, 0, 0, 1, 1, 1], query_weight=[1, 2])
    second = ra.Queries(second.labels, qid=[1, 1, 1, 0, 0, 0], query_weight=[2, 1])
    assert len(ra.audit.order({"a": first, "b": second}, scores, "lightgbm@2").scores) == 2


@pytest.mark.parametrize("confidence", [np.float32(0.95), np.float64(0.95), Fraction(19, 20)])
def test_confidence_may_be_any_real_number(confidence):
    models = {"a": [3, 2, 1, 1, 1], "b": [1, 2, 3, 2, 1]}
    options = {"group_sizes": [3, 2], "n_resamples": 9}
    report = ra.audit.order([2, 0, 1, 0, 1], models, "yahoo@1", confidence=confidence, **options)
    assert report.confidence == float(confidence)
    assert type(report.confidence) is float


def test_joined_data_sets_count_alike_and_the_p_value_counts_all_sign_swaps():
    """The recipe of docs/compare.md for methods over data sets: each query has the weight 1/n."""
    rng, convention = np.random.default_rng(0), ra.presets.textbook(4).replace(average="query")
    parts = [ra.Queries(rng.integers(0, 3, 4 * n), group_sizes=[4] * n) for n in (3, 5)]
    scores = [{name: rng.standard_normal(part.n_docs) for name in "ab"} for part in parts]
    weights = np.concatenate([np.full(part.n_queries, 1 / part.n_queries) for part in parts])
    joined = ra.Queries(
        np.concatenate([part.labels for part in parts]), group_sizes=[4] * 8, query_weight=weights
    )  # fmt: skip
    models = {name: np.concatenate([part[name] for part in scores]) for name in "ab"}
    [comparison] = ra.audit.order(joined, models, convention).comparisons
    values = [[ra.evaluate(part, by_name[name], convention).value for name in "ab"] for part, by_name in
              zip(parts, scores, strict=True)]  # fmt: skip
    assert comparison.difference == pytest.approx(np.mean([a - b for a, b in values]))
    per_query = [ra.per_query(joined, models[name], convention) for name in "ab"]
    shares = (per_query[0] - per_query[1]) * weights / 2
    sums = np.array([np.dot(signs, shares) for signs in product([1, -1], repeat=8)])
    tails = ((sums >= shares.sum() - 1e-12).sum(), (sums <= shares.sum() + 1e-12).sum())
    assert comparison.p_value == pytest.approx(min(1.0, 2 * min(tails) / 256))


UNTESTED = {"low": None, "high": None, "p_corrected": None, "significant": False}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "a is better than b by 0.010 (0.008 to 0.011)."),
        ({"difference": 4e-4}, "a is better than b by 0.00040 (0.00821 to 0.01139)."),
        ({"difference": -0.25, "low": -0.5, "high": 0.125}, "b is better than a by 0.250 (-0.125 to 0.500)."),
        ({"difference": 0.0}, "a and b have the same value."),
        (
            {"significant": False, "p_corrected": 0.25},
            "a is ahead of b by 0.010 (0.008 to 0.011), but the difference is not significant (corrected p 0.25).",
        ),
        (UNTESTED, "a is ahead of b by 0.010, but the difference was not tested."),
        ({"convention": ra.presets.catboost.query_rmse()}, "b is better than a by 0.010 (0.008 to 0.011)."),
    ],
)
def test_the_verdict_is_one_sentence(changes, sentence):
    numbers = {"difference": 0.0103, "low": 0.00821, "high": 0.01139, "p_value": 0.01, "p_corrected": 0.01}
    comparison = {"first": "a", "second": "b", "convention": YAHOO, **numbers, "significant": True, **changes}
    assert verdict(Comparison(**comparison)) == sentence
