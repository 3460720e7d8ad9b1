"""Gradients against plain Python, against the losses they are derivatives of, and what must hold for all of them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters import objectives
from rankadapters.core.definition import Row
from tests.core.lambdarank_by_hand import query_gradients
from tests.core.strategies import conventions
from tests.core.test_kernels_against_definition import columns, ragged

EXACT = objectives.lightgbm_lambdarank().replace(sigmoid="exact")
TABLE = objectives.lightgbm_lambdarank()
SHARES = objectives.query_cross_entropy()  # wants labels in [0, 1]
STATELESS = [
    EXACT,
    TABLE,
    EXACT.replace(normalization="none"),
    objectives.xgboost_ndcg(),
    objectives.xgboost_ndcg().replace(sigmoid="exact"),
    objectives.xgboost_pairwise(),
    objectives.pair_logit(),
    objectives.xgboost_map(),
    objectives.ListNet(),
    objectives.query_softmax(),
    objectives.QueryRMSE(),
    SHARES,
]
DRAWING = [
    objectives.lightgbm_xendcg(),
    objectives.xgboost_ndcg(lambdarank_pair_method="mean"),
    objectives.xgboost_pairwise(lambdarank_pair_method="mean", lambdarank_num_pair_per_sample=3),
    objectives.xgboost_map(lambdarank_pair_method="mean"),
]
ADDING_UP_TO_0 = [value for value in [*STATELESS, *DRAWING] if value.kind not in {"query-cross-entropy", "xendcg"}]


def kind(value: objectives.Objective) -> str:
    return str(value).partition("/v")[0].replace("/", " ")


def data(value: objectives.Objective, seed: int = 0, sizes: tuple[int, ...] = (1, 2, 7, 40, 120)):
    """Labels that the objective takes, and distinct scores."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    top = 1 if value.kind in {"lambdamap", "query-cross-entropy"} else 4
    return rng.integers(0, top + 1, n).astype(float), rng.standard_normal(n), list(sizes)


@st.composite
def pairwise(draw: st.DrawFn) -> objectives.LambdaRank | objectives.RankNet:
    common = {
        "truncation": draw(st.sampled_from([None, 1, 3, 10])),
        "samples": None,
        "sigma": draw(st.sampled_from([0.5, 1.0, 2.0])),
        "normalization": draw(st.sampled_from(["none", "lightgbm", "xgboost", "xgboost-distance", "xgboost-sum"])),
        "hessian": draw(st.sampled_from(["plain", "doubled"])),
        "sigmoid": "exact",
    }
    if draw(st.integers(0, 3)) == 0:
        return objectives.RankNet(**common)
    convention = draw(conventions(lenient=True).filter(lambda c: isinstance(c, ra.NDCG)))
    if "1e+30" in convention.gain:  # beyond float32 there is no gradient to compare
        convention = convention.replace(gain="exp2")
    return objectives.LambdaRank(**common, convention=convention, beyond_k=draw(st.sampled_from(["keep", "cut"])))


@given(queries=ragged(), value=pairwise())
@settings(max_examples=200)
def test_gradients_are_those_of_the_formula(queries, value):
    if isinstance(value, objectives.RankNet):  # without a convention every row is retrieved and judged
        queries = [[replace(row, retrieved=True, judged=True) for row in query] for query in queries]
    table, scores = columns(queries)
    if isinstance(value, objectives.RankNet):
        del table["retrieved"], table["judged"]
    grad, hess = objectives.gradients(table.pop("labels"), scores, value, **table)
    pairs = [query_gradients(query, value) for query in queries]
    np.testing.assert_allclose(grad, [g for query, _ in pairs for g in query], rtol=3e-7, atol=1e-12)
    np.testing.assert_allclose(hess, [h for _, query in pairs for h in query], rtol=3e-7, atol=1e-12)


