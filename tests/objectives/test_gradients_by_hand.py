"""Gradients against closed formulas, each query alone, pairs one by one, and finite differences of the losses."""

import math
from functools import partial
from itertools import accumulate, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters import objectives
from rankadapters.objectives.base import OBJECTIVES
from rankadapters.objectives.kernels.exponentials import LOWEST, exponentials
from rankadapters.objectives.kernels.replicas import BINS, REACH, from_table, sigmoid_table
from rankadapters.objectives.pair_gradients import COMMON_SHARE, common_gain
from tests.helpers.oracle_rows import columns_and_scores, ragged_queries
from tests.helpers.parameters import examples
from tests.helpers.random_loss_records import float64_gradients
from tests.objectives.examples import EXACT, lambdaranks
from tests.objectives.gradients_by_hand import query_gradients
from tests.oracles.rows import Row

pytestmark = pytest.mark.long


def xendcg(label, score, draws):
    """Return Bruch's gradients of one query with LightGBM's third term; the draws perturb the gains."""
    phi = np.exp2(np.floor(label)) - draws
    powers = np.exp(score - score.max())
    rho = powers / powers.sum()
    rest = np.maximum(1 - rho, 2.0**-53)  # where a probability rounds to 1
    first = rho - phi / phi.sum()
    second = rho * ((first / rest).sum() - first / rest)
    third = rho * ((second / rest).sum() - second / rest)
    return first + second + third, rho * (1 - rho)


def draws(seed, number):
    """Return `number` draws of LightGBM 4.7.0: include/LightGBM/utils/random.h, `Random::NextFloat`."""
    numbers, state = [], seed
    for _ in range(number):
        state = (214013 * state + 2531011) % 2**32
        numbers.append(((state >> 16) & 0x7FFF) / 32768)
    return np.array(numbers)


def test_xendcg_equals_its_formula_in_two_rounds():
    labels, scores = np.array([0.0, 2, 1, 1, 0]), np.array([0.2, -0.4, 1.0, 0.0, 0.7])
    value, queries = objectives.lightgbm.xendcg(objective_seed=9), ra.Queries(labels, group_sizes=[2, 3])
    binding = value.bind(queries)
    for iteration in (0, 1):
        binding = value.bind(queries, state=binding.state.copy())  # the state continues the draws
        grad, hess = binding.gradients(scores)
        first, second = draws(9, 4)[2 * iteration :][:2], draws(10, 6)[3 * iteration :][:3]
        for rows, numbers in ((slice(0, 2), first), (slice(2, 5), second)):
            expected = xendcg(labels[rows], scores[rows], numbers)
            np.testing.assert_allclose(grad[rows], expected[0], rtol=1e-5, atol=1e-7)
            np.testing.assert_allclose(hess[rows], expected[1], rtol=1e-6)


def test_xendcg_divides_by_the_last_bit_of_1_if_a_probability_rounds_to_1():
    labels, scores = np.array([1.0, 1.0]), np.array([38.0, 0.0])
    grad, _ = float64_gradients(
        objectives.lightgbm.xendcg(objective_seed=5), ra.Queries(labels, group_sizes=[2]), scores
    )
    np.testing.assert_allclose(grad, xendcg(labels, scores, draws(5, 2))[0], rtol=1e-6)


@pytest.mark.parametrize("sigma", [0.1, 0.3, 0.7, 1.0, 1.5, 2.0, 3.3, 7.0, 10.0])
def test_the_table_is_read_inside_its_bounds(sigma):
    """It covers sigma * x from -25 to 25. Floats next to its ends read its last entries, not the NaN after them."""
    padded = np.full(BINS + 8, np.nan)
    table = padded[:BINS]
    sigmoid_table(sigma, table)
    end = REACH / sigma
    bins_per_unit = BINS / (2 * end)
    below_end = list(accumulate(range(4), lambda x, _: float(np.nextafter(x, 0)), initial=end))
    for x in [*below_end, np.nextafter(end, math.inf), 1e300, *np.linspace(-end, end, 999)[1:-1]]:
        for signed in (x, -x):
            probability = from_table(signed, table, -end, bins_per_unit)
            exact = 1 / (1 + math.exp(min(max(sigma * signed, -REACH), REACH)))
            assert probability == pytest.approx(exact, rel=2 * 50 / BINS)


@pytest.mark.parametrize("x", [25.0, float(np.nextafter(25.0, 0)), 30.0, 1e9])
def test_a_pair_at_the_end_of_the_table_gets_its_last_entry(x):
    """The last entry is 1 / (1 + exp(25 - bin)) for bins 50 / 2^20 wide."""
    value = objectives.lightgbm.lambdarank(lambdarank_norm=False)
    grad, hess = objectives.gradients([1, 0], [x, 0.0], value, group_sizes=[2])
    last = 1 / (1 + math.exp(25 - 50 / 2**20))
    delta = 1 - 1 / math.log2(3)
    np.testing.assert_allclose(grad, [-delta * last, delta * last], rtol=1e-6)
    np.testing.assert_allclose(hess, [delta * last * (1 - last)] * 2, rtol=1e-6)


