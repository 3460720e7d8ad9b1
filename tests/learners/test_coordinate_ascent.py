"""CoordinateAscent against a pass in plain Python, its own history, and RankLib's quality on MQ2008."""

import numpy as np
import pytest

import rankadapters as ra

pytest.importorskip("sklearn")

import scipy.sparse as sp

from rankadapters.core.ranking import compiled
from rankadapters.learners import CoordinateAscent
from tests.helpers.rankings import ranking
from tests.learners.learners_by_hand import coordinate_ascent

DATA = ranking(1, 15)
# Distinct scores: the last bit can neither make nor break a tie.
X = DATA.X + np.random.default_rng(0).random(DATA.X.shape)


@pytest.mark.parametrize(
    ("convention", "seed", "alpha"),
    [("ranklib.map", 1, 0.05), *(pytest.param(*case, marks=pytest.mark.long) for case in (
        ("textbook@5", 0, 0), ("ranklib.map", 1, 0), ("ranklib.err@5", 0, 0), ("ranklib.rr@5", 1, 0),
        ("ranklib.dcg@5", 2, 0), ("textbook@5", 0, 0.2)))],
)  # fmt: skip
def test_a_pass_equals_that_in_plain_python(convention, seed, alpha):
    model = CoordinateAscent(convention, n_restarts=1, max_iter=1, alpha=alpha, random_state=seed)
    model.fit(X, DATA.y, qid=DATA.qid)
    order = np.random.RandomState(seed).permutation(5).tolist()
    weights, value = coordinate_ascent(X.tolist(), DATA.y.tolist(), DATA.sizes.tolist(), convention, order, alpha=alpha)
    np.testing.assert_allclose(model.coef_, weights, rtol=1e-9)
    assert model.history_[0].value == pytest.approx(value, rel=1e-12)


@pytest.mark.long
def test_history_has_the_score_of_the_weights_and_never_falls_in_a_restart():
    """Steps up to 0.001 x 2^99 lose no digits: scores are computed from the weights, not by subtracting steps."""
    for n_steps in (25, 100):
        model = CoordinateAscent("textbook@5", n_restarts=1, n_steps=n_steps, tol=0.0, random_state=0)
        values = [entry.value for entry in model.fit(X, DATA.y, qid=DATA.qid).history_]
        assert len(values) == model.n_iter_ > 1
        assert (np.diff(values) >= -1e-12).all()
        assert model.score(X, DATA.y, qid=DATA.qid) == pytest.approx(max(values), rel=1e-12)


@pytest.mark.parametrize(
    ("n_features", "useful", "passes"), [(1, [], 1), (2, [0], 1), (2, [1], 2), (2, [], 1), (3, [1], 2)]
)
def test_a_restart_ends_when_all_other_features_fail_in_a_row(n_features, useful, passes):
    """The first feature of the order ranks the one pair right and the second cannot: one failure of two features.

    If the second ranks it right, a second pass brings the failures. If none does, all fail in the first pass. Of
    three features, one failure in a row does not end the restart.
    """
    order = np.random.RandomState(0).permutation(n_features)
    features = np.ones((2, n_features))
    features[1, order[useful]] = 0.0
    model = CoordinateAscent("textbook@1", n_restarts=1, tol=0.0, random_state=0)
    model.fit(features, [0, 1], qid=[0, 0])
    assert model.n_iter_ == passes
    assert model.history_[-1].value == (1.0 if useful else 0.5)


@pytest.mark.long
@pytest.mark.parametrize(("n_features", "moved"), [(400, 0.003), (500, 0.003), (501, 1.55 / 501)])
def test_the_first_step_is_0_001_or_relative_to_a_weight_below_0_002(n_features, moved):
    """The first feature ranks the pair wrong until steps of 0.001 or 0.05 / n add up to more than its weight 1 / n."""
    features = np.zeros((2, n_features))
    features[0, 0] = 1.0
    model = CoordinateAscent("textbook@1", n_restarts=1, n_steps=6, max_iter=1, random_state=0)
    coef = model.fit(features, [0, 1], qid=[0, 0]).coef_
    assert coef[0] / coef[1] == pytest.approx(1 - n_features * moved)
    model.set_params(warm_start=True).coef_ = np.eye(n_features)[1]  # from 0, the first step of 0.001 is enough
    coef = model.fit(features, [0, 1], qid=[0, 0]).coef_
    assert coef[0] / coef[1] == pytest.approx(-0.001)


