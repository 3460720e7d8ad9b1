"""Inert fields: changing them cannot change the value on these data, and the plain cases are all recognized."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.statistics.inert import terms_of
from tests.helpers.conventions import conventions
from tests.helpers.parameters import examples

BASE = ra.presets.textbook(2)
PLAIN = {"labels": [2, 0, 1, 1, 0], "group_sizes": [3, 2]}
DISTINCT = [0.9, 0.1, 0.5, 0.7, 0.2]


def inert(change, scores=DISTINCT, base=BASE, **data):
    queries = ra.Queries(**{**PLAIN, **data})
    return ra.inert(queries, scores, base, base.replace(**change)).fields


SWAPPED = [0.1, 0.9, 0.5, 0.7, 0.2]  # the best row of the first query is last
DCG = ra.DCG(**{name: value for name, value in BASE.to_dict().items() if name in ra.DCG.fields()})


@pytest.mark.parametrize(
    ("change", "data", "scores"),
    [
        *((change, {}, DISTINCT) for change in (
            {"ties": "worst"}, {"empty": 1}, {"precision": "float32"}, {"missing": "zero"}, {"unjudged": "drop"},
            {"short": "zero"}, {"ideal": "retrieved"}, {"average": "query"}, {"gain": "table_0_1_3"},
            {"gain": "exp2-floor"})),
        *(({"gain": gain}, {"labels": [1, 0, 1, 1, 0]}, DISTINCT) for gain in ("linear", "linear-positive")),
        ({"k": None}, {"labels": [2, 0, 1], "group_sizes": [2, 1]}, DISTINCT[:3]),
        ({"discount": "reciprocal"}, {"labels": [1, 0, 1], "group_sizes": [1, 1, 1]}, DISTINCT[:3]),
        ({"ties": "worst"}, {"labels": [1, 0, 1, 1, 1]}, [0.5, 0.1, 0.6, 0.2, 0.2]),  # among rows of equal gain
        ({"ties": "worst"}, {"labels": [2, 0, 1, 0, 2], "group_sizes": [5]}, [0.9, 0.8, 0.1, 0.1, 0.1]),  # below k
        ({"average": "query"}, {"query_weight": [0.3, 0.3]}, SWAPPED),
    ],
)  # fmt: skip
def test_fields_that_cannot_change_the_value_are_inert(change, data, scores):
    assert inert(change, scores, **data) == tuple(change)


@pytest.mark.parametrize(
    ("change", "labels"),
    [({"gain": "table_0_1"}, [2, 0, 1, 1, 0]), ({"empty": "error"}, [2, 0, 1, 0, 0]), ({"k": 3}, [1, -1, 0, 0, 0])],
)
def test_data_without_a_value_raise(change, labels):
    with pytest.raises(ra.InputError, match=r"outside the gain table|nothing to find|no gain for"):
        inert(change, labels=labels)


def test_each_changed_field_is_judged_separately_also_across_measures():
    change = {"ties": "worst", "empty": 1, "gain": "linear"}
    assert inert(change, [0.5, 0.1, 0.5, 0.7, 0.2], labels=[1, 0, 0, 1, 0]) == ("gain", "empty")
    assert ra.inert(ra.Queries(**PLAIN), DISTINCT, BASE, DCG.replace(ties="best")).fields == ("ties",)


SKIPPING = BASE.replace(empty="skip")
AP, PRECISION = ra.parse("trec_eval.map+ties=input"), ra.parse("trec_eval.P@2+ties=input")


@pytest.mark.parametrize(
    ("base", "changed", "data", "field", "reason"),
    [
        (BASE, BASE.replace(gain="linear"), {}, "gain", "matters: gain='exp2' or 'linear' changes query 0"),
        (
            BASE, BASE.replace(empty="skip"), {"labels": [2, 0, 1, 0, 0]}, "empty",
            "matters: empty=0.0 or 'skip' changes query 1",
        ),
        (
            BASE, BASE.replace(average="query"), {"query_weight": [1, 3]}, "average",
            "matters: average='uniform' or 'query' changes the part of query 0",
        ),
        (
            BASE, BASE.replace(ties="worst"), {}, "ties",
            "ties='average' or 'worst' leaves the value of every query and its part in the mean as they are",
        ),
        (
            SKIPPING, SKIPPING.replace(gain="linear"), {"labels": [0, 0, 0, 1, 2]}, "gain",
            "matters: gain='exp2' or 'linear' changes query 1",  # both skip query 0
        ),
        (BASE, DCG, {}, "ideal", "matters: only one of the conventions has it"),
        (
            AP, AP.replace(average="geometric_1e-05"), {}, "average",
            "matters: average='uniform' or 'geometric_1e-05' changes the value",
        ),
        (
            PRECISION, PRECISION.replace(pool="sums", divisor="relevant"), {"labels": [1, 0, 1, 1, 0]}, "pool",
            "matters: pool='queries' or 'sums' changes the part of query 0",
        ),
    ],
)  # fmt: skip
def test_every_field_that_differs_has_a_reason(base, changed, data, field, reason):
    result = ra.inert(ra.Queries(**{**PLAIN, **data}), SWAPPED, base, changed)
    assert result.reasons[field] == reason
    assert result.same is (set(result.fields) == set(result.reasons))


@pytest.mark.parametrize("b", [ra.presets.catboost(3), ra.presets.textbook(3), ra.presets.ranklib(3)])
def test_no_convention_is_evaluated_twice(b, monkeypatch):
    evaluated, a = [], ra.presets.sklearn(3)
    monkeypatch.setattr(
        "rankadapters.statistics.inert.terms_of",
        lambda *args: evaluated.append(args[2]) or terms_of(*args),
    )
    ra.inert(ra.Queries([1, 0, 0, 2], group_sizes=[2, 2]), [1, 2, 3, 4], a, b)
    assert evaluated[:2] == [a, b]
    assert len(evaluated) == len(set(evaluated))


SUBNORMAL = 1e-300  # smaller numbers have fewer digits


@st.composite
def cases(draw):
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    n = sum(sizes)
    labels = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    scores = draw(st.lists(st.sampled_from([0.0, 1e-9, 0.25, 0.5]), min_size=n, max_size=n))
    weights = draw(st.none() | st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=len(sizes), max_size=len(sizes)))
    return labels, scores, sizes, weights


@pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")  # a gain may be no probability
@settings(max_examples=examples(60), deadline=None)
@given(cases(), conventions(lenient=True), conventions(lenient=True))
def test_switching_inert_fields_has_no_effect(case, a, b):
    labels, scores, sizes, weights = case
    queries = ra.Queries(labels, group_sizes=sizes, query_weight=weights, docid=[str(i) for i in range(len(labels))])
    try:
        inert_fields = ra.inert(queries, scores, a, b).fields
    except ra.InputError:
        return  # no query left to average, or a label outside the gain table
    assert set(inert_fields) <= set(a.diff(b))
    for convention, donor in ((a, b), (b, a)):
        switched = convention.replace(**{name: getattr(donor, name) for name in inert_fields})
        per_query = switched.is_sum and convention.is_sum
        expected = evaluated(case, convention, per_query=per_query)
        switched_values = evaluated(case, switched, per_query=per_query)
        np.testing.assert_allclose(switched_values, expected, rtol=1e-12, atol=SUBNORMAL)
    if set(inert_fields) == set(a.diff(b)):
        assert evaluated(case, a) == pytest.approx(evaluated(case, b))


def evaluated(case, convention, *, per_query=False):
    """Return the value, and optionally the values of the queries, with the weights that the convention counts."""
    labels, scores, sizes, weights = case
    columns = {"group_sizes": sizes, "docid": [str(i) for i in range(len(labels))]}
    if convention.weighting == "query_weight":
        columns["query_weight"] = weights
    evaluator = ra.Evaluator(labels, convention, **columns)
    return [evaluator.evaluate(scores).value, *(evaluator.per_query(scores).tolist() if per_query else [])]
