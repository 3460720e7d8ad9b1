"""Probing: the convention of a function is found, and a function with a mistake is attributed to none."""

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
RANKED = [name for name in MEASURES if name not in LOSSES]
TAKES = ("query", "queries", "groups")
CUTOFFS = (None, 3)


def as_function(convention, takes):
    """Return a convention as somebody's function."""

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
    """Return labels, scores and sizes as no probe makes them."""
    sizes = [draw.randint(1, 9) for _ in range(n_queries)]
    labels = [draw.choice([0, 0, 1]) for _ in range(sum(sizes))]
    return labels, [draw.choice([0.5, 0.6, 0.7, 0.7 + 1e-9, -0.5]) for _ in labels], sizes


def value(convention, labels, scores, sizes):
    try:
        return ra.evaluate(labels, scores, convention, group_sizes=sizes).value
    except ra.InputError:
        return None


@pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")
@pytest.mark.parametrize("measure", RANKED)
def test_random_conventions_are_found_again(measure):
    of_several = "queries" if RANKED.index(measure) % 2 else "groups"
    for takes in TAKES if THOROUGH else ("query", of_several):
        draw = random.Random(f"{measure} {takes}")
        k = random.Random(f"{measure} {takes == 'query'}").choice(CUTOFFS)  # one, as the cases of each take seconds
        for _ in range(4 if THOROUGH else 1):
            check_found_again(draw, random_convention(draw, measure, k), measure, takes)


def check_found_again(draw, convention, measure, takes):
    found = ra.audit.probe(
        as_function(convention, takes), takes=takes, k=getattr(convention, "k", None), measures=measure
    )
    assert found.convention is not None, convention
    for _ in range(30):
        data = random_data(draw, 1 if takes == "query" else 4)
        expected = value(convention, *data)
        if expected is not None:
            assert value(found.convention, *data) == pytest.approx(expected, abs=1e-9), (convention, data)


@for_each("text", ["textbook@1", "textbook@all", "lightgbm.map@100", "lightgbm.map@all", "letor4.p@10"])
def test_an_unknown_cutoff_is_found(text):
    convention = ra.parse(text)
    found = ra.audit.probe(as_function(convention, "query"), takes="query", k="unknown", measures=convention.measure)
    assert found.convention.k == convention.k


def dcg(labels, ranks_from=2):
    return float((2.0**labels - 1) @ (1 / np.log2(np.arange(labels.size) + ranks_from)))


def ndcg(labels, scores, *, shift=2):
    ideal = dcg(np.sort(labels)[::-1], shift)
    return dcg(labels[np.argsort(-scores, kind="stable")], shift) / ideal if ideal else 0.0


class Counter:
    """A function that keeps what it was asked."""

    def __init__(self, answer):
        self.answer, self.values = answer, []

    def __call__(self, labels, scores):
        self.values.append(ndcg(labels, scores))
        return self.answer(self.values)


def sorted_in_place(labels, scores):
    order = np.argsort(-scores, kind="stable")
    labels[:], scores[:] = labels[order], scores[order]
    return ndcg(labels, scores)


def raises(labels, scores):
    message = "no"
    raise ZeroDivisionError(message)


def unstable(labels, scores):
    if labels.size <= 16:
        return ndcg(labels, scores)
    order = np.random.default_rng(labels.size).permutation(labels.size)
    return ndcg(labels[order], scores[order])


def linear_discounts(labels, scores):
    discounts = 1 / (np.arange(labels.size) + 2.5)
    ideal = np.sort(labels)[::-1] @ discounts
    return labels[np.argsort(-scores, kind="stable")] @ discounts / ideal if ideal else 0.0


