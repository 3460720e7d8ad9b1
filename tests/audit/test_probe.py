"""`ra.audit.probe` identifies the convention of a function, and attributes no convention to a function with a bug."""

from __future__ import annotations

import math
import random
from functools import partial

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.measures import MEASURES
from rankadapters.statistics.grid import has_cutoff, values_to_search
from tests.helpers.own_ndcg import by_rank, ndcg
from tests.helpers.parameters import long_except, some

LOSSES = {"pair-logit", "query-rmse", "query-soft-max", "query-cross-entropy"}
MEASURES_WITHOUT_LOSSES = [name for name in MEASURES if name not in LOSSES]


def as_function(convention, takes):
    """Return a function that evaluates the convention, with the signature that `takes` asks for."""

    def function(labels, scores, queries=None):
        sizes = [len(labels)] if takes == "query" else queries
        return ra.evaluate(labels, scores, convention, **{"qid" if takes == "queries" else "group_sizes": sizes}).value

    return function


def random_convention(draw, measure, k):
    grid = values_to_search(MEASURES[measure], ra.Queries([1, 0], group_sizes=[2]))
    while True:
        fields = {name: draw.choice(values) for name, values in grid.items()}
        if has_cutoff(MEASURES[measure]):
            fields["k"] = k
        try:
            return MEASURES[measure](**fields)
        except ra.ConventionError:
            continue


def random_data(draw, n_queries):
    """Return random labels, scores and sizes, unlike those of the probe."""
    sizes = [draw.randint(1, 9) for _ in range(n_queries)]
    labels = [draw.choice([0, 0, 1]) for _ in range(sum(sizes))]
    return labels, [draw.choice([0.5, 0.6, 0.7, 0.7 + 1e-9, -0.5]) for _ in labels], sizes


def value(convention, labels, scores, sizes):
    try:
        return ra.evaluate(labels, scores, convention, group_sizes=sizes).value
    except ra.InputError:
        return None


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")
@pytest.mark.parametrize("measure", some(MEASURES_WITHOUT_LOSSES, 2))
def test_the_convention_of_a_random_function_is_identified(measure):
    for takes in ("query", "queries" if MEASURES_WITHOUT_LOSSES.index(measure) % 2 else "groups"):
        draw = random.Random(f"{measure} {takes}")
        k = random.Random(f"{measure} {takes == 'query'}").choice([None, 3])  # each cutoff takes seconds
        convention = random_convention(draw, measure, k)
        function, k = as_function(convention, takes), getattr(convention, "k", None)
        report = ra.audit.probe(function, takes=takes, k=k, measures=measure)
        assert report.convention is not None, convention
        for _ in range(30):
            data = random_data(draw, 1 if takes == "query" else 4)
            expected = value(convention, *data)
            if expected is not None:
                assert value(report.convention, *data) == pytest.approx(expected, abs=1e-9), (convention, data)


@pytest.mark.long
@pytest.mark.parametrize("text", ["textbook@1", "textbook@all", "lightgbm.map@100"])
def test_an_unknown_cutoff_is_identified(text):
    convention = ra.parse(text)
    report = ra.audit.probe(as_function(convention, "query"), takes="query", k="unknown", measures=convention.measure)
    assert report.convention.k == convention.k


# Functions of one query that are wrong.


def dcg(labels, scores, k=5):
    return float((2.0 ** by_rank(labels, scores)[:k] - 1) @ (1 / np.log2(np.arange(min(k, labels.size)) + 2)))


def ndcg_of_shared_ranks(labels, scores):
    """Return the NDCG of ranks as `scipy.stats.rankdata(-scores, method="average")` gives them."""
    ranks = np.array([np.sum(scores > score) + (np.sum(scores == score) + 1) / 2 for score in scores])
    ideal = dcg(labels, labels, k=labels.size)
    return float(((2.0**labels - 1) / np.log2(ranks + 1)).sum() / ideal) if ideal else 0.0


def unstable_ndcg(labels, scores):
    if labels.size <= 16:
        return ndcg(labels, scores)
    order = np.random.default_rng(labels.size).permutation(labels.size)
    return ndcg(labels[order], scores[order])


class StatefulFunction:
    """A function whose result depends on the values of all its calls."""

    def __init__(self, result):
        self.result, self.values = result, []

    def __call__(self, labels, scores):
        self.values.append(ndcg(labels, scores))
        return self.result(self.values)


def raise_error(labels, scores):
    raise ZeroDivisionError


