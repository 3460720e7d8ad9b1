"""Programs that compute a convention, as their users write them, and programs that are wrong by one rare detail.

A program has a value for each query and a mean. A detail changes the rows of a query, the order of its tied rows, its
value, or the mean. Tables have a name in words for each detail; `wrong_programs` applies them to a convention.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import numpy as np

Value = Callable[..., float]  # of the labels and scores of a query, and of `ties`
Program = Callable[[np.ndarray, np.ndarray, np.ndarray], float]  # of labels, scores and the rows of each query


def by_rank(labels, scores, ties):
    rows = {"input": np.arange(labels.size), "reverse": -np.arange(labels.size), "worst": labels, "best": -labels}
    return labels[np.lexsort((rows[ties], -scores))]


def discounted(labels, scores, ties, *, k, gain, discounts):
    """Return a DCG; with average ties, tied rows share the mean of their gains."""
    if ties != "average":
        return gain(by_rank(labels, scores, ties)) @ discounts
    _, groups, sizes = np.unique(-scores, return_inverse=True, return_counts=True)
    means = np.bincount(groups, gain(labels)) / sizes
    return np.repeat(means, sizes) @ discounts


def ndcg(labels, scores, *, ties, k, gain, empty, ideal_k=None, discount=lambda ranks: 1 / np.log2(ranks + 1)):
    ranks = np.arange(1, labels.size + 1)
    discounts = np.where(ranks <= k, discount(ranks), 0)
    ideal_discounts = np.where(ranks <= (ideal_k or k), discount(ranks), 0)
    ideal = np.sort(gain(labels))[::-1] @ ideal_discounts
    return discounted(labels, scores, ties, k=k, gain=gain, discounts=discounts) / ideal if ideal > 0 else empty


def from_1(labels):
    return labels >= 1


def above_half(labels):
    return labels > 0.5


def average_precision(labels, scores, *, ties, k=None, relevant=from_1, divisor="relevant"):
    hits = relevant(by_rank(labels, scores, ties)[:k])
    n_relevant = np.count_nonzero(relevant(labels))
    precisions = np.cumsum(hits) / np.arange(1, hits.size + 1)
    n = min(n_relevant, k) if divisor == "cutoff" else n_relevant
    return precisions[hits].sum() / n if n else 0.0


def reciprocal_rank(labels, scores, *, ties, k=None):
    hits = np.flatnonzero(from_1(by_rank(labels, scores, ties)[:k]))
    return 1 / (hits[0] + 1) if hits.size else 0.0


def exponential(labels):
    return 2.0**labels - 1


def linear(labels):
    return labels * 1.0


def in_float32(value):
    return lambda labels, scores, **options: value(labels, scores.astype(np.float32), **options)


# Each convention: its value of a query, its ties, its cutoff, and other ties for programs that are wrong.
NDCG_10 = functools.partial(ndcg, k=10, gain=exponential)
RIGHT: dict[str, tuple[Value, str, int | None, str]] = {
    "lightgbm@10": (functools.partial(NDCG_10, empty=1.0), "input", 10, "reverse"),
    "textbook@10": (functools.partial(NDCG_10, empty=0.0), "average", 10, "input"),
    "sklearn@5": (functools.partial(ndcg, k=5, gain=linear, empty=0.0), "average", 5, "input"),
    "trec_eval.map+ties=input": (in_float32(average_precision), "input", None, "reverse"),
    "ranx.mrr@10": (functools.partial(reciprocal_rank, k=10), "input", 10, "reverse"),
    "catboost.map@10": (
        functools.partial(average_precision, k=10, relevant=above_half, divisor="cutoff"), "worst", 10, "input"
    ),
}  # fmt: skip
UNCUT, FLOAT32 = {"trec_eval.map+ties=input"}, {"trec_eval.map+ties=input"}
BINARY = {"trec_eval.map+ties=input", "ranx.mrr@10", "catboost.map@10"}
NDCGS = {"lightgbm@10", "textbook@10", "sklearn@5"}
NONE: set[str] = set()


def split(labels, scores, sizes):
    ends = np.cumsum(sizes)
    return [(labels[end - n : end], scores[end - n : end]) for end, n in zip(ends, sizes, strict=True)]


def as_program(value, mean=lambda values, queries: np.mean(values)) -> Program:
    """Return the program with a value for each query, None to leave it out, and a mean of values and queries."""

    def program(labels, scores, sizes):
        queries = split(np.asarray(labels), np.asarray(scores, float), sizes)
        pairs = [(value(*query), query) for query in queries]
        kept = [(number, query) for number, query in pairs if number is not None]
        with np.errstate(all="ignore"):
            return float(mean([number for number, _ in kept], [query for _, query in kept])) if kept else 0.0

    return program


def right_program(text: str) -> Program:
    value, ties, *_ = RIGHT[text]
    return as_program(functools.partial(value, ties=ties))


# Scores as a program sees them; the set has conventions of which the detail is part.
def sigmoid(scores):
    return 1 / (1 + np.exp(-scores))


def merged(scores, **tolerances):
    """Return the scores, with each score that is close to the next higher one taken for equal to it."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    for i in range(1, ranked.size):
        if np.isclose(ranked[i], ranked[i - 1], **tolerances):
            ranked[i] = ranked[i - 1]
    result = np.empty(scores.size)
    result[order] = ranked
    return result


