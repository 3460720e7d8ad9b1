"""Gradients by hand: closed formulas, each query alone, and finite differences of the losses."""

from __future__ import annotations

import math
from functools import partial
from itertools import accumulate, product

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from rankadapters.objectives.base import OBJECTIVES
from rankadapters.objectives.kernels.lambdas_by_table import BINS, REACH, from_table, sigmoid_table
from tests.helpers.gradient_rows import EXACT, STATELESS, data, kind
from tests.helpers.pairwise_gradients_by_hand import query_gradients
from tests.helpers.random_loss_records import unrounded
from tests.helpers.tables import for_each
from tests.oracles.rows import Row

SIZES = (3, 1, 5, 2, 8)
STARTS = np.cumsum([0, *SIZES])


@for_each("value", [*STATELESS, objectives.lightgbm.xendcg()], ids=kind)
def test_gradients_of_several_queries_are_those_of_each_alone(value):
    labels, scores, sizes = data(value, 7, SIZES)
    whole = objectives.gradients(labels, scores, value, group_sizes=sizes)
    for q, part in enumerate(map(slice, STARTS, STARTS[1:])):
        own = value.replace(seed=value.seed + q) if value.kind == "xendcg" else value  # each query has its generator
        alone = objectives.gradients(labels[part], scores[part], own, group_sizes=[sizes[q]])
        np.testing.assert_array_equal(alone, [array[part] for array in whole])


def xendcg(label, score, draws):
    """Bruch's gradients of one query, with LightGBM's third term, of whatever gains the draws make."""
    phi = np.exp2(np.floor(label)) - draws
    powers = np.exp(score - score.max())
    rho = powers / powers.sum()
    rest = np.maximum(1 - rho, 2.0**-53)  # where a probability rounds to 1
    first = rho - phi / phi.sum()
    second = rho * ((first / rest).sum() - first / rest)
    third = rho * ((second / rest).sum() - second / rest)
    return first + second + third, rho * (1 - rho)


def draws(seed, number):
    """LightGBM 4.7.0, include/LightGBM/utils/random.h, `Random::NextFloat`."""
    found, state = [], seed
    for _ in range(number):
        state = (214013 * state + 2531011) % 2**32
        found.append(((state >> 16) & 0x7FFF) / 32768)
    return np.array(found)


def test_xendcg_by_hand_in_two_rounds():
    labels, scores = np.array([0.0, 2, 1, 1, 0]), np.array([0.2, -0.4, 1.0, 0.0, 0.7])
    value, queries = objectives.lightgbm.xendcg(objective_seed=9), ra.Queries(labels, group_sizes=[2, 3])
    bound = value.bind(queries)
    for done in (0, 1):
        bound = value.bind(queries, state=bound.state.copy())  # draws go on from a state
        grad, hess = bound.gradients(scores)
        parts = [(slice(0, 2), draws(9, 4)[2 * done :][:2]), (slice(2, 5), draws(10, 6)[3 * done :][:3])]
        for part, drawn in parts:
            expected = xendcg(labels[part], scores[part], drawn)
            np.testing.assert_allclose(grad[part], expected[0], rtol=1e-5, atol=1e-7)
            np.testing.assert_allclose(hess[part], expected[1], rtol=1e-6)


def test_xendcg_divides_by_the_last_bit_of_1_where_a_probability_rounds_to_1():
    labels, scores = np.array([1.0, 1.0]), np.array([38.0, 0.0])
    found, _ = unrounded(objectives.lightgbm.xendcg(objective_seed=5), ra.Queries(labels, group_sizes=[2]), scores)
    np.testing.assert_allclose(found, xendcg(labels, scores, draws(5, 2))[0], rtol=1e-6)


@for_each(("truncation", "seed"), list(product([None, 1, 3], range(4))))
def test_lambdamap_weighs_a_pair_by_the_change_of_average_precision(truncation, seed):
    rng = np.random.default_rng(seed)
    labels, scores = rng.permutation([0.0, 0, 0, 1, 1, 0, 1]), rng.standard_normal(7).astype(np.float32)
    value = objectives.xgboost.map().replace(truncation=truncation, normalization="none")
    found = objectives.gradients(labels, scores, value, group_sizes=[7])
    trading = EXACT.replace(convention=ra.presets.catboost.map(None), truncation=truncation, normalization="none",
                            hessian="doubled", sigma=1.0)  # fmt: skip
    rows = [Row(float(label), float(score)) for label, score in zip(labels, scores, strict=True)]
    np.testing.assert_allclose(found, query_gradients(rows, trading), rtol=2e-5, atol=1e-6)