@given(seed=st.integers(0, 2**32 - 1), norm=st.booleans(), truncation=st.sampled_from([1, 5, 30]))
@settings(max_examples=30, deadline=None)
def test_the_table_is_the_exact_sigmoid_up_to_its_bins(seed, norm, truncation):
    value = objectives.lightgbm_lambdarank(lambdarank_norm=norm, lambdarank_truncation_level=truncation)
    labels, scores, sizes = data(value, seed)
    found = objectives.gradients(labels, scores, value, group_sizes=sizes)
    exact = objectives.gradients(labels, scores, value.replace(sigmoid="exact"), group_sizes=sizes)
    bin_width = 50 / 2**20
    for one, other in zip(found, exact, strict=True):
        np.testing.assert_allclose(one, other, rtol=bin_width, atol=bin_width * np.abs(other).max())


@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1e-8, 1e-7, 1e-6]))
@settings(max_examples=40, deadline=None)
def test_scores_are_compared_in_the_declared_precision(seed, scale):
    """Scores that differ in the last bits of float32 or beyond it only."""
    rng = np.random.default_rng(seed)
    labels, scores = rng.integers(0, 3, 12).astype(float), 1 + scale * rng.standard_normal(12)
    value = EXACT.replace(convention=ra.presets.textbook(5).replace(precision="float32"), normalization="lightgbm")
    rows = [Row(label, score) for label, score in zip(labels, scores, strict=True)]
    expected = query_gradients(rows, value)
    for given_scores in (scores, scores.astype(np.float32)):
        found = objectives.gradients(labels, given_scores, value, group_sizes=[12])
        np.testing.assert_allclose(found, expected, rtol=3e-7, atol=1e-12)


@pytest.mark.parametrize("value", [objectives.xgboost_ndcg(), objectives.xgboost_pairwise()], ids=kind)
def test_float32_arithmetic_is_the_exact_one_up_to_its_rounding(value):
    labels, scores, sizes = data(value)
    found = objectives.gradients(labels, scores.astype(np.float32), value, group_sizes=sizes)
    exact = objectives.gradients(labels, scores.astype(np.float32), value.replace(sigmoid="exact"), group_sizes=sizes)
    for one, other in zip(found, exact, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-6, atol=2e-6 * np.abs(other).max())


@pytest.mark.parametrize("value", [objectives.xgboost_ndcg(), objectives.xgboost_pairwise()], ids=kind)
def test_scores_beyond_float32_are_refused_where_it_compares_them(value):
    with pytest.raises(ra.InputError, match=r"scores\[1\] is -1e\+39, beyond float32"):
        objectives.gradients([1, 0], [0.0, -1e39], value, group_sizes=[2])


@pytest.mark.parametrize("value", ADDING_UP_TO_0, ids=kind)
def test_gradients_of_a_query_add_up_to_0(value):
    labels, scores, sizes = data(value)
    grad, _ = objectives.gradients(labels, scores, value, group_sizes=sizes)
    starts = np.cumsum([0, *sizes[:-1]])
    np.testing.assert_allclose(np.add.reduceat(grad.astype(float), starts), 0, atol=2e-6 * np.abs(grad).max())


@pytest.mark.parametrize("value", STATELESS, ids=kind)
def test_permuted_rows_have_permuted_gradients(value):
    labels, scores, sizes = data(value)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    straight = objectives.gradients(labels, scores, value, qid=qid)
    places = np.random.default_rng(5).permutation(qid.size)
    shuffled = objectives.gradients(labels[places], scores[places], value, qid=qid[places])
    for one, other in zip(straight, shuffled, strict=True):
        if value.kind in {"query-softmax", "listnet", "query-rmse", "query-cross-entropy"}:  # they add in row order
            np.testing.assert_allclose(other, one[places], rtol=1e-5, atol=1e-7)
        else:
            np.testing.assert_array_equal(other, one[places])


