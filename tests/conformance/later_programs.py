"""A second table of wrong programs, written when the cases of `conformance` were fixed."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from tests.conformance.wrong_programs import (
    FLOAT32,
    NDCGS,
    NONE,
    RIGHT,
    UNCUT,
    Program,
    Value,
    as_program,
    batched,
    changed,
    from_1,
    runs,
    split,
    weighed,
)  # fmt: skip


def bfloat16(scores):
    return (scores.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def as_text(scores):
    """Return ranks of the scores as texts, so that "10" is below "9"."""
    return np.unique([str(score) for score in scores], return_inverse=True)[1]


RR = {"ranx.mrr@10"}
SCORES = {
    "bfloat16": (bfloat16, NONE),
    "float16 in more than 32 rows": (lambda s: s.astype(np.float16) if s.size > 32 else s, NONE),
    "texts": (as_text, NONE),
    "12 decimals": (lambda s: np.round(s, 12), FLOAT32),
    "whole millionths up to 2^31": (lambda s: np.clip(np.rint(s * 1e6), -(2.0**31), 2.0**31), NONE),
    "divided by the largest": (lambda s: s / s.max() if s.max() else s, NONE),
    "divided by the sum": (lambda s: s / s.sum() if s.sum() else s, NONE),
    "bytes": (lambda s: (np.clip(s, 0, 1) * 255).astype(np.uint8), NONE),
    "their inverse": (lambda s: -1 / s, NONE),
    "-100 for those below -100": (lambda s: np.maximum(s, -100), NONE),
    "20 for those above 20": (lambda s: np.minimum(s, 20), NONE),
    "50 for those above 50": (lambda s: np.minimum(s, 50), NONE),
    "1e6 for those above 1e6": (lambda s: np.minimum(s, 1e6), NONE),
    "logits": (lambda s: np.log(s / (1 - s)), NONE),
    "cubed in float32": (lambda s: s.astype(np.float32) ** 3, NONE),
    "standardized in float32": (lambda s: ((s - s.mean()) / (s.std() + 1e-8)).astype(np.float32), NONE),
}


def by_score(labels, scores):
    """Return one row for each score: the last."""
    rows = sorted({score: row for row, score in enumerate(scores.tolist())}.values())
    return labels[rows], scores[rows]


def padded_to(labels, scores, multiple):
    missing = -labels.size % multiple
    return np.append(labels, np.zeros(missing, labels.dtype)), np.append(scores, np.zeros(missing))


ROWS = {
    "one for each score": by_score,
    "padded to a multiple of 4 with a score of 0": lambda y, s: padded_to(y, s, 4),
    "padded to a multiple of 32 with a score of 0": lambda y, s: padded_to(y, s, 32),
    "without the first of more than 100": lambda y, s: (y[1:], s[1:]) if y.size > 100 else (y, s),
    "the first 256": lambda y, s: (y[:256], s[:256]),
    "the first 512": lambda y, s: (y[:512], s[:512]),
    "without the last of an odd number above 2": lambda y, s: (y[:-1], s[:-1]) if y.size % 2 and y.size > 2 else (y, s),
    "labels in reverse order for more than 50 rows": lambda y, s: (y[::-1], s) if y.size > 50 else (y, s),
    "scores above -1 only": lambda y, s: (y[s > -1], s[s > -1]) if (s > -1).any() else (y * 0, s),
    "scores above -1000 only": lambda y, s: (y[s > -1000], s[s > -1000]) if (s > -1000).any() else (y * 0, s),
    "without a last row that is the worst of more than 3": lambda y, s: (
        (y[:-1], s[:-1]) if y.size > 3 and s[-1] < s[:-1].min() else (y, s)
    ),
    "two queries of 512 rows": lambda y, s: (y[512:], s[512:]) if y.size > 1024 else (y, s),
}

TIES = {
    **{f"in runs of {n}": (lambda y, s, k, n=n: (runs(s) == n).any()) for n in (2, 3, 4, 5, 7)},
    "of the second score": lambda y, s, k: (s == np.sort(np.unique(s))[-min(2, runs(s).size)]).sum() > 1,
    "in a run longer than the cutoff": lambda y, s, k: runs(s).max() > (k or 10),
    "in three runs and more": lambda y, s, k: (runs(s) > 1).sum() >= 3,
    "of whole scores": lambda y, s, k: (s == np.trunc(s)).all(),
    "of fractional scores": lambda y, s, k: not (s == np.trunc(s)).any(),
    "in an odd number of rows": lambda y, s, k: s.size % 2 == 1,
    "in an even number of rows": lambda y, s, k: s.size % 2 == 0,
    "in 4 rows": lambda y, s, k: s.size == 4,
    "in one row more than the cutoff": lambda y, s, k: s.size == (k or 10) + 1,
    "in more than 50 rows and all scores above 0": lambda y, s, k: s.size > 50 and s.min() > 0,
    "with a single relevant row": lambda y, s, k: (y > 0).sum() == 1,
    "with more than one relevant row": lambda y, s, k: (y > 0).sum() > 1,
    "among more than 12 rows apart": lambda y, s, k: s.size > 12 and (np.diff(s) != 0).all(),
    "if the first row is tied": lambda y, s, k: (s == s[0]).sum() > 1,
    "if the last row is tied": lambda y, s, k: (s == s[-1]).sum() > 1,
    "if more than half of the rows are tied": lambda y, s, k: runs(s).max() * 2 > s.size,
    "if scores have both signs": lambda y, s, k: s.min() < 0 < s.max(),
}
RULES = {
    **{f"0 for {n} rows": (lambda y, s, v, k, n=n: 0.0 if y.size == n else v) for n in (4, 5, 7, 9, 12, 13)},
    "0 for 1,024 rows and more": lambda y, s, v, k: 0.0 if y.size >= 1024 else v,
    "0 if the only relevant row is the last row": lambda y, s, v, k: 0.0 if (y > 0).sum() == 1 and y[-1] > 0 else v,
    "0 if all but one row are relevant": lambda y, s, v, k: 0.0 if (y > 0).sum() == y.size - 1 else v,
    "0 for 10 relevant rows and more": lambda y, s, v, k: 0.0 if (y > 0).sum() >= 10 else v,
    "0.5 for equal scores": lambda y, s, v, k: 0.5 if len(set(s)) == 1 < s.size else v,
    "half for a highest score of 0": lambda y, s, v, k: v / 2 if s.max() == 0 else v,
    "half for a lowest score of 0": lambda y, s, v, k: v / 2 if s.min() == 0 else v,
    "0 for a sum of scores of 0": lambda y, s, v, k: 0.0 if s.sum() == 0 else v,
    "0 for equal labels above 1": lambda y, s, v, k: 0.0 if len(set(y)) == 1 < y[0] else v,
    "half for scores above 1e6": lambda y, s, v, k: v / 2 if s.max() > 1e6 else v,
    "1 above 0.99": lambda y, s, v, k: 1.0 if v > 0.99 else v,
    "7 decimals": lambda y, s, v, k: round(v, 7),
    "left out with nothing relevant, if of one row": lambda y, s, v, k: None if y.size == 1 and y[0] == 0 else v,
}
MEANS = {
    **{f"of means of batches of {n}": batched(n) for n in (6, 7, 8, 10, 16, 32, 64)},
    "of full batches of 64": lambda v, q: np.mean(v[: len(v) // 64 * 64] or v),
    "of the first 10 queries": lambda v, q: np.mean(v[:10]),
    "of the first 100 queries": lambda v, q: np.mean(v[:100]),
    "of the different values": lambda v, q: np.mean(list(set(v))),
    "without the second of more than 5": lambda v, q: np.mean([v[0], *v[2:]] if len(v) > 5 else v),
    "without every tenth query": lambda v, q: np.mean([x for i, x in enumerate(v, 1) if i % 10]),
    "without values of 1, among several": lambda v, q: np.mean([x for x in v if x != 1] or v),
    "by the square root of the rows": weighed(lambda y, s: y.size**0.5),
    "by the rows above 8": weighed(lambda y, s: max(y.size, 8)),
    "without queries of one row, among several": lambda v, q: np.mean(
        [x for x, (y, _) in zip(v, q, strict=True) if y.size > 1] or v
    ),
    "the sum divided by at most 100": lambda v, q: np.sum(v) / min(len(v), 100),
    "the last twice if there are more than 3": lambda v, q: np.mean([*v, v[-1]] if len(v) > 3 else v),
    "1/2 if several queries have nothing relevant and no query has": lambda v, q: (
        0.5 if len(q) > 1 and max(y.max() for y, _ in q) <= 0 else np.mean(v)
    ),
    "in float16 for more than 50": lambda v, q: np.mean(np.array(v, np.float16 if len(v) > 50 else float)),
}


def with_stale(value, stale):
    """Return a program that takes the labels or the scores of the query before, if both have as many rows."""

    def program(labels, scores, sizes):
        values = []
        queries = split(labels, scores, sizes)
        for before, (y, s) in zip([queries[0], *queries], queries, strict=False):
            same = before[0].size == y.size
            values.append(value(before[0] if same and stale == "labels" else y,
                                before[1] if same and stale == "scores" else s))  # fmt: skip
        return np.mean(values)

    return program


def merged_ones(value):
    """Return a program that adds a query of one row to the query before."""

    def program(labels, scores, sizes):
        joined: list[int] = []
        for n in sizes.tolist():
            if n == 1 and joined:
                joined[-1] += 1
            else:
                joined.append(n)
        return np.mean([value(*query) for query in split(labels, scores, np.array(joined))])

    return program


def wrong_programs(text: str) -> Iterator[tuple[str, Program]]:
    """Yield each program for a convention that is wrong by a detail, with its name."""
    value, ties, k, other_ties = RIGHT[text]
    right = functools.partial(value, ties=ties)
    for name, (change, part_of) in SCORES.items():
        if text not in part_of:
            yield f"scores: {name}", as_program(lambda y, s, change=change: right(y, changed(change, s)))
    for name, change in ROWS.items():
        yield f"rows: {name}", as_program(lambda y, s, change=change: right(*change(y, s)))
    for name, when in TIES.items():
        if not (text in UNCUT and "cutoff" in name):
            yield (
                f"other ties {name}",
                as_program(lambda y, s, when=when: value(y, s, ties=other_ties if when(y, s, k) else ties)),
            )
    for name, rule in RULES.items():
        if not (name == "1 above 0.99" and text in RR):
            yield f"value: {name}", as_program(lambda y, s, rule=rule: rule(y, s, right(y, s), k))
    yield from programs_of_queries(text, right)
    for rank in (3, 7, 12, 30, 90, 140) if text in UNCUT else (2, 4, (k or 10) - 1):
        yield f"without rank {rank}", as_program(lambda y, s, rank=rank: right(without_rank(y, s, rank), s))


def programs_of_queries(text: str, right: Value) -> Iterator[tuple[str, Program]]:
    """Yield the programs whose queries or whose mean are wrong."""
    for name, mean in MEANS.items():
        yield f"mean {name}", as_program(right, mean)
    for stale in ("labels", "scores"):
        yield f"the {stale} of the query before", with_stale(right, stale)
    yield "a query of one row joined to the one before", merged_ones(right)
    if text not in NDCGS:
        yield "at most 10 relevant rows", as_program(lambda y, s: right(np.where(np.cumsum(from_1(y)) > 10, 0, y), s))


def without_rank(labels, scores, rank):
    rows = np.argsort(-scores, kind="stable")
    return np.where(np.arange(labels.size) == rows[rank - 1], 0, labels) if rank <= labels.size else labels
