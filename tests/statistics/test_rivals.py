"""Rivals have the values of programs with the mistake, computed here by plain loops, and reports name them."""

from __future__ import annotations

import re
from math import exp, log, log2

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.statistics.rivals import (
    OurNumber,
    changed_columns,
    changed_formulas,
    changed_means,
    other_conventions,
)

RNG = np.random.default_rng(3)
SIZES = RNG.integers(2, 12, 37)
LABELS = np.where(RNG.random(SIZES.sum()) < 0.6, RNG.integers(1, 4, SIZES.sum()), 0).astype(float)
SCORES = RNG.permutation(SIZES.sum()) / 100
QUERIES = ra.Queries(LABELS, group_sizes=SIZES)
PER_QUERY = list(zip(np.split(LABELS, np.cumsum(SIZES)[:-1]), np.split(SCORES, np.cumsum(SIZES)[:-1]), strict=True))


def dcg(gains, discounts=lambda rank: 1 / log2(rank + 1), k=5):
    return sum(gain * discounts(rank) for rank, gain in enumerate(gains[:k], 1))


def by_rank(labels, scores):
    return labels[np.argsort(-scores)]


def ideal(labels):
    return np.sort(labels)[::-1]


def ndcg(labels, scores, *, ranked=by_rank, ideal=ideal, **options):
    divisor = dcg(ideal(labels), **options)
    return dcg(ranked(labels, scores), **options) / divisor if divisor else 0.0


def relevant_ranks(labels, scores, k=5):
    return np.flatnonzero(by_rank(labels, scores)[:k] > 0) + 1


def precisions(labels, scores):
    return sum(hit / rank for hit, rank in enumerate(relevant_ranks(labels, scores), 1))


def mean(function):
    return float(np.mean([function(labels, scores) for labels, scores in PER_QUERY]))


def total(function):
    return sum(function(labels, scores) for labels, scores in PER_QUERY)


def one_argsort(labels, scores):
    ranks = np.argsort(-scores) + 1
    divisor = dcg(ideal(labels))
    return sum(gain / log2(rank + 1) for gain, rank in zip(labels, ranks, strict=True) if rank <= 5) / (divisor or 1)


def ranked_twice(labels, scores):
    return dcg(np.repeat(by_rank(labels, scores), 2)) / (dcg(ideal(labels)) or 1)


def batches(size):
    values = [ndcg(*query) for query in PER_QUERY]
    return float(np.mean([np.mean(values[start : start + size]) for start in range(0, len(values), size)]))


def values_above_0():
    return [value for value in (ndcg(*query) for query in PER_QUERY) if value > 0]


