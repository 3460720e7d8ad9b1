"""`ra.audit.probe` on functions as people write them, and on functions that are wrong by a detail."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.own_ndcg import by_rank, ndcg
from tests.helpers.tables import for_each

LEAVE_ONE_OUT = "every query has to have exactly one relevant row"


def reciprocal_rank(labels, scores, k):
    hits = np.flatnonzero(by_rank(labels, scores)[:k] > 0)
    return 1 / (hits[0] + 1) if hits.size else 0.0


def one_positive(labels, scores, k=10):
    if np.sum(labels) != 1 or labels.max() != 1:
        raise ValueError("exactly one positive item")
    rank = int(np.sum(scores > scores[labels == 1]))
    return 1 / math.log2(rank + 2) if rank < k else 0.0


def precision_of_ties(labels, scores, k=5):
    """Return the precision over all rows whose score is not below the k-th highest."""
    threshold = np.sort(scores)[::-1][min(k, scores.size) - 1]
    return float(np.mean(labels[scores >= threshold] > 0))


def top_k(labels, scores, k=5):
    """Return an NDCG whose top k come from an unstable selection, as torch.topk returns them."""
    top = np.argpartition(-scores, min(k, scores.size) - 1)[:k]
    rest = np.setdiff1d(np.arange(labels.size), top)
    rows = np.concatenate([top[np.argsort(-scores[top], kind="stable")], rest])
    return ndcg(labels[rows], -np.arange(rows.size))


def average_precision_at(recommended, relevant, k):
    hits, total = 0, 0.0
    for rank, item in enumerate(recommended[:k], 1):
        if item in relevant:
            hits += 1
            total += hits / rank
    return total / min(len(relevant), k) if relevant else 0.0


WRONG_GAINS = {grade: np.array([0.0, 1, 3, 7, 15]) + np.eye(5)[grade] * 0.25 for grade in (2, 3, 4)}


@pytest.mark.parametrize("grade", WRONG_GAINS)
def test_a_wrong_gain_is_measured(grade):
    table = WRONG_GAINS[grade]
    report = ra.audit.probe(lambda y, s: ndcg(y, s, gain=lambda labels: table[labels]), takes="query", k=5)
    assert report.presets == ()
    assert report.convention.gain == "_".join(["table", *(f"{gain:g}" for gain in table)])
    assert report.measured[0].startswith(
        f"gains {', '.join(f'{gain:g}' for gain in table)} of the labels 0, 1, 2, 3, 4"
    )
    assert report.measured[1] == "discounts 1/log2(rank + 1) at 5 ranks up to 5, to 15 digits"


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_a_wrong_discount_is_measured(rank):
    wrong = {rank: 1 / math.log2(rank + 1) + 0.01}
    report = ra.audit.probe(lambda y, s: ndcg(y, s, discounts=wrong), takes="query", k=5)
    assert report.convention is None
    assert rank == 1 or f"at rank {rank}" in report.explanation


def dcg(labels, scores, k=5):
    return float((2.0 ** by_rank(labels, scores)[:k] - 1) @ (1 / np.log2(np.arange(min(k, labels.size)) + 2)))


def recall(labels, scores, *, most=math.inf):
    return float(np.sum(by_rank(labels, scores)[:5] > 0) / max(min(np.sum(labels > 0), most), 1))


def without_negative_rows(labels, scores):
    kept = scores >= 0
    return ndcg(labels[kept], scores[kept]) if kept.any() else 0.0


WRONG_NDCG = {  # function, and a part of the explanation; None if there is no explanation
    "an unstable selection": (top_k, "tied rows in no fixed order"),
    "0 for k rows and fewer": (lambda y, s: ndcg(y, s) if y.size > 5 else 0.0, "rows"),
    "0 for exactly k rows": (
        lambda y, s: ndcg(y, s) if y.size != 5 else 0.0,
        "as many rows as the cutoff: it returns 0",
    ),
    "no scores below 0": (without_negative_rows, "scores of 0 and below"),
    "absolute scores": (lambda y, s: ndcg(y, np.abs(s)), "scores of 0 and below"),
    "scores of 3 decimals": (lambda y, s: ndcg(y, np.round(s, 3)), "the scores rounded to 3 decimals"),
    "whole labels": (lambda y, s: ndcg(y.astype(int), s, gain=np.copy), "cuts fractional labels"),
    "labels rounded up": (lambda y, s: ndcg(np.ceil(y), s), "rounds fractional labels up"),
    "an ideal list of k - 1": (lambda y, s: ndcg(y, s, ideal_k=4), "its ideal list is cut at 4"),
    "an ideal list of k + 1": (lambda y, s: ndcg(y, s, ideal_k=6), "its ideal list is cut at 6"),
    "a larger ideal DCG": (lambda y, s: dcg(y, s) / (dcg(y, y) + 1e-6), "it adds 1e-06 to the ideal DCG"),
    "a percentage of 2 decimals": (
        lambda y, s: round(100 * ndcg(y, s), 2),
        "as a percentage, and it rounds to 2 decimals",
    ),
    "1 for one document": (lambda y, s: ndcg(y, s) if y.size > 1 else 1.0, "queries of one document: it returns 1"),
    "only the first 20 rows": (lambda y, s: ndcg(y[:20], s[:20]), "queries of more than 16 rows"),
    "DCG": (dcg, "it computes dcg, not ndcg"),
}


def err_by_query(labels, scores, k=5):
    """Return an ERR whose gains are divided by 2 to the power of the query's highest label."""
    value, not_found = 0.0, 1.0
    for rank, label in enumerate(by_rank(labels, scores)[:k], 1):
        found = (2.0**label - 1) / 2.0 ** labels.max()
        value, not_found = value + not_found * found / rank, not_found * (1 - found)
    return value