def by_bits(scores):
    return scores - 1e-300 * (np.signbit(scores) & (scores == 0))


SCORES = {
    "float16": (lambda s: s.astype(np.float16), NONE),
    "float32": (lambda s: s.astype(np.float32), FLOAT32),
    "a sigmoid": (sigmoid, NONE),
    "a sigmoid of float32": (lambda s: sigmoid(s.astype(np.float32)), NONE),
    "a softmax": (lambda s: np.exp(s - s.max()) / np.exp(s - s.max()).sum(), NONE),
    "an exponential": (np.exp, NONE),
    "a tanh": (np.tanh, NONE),
    "the logarithm of 1 + s": (lambda s: np.log1p(np.maximum(s, 0)), NONE),
    "min-max scaled in float32": (
        lambda s: (s.astype(np.float32) - np.float32(s.min())) / np.float32(max(np.ptp(s), 1e-9)), NONE
    ),
    "3 decimals": (lambda s: np.round(s, 3), NONE),
    "6 decimals": (lambda s: np.round(s, 6), NONE),
    "9 decimals": (lambda s: np.round(s, 9), FLOAT32),
    "6 digits": (lambda s: np.array([float(f"{x:g}") for x in s]), NONE),
    "whole numbers": (np.trunc, NONE),
    "hundredths as whole numbers": (lambda s: np.trunc(100 * s), NONE),
    "int32 of millionths": (lambda s: (np.trunc(1e6 * s).astype(np.int64)).astype(np.int32), NONE),
    "the absolute value": (np.abs, NONE),
    "the square": (np.square, NONE),
    "0 for those below 0": (lambda s: np.maximum(s, 0), NONE),
    "-1 for those below -1": (lambda s: np.maximum(s, -1), NONE),
    "1 for those above 1": (lambda s: np.minimum(s, 1), NONE),
    "100 for those above 100": (lambda s: np.minimum(s, 100), NONE),
    "equal within 1e-8": (lambda s: merged(s, rtol=0, atol=1e-8), FLOAT32),
    "equal as numpy.isclose says": (merged, NONE),
    "-0.0 below 0.0": (by_bits, FLOAT32),
    "0 last": (lambda s: np.where(s == 0, -1e300, s), NONE),
    "0 as NaN, first": (lambda s: np.where(s == 0, 1e300, s), NONE),
}  # fmt: skip


# Rows of a query as a program sees them.
def padded(labels, scores, n, score=0.0):
    missing = max(n - labels.size, 0)
    return np.append(labels, np.zeros(missing, labels.dtype)), np.append(scores, np.full(missing, score))


