"""CatBoost's generator and the losses that draw from it, in plain Python, as their formulas say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import exp, log, pi, sqrt

import numpy as np

import rankadapters as ra
from rankadapters.objectives import StochasticFilter, StochasticRank, YetiRank
from tests.oracles import oracle
from tests.oracles.rows import Row, discount, gain, is_beyond

MULTIPLIER, WORD = 6364136223846793005, 2**32
BLOCKS = 128


class Stream:
    """PCG XSH-RR 64/32."""

    def __init__(self, state: int, increment: int) -> None:
        self.state, self.increment = state, increment

    def word(self) -> int:
        self.state = (MULTIPLIER * self.state + self.increment) % 2**64
        shifted, turn = ((self.state >> 18 ^ self.state) >> 27) % WORD, self.state >> 59
        return (shifted >> turn | shifted << (32 - turn)) % WORD


class Generator:
    """CatBoost's TFastRng64: two streams, both seeded by a third."""

    def __init__(self, seed: int) -> None:
        seeding = Stream(seed, 1)
        parts = []
        for _ in range(2):
            low, high = seeding.word(), seeding.word()
            parts.append((high * WORD + low, seeding.word()))
        (one, by), (two, other) = parts
        if by % 2**31 == other % 2**31:
            other ^= WORD - 1
        self.streams = Stream(one, 2 * by + 1), Stream(two, 2 * other + 1)

    def whole(self) -> int:
        return self.streams[0].word() * WORD + self.streams[1].word()

    def real(self) -> float:
        return (self.whole() >> 11) / (2**53 - 1)

    def normal(self) -> float:
        while True:
            x, y = 2 * self.real() - 1, 2 * self.real() - 1
            square = x * x + y * y
            if 0 < square <= 1:
                return x * sqrt(-2 * log(square) / square)


