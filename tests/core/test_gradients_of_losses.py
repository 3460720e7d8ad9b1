"""Gradients and hessians against finite differences of the losses that they are derivatives of."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np

import rankadapters as ra
from rankadapters import objectives
from rankadapters.objectives.base import OBJECTIVES
from tests.tables import for_each

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
# Pairs that a formula weighs, in test_gradients and test_gradients_by_query, and gradients that are drawn at random.
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