def unique_rows(labels, scores):
    rows = sorted({(score, label): row for row, (label, score) in enumerate(zip(labels, scores, strict=True))}.values())
    return labels[rows], scores[rows]


def without(labels, scores, mask):
    return (labels[~mask], scores[~mask]) if not mask.all() else (labels[:1] * 0, scores[:1])


ROWS = {
    "the first 20": (lambda y, s: (y[:20], s[:20]), NONE),
    "the first 50": (lambda y, s: (y[:50], s[:50]), NONE),
    "the first 100": (lambda y, s: (y[:100], s[:100]), NONE),
    "the first 1,000": (lambda y, s: (y[:1000], s[:1000]), NONE),
    "all but the last of more than 12": (lambda y, s: (y[:-1], s[:-1]) if y.size > 12 else (y, s), NONE),
    "all but the last of more than 64": (lambda y, s: (y[:-1], s[:-1]) if y.size > 64 else (y, s), NONE),
    "padded to 16 with a score of 0": (lambda y, s: padded(y, s, 16), NONE),
    "padded to the cutoff with a score of 0": (lambda y, s: padded(y, s, 10), UNCUT | {"sklearn@5"}),
    "padded to 12 with a score of -1": (lambda y, s: padded(y, s, 12, -1.0), NONE),
    "without scores of 0": (lambda y, s: without(y, s, s == 0), NONE),
    "without scores below 0": (lambda y, s: without(y, s, s < 0), NONE),
    "equal rows once": (unique_rows, NONE),
    "labels of 0 and 1": (lambda y, s: (np.minimum(y, 1), s), BINARY),
    "labels up to 3": (lambda y, s: (np.minimum(y, 3), s), BINARY),
    "only labels of 1 are relevant": (lambda y, s: (y * (y == 1), s), NONE),
    "only labels from 2 on are relevant": (lambda y, s: (y * (y > 1), s), NONE),
    "only the highest label is relevant": (lambda y, s: (y * (y == y.max()), s), NONE),
}


# Whether a program ranks the tied rows of a query by another rule, given labels, scores and the cutoff.
def runs(scores):
    return np.unique(scores, return_counts=True)[1]


def at_cutoff(scores, k, least=2):
    ranked = np.sort(scores)[::-1]
    return k is not None and k < ranked.size and ranked[k - 1] == ranked[k] and (scores == ranked[k]).sum() >= least


def adjacent(scores):
    """Return whether all tied rows follow each other."""
    return runs(scores).size == 1 + np.count_nonzero(np.diff(scores)) and runs(scores).max() > 1


LONG = {f"in more than {n} rows": (lambda y, s, k, n=n: s.size > n) for n in (11, 16, 32, 64, 100, 128)}
TIES = {
    **LONG,
    "in more than 1,000 rows": lambda y, s, k: s.size > 1000,
    "in up to 3 rows": lambda y, s, k: s.size <= 3,
    "in a query of a pair": lambda y, s, k: s.size == 2,
    "in fewer rows than the cutoff": lambda y, s, k: k is not None and s.size < k,
    "in as many rows as the cutoff": lambda y, s, k: k is not None and s.size == k,
    "in runs of 2 only": lambda y, s, k: runs(s).max() == 2,
    "in runs of 3": lambda y, s, k: runs(s).max() == 3,
    "in runs of 5": lambda y, s, k: runs(s).max() == 5,
    "in runs of more than 3": lambda y, s, k: runs(s).max() > 3,
    "in runs of more than 8": lambda y, s, k: runs(s).max() > 8,
    "in several runs": lambda y, s, k: (runs(s) > 1).sum() > 1,
    "in a single run": lambda y, s, k: (runs(s) > 1).sum() == 1,
    "across the cutoff": lambda y, s, k: at_cutoff(s, k),
    "in 4 rows and more across the cutoff": lambda y, s, k: at_cutoff(s, k, 4),
    "of the highest score": lambda y, s, k: (s == s.max()).sum() > 1,
    "of the lowest score": lambda y, s, k: (s == s.min()).sum() > 1 < runs(s).size,
    "of all rows": lambda y, s, k: runs(s).size == 1,
    "of all rows, with scores of 0": lambda y, s, k: not s.any(),
    "of scores of 0": lambda y, s, k: (s == 0).sum() > 1,
    "of scores below 0": lambda y, s, k: max(runs(s[s < 0]), default=0) > 1,
    "of rows that follow each other": lambda y, s, k: adjacent(s),
    "of rows apart from each other": lambda y, s, k: not adjacent(s),
    "of scores above 1": lambda y, s, k: max(runs(s[s > 1]), default=0) > 1,
}
UNCHANGED_TIES = {  # conventions where the detail concerns no data
    "in fewer rows than the cutoff": UNCUT, "in as many rows as the cutoff": UNCUT, "across the cutoff": UNCUT,
    "in 4 rows and more across the cutoff": UNCUT,
}  # fmt: skip

