"""`ra.audit.probe` names what 40 functions compute that were written from its page alone, before its code was read."""

from __future__ import annotations

import re

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.parameters import some


def order(scores):
    return np.argsort(-np.asarray(scores, float), kind="stable")


def disc(n):
    return 1 / np.log2(np.arange(n) + 2)


def dcg(gains, k):
    gains = np.asarray(gains, float)[:k]
    return float(gains @ disc(gains.size))


def ratio(a, b, empty=0.0):
    return a / b if b else empty


# Ordinary functions.
def linear_ndcg(labels, scores):
    grades = np.asarray(labels, float)
    return ratio(dcg(grades[order(scores)], 5), dcg(np.sort(grades)[::-1], 5))


def exponential_ndcg(labels, scores):
    g = 2.0 ** np.asarray(labels, float) - 1
    return ratio(dcg(g[order(scores)], None), dcg(np.sort(g)[::-1], None), 1.0)


def ndcg_of_worst_ties(labels, scores):
    grades = np.asarray(labels, float)
    o = np.lexsort((grades, -np.asarray(scores, float)))
    g = 2.0**grades - 1
    return ratio(dcg(g[o], 10), dcg(np.sort(g)[::-1], 10))


def mean_without_empty(labels, scores, qid):
    labels, scores, qid = map(np.asarray, (labels, scores, qid))
    vals = []
    for q in dict.fromkeys(qid.tolist()):
        grades, s = labels[qid == q], scores[qid == q]
        if grades.max() > 0:
            vals.append(linear_ndcg(grades, s))
    return float(np.mean(vals)) if vals else 0.0


def average_precision(labels, scores):
    r = np.asarray(labels)[order(scores)] > 0
    n = r.sum()
    if not n:
        return 0.0
    r = r[:10]
    return float((r * np.cumsum(r) / (np.arange(r.size) + 1)).sum() / n)


def capped_average_precision(labels, scores):
    r = np.asarray(labels)[order(scores)] > 0
    n = min(r.sum(), 5)
    if not n:
        return 0.0
    r = r[:5]
    return float((r * np.cumsum(r) / (np.arange(r.size) + 1)).sum() / n)


def reciprocal_rank(labels, scores):
    r = np.asarray(labels)[order(scores)][:10] > 0
    return 1 / (1 + int(np.argmax(r))) if r.any() else 0.0


def precision(labels, scores):
    return float((np.asarray(labels)[order(scores)][:5] > 0).sum() / 5)


def recall(labels, scores):
    r = np.asarray(labels) > 0
    return ratio(float(r[order(scores)][:3].sum()), float(r.sum()))


def hit_rate(recommended, relevant):
    return float(any(i in set(relevant) for i in list(recommended)[:5]))


def ndcg_of_items(recommended, relevant):
    rel = set(relevant)
    if not rel:
        return 0.0
    hits = np.array([float(i in rel) for i in list(recommended)[:10]])
    return float(hits @ disc(hits.size) / disc(min(len(rel), 10)).sum())


def dcg_of_squares(labels, scores):
    grades = np.asarray(labels, float)
    return dcg((grades * grades)[order(scores)], 2)


def mean_of_groups(labels, scores, group_sizes):
    at, vals = 0, []
    for n in np.asarray(group_sizes).tolist():
        vals.append(exponential_ndcg(np.asarray(labels)[at : at + n], np.asarray(scores)[at : at + n]))
        at += n
    return float(np.mean(vals))


def ndcg_of_ranking(labels):
    grades = np.asarray(labels, float)
    return ratio(dcg(grades, 10), dcg(np.sort(grades)[::-1], 10))


def ndcg_or_nan(labels, scores):
    grades = np.asarray(labels, float)
    i = dcg(np.sort(grades)[::-1], 10)
    return float("nan") if not i else dcg(grades[order(scores)], 10) / i


def r_precision(labels, scores):
    r = np.asarray(labels)[order(scores)] > 0
    n = int(r.sum())
    return float(r[:n].mean()) if n else 0.0


# Functions with one mistake.
def ascending(labels, scores):
    grades = np.asarray(labels, float)
    return ratio(dcg(grades[np.argsort(scores, kind="stable")], 10), dcg(np.sort(grades)[::-1], 10))


