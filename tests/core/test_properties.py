"""What must hold of every value, whatever the kernel does inside."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from math import log2
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from tests.core.ragged_data import TEXTBOOK, ragged
from tests.helpers.depth import examples
from tests.tables import for_each


def test_tied_pair_shares_both_discounts():
    score = ra.evaluate([1, 0], [0.5, 0.5], ra.presets.textbook(2), group_sizes=[2])
    assert score.value == pytest.approx((1 + 1 / log2(3)) / 2, abs=1e-15)


@pytest.mark.parametrize(
    ("ties", "value"),
    [("input", 1 / log2(3)), ("reverse", 1 / log2(4)), ("worst", 1 / log2(5)), ("best", 1.0),
     ("docid-ascending", 1 / log2(5)), ("docid-descending", 1.0)],
)  # fmt: skip
def test_the_declared_order_of_ties_decides(ties, value):
    convention = ra.presets.textbook(4).replace(ties=ties)
    docid = ["a", "é", "b", "B"]  # by UTF-8 bytes: B, a, b, é
    score = ra.evaluate([0, 1, 0, 0], [1, 1, 1, 1], convention, group_sizes=[4], docid=docid)
    assert score.value == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize("gain", ["exp2", "linear"])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=examples(40), deadline=None)
def test_average_ties_do_not_see_the_order_of_rows(gain, seed):
    labels, scores, qid = ragged(seed)
    labels = labels * 0.7  # fractional: sums that round
    convention = TEXTBOOK.replace(gain=gain)
    order = np.random.default_rng(seed).permutation(labels.size)
    here = ra.evaluate(labels, scores, convention, qid=qid)
    there = ra.evaluate(labels[order], scores[order], convention, qid=qid[order])
    assert here.value == there.value
    assert not here < there  # the same queries, so comparable


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=examples(20), deadline=None)
def test_the_order_of_queries_changes_nothing(seed):
    labels, scores, qid = ragged(seed)
    blocks = [np.flatnonzero(qid == q) for q in np.random.default_rng(seed).permutation(np.unique(qid))]
    order = np.concatenate(blocks)
    for convention in (TEXTBOOK, ra.presets.lightgbm(5), ra.presets.catboost(None)):
        value = ra.evaluate(labels, scores, convention, qid=qid).value
        assert value == ra.evaluate(labels[order], scores[order], convention, qid=qid[order]).value


@for_each("name", ra.presets.names())
def test_the_ideal_order_gives_exactly_one(name):
    labels, _, qid = ragged(5, longest=300)
    convention = getattr(ra.presets, name)(10).replace(empty=1, short="pad")
    if convention.ideal in {"ones", "all"}:  # a list that no ranking of k rows reaches
        convention = convention.replace(ideal="cutoff")
    if convention.gain.startswith("table"):
        convention = convention.replace(gain="table_0_1_3_7")
    docid = [f"d{row}" for row in range(labels.size)]
    for scores in (labels, labels + np.random.default_rng(0).random(labels.size) / 2):
        assert ra.evaluate(labels, scores, convention, qid=qid, docid=docid).value == 1.0


def test_fractional_ideal_order_under_average_ties_gives_exactly_one():
    convention = TEXTBOOK.replace(gain="linear")
    labels = np.repeat([0.1, 0.3, 0.7], 3)
    assert ra.evaluate(labels, labels, convention, group_sizes=[9]).value == 1.0


def test_interleaved_queries_give_the_bits_of_sorted_ones():
    labels, scores, qid = ragged(1, levels=10**6)
    shuffled = np.random.default_rng(2).permutation(labels.size)
    back = shuffled[np.argsort(qid[shuffled])]  # unstable on purpose
    for k in (1, 10, None):
        first, second = (
            ra.evaluate(labels[o], scores[o], ra.presets.textbook(k), qid=qid[o]).value for o in (shuffled, back)
        )
        assert first == second


def test_the_mean_is_the_rounded_exact_sum():
    labels, scores, qid = ragged(4)
    evaluator = ra.Evaluator(labels, TEXTBOOK, qid=qid)
    values = evaluator.per_query(scores)
    from math import fsum

    assert evaluator.evaluate(scores).value == fsum(values) / values.size


# Scores


def test_scores_compare_by_value_and_convention():
    data = {"labels": [1, 0, 2], "group_sizes": [3]}
    good = ra.evaluate(data["labels"], [3, 1, 4], TEXTBOOK, group_sizes=[3])
    bad = ra.evaluate(data["labels"], [1, 3, 2], TEXTBOOK, group_sizes=[3])
    assert bad < good
    assert good > bad
    assert bad <= good
    assert good >= bad
    assert good - bad == good.value - bad.value
    assert good == ra.evaluate(data["labels"], [3, 1, 4], TEXTBOOK, group_sizes=[3])
    assert len({good, bad, good}) == 2
    assert float(good) == good.value
    assert f"{good:.2f}" == f"{good.value:.2f}"
    assert str(good) == f"{good}" == f"{good.value:.4f}  {TEXTBOOK}"
    assert pickle.loads(pickle.dumps(good)) == good


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (lambda: ra.evaluate([1, 0, 2], [3, 1, 4], TEXTBOOK.at(5), group_sizes=[3]), "differ in k=10 against 5"),
        (lambda: ra.evaluate([1, 0, 2], [3, 1, 4], TEXTBOOK, qid=["a", "a", "a"]), "different queries"),
        (lambda: ra.evaluate([1, 0, 1], [3, 1, 4], TEXTBOOK, group_sizes=[3]), "different queries"),
        (lambda: 0.5, "a Score and a float"),
    ],
)
@pytest.mark.parametrize("compare", ["__lt__", "__le__", "__gt__", "__ge__", "__sub__"])
def test_incomparable_scores_refuse_to_be_compared(other, why, compare):
    score = ra.evaluate([1, 0, 2], [3, 1, 4], TEXTBOOK, group_sizes=[3])
    with pytest.raises(ra.IncomparableScoresError, match=f"{why}(.|\n)*Hint: .value"):
        getattr(score, compare)(other())


BARE = [0.5, 1, True, np.float64(0.5), np.float32(0.5), Fraction(1, 2), Decimal("0.5"), pytest.approx(0.5)]


@for_each("number", BARE, ids=lambda number: type(number).__name__)
@pytest.mark.parametrize(
    "compare",
    [
        lambda score, number: score == number,
        lambda score, number: score != number,
        lambda score, number: number == score,
        lambda score, number: number != score,
        lambda score, number: score in [None, number],
    ],
    ids=["==", "!=", "== score", "!= score", "in"],
)
def test_a_score_equals_no_bare_number_and_says_so(compare, number):
    score = ra.evaluate([1, 0, 2], [3, 1, 4], TEXTBOOK, group_sizes=[3])
    with pytest.raises(ra.IncomparableScoresError, match=r"a Score and a \w+ are compared(.|\n)*Hint: .value"):
        compare(score, number)


def test_a_score_beside_anything_else_is_unequal():
    score = ra.evaluate([1, 0, 2], [3, 1, 4], TEXTBOOK, group_sizes=[3])
    assert [score == other for other in (None, "0.5", TEXTBOOK, object(), [0.5])] == [False] * 5
    assert score == mock.ANY
    assert score in [None, "0.5", score]
    assert {score: 1}[score] == 1
    assert score.value == pytest.approx(float(score))


def test_a_number_less_a_score_is_refused():
    with pytest.raises(ra.IncomparableScoresError, match="a Score and a float"):
        0.5 - ra.evaluate([1, 0], [3, 1], TEXTBOOK, group_sizes=[2])


def test_weights_of_one_are_no_weights():
    convention = TEXTBOOK.replace(average="query")
    assert not ra.evaluate([1, 0], [2, 1], convention, group_sizes=[2]) < ra.evaluate(
        [1, 0], [2, 1], convention, group_sizes=[2], query_weight=[1]
    )


def test_scores_count_what_was_scored():
    labels, sizes = [0, 0, 1, 0, 0, 1], [2, 1, 3]
    score = ra.evaluate(labels, [1, 2, 3, 4, 5, 6], ra.presets.textbook(3).replace(empty="skip"), group_sizes=sizes)
    assert (score.n_queries, score.n_scored, score.n_empty, score.n_short) == (3, 2, 1, 2)


# Many conventions


def test_several_conventions_give_what_each_gives():
    labels, scores, qid = ragged(7, longest=120)
    docid = [str(i) for i in range(labels.size)]
    labels = np.minimum(labels, 2)
    conventions = [getattr(ra.presets, name)(k) for name in ra.presets.names() for k in (1, 3, 10, 50, None)]
    conventions += [TEXTBOOK.replace(ties=t) for t in ("reverse", "best", "docid-ascending")]
    for dtype in (np.float64, np.float32):
        many = ra.evaluate(labels, scores.astype(dtype), conventions, qid=qid, docid=docid)
        assert [convention.name for convention in many] == [convention.name for convention in conventions]
        for convention, score in many.items():
            assert score == ra.evaluate(labels, scores.astype(dtype), convention, qid=qid, docid=docid)


def test_importing_the_package_is_light_and_complete():
    code = (
        "import sys, rankadapters as ra; heavy = {'numba', 'lightgbm', 'xgboost', 'catboost', 'sklearn', 'pandas'}; "
        "assert not heavy & set(sys.modules), heavy & set(sys.modules); "
        "assert set(ra.__all__) <= set(dir(ra)); [getattr(ra, name) for name in ra.__all__]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ra.nothing


def test_small_whole_powers_are_exact():
    from rankadapters.core.binding.gains import gains_of

    labels = np.arange(1024.0)
    gains = gains_of(labels, None, TEXTBOOK.gain)
    assert gains.tolist() == [float(2**i - 1) for i in range(1024)]


@pytest.mark.parametrize(("numerator", "weights"), [(1.0, [1e308, 1e308]), (1.7e308, None)])
def test_sums_beyond_float64_have_a_mean_within(numerator, weights):
    fields = {n: v for n, v in ra.presets.sklearn(1).to_dict().items() if n not in {"ideal", "empty"}}
    score = ra.evaluate([numerator, numerator], [1, 2], ra.DCG(**fields), group_sizes=[1, 1], query_weight=weights)
    assert score.value == numerator


@pytest.mark.parametrize("kind", [np.int32, np.uint8, np.float64, object])
def test_query_ids_are_what_they_are_in_any_type(kind):
    ids = np.array([3, 3, 5])
    here = ra.evaluate([1, 0, 1], [1, 2, 3], TEXTBOOK, qid=ids)
    there = ra.evaluate([1, 0, 1], [1, 2, 3], TEXTBOOK, qid=ids.astype(kind))
    assert here - there == 0.0


@pytest.mark.parametrize("preset", ["lightgbm@10", "lightgbm.auc", "lightgbm.map@3", "catboost.mrr@3", "yahoo.err"])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_an_evaluator_is_copied_and_sent_to_other_processes(preset, copied):
    evaluator = ra.Evaluator([1, 0, 0, 1], preset, group_sizes=[2, 2])
    assert copied(evaluator).evaluate([0.5, 0.7, 0.2, 0.1]) == evaluator.evaluate([0.5, 0.7, 0.2, 0.1])