@pytest.mark.parametrize("value", [*STATELESS, *DRAWING], ids=kind)
def test_any_number_of_threads_gives_the_same_bits(value):
    sizes = tuple(np.random.default_rng(1).integers(1, 200, 2000).tolist())
    labels, scores, _ = data(value, 3, sizes)
    assert scores.size > 150_000  # so that three threads have a chunk each
    queries = ra.Queries(labels, group_sizes=sizes)
    one, *others = ([bound.gradients(scores) for _ in range(2)]
                    for bound in (value.bind(queries, n_threads=n) for n in (1, 2, 3)))  # fmt: skip
    for other in others:
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("value", [*STATELESS, *DRAWING], ids=kind)
@pytest.mark.parametrize("scale", [1e6, 1e100, 1e-300])
def test_scores_of_any_size_have_finite_gradients(value, scale):
    labels, scores, sizes = data(value)
    if value.kind == "query-rmse" or "float32" in str(value):
        scale = min(scale, 1e6)  # float32 ends at 3.4e38; QueryRMSE's gradients are as large as the scores
    for shape in (np.sign(scores), scores, np.where(np.arange(scores.size) % 7, scores, -scores * 3)):
        grad, hess = objectives.gradients(labels, shape * scale, value, group_sizes=sizes)
        assert np.isfinite(grad).all()
        assert np.isfinite(hess).all()
        assert (hess >= 0).all()


def test_rows_far_below_the_best_still_part():
    """Far below the maximum exp(s) underflows, yet the pair differs by 1 only."""
    value = objectives.pair_logit()
    grad, hess = objectives.gradients([0, 1, 0], [0.0, -9000.0, -9001.0], value, group_sizes=[3])
    p = 1 / (1 + math.e)
    np.testing.assert_allclose(grad, [1, -1 - p, p], rtol=1e-6)
    np.testing.assert_allclose(hess, [0, p * (1 - p), p * (1 - p)], rtol=1e-6)


@pytest.mark.parametrize("value", [EXACT, objectives.pair_logit(), objectives.QueryRMSE()], ids=kind)
def test_scores_too_far_apart_are_refused(value):
    with pytest.raises(ra.InputError, match=r"scores\[[01]\] is -?1\.5e\+308, too far from the others of its query"):
        objectives.gradients([1, 0], [1.5e308, -1.5e308], value, group_sizes=[2])


@pytest.mark.parametrize("value", [*STATELESS, *DRAWING], ids=kind)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_scores_that_are_not_finite_are_refused(value, bad):
    labels, scores, sizes = data(value)
    scores[11] = bad
    bound = value.bind(ra.Queries(labels, group_sizes=sizes))
    before = bound.state.copy()
    with pytest.raises(ra.InputError, match=r"scores\[11\] is"):
        bound.gradients(scores)
    np.testing.assert_array_equal(bound.state, before)


@pytest.mark.parametrize("short", ["zero", "skip"])
@pytest.mark.parametrize("sigmoid", ["exact", "table"])
def test_a_query_ruled_out_as_short_has_no_gradient(short, sigmoid):
    value = EXACT.replace(convention=ra.presets.letor4(5).replace(short=short), sigmoid=sigmoid)
    grad, hess = objectives.gradients([1, 0, 0, 1, 0, 2, 1, 0, 0], np.arange(9.0), value, group_sizes=[4, 5])
    assert not grad[:4].any()
    assert not hess[:4].any()
    assert grad[4:].any()


@pytest.mark.parametrize("value", [v for v in STATELESS if v.kind in {"lambdarank", "ranknet", "lambdamap"}], ids=kind)
def test_a_query_of_one_grade_has_no_gradient(value):
    grad, hess = objectives.gradients([1, 1, 1, 0, 0], np.arange(5.0), value, group_sizes=[3, 2])
    assert not grad.any()
    assert not hess.any()


@pytest.mark.parametrize("policy", [{"empty": "error"}, {"empty": "skip"}, {"empty": 0.5}, {"missing": "error"}])
def test_policies_for_empty_and_missing_queries_do_not_matter(policy):
    labels, scores, sizes = [0, 0, 1, 0], [0.1, 0.2, 0.3, 0.4], [2, 2]
    one = objectives.gradients(labels, scores, EXACT, group_sizes=sizes)
    other = EXACT.replace(convention=EXACT.convention.replace(**policy))
    np.testing.assert_array_equal(one, objectives.gradients(labels, scores, other, group_sizes=sizes))