WRONG = {  # function, measure, k, and a part of the explanation
    "ERR by query": (err_by_query, "err", 5, "divided by 2^(the query's highest label)"),
    "precision of ties": (precision_of_ties, "precision", 5, "tied rows"),
    "recall of 4 decimals": (lambda y, s: round(recall(y, s), 4), "recall", 5, "it rounds to 4 decimals"),
    "RR of 5 decimals": (lambda y, s: round(reciprocal_rank(y, s, 20), 5), "rr", 20, "it rounds to 5 decimals"),
    "success": (lambda y, s: float(recall(y, s) > 0), "recall", 5, "it computes success, not recall"),
    "capped recall": (partial(recall, most=5), "recall", 5, "it computes precision, not recall"),
    "RR@19": (partial(reciprocal_rank, k=19), "rr", 20, "its cutoff is 19"),
    "RR@21": (partial(reciprocal_rank, k=21), "rr", 20, "its cutoff is 21"),
    **{name: (function, "ndcg", 5, explanation) for name, (function, explanation) in WRONG_NDCG.items()},
}


@for_each("name", WRONG)
def test_a_function_that_is_wrong_by_a_detail_gets_no_convention(name):
    function, measure, k, explanation = WRONG[name]

    def of_two(labels, scores):  # the function may have a parameter k
        return function(labels, scores)

    report = ra.audit.probe(of_two, takes="query", k=k, measures=measure)
    assert report.convention is None
    assert explanation is None or explanation in report.explanation
    if report.example is not None:
        assert report.example.value != pytest.approx(report.example.expected, abs=1e-9)


def test_a_function_of_one_positive_is_asked_only_such_queries():
    report = ra.audit.probe(one_positive, takes="query", k=10)
    assert report.convention is not None
    assert LEAVE_ONE_OUT in [refusal.meaning for refusal in report.refused]
    assert report.convention.short == "pad"
    assert report.convention.discount == "log2"


def test_a_plain_argsort_is_the_preset_with_ties_in_no_fixed_order():
    def function(labels, scores):
        generator = np.random.default_rng(labels.size)  # as `np.argsort(-scores)` does on processors with AVX2
        rows = generator.permutation(labels.size)
        return ndcg(labels[rows], scores[rows])

    report = ra.audit.probe(function, takes="query", k=5)
    assert report.convention is None
    assert "ranklib@5" in report.presets
    assert report.example is None  # a tied example would refute the presets
    assert str(report).startswith("The function computes ndcg@5")
    assert "but it has tied rows in no fixed order" in str(report)