WRONG_NDCG = {  # function, and a part of the explanation; "" if there is none
    "shifted discounts": (partial(ndcg, discounts={rank: 1 / math.log2(rank + 2) for rank in range(1, 6)}),
                          "its discount is 1/log2(rank + 2)"),
    "percentages": (lambda y, s: 100 * ndcg(y, s), "the value as a percentage"),
    "a percentage of 2 decimals": (
        lambda y, s: round(100 * ndcg(y, s), 2), "as a percentage, and it rounds to 2 decimals",
    ),
    "loss": (lambda y, s: 1 - ndcg(y, s), "1 - the value"),
    "negative": (lambda y, s: -ndcg(y, s), "the value with the other sign"),
    "half": (lambda y, s: ndcg(y, s) / 2, "0.5 times the value"),
    "off by a share": (lambda y, s: ndcg(y, s) * (1 + 3e-8), "1.00000003 times the value"),
    "8 decimals": (lambda y, s: round(ndcg(y, s), 8), "it rounds to 8 decimals"),
    "swapped": (lambda y, s: ndcg(s, y), "labels and scores swapped"),
    "ascending": (lambda y, s: ndcg(y, -s), "the scores negated"),
    "no scores": (lambda y, s: ndcg(y, -np.arange(y.size)), "the scores ignored"),
    "unstable sort": (unstable_ndcg, "it has an order of tied rows that no value of `ties` has"),
    "DCG": (dcg, "it computes dcg, not ndcg"),
    "off by 1e-8": (lambda y, s: ndcg(y, s) + 1e-8, ""),
    "a row is lost": (lambda y, s: ndcg(y[:-1], s[:-1]), "the value without the last row of each query"),
    "0 for k rows and fewer": (lambda y, s: ndcg(y, s) if y.size > 5 else 0.0, "rows"),
    "0 for exactly k rows": (
        lambda y, s: ndcg(y, s) if y.size != 5 else 0.0, "as many rows as the cutoff: it returns 0",
    ),
    "absolute scores": (lambda y, s: ndcg(y, np.abs(s)), "scores of 0 and below"),
    "scores of 3 decimals": (lambda y, s: ndcg(y, np.round(s, 3)), "the scores rounded to 3 decimals"),
    "whole labels": (lambda y, s: ndcg(y.astype(int), s, gain=np.copy), "cuts fractional labels"),
    "labels rounded up": (lambda y, s: ndcg(np.ceil(y), s), "rounds fractional labels up"),
    "an ideal list of k - 1": (partial(ndcg, ideal_k=4), "its ideal list is cut at 4"),
    "an ideal list of k + 1": (partial(ndcg, ideal_k=6), "its ideal list is cut at 6"),
    "a larger ideal DCG": (lambda y, s: dcg(y, s) / (dcg(y, y) + 1e-6), "it adds 1e-06 to the ideal DCG"),
    "1 for one document": (lambda y, s: ndcg(y, s) if y.size > 1 else 1.0, "queries of one document: it returns 1"),
    "0.3 for 7 to 9 rows": (lambda y, s: ndcg(y, s) if not 7 <= y.size <= 9 else 0.3, "row counts 0.3 at each rank"),
    "-1 for empty queries": (lambda y, s: ndcg(y, s) if y.max() > 0 else -1.0, "nothing relevant"),
    "only the first 20 rows": (lambda y, s: ndcg(y[:20], s[:20]), "queries of more than 16 rows"),
    "a number for one document only": (lambda y, s: 1.0 if y.size == 1 else None, ""),
    "random": (lambda y, s: ndcg(y, s) + random.random() / 100, "not deterministic"),
    "running mean": (StatefulFunction(np.mean), "not deterministic"),
    "the value before": (StatefulFunction(lambda values: values[max(len(values) - 2, 0)]), "not deterministic"),
    "every third call is off": (StatefulFunction(lambda v: v[-1] + 0.01 * (len(v) % 3 == 0)), "not deterministic"),
    "tires": (StatefulFunction(lambda values: values[-1] if len(values) < 5 else 0.5), "not deterministic"),
    "raises": (raise_error, ""),
    "None": (lambda y, s: None, ""),
    "NaN": (lambda y, s: math.nan, ""),
    "list": (lambda y, s: [ndcg(y, s)] * 2, ""),
    "text": (lambda y, s: f"{ndcg(y, s):.4f}", ""),
    "infinite": (lambda y, s: math.inf, ""),
    "constant": (lambda y, s: 0.5, "it returns 0.5 for all data"),
}  # fmt: skip