BUGS = {
    "discounts begin with rank 2": lambda y, s: ndcg(y, s, shift=3),
    "percentages": lambda y, s: 100 * ndcg(y, s),
    "1 minus the value": lambda y, s: 1 - ndcg(y, s),
    "negative of the value": lambda y, s: -ndcg(y, s),
    "half the value": lambda y, s: ndcg(y, s) / 2,
    "returns 3 times the value": lambda y, s: 3 * ndcg(y, s),
    "rounds to 3 decimals": lambda y, s: round(ndcg(y, s), 3),
    "rounds to 8 decimals": lambda y, s: round(ndcg(y, s), 8),
    "scores and its second": lambda y, s: ndcg(s, y),
    "ascending scores": lambda y, s: ndcg(y, -s),
    "unstable sort": unstable,
    "off by 1e-8": lambda y, s: ndcg(y, s) + 1e-8,
    "off by a share": lambda y, s: ndcg(y, s) * (1 + 3e-8),
    "squared": lambda y, s: ndcg(y, s) ** 2,
    "linear discounts": linear_discounts,
    "not divided": lambda y, s: dcg(y[np.argsort(-s, kind="stable")]),
    "a row is lost": lambda y, s: ndcg(y[:-1], s[:-1]),
    "random": lambda y, s: ndcg(y, s) + random.random() / 100,
    "random ties": lambda y, s: ndcg(y, s + np.random.default_rng().random(s.size) / 1e6),
    "running mean": Counter(np.mean),
    "sum so far": Counter(sum),
    "best so far": Counter(max),
    "the value before": Counter(lambda values: values[max(len(values) - 2, 0)]),
    "tires": Counter(lambda values: values[-1] if len(values) < 5 else 0.5),
    "changes its input": sorted_in_place,
    "raises": raises,
    "None": lambda y, s: None,
    "NaN": lambda y, s: math.nan,
    "array": lambda y, s: np.full(3, ndcg(y, s)),
    "list": lambda y, s: [ndcg(y, s)] * 2,
    "text": lambda y, s: f"{ndcg(y, s):.4f}",
    "infinite": lambda y, s: math.inf,
    "constant": lambda y, s: 0.5,
    "mean label": lambda y, s: float(np.mean(y)),
}
EXPLAINED = [name for name in BUGS if " " in name and name not in {"off by 1e-8", "off by a share", "linear discounts",
             "not divided", "a row is lost", "random ties", "running mean", "sum so far", "best so far",
             "the value before", "changes its input", "mean label"}]  # fmt: skip


def test_a_function_with_a_mistake_is_attributed_to_no_convention():
    for bug, function in BUGS.items():
        if isinstance(function, Counter):
            function.values.clear()
        found = ra.audit.probe(function, takes="query", k=None)
        if bug == "changes its input":
            assert any("changes the arrays" in fault for fault in found.faults)
        else:
            assert found.convention is None, bug
        if bug in EXPLAINED:
            assert bug in found.explanation
            assert "Most likely" in str(found), bug


SEVERAL = {
    "the sum of queries": sum,
    "one query too few": lambda values: sum(values) / max(len(values) - 1, 1),
    "the last query": lambda values: values[-1],
}
if THOROUGH:
    SEVERAL["one query too many"] = lambda values: sum(values) / (len(values) + 1)
    SEVERAL["the median"] = lambda values: float(np.median(values))


@for_each("bug", SEVERAL)
def test_a_wrong_mean_is_attributed_to_no_convention(bug):
    def function(labels, scores, sizes):
        ends = np.cumsum(sizes)
        return SEVERAL[bug]([ndcg(labels[e - n : e], scores[e - n : e]) for e, n in zip(ends, sizes, strict=True)])

    found = ra.audit.probe(function, takes="groups", k=None)
    assert found.convention is None
    assert (bug in found.explanation) == (bug in {"one query too few", "one query too many", "the last query"})


