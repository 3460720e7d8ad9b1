"""What must hold of every value, whatever the kernel does inside."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from math import log2
from unittest import mock

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core import threads

TEXTBOOK = ra.presets.textbook(10)


def ragged(seed: int, n_queries: int = 40, longest: int = 60, levels: int = 8):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, longest + 1, n_queries)
    n = int(sizes.sum())
    labels = rng.choice([0, 0, 0, 1, 2, 3], n).astype(float)
    return labels, rng.integers(0, levels, n) / levels, np.repeat(rng.permutation(n_queries), sizes)


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
@settings(max_examples=40, deadline=None)
def test_average_ties_do_not_see_the_order_of_rows(gain, seed):
    labels, scores, qid = ragged(seed)
    labels = labels * 0.7  # fractional: sums that round
    convention = TEXTBOOK.replace(gain=gain)
    order = np.random.default_rng(seed).permutation(labels.size)
    here = ra.evaluate(labels, scores, convention, qid=qid)
    there = ra.evaluate(labels[order], scores[order], convention, qid=qid[order])
    assert here.value == there.value
    assert not here < there  # the same queries, so comparable


@given(seed=st.integers(0, 2**32 - 1), ties=st.sampled_from(["input", "average", "reverse", "worst"]))
@settings(max_examples=40, deadline=None)
def test_monotone_transforms_of_scores_change_nothing(seed, ties):
    labels, scores, qid = ragged(seed)
    convention = TEXTBOOK.replace(ties=ties)
    value = ra.evaluate(labels, scores, convention, qid=qid).value
    assert value == ra.evaluate(labels, 1000 * scores - 7, convention, qid=qid).value
    assert value == ra.evaluate(labels, (scores * 8).astype(np.int32), convention, qid=qid).value
    assert value == ra.evaluate(labels, scores.astype(np.float32), convention, qid=qid).value


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_the_order_of_queries_changes_nothing(seed):
    labels, scores, qid = ragged(seed)
    blocks = [np.flatnonzero(qid == q) for q in np.random.default_rng(seed).permutation(np.unique(qid))]
    order = np.concatenate(blocks)
    for convention in (TEXTBOOK, ra.presets.lightgbm(5), ra.presets.catboost(None)):
        value = ra.evaluate(labels, scores, convention, qid=qid).value
        assert value == ra.evaluate(labels[order], scores[order], convention, qid=qid[order]).value


@pytest.mark.parametrize("name", ra.presets.names())
def test_the_ideal_order_gives_exactly_one(name):
    labels, _, qid = ragged(5, longest=300)
    convention = getattr(ra.presets, name)(10).replace(empty=1, short="pad")
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


# Tallies


@given(seed=st.integers(0, 2**32 - 1), parts=st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_tallies_of_any_partition_merge_into_the_same_bits(seed, parts):
    labels, scores, qid = ragged(seed)
    rng = np.random.default_rng(seed)
    weights = rng.random(40) + 0.1
    convention = ra.presets.lightgbm(5)
    whole = ra.Evaluator(labels, convention, qid=qid, query_weight=weights)
    part_of = rng.integers(0, parts, 40)
    tallies = []
    for part in rng.permutation(parts):
        rows = np.isin(qid, whole.query_ids[part_of == part])
        if rows.any():
            evaluator = ra.Evaluator(labels[rows], convention, qid=qid[rows], query_weight=weights[part_of == part])
            tallies.append(evaluator.tally(scores[rows]))
    merged, score = ra.Tally.merge(iter(tallies)).score(), whole.evaluate(scores)
    assert ra.Tally.merge([sum(tallies)]).to_dict() == ra.Tally.merge(tallies[::-1]).to_dict()
    assert merged == score
    assert merged - score == 0.0
    assert (merged.n_queries, merged.n_scored, merged.n_empty, merged.n_short) == (
        score.n_queries, score.n_scored, score.n_empty, score.n_short)  # fmt: skip


def test_tallies_travel_as_plain_data():
    labels, scores, qid = ragged(3)
    tally = ra.Evaluator(labels, TEXTBOOK, qid=[f"q{q}" for q in qid]).tally(scores)
    assert ra.Tally.from_dict(tally.to_dict()).score() == tally.score()
    assert pickle.loads(pickle.dumps(tally)).score() == tally.score()
    with pytest.raises(ra.InputError, match="this is no tally"):
        ra.Tally.from_dict({"convention": str(TEXTBOOK)})


def test_tallies_that_do_not_add_up():
    one = ra.Evaluator([1, 0], TEXTBOOK, group_sizes=[2]).tally([1, 2])
    with pytest.raises(ra.InputError, match=r"query 0 is in tallies 0 and 1\.\nHint: each query in one part only"):
        one + one
    other = ra.Evaluator([1, 0], TEXTBOOK.at(5), qid=["x", "x"]).tally([1, 2])
    with pytest.raises(ra.IncomparableScoresError, match="differ in k"):
        one + other
    with pytest.raises(TypeError):
        one + 1.0


@pytest.mark.parametrize(
    ("travel", "named"),
    [
        (lambda tally: tally, "query q7 is"),
        (lambda tally: ra.Tally.from_dict(tally.to_dict()), "query number 2 of tally 1 is"),
        (lambda tally: pickle.loads(pickle.dumps(tally)), "query number 2 of tally 1 is"),
    ],
    ids=["at hand", "from a dict", "from a pickle"],
)
def test_a_query_in_two_of_many_tallies_is_named(travel, named):
    parts = [["q1", "q2"], ["q3", "q4", "q7"], ["q5"], ["q7", "q6"]]
    with pytest.raises(ra.InputError, match=f"{named} in tallies 1 and 3.\nHint: each query in one part only"):
        ra.Tally.merge(travel(_tally(*ids)) for ids in parts)


def test_several_queries_in_two_tallies_are_counted():
    with pytest.raises(ra.InputError, match=r"query [abc] is in tallies 0 and 1, and 2 more queries are in two"):
        ra.Tally.merge([_tally("a", "b", "c"), _tally("c", "a", "b")])


def _tally(*ids):
    return ra.Evaluator([1] * len(ids), TEXTBOOK, qid=ids).tally([0.5] * len(ids))


def test_a_merged_tally_is_merged_again_and_names_what_is_new():
    whole = ra.Tally.merge([_tally("a"), _tally("b")]) + _tally("c")
    with pytest.raises(ra.InputError, match="query b is in tallies 0 and 1"):
        whole + _tally("b")
    assert whole.score() - sum([_tally("c"), _tally("a"), _tally("b")]).score() == 0.0


@pytest.mark.parametrize(
    ("tallies", "problem"),
    [
        ([], r"tallies=\[\] lists no tally.\nHint: Tally.merge\(\["),
        ([0.5], "0.5 is not a Tally"),
        (0, "tallies=0 lists no tally"),
    ],
    ids=["none", "of numbers", "no list"],
)
def test_what_is_no_list_of_tallies(tallies, problem):
    with pytest.raises(ra.InputError, match=problem):
        ra.Tally.merge(tallies)


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


@pytest.mark.parametrize("number", BARE, ids=lambda number: type(number).__name__)
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


# Many conventions, many threads, many processes


def test_evaluate_many_gives_what_evaluate_gives():
    labels, scores, qid = ragged(7, longest=120)
    docid = [str(i) for i in range(labels.size)]
    labels = np.minimum(labels, 2)
    conventions = [getattr(ra.presets, name)(k) for name in ra.presets.names() for k in (1, 3, 10, 50, None)]
    conventions += [TEXTBOOK.replace(ties=t) for t in ("reverse", "best", "docid-ascending")]
    for dtype in (np.float64, np.float32):
        many = ra.evaluate_many(labels, scores.astype(dtype), conventions, qid=qid, docid=docid)
        assert list(many) == list(dict.fromkeys(conventions))
        for convention, score in many.items():
            assert score == ra.evaluate(labels, scores.astype(dtype), convention, qid=qid, docid=docid)


@pytest.fixture
def large(monkeypatch):
    monkeypatch.setattr(threads, "ROWS_PER_THREAD", 50)
    labels, scores, qid = ragged(11, n_queries=300)
    return labels, scores, qid


@pytest.mark.parametrize("preset", [ra.presets.textbook, ra.presets.xgboost, ra.presets.catboost])
def test_any_number_of_threads_gives_the_same_bits(large, preset):
    labels, scores, qid = large
    found = [
        ra.Evaluator(labels, preset(k), qid=qid, n_threads=t).per_query(scores) for k in (10, None) for t in (1, 2, 7)
    ]
    for k in (0, 3):
        np.testing.assert_array_equal(found[k], found[k + 1])
        np.testing.assert_array_equal(found[k], found[k + 2])


def test_the_first_bad_row_is_named_whatever_the_threads(large):
    labels, scores, qid = large
    scores = scores.copy()
    scores[[500, 4000, -1]] = np.nan
    for n_threads in (1, 2, 7):
        with pytest.raises(ra.InputError, match=r"scores\[500\] is nan"):
            ra.evaluate(labels, scores, TEXTBOOK, qid=qid, n_threads=n_threads)


def test_sixteen_user_threads_share_one_evaluator(large):
    labels, scores, qid = large
    evaluator = ra.Evaluator(labels, TEXTBOOK, qid=qid, n_threads=3)
    shifted = [np.roll(scores, shift) for shift in range(16)]
    expected = [evaluator.evaluate(s).value for s in shifted]
    with ThreadPoolExecutor(16) as pool:
        for _ in range(5):
            assert [score.value for score in pool.map(evaluator.evaluate, shifted)] == expected


def _child(evaluator, scores, queue):
    queue.put(evaluator.evaluate(scores).value)


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_forked_child_evaluates_too(large):
    labels, scores, qid = large
    evaluator = ra.Evaluator(labels, TEXTBOOK, qid=qid, n_threads=2)
    value = evaluator.evaluate(scores).value
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_child, args=(evaluator, scores, queue))
    child.start()
    assert queue.get(timeout=60) == value
    child.join(timeout=60)
    assert child.exitcode == 0


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_copies_of_an_evaluator_evaluate_alike(copied):
    labels, scores, qid = ragged(12)
    evaluator = ra.Evaluator(labels, TEXTBOOK, qid=qid)
    before = evaluator.evaluate(scores)
    again = copied(evaluator).evaluate(scores)
    assert again == before
    assert again - before == 0.0


def test_joblib_workers_evaluate_alike():
    labels, scores, qid = ragged(13)
    evaluator = ra.Evaluator(labels, TEXTBOOK, qid=qid)
    values = joblib.Parallel(n_jobs=2)(joblib.delayed(evaluator.evaluate)(scores) for _ in range(3))
    assert values == [evaluator.evaluate(scores)] * 3


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
    from rankadapters.core.gains import gains_of

    labels = np.arange(1024.0)
    gains = gains_of(labels, None, TEXTBOOK.gain)
    assert gains.tolist() == [float(2**i - 1) for i in range(1024)]


@pytest.mark.parametrize(("numerator", "weights"), [(1.0, [1e308, 1e308]), (1.7e308, None)])
def test_sums_beyond_float64_have_a_mean_within(numerator, weights):
    fields = {n: v for n, v in ra.presets.sklearn(1).to_dict().items() if n not in {"ideal", "empty"}}
    score = ra.evaluate([numerator, numerator], [1, 2], ra.DCG(**fields), group_sizes=[1, 1], query_weight=weights)
    assert score.value == numerator


def test_a_part_of_weight_zero_merges_too():
    convention = ra.presets.sklearn(2)
    parts = [
        ra.Evaluator([1, 0], convention, qid=[q, q], query_weight=[w]).tally([1, 2])
        for q, w in (("a", 0.0), ("b", 1.0))
    ]
    whole = ra.evaluate([1, 0, 1, 0], [1, 2, 1, 2], convention, qid=list("aabb"), query_weight=[0, 1])
    assert sum(parts).score() - whole == 0.0


@pytest.mark.parametrize("kind", [np.int32, np.uint8, np.float64, object])
def test_query_ids_are_what_they_are_in_any_type(kind):
    ids = np.array([3, 3, 5])
    here = ra.evaluate([1, 0, 1], [1, 2, 3], TEXTBOOK, qid=ids)
    there = ra.evaluate([1, 0, 1], [1, 2, 3], TEXTBOOK, qid=ids.astype(kind))
    assert here - there == 0.0


@pytest.mark.parametrize(
    "change", [{"numerator": "zz"}, {"ids": ["zz"]}, {"ids": []}, {"n_queries": "x"}, {"ids": ["-0x1"]}]
)
def test_damaged_tallies_are_refused(change):
    data = ra.Evaluator([1, 0], TEXTBOOK, group_sizes=[2]).tally([1, 2]).to_dict()
    with pytest.raises(ra.InputError, match="this is no tally"):
        ra.Tally.from_dict({**data, **change})
