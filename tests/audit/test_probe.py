"""`ra.audit.probe` identifies the convention of a function, and attributes no convention to a function with a bug."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.measures import MEASURES
from rankadapters.statistics.grid import has_cutoff, values_to_search
from tests.helpers.depth import THOROUGH
from tests.helpers.tables import for_each

LOSSES = {"pair-logit", "query-rmse", "query-soft-max", "query-cross-entropy"}
MEASURES_WITHOUT_LOSSES = [name for name in MEASURES if name not in LOSSES]
TAKES_CHOICES = ("query", "queries", "groups")
CUTOFFS = (None, 3)


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


@pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")
@pytest.mark.parametrize("measure", MEASURES_WITHOUT_LOSSES)
def test_the_convention_of_a_random_function_is_identified(measure):
    takes_of_queries = "queries" if MEASURES_WITHOUT_LOSSES.index(measure) % 2 else "groups"
    for takes in TAKES_CHOICES if THOROUGH else ("query", takes_of_queries):
        draw = random.Random(f"{measure} {takes}")
        k = random.Random(f"{measure} {takes == 'query'}").choice(CUTOFFS)  # one cutoff only: each takes seconds
        for _ in range(4 if THOROUGH else 1):
            check_identified(draw, random_convention(draw, measure, k), measure, takes)


def check_identified(draw, convention, measure, takes):
    report = ra.audit.probe(
        as_function(convention, takes), takes=takes, k=getattr(convention, "k", None), measures=measure
    )
    assert report.convention is not None, convention
    for _ in range(30):
        data = random_data(draw, 1 if takes == "query" else 4)
        expected = value(convention, *data)
        if expected is not None:
            assert value(report.convention, *data) == pytest.approx(expected, abs=1e-9), (convention, data)


@for_each("text", ["textbook@1", "textbook@all", "lightgbm.map@100", "lightgbm.map@all", "letor4.p@10"])
def test_an_unknown_cutoff_is_identified(text):
    convention = ra.parse(text)
    report = ra.audit.probe(as_function(convention, "query"), takes="query", k="unknown", measures=convention.measure)
    assert report.convention.k == convention.k


def dcg(labels, ranks_from=2):
    return float((2.0**labels - 1) @ (1 / np.log2(np.arange(labels.size) + ranks_from)))


def ndcg(labels, scores, *, shift=2):
    ideal = dcg(np.sort(labels)[::-1], shift)
    return dcg(labels[np.argsort(-scores, kind="stable")], shift) / ideal if ideal else 0.0


def ndcg_of_shared_ranks(labels, scores):
    """Return the NDCG of ranks as `scipy.stats.rankdata(-scores, method="average")` gives them."""
    ranks = np.array([np.sum(scores > score) + (np.sum(scores == score) + 1) / 2 for score in scores])
    ideal = dcg(np.sort(labels)[::-1])
    return float(((2.0**labels - 1) / np.log2(ranks + 1)).sum() / ideal) if ideal else 0.0


class StatefulFunction:
    """A function whose result depends on the values of all its calls."""

    def __init__(self, result):
        self.result, self.values = result, []

    def __call__(self, labels, scores):
        self.values.append(ndcg(labels, scores))
        return self.result(self.values)


def sort_in_place(labels, scores):
    order = np.argsort(-scores, kind="stable")
    labels[:], scores[:] = labels[order], scores[order]
    return ndcg(labels, scores)


def raise_error(labels, scores):
    message = "no"
    raise ZeroDivisionError(message)


def unstable_ndcg(labels, scores):
    if labels.size <= 16:
        return ndcg(labels, scores)
    order = np.random.default_rng(labels.size).permutation(labels.size)
    return ndcg(labels[order], scores[order])


def ndcg_with_linear_discounts(labels, scores):
    discounts = 1 / (np.arange(labels.size) + 2.5)
    ideal = np.sort(labels)[::-1] @ discounts
    return labels[np.argsort(-scores, kind="stable")] @ discounts / ideal if ideal else 0.0


BUGS = {  # a function, and a part of the explanation
    "shifted discounts": (lambda y, s: ndcg(y, s, shift=3), "its discount is 1/log2(rank + 2)"),
    "percentages": (lambda y, s: 100 * ndcg(y, s), "the value as a percentage"),
    "loss": (lambda y, s: 1 - ndcg(y, s), "1 - the value"),
    "negative": (lambda y, s: -ndcg(y, s), "the value with the other sign"),
    "half": (lambda y, s: ndcg(y, s) / 2, "0.5 times the value"),
    "3 times": (lambda y, s: 3 * ndcg(y, s), "3 times the value"),
    "off by a share": (lambda y, s: ndcg(y, s) * (1 + 3e-8), "1.00000003 times the value"),
    "3 decimals": (lambda y, s: round(ndcg(y, s), 3), "it rounds to 3 decimals"),
    "8 decimals": (lambda y, s: round(ndcg(y, s), 8), "it rounds to 8 decimals"),
    "swapped": (lambda y, s: ndcg(s, y), "labels and scores swapped"),
    "ascending": (lambda y, s: ndcg(y, -s), "the scores negated"),
    "no scores": (lambda y, s: ndcg(y, -np.arange(y.size)), "the scores ignored"),
    "shared ranks": (ndcg_of_shared_ranks, "tied rows share a rank"),
    "unstable sort": (unstable_ndcg, "tied rows in no fixed order"),
    "not divided": (lambda y, s: dcg(y[np.argsort(-s, kind="stable")]), "it computes dcg, not ndcg"),
    "off by 1e-8": (lambda y, s: ndcg(y, s) + 1e-8, ""),
    "squared": (lambda y, s: ndcg(y, s) ** 2, "1/log2(rank + 1)^2"),
    "linear discounts": (ndcg_with_linear_discounts, ""),
    "a row is lost": (lambda y, s: ndcg(y[:-1], s[:-1]), ""),
    "random": (lambda y, s: ndcg(y, s) + random.random() / 100, "not deterministic"),
    "random ties": (lambda y, s: ndcg(y, s + np.random.default_rng().random(s.size) / 1e6), "not deterministic"),
    "running mean": (StatefulFunction(np.mean), "not deterministic"),
    "sum so far": (StatefulFunction(sum), "not deterministic"),
    "the value before": (StatefulFunction(lambda values: values[max(len(values) - 2, 0)]), "not deterministic"),
    "tires": (StatefulFunction(lambda values: values[-1] if len(values) < 5 else 0.5), "not deterministic"),
    "raises": (raise_error, ""),
    "None": (lambda y, s: None, ""),
    "NaN": (lambda y, s: math.nan, ""),
    "array": (lambda y, s: np.full(3, ndcg(y, s)), ""),
    "list": (lambda y, s: [ndcg(y, s)] * 2, ""),
    "text": (lambda y, s: f"{ndcg(y, s):.4f}", ""),
    "infinite": (lambda y, s: math.inf, ""),
    "constant": (lambda y, s: 0.5, "it returns 0.5 for all data"),
}
MOST_CALLS, MOST_CALLS_FOR_PRESETS = 62, 90  # of a function without a convention; every case confirms a preset


def test_a_function_with_a_bug_is_attributed_to_no_convention():
    for bug, (function, explanation) in BUGS.items():
        if isinstance(function, StatefulFunction):
            function.values.clear()
        report = ra.audit.probe(function, takes="query", k=None)
        assert report.convention is None, bug
        assert report.calls <= (MOST_CALLS_FOR_PRESETS if report.presets else MOST_CALLS), bug
        assert explanation in report.explanation, bug
        assert bool(explanation) == bool(report.explanation), bug


def test_a_function_that_changes_its_input_has_a_fault():
    assert "changes the arrays" in ra.audit.probe(sort_in_place, takes="query", k=None).faults[0]


WRONG_MEANS = {  # a function of the queries' values, and a part of the explanation
    "sum": (sum, "the sum of the queries' values"),
    "one too few": (lambda values: sum(values) / max(len(values) - 1, 1), "divided by one too few"),
    "one too many": (lambda values: sum(values) / (len(values) + 1), "divided by one too many"),
    "last query": (lambda values: values[-1], "the value of the last query"),
    "median": (lambda values: float(np.median(values)), "the median"),
}


@for_each("bug", WRONG_MEANS)
def test_a_wrong_mean_is_attributed_to_no_convention(bug):
    summary, explanation = WRONG_MEANS[bug]

    def function(labels, scores, sizes):
        ends = np.cumsum(sizes)
        return summary([ndcg(labels[e - n : e], scores[e - n : e]) for e, n in zip(ends, sizes, strict=True)])

    report = ra.audit.probe(function, takes="groups", k=None)
    assert report.convention is None
    assert explanation in report.explanation


@for_each(("measure", "convention", "k"), [
    ("precision", "trec_eval_9.P@5+ties=average", 5), ("recall", "ranx.recall@3+ties=average", 3),
])  # fmt: skip
@for_each("decimals", [2, 3])
def test_a_rounded_value_is_no_unstable_sort(measure, convention, k, decimals):
    """Without ties, such a measure has values of few decimals, which rounding keeps."""
    exact = as_function(ra.parse(convention), "query")
    report = ra.audit.probe(lambda y, s: round(exact(y, s), decimals), takes="query", k=k, measures=measure)
    assert report.explanation == f"it rounds to {decimals} decimals"


def test_the_report_lists_the_data_that_the_function_refuses():
    metrics = pytest.importorskip("sklearn.metrics")
    report = ra.audit.probe(lambda y, s: metrics.ndcg_score([y], [s], k=3), takes="query", k=3)
    assert "sklearn@3" in report.presets
    assert [refusal.what for refusal in report.refused] == ["one document", "labels below 0"]


def relevance_probabilities(labels):
    return (2.0**labels - 1) / 2 ** labels.max()


def err(labels, scores):
    value, continues = 0.0, 1.0
    for rank, probability in enumerate(relevance_probabilities(labels)[np.argsort(-scores, kind="stable")], 1):
        value, continues = value + continues * probability / rank, continues * (1 - probability)
    return value


def average_precision(labels, scores, divisor):
    relevant = (labels > 0)[np.argsort(-scores, kind="stable")][:5]
    precisions = np.cumsum(relevant) / np.arange(1, relevant.size + 1)
    return float(precisions[relevant].sum() / divisor) if divisor else 0.0


NO_CONVENTION = {  # name: function, measure, and a part of the explanation
    "AP divided by the cutoff": (lambda y, s: average_precision(y, s, 5), "ap", ""),
    "RR whose ranks begin with 2": (
        lambda y, s: 1 / (np.argmax((y > 0)[np.argsort(-s, kind="stable")]) + 2) if y.max() > 0 else 0.0,
        "rr",
        "counts 1/(rank + 1)",
    ),
    "a number for one document only": (lambda y, s: 1.0 if y.size == 1 else None, "ndcg", ""),
    "an empty query counts -1": (lambda y, s: ndcg(y, s) if y.max() > 0 else -1.0, "ndcg", "nothing relevant"),
    "the cutoff is another": (lambda y, s: dcg_at(y, s, 4), "dcg", "its cutoff is 4"),
    "tied rows share the best rank": (
        lambda y, s: float(
            sum((2.0**label - 1) / np.log2(2 + np.sum(s > score)) for label, score in zip(y, s, strict=True))
        ),
        "dcg",
        "its cutoff is all, and its tied rows share a rank",
    ),
    "every third call is off": (
        StatefulFunction(lambda values: values[-1] + 0.01 * (len(values) % 3 == 0)),
        "ndcg",
        "not determ",
    ),
}
if THOROUGH:  # ERR takes as long as all others together
    NO_CONVENTION["the highest grade of each query"] = (err, "err", "")


def dcg_at(labels, scores, k):
    return dcg(labels[np.argsort(-scores, kind="stable")][:k])


@for_each("name", NO_CONVENTION)
def test_a_function_outside_all_conventions_gets_no_wrong_explanation(name):
    function, measure, explanation = NO_CONVENTION[name]
    k = None if measure in {"ndcg", "rr"} else 5
    report = ra.audit.probe(function, takes="query", k=k, measures=measure)
    assert report.convention is None
    assert explanation in report.explanation
    assert bool(explanation) == bool(report.explanation)
    if explanation == "not determ":
        assert report.example is None  # the next call may return a different value


def test_the_example_shows_the_mistake():
    report = ra.audit.probe(lambda y, s: round(ndcg(y, s), 3), takes="query", k=None)
    assert report.nearest.empty == 0
    assert report.example.value == round(report.example.expected, 3) != report.example.expected


def test_the_example_is_no_case_for_which_the_function_raises():
    def refuse_single_documents(labels, scores):
        if labels.size == 1:
            raise ValueError
        return round(ndcg(labels, scores), 3)

    example = ra.audit.probe(refuse_single_documents, takes="query", k=None).example
    assert (example.group_sizes, example.value) == ((2,), round(example.expected, 3))


FORMS = {
    "lists": lambda y, s: ndcg(np.array(y), np.array(s)) if y and s else 0.0,
    "arrays of shape (1, n_docs)": lambda y, s: ndcg(y[0], s[0]) if y.ndim == 2 else y.shape[1],
}


@for_each("form", FORMS)
def test_a_function_may_need_lists_or_arrays_of_two_dimensions(form):
    report = ra.audit.probe(FORMS[form], takes="query", k=None)
    assert report.convention.gain == "exp2"
    assert form in report.refused[0].meaning


@pytest.mark.parametrize(
    ("measure", "function", "field", "value"),
    [
        (
            "rbp",
            lambda y, s: 0.1 * sum((y > 0)[np.argsort(-s, kind="stable")] * 0.9 ** np.arange(y.size)),
            "persistence",
            0.9,
        ),
        ("ap", lambda y, s: average_precision(1 * (y > 2), s, (y > 2).sum()), "relevant", "above_2"),
        ("success", lambda y, s: bool((y > 0)[np.argsort(-s, kind="stable")][:5].any()), "relevant", "above_0"),
    ],
)
def test_unusual_values_of_a_field_are_identified(measure, function, field, value):
    report = ra.audit.probe(function, takes="query", k=None if measure == "rbp" else 5, measures=measure)
    assert value in (getattr(report.convention, field), *report.undecided.get(field, ()))


def test_a_function_that_never_returns_a_number_is_reported_once():
    report = ra.audit.probe(lambda y, s: ("ndcg", ndcg(y, s)), takes="query", k=None)
    assert [(refusal.what, refusal.problem) for refusal in report.refused] == [("all data", "returned a tuple")]


def test_labels_that_the_convention_also_refuses_are_not_reported():
    def letor4(labels, scores):
        if (labels % 1).any() or labels.min() < 0:
            raise ValueError("not a grade")
        return ra.evaluate(labels, scores, "letor4@3", group_sizes=[labels.size]).value

    report = ra.audit.probe(letor4, takes="query", k=3)
    assert "letor4@3" in report.presets
    assert report.refused == ()


def test_unknown_is_the_only_text_allowed_as_cutoff():
    for k in ("zero", "10", "Unknown"):
        with pytest.raises(ra.InputError, match=f"k='{k}'; allowed are whole numbers"):
            ra.audit.probe(ndcg, takes="query", k=k)