@for_each("sigma", [0.1, 0.3, 0.7, 1.0, 1.5, 2.0, 3.3, 7.0, 10.0])
def test_the_table_is_read_inside_its_bounds(sigma):
    """It covers sigma x from -25 to 25; the floats next to its ends are read, and what lies behind it is not."""
    behind = np.full(BINS + 8, np.nan)
    table = behind[:BINS]
    sigmoid_table(sigma, table)
    end = REACH / sigma
    bins_per_unit = BINS / (2 * end)
    near = list(accumulate(range(4), lambda x, _: float(np.nextafter(x, 0)), initial=end))
    for x in [*near, np.nextafter(end, math.inf), 1e300, *np.linspace(-end, end, 999)[1:-1]]:
        for signed in (x, -x):
            found = from_table(signed, table, -end, bins_per_unit)
            exact = 1 / (1 + math.exp(min(max(sigma * signed, -REACH), REACH)))
            assert found == pytest.approx(exact, rel=2 * 50 / BINS)


@for_each("x", [25.0, float(np.nextafter(25.0, 0)), 30.0, 1e9])
def test_a_pair_at_the_end_of_the_table_has_its_last_entry(x):
    """1 / (1 + exp(25 - 1 bin)), of bins 50 / 2^20 wide."""
    value = objectives.lightgbm.lambdarank(lambdarank_norm=False)
    grad, hess = objectives.gradients([1, 0], [x, 0.0], value, group_sizes=[2])
    last = 1 / (1 + math.exp(25 - 50 / 2**20))
    delta = 1 - 1 / math.log2(3)
    np.testing.assert_allclose(grad, [-delta * last, delta * last], rtol=1e-6)
    np.testing.assert_allclose(hess, [delta * last * (1 - last)] * 2, rtol=1e-6)


@for_each("sigmoid", ["exact", "float32"])
def test_xgboosts_hessian_has_a_floor(sigmoid):
    """A pair 60 apart has p (1 - p) = e^-60, far below 1e-16."""
    value = objectives.xgboost.pairwise(lambdarank_normalization=False, lambdarank_score_normalization=False)
    _, hess = objectives.gradients([1, 0], [60.0, 0.0], value.replace(sigmoid=sigmoid), group_sizes=[2])
    np.testing.assert_allclose(hess, [2e-16, 2e-16], rtol=1e-6)
    plain = objectives.gradients([1, 0], [60.0, 0.0], value.replace(sigmoid="exact", hessian="plain"), group_sizes=[2])
    np.testing.assert_allclose(plain[1], [math.exp(-60)] * 2, rtol=1e-6)


@for_each("size", [2, 3, 4, 5, 6, 7])
def test_scores_of_the_query_before_leave_nothing_behind(size):
    """Whose difference from those that follow would be infinite."""
    labels, near = np.arange(9 + size) % 2, np.arange(size) * 1e290
    scores = np.concatenate([1.5e308 - np.arange(9) * 1e290, near - 1.5e308])
    both = objectives.gradients(labels, scores, EXACT, group_sizes=[9, size])
    alone = objectives.gradients(labels[9:], scores[9:], EXACT, group_sizes=[size])
    np.testing.assert_array_equal([part[9:] for part in both], alone)
    assert np.isfinite(both).all()
    assert np.ptp(alone[0]) > 0


@for_each("rounds", [2**31 - 2, 2 * (2**31 - 1) - 1])
def test_draws_seeded_with_a_multiple_of_the_modulus_are_those_of_1(rounds):
    """As std::minstd_rand has it (C++ standard, [rand.eng.lcong]); one query draws with rounds + 1."""
    value = objectives.xgboost.ndcg(lambdarank_pair_method="mean", lambdarank_num_pair_per_sample=2)
    queries = ra.Queries([0, 1, 2, 0, 1, 1], group_sizes=[6])
    first, other = (value.bind(queries, state=np.array([state])) for state in (0, rounds))
    np.testing.assert_array_equal(other.gradients(np.arange(6.0)), first.gradients(np.arange(6.0)))


@for_each("make", [objectives.xgboost.ndcg, objectives.xgboost.pairwise, objectives.xgboost.map])
@for_each("by_distance", [True, False])
def test_drawn_pairs_are_divided_by_their_number_where_normalized(make, by_distance):
    labels, scores, sizes = data(objectives.xgboost.map(), 3, SIZES)
    drawn = {"lambdarank_pair_method": "mean", "lambdarank_num_pair_per_sample": 3}
    normalized, plain = (
        objectives.gradients(labels, scores, make(**drawn, lambdarank_score_normalization=by_distance,
                                                  lambdarank_normalization=whether), group_sizes=sizes)
        for whether in (True, False)
    )  # fmt: skip
    assert np.any(plain)
    np.testing.assert_array_equal(normalized, [part * np.float32(1 / 3) for part in plain])


