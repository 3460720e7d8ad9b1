"""RankSVM against LinearSVC on the differences of all pairs, with and without building the pairs."""

import re
import warnings

import numpy as np
import pytest

import rankadapters as ra

pytest.importorskip("sklearn")

import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from rankadapters.learners import RankSVM
from rankadapters.learners.ranksvm import PairMargins, _conjugate_gradients, _descend
from tests.helpers.rankings import ranking
from tests.learners.learners_by_hand import label_pairs

DATA = ranking(1, 25)
VALID = ranking(2, 20)
PAIRS = np.array(label_pairs(DATA.y.tolist(), DATA.sizes.tolist()))


def objective(w, C):
    margins = 1 - (DATA.X[PAIRS[:, 0]] - DATA.X[PAIRS[:, 1]]) @ w
    return 0.5 * w @ w + C * (np.maximum(margins, 0) ** 2).sum()


@pytest.mark.parametrize("C", [1e-4, 0.01, 1.0])
@pytest.mark.parametrize("max_pairs", [0, 10**6])
def test_the_weights_equal_linear_svc_on_the_differences_of_pairs(C, max_pairs):
    differences = DATA.X[PAIRS[:, 0]] - DATA.X[PAIRS[:, 1]]
    sign = np.where(np.arange(len(differences)) % 3, -1, 1)
    solver = LinearSVC(C=C, dual=False, fit_intercept=False, tol=1e-10).fit(differences * sign[:, None], sign)
    model = RankSVM(C=C, tol=1e-10, max_pairs=max_pairs).fit(DATA.X, DATA.y, qid=DATA.qid)
    np.testing.assert_allclose(model.coef_, solver.coef_[0], rtol=1e-5, atol=1e-8)
    sparse = RankSVM(C=C, tol=1e-10, max_pairs=max_pairs).fit(sp.csr_matrix(DATA.X), DATA.y, qid=DATA.qid)
    np.testing.assert_allclose(sparse.coef_, model.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(sparse.predict(sp.csr_matrix(VALID.X)), sparse.predict(VALID.X), rtol=1e-12)


@pytest.mark.parametrize("max_pairs", [0, 10**6])
def test_the_default_tolerance_bounds_the_loss_above_the_optimum(max_pairs):
    lowest_loss = objective(RankSVM(C=0.1, tol=1e-10).fit(DATA.X, DATA.y, qid=DATA.qid).coef_, 0.1)
    loss = objective(RankSVM(C=0.1, max_pairs=max_pairs).fit(DATA.X, DATA.y, qid=DATA.qid).coef_, 0.1)
    assert lowest_loss <= loss <= lowest_loss * (1 + 1e-5)


@pytest.mark.parametrize("max_pairs", [0, 10**6])
def test_a_whole_query_weight_equals_copies_of_the_query(max_pairs):
    weight = 1.0 + (DATA.qid % 3)
    model = RankSVM(C=0.1, tol=1e-10, max_pairs=max_pairs)
    coef = model.fit(DATA.X, DATA.y, qid=DATA.qid, sample_weight=weight).coef_
    rows = np.repeat(np.arange(DATA.y.size), weight.astype(int))
    copy = np.concatenate([np.arange(int(w)) for w in weight])
    coef_of_copies = model.fit(DATA.X[rows], DATA.y[rows], qid=DATA.qid[rows] * 10 + copy).coef_
    np.testing.assert_allclose(coef, coef_of_copies, rtol=1e-4)


def test_gradient_and_hessian_are_the_derivatives_of_the_loss():
    margins = PairMargins(DATA.y, DATA.sizes, np.linspace(1, 2, DATA.sizes.size))
    assert margins.n_pairs == len(PAIRS)  # counted without building them
    rng = np.random.default_rng(0)
    scores, direction = rng.normal(0, 0.3, DATA.y.size), rng.normal(0, 1, DATA.y.size)
    step = 1e-6
    above, below = scores + step * direction, scores - step * direction
    slope = (margins.loss(above) - margins.loss(below)) / (2 * step)
    assert margins.gradient(scores) @ direction == pytest.approx(slope, rel=1e-6)
    curvature = (margins.gradient(above) - margins.gradient(below)) / (2 * step)
    np.testing.assert_allclose(margins.hessian(scores)(direction), curvature, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("step", "slope", "length"),
    [
        (0.9998, -0.9998, 1.0),
        (0.99995, -0.99995, 0.5),  # a full step lowers the loss by less than 1e-4 of the slope
        (-1.0, 1.0, 2.0**-41),  # uphill: the loss may rise only by rounding, up to 1e-12 of it
        (1.0, -1e30, 2.0**-50),
    ],
)
def test_a_step_is_halved_until_the_loss_falls_enough(step, slope, length):
    """One pair and C = 1/2: the loss is w^2 - w + 1/2 up to w = 1."""
    X, margins, start = np.array([[1.0], [0.0]]), PairMargins(np.array([1.0, 0.0]), np.array([2]), None), np.zeros(1)
    weights, scores = _descend(X, margins, 0.5, (start, np.zeros(2)), (np.array([step]), slope))
    assert weights.tolist() == [length * step]
    assert scores.tolist() == [length * step, 0.0]


def test_conjugate_gradients_end_at_a_tenth_of_the_residual_or_after_2n_steps():
    ones = np.ones(2)
    for a, solution in ((1.21, 2 / 2.21 * ones), (1.24, [1, 1 / 1.24])):  # the first residual is (a - 1) / (a + 1)
        result = _conjugate_gradients(lambda d, a=a: d * [1, a], ones)
        np.testing.assert_allclose(result, solution, rtol=1e-12)
    assert _conjugate_gradients(lambda d: d, np.zeros(2)).tolist() == [0.0, 0.0]
    calls, rotation = [], np.array([[1.0, 9, 0], [-9, 1, 0], [0, 0, 1]])
    _conjugate_gradients(lambda d: calls.append(d) or rotation @ d, np.ones(3))
    assert len(calls) == 6


def test_newton_ends_at_half_the_tolerance_and_small_data_uses_linear_svc():
    model, norms = RankSVM(C=0.1, tol=1e-10, max_pairs=0), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for max_iter in range(1, 4):
            w = model.set_params(max_iter=max_iter).fit(DATA.X, DATA.y, qid=DATA.qid).coef_
            gradient = PairMargins(DATA.y, DATA.sizes, None).gradient(DATA.X @ w)
            norms.append(np.linalg.norm(w + 0.1 * DATA.X.T @ gradient))
    first = np.linalg.norm(0.1 * DATA.X.T @ PairMargins(DATA.y, DATA.sizes, None).gradient(np.zeros(DATA.y.size)))
    for factor, n_iter in ((2.001, 2), (1.999, 3)):
        model.set_params(max_iter=99, tol=factor * norms[1] / first).fit(DATA.X, DATA.y, qid=DATA.qid)
        assert model.n_iter_ == n_iter
    sign = np.where(np.arange(len(PAIRS)) % 2, -1, 1)
    solver = LinearSVC(C=0.1, dual=False, fit_intercept=False, tol=1e-3)
    solver.fit((DATA.X[PAIRS[:, 0]] - DATA.X[PAIRS[:, 1]]) * sign[:, None], sign)
    model = RankSVM(C=0.1).fit(DATA.X, DATA.y, qid=DATA.qid)
    assert (model.coef_.tolist(), model.n_iter_) == (solver.coef_[0].tolist(), int(solver.n_iter_))


def test_history_and_score_are_under_the_convention():
    model = RankSVM(C=0.1, convention="textbook@5").fit(
        DATA.X, DATA.y, qid=DATA.qid, eval_set=[(VALID.X, VALID.y, VALID.qid)]
    )
    assert [entry.dataset for entry in model.history_] == ["train", "valid_0"]
    assert model.history_[1].value == pytest.approx(model.score(VALID.X, VALID.y, qid=VALID.qid), rel=1e-12)


def test_too_few_iterations_warn():
    with pytest.warns(ConvergenceWarning, match="RankSVM did not converge in 1 iterations") as caught:
        RankSVM(C=1.0, tol=1e-12, max_iter=1, max_pairs=0).fit(DATA.X, DATA.y, qid=DATA.qid)
    assert [message.filename for message in caught] == [__file__]


@pytest.mark.parametrize("max_pairs", [0, 10**6])
def test_pairs_of_weight_0_are_ignored(max_pairs, capfd):
    """The one pair of weight 1 minimizes w^2 / 2 + (1 - w)^2; the solver prints nothing."""
    X, y, qid = [[0.0], [1.0], [0.0], [2.0], [3.0]], [0, 1, 0, 1, 2], [1, 1, 2, 2, 2]
    model = RankSVM(C=1.0, tol=1e-10, max_pairs=max_pairs).fit(X, y, qid=qid, sample_weight=[1, 1, 0, 0, 0])
    one_pair = RankSVM(C=1.0, tol=1e-10, max_pairs=max_pairs).fit(X[:2], y[:2], qid=qid[:2])  # a single pair is enough
    assert model.coef_ == one_pair.coef_ == pytest.approx([2 / 3])
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", [np.array, sp.csr_matrix])
def test_features_whose_squares_overflow_are_refused(kind):
    with pytest.raises(ra.InputError, match=r"X has 1e\+200, whose square is too large for the solver"):
        RankSVM().fit(kind([[0.0], [1e200]]), [0, 1], qid=[1, 1])


FEATURES = "for the solver; allowed are numbers from 1e-50 to 1e+50."
REFUSED = {
    (1e-164, 1, 1): f"the largest number in X is 1e-164, whose square is too close to 0 {FEATURES}",
    (1e-152, 1e-12, 1): f"the largest number in X is 1e-152, whose square is too close to 0 {FEATURES}",
    (1e100, 1, 1): f"X has 1e+100, whose square is too large {FEATURES}",
    (1, 1, 1e-170): "C times the largest weight is 1e-170; allowed are numbers from 1e-50 to 1e+20.",
    (1, 1, 1e160): "C times the largest weight is 1e+160; allowed are numbers from 1e-50 to 1e+20.",
}


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("scale", "C", "weight", "message"),
    [
        *((*case, message) for case, message in REFUSED.items()),
        (np.nextafter(1e-50, 0), 1, 1, f"the largest number in X is 1e-50, whose square is too close to 0 {FEATURES}"),
        (np.nextafter(1e50, 1e51), 1, 1, f"X has 1e+50, whose square is too large {FEATURES}"),
        (1, 1, np.nextafter(1e-50, 0), "C times the largest weight is 1e-50; allowed"),
        (1, 1, np.nextafter(1e20, 1e21), "C times the largest weight is 1e+20; allowed"),
        *((scale, 1, 1, None) for scale in (0, 1e-50, 1e50)),
        *((1, 1, weight, None) for weight in (1e-50, 1e20)),
    ],
)
def test_values_at_the_bounds_are_allowed_and_beyond_them_refused(scale, C, weight, message, sign):
    """The fits build no pairs, so they end even if they should have been refused."""
    X, y, qid = np.array([[0.0], [sign], [0.0], [sign / 2]]) * scale, [0, 1, 0, 1], [1, 1, 2, 2]
    model = RankSVM(C=C, max_pairs=0, max_iter=1)
    with pytest.raises(ra.InputError, match=re.escape(message)) if message else warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y, qid=qid, sample_weight=[weight, weight, 0, 0])


@pytest.mark.parametrize("C", [1e-12, 1e12])
@pytest.mark.parametrize("max_pairs", [0, 10**6])
def test_the_smallest_and_the_largest_c_are_solved(C, max_pairs):
    model = RankSVM(C=C, max_pairs=max_pairs).fit(DATA.X, DATA.y, qid=DATA.qid)
    assert np.isfinite(model.coef_).all()
    assert model.coef_.any()