def test_binary_gains_are_a_convention_and_name_the_presets_of_labels_0_and_1():
    report = ra.audit.probe(lambda y, s: ndcg(y, s, gain=lambda labels: (labels > 0) * 1.0), takes="query", k=5)
    assert report.convention is not None
    assert any("on labels 0 and 1 it is" in note and "ranklib@5" in note for note in report.notes)


def test_a_function_of_items_receives_ids_and_the_cutoff():
    report = ra.audit.probe(average_precision_at, takes="items", k=5, measures="ap")
    labels, scores = [1, 0, 1, 0, 0, 1, 0, 1], [8.0, 7, 6, 5, 4, 3, 2, 1]
    expected = average_precision_at(list(range(8)), [0, 2, 5, 7], 5)
    assert ra.evaluate(labels, scores, report.convention, group_sizes=[8]).value == pytest.approx(expected, abs=1e-12)


def test_a_function_of_a_ranking_receives_the_labels_by_rank():
    def ranked(relevances):
        gains = 2.0 ** np.asarray(relevances) - 1
        discounts = 1 / np.log2(np.arange(gains.size) + 2)
        ideal = np.sort(gains)[::-1] @ discounts
        return gains @ discounts / ideal if ideal else 0.0

    report = ra.audit.probe(ranked, takes="ranked", k=None)
    assert (report.convention.gain, report.convention.ties, report.convention.empty) == ("exp2", "input", 0.0)
    assert "ranklib@all" in report.presets


def cut_ndcg(labels, scores, k):
    return ndcg(labels, scores, k)


def test_a_cutoff_that_the_function_needs_must_be_known():
    with pytest.raises(ra.InputError, match="k='unknown'"):
        ra.audit.probe(cut_ndcg, takes="query", k="unknown")
    report = ra.audit.probe(cut_ndcg, takes="query", k=7)
    assert report.convention.k == 7


@pytest.mark.parametrize("measure", ["recall", "precision", "rr", "ap", "success"])
@pytest.mark.parametrize("refusal", ["nan", "error"])
def test_a_function_of_queries_may_refuse_empty_ones(measure, refusal):
    name = {"rr": "mrr", "ap": "map", "success": "hit_rate"}.get(measure, measure)
    convention = ra.parse(f"ranx.{name}@3").replace(ties="input", empty="error")

    def function(labels, scores, sizes):
        try:
            return ra.evaluate(labels, scores, convention, group_sizes=sizes).value
        except ra.InputError:
            if refusal == "error":
                raise
            return math.nan

    report = ra.audit.probe(function, takes="groups", k=3, measures=measure, labels=(0, 1))
    assert report.convention is not None
    assert report.convention.empty == "error"


def dcg_of_two(labels, scores):
    return dcg(labels, scores)


@pytest.mark.parametrize("measure", ["ndcg", "dcg"])
def test_an_answer_for_fractional_labels_contradicts_a_convention_though_tables_have_no_value_for_them(measure):
    def between(labels):  # 2^label - 1 for whole labels, and on a line between them
        return np.interp(labels, [0, 1, 2, 3, 4], [0, 1, 3, 7, 15])

    def dcg_between(labels, scores):
        return float(between(by_rank(labels, scores)[:5]) @ (1 / np.log2(np.arange(min(5, labels.size)) + 2)))

    function = {"ndcg": lambda y, s: ndcg(y, s, gain=between), "dcg": dcg_between}[measure]
    report = ra.audit.probe(function, takes="query", k=5, measures=measure)
    assert report.convention is None
    assert report.explanation == "it has a special rule for fractional labels"
    assert report.nearest.gain in {"exp2", "exp2-floor"}


def test_a_number_for_empty_queries_is_measured():
    report = ra.audit.probe(lambda y, s: ndcg(y, s) if y.max() > 0 else 0.25, takes="query", k=5)
    assert report.convention.name == "ndcg@5/lightgbm+empty=0.25"
    assert ra.parse("ranklib@5").replace(empty=0.25) in report.conventions


def per_query(labels, scores, group_sizes, function):
    ends = np.cumsum(group_sizes)
    return [function(labels[end - n : end], scores[end - n : end]) for end, n in zip(ends, group_sizes, strict=True)]


def skipping(labels, scores, group_sizes):
    values = per_query(labels, scores, group_sizes, lambda y, s: ndcg(y, s) if y.any() else None)
    return float(np.mean([value for value in values if value is not None] or [0.0]))