NDCG_AT_5 = ra.presets.textbook(5)
PAIRS = objectives.catboost.pair_logit()
LAMBDAS = objectives.lightgbm.lambdarank().replace(sigmoid="exact", normalization="none", convention=NDCG_AT_5)
TRUNCATION = 4
DISCOUNTS = {
    "log2": lambda r: 1 / np.log2(1 + r),
    "log_10": lambda r: 1 / np.log10(1 + r),
    "reciprocal": lambda r: 1 / r,
    "power_0.7": lambda r: 0.7 ** (r - 1),
    "jk2": lambda r: 1 / np.log2(np.maximum(r, 2)),
}
SCHEMES = ("arp1", "arp2", "ndcg1", "ndcg2", "ndcg2++_3")

# Each loss is that of one query at `scores`. What the hessian treats as constant, such as weights at the current ranks
# or the best shift, is taken at the scores `at`.


def log_softmax(scores):
    return scores - scores.max() - np.log(np.exp(scores - scores.max()).sum())


def differences(scores):
    return scores[:, None] - scores[None, :]


def ranks_of(scores):
    ranks = np.empty(scores.size, int)
    ranks[np.argsort(-scores)] = np.arange(1, scores.size + 1)
    return ranks


def ideal_dcg(gains, discount):
    return (np.sort(gains)[::-1] * DISCOUNTS[discount](np.arange(1.0, gains.size + 1)))[:5].sum()


def ranknet_loss(labels, scores, at, sigma):
    above = labels[:, None] > labels[None, :]
    return np.log1p(np.exp(-sigma * differences(scores)))[above].sum()


def list_net_loss(labels, scores, at):
    return -(np.exp(log_softmax(labels)) * log_softmax(scores)).sum()


def list_mle_loss(labels, scores, at):
    ordered = scores[np.argsort(-labels, kind="stable")]
    return sum(np.log(np.exp(ordered[k:]).sum()) - ordered[k] for k in range(ordered.size))


def softmax_loss(labels, scores, at, beta, ridge):
    """CatBoost adds `ridge` to second derivatives, as a square that is flat at the current scores would."""
    square = beta * labels.sum() * ridge * ((scores - at) ** 2).sum() / 2
    return square - (labels * log_softmax(beta * scores)).sum()


def rmse_loss(labels, scores, at):
    return ((scores - labels - (at - labels).mean()) ** 2).sum() / 2


def cross_entropy_loss(labels, scores, at, alpha):
    def loss(margin):
        return (np.logaddexp(0, margin) - labels * margin).sum()

    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 / (1 + np.exp(-at - middle))).sum() < labels.sum() else (low, middle)
    shifted = alpha * loss(scores + low) if np.ptp(labels) else 0.0
    return (1 - alpha) * loss(scores) + shifted


def approx_ndcg_loss(labels, scores, at, temperature, discount):
    soft = 0.5 + (1 / (1 + np.exp(differences(scores) / temperature))).sum(axis=1)
    gains = 2**labels - 1
    return -(gains * DISCOUNTS[discount](soft)).sum() / ideal_dcg(gains, discount)


def lambda_loss(labels, scores, at, *, scheme, discount, sigma):
    """Of each ordered pair, the first row should be above."""
    gains, ranks, d = 2**labels - 1, ranks_of(at), DISCOUNTS[discount]
    apart = np.abs(ranks[:, None] - ranks[None, :])
    gap, others = np.maximum(gains[:, None] - gains[None, :], 0), 1 - np.eye(gains.size)
    steps = np.where(apart > 0, d(np.maximum(apart, 1)) - d(apart + 1), 0)
    change = np.abs(d(ranks)[:, None] - d(ranks)[None, :])
    weights = {
        "arp1": gains[:, None] * others,
        "arp2": gap,
        "ndcg1": (gains * d(ranks))[:, None] * others,
        "ndcg2": gap * steps,
        "ndcg2++_3": gap * (3 * steps + change),
        "ndcg2++_0": gap * change,
    }[scheme] / (1 if scheme.startswith("arp") else ideal_dcg(gains, discount))
    kept = np.minimum(ranks[:, None], ranks[None, :]) <= TRUNCATION
    return (weights * kept * np.log2(1 + np.exp(-sigma * differences(scores)))).sum()


def lambdarank_loss(labels, scores, at, sigma):
    return np.log(2) * lambda_loss(labels, scores, at, scheme="ndcg2++_0", discount="log2", sigma=sigma)


