"""Fields that cannot matter on given data: none claimed that evaluation does not bear out, none missed where plain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.statistics.inert import terms_of
from tests.helpers.convention_strategies import conventions
from tests.helpers.depth import examples
from tests.helpers.tables import for_each

BASE = ra.presets.textbook(2)
PLAIN = {"labels": [2, 0, 1, 1, 0], "group_sizes": [3, 2]}
DISTINCT = [0.9, 0.1, 0.5, 0.7, 0.2]


def inert(change, scores=DISTINCT, base=BASE, **data):
    queries = ra.Queries(**{**PLAIN, **data})
    return ra.inert(queries, scores, base, base.replace(**change))


SWAPPED = [0.1, 0.9, 0.5, 0.7, 0.2]  # the best row of the first query is last
DCG = ra.DCG(**{name: value for name, value in BASE.to_dict().items() if name in ra.DCG.fields()})


@for_each(
    ("change", "data", "scores"),
    [
        *((change, {}, DISTINCT) for change in (
            {"ties": "worst"}, {"empty": 1}, {"precision": "float32"}, {"missing": "zero"}, {"unjudged": "drop"},
            {"short": "zero"}, {"ideal": "retrieved"}, {"average": "query"}, {"gain": "table_0_1_3"},
            {"gain": "exp2-floor"})),
        *(({"gain": gain}, {"labels": [1, 0, 1, 1, 0]}, DISTINCT) for gain in ("linear", "linear-positive")),
        ({"k": None}, {"labels": [2, 0, 1], "group_sizes": [2, 1]}, DISTINCT[:3]),
        ({"discount": "reciprocal"}, {"labels": [1, 0, 1], "group_sizes": [1, 1, 1]}, DISTINCT[:3]),
        ({"ties": "worst"}, {"labels": [1, 0, 1, 1, 1]}, [0.5, 0.1, 0.6, 0.2, 0.2]),  # among rows of one gain
        ({"ties": "worst"}, {"labels": [2, 0, 1, 0, 2], "group_sizes": [5]}, [0.9, 0.8, 0.1, 0.1, 0.1]),  # below k
        ({"average": "query"}, {"query_weight": [0.3, 0.3]}, SWAPPED),
    ],
)  # fmt: skip
def test_what_cannot_matter_is_inert(change, data, scores):
    assert inert(change, scores, **data) == tuple(change)


@for_each(
    ("change", "data", "scores"),
    [
        ({"ties": "worst"}, {}, [0.5, 0.1, 0.5, 0.7, 0.2]),
        ({"empty": 1}, {"labels": [2, 0, 1, 0, 0]}, DISTINCT),
        ({"precision": "float32"}, {}, [1 + 1e-12, 0.1, 1, 0.7, 0.2]),
        ({"short": "zero"}, {"labels": [2, 0, 1, 1, 1], "group_sizes": [4, 1]}, DISTINCT),
        *((change, {}, SWAPPED) for change in ({"k": 1}, {"gain": "linear"}, {"discount": "jk2"})),
        ({"average": "query"}, {"query_weight": [0.3, 0.4]}, SWAPPED),
        ({"empty": 1e-153}, {"labels": [0], "group_sizes": [1]}, [0.0]),  # a value that is tiny is not 0
        ({}, {}, DISTINCT),
    ],
)
def test_what_matters_is_not_inert(change, data, scores):
    assert inert(change, scores, **data) == ()


@for_each(
    ("change", "labels"),
    [({"gain": "table_0_1"}, [2, 0, 1, 1, 0]), ({"empty": "error"}, [2, 0, 1, 0, 0]), ({"k": 3}, [1, -1, 0, 0, 0])],
)
def test_data_without_a_value_are_an_error(change, labels):
    with pytest.raises(ra.InputError, match=r"outside the gain table|nothing to find|no gain for"):
        inert(change, labels=labels)


def test_fields_matter_apart_from_each_other_and_another_measure_always_does():
    change = {"ties": "worst", "empty": 1, "gain": "linear"}
    assert inert(change, [0.5, 0.1, 0.5, 0.7, 0.2], labels=[1, 0, 0, 1, 0]) == ("gain", "empty")
    assert ra.inert(ra.Queries(**PLAIN), DISTINCT, BASE, DCG.replace(ties="best")) == ("ties",)


@pytest.mark.parametrize("b", [ra.presets.catboost(3), ra.presets.textbook(3), ra.presets.ranklib(3)])
def test_no_convention_is_evaluated_twice(b, monkeypatch):
    evaluated, a = [], ra.presets.sklearn(3)
    monkeypatch.setattr(
        "rankadapters.statistics.inert.terms_of", lambda *given: evaluated.append(given[2]) or terms_of(*given)
    )
    ra.inert(ra.Queries([1, 0, 0, 2], group_sizes=[2, 2]), [1, 2, 3, 4], a, b)
    assert evaluated[:2] == [a, b]
    assert len(evaluated) == len(set(evaluated))


@for_each(
    ("bad", "problem"),
    [("ndcg@10", "does not say whose ndcg"), ("ndcg@10/gain=exp2", "truncated"), (None, "is not a convention")],
)
def test_what_is_no_convention_is_refused(bad, problem):
    with pytest.raises(ra.ConventionError, match=problem):
        ra.inert(ra.Queries(**PLAIN), DISTINCT, BASE, bad)


def test_labels_with_their_columns_are_as_good_as_queries():
    other = BASE.replace(ties="worst", gain="linear")
    found = ra.inert(PLAIN["labels"], DISTINCT, BASE, other, group_sizes=PLAIN["group_sizes"])
    assert found == ra.inert(ra.Queries(**PLAIN), DISTINCT, BASE, other)
    with pytest.raises(ra.InputError, match="group_sizes was passed together with a Queries"):
        ra.inert(ra.Queries(**PLAIN), DISTINCT, BASE, other, group_sizes=PLAIN["group_sizes"])


SUBNORMAL = 1e-300  # below which numbers have fewer digits


@st.composite
def cases(draw):
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    n = sum(sizes)
    labels = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    scores = draw(st.lists(st.sampled_from([0.0, 1e-9, 0.25, 0.5]), min_size=n, max_size=n))
    weights = draw(st.none() | st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=len(sizes), max_size=len(sizes)))
    return labels, scores, sizes, weights


@pytest.mark.filterwarnings("ignore::rankadapters.AboveValuesWarning")  # small weights may lift a mean
@settings(max_examples=examples(60), deadline=None)
@given(cases(), conventions(lenient=True), conventions(lenient=True))
def test_inert_fields_can_be_switched_without_effect(case, a, b):
    labels, scores, sizes, weights = case
    queries = ra.Queries(labels, group_sizes=sizes, query_weight=weights, docid=[str(i) for i in range(len(labels))])
    try:
        found = ra.inert(queries, scores, a, b)
    except ra.InputError:
        return  # nothing left to average, or a label outside the table
    assert set(found) <= set(a.diff(b))
    for one, other in ((a, b), (b, a)):
        mixed = one.replace(**{name: getattr(other, name) for name in found})
        of_queries = mixed.is_sum and one.is_sum
        expected = evaluated(case, one, of_queries=of_queries)
        found_now = evaluated(case, mixed, of_queries=of_queries)
        np.testing.assert_allclose(found_now, expected, rtol=1e-12, atol=SUBNORMAL)
    if set(found) == set(a.diff(b)):
        assert evaluated(case, a) == pytest.approx(evaluated(case, b))


def evaluated(case, convention, *, of_queries=False):
    """The value, and those of the queries, under the weights that the convention counts."""
    labels, scores, sizes, weights = case
    columns = {"group_sizes": sizes, "docid": [str(i) for i in range(len(labels))]}
    if convention.weighting == "query_weight":
        columns["query_weight"] = weights
    evaluator = ra.Evaluator(labels, convention, **columns)
    return [evaluator.evaluate(scores).value, *(evaluator.per_query(scores).tolist() if of_queries else [])]


def test_shares_add_up_to_the_value():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 6, 20)
    queries = ra.Queries(rng.integers(0, 3, sizes.sum()), group_sizes=sizes, query_weight=rng.uniform(0.5, 2, 20))
    scores = rng.random(sizes.sum())
    for preset in (ra.presets.lightgbm, ra.presets.sklearn, ra.presets.catboost):
        shares = terms_of(queries, scores, preset(3)).shares
        assert shares.sum() == pytest.approx(ra.evaluate(queries, scores, preset(3)).value, rel=1e-13)