@pytest.mark.parametrize("value", [*STATELESS, *DRAWING], ids=kind)
def test_query_weights_multiply(value):
    labels, scores, sizes = data(value)
    if isinstance(value, objectives.LambdaRank):
        value = value.replace(convention=value.convention.replace(average="query"))
    weights = [1.0, 2.0, 1.0, 4.0, 0.0]  # powers of two, so that nothing rounds before the division by their mean
    plain = objectives.gradients(labels, scores, value, group_sizes=sizes)
    weighted = objectives.gradients(labels, scores, value, group_sizes=sizes, query_weight=weights)
    factor = np.float32(5 / 8 if value.divides_weights else 1)
    np.testing.assert_array_equal(weighted, [part * np.float32(np.repeat(weights, sizes)) * factor for part in plain])


def test_averaged_ties_are_ranked_in_row_order():
    labels, scores = [2, 0.5, 1, 0], [0.5, 0.5, 0.5, 0.5]
    averaged = EXACT.replace(convention=EXACT.convention.replace(ties="average"))
    for value in (EXACT, averaged):
        found = objectives.gradients(labels, scores, value, group_sizes=[4])
        np.testing.assert_array_equal(found, objectives.gradients(labels, scores, EXACT, group_sizes=[4]))


def test_rows_not_retrieved_have_no_gradient():
    convention = ra.presets.textbook(3).replace(unjudged="drop")
    value = EXACT.replace(convention=convention)
    retrieved, judged = [True, True, False, True], [True, True, True, False]
    grad, _ = objectives.gradients(
        [1, 0, 2, 0], [1.0, 2.0, 9.0, 3.0], value, group_sizes=[4], retrieved=retrieved, judged=judged
    )
    assert grad[:2].all()
    assert not grad[2:].any()


def test_cut_discounts_make_delta_the_true_change_of_ndcg():
    convention = ra.presets.textbook(3).replace(ties="input")
    value = EXACT.replace(convention=convention, beyond_k="cut", normalization="none", truncation=None)
    labels, scores = np.array([0, 2, 1, 0, 3]), np.arange(5.0)[::-1].copy()
    grad = np.zeros(5)
    before = ra.evaluate(labels, scores, convention, group_sizes=[5]).value
    for i in range(5):
        for j in range(5):
            if labels[i] > labels[j]:
                traded = scores.copy()
                traded[[i, j]] = traded[[j, i]]
                change = abs(ra.evaluate(labels, traded, convention, group_sizes=[5]).value - before)
                push = change / (1 + math.exp(scores[i] - scores[j]))
                grad[i] -= push
                grad[j] += push
    found, _ = objectives.gradients(labels, scores, value, group_sizes=[5])
    np.testing.assert_allclose(found, grad, rtol=1e-6)


def log_softmax(scores):
    return scores - scores.max() - np.log(np.exp(scores - scores.max()).sum())


def ranknet_loss(labels, scores):
    above = labels[:, None] > labels[None, :]
    return np.log1p(np.exp(-(scores[:, None] - scores[None, :])))[above].sum()


def cross_entropy_loss(labels, scores, alpha=0.95):
    from scipy.optimize import brentq

    def loss(margin):
        return (np.logaddexp(0, margin) - labels * margin).sum()

    shift = brentq(lambda c: (1 / (1 + np.exp(-scores - c))).sum() - labels.sum(), -50, 50, xtol=1e-15)
    return (1 - alpha) * loss(scores) + alpha * loss(scores + shift)