APPROX = objectives.ApproxNDCG(convention=NDCG_AT_5, temperature=1, hessian=0.25)
LAMBDA_LOSS = objectives.LambdaLoss(convention=NDCG_AT_5, scheme="arp1", truncation=TRUNCATION, sigma=1)
CASES = [
    *((PAIRS.replace(sigma=sigma), partial(ranknet_loss, sigma=sigma)) for sigma in (0.5, 1, 2)),
    *((LAMBDAS.replace(sigma=sigma, truncation=TRUNCATION), partial(lambdarank_loss, sigma=sigma))
      for sigma in (0.5, 1, 2)),
    (objectives.ListNet(), list_net_loss),
    (objectives.ListMLE(), list_mle_loss),
    *((objectives.QuerySoftMax(beta=beta, ridge=ridge), partial(softmax_loss, beta=beta, ridge=ridge))
      for beta, ridge in ((1, 0), (2, 0), (0.5, 0.25), (3, 1))),
    (objectives.QueryRMSE(), rmse_loss),
    *((objectives.QueryCrossEntropy(alpha=alpha), partial(cross_entropy_loss, alpha=alpha))
      for alpha in (0, 0.3, 0.95, 1)),
    *((APPROX.replace(convention=NDCG_AT_5.replace(discount=discount), temperature=temperature),
       partial(approx_ndcg_loss, temperature=temperature, discount=discount))
      for discount, temperature in product(DISCOUNTS, (0.05, 0.5, 2))),
    *((LAMBDA_LOSS.replace(convention=NDCG_AT_5.replace(discount=discount), scheme=scheme, sigma=sigma),
       partial(lambda_loss, scheme=scheme, discount=discount, sigma=sigma))
      for discount, (scheme, sigma) in product(DISCOUNTS, zip(SCHEMES, (2, 0.5, 1, 2, 0.5), strict=True))),
]  # fmt: skip
# Pairs that a formula weighs, here and in test_gradients, and gradients that are drawn at random.
ELSEWHERE = {"lambdamap", "xendcg", "stochastic-filter", "stochastic-rank", "yetirank"}


def test_every_objective_that_has_a_loss_is_compared():
    assert {value.kind for value, _ in CASES} == set(OBJECTIVES) - ELSEWHERE


def drawn(value, seed):
    """Labels, not all 0, and scores so far apart that no difference changes their order."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, 9) / (3 if value.kind == "query-cross-entropy" else 1)
    labels[rng.integers(9)] = labels.max() or 1.0
    return labels, rng.permutation(9) / 4 + rng.uniform(0, 0.1, 9)


def first_differences(loss, scores, step=1e-5):
    return [(loss(scores + step * unit) - loss(scores - step * unit)) / (2 * step) for unit in np.eye(scores.size)]


def second_differences(loss, scores, step=1e-3):
    return [
        (loss(scores + step * unit) - 2 * loss(scores) + loss(scores - step * unit)) / step**2
        for unit in np.eye(scores.size)
    ]


@for_each(("value", "loss"), CASES, ids=str)
def test_gradients_and_hessians_are_differences_of_the_loss(value, loss):
    """Of three queries with mixed rows; ApproxNDCG declares its hessian."""
    parts = [drawn(value, seed) for seed in range(3)]
    qid = np.random.default_rng(0).permutation(np.repeat(np.arange(3), 9))
    rows = np.argsort(qid, kind="stable").reshape(3, 9)
    labels, scores = np.empty(27), np.empty(27)
    labels[rows], scores[rows] = [part[0] for part in parts], [part[1] for part in parts]
    grad, hess = objectives.gradients(labels, scores, value, qid=qid)
    for query in rows:
        at = scores[query]
        moved = lambda s, query=query, at=at: loss(labels[query], s, at)  # noqa: E731 - of one query
        np.testing.assert_allclose(grad[query], first_differences(moved, at), rtol=1e-5, atol=1e-6)
        expected = [0.25] * 9 if value.kind == "approxndcg" else second_differences(moved, at)
        np.testing.assert_allclose(hess[query], expected, rtol=1e-4, atol=1e-5)


def test_a_query_of_one_label_has_the_hessian_of_its_log_loss():
    """Without the shifted part, so that only 1 - alpha of it is left."""
    scores = np.array([0.5, -1.0, 3.0])
    p = 1 / (1 + np.exp(-scores))
    for alpha in (0, 0.3, 0.95, 1):
        found = objectives.gradients([0.5] * 3, scores, objectives.QueryCrossEntropy(alpha=alpha), group_sizes=[3])
        np.testing.assert_allclose(found, [(1 - alpha) * (p - 0.5), (1 - alpha) * p * (1 - p)], rtol=1e-6, atol=1e-12)
