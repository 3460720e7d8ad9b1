"""AdaRank against the paper's rounds in plain Python. `test_rounds.py` compares it with RankLib."""

import math
from itertools import groupby

import numpy as np
import pytest

import rankadapters as ra

pytest.importorskip("sklearn")

from rankadapters.learners import AdaRank
from rankadapters.learners.adarank import selection_ranks
from tests.helpers.rankings import ranking
from tests.learners.learners_by_hand import adarank

DATA = ranking(1, 40)


@pytest.mark.parametrize("convention", ["textbook@5", "ranklib@10", "ranklib.map", "ranklib.err@5", "ranklib.rr@5"])
@pytest.mark.parametrize("rounds", [1, 4])
def test_the_rounds_equal_the_papers_in_plain_python(convention, rounds):
    model = AdaRank(convention, max_iter=rounds, tol=10.0, max_consecutive=None).fit(DATA.X, DATA.y, qid=DATA.qid)
    expected = adarank(DATA.X.tolist(), DATA.y.tolist(), DATA.sizes.tolist(), convention, model.n_iter_)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-9)
    assert model.coef_.any()


def test_a_query_weight_of_two_equals_a_copy_of_the_query():
    weight = 1.0 + (DATA.qid % 3 == 0)
    copied_rows = np.flatnonzero(weight == 2)
    X, y = np.concatenate([DATA.X, DATA.X[copied_rows]]), np.concatenate([DATA.y, DATA.y[copied_rows]])
    qid = np.concatenate([DATA.qid, DATA.qid[copied_rows] + 1000])
    convention = ra.presets.textbook(5).replace(average="query")
    weighted = AdaRank(convention, max_iter=5).fit(DATA.X, DATA.y, qid=DATA.qid, sample_weight=weight)
    copied = AdaRank(convention, max_iter=5).fit(X, y, qid=qid)
    np.testing.assert_allclose(weighted.coef_, copied.coef_, rtol=1e-12)


def test_a_convention_with_values_above_1_is_refused():
    with pytest.raises(ra.UnsupportedConventionError, match=r"gives magnitudes up to 1\.63093"):  # 1 + 1 / log2(3)
        AdaRank("ranklib.dcg@10").fit([[1.0], [1.0], [0.0]], [1, 1, 0], qid=[7, 7, 7])


@pytest.mark.parametrize("variant", ["xu-li", "ranklib"])
def test_a_perfect_feature_is_the_whole_model(variant):
    model = AdaRank("textbook@2", variant=variant).fit([[3.0, 1.0], [2.0, 1.0]], [1, 0], qid=[7, 7])
    assert model.coef_.tolist() == [1.0, 0.0]


def test_weak_rankers_break_ties_as_a_selection_sort():
    """Of [b, b', a] with b = b' < a, the sort swaps a with b, so b comes after b'."""
    assert np.argsort(-selection_ranks(np.array([1.0, 1.0, 2.0]), np.array([0, 3]), None)).tolist() == [2, 1, 0]


@pytest.mark.parametrize("max_consecutive", [1, 2, 4, None])
def test_ranklib_repeats_a_feature_that_changes_nothing_max_consecutive_times(max_consecutive):
    X = [[0, 1, 1], [0, 2, 1], [2, 0, 1], [1, 0, 2], [1, 0, 2], [2, 2, 2]]
    y, qid = [0, 1, 0, 2, 2, 0], [1, 1, 2, 2, 3, 3]
    model = AdaRank("textbook@3", variant="ranklib", max_iter=30, max_consecutive=max_consecutive).fit(X, y, qid=qid)
    runs = [len(list(run)) for _, run in groupby(model.features_.tolist())]
    assert max(runs) == (24 if max_consecutive is None else 1 + max_consecutive)


def test_a_feature_that_changes_nothing_is_excluded_until_another_one_does():
    X, y, qid = [[0.0, 0.0], [1.0, 0.3]] * 3, [1, 0] * 3, np.repeat(range(3), 2)
    model = AdaRank("textbook@5", max_iter=9, max_consecutive=2).fit(X, y, qid=qid)
    assert model.features_.tolist() == [0, 0, 0, 1, 0, 0, 0, 1, 0]
    one_feature_model = model.fit(np.array(X)[:, :1], y, qid=qid)
    assert one_feature_model.features_.tolist() == [0] * 9  # the only feature is never excluded