def reciprocal_rank(labels, scores, k, shift=1):
    hits = np.flatnonzero(by_rank(labels, scores)[:k] > 0)
    return 1 / (hits[0] + shift) if hits.size else 0.0


def recall(labels, scores, *, most=math.inf):
    return float(np.sum(by_rank(labels, scores)[:5] > 0) / max(min(np.sum(labels > 0), most), 1))


def precision_of_ties(labels, scores, k=5):
    """Return the precision over all rows whose score is not below the k-th highest."""
    threshold = np.sort(scores)[::-1][min(k, scores.size) - 1]
    return float(np.mean(labels[scores >= threshold] > 0))


def average_precision(labels, scores, divisor):
    relevant = by_rank(labels, scores)[:5] > 0
    precisions = np.cumsum(relevant) / np.arange(1, relevant.size + 1)
    return float(precisions[relevant].sum() / divisor) if divisor else 0.0


def err_by_query(labels, scores, k=5):
    """Return an ERR whose gains are divided by 2 to the power of the query's highest label."""
    err, not_found = 0.0, 1.0
    for rank, label in enumerate(by_rank(labels, scores)[:k], 1):
        found = (2.0**label - 1) / 2.0 ** labels.max()
        err, not_found = err + not_found * found / rank, not_found * (1 - found)
    return err


WRONG = {  # function, measure, k, and a part of the explanation
    **{name: (function, "ndcg", 5, explanation) for name, (function, explanation) in WRONG_NDCG.items()},
    "shared ranks": (ndcg_of_shared_ranks, "ndcg", None, "tied rows share a rank"),
    "squared": (lambda y, s: ndcg(y, s, 10**6) ** 2, "ndcg", None, "1/log2(rank + 1)^2"),
    "ERR by query": (err_by_query, "err", 5, "divided by 2^(the query's highest label)"),
    "precision of ties": (precision_of_ties, "precision", 5, "tied rows share a rank"),
    "recall of 4 decimals": (lambda y, s: round(recall(y, s), 4), "recall", 5, "it rounds to 4 decimals"),
    "recall of 2 decimals": (lambda y, s: round(recall(y, s), 2), "recall", 5, "it rounds to 2 decimals"),
    "success": (lambda y, s: float(recall(y, s) > 0), "recall", 5, "it computes success, not recall"),
    "capped recall": (
        partial(recall, most=5),
        "recall",
        5,
        "it computes precision with the divisor min(k, R), or capped recall, not recall",
    ),
    "RR@19": (partial(reciprocal_rank, k=19), "rr", 20, "its cutoff is 19"),
    "RR@21": (partial(reciprocal_rank, k=21), "rr", 20, "its cutoff is 21"),
    "RR whose ranks begin with 2": (partial(reciprocal_rank, k=None, shift=2), "rr", None, "counts 1/(rank + 1)"),
    "AP divided by the cutoff": (
        partial(average_precision, divisor=5),
        "ap",
        5,
        "the sum of the precisions always divided by k=5",
    ),
    "DCG@4": (partial(dcg, k=4), "dcg", 5, "its cutoff is 4"),
}
MOST_CALLS, MOST_CALLS_IF_REFUSED = 300, 350  # of a function without a convention, and of one that refuses data


SHORT_NAMES = ["percentages", "raises", "negative"]


@pytest.mark.parametrize("name", long_except(dict.fromkeys([*SHORT_NAMES, *some(WRONG, 2)]), *SHORT_NAMES))
def test_a_wrong_function_gets_no_convention_but_an_explanation(name):
    function, measure, k, explanation = WRONG[name]

    def of_two(labels, scores):  # the function may have a parameter k
        return function(labels, scores)

    report = ra.audit.probe(of_two, takes="query", k=k, measures=measure)
    assert report.convention is None
    assert report.calls <= (MOST_CALLS_IF_REFUSED if report.refused else MOST_CALLS)
    assert explanation in report.explanation
    assert bool(explanation) == bool(report.explanation)
    if "deterministic" in explanation:
        assert report.example is None  # the next call may return a different value
    elif report.example is not None:
        assert report.example.value != pytest.approx(report.example.expected, abs=1e-9)