def test_a_slow_function_is_called_a_few_times(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("rankadapters.statistics.probing.answers.time.perf_counter", lambda: clock[0])

    def slow(labels, scores):
        clock[0] += 1
        return ndcg(labels, scores)

    found = ra.audit.probe(slow, takes="query", k=None)
    assert found.convention is not None
    assert found.calls == clock[0] < 30
    clock[0] = 0
    found = ra.audit.probe(lambda y, s: slow(y, s) ** 2, takes="query", k=None)
    assert found.convention is None
    assert found.calls == clock[0] < 60


def test_one_document_queries_that_are_refused_are_said():
    metrics = pytest.importorskip("sklearn.metrics")
    found = ra.audit.probe(lambda y, s: metrics.ndcg_score([y], [s], k=3), takes="query", k=3)
    assert "sklearn@3" in found.presets
    assert [refused.what for refused in found.refused] == ["one document", "labels below 0"]


def scale(labels):
    return (2.0**labels - 1) / 2 ** labels.max()


def err(labels, scores):
    value, goes_on = 0.0, 1.0
    for rank, p in enumerate(scale(labels)[np.argsort(-scores, kind="stable")], 1):
        value, goes_on = value + goes_on * p / rank, goes_on * (1 - p)
    return value


def average_precision(labels, scores, divisor):
    relevant = (labels > 0)[np.argsort(-scores, kind="stable")][:5]
    precisions = np.cumsum(relevant) / np.arange(1, relevant.size + 1)
    return float(precisions[relevant].sum() / divisor) if divisor else 0.0


NO_CONVENTION = {  # the function, its measure, and words of the explanation
    "AP divided by the cutoff": (lambda y, s: average_precision(y, s, 5), "ap", ""),
    "RR whose ranks begin with 2": (
        lambda y, s: 1 / (np.argmax((y > 0)[np.argsort(-s, kind="stable")]) + 2) if y.max() > 0 else 0.0,
        "rr",
        "ranks begin with 2",
    ),
    "a number for one document only": (lambda y, s: 1.0 if y.size == 1 else None, "ndcg", ""),
    "an empty query counts -1": (lambda y, s: ndcg(y, s) if y.max() > 0 else -1.0, "ndcg", "nothing relevant"),
    "the cutoff is another": (lambda y, s: dcg_at(y, s, 4), "dcg", "its cutoff is 4"),
    "tied rows share the best rank": (
        lambda y, s: float(
            sum((2.0**label - 1) / np.log2(2 + np.sum(s > score)) for label, score in zip(y, s, strict=True))
        ),
        "dcg",
        "",
    ),
    "every third call is off": (
        Counter(lambda values: values[-1] + 0.01 * (len(values) % 3 == 0)),
        "ndcg",
        "not determ",
    ),
}
if THOROUGH:  # the cases of ERR take as long as all others
    NO_CONVENTION["the highest grade of each query"] = (err, "err", "")


def dcg_at(labels, scores, k):
    return dcg(labels[np.argsort(-scores, kind="stable")][:k])


@for_each("what", NO_CONVENTION)
def test_what_is_no_convention_is_attributed_to_none_and_explained_by_no_other_mistake(what):
    function, measure, explanation = NO_CONVENTION[what]
    k = None if measure in {"ndcg", "rr"} else 5
    found = ra.audit.probe(function, takes="query", k=k, measures=measure)
    assert found.convention is None
    assert explanation in found.explanation
    assert bool(explanation) == bool(found.explanation)
    if explanation == "not determ":
        assert found.example is None  # the function may answer otherwise next time


def test_the_example_is_about_the_mistake():
    found = ra.audit.probe(lambda y, s: round(ndcg(y, s), 3), takes="query", k=None)
    assert found.nearest.empty == 0
    assert found.example.value == round(found.example.expected, 3) != found.example.expected


FORMS = {
    "lists": lambda y, s: ndcg(np.array(y), np.array(s)) if y and s else 0.0,
    "arrays of shape (1, n_docs)": lambda y, s: ndcg(y[0], s[0]) if y.ndim == 2 else y.shape[1],
}


@for_each("form", FORMS)
def test_a_function_that_takes_no_arrays_of_one_dimension_is_asked_otherwise(form):
    found = ra.audit.probe(FORMS[form], takes="query", k=None)
    assert found.convention.gain == "exp2"
    assert form in found.refused[0].meaning


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
        ("success", lambda y, s: bool((y > 0)[np.argsort(-s, kind="stable")][:5].any()), "relevant", "from_1"),
    ],
)
def test_numbers_beside_the_usual_ones_are_found(measure, function, field, value):
    found = ra.audit.probe(function, takes="query", k=None if measure == "rbp" else 5, measures=measure)
    assert value in (getattr(found.convention, field), *found.undecided.get(field, ()))


def test_a_function_that_gives_no_number_at_all_is_said_once():
    found = ra.audit.probe(lambda y, s: ("ndcg", ndcg(y, s)), takes="query", k=None)
    assert [(refused.what, refused.problem) for refused in found.refused] == [("all data", "returned a tuple")]


def test_labels_that_the_convention_refuses_too_are_no_refusal_to_report():
    def letor4(labels, scores):
        if (labels % 1).any() or labels.min() < 0:
            raise ValueError("not a grade")
        return ra.evaluate(labels, scores, "letor4@3", group_sizes=[labels.size]).value

    found = ra.audit.probe(letor4, takes="query", k=3)
    assert "letor4@3" in found.presets
    assert found.refused == ()


def test_only_the_word_unknown_asks_for_the_cutoff():
    for k in ("zero", "10", "Unknown"):
        with pytest.raises(ra.InputError, match=f"k='{k}'; allowed are whole numbers"):
            ra.audit.probe(ndcg, takes="query", k=k)