@pytest.mark.parametrize(("variant", "features"), [("xu-li", [0]), ("ranklib", [1])])
def test_without_tolerance_training_undoes_a_round_without_gain_and_ends(variant, features):
    """RankLib chooses each feature twice, undoes and queues it, and continues with the feature queued last."""
    X, y, qid = [[0.0, 0.0], [1.0, 0.3]] * 3, [1, 0] * 3, np.repeat(range(3), 2)
    model = AdaRank("textbook@5", variant=variant, tol=0.0).fit(X, y, qid=qid)
    assert model.features_.tolist() == features
    assert model.coef_[features[0]] == model.alphas_[0] != 0
    assert model.coef_[1 - features[0]] == 0


def test_a_first_round_of_value_zero_is_kept():
    model = AdaRank("ranklib@1", tol=0.0, max_iter=1).fit([[1.0], [0.0]], [0, 1], qid=[7, 7])
    assert (model.n_iter_, model.history_[0].value) == (1, 0.0)


def test_the_value_of_a_ranklib_round_is_the_mean_over_all_queries():
    model = AdaRank("ranklib@10", variant="ranklib", max_iter=1).fit(DATA.X, DATA.y, qid=DATA.qid)
    assert model.history_[0].value == pytest.approx(model.score(DATA.X, DATA.y, qid=DATA.qid), rel=1e-12)


def test_ranklib_keeps_the_last_round_if_every_validation_value_is_zero():
    model = AdaRank("ranklib@10", variant="ranklib", max_iter=3)
    model.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=[(DATA.X, np.zeros(DATA.y.size), DATA.qid)])
    assert {entry.value for entry in model.history_ if entry.dataset == "valid_0"} == {0.0}
    assert model.features_.tolist() == [2]  # the first round chose feature 0


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_features_are_excluded_as_in_plain_python(limit):
    model = AdaRank("textbook@5", max_iter=30, tol=10.0, max_consecutive=limit).fit(DATA.X, DATA.y, qid=DATA.qid)
    expected = adarank(DATA.X.tolist(), DATA.y.tolist(), DATA.sizes.tolist(), "textbook@5", 30, max_repeats=limit)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-9)


def test_ranklib_weights_shrink_by_the_number_of_queries_until_they_underflow():
    X, y, qid = [[0.0, 0.0], [1.0, 0.3]] * 5, [1, 0] * 5, np.repeat(range(5), 2)
    model = AdaRank("textbook@5", variant="ranklib", max_consecutive=None).fit(X, y, qid=qid)
    assert model.n_iter_ == int(1075 / math.log2(5))  # half of 2^-1074, the smallest float64, is rounded to 0
    X, y, qid = [[0.0, 0.0], [1.0, 0.3]] * 8, [1, 0] * 8, np.repeat(range(8), 2)
    assert model.fit(X, y, qid=qid).n_iter_ == 1074 // 3 - 1  # the first weights are 1 / 8


def test_skipped_queries_do_not_change_the_model():
    convention = ra.presets.textbook(5).replace(empty="skip")
    is_kept = np.isin(DATA.qid, DATA.qid[DATA.y > 0])
    assert not is_kept.all()
    model = AdaRank(convention, max_iter=5, tol=10.0).fit(DATA.X, DATA.y, qid=DATA.qid)
    kept_model = AdaRank(convention, max_iter=5, tol=10.0).fit(DATA.X[is_kept], DATA.y[is_kept], qid=DATA.qid[is_kept])
    np.testing.assert_allclose(model.coef_, kept_model.coef_, rtol=1e-12)


def test_positive_weights_on_skipped_queries_alone_are_refused():
    """The first query has two rows of different labels; a cutoff of three skips it."""
    X, y, qid = [[0.0], [1.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1, 0], [1, 1, 2, 2, 2]
    model = AdaRank(ra.presets.textbook(3).replace(short="skip"))
    with pytest.raises(
        ra.InputError, match=r"all queries that ndcg@3/textbook\+short=skip does not skip have weight 0"
    ):
        model.fit(X, y, qid=qid, sample_weight=[1, 1, 0, 0, 0])


def test_ranklibs_variant_refuses_a_warm_start():
    model = AdaRank("ranklib@5", variant="ranklib", warm_start=True)
    with pytest.raises(
        ra.InputError, match=r"variant='ranklib' cannot continue a training(.|\n)*Hint: warm_start=False"
    ):
        model.fit(DATA.X, DATA.y, qid=DATA.qid)