def ideal_of_retrieved(labels, scores):
    grades = np.asarray(labels, float)[order(scores)][:3]
    return ratio(dcg(grades, 3), dcg(np.sort(grades)[::-1], 3))


def natural_logarithm(labels, scores):
    grades = np.asarray(labels, float)
    d = 1 / np.log(np.arange(grades.size) + 2)
    return float(grades[order(scores)][:5] @ d[:5])


def gains_without_minus_one(labels, scores):
    g = 2.0 ** np.asarray(labels, float)
    return ratio(dcg(g[order(scores)], 5), dcg(np.sort(g)[::-1], 5))


def capped_log10(labels, scores):
    grades = np.asarray(labels, float)
    d = 1 / np.maximum(1, np.log10(np.arange(grades.size) + 1))
    return ratio(float(grades[order(scores)][:5] @ d[:5]), float(np.sort(grades)[::-1][:5] @ d[:5]))


def one_argsort(labels, scores):
    grades = np.asarray(labels, float)
    ranks = np.argsort(-np.asarray(scores, float), kind="stable") + 1
    d = np.where(ranks <= 10, 1 / np.log2(ranks + 1), 0)
    return ratio(float(grades @ d), dcg(np.sort(grades)[::-1], 10))


def hit_rate_as_recall(labels, scores):
    r = np.asarray(labels)[order(scores)][:5] > 0
    return float(r.any())


def recall_as_precision(labels, scores):
    r = np.asarray(labels) > 0
    return ratio(float(r[order(scores)][:5].sum()), float(r.sum()))


def ap_by_cutoff(labels, scores):
    r = np.asarray(labels)[order(scores)][:5] > 0
    return float((r * np.cumsum(r) / (np.arange(r.size) + 1)).sum() / 5)


