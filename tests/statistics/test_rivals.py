"""Rivals have the values of programs with the mistake, computed here by plain loops, and reports name them."""

from __future__ import annotations

import re
from functools import cache
from math import exp, log, log2

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.statistics.rivals import (
    CHANGED_NUMBERS,
    FACTORS,
    OurNumber,
    changed_columns,
    changed_formulas,
    changed_means,
    changed_values,
    different_divisors,
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


def hits(labels, scores, k=5):
    return relevant_ranks(labels, scores, k).size


def n_relevant(labels, _):
    return np.count_nonzero(labels)


def reciprocal_rank(labels, scores, shift=0):
    ranks = relevant_ranks(labels, scores)
    return 1 / (ranks[0] + shift) if ranks.size else 0.0


def mean_of(function, keep):
    """Return the mean over those queries for which `keep` holds, and the sum of their values by all queries."""
    values = [function(labels, scores) for labels, scores in PER_QUERY if keep(labels, scores)]
    return np.mean(values), sum(values) / len(PER_QUERY)


def unequal_labels(labels, _):
    return labels.min() < labels.max()


N_EQUAL = sum(not unequal_labels(*query) for query in PER_QUERY)
CAPPED, DCG = ra.parse(AP).replace(divisor="cutoff"), ra.parse("sklearn.dcg@5").replace(ties="input")
NUMBERS = [  # the convention, the words, and the number of a program with the mistake
    (NDCG_OF_0, "the value with the ideal DCG cut at 6", lambda: mean(
        lambda y, s: dcg(by_rank(y, s)) / (dcg(ideal(y), k=6) or 1))),
    (NDCG_OF_0, "the value with the DCG of all ranks over the ideal DCG cut at k=5", lambda: mean(
        lambda y, s: dcg(by_rank(y, s), k=99) / (dcg(ideal(y)) or 1))),
    (NDCG_OF_0, "the median of the queries' values, not their mean", lambda: np.median(
        [ndcg(*query) for query in PER_QUERY])),
    (NDCG_OF_0, "the sum of the queries' values by the number of rows", lambda: total(ndcg) / LABELS.size),
    (NDCG_OF_0, "ours with every query's value divided by log e of 2, as other logarithms do", lambda: (
        mean(ndcg) / log(2))),
    (NDCG_OF_0, "ours with every query's value multiplied by log e of 2, as other logarithms do", lambda: (
        mean(ndcg) * log(2))),
    (NDCG_OF_0, "the value without the queries of value 0", lambda: np.mean(values_above_0())),
    (NDCG_OF_0, f"the value without the {N_EQUAL} queries whose labels are all equal", lambda: (
        mean_of(ndcg, unequal_labels)[0])),
    (NDCG_OF_0, f"the value with 0 for the {N_EQUAL} queries whose labels are all equal", lambda: (
        mean_of(ndcg, unequal_labels)[1])),
    (NDCG_OF_0, "the value with every query weighed by its number of rows", lambda: (
        total(lambda y, s: ndcg(y, s) * y.size) / LABELS.size)),
    (DCG, f"the value without the {N_EQUAL} queries with nothing relevant", lambda: (
        mean_of(lambda y, s: dcg(by_rank(y, s)), lambda y, _: y.max() > 0)[0])),
    (AP, "the value with every relevant row counted twice among the judgments", lambda: mean(
        lambda y, s: precisions(y, s) / max(2 * n_relevant(y, s), 1))),
    (CAPPED, "the value with every relevant row counted twice among the judgments", lambda: mean(
        lambda y, s: precisions(y, s) / min(max(2 * n_relevant(y, s), 1), 5))),
    (RECALL, "the value with every relevant row counted twice among the judgments", lambda: mean(
        lambda y, s: hits(y, s) / max(2 * n_relevant(y, s), 1))),
    (RECALL, "the value with every row twice in the ranking, but once among the judgments", lambda: mean(
        lambda y, s: hits(np.repeat(y, 2), np.repeat(s, 2)) / max(n_relevant(y, s), 1))),
    (PRECISION, "the hits of all queries divided by the sum of min(k, R)", lambda: (
        total(hits) / total(lambda y, s: min(n_relevant(y, s), 5)))),
    ("ranx.mrr@5", "the value of the last relevant row taken for the first", lambda: mean(
        lambda y, s: 1 / relevant_ranks(y, s)[-1] if hits(y, s) else 0)),
    ("ranx.mrr@5", "the value where the first relevant row counts 1/(rank + 1)", lambda: mean(
        lambda y, s: reciprocal_rank(y, s, 1))),
]  # fmt: skip


@pytest.mark.parametrize(("convention", "text", "number"), NUMBERS, ids=[text for _, text, _ in NUMBERS])
def test_a_rival_has_the_number_of_a_plain_loop(convention, text, number):
    assert values_under(str(convention))[text] == pytest.approx(number(), rel=1e-12)


@cache
def values_under(convention):
    return texts_of(OurNumber.of(QUERIES, SCORES, ra.parse(convention)))


def numbers_in(pattern, rivals):
    return [int(match[1]) for text, *_ in rivals if (match := re.search(pattern, text))]


def of_queries(n_queries, convention="letor4.p@1"):
    return OurNumber.of(ra.Queries([1, 0] * n_queries, group_sizes=[2] * n_queries), SCORES_OF_TWO[: 2 * n_queries],
                        ra.parse(convention))  # fmt: skip


SCORES_OF_TWO = RNG.permutation(2 * 1027) / 1.0


def test_rivals_are_tried_with_these_numbers():
    assert numbers_in(r"rounded to (\d+) decimals", changed_columns(QUERIES, SCORES)) == [1, 2, 3, 4, 5, 6]
    assert numbers_in(r"divided by (\d+) instead of 3", different_divisors(of_queries(3))) == [1, 2, 3, 4, 5, 6]
    assert numbers_in(r"divided by (\d+) instead of 1", different_divisors(of_queries(1))) == [1, 2, 3, 4]
    for k, cuts in {1: [2], 2: [1, 3], 5: [4, 6]}.items():
        assert numbers_in(r"ideal DCG cut at (\d+)", changed_values(of_queries(3, f"ranklib@{k}"))) == cuts


def test_programs_change_a_value_in_these_ways():
    changed = {text: 0.25 * factor + offset for text, (factor, offset) in (CHANGED_NUMBERS | FACTORS).items()}
    assert changed == {
        "ours as a percentage": 25, "ours with the other sign": -0.25, "1 - ours": 0.75, "twice ours": 0.5,
        "half of ours": 0.125,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("qid", "sizes_by_order"),
    [
        ("bbaccc", {"from the largest": [3, 2, 1], "in the order of their ids": [1, 2, 3]}),
        ("aaabbc", {}),
        (
            "babccc",
            {
                "in the order in which they appear": [2, 1, 3],
                "from the largest": [3, 2, 1],
                "in the order of their ids": [1, 2, 3],
            },
        ),
    ],
)
def test_the_sizes_of_the_queries_are_laid_over_the_rows_in_every_other_order(qid, sizes_by_order):
    changes = changed_columns(ra.Queries([1, 0, 0, 1, 0, 1], qid=list(qid)), np.arange(6.0))
    found = {text: np.diff(queries.indptr).tolist() for text, queries, _ in changes if "of the sizes of" in text}
    text = "the value of the sizes of the queries, {}, laid over rows that are not in that order"
    assert found == {text.format(order): sizes for order, sizes in sizes_by_order.items()}


@pytest.mark.parametrize(("qid", "tried"), [([0, 0, 1, 1], False), ([0, 1, 0, 1], True)])
def test_runs_of_rows_are_taken_for_queries_only_if_a_query_has_several(qid, tried):
    texts = [text for text, *_ in changed_columns(ra.Queries([1, 0, 1, 0], qid=qid), np.arange(4.0))]
    assert any("every run of rows of one query" in text for text in texts) is tried


@pytest.mark.parametrize(("label", "tried"), [(0.0, True), (-0.5, False)])
def test_values_below_0_have_no_geometric_mean(label, tried):
    number = OurNumber.of(ra.Queries([1, label], group_sizes=[1, 1]), np.ones(2), ra.parse("sklearn.dcg@1"))
    assert any("the geometric mean" in text for text, _ in changed_means(number)) is tried


@pytest.mark.parametrize(("judged", "tried"), [([False, True, True], True), ([True, True, False], False)])
def test_rows_with_their_querys_id_are_left_out_only_if_every_query_keeps_a_row(judged, tried):
    queries = ra.Queries([1, 0, 1], qid=["a", "a", "b"], docid=["a", "x", "b"], judged=judged)
    texts = [text for text, *_ in changed_columns(queries, np.arange(3.0))]
    assert any("as BEIR evaluates" in text for text in texts) is tried


@pytest.mark.parametrize(
    ("n_queries", "sizes"),
    [
        (2, []),
        (3, [2]),
        (8, []),
        (64, [10, 20, 50]),
        (1027, [2, 4, 8, 10, 16, 20, 32, 50, 64, 100, 128, 256, 500, 512, 1000, 1024]),
    ],
)
def test_batches_that_leave_a_smaller_one_are_tried(n_queries, sizes):
    assert numbers_in(r"batches of (\d+) queries", changed_means(of_queries(n_queries))) == sizes


@pytest.mark.parametrize(("labels", "tried"), [([0, 16], True), ([0, 17], False), ([-1, 2], False), ([0, 0.5], False)])
def test_gains_of_2_to_the_label_are_tried_for_grades(labels, tried):
    [*texts] = [text for text, _ in other_conventions(ra.parse("ranklib@5"), np.array(labels, float))]
    assert any("the gains 2^label" in text for text in texts) is tried


def test_a_score_of_negative_0_is_above_all_scores_below_0():
    scores = np.array([0.0, -0.0, -1e-30, -5.0])
    changed = {text: scores for text, _, scores in changed_columns(ra.Queries([0, 1, 2, 3], group_sizes=[4]), scores)}
    order = np.argsort(-changed["the value with a score of -0.0 below one of 0.0, as in an order of their bits"])
    assert order.tolist() == [0, 1, 2, 3]


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
