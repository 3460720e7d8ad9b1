"""AdaRank: equal to the paper's rounds in plain Python; to RankLib in `test_rounds.py`."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra

pytest.importorskip("sklearn")

from rankadapters.learners import AdaRank
from rankadapters.learners.selection import selection_ranks
from tests.learners.oracles import adarank
from tests.ranking_data import ranking

DATA = ranking(1, 40)


@pytest.mark.parametrize("convention", ["textbook@5", "ranklib@10", "ranklib.map", "ranklib.err@5", "ranklib.rr@5"])
@pytest.mark.parametrize("rounds", [1, 4])
def test_the_rounds_are_those_of_the_paper(convention, rounds):
    model = AdaRank(convention, max_iter=rounds, tol=10.0, max_consecutive=None).fit(DATA.X, DATA.y, qid=DATA.qid)
    expected = adarank(DATA.X.tolist(), DATA.y.tolist(), DATA.sizes.tolist(), convention, model.n_iter_)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-9)
    assert model.coef_.any()


def test_weights_of_queries_count_like_copies():
    weight = 1.0 + (DATA.qid % 3 == 0)
    twice = np.flatnonzero(weight == 2)
    X, y = np.concatenate([DATA.X, DATA.X[twice]]), np.concatenate([DATA.y, DATA.y[twice]])
    qid = np.concatenate([DATA.qid, DATA.qid[twice] + 1000])
    convention = ra.presets.textbook(5).replace(average="query")
    weighted = AdaRank(convention, max_iter=5).fit(DATA.X, DATA.y, qid=DATA.qid, sample_weight=weight)
    copied = AdaRank(convention, max_iter=5).fit(X, y, qid=qid)
    np.testing.assert_allclose(weighted.coef_, copied.coef_, rtol=1e-12)


@pytest.mark.parametrize(
    ("convention", "reason"),
    [
        ("catboost.query_rmse", "lower is better"),
        ("lightgbm.auc", "says pool='rows'"),
        ("ranklib.dcg@10", r"values of queries in \[-1, 1\], but dcg@10"),
    ],
)
def test_a_convention_without_such_values_is_refused(convention, reason):
    with pytest.raises(ra.UnsupportedConventionError, match=reason):
        AdaRank(convention).fit(DATA.X, DATA.y, qid=DATA.qid)


def test_a_feature_that_ranks_all_perfectly_is_the_model():
    model = AdaRank("textbook@2").fit([[3.0, 1.0], [2.0, 1.0]], [1, 0], qid=[7, 7])
    assert model.coef_.tolist() == [1.0, 0.0]


def test_ties_of_the_weak_rankers_are_those_of_a_selection_sort():
    """[b, b', a] with b = b' < a: a is swapped to the front with b, which then comes after b'."""
    assert np.argsort(-selection_ranks(np.array([1.0, 1.0, 2.0]), np.array([0, 3]), None)).tolist() == [2, 1, 0]
