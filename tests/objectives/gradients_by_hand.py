"""Objectives in plain Python, as in their formulas: pair by pair, and with CatBoost's random generator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import exp, log, log2, pi, sqrt

import numpy as np

import rankadapters as ra
from rankadapters.core.measures import AP, NDCG, RR
from rankadapters.objectives import LambdaRank, RankNet, StochasticFilter, StochasticRank, YetiRank
from tests.oracles import oracle
from tests.oracles.rows import Row, discount, gain, is_relevant, meets_threshold, ranked_rows, row_gain

Pairwise = LambdaRank | RankNet


def query_gradients(
    rows: Sequence[Row], value: Pairwise, bias_divisor: Callable[[int, int, float, float], float] | None = None
) -> tuple[list[float], list[float]]:
    """Return gradients and hessians of one query.

    `bias_divisor` returns the number by which a position bias divides a pair, given the indices of the more and the
    less relevant row, the weight of the pair and the difference of the scores.
    """
    grad, hess = [0.0] * len(rows), [0.0] * len(rows)
    if isinstance(value, LambdaRank) and not _has_gradient(rows, value):
        return grad, hess
    order = _ranking(rows, value)
    worth = [_worth(rows[i], value) for i in order]
    scores = [float(np.float32(rows[i].score)) if _rounds_scores(value) else rows[i].score for i in order]
    total = 0.0
    for i in range(min(len(order), value.truncation or len(order))):
        for j in range(i + 1, len(order)):
            if worth[i] == worth[j]:
                continue
            high, low = (i, j) if worth[i] > worth[j] else (j, i)
            weight = _delta(rows, worth, high, low, value) / _distance(scores, high, low, value)
            distance = scores[high] - scores[low]
            p = 1 / (1 + exp(min(value.sigma * distance, 700)))
            divisor = bias_divisor(order[high], order[low], weight, distance) if bias_divisor else 1.0
            push, bend = value.sigma * weight * p / divisor, value.sigma**2 * weight * p * (1 - p) / divisor
            total += 2 * push
            for index, sign in ((high, -1), (low, 1)):
                grad[order[index]] += sign * push
                hess[order[index]] += bend * (2 if value.hessian == "doubled" else 1)
    summed = value.normalization in {"lightgbm", "xgboost", "xgboost-sum"} and total > 0
    scale = log2(1 + total) / total if summed else 1.0
    return [g * scale for g in grad], [h * scale for h in hess]


def _rounds_scores(value: Pairwise) -> bool:
    return isinstance(value, LambdaRank) and value.convention.precision == "float32"


def _retrieved(rows: Sequence[Row], value: Pairwise) -> list[int]:
    if not isinstance(value, LambdaRank):
        return [i for i, row in enumerate(rows) if row.retrieved]
    return ranked_rows(rows, value.convention.unjudged)


def _has_gradient(rows: Sequence[Row], value: LambdaRank) -> bool:
    convention = value.convention
    short = convention.k is not None and len(_retrieved(rows, value)) < convention.k and convention.short != "pad"
    if isinstance(convention, NDCG):
        return not short and _own_ideal(rows, value) > 0
    return not short and oracle(rows, convention) is not None


def _ideal(rows: Sequence[Row], value: LambdaRank) -> float:
    if value.convention.ideal != "ones":
        return _own_ideal(rows, value)
    n = value.convention.k or len(_retrieved(rows, value))
    return sum(discount(rank, value.convention.discount) for rank in range(1, n + 1))


def _own_ideal(rows: Sequence[Row], value: LambdaRank) -> float:
    convention = value.convention
    gains = sorted((gain(row.label, convention.gain) for row in rows if row.judged), reverse=True)
    retrieved = len(_retrieved(rows, value))
    if convention.ideal == "retrieved-only":
        gains = sorted((_worth(rows[i], value) for i in _retrieved(rows, value)), reverse=True)
    cut = {"cutoff": convention.k, "retrieved": min(convention.k or len(rows), retrieved), "all": None}
    ranked = enumerate(gains[: cut.get(convention.ideal, convention.k)], start=1)
    return sum(g * discount(rank, convention.discount) for rank, g in ranked)


def _worth(row: Row, value: Pairwise) -> float:
    if isinstance(value, RankNet):
        return row.label
    if isinstance(value.convention, AP | RR):
        return float(row.judged and is_relevant(row.label, value.convention.relevant))
    return row_gain(row, value.convention)


def _ranking(rows: Sequence[Row], value: Pairwise) -> list[int]:
    ties = value.convention.ties if isinstance(value, LambdaRank) else "input"
    keys = {
        "reverse": lambda i: -i,
        "worst": lambda i: _worth(rows[i], value),
        "best": lambda i: -_worth(rows[i], value),
        "docid-ascending": lambda i: rows[i].docid.encode(),
        "docid-descending": lambda i: [-byte for byte in rows[i].docid.encode()] + [1],
    }
    scores = [np.float32(row.score) if _rounds_scores(value) else row.score for row in rows]
    return sorted(sorted(_retrieved(rows, value), key=keys.get(ties, lambda i: i)), key=lambda i: -scores[i])


def _discount(index: int, value: LambdaRank) -> float:
    k = value.convention.k
    is_cut = value.beyond_k == "cut" and k and index >= k
    return 0.0 if is_cut else discount(index + 1, value.convention.discount)


def _delta(rows: Sequence[Row], worth: list[float], high: int, low: int, value: Pairwise) -> float:
    if isinstance(value, RankNet):
        return 1.0
    if not isinstance(value.convention, NDCG):
        order = _ranking(rows, value)
        return abs(_value(rows, order, value) - _value(rows, _swapped(order, high, low), value))
    gap = abs(_discount(high, value) - _discount(low, value))
    return (worth[high] - worth[low]) * gap / _ideal(rows, value)


def _swapped(order: list[int], first: int, second: int) -> list[int]:
    swapped = list(order)
    swapped[first], swapped[second] = order[second], order[first]
    return swapped


def _value(rows: Sequence[Row], order: list[int], value: LambdaRank) -> float:
    """Return the measure of the rows in this order, by its definition."""
    convention = value.convention.replace(ties="input", precision="float64")
    ranks = {row: rank for rank, row in enumerate(order)}
    reranked = [
        replace(row, score=-ranks[i]) if i in ranks else replace(row, score=0.0, retrieved=False)
        for i, row in enumerate(rows)
    ]
    if value.beyond_k == "cut":
        return oracle(reranked, convention)[0]
    measured = oracle(reranked, convention.replace(k=None))[0]
    if isinstance(convention, AP) and convention.divisor == "cutoff":  # without a cutoff the divisor is R
        relevant = sum(_worth(row, value) for row in rows)
        return measured * relevant / min(convention.k, relevant)
    return measured


def _distance(scores: list[float], high: int, low: int, value: Pairwise) -> float:
    offset = {"lightgbm": float(np.float32(0.01)), "xgboost": 0.01, "xgboost-distance": 0.01}.get(value.normalization)
    return 1.0 if offset is None or scores[0] == scores[-1] else offset + abs(scores[high] - scores[low])


MULTIPLIER, WORD = 6364136223846793005, 2**32
BLOCKS = 128


class Stream:
    """The generator PCG XSH-RR 64/32."""

    def __init__(self, state: int, increment: int) -> None:
        self.state, self.increment = state, increment

    def uint32(self) -> int:
        self.state = (MULTIPLIER * self.state + self.increment) % 2**64
        shifted, turn = ((self.state >> 18 ^ self.state) >> 27) % WORD, self.state >> 59
        return (shifted >> turn | shifted << (32 - turn)) % WORD


class Generator:
    """CatBoost's TFastRng64: two streams, both seeded by a third."""

    def __init__(self, seed: int) -> None:
        seeding = Stream(seed, 1)
        parts = []
        for _ in range(2):
            low, high = seeding.uint32(), seeding.uint32()
            parts.append((high * WORD + low, seeding.uint32()))
        (first_state, first_sequence), (second_state, second_sequence) = parts
        if first_sequence % 2**31 == second_sequence % 2**31:
            second_sequence ^= WORD - 1
        self.streams = (Stream(first_state, 2 * first_sequence + 1), Stream(second_state, 2 * second_sequence + 1))

    def uint64(self) -> int:
        return self.streams[0].uint32() * WORD + self.streams[1].uint32()

    def uniform(self) -> float:
        """Draw from [0, 1]."""
        return (self.uint64() >> 11) / (2**53 - 1)

    def normal(self) -> float:
        """Draw from the standard normal distribution."""
        while True:
            x, y = 2 * self.uniform() - 1, 2 * self.uniform() - 1
            square = x * x + y * y
            if 0 < square <= 1:
                return x * sqrt(-2 * log(square) / square)