AP, RECALL, PRECISION = "haystack.map@5", "haystack.recall@5", "letor4.p@5"
NDCG_OF_0 = ra.parse("sklearn@5").replace(ties="input", average="uniform")
PLANTED = {  # the convention, the number of a program with the mistake, and the words
    "ratio of NDCG": (
        NDCG_OF_0, lambda: total(lambda y, s: dcg(by_rank(y, s))) / total(lambda y, _: dcg(ideal(y))), "of the ideal",
    ),
    "ratio of AP": (
        AP, lambda: total(precisions) / total(lambda y, _: (y > 0).sum()), "of the precisions at hits and of the",
    ),
    "ratio of recall": (
        RECALL, lambda: total(lambda y, s: relevant_ranks(y, s).size) / (LABELS > 0).sum(), "pool='sums'",
    ),
    "geometric": (NDCG_OF_0, lambda: exp(np.mean(np.log(values_above_0()))), "the geometric mean of the queries'"),
    "floored": (
        NDCG_OF_0, lambda: exp(mean(lambda y, s: log(max(ndcg(y, s), 1e-5)))), "those below 1e-05 counting as that",
    ),
    "batches of 8": (NDCG_OF_0, lambda: batches(8), "the mean of the means of batches of 8 queries"),
    "gains without - 1": (
        NDCG_OF_0.replace(gain="exp2"), lambda: mean(lambda y, s: ndcg(2**y, s)), "the gains 2^label, without - 1",
    ),
    "ln capped": (
        NDCG_OF_0, lambda: mean(lambda y, s: ndcg(y, s, discounts=lambda rank: 1 / max(1, log(rank)))),
        "1 up to rank 2 and 1/ln(rank) from rank 3 on",
    ),
    "shifted": (
        NDCG_OF_0, lambda: mean(lambda y, s: ndcg(y, s, discounts=lambda rank: 1 / log2(rank + 2))), "1/log2(rank + 2)",
    ),
    "squared": (
        NDCG_OF_0, lambda: mean(lambda y, s: ndcg(y, s, discounts=lambda rank: 1 / log2(rank + 1) ** 2)),
        "1/log2(rank + 1)^2",
    ),
    "DCG by log 10": (
        ra.parse("sklearn.dcg@5").replace(ties="input"),
        lambda: mean(lambda y, s: dcg(by_rank(y, s), lambda rank: log(10) / log(rank + 1))), "discount='log_10'",
    ),
    "one argsort": (NDCG_OF_0, lambda: mean(one_argsort), "one argsort taken for the ranks, descending"),
    "judged twice": (
        NDCG_OF_0, lambda: mean(lambda y, s: ndcg(y, s, ideal=lambda y: np.repeat(ideal(y), 2))), "judgment twice",
    ),
    "ranked twice": (NDCG_OF_0, lambda: mean(ranked_twice), "every row twice in the ranking"),
    "AP by k": (AP, lambda: mean(lambda y, s: precisions(y, s) / 5), "always divided by k=5"),
    "rows as queries": (PRECISION, lambda: (LABELS > 0).mean() / 5, "every row taken for a query of its own"),
    "hit rate": (RECALL, lambda: mean(lambda y, s: relevant_ranks(y, s).size > 0), "success@5, or hit rate"),
    "MRR": (
        NDCG_OF_0, lambda: mean(lambda y, s: 1 / relevant_ranks(y, s)[0] if relevant_ranks(y, s).size else 0), "rr@5",
    ),
    "recall as precision": (
        PRECISION, lambda: mean(lambda y, s: relevant_ranks(y, s).size / max((y > 0).sum(), 1)), "of recall@5",
    ),
    "NDCG as MAP": (AP, lambda: mean(ndcg), "of ndcg@5"),
}  # fmt: skip


def texts_of(our_number):
    """Return the values of all rivals by their texts."""
    changed = {
        text: our_number.changed(queries=queries, scores=scores)
        for text, queries, scores in changed_columns(our_number.queries, our_number.scores)
    }
    others = other_conventions(our_number.convention, our_number.queries.labels)
    changed |= {text: our_number.changed(convention=convention) for text, convention in others}
    return changed | dict(changed_formulas(our_number)) | dict(changed_means(our_number))


@pytest.mark.parametrize("name", PLANTED)
def test_check_value_names_what_a_program_computes_instead(name):
    convention, value, text = PLANTED[name]
    number = value()
    [row] = ra.parity.check_value(QUERIES, SCORES, convention, value=number).rows
    assert text in row.reason
    assert "by chance" not in row.reason


