"""Stratified tests over several data sets, against the tests of one data set and against all sign swaps."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.compare import stratified_tests
from rankadapters.core.errors import InputError, UnsupportedConventionError
from rankadapters.statistics.resamples import Resamples
from tests.helpers.tables import for_each

RNG = np.random.default_rng(0)


def data_set(n_queries):
    return ra.Queries(RNG.integers(0, 3, 4 * n_queries), group_sizes=[4] * n_queries)


def predictions(queries, names="ab"):
    return {name: RNG.standard_normal(queries.n_docs) for name in names}


def test_one_data_set_gives_the_result_of_audit_order():
    pytest.importorskip("scipy")
    queries = data_set(30)
    scores = predictions(queries)
    comparison = stratified_tests({"D": queries}, {"D": scores}, "textbook@3", random_state=5).comparisons[0]
    [expected] = ra.audit.order(queries, scores, ["textbook@3"], random_state=5).comparisons
    assert (comparison.p_value, comparison.low, comparison.high) == (expected.p_value, expected.low, expected.high)
    assert comparison.difference == pytest.approx(expected.difference, abs=1e-15)


def test_the_p_value_of_few_queries_counts_all_sign_swaps():
    queries = {"D1": data_set(3), "D2": data_set(5)}
    scores = {name: predictions(data_set_queries) for name, data_set_queries in queries.items()}
    convention = ra.presets.textbook(4).replace(empty=0.0)
    shares_by_data_set = []
    for name, data_set_queries in queries.items():
        evaluator = ra.Evaluator(data_set_queries, convention)
        values = [evaluator.per_query(scores[name][method]) for method in "ab"]
        shares_by_data_set.append((values[0] - values[1]) / data_set_queries.n_queries / 2)
    shares = np.concatenate(shares_by_data_set)
    sums = np.array([np.dot(signs, shares) for signs in product([1, -1], repeat=8)])
    observed = shares.sum()
    tails = ((sums >= observed - 1e-12).sum(), (sums <= observed + 1e-12).sum())
    [comparison] = stratified_tests(queries, scores, convention).comparisons
    assert comparison.difference == pytest.approx(observed)
    assert comparison.p_value == pytest.approx(min(1.0, 2 * min(tails) / 256))


def test_resamples_keep_the_number_of_queries_of_each_data_set():
    counts = np.concatenate(list(Resamples(7, 500, 0, (3, 4)).samples()))
    assert (counts[:, :3].sum(axis=1) == 3).all()
    assert (counts[:, 3:].sum(axis=1) == 4).all()
    assert counts.mean(axis=0) == pytest.approx(np.ones(7), abs=0.2)


def test_each_data_set_has_the_same_weight_whatever_its_number_of_queries():
    # On the large data set both methods are equal. On the small one, a ranks every query right and b every query wrong.
    small, large = ra.Queries([1, 0] * 2, group_sizes=[2] * 2), ra.Queries([1, 0] * 50, group_sizes=[2] * 50)
    scores = {
        "small": {"a": [1, 0] * 2, "b": [0, 1] * 2},
        "large": {"a": [1, 0] * 50, "b": [1, 0] * 50},
    }
    [comparison] = stratified_tests({"small": small, "large": large}, scores, "textbook@1").comparisons
    assert comparison.difference == 0.5


def test_two_methods_are_compared_on_the_data_sets_that_both_have():
    queries = {name: data_set(8) for name in ("D1", "D2", "D3")}
    methods = {"D1": "ab", "D2": "bc", "D3": "b"}
    scores = {name: predictions(queries[name], methods[name]) for name in queries}
    report = stratified_tests(queries, scores, "textbook@3")
    assert {(c.first, c.second): c.datasets for c in report.comparisons} == {("a", "b"): ("D1",), ("b", "c"): ("D2",)}
    assert report.values["b"].keys() == {"D1", "D2", "D3"}
    assert all(c.p_corrected >= c.p_value for c in report.comparisons)
    assert "Differences of the means over the data sets that both have" in str(report)
    assert report.to_dict()["comparisons"][0]["datasets"] == ["D1"]


def test_the_lower_loss_is_ahead():
    queries = ra.Queries([1.0, 0.0] * 9, group_sizes=[2] * 9)
    scores = {"D": {"right": [1.0, 0.0] * 9, "wrong": [0.0, 1.0] * 9}}
    report = stratified_tests({"D": queries}, scores, "catboost.query_soft_max")
    assert " right " in str(report).splitlines()[2]


@for_each(("scores_of_b", "ahead"), [([0, 1], "a"), ([1, 0], "-")])
@for_each("names", ["ab", "ba"])
def test_the_table_names_the_method_that_is_ahead(scores_of_b, ahead, names):
    queries, scores = ra.Queries([1, 0] * 2, group_sizes=[2] * 2), {"a": [1, 0] * 2, "b": scores_of_b * 2}
    report = stratified_tests({"D": queries}, {"D": {name: scores[name] for name in names}}, "textbook@1")
    assert [line[:2] for line in report.blocks()[0].lines] == [(", ".join(names), ahead)]


@for_each(("confidence", "significant", "color"), [(0.5, "yes", "#0072B2"), (0.51, "no", "#7F7F7F")])
def test_a_p_value_equal_to_the_level_is_significant(confidence, significant, color):
    queries, scores = ra.Queries([1, 0, 0, 1], group_sizes=[2, 2]), {"a": [2, 1, 1, 2], "b": [1, 2, 1, 2]}
    arguments = (dict.fromkeys(("D", "E"), column) for column in (queries, scores))
    report = stratified_tests(*arguments, "textbook@1", confidence=confidence)
    assert report.blocks()[0].lines[0][-3:] == ("0.5000", "0.5000", significant)
    assert report.blocks()[0].head[4] == f"{100 * confidence:g} % interval"
    pytest.importorskip("matplotlib")
    [axes] = report.plot().axes
    assert [line.get_color() for line in axes.lines[1:]] == [color, color]
    assert axes.get_xlabel() == f"difference of ndcg@1/textbook, {100 * confidence:g} % interval"


@for_each(
    ("change", "message"),
    [
        ({"datasets": {}}, "data set 'D' has no labels"),
        ({"scores": {}}, "data set 'D' has no scores"),
        ({"scores": {"D": {"a": [1, 2]}}}, "no two methods have scores on one data set"),
        ({"scores": {"D": {"a": [1, 2], "b": [1]}}}, "method 'b' on 'D': scores has 1 row"),
        ({"n_resamples": 0}, "n_resamples=0; allowed are whole numbers from 1 on"),
        ({"confidence": 1.0}, "confidence=1.0; allowed are numbers above 0 and below 1"),
        ({"confidence": "a"}, "confidence='a'; allowed are numbers above 0 and below 1"),
        ({"confidence": float("nan")}, "confidence=nan; allowed are numbers above 0 and below 1"),
        ({"random_state": -1}, "random_state=-1; allowed are whole numbers from 0 on"),
        ({"progress": 3}, "progress=3; allowed are True, False and functions"),
        ({"scores": {"D": {1: [1, 2], 2: [2, 1]}}}, r"scores\['D'\] has a method named 1; allowed are texts"),
    ],
)
def test_bad_arguments_are_refused(change, message):
    arguments = {
        "datasets": {"D": ra.Queries([1, 0], group_sizes=[2])},
        "scores": {"D": {"a": [1, 2], "b": [2, 1]}},
    } | change
    with pytest.raises(InputError, match=message):
        stratified_tests(arguments.pop("datasets"), arguments.pop("scores"), "textbook@1", **arguments)


def one_data_set_report(queries, scores, convention="textbook@1", **options):
    return stratified_tests({"D": queries}, {"D": scores}, convention, **options)


def test_confidence_may_be_a_numpy_float_and_a_generator_draws_the_seed():
    queries = data_set(20)
    scores = predictions(queries)
    seed = int(np.random.default_rng(7).integers(2**32))
    expected = one_data_set_report(queries, scores, confidence=0.5, random_state=seed, n_resamples=99)
    for confidence in (np.float32(0.5), np.float64(0.5)):
        generator = np.random.default_rng(7)
        report = one_data_set_report(queries, scores, confidence=confidence, random_state=generator, n_resamples=99)
        assert report == expected


def test_a_measure_that_is_not_a_sum_over_queries_is_refused():
    queries = data_set(4)
    with pytest.raises(UnsupportedConventionError, match="is not a sum over the queries"):
        one_data_set_report(queries, predictions(queries), "lightgbm.auc")


def test_progress_counts_the_pairs_of_methods():
    queries, calls = data_set(4), []
    one_data_set_report(
        queries, predictions(queries, "abc"), progress=lambda n_done, total: calls.append((n_done, total))
    )
    assert calls == [(1, 3), (2, 3), (3, 3)]