@pytest.mark.parametrize("sigmoid", ["exact", "float32"])
def test_xgboosts_hessian_has_a_floor(sigmoid):
    """A pair 60 apart has p (1 - p) = e^-60, far below 1e-16."""
    value = objectives.xgboost.pairwise(lambdarank_normalization=False, lambdarank_score_normalization=False)
    _, hess = objectives.gradients([1, 0], [60.0, 0.0], value.replace(sigmoid=sigmoid), group_sizes=[2])
    np.testing.assert_allclose(hess, [2e-16, 2e-16], rtol=1e-6)
    plain = objectives.gradients([1, 0], [60.0, 0.0], value.replace(sigmoid="exact", hessian="plain"), group_sizes=[2])
    np.testing.assert_allclose(plain[1], [math.exp(-60)] * 2, rtol=1e-6)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 7])
def test_scores_of_the_previous_query_do_not_matter(size):
    """The difference between scores of the first and of the second query would be infinite."""
    labels, steps = np.arange(9 + size) % 2, np.arange(size) * 1e290
    scores = np.concatenate([1.5e308 - np.arange(9) * 1e290, steps - 1.5e308])
    both = objectives.gradients(labels, scores, EXACT, group_sizes=[9, size])
    alone = objectives.gradients(labels[9:], scores[9:], EXACT, group_sizes=[size])
    np.testing.assert_array_equal([part[9:] for part in both], alone)
    assert np.isfinite(both).all()
    assert np.ptp(alone[0]) > 0


@pytest.mark.parametrize("rounds", [2**31 - 2, 2 * (2**31 - 1) - 1])
def test_a_seed_that_is_a_multiple_of_the_modulus_draws_like_seed_1(rounds):
    """So does std::minstd_rand (C++ standard, [rand.eng.lcong]). The seed of the only query is rounds + 1."""
    value = objectives.xgboost.ndcg(lambdarank_pair_method="mean", lambdarank_num_pair_per_sample=2)
    queries = ra.Queries([0, 1, 2, 0, 1, 1], group_sizes=[6])
    first_round, late_round = (value.bind(queries, state=np.array([state])) for state in (0, rounds))
    np.testing.assert_array_equal(late_round.gradients(np.arange(6.0)), first_round.gradients(np.arange(6.0)))


NDCG_AT_5 = ra.presets.textbook(5)
TRUNCATION = 4
DISCOUNTS = {
    "log2": lambda r: 1 / np.log2(1 + r),
    "log_10": lambda r: 1 / np.log10(1 + r),
    "reciprocal": lambda r: 1 / r,
    "power_0.7": lambda r: 0.7 ** (r - 1),
    "jk2": lambda r: 1 / np.log2(np.maximum(r, 2)),
}
SCHEMES = ("arp1", "arp2", "ndcg1", "ndcg2", "ndcg2++_3")

# Each function returns the loss of one query at `scores`. Terms that the hessian treats as constant, such as weights at
# the current ranks or the best shift, are computed from `current`, the current scores.


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


def list_net_loss(labels, scores, current):
    return -(np.exp(log_softmax(labels)) * log_softmax(scores)).sum()


def list_mle_loss(labels, scores, current):
    ordered = scores[np.argsort(-labels, kind="stable")]
    return sum(np.log(np.exp(ordered[k:]).sum()) - ordered[k] for k in range(ordered.size))


def softmax_loss(labels, scores, current, beta, ridge):
    """CatBoost adds `ridge` to second derivatives, like a squared term whose minimum is at the current scores."""
    square = beta * labels.sum() * ridge * ((scores - current) ** 2).sum() / 2
    return square - (labels * log_softmax(beta * scores)).sum()


def rmse_loss(labels, scores, current):
    return ((scores - labels - (current - labels).mean()) ** 2).sum() / 2


def cross_entropy_loss(labels, scores, current, alpha):
    def loss(margin):
        return (np.logaddexp(0, margin) - labels * margin).sum()

    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 / (1 + np.exp(-current - middle))).sum() < labels.sum() else (low, middle)
    shifted = alpha * loss(scores + low) if np.ptp(labels) else 0.0
    return (1 - alpha) * loss(scores) + shifted


def approx_ndcg_loss(labels, scores, current, temperature, discount):
    soft = 0.5 + (1 / (1 + np.exp(differences(scores) / temperature))).sum(axis=1)
    gains = 2**labels - 1
    return -(gains * DISCOUNTS[discount](soft)).sum() / ideal_dcg(gains, discount)