def without_zeros(labels, scores, group_sizes, of_none=0.0):
    values = [value for value in per_query(labels, scores, group_sizes, partial(reciprocal_rank, k=5)) if value]
    return float(np.mean(values)) if values else of_none


WRONG_MEANS = {  # function, measure and explanation
    "0 if all queries are skipped": (
        skipping, "ndcg", "it leaves out queries that have no value, and returns 0 if no query is left"
    ),
    "without queries of value 0": (without_zeros, "rr", "it returns the value without the queries of value 0"),
    "without queries of value 0, else NaN": (
        partial(without_zeros, of_none=math.nan), "rr", "it returns the value without the queries of value 0"
    ),
    "without the last query": (
        lambda y, s, n: float(np.mean(per_query(y, s, n, ndcg)[:-1] or [0])), "ndcg", "without the last query"
    ),
    "without the last query of several": (
        lambda y, s, n: float(np.mean(per_query(y, s, n, ndcg)[: max(len(n) - 1, 1)])), "ndcg", "without the last query"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_MEANS)
def test_a_wrong_mean_over_queries_is_explained(name):
    function, measure, explanation = WRONG_MEANS[name]
    report = ra.audit.probe(function, takes="groups", k=5, measures=measure)
    assert report.convention is None
    assert explanation in report.explanation


def test_refused_queries_with_nothing_found_are_named():
    def function(labels, scores):
        return reciprocal_rank(labels, scores, 5) or None

    report = ra.audit.probe(function, takes="query", k=5, measures="rr")
    assert "nothing relevant up to the cutoff" in [refusal.what for refusal in report.refused]


def test_a_plain_argsort_of_linear_gains_is_no_convention_of_positive_gains():
    def function(labels, scores):
        rows = np.random.default_rng(int(np.sum(scores) * 1e6) % 2**31).permutation(labels.size)
        return ndcg(labels[rows], scores[rows], gain=np.copy)

    report = ra.audit.probe(function, takes="query", k=5)
    assert "tied rows in no fixed order" in report.explanation
    assert report.nearest.gain == "linear"


def test_gains_of_dcg_are_absolute():
    def function(labels, scores):
        gains = np.array([0, 1.00001, 3, 7, 15])[by_rank(labels, scores)[:5]]
        return float(gains @ (1 / np.log2(np.arange(gains.size) + 2)))

    report = ra.audit.probe(function, takes="query", k=5, measures="dcg")
    assert report.convention.gain == "table_0_1.00001_3_7_15"


def test_micro_averages_are_identified():
    def function(labels, scores, sizes):
        ends = np.cumsum(sizes)
        ranked = [by_rank(labels[e - n : e], scores[e - n : e]) > 0 for e, n in zip(ends, sizes, strict=True)]
        relevant = sum(query.sum() for query in ranked)
        return sum(query[:5].sum() for query in ranked) / relevant if relevant else 0.0

    report = ra.audit.probe(function, takes="groups", k=5, measures="recall")
    assert (report.convention.pool, report.convention.empty) == ("sums", 0.0)


def test_a_measure_without_a_value_for_the_labels_says_so():
    report = ra.audit.probe(dcg_of_two, takes="query", k=None, measures="query-cross-entropy")
    assert report.convention is None
    assert "query-cross-entropy has no value for the labels 0, 1, 2, 3, 4" in report.explanation


def test_the_printed_example_shows_the_queries():
    def function(labels, scores, sizes):
        ends = np.cumsum(sizes)
        values = [ndcg(labels[e - n : e], scores[e - n : e]) for e, n in zip(ends, sizes, strict=True)]
        return values[0] if len(values) < 2 else 0.9 * values[0] + 0.1 * values[1]

    report = ra.audit.probe(function, takes="groups", k=5)
    assert len(report.example.group_sizes) > 1
    assert "query  label" in str(report)


def test_a_convention_is_named_after_every_case_of_the_pool():
    calls = []

    def function(labels, scores):
        calls.append((tuple(labels), tuple(scores)))
        return ndcg(labels, scores)

    report = ra.audit.probe(function, takes="query", k=5)
    assert report.convention is not None
    assert 45 <= report.calls == len(calls) <= 75