def seeds_by_block(seed: int, n_queries: int) -> Iterator[int]:
    """Yield the seed of each query: the call draws the seed of each block, and the block those of its queries."""
    blocks, size = Generator(seed), -(-n_queries // BLOCKS)
    for q in range(n_queries):
        if q % size == 0:
            block = Generator(blocks.uint64())
        yield block.uint64()


def trained_rows(rows: Sequence[Row], convention: ra.Convention) -> list[int]:
    """Return the ranked rows; none if the query has no gradient."""
    ranked = ranked_rows(rows, convention.unjudged)
    short = convention.k is not None and len(ranked) < convention.k and convention.short != "pad"
    return [] if short or measure_value(rows, convention, ranked) is None else ranked


def measure_value(rows: Sequence[Row], convention: ra.Convention, order: Sequence[int]) -> float | None:
    """Return the measure of a ranking of some rows; the other rows are not retrieved. None if nothing is relevant."""
    ranks = {i: rank for rank, i in enumerate(order)}
    ranked = [replace(row, retrieved=i in ranks, score=-float(ranks.get(i, 0))) for i, row in enumerate(rows)]
    sums = oracle(ranked, convention.replace(ties="input"))
    return None if sums is None else sums[0] / sums[1]


def stochastic_rank(rows: Sequence[Row], value: StochasticRank, seed: int) -> list[float]:
    """Return the gradient of one query in exact arithmetic: the measure with each row moved to each rank."""
    ranked, generator = trained_rows(rows, value.convention), Generator(seed)
    ders, n = dict.fromkeys(range(len(rows)), 0.0), len(ranked)
    if n <= 1:
        return [0.0] * len(rows)
    labels = [rows[i].label if rows[i].judged else 0.0 for i in ranked]
    means = [rows[i].score - value.sigma * value.mu * label for i, label in zip(ranked, labels, strict=True)]
    means = [mean - sum(means) / n for mean in means]
    for _ in range(value.estimations):
        noise = [generator.normal() for _ in ranked]
        x = [mean + value.sigma * z for mean, z in zip(means, noise, strict=True)]
        order = sorted(range(n), key=lambda d: -x[d])
        for d in range(n):
            spread, mean = value.sigma * sqrt(n / (n - 1)), means[d] + value.sigma * (sum(noise) - noise[d]) / (n - 1)
            densities = [exp(-(((x[j] - mean) / spread) ** 2) / 2) / spread / sqrt(2 * pi) for j in order if j != d]
            values = list(values_by_rank(rows, value, ranked, order, d))
            steps = [below - above for above, below in pairwise([0.0, *densities, 0.0])]
            current = values[order.index(d)]
            total = sum((measure - current) * step for measure, step in zip(values, steps, strict=True))
            ders[ranked[d]] += total / value.estimations
    return _orthogonal(rows, value, ranked, ders)


def values_by_rank(rows, value: StochasticRank, ranked, order, d) -> Iterator[float]:
    """Yield the measure with row d at each rank."""
    rest = [i for i in order if i != d]
    for q in range(len(order)):
        yield measure_value(rows, value.convention, [ranked[i] for i in [*rest[:q], d, *rest[q:]]])


def _orthogonal(rows, value, ranked, ders) -> list[float]:
    n = len(ranked)
    centered = {i: ders[i] - sum(ders[j] for j in ranked) / n for i in ranked}
    scores = {i: rows[i].score - sum(rows[j].score for j in ranked) / n for i in ranked}
    norm = sqrt(sum(s * s for s in scores.values())) + value.nu
    along = sum(centered[i] * scores[i] for i in ranked) / norm**2 if n > 2 else 0.0
    return [-(centered[i] - value.lambda_ * along * scores[i]) if i in centered else 0.0 for i in range(len(rows))]


def yetirank(rows: Sequence[Row], value: YetiRank, seed: int) -> tuple[list[float], list[float]]:
    """Return gradients and hessians of one query; weights of pairs are summed in float32."""
    convention, generator = value.convention, Generator(seed)
    ranked = list(range(len(rows))) if convention is None else trained_rows(rows, convention)
    weights: dict[tuple[int, int], np.float32] = {}
    for _ in range(value.permutations if len(ranked) > 1 else 0):
        noise = [_noise(value, generator) for _ in ranked]
        order = sorted(range(len(ranked)), key=lambda j: -(rows[ranked[j]].score + noise[j]))
        for pair, weight in _weights(rows, value, [ranked[j] for j in order]):
            weights[pair] = weights.get(pair, np.float32(0)) + np.float32(weight)
    grad, hess = [0.0] * len(rows), [0.0] * len(rows)
    for (winner, loser), weight in weights.items():
        c, ahead = float(weight / np.float32(value.permutations)), rows[winner].score - rows[loser].score
        p = 1 / (1 + exp(min(ahead, 700)))
        for row, sign in ((winner, -1), (loser, 1)):
            grad[row] += sign * c * p
            hess[row] += c * p * (1 - p)
    return grad, hess


def _noise(value: YetiRank, generator: Generator) -> float:
    if value.noise == "none":
        return 0.0
    if value.noise == "gauss":
        return value.noise_power * generator.normal()
    uniform = np.float32(generator.uniform())
    return log(uniform / (np.float32(1.000001) - uniform))


def _weights(rows, value: YetiRank, order) -> Iterator[tuple[tuple[int, int], float]]:
    """Yield each pair of winner and loser with its weight in this ranking."""
    convention, n = value.convention, len(order)
    reach = n if convention is None else min(convention.k or n, n)
    for a in range(reach):
        for b in range(a + 1, min(n, a + 1 + (value.neighbors or n))):
            merit_a, merit_b = _merit(rows[order[a]], convention), _merit(rows[order[b]], convention)
            if merit_a != merit_b:
                weight = _weight(rows, value, order, a, b)
                yield ((order[a], order[b]) if merit_a > merit_b else (order[b], order[a])), weight


def _merit(row: Row, convention: ra.Convention | None) -> float:
    if convention is None:
        return row.label
    if hasattr(convention, "relevant"):
        return float(row.judged and is_relevant(row.label, convention.relevant))
    return gain(row.label, convention.gain) if row.judged else 0.0


def _weight(rows, value: YetiRank, order, a: int, b: int) -> float:
    if value.delta == "classic":
        return 0.15 * value.decay**a * abs(rows[order[a]].label - rows[order[b]].label)
    swapped = list(order)
    swapped[a], swapped[b] = order[b], order[a]
    convention = value.convention
    if value.delta == "catboost" and isinstance(convention, ra.ERR):
        convention = convention.replace(k=None)
    if value.delta == "exact" or isinstance(convention, ra.ERR):
        return abs(measure_value(rows, convention, swapped) - measure_value(rows, convention, order))
    relevant = [bool(_merit(rows[i], convention)) for i in order]
    if isinstance(convention, ra.RR):
        return 0.0 if any(relevant[:a]) else 1 / (a + 1) - 1 / (b + 1)
    return 1 / (a + 1) + sum(1 / (r + 1) for r in range(a + 1, b) if relevant[r])


def stochastic_filter(queries: Sequence[Sequence[Row]], value: StochasticFilter, seed: int) -> list[list[float]]:
    """Return the gradients of all queries; each block of queries has a generator."""
    blocks, size = Generator(seed), -(-len(queries) // BLOCKS)
    convention, gradients = value.convention, []
    threshold = float(convention.retrieve.rpartition("_")[2])
    for q, rows in enumerate(queries):
        if q % size == 0:
            block = Generator(blocks.uint64())
            for _ in range(10):
                block.uint64()
        chances = [1 / (1 + exp(min(-value.sigma * (row.score - threshold), 700))) for row in rows]
        baseline = filtered_value(rows, convention, [meets_threshold(row.score, convention.retrieve) for row in rows])
        grad = [0.0] * len(rows)
        for _ in range(value.estimations):
            retrieved = [chance >= block.uniform() for chance in chances]
            gain = filtered_value(rows, convention, retrieved) - baseline
            grad = [
                g - (keep - p) * gain / value.estimations for g, keep, p in zip(grad, retrieved, chances, strict=True)
            ]
        gradients.append(grad)
    return gradients


def filtered_value(rows: Sequence[Row], convention: ra.FilteredDCG, retrieved: Sequence[bool]) -> float:
    ranked = [replace(row, score=float("inf") if keep else -1e300) for row, keep in zip(rows, retrieved, strict=True)]
    return oracle(ranked, convention)[0]