def lambda_loss(labels, scores, current, *, scheme, discount, sigma):
    """Return the sum over ordered pairs, whose first row should rank higher."""
    gains, ranks, d = 2**labels - 1, ranks_of(current), DISCOUNTS[discount]
    rank_distance = np.abs(ranks[:, None] - ranks[None, :])
    gain_difference, distinct = np.maximum(gains[:, None] - gains[None, :], 0), 1 - np.eye(gains.size)
    steps = np.where(rank_distance > 0, d(np.maximum(rank_distance, 1)) - d(rank_distance + 1), 0)
    change = np.abs(d(ranks)[:, None] - d(ranks)[None, :])
    weights = {
        "arp1": gains[:, None] * distinct,
        "arp2": gain_difference,
        "ndcg1": (gains * d(ranks))[:, None] * distinct,
        "ndcg2": gain_difference * steps,
        "ndcg2++_3": gain_difference * (3 * steps + change),
    }[scheme] / (1 if scheme.startswith("arp") else ideal_dcg(gains, discount))
    within_truncation = np.minimum(ranks[:, None], ranks[None, :]) <= TRUNCATION
    return (weights * within_truncation * np.log2(1 + np.exp(-sigma * differences(scores)))).sum()


APPROX = objectives.ApproxNDCG(convention=NDCG_AT_5, temperature=1, hessian=0.25)
LAMBDA_LOSS = objectives.LambdaLoss(convention=NDCG_AT_5, scheme="arp1", truncation=TRUNCATION, sigma=1)
CASES = [
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
# Formulas cover the others, here, in test_gradients and in test_random_gradients.
TESTED_ELSEWHERE = {"lambdarank", "ranknet", "lambdamap", "xendcg", "stochastic-filter", "stochastic-rank", "yetirank"}


def test_every_objective_with_a_loss_is_compared():
    assert {value.kind for value, _ in CASES} == set(OBJECTIVES) - TESTED_ELSEWHERE


def random_query(value, seed):
    """Return labels that are not all 0, and scores so far apart that finite differences keep their order."""
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


@pytest.mark.parametrize(("value", "loss"), CASES)
def test_gradients_and_hessians_equal_finite_differences_of_the_loss(value, loss):
    """The rows of three queries are interleaved. ApproxNDCG declares a constant hessian."""
    queries = [random_query(value, seed) for seed in range(3)]
    qid = np.random.default_rng(0).permutation(np.repeat(np.arange(3), 9))
    rows = np.argsort(qid, kind="stable").reshape(3, 9)
    labels, scores = np.empty(27), np.empty(27)
    labels[rows], scores[rows] = [query[0] for query in queries], [query[1] for query in queries]
    grad, hess = objectives.gradients(labels, scores, value, qid=qid)
    for query in rows:
        query_loss = partial(loss, labels[query], current=scores[query])
        np.testing.assert_allclose(grad[query], first_differences(query_loss, scores[query]), rtol=1e-5, atol=1e-6)
        expected = [0.25] * 9 if value.kind == "approxndcg" else second_differences(query_loss, scores[query])
        np.testing.assert_allclose(hess[query], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("spread", [0.0, 1e-18, 1e-6, 1.0, 30.0, -LOWEST, 700.0, 1e4])
@pytest.mark.parametrize("sigma", [1.0, 0.3])
def test_exponentials_equal_those_of_the_c_library(spread, sigma):
    scores = np.sort(np.random.default_rng(1).random(1000) * spread)[::-1].copy()
    results = np.zeros(1000)
    exponentials(scores, 3, 1000, sigma, results)
    assert not results[:3].any()
    np.testing.assert_array_max_ulp(results[3:], np.exp(sigma * (scores[3:] - scores[3])), maxulp=1)


@pytest.mark.parametrize("n", [*range(2, 18), 40, 101])
@pytest.mark.parametrize("n_ones", [1, 2, 5, 9])
@pytest.mark.parametrize(
    ("common_label", "normalization", "hessian"),
    [(0, "none", "plain"), (2, "lightgbm", "plain"), (0, "xgboost", "doubled")],
)
def test_gradients_equal_pairs_one_by_one_if_most_rows_have_the_same_gain(
    n, n_ones, common_label, normalization, hessian
):
    rng = np.random.default_rng(n)
    labels = np.full(n, float(common_label))
    labels[rng.permutation(n)[:n_ones]] = 1.0
    scores = rng.normal(size=n).round(1)
    linear = ra.presets.lightgbm(None).replace(gain="linear")
    value = EXACT.replace(convention=linear, truncation=None, normalization=normalization, hessian=hessian)
    rows = [Row(label, score) for label, score in zip(labels, scores, strict=True)]
    derivatives = objectives.gradients(labels, scores, value, group_sizes=[n])
    np.testing.assert_allclose(derivatives, query_gradients(rows, value), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize(
    ("gains", "common"),
    [([0, 0, 0, 1], 0), ([3, 1, 3, 3, 3], 3), ([0, 1], np.nan), ([0, 0, 1], np.nan), ([7], 7), ([], np.nan)],
)
def test_the_common_gain_is_the_gain_of_most_rows(gains, common):
    np.testing.assert_equal(common_gain(np.array(gains, float)), common)
    assert np.isnan(common) or np.mean(np.array(gains) == common) >= COMMON_SHARE


AP, RR = ra.presets.catboost.map(None), ra.presets.catboost.mrr(None)
ERR = ra.presets.catboost.err(None).replace(ties="input")
PLAIN = EXACT.replace(normalization="none", truncation=None, beyond_k="cut")


@given(queries=ragged_queries(), value=lambdaranks(), weighted=st.booleans())
@settings(max_examples=examples(300), deadline=None)
def test_gradients_equal_brute_force_swaps(queries, value, weighted):
    queries = [query[:12] for query in queries]
    table, scores = columns_and_scores(queries)
    weights = np.arange(len(queries)) % 3 + 0.5
    if weighted and value.uses_weights:
        table["query_weight"] = weights / weights.mean() if value.divides_weights else weights
    grad, hess = objectives.gradients(table.pop("labels"), scores, value, **table)
    factors = table.get("query_weight", np.ones(len(queries)))
    pairs = [query_gradients(query, value) for query in queries]
    for actual, index in ((grad, 0), (hess, 1)):
        expected = [factor * np.array(pair[index]) for factor, pair in zip(factors, pairs, strict=True)]
        np.testing.assert_allclose(actual, np.concatenate(expected), rtol=1e-6, atol=1e-9)
    starts = np.cumsum([0, *map(len, queries[:-1])])
    np.testing.assert_allclose(np.add.reduceat(grad.astype(float), starts), 0, atol=1e-5 * max(np.abs(grad).max(), 1))


@pytest.mark.parametrize(
    ("convention", "labels", "change"),
    [
        (AP, [0, 1], 1 / 2),
        (RR, [0, 1], 1 / 2),
        (ERR, [0.5, 1], 0.25),  # 1/2 + 1/2 x 1/2, or 1
        (ERR, [0, 1], 1 / 2),
    ],
)
def test_the_gradient_of_one_pair_is_the_change_of_its_swap(convention, labels, change):
    grad, hess = objectives.gradients(labels, [0.0, -1.0], PLAIN.replace(convention=convention), group_sizes=[2])
    p = 1 / (1 + math.exp(-1))  # the lower row should rank higher
    np.testing.assert_allclose(grad, [p * change, -p * change], rtol=1e-6)
    np.testing.assert_allclose(hess, [p * (1 - p) * change] * 2, rtol=1e-6)


# LambdaLoss, ApproxNDCG and ListMLE


@pytest.mark.parametrize("value", [
    objectives.LambdaLoss(convention=NDCG_AT_5, scheme="ndcg2", truncation=None, sigma=1),
    objectives.ApproxNDCG(convention=NDCG_AT_5, temperature=1, hessian=1),
], ids=lambda value: value.kind)  # fmt: skip
def test_queries_that_are_short_or_have_no_relevant_row_have_no_gradient(value):
    short = value.replace(convention=value.convention.replace(short="zero"))
    derivatives = objectives.gradients([0, 0, 1, 0, 2, 0, 0, 1], np.arange(8.0), short, group_sizes=[2, 5, 1])
    for part in derivatives:
        assert not part[[0, 1, 7]].any()
        assert part[2:7].any()


def test_list_mle_ranks_rows_of_equal_labels_in_row_order():
    """Once the first of two rows is drawn, the second is drawn with probability 1 and adds nothing."""
    grad, hess = objectives.gradients([1, 1], [0.0, math.log(3)], objectives.ListMLE(), group_sizes=[2])
    np.testing.assert_allclose(grad, [1 / 4 - 1, 3 / 4], rtol=1e-6)
    np.testing.assert_allclose(hess, [3 / 16, 3 / 16], rtol=1e-6)


@pytest.mark.parametrize("convention", [AP, RR, ERR, ra.parse("yahoo@5")])
def test_a_single_query_without_a_retrieved_row_has_gradients_of_0(convention):
    value = PLAIN.replace(convention=convention.replace(missing="zero"))
    grad, hess = objectives.gradients([1.0, 0.0], [0.5, 0.2], value, group_sizes=[2], retrieved=[False, False])
    assert not grad.any()
    assert not hess.any()