@pytest.mark.long
@pytest.mark.parametrize(
    ("wrong", "explained"),
    [
        (lambda labels: True, True),
        (lambda labels: labels[0] > 0, True),  # of 10 of the 16 cases
        (lambda labels: labels.sum() % 2, False),  # of 8
    ],
    ids=["all", "most", "half"],
)
def test_a_special_rule_for_several_relevant_rows_explains_a_function_that_is_wrong_for_most_of_them(wrong, explained):
    convention = ra.presets.textbook(5).replace(short="skip", empty="skip")

    def function(labels, scores):
        is_wrong = (labels > 0).sum() > 1 and wrong(labels)
        right = ra.evaluate(labels, scores, convention, group_sizes=[labels.size]).value
        return abs(math.sin(1000 * labels @ scores)) if is_wrong else right

    explanation = ra.audit.probe(function, takes="query", k=5, measures="ndcg").explanation
    assert explanation == ("it has a special rule for queries with several relevant rows" if explained else "")


SPECIAL_RULES = {  # text, and the queries
    "queries of one document": lambda y, s: y.size == 1,
    "queries with fewer rows than the cutoff": lambda y, s: y.size < 5,
    "queries with as many rows as the cutoff": lambda y, s: y.size == 5,
    "queries with one row more than the cutoff": lambda y, s: y.size == 6,
    "queries of more than 16 rows": lambda y, s: y.size > 16,
    "scores of 0 and below": lambda y, s: s.min() <= 0,
    "queries whose scores are all equal": lambda y, s: y.size > 1 and np.ptp(s) == 0,
}


@pytest.mark.parametrize("text", long_except(SPECIAL_RULES, "queries with one row more than the cutoff"))
def test_a_special_rule_explains_though_some_of_its_queries_have_the_right_value(text):
    def function(labels, scores):
        return 1.0 if SPECIAL_RULES[text](labels, scores) else reciprocal_rank(labels, scores, 5)

    explanation = ra.audit.probe(function, takes="query", k=5, measures="rr").explanation
    returned = "" if text.endswith("all equal") else ": it returns 1"
    assert explanation == f"it has a special rule for {text}{returned}"


@pytest.mark.parametrize("added", [1e-6, *(pytest.param(added, marks=pytest.mark.long) for added in (-1e-6, 0.099, 1))])
def test_what_a_function_adds_to_the_ideal_dcg_is_named_if_it_is_little(added):
    def function(labels, scores):
        return dcg(labels, scores) / (dcg(labels, labels) + added) if labels.any() else 0.0

    explanation = ra.audit.probe(function, takes="query", k=5, measures="ndcg").explanation
    assert explanation == (f"it adds {added} to the ideal DCG" if 0 < added < 0.1 else "")


WRONG_RANKS = [  # k, ranks of wrong values, and the explanation
    (5, {1}, "one relevant row counts 1.01, not 1, at rank 1"),
    (5, {2, 3}, "one relevant row counts 0.51, not 0.5, at rank 2, 0.343333, not 0.333333, at rank 3"),
    (5, {2, 3, 4}, ""),  # half of the measured ranks
    pytest.param(
        None,
        {2, 5, 8},
        "one relevant row counts 0.51, not 0.5, at rank 2, 0.21, not 0.2, at rank 5, 0.135, not 0.125, at rank 8",
        marks=pytest.mark.long,
    ),
]


@pytest.mark.parametrize(("k", "ranks", "explanation"), WRONG_RANKS)
def test_a_few_wrong_ranks_are_named(k, ranks, explanation):
    def function(labels, scores):
        value = reciprocal_rank(labels, scores, k)
        return value + 0.01 if value and round(1 / value) in ranks else value

    assert ra.audit.probe(function, takes="query", k=k, measures="rr").explanation == explanation


@pytest.mark.parametrize(
    ("factor", "text"),
    [
        (1, "it returns the value where the first relevant row counts 1/(rank + 1)"),
        (2, "one relevant row counts 1/(rank + 1) in proportion to rank 1"),
    ],
)
def test_a_wrong_formula_of_ranks_is_named(factor, text):
    def function(labels, scores):
        return factor * reciprocal_rank(labels, scores, 5, shift=2)

    assert ra.audit.probe(function, takes="query", k=5, measures="rr").explanation == text


@pytest.mark.parametrize(("k", "cutoff"), [(1, "1"), (254, "254"), (255, "all"), (None, "all")])
def test_another_cutoff_is_found_up_to_254_rows(k, cutoff):
    report = ra.audit.probe(lambda y, s: reciprocal_rank(y, s, k), takes="query", k=5, measures="rr")
    assert report.explanation == f"its cutoff is {cutoff}"