def test_a_small_negative_weight_is_raised_first():
    """A weight above -0.001 ranks the first query well; a lower one ranks the second query well."""
    first, second = np.random.RandomState(0).permutation(2)
    features = np.zeros((4, 2))
    features[[1, 2], first], features[2, second] = 1.0, 0.002
    model = CoordinateAscent("textbook@1", n_restarts=1, max_iter=1, warm_start=True, random_state=0)
    model.coef_ = np.array([-0.001, 0.999])[[first, second]]
    assert model.fit(features, [0, 1, 0, 1], qid=[0, 0, 1, 1]).coef_[first] > 0


def test_weights_that_were_set_instead_of_learned_are_a_model_of_no_passes():
    model = CoordinateAscent("textbook@1", n_restarts=1, max_iter=1, warm_start=True, random_state=0)
    model.coef_ = np.array([0.5, 0.5])
    model.fit([[0.0, 1.0], [1.0, 0.0]], [0, 1], qid=[0, 0])
    assert (model.n_iter_, [row.iteration for row in model.history_]) == (1, [-1, 0])


def test_kernels_are_compiled_for_the_rows_of_all_steps(monkeypatch):
    asked = []
    monkeypatch.setattr(compiled, "pays", lambda *rows_and_dtype: asked.append(rows_and_dtype))
    CoordinateAscent("textbook@5", n_restarts=2, n_steps=3, max_iter=1).fit(X, DATA.y, qid=DATA.qid)
    assert (DATA.y.size * 5 * 3 * 2, np.dtype(np.float64)) in asked


def test_a_single_feature_has_the_equal_weight_and_no_penalty():
    model = CoordinateAscent("textbook@1", n_restarts=1, alpha=0.5, random_state=0).fit(
        [[1.0], [0.0]], [1, 0], qid=[0, 0]
    )
    assert (model.coef_.tolist(), model.history_[-1].value) == ([1.0], 1.0)


def test_features_that_differ_only_in_float64_are_distinguished():
    model = CoordinateAscent("textbook@1", n_restarts=1, random_state=0)
    model.fit([[1.0], [1 + 1e-12]], [1, 0], qid=[0, 0])
    assert model.coef_[0] < 0


@pytest.mark.long
def test_the_seed_decides_the_model_and_sparse_features_do_not_change_it():
    coef, same_seed, sparse, other_seed = (
        CoordinateAscent("textbook@5", n_restarts=1, max_iter=1, random_state=seed)
        .fit(rows, DATA.y, qid=DATA.qid)
        .coef_
        for seed, rows in ((0, X), (0, X), (0, sp.csr_matrix(X)), (1, X))
    )
    assert coef.tobytes() == same_seed.tobytes() == sparse.tobytes() != other_seed.tobytes()


def test_a_warm_start_keeps_weights_that_are_better_than_all_passes():
    """Under a strong penalty, a pass moves the weights toward equal ones, which lowers the measure."""
    model = CoordinateAscent("textbook@5", n_restarts=1, warm_start=True, random_state=0)
    coef = model.fit(X, DATA.y, qid=DATA.qid).coef_
    model.set_params(alpha=10.0).fit(X, DATA.y, qid=DATA.qid)
    first, *later = (entry.value for entry in model.history_)
    assert max(later) < first
    assert model.coef_.tolist() == coef.tolist()


def test_query_weights_count_only_if_the_convention_uses_them():
    weight = 1.0 + 9 * (DATA.qid < 8)
    with pytest.raises(ra.InputError, match="sample_weight was given but the convention says average='uniform'"):
        CoordinateAscent("textbook@5").fit(X, DATA.y, qid=DATA.qid, sample_weight=weight)
    convention = ra.presets.textbook(5).replace(average="query")
    model = CoordinateAscent(convention, n_restarts=1, max_iter=1).fit(X, DATA.y, qid=DATA.qid, sample_weight=weight)
    value = model.score(X, DATA.y, qid=DATA.qid, sample_weight=weight)
    assert model.history_[0].value == pytest.approx(value, rel=1e-12)