def seeds_by_block(seed: int, n_queries: int) -> Iterator[int]:
    """The seed of each query, drawn by its block, of which the call draws the seeds."""
    blocks, size = Generator(seed), -(-n_queries // BLOCKS)
    for q in range(n_queries):
        if q % size == 0:
            block = Generator(blocks.whole())
        yield block.whole()


def moved(rows: Sequence[Row], convention: ra.Convention) -> list[int]:
    """The rows that are ranked; none of a query without a gradient."""
    places = [i for i, row in enumerate(rows) if row.retrieved and (row.judged or convention.unjudged != "drop")]
    short = convention.k is not None and len(places) < convention.k and convention.short != "pad"
    return [] if short or worth_of(rows, convention, places) is None else places


def worth_of(rows: Sequence[Row], convention: ra.Convention, order: Sequence[int]) -> float | None:
    """The measure of a ranking of some rows, the others not being retrieved."""
    ranks = {i: rank for rank, i in enumerate(order)}
    ranked = [replace(row, retrieved=i in ranks, score=-float(ranks.get(i, 0))) for i, row in enumerate(rows)]
    found = oracle(ranked, convention.replace(ties="input"))
    return None if found is None else found[0] / found[1]


def stochastic_rank(rows: Sequence[Row], value: StochasticRank, seed: int) -> list[float]:
    """Gradient of one query: every row in turn through all places, with the measure computed anew at each."""
    places, generator = moved(rows, value.convention), Generator(seed)
    ders, n = dict.fromkeys(range(len(rows)), 0.0), len(places)
    if n <= 1:
        return [0.0] * len(rows)
    labels = [rows[i].label if rows[i].judged else 0.0 for i in places]
    means = [rows[i].score - value.sigma * value.mu * label for i, label in zip(places, labels, strict=True)]
    means = [mean - sum(means) / n for mean in means]
    for _ in range(value.estimations):
        noise = [generator.normal() for _ in places]
        x = [mean + value.sigma * z for mean, z in zip(means, noise, strict=True)]
        order = sorted(range(n), key=lambda d: -x[d])
        for d in range(n):
            others = (sum(noise) - noise[d]) if value.arithmetic == "exact" else sum(noise) - value.sigma * noise[d]
            factor = value.sigma if value.arithmetic == "exact" else 1.0
            spread, mean = value.sigma * sqrt(n / (n - 1)), means[d] + factor * others / (n - 1)
            densities = [exp(-(((x[j] - mean) / spread) ** 2) / 2) / spread / sqrt(2 * pi) for j in order if j != d]
            found = [worth + excess for worth, excess in slots(rows, value, places, order, d)]
            steps = [below - above for above, below in pairwise([0.0, *densities, 0.0])]
            here = found[order.index(d)]
            total = sum((worth - here) * step for worth, step in zip(found, steps, strict=True))
            ders[places[d]] += total / value.estimations
    return [-ders[i] for i in range(len(rows))] if n == 0 else _orthogonal(rows, value, places, ders)


def slots(rows, value: StochasticRank, places, order, d) -> Iterator[tuple[float, float]]:
    """The measure with one row in each place, and what CatBoost adds to it."""
    rest, at, n = [i for i in order if i != d], order.index(d), len(order)
    wrong = value.arithmetic == "catboost" and isinstance(value.convention, ra.ERR)
    for q in range(n):
        ranked = [places[i] for i in [*rest[:q], d, *rest[q:]]]
        excess = _excess(rows, value.convention, places, rest, (d, at, q)) if wrong else 0.0
        yield worth_of(rows, value.convention, ranked), excess


def _excess(rows, convention, places, rest, move) -> float:
    """CatBoost's mistakes; `rest` are the other rows as they rank, and a move is of a row from one rank to another."""
    d, at, q = move

    def chance(i: int) -> float:
        row = rows[places[i]]
        return gain(row.label, convention.gain) / convention.scale if row.judged else 0.0

    look, p, k = 1.0, chance(d), convention.k or len(rest) + 1
    cut = k <= len(rest)
    for i in rest[: min(q, k - 1)]:
        look *= 1 - chance(i)
    if convention.discount == "reciprocal" and q > at and q < k and p != 1:
        return p * look / (q + 1) / (q + 1)  # a factor (q + 2) / (q + 1)
    if convention.discount == "reciprocal" and cut and q < k <= at:
        look = np.prod([1 - chance(i) for i in rest[: k - 1]])
        return -look / k * chance(rest[k - 1]) * (1 - p) / (k + 1)
    if convention.discount != "reciprocal" and cut and p == 1 and at < k <= q:
        return -look * chance(rest[k - 1]) * discount(k, convention.discount)
    return 0.0


def _orthogonal(rows, value, places, ders) -> list[float]:
    n = len(places)
    centered = {i: ders[i] - sum(ders[j] for j in places) / n for i in places}
    scores = {i: rows[i].score - sum(rows[j].score for j in places) / n for i in places}
    norm = sqrt(sum(s * s for s in scores.values())) + value.nu
    along = sum(centered[i] * scores[i] for i in places) / norm**2 if n > 2 else 0.0
    return [-(centered[i] - value.lambda_ * along * scores[i]) if i in centered else 0.0 for i in range(len(rows))]


def yetirank(rows: Sequence[Row], value: YetiRank, seed: int) -> tuple[list[float], list[float]]:
    """Gradients and hessians of one query; weights of pairs are added up in float32."""
    convention, generator = value.convention, Generator(seed)
    places = list(range(len(rows))) if convention is None else moved(rows, convention)
    weights: dict[tuple[int, int], np.float32] = {}
    for _ in range(value.permutations if len(places) > 1 else 0):
        noise = [_noise(value, generator) for _ in places]
        order = sorted(range(len(places)), key=lambda j: -(rows[places[j]].score + noise[j]))
        for pair, weight in _weights(rows, value, [places[j] for j in order]):
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
    uniform = np.float32(generator.real())
    return log(uniform / (np.float32(1.000001) - uniform))


def _weights(rows, value: YetiRank, order) -> Iterator[tuple[tuple[int, int], float]]:
    """Winner and loser, and what they weigh in this ranking."""
    convention, n = value.convention, len(order)
    reach = n if convention is None else min(convention.k or n, n)
    for a in range(reach):
        for b in range(a + 1, min(n, a + 1 + (value.neighbors or n))):
            one, other = _merit(rows[order[a]], convention), _merit(rows[order[b]], convention)
            if one != other:
                weight = _weight(rows, value, order, a, b)
                yield ((order[a], order[b]) if one > other else (order[b], order[a])), weight


def _merit(row: Row, convention: ra.Convention | None) -> float:
    if convention is None:
        return row.label
    if hasattr(convention, "relevant"):
        return float(row.judged and is_beyond(row.label, convention.relevant))
    return gain(row.label, convention.gain) if row.judged else 0.0


def _weight(rows, value: YetiRank, order, a: int, b: int) -> float:
    if value.delta == "classic":
        return 0.15 * value.decay**a * abs(rows[order[a]].label - rows[order[b]].label)
    traded = list(order)
    traded[a], traded[b] = order[b], order[a]
    convention = value.convention
    if value.delta == "catboost" and isinstance(convention, ra.ERR):
        convention = convention.replace(k=None)
    if value.delta == "exact" or isinstance(convention, ra.ERR):
        return abs(worth_of(rows, convention, traded) - worth_of(rows, convention, order))
    relevant = [bool(_merit(rows[i], convention)) for i in order]
    if isinstance(convention, ra.RR):
        return 0.0 if any(relevant[:a]) else 1 / (a + 1) - 1 / (b + 1)
    return 1 / (a + 1) + sum(1 / (r + 1) for r in range(a + 1, b) if relevant[r])


def stochastic_filter(queries: Sequence[Sequence[Row]], value: StochasticFilter, seed: int) -> list[list[float]]:
    """Gradients of all queries, whose blocks have a generator each."""
    blocks, size = Generator(seed), -(-len(queries) // BLOCKS)
    convention, found = value.convention, []
    bound = float(convention.retrieve.rpartition("_")[2])
    for q, rows in enumerate(queries):
        if q % size == 0:
            block = Generator(blocks.whole())
            for _ in range(10):
                block.whole()
        chances = [1 / (1 + exp(min(-value.sigma * (row.score - bound), 700))) for row in rows]
        baseline = filtered(rows, convention, [is_beyond(row.score, convention.retrieve) for row in rows])
        grad = [0.0] * len(rows)
        for _ in range(value.estimations):
            kept = [chance >= block.real() for chance in chances]
            gain = filtered(rows, convention, kept) - baseline
            grad = [g - (keep - p) * gain / value.estimations for g, keep, p in zip(grad, kept, chances, strict=True)]
        found.append(grad)
    return found


def filtered(rows: Sequence[Row], convention: ra.FilteredDCG, kept: Sequence[bool]) -> float:
    """The measure of the rows that are kept."""
    passing = [replace(row, score=float("inf") if keep else -1e300) for row, keep in zip(rows, kept, strict=True)]
    return oracle(passing, convention)[0]