LOSSES = {
    "pair_logit": (objectives.pair_logit(), ranknet_loss),
    "listnet": (objectives.ListNet(), lambda y, s: -(np.exp(log_softmax(y)) * log_softmax(s)).sum()),
    "softmax": (objectives.query_softmax(beta=2), lambda y, s: -(y * log_softmax(2 * s)).sum()),
    "rmse": (objectives.QueryRMSE(), lambda y, s: ((s - y - (s - y).mean()) ** 2).sum() / 2),
    "cross entropy": (SHARES, cross_entropy_loss),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_finite_differences_of_the_loss(name):
    if name == "cross entropy":
        pytest.importorskip("scipy", reason="the best shift is found by scipy")
    value, loss = LOSSES[name]
    rng = np.random.default_rng(2)
    labels = rng.random(9) if value is SHARES else rng.integers(0, 4, 9).astype(float)
    scores, step = rng.standard_normal(9), 1e-5
    grad, _ = objectives.gradients(labels, scores, value, group_sizes=[9])
    for i, unit in enumerate(np.eye(9)):
        difference = (loss(labels, scores + step * unit) - loss(labels, scores - step * unit)) / (2 * step)
        assert grad[i] == pytest.approx(difference, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("name", ["pair_logit", "listnet"])
def test_hessians_are_second_differences_of_the_loss(name):
    value, loss = LOSSES[name]
    rng = np.random.default_rng(2)
    labels, scores, step = rng.integers(0, 4, 9).astype(float), rng.standard_normal(9), 1e-4
    _, hess = objectives.gradients(labels, scores, value, group_sizes=[9])
    for i, unit in enumerate(np.eye(9)):
        around = loss(labels, scores + step * unit) - 2 * loss(labels, scores) + loss(labels, scores - step * unit)
        assert hess[i] == pytest.approx(around / step**2, rel=1e-4)


def test_xendcg_draws_anew_each_round_and_goes_on_from_a_state():
    value, sizes = objectives.lightgbm_xendcg(), [3, 4]
    labels, scores = [0, 1, 2, 0, 0, 1, 3], np.zeros(7)
    queries = ra.Queries(labels, group_sizes=sizes)
    bound = value.bind(queries)
    first, second = bound.gradients(scores)[0], bound.gradients(scores)[0]
    assert (first != second).any()
    fresh = value.bind(queries)
    np.testing.assert_array_equal(fresh.gradients(scores)[0], first)
    resumed = value.bind(queries, state=fresh.state.copy())
    np.testing.assert_array_equal(resumed.gradients(scores)[0], second)


@pytest.mark.parametrize(
    ("value", "labels", "message"),
    [
        (objectives.xgboost_map(), [0, 2], r"labels\[1\] is 2, but average precision knows 0 and 1"),
        (objectives.lightgbm_xendcg(), [0, -1], r"labels\[1\] is -1; the objective takes labels from 0 to 1000"),
        (objectives.query_softmax(), [-1, 1], r"labels\[0\] is -1; the objective takes labels from 0 to 1e\+30"),
        (SHARES, [0.5, 1.5], r"labels\[1\] is 1\.5; the objective takes labels from 0 to 1"),
        (EXACT, [0, -1], r"labels\[1\] is -1"),
    ],
)
def test_labels_that_an_objective_cannot_take_are_refused(value, labels, message):
    with pytest.raises(ra.InputError, match=message):
        objectives.gradients(labels, [0.0, 1.0], value, group_sizes=[2])


def test_weights_under_a_uniform_average_are_refused():
    value = EXACT.replace(convention=ra.presets.yahoo(5))
    with pytest.raises(ra.InputError, match="average='uniform', which would ignore it"):
        objectives.gradients([0, 1], [0.0, 1.0], value, group_sizes=[2], query_weight=[2.0])


@pytest.mark.parametrize("value", [v for v in [*STATELESS, *DRAWING] if v.kind != "lambdarank"], ids=kind)
@pytest.mark.parametrize("column", ["retrieved", "judged"])
def test_unjudged_rows_need_a_convention(value, column):
    with pytest.raises(ra.InputError, match="mean something under a convention only"):
        objectives.gradients([0, 1], [0.0, 1.0], value, group_sizes=[2], **{column: [True, False]})