def floor_division(labels, scores):
    return float((np.asarray(labels)[order(scores)][:3] > 0).sum() // 3)


def ratio_of_sums(labels, scores, qid):
    labels, scores, qid = map(np.asarray, (labels, scores, qid))
    a = b = 0.0
    for q in dict.fromkeys(qid.tolist()):
        grades, s = labels[qid == q].astype(float), scores[qid == q]
        a += dcg(grades[order(s)], 10)
        b += dcg(np.sort(grades)[::-1], 10)
    return ratio(a, b)


def batches_of_2(labels, scores, qid):
    labels, scores, qid = map(np.asarray, (labels, scores, qid))
    vals = [linear_ndcg(labels[qid == q], scores[qid == q]) for q in dict.fromkeys(qid.tolist())]
    return float(np.mean([np.mean(vals[i : i + 2]) for i in range(0, len(vals), 2)]))


def percentage(labels, scores):
    return 100 * linear_ndcg(labels, scores)


def loss(labels, scores):
    return 1 - linear_ndcg(labels, scores)


def one_document(labels, scores):
    return 1.0 if len(labels) == 1 else linear_ndcg(labels, scores)


def equal_scores(labels, scores):
    return 0.0 if len(set(np.asarray(scores).tolist())) == 1 and len(labels) > 1 else linear_ndcg(labels, scores)


def float16_scores(labels, scores):
    return linear_ndcg(labels, np.asarray(scores).astype(np.float16))


def rounded_scores(labels, scores):
    return linear_ndcg(labels, np.round(np.asarray(scores, float), 2))


def one_query(labels, scores, qid):
    return linear_ndcg(labels, scores)


def geometric_mean(labels, scores, qid):
    labels, scores, qid = map(np.asarray, (labels, scores, qid))
    vals = np.array([exponential_ndcg(labels[qid == q], scores[qid == q]) for q in dict.fromkeys(qid.tolist())])
    return float(np.exp(np.mean(np.log(np.maximum(vals, 1e-5)))))


def ranks_from_2(labels, scores):
    r = np.asarray(labels)[order(scores)][:10] > 0
    return 1 / (2 + int(np.argmax(r))) if r.any() else 0.0


def mrr_as_ndcg(labels, scores):
    return reciprocal_rank(labels, scores)


def two_rows(labels, scores):
    return 1.0 if len(labels) <= 2 else linear_ndcg(labels, scores)


def squared_discounts(labels, scores):
    grades = np.asarray(labels, float)
    d = disc(grades.size) ** 2
    return ratio(float(grades[order(scores)][:5] @ d[:5]), float(np.sort(grades)[::-1][:5] @ d[:5]))


FUNCTIONS = [  # the function, takes, k, the measure, and a part of the signature or of the explanation
    (linear_ndcg, "query", 5, "ndcg", "gain=linear/"),
    (exponential_ndcg, "query", None, "ndcg", "gain=exp2/.*/empty=1/"),
    (ndcg_of_worst_ties, "query", 10, "ndcg", "gain=exp2/.*/ties=worst/"),
    (
        mean_without_empty,
        "queries",
        5,
        "ndcg",
        "it leaves out queries that have no value, and returns 0 if no query is left",
    ),
    (average_precision, "query", 10, "ap", "divisor=relevant/ties=input/"),
    (capped_average_precision, "query", 5, "ap", "divisor=cutoff/ties=input/"),
    (reciprocal_rank, "query", 10, "rr", "rr@10/"),
    (precision, "query", 5, "precision", "divisor=k/"),
    (recall, "query", 3, "recall", "recall@3/"),
    (hit_rate, "items", 5, "success", "success@5/"),
    (ndcg_of_items, "items", 10, "ndcg", "ndcg@10/.*/empty=0/"),
    (dcg_of_squares, "query", 2, "dcg", "gain=table_0_1_4_9_16/"),
    (mean_of_groups, "groups", None, "ndcg", "gain=exp2/.*/empty=1/"),
    (ndcg_of_ranking, "ranked", 10, "ndcg", "gain=linear/"),
    (ndcg_or_nan, "query", 10, "ndcg", "/empty=(skip|error)/"),
    (r_precision, "query", None, "r-precision", "r-precision/"),
    (ascending, "query", 10, "ndcg", "the scores negated"),
    (ideal_of_retrieved, "query", 3, "ndcg", "ideal=top-only/"),
    (natural_logarithm, "query", 5, "dcg", "discount=log_2.718"),
    (gains_without_minus_one, "query", 5, "ndcg", "gain=table_1_2_4_8_16/"),
    (capped_log10, "query", 5, "ndcg", "discount=power_1/"),
    (one_argsort, "query", 10, "ndcg", "one argsort taken for the ranks"),
    (hit_rate_as_recall, "query", 5, "recall", "it computes success, not recall"),
    (recall_as_precision, "query", 5, "precision", "it computes recall, not precision"),
    (ap_by_cutoff, "query", 5, "ap", "always divided by k=5"),
    (floor_division, "query", 3, "precision", "rounded down to a whole number"),
    (ratio_of_sums, "queries", 10, "ndcg", "ratio of two sums"),
    (batches_of_2, "queries", 5, "ndcg", "means of batches of 2 queries"),
    (percentage, "query", 5, "ndcg", "as a percentage"),
    (loss, "query", 5, "ndcg", "1 - the value"),
    (one_document, "query", 5, "ndcg", "queries of one document: it returns 1"),
    (equal_scores, "query", 5, "ndcg", "queries whose scores are all equal: it returns 0"),
    (float16_scores, "query", 5, "ndcg", "scores in float16"),
    (rounded_scores, "query", 5, "ndcg", "scores rounded to 2 decimals"),
    (one_query, "queries", 5, "ndcg", "all rows taken as one query"),
    (geometric_mean, "queries", None, "ndcg", "the geometric mean"),
    (ranks_from_2, "query", 10, "rr", r"counts 1/\(rank \+ 1\)"),
    (mrr_as_ndcg, "query", 10, "ndcg", "it computes rr, not ndcg"),
    (two_rows, "query", 5, "ndcg", "queries of at most 2 rows: it returns 1"),
    (squared_discounts, "query", 5, "ndcg", r"1/log2\(rank \+ 1\)\^2"),
]


@pytest.mark.long
@pytest.mark.parametrize(("function", "takes", "k", "measure", "pattern"), some(FUNCTIONS, 3))
def test_a_function_written_from_the_page_is_named_at_the_first_call(function, takes, k, measure, pattern):
    report = ra.audit.probe(function, takes=takes, k=k, measures=measure)
    assert re.search(pattern, report.explanation or str(report.convention))