# The value of a query by a rule of the program's own; None leaves the query out.
EMPTY_WHEN = {
    "of one row": lambda n: n == 1,
    "of two rows": lambda n: n == 2,
    "of 6 and more rows": lambda n: n >= 6,
    "of 13 and more rows": lambda n: n >= 13,
    "of up to 4 rows": lambda n: n <= 4,
}


def opposite(value):
    return 0.0 if value == 1 else 1.0


RULES = {
    **{f"the opposite for nothing relevant {text}": (
        lambda y, s, v, k, when=when: opposite(v) if y.max() <= 0 and when(y.size) else v
    ) for text, when in EMPTY_WHEN.items()},
    "nothing relevant left out": lambda y, s, v, k: None if y.max() <= 0 else v,
    "nothing found left out": lambda y, s, v, k: None if v == 0 else v,
    "0.5 for nothing relevant": lambda y, s, v, k: 0.5 if y.max() <= 0 else v,
    "0 for one relevant row alone": lambda y, s, v, k: 0.0 if y.size == 1 and y[0] > 0 else v,
    "one row left out": lambda y, s, v, k: None if y.size == 1 else v,
    "two rows left out": lambda y, s, v, k: None if y.size == 2 else v,
    "0 for two rows": lambda y, s, v, k: 0.0 if y.size == 2 else v,
    "0 for three rows": lambda y, s, v, k: 0.0 if y.size == 3 else v,
    "0 for more than 100 rows": lambda y, s, v, k: 0.0 if y.size > 100 else v,
    "0 for equal labels": lambda y, s, v, k: 0.0 if len(set(y)) == 1 < y.size else v,
    "equal labels left out": lambda y, s, v, k: None if len(set(y)) == 1 else v,
    "0 for equal scores": lambda y, s, v, k: 0.0 if len(set(s)) == 1 < s.size else v,
    "equal scores left out": lambda y, s, v, k: None if len(set(s)) == 1 < s.size else v,
    "0 for scores of 0 alone": lambda y, s, v, k: 0.0 if not s.any() else v,
    "0 if all scores are below 0": lambda y, s, v, k: 0.0 if s.max() < 0 else v,
    "0 without a label above 1": lambda y, s, v, k: 0.0 if y.max() == 1 < y.size else v,
    "0 for more relevant rows than the cutoff": lambda y, s, v, k: 0.0 if (y > 0).sum() > (k or 10) else v,
    "0 below 0.005": lambda y, s, v, k: 0.0 if v < 0.005 else v,
    "3 decimals": lambda y, s, v, k: round(v, 3),
    "6 decimals": lambda y, s, v, k: round(v, 6),
    "float32": lambda y, s, v, k: float(np.float32(v)),
    "float16": lambda y, s, v, k: float(np.float16(v)),
    "at least 0.0001": lambda y, s, v, k: max(v, 1e-4),
}  # fmt: skip
UNCHANGED_RULES = {"0 below 0.005": set(RIGHT) - UNCUT}


# The mean of the values of queries.
def batched(n):
    return lambda values, queries: np.mean([np.mean(values[i : i + n]) for i in range(0, len(values), n)])