def test_a_rival_has_the_value_of_the_program_with_the_mistake():
    values = texts_of(OurNumber.of(QUERIES, SCORES, NDCG_OF_0))
    assert values["the mean of the means of batches of 16 queries"] == pytest.approx(batches(16))
    assert values["the value with the ideal DCG cut at 4"] == pytest.approx(
        mean(lambda y, s: dcg(by_rank(y, s)) / (dcg(ideal(y), k=4) or 1))
    )
    hits = texts_of(OurNumber.of(QUERIES, SCORES, ra.parse("letor4.p@2")))
    text = "the value with every query's share rounded down to a whole number, as // does"
    assert hits[text] == pytest.approx(mean(lambda y, s: relevant_ranks(y, s, 2).size // 2))


def test_a_rival_with_a_detail_of_scores_or_rows_has_the_value_of_the_program():
    scores = SCORES * 1e4 + 0.01  # their texts are in another order, and the largest have more than 6 digits
    scores[:2] = 0.0, -0.0
    values = texts_of(OurNumber.of(QUERIES, scores, NDCG_OF_0))
    by_query = list(zip(np.split(LABELS, np.cumsum(SIZES)[:-1]), np.split(scores, np.cumsum(SIZES)[:-1]), strict=True))

    def changed(change):
        return pytest.approx(float(np.mean([ndcg(*change(y, s)) for y, s in by_query])))

    written = {s: i for i, s in enumerate(sorted({f"{score:.6g}" for score in scores}))}
    texts = changed(lambda y, s: (y, np.array([written[f"{score:.6g}"] + 1e-9 * -i for i, score in enumerate(s)])))
    assert values["the value of the scores compared as texts of 6 digits"] == texts
    digits = changed(lambda y, s: (y, np.array([float(f"{score:.6g}") - 1e-9 * i for i, score in enumerate(s)])))
    assert values["the value of the scores rounded to 6 digits"] == digits
    assert values["the value without the last row of each query"] == changed(lambda y, s: (y[:-1], s[:-1]))
    negative = changed(lambda y, s: (y, s - 1e-9 * (np.signbit(s) & (s == 0))))
    text = "the value with a score of -0.0 below one of 0.0, as in an order of their bits"
    assert values[text] == negative


def test_another_measure_is_tried_as_declared_with_empty_queries_as_0_and_with_all_rows():
    declared = ra.parse(AP).replace(retrieve="from_0", empty=1)
    others = [other for text, other in other_conventions(declared, LABELS) if text.startswith("the value of rr@5,")]
    assert [(other.empty, other.retrieve) for other in others] == [(1, "from_0"), (0, "from_0"), (0, "all")]


@pytest.mark.parametrize(
    ("ids", "orders"),
    [
        (None, []),
        (np.arange(SIZES.size), []),
        (-np.arange(SIZES.size), ["labels sorted", "scores sorted"]),
        (np.arange(SIZES.size) % 36, ["labels grouped", "scores grouped", "labels sorted", "scores sorted"]),
    ],
)
def test_only_an_order_in_which_the_rows_are_not_is_a_rival(ids, orders):
    columns = {"group_sizes": SIZES} if ids is None else {"qid": np.repeat(ids, SIZES)}
    texts = "\n".join(text for text, *_ in changed_columns(ra.Queries(LABELS, **columns), SCORES))
    assert re.findall(r"the value of the (\w+ \w+) by query,", texts) == orders


@pytest.mark.long
@pytest.mark.parametrize("measure", ["ndcg", "ap"])
def test_identify_names_a_number_of_another_measure(measure):
    number = f"{mean(lambda y, s: relevant_ranks(y, s).size > 0):.6f}"
    matches = ra.audit.identify(QUERIES, SCORES, value=number, measure=measure, k=5)
    assert any("success@k, or hit rate, another measure" in str(match) for match in matches)


COARSE = {"lightgbm@5": 4, "ranx.recall@1": 4, "letor4.p@5": 3}  # and the decimals of random numbers


@pytest.mark.long
@pytest.mark.parametrize("name", COARSE)
def test_at_most_a_twentieth_of_random_numbers_has_a_cause_without_a_doubt(name):
    ours, rng, sure = ra.evaluate(QUERIES, SCORES, name).value, np.random.default_rng(0), 0
    for number in rng.uniform(max(0.02, ours - 0.25), min(1, ours + 0.25), 200 // len(COARSE)):
        text = f"{number:.{COARSE[name]}f}"
        [row] = ra.parity.check_value(QUERIES, SCORES, name, value=text).rows
        doubts = ("perhaps by chance", "none of the changes", "tied rows in another order", "it is within")
        sure += row.verdict != "equal" and not any(doubt in row.reason for doubt in doubts)
    assert sure <= 200 // len(COARSE) / 20