def per_query(labels, scores, group_sizes, function=ndcg):
    ends = np.cumsum(group_sizes)
    return [function(labels[end - n : end], scores[end - n : end]) for end, n in zip(ends, group_sizes, strict=True)]


def skipping(labels, scores, group_sizes, of_none=lambda _: 0.0):
    values = per_query(labels, scores, group_sizes, lambda y, s: ndcg(y, s) if y.any() else None)
    return float(np.mean([value for value in values if value is not None] or [of_none(labels)]))


def without_zeros(labels, scores, group_sizes, of_none=0.0):
    values = [value for value in per_query(labels, scores, group_sizes, partial(reciprocal_rank, k=5)) if value]
    return float(np.mean(values)) if values else of_none


WRONG_MEANS = {  # function, measure and explanation
    "sum": (lambda *data: sum(per_query(*data)), "ndcg", "the sum of the queries' values"),
    "one too few": (lambda y, s, n: sum(per_query(y, s, n)) / max(len(n) - 1, 1), "ndcg", "divided by one too few"),
    "one too many": (lambda y, s, n: sum(per_query(y, s, n)) / (len(n) + 1), "ndcg", "divided by one too many"),
    "last query": (lambda *data: per_query(*data)[-1], "ndcg", "the value of the last query"),
    "median": (lambda *data: float(np.median(per_query(*data))), "ndcg", "the median"),
    "geometric mean of at least 1e-5": (  # which changes the values of single queries, too
        lambda *data: float(np.exp(np.mean(np.log(np.maximum(per_query(*data), 1e-5))))), "ndcg",
        "the geometric mean of the queries' values, those below 1e-05 counting as that",
    ),
    "root of the mean square": (
        lambda *data: float(np.mean(np.square(per_query(*data, partial(reciprocal_rank, k=5)))) ** 0.5), "rr",
        "its value of a single query is right, but its mean over queries is not",
    ),
    "without the last query": (
        lambda *data: float(np.mean(per_query(*data)[:-1] or [0])), "ndcg", "without the last query",
    ),
    "without the last query of several": (
        lambda y, s, n: float(np.mean(per_query(y, s, n)[: max(len(n) - 1, 1)])), "ndcg", "without the last query",
    ),
    "0 if all queries are skipped": (
        skipping, "ndcg", "it leaves out queries that have no value, and returns 0 if no query is left",
    ),
    "the number of rows if all queries are skipped": (
        partial(skipping, of_none=len), "ndcg", "a special rule for queries with nothing relevant",
    ),
    "without zeros": (without_zeros, "rr", "it returns the value without the queries of value 0"),
    "without zeros, else NaN": (
        partial(without_zeros, of_none=math.nan), "rr", "it returns the value without the queries of value 0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", long_except(WRONG_MEANS, "geometric mean of at least 1e-5"))
def test_a_wrong_mean_over_queries_is_explained(name):
    function, measure, explanation = WRONG_MEANS[name]
    report = ra.audit.probe(function, takes="groups", k=5, measures=measure)
    assert report.convention is None
    assert explanation in report.explanation


def test_a_function_that_changes_its_input_has_a_fault():
    def sort_in_place(labels, scores):
        order = np.argsort(-scores, kind="stable")
        labels[:], scores[:] = labels[order], scores[order]
        return ndcg(labels, scores)

    assert "changes the arrays" in ra.audit.probe(sort_in_place, takes="query", k=5).faults[0]


# What the function refuses, and what it takes.


def test_a_function_that_never_returns_a_number_is_reported_once():
    report = ra.audit.probe(lambda y, s: ("ndcg", ndcg(y, s)), takes="query", k=5)
    assert [(refusal.what, refusal.problem) for refusal in report.refused] == [("all data", "returned a tuple")]


@pytest.mark.parametrize(
    ("highest", "taken"),
    [(2, "0, 1, 2"), pytest.param(1, "0, 1", marks=pytest.mark.long), pytest.param(4, None, marks=pytest.mark.long)],
)
def test_the_labels_that_a_function_takes_are_named(highest, taken):
    def up_to(labels, scores):
        if labels.max() > highest:
            raise ValueError("too high")
        return ra.evaluate(labels, scores, "yahoo@3", group_sizes=[labels.size]).value

    report = ra.audit.probe(up_to, takes="query", k=3)
    meanings = [refusal.meaning for refusal in report.refused if refusal.what == "labels up to 4"]
    assert meanings == ([] if taken is None else [f"it takes the labels {taken}"])


@pytest.mark.long
def test_labels_that_the_convention_also_refuses_are_not_reported():
    def letor4(labels, scores):
        if (labels % 1).any() or labels.min() < 0:
            raise ValueError("not a grade")
        return ra.evaluate(labels, scores, "letor4@3", group_sizes=[labels.size]).value

    report = ra.audit.probe(letor4, takes="query", k=3)
    assert "letor4@3" in report.presets
    assert report.refused == ()


@pytest.mark.long
def test_refused_queries_with_nothing_found_are_named():
    report = ra.audit.probe(lambda y, s: reciprocal_rank(y, s, 5) or None, takes="query", k=5, measures="rr")
    assert "nothing relevant up to the cutoff" in [refusal.what for refusal in report.refused]


@pytest.mark.long
def test_a_function_of_one_positive_is_asked_only_such_queries():
    def one_positive(labels, scores):
        if np.sum(labels) != 1 or labels.max() != 1:
            raise ValueError("exactly one positive item")
        rank = int(np.sum(scores > scores[labels == 1]))
        return 1 / math.log2(rank + 2) if rank < 10 else 0.0

    report = ra.audit.probe(one_positive, takes="query", k=10)
    meanings = [refusal.meaning for refusal in report.refused]
    assert "every query has to have exactly one relevant row" in meanings
    assert (report.convention.short, report.convention.discount) == ("pad", "log2")


@pytest.mark.long
def test_a_function_that_refuses_short_queries_leaves_the_field_short_undecided():
    def function(labels, scores):
        if labels.size < 5:
            raise ValueError("too few rows")
        return ndcg(labels, scores)

    report = ra.audit.probe(function, takes="query", k=5)
    assert report.convention.short == "pad"
    assert {"pad", "zero", "skip"} <= {*report.undecided["short"]}
    assert "fewer rows than the cutoff" in [refusal.what for refusal in report.refused]


RARE = {  # programs that are wrong by one rare detail, and a part of the explanation
    "0.0 after -0.0": (lambda y, s: ndcg(y, s + 1e-9 * ((s == 0) & np.signbit(s))), ""),
    "-0.0 below 0.0": (lambda y, s: ndcg(y, s - 1e-9 * ((s == 0) & np.signbit(s))), "-0.0 below one of 0.0"),
    "the first 100 rows": (lambda y, s: ndcg(y[:100], s[:100]), "rows or more"),
    "sigmoids": (lambda y, s: ndcg(y, 1 / (1 + np.exp(-np.clip(s, -700, 700)))), "the sigmoid of the scores"),
    "a cutoff of 1,000": (lambda y, s: ndcg(y, s, 10**6) if y.size < 1000 else 0.5, "rows or more"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", RARE)
def test_a_program_that_is_wrong_by_a_rare_detail_has_no_convention(name):
    function, text = RARE[name]
    report = ra.audit.probe(function, takes="query", k=None if "cutoff" in name else 5)
    assert report.convention is None
    assert report.explanation
    assert text in report.explanation


@pytest.mark.parametrize("labels", [(), (1,), (1, 1), (0, 0), (1, 2), (-1, 0), (-2, -1)])
def test_grades_without_a_relevant_and_an_irrelevant_one_are_refused(labels):
    with pytest.raises(ra.InputError, match=r"labels=\(.*\); allowed are two grades or more, one of them above 0"):
        ra.audit.probe(ndcg, takes="query", k=3, labels=labels)


@pytest.mark.long
@pytest.mark.parametrize("refusal", ["nan", "error"])
@pytest.mark.parametrize("name", long_except(["recall", "precision", "mrr", "map", "hit_rate"], "recall"))
def test_a_function_of_queries_may_refuse_empty_ones(name, refusal):
    convention = ra.parse(f"ranx.{name}@3").replace(ties="input", empty="error")

    def function(labels, scores, sizes):
        try:
            return ra.evaluate(labels, scores, convention, group_sizes=sizes).value
        except ra.InputError:
            if refusal == "error":
                raise
            return math.nan

    report = ra.audit.probe(function, takes="groups", k=3, measures=convention.measure, labels=(0, 1))
    assert report.convention is not None
    assert report.convention.empty == "error"


FORMS = {
    "lists": lambda y, s: ndcg(np.array(y), np.array(s)) if y and s else 0.0,
    "arrays of shape (1, n_docs)": lambda y, s: ndcg(y[0], s[0]) if y.ndim == 2 else y.shape[1],
}


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
def test_a_function_may_need_lists_or_arrays_of_two_dimensions(form):
    report = ra.audit.probe(FORMS[form], takes="query", k=5)
    assert report.convention.gain == "exp2"
    assert form in report.refused[0].meaning


def average_precision_at(recommended, relevant, k):
    hits, total = 0, 0.0
    for rank, item in enumerate(recommended[:k], 1):
        if item in relevant:
            hits += 1
            total += hits / rank
    return total / min(len(relevant), k) if relevant else 0.0


@pytest.mark.long
def test_a_function_of_items_receives_ids_and_the_cutoff():
    report = ra.audit.probe(average_precision_at, takes="items", k=5, measures="ap")
    labels, scores = [1, 0, 1, 0, 0, 1, 0, 1], [8.0, 7, 6, 5, 4, 3, 2, 1]
    expected = average_precision_at(list(range(8)), [0, 2, 5, 7], 5)
    assert ra.evaluate(labels, scores, report.convention, group_sizes=[8]).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.long
def test_a_function_of_a_ranking_receives_the_labels_by_rank():
    def ranked(relevances):
        return ndcg(np.asarray(relevances), -np.arange(len(relevances)), 10**6)

    report = ra.audit.probe(ranked, takes="ranked", k=None)
    assert (report.convention.gain, report.convention.ties, report.convention.empty) == ("exp2", "input", 0.0)
    assert "ranklib@all" in report.presets


def test_a_cutoff_that_the_function_needs_must_be_known():
    def cut_ndcg(labels, scores, k):
        return ndcg(labels, scores, k)

    with pytest.raises(ra.InputError, match="k='unknown'"):
        ra.audit.probe(cut_ndcg, takes="query", k="unknown")
    assert ra.audit.probe(cut_ndcg, takes="query", k=7).convention.k == 7


# What is measured.


@pytest.mark.long
@pytest.mark.parametrize("table", [[0, 1, 3.25, 7, 15], [0, 1, 3, 7.25, 15]])
def test_a_wrong_gain_is_measured(table):
    gains = np.array(table)
    report = ra.audit.probe(lambda y, s: ndcg(y, s, gain=lambda labels: gains[labels]), takes="query", k=5)
    assert report.presets == ()
    texts = [f"{gain:g}" for gain in table]
    assert report.convention.gain == "_".join(["table", *texts])
    assert report.measured[0].startswith(f"gains {', '.join(texts)} of the labels 0, 1, 2, 3, 4")
    assert report.measured[1] == "discounts 1/log2(rank + 1) at 5 ranks up to 5, to 15 digits"


@pytest.mark.long
@pytest.mark.parametrize("rank", [1, 2, 5])
def test_a_wrong_discount_is_measured(rank):
    wrong = {rank: 1 / math.log2(rank + 1) + 0.01}
    report = ra.audit.probe(lambda y, s: ndcg(y, s, discounts=wrong), takes="query", k=5)
    assert report.convention is None
    assert rank == 1 or f"at rank {rank}" in report.explanation


@pytest.mark.parametrize("k", [1, *(pytest.param(k, marks=pytest.mark.long) for k in (2, 5))])
def test_gains_of_dcg_are_measured_at_every_cutoff(k):
    """At the cutoffs 1 and 2 most values are 0, and a value of 0 does not tell DCG from NDCG."""
    report = ra.audit.probe(partial(dcg_of_other_gains, k=k), takes="query", k=k, measures="dcg")
    assert report.convention.gain == "table_0_1.00001_3_7_15"
    assert report.measured[0].startswith("gains 0, 1.00001, 3, 7, 15 of the labels 0, 1, 2, 3, 4")


def dcg_of_other_gains(labels, scores, k=5):
    gains = np.array([0, 1.00001, 3, 7, 15])[by_rank(labels, scores)[:k]]
    return float(gains @ (1 / np.log2(np.arange(gains.size) + 2)))


UNUSUAL = [  # measure, function, k, field and value
    ("dcg", dcg_of_other_gains, 5, "gain", "table_0_1.00001_3_7_15"),
    ("rbp", lambda y, s: 0.1 * sum((by_rank(y, s) > 0) * 0.9 ** np.arange(y.size)), None, "persistence", 0.9),
    ("ap", lambda y, s: average_precision(1 * (y > 2), s, (y > 2).sum()), 5, "relevant", "above_2"),
    ("success", lambda y, s: bool((by_rank(y, s)[:5] > 0).any()), 5, "relevant", "above_0"),
]


@pytest.mark.long
@pytest.mark.parametrize(("measure", "function", "k", "field", "value"), UNUSUAL)
def test_unusual_values_of_a_field_are_identified(measure, function, k, field, value):
    report = ra.audit.probe(function, takes="query", k=k, measures=measure)
    assert value in (getattr(report.convention, field), *report.undecided.get(field, ()))


@pytest.mark.long
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


@pytest.mark.long
def test_a_convention_is_named_after_every_case_of_the_pool():
    calls = []

    def function(labels, scores):
        calls.append((tuple(labels), tuple(scores)))
        return ndcg(labels, scores)

    report = ra.audit.probe(function, takes="query", k=5)
    assert report.convention is not None
    assert 200 <= report.calls == len(calls) <= 300


# What the report says.


@pytest.mark.long
def test_a_plain_argsort_is_the_preset_with_another_order_of_ties():
    def function(labels, scores, gain=lambda labels: 2.0**labels - 1):
        rows = np.random.default_rng(labels.size).permutation(labels.size)  # as `np.argsort(-scores)` with AVX2
        return ndcg(labels[rows], scores[rows], gain=gain)

    linear_report = ra.audit.probe(lambda y, s: function(y, s, np.copy), takes="query", k=5)
    assert "an order of tied rows that no value of `ties` has" in linear_report.explanation
    assert linear_report.nearest.gain == "linear"
    report = ra.audit.probe(function, takes="query", k=5)
    assert report.convention is None
    assert "ranklib@5" in report.presets
    assert report.example is None  # a tied example would refute the presets
    assert str(report).startswith("The function computes ndcg@5")
    assert "but it has an order of tied rows that no value of `ties` has" in str(report)


@pytest.mark.parametrize("most_in_order", [0, pytest.param(16, marks=pytest.mark.long)])
def test_presets_describe_a_function_up_to_its_order_of_tied_rows(most_in_order):
    def function(labels, scores):  # a sort that may keep the order of a few rows only
        rows = np.arange(labels.size)
        if labels.size > most_in_order:
            rows = np.random.default_rng(labels.size).permutation(rows)
        return recall(labels[rows], scores[rows])

    report = ra.audit.probe(function, takes="query", k=5, measures="recall")
    assert report.explanation == "it has an order of tied rows that no value of `ties` has"
    assert report.presets == ("haystack.recall@5", "trectools.recall@5")


@pytest.mark.long
def test_only_a_function_that_changes_its_answer_for_the_same_rows_has_ties_in_no_fixed_order():
    generator = np.random.default_rng(0)

    def function(labels, scores):
        rows = generator.permutation(labels.size)
        return ndcg(labels[rows], scores[rows])

    report = ra.audit.probe(function, takes="query", k=5)
    assert report.explanation == "it has tied rows in no fixed order, as an unstable sort leaves them"


@pytest.mark.long
def test_binary_gains_are_a_convention_and_name_the_presets_of_labels_0_and_1():
    report = ra.audit.probe(lambda y, s: ndcg(y, s, gain=lambda labels: (labels > 0) * 1.0), takes="query", k=5)
    assert report.convention is not None
    assert any("on labels 0 and 1 it is" in note and "ranklib@5" in note for note in report.notes)


@pytest.mark.long
def test_the_example_shows_the_mistake_and_is_no_case_for_which_the_function_raises():
    def refuse_single_documents(labels, scores):
        if labels.size == 1:
            raise ValueError
        return round(ndcg(labels, scores), 3)

    report = ra.audit.probe(refuse_single_documents, takes="query", k=5)
    example = report.example
    assert report.nearest.empty == 0
    assert example.group_sizes == (2,)
    assert example.value == round(example.expected, 3) != example.expected


@pytest.mark.long
def test_the_printed_example_shows_the_queries():
    def function(labels, scores, sizes):
        values = per_query(labels, scores, sizes)
        return values[0] if len(values) < 2 else 0.9 * values[0] + 0.1 * values[1]

    report = ra.audit.probe(function, takes="groups", k=5)
    assert len(report.example.group_sizes) > 1
    assert "query  label" in str(report)


@pytest.mark.long
@pytest.mark.parametrize("takes", ["query", "queries"])
def test_a_measure_without_a_value_for_the_labels_says_so(takes):
    report = ra.audit.probe(lambda y, s, *_: dcg(y, s, 9), takes=takes, k=None, measures="query-cross-entropy")
    assert report.convention is None
    assert "query-cross-entropy has no value for the labels 0, 1, 2, 3, 4" in report.explanation