def first_of(key):
    """Return the mean of values that keeps only the first query of each key."""

    def mean(values, queries):
        firsts = {key(*query): value for query, value in zip(queries[::-1], values[::-1], strict=True)}
        return np.mean(list(firsts.values()))

    return mean


def weighed(weight):
    def mean(values, queries):
        weights = [weight(*query) for query in queries]
        return np.average(values, weights=weights) if sum(weights) else 0.0

    return mean


MEANS = {
    "of means of batches of 2": batched(2),
    "of means of batches of 3": batched(3),
    "of means of batches of 4": batched(4),
    "of means of batches of 5": batched(5),
    "without the last query": lambda v, q: np.mean(v[:-1] or v),
    "without the last of more than 3": lambda v, q: np.mean(v[:-1] if len(v) > 3 else v),
    "without the last of more than 6": lambda v, q: np.mean(v[:-1] if len(v) > 6 else v),
    "without the last query of one row": lambda v, q: np.mean(v[:-1] if q[-1][0].size == 1 < len(v) else v),
    "without the first of more than 4": lambda v, q: np.mean(v[1:] if len(v) > 4 else v),
    "of the first 4 queries": lambda v, q: np.mean(v[:4]),
    "of the first 5 queries": lambda v, q: np.mean(v[:5]),
    "of full batches of 4": lambda v, q: np.mean(v[: len(v) // 4 * 4] or v),
    "by the number of rows": weighed(lambda y, s: y.size),
    "by the number of relevant rows": weighed(lambda y, s: (y > 0).sum()),
    "by the highest label": weighed(lambda y, s: y.max()),
    "of queries with different labels": first_of(lambda y, s: tuple(y)),
    "of queries with different numbers of rows": first_of(lambda y, s: y.size),
    "the median of more than 4": lambda v, q: np.median(v) if len(v) > 4 else np.mean(v),
    "the trimmed mean of more than 5": lambda v, q: np.mean(sorted(v)[1:-1]) if len(v) > 5 else np.mean(v),
    "in float32": lambda v, q: np.mean(np.array(v, np.float32)),
    "of 6 decimals": lambda v, q: round(float(np.mean(v)), 6),
    "the sum of more than 8 divided by 8": lambda v, q: np.sum(v) / min(len(v), 8),
}

# What a program looks up again, although it has changed: the value, or labels in place of the query's own.
KEYS = {
    "the labels": lambda y, s: tuple(y),
    "the scores": lambda y, s: tuple(s),
    "the sum of the labels": lambda y, s: y.sum(),
    "the number of rows": lambda y, s: y.size,
    "the rows and the sum of labels": lambda y, s: (y.size, y.sum()),
    "the number of relevant rows": lambda y, s: (y.size, (y > 0).sum()),
    "the highest label": lambda y, s: (y.size, y.max()),
}


def cached(value, key):
    def program(labels, scores, sizes):
        values: dict[object, float] = {}
        return np.mean([values.setdefault(key(*q), value(*q)) for q in split(labels, scores, sizes)])

    return program


def with_cached_ideal(value, key, k, gain, empty):
    """Return an NDCG program that looks up the ideal DCG of a query by a key, in one call."""

    def program(labels, scores, sizes):
        ideals: dict[object, float] = {}
        values = []
        for y, s in split(labels, scores, sizes):
            discounts = 1 / np.log2(np.arange(2, y.size + 2)) * (np.arange(y.size) < k)
            own = np.sort(gain(y))[::-1] @ discounts
            ideal = ideals.setdefault(key(y, s), own)
            values.append((value(y, s) * own / ideal if ideal > 0 else empty) if own > 0 else value(y, s))
        return np.mean(values)

    return program


# Values of a query that are wrong by a detail of the formula, given labels and scores.
def ndcg_details(value, ties, k):
    gain, empty = value.keywords["gain"], value.keywords["empty"]
    for rank in (1, 2, k - 1, k):
        table = lambda ranks, rank=rank: np.where(ranks == rank, 0.9, 1) / np.log2(ranks + 1)  # noqa: E731
        yield f"the discount of rank {rank}", functools.partial(value, ties=ties, discount=table)
    for grade in (1, 2, 3, 4):
        wrong = lambda y, grade=grade: gain(y) + 0.5 * (y == grade)  # noqa: E731
        yield f"the gain of {grade}", functools.partial(value, ties=ties, gain=wrong)
    for cutoff in (k - 1, k + 1, 10**6):
        yield f"an ideal list of {cutoff}", functools.partial(value, ties=ties, ideal_k=cutoff)
        yield f"a cutoff of {cutoff}", functools.partial(value, ties=ties, k=cutoff)
    small = lambda ranks: (1 / np.log2(ranks + 1)).astype(np.float32).astype(float)  # noqa: E731
    yield "discounts in float32", functools.partial(value, ties=ties, discount=small)

    def ideal_in_order(y, s):
        discounts = 1 / np.log2(np.arange(2, y.size + 2))
        ideal = np.sort(gain(y[:k]))[::-1] @ discounts[:k]
        own = np.sort(gain(y))[::-1][:k] @ discounts[:k]
        return value(y, s, ties=ties) * own / ideal if ideal > 0 else empty

    yield "an ideal list of the first rows", ideal_in_order
    yield "an epsilon of 1e-6", lambda y, s: value(y, s, ties=ties) * (1 - 1e-6)
    first = lambda y, s: y * (np.cumsum(y[np.argsort(-s, kind="stable")] == 0)[rank_of(s)] == 0)  # noqa: E731
    yield (
        "it ends at the first label of 0",
        lambda y, s: (
            value(first(y, s), s, ties=ties) * ratio(first(y, s), y, gain, k) if y.max() > 0 else value(y, s, ties=ties)
        ),
    )
    if ties == "average":
        yield "ties averaged up to the cutoff", lambda y, s: cut_before_ties(y, s, value, k, gain)


def rank_of(scores):
    ranks = np.empty(scores.size, int)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(scores.size)
    return ranks


def ratio(labels, others, gain, k):
    ideals = [np.sort(gain(y))[::-1][:k] @ (1 / np.log2(np.arange(2, y.size + 2)))[:k] for y in (labels, others)]
    return ideals[0] / ideals[1]


def cut_before_ties(y, s, value, k, gain):
    top = np.argsort(-s, kind="stable")[:k]
    kept = value(y[top], s[top], ties="average")
    return kept * ratio(y[top], y, gain, k) if y[top].max() > 0 else value(y, s, ties="average") * (y.max() <= 0)


def ap_details(value, ties, k):
    keywords = value.keywords if isinstance(value, functools.partial) else {}
    relevant = keywords.get("relevant", from_1)
    scores_of = np.asarray if keywords else lambda s: s.astype(np.float32)
    for cutoff in (5, 9, 11, 20, 100, 1000) if k else (10, 20, 100, 1000):
        divisor = keywords.get("divisor", "relevant")
        base = functools.partial(average_precision, k=cutoff, relevant=relevant, divisor=divisor)
        yield f"a cutoff of {cutoff}", lambda y, s, base=base: base(y, scores_of(s), ties=ties)

    def parts(y, s):
        hits = relevant(by_rank(y, scores_of(s), ties)[:k])
        return hits, np.cumsum(hits) / np.arange(1, hits.size + 1), int(relevant(y).sum())

    limit = k or 10**9

    def divided(divisor):
        return changed_sum(lambda hits, precisions: precisions[hits].sum(), divisor)

    def changed_sum(total, divisor=lambda hits, n: min(n, limit)):
        def detail(y, s):
            hits, precisions, n = parts(y, s)
            return total(hits, precisions) / (divisor(hits, n) or 1)

        return detail

    if k:
        yield "divided by the hits", divided(lambda hits, n: hits.sum())
    yield "divided by all relevant rows or k", divided(lambda hits, n: n if k else min(n, 10))
    yield "divided by at least 2", divided(lambda hits, n: max(min(n, limit), 2))
    yield "divided by the rows if fewer", divided(lambda hits, n: min(n, limit, hits.size - 1))
    yield "divided by at most 8", divided(lambda hits, n: min(n, limit, 8))
    yield "of the first 5 hits", changed_sum(lambda hits, p: p[hits][:5].sum())
    yield "of the highest precisions", changed_sum(lambda hits, p: np.maximum.accumulate(p[::-1])[::-1][hits].sum())
    if not k:
        yield "without the 12th hit", changed_sum(lambda hits, p: np.delete(p[hits], slice(11, 12)).sum())


def rr_details(value, ties, k):
    for cutoff in (5, k - 1, k + 1, None):
        yield f"a cutoff of {cutoff}", functools.partial(value, ties=ties, k=cutoff)

    def of_rank(change):
        def detail(y, s):
            v = value(y, s, ties=ties)
            return change(round(1 / v)) if v else 0.0

        return detail

    yield "0.1 less from rank 9", of_rank(lambda rank: 1 / rank - (rank == 9) * 0.01)
    yield "rank 10 counts 0.1 less", of_rank(lambda rank: (rank < 10) / rank)
    yield "2 decimals of the rank's inverse", of_rank(lambda rank: int(1000 / rank) / 1000)
    yield "tied rows above", lambda y, s: shared(y, s, lambda above, same: above + same, k)
    yield "no tied rows above", lambda y, s: shared(y, s, lambda above, same: above + 1, k)
    yield "half of the tied rows above", lambda y, s: shared(y, s, lambda above, same: above + (same + 1) / 2, k)


def shared(y, s, rank, k):
    if y.max() <= 0:
        return 0.0
    best = s[y > 0].max()
    place = rank((s > best).sum(), (s == best).sum())
    return 1 / place if place <= k else 0.0


DETAILS = {
    **dict.fromkeys(NDCGS, ndcg_details), "trec_eval.map+ties=input": ap_details, "catboost.map@10": ap_details,
    "ranx.mrr@10": rr_details,
}  # fmt: skip


def wrong_programs(text: str) -> Iterator[tuple[str, Program]]:
    """Yield each program for a convention that is wrong by a detail, with its name."""
    value, ties, k, other_ties = RIGHT[text]
    right = functools.partial(value, ties=ties)
    for name, (change, part_of) in SCORES.items():
        if text not in part_of:
            yield f"scores: {name}", as_program(lambda y, s, change=change: right(y, changed(change, s)))
    for name, (change, part_of) in ROWS.items():
        if text not in part_of:
            yield f"rows: {name}", as_program(lambda y, s, change=change: right(*change(y, s)))
    for name, when in TIES.items():
        if text not in UNCHANGED_TIES.get(name, ()):
            yield (
                f"other ties {name}",
                as_program(lambda y, s, when=when: value(y, s, ties=other_ties if when(y, s, k) else ties)),
            )
    for name, rule in RULES.items():
        if text not in UNCHANGED_RULES.get(name, ()):
            yield f"value: {name}", as_program(lambda y, s, rule=rule: rule(y, s, right(y, s), k))
    yield from ((f"formula: {name}", as_program(detail)) for name, detail in DETAILS[text](value, ties, k))
    yield from programs_of_queries(text, right)


def programs_of_queries(text: str, right: Value) -> Iterator[tuple[str, Program]]:
    """Yield the programs whose queries or whose mean are wrong."""
    for name, mean in MEANS.items():
        yield f"mean {name}", as_program(right, mean)
    for name, key in KEYS.items():
        yield f"the value looked up by {name}", cached(right, key)
        if text in NDCGS and name != "the labels":
            keywords = {word: RIGHT[text][0].keywords[word] for word in ("k", "gain", "empty")}
            yield f"the ideal looked up by {name}", with_cached_ideal(right, key, **keywords)


def changed(change, scores):
    with np.errstate(all="ignore"):
        return np.asarray(change(scores.copy()), float)
