"""Queries with segments, and what `ra.evaluate` says of each segment's rows alone."""

from __future__ import annotations

import numpy as np

import rankadapters as ra
from rankadapters import presets
from rankadapters.core.measures import MEASURES


def conventions():
    """One of every measure, with the pool of its first preset, and one of each average that takes weights."""
    return [presets.make(presets.names(measure)[0], 3) for measure in MEASURES]


def rows(seed=0, n_queries=40):
    """Columns whose rows of a query are scattered, and a segment of texts for each."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(n_queries), rng.integers(1, 15, n_queries))
    query = rng.permutation(query)
    n = query.size
    return {
        "label": rng.integers(0, 2, n).astype(float),
        "score": rng.integers(0, 8, n) / 8,
        "other": rng.standard_normal(n),
        "qid": query,
        "docid": np.array([f"d{i}" for i in rng.permutation(n)]),
        "segment": np.array(["se", "no", "dk"])[rng.integers(0, 3, n_queries)][query],
        "weight": rng.random(n_queries)[query],
        "share": rng.random(n),
    }


def pairs(label, qid, share):
    """Winners, losers and weights: every pair of rows of one query whose labels differ."""
    winner, loser = np.nonzero((qid[:, None] == qid) & (label[:, None] > label))
    return winner, loser, share[winner]


def columns(data, convention):
    """The columns of `ra.evaluate` that a convention takes, of these rows."""
    taken = {"qid": data["qid"], "docid": data["docid"]}
    if getattr(convention, "pairs", None) == "given":
        taken["pairs"] = pairs(data["label"], data["qid"], data["share"])
    if convention.weighting == "query_weight":
        _, first = np.unique(data["qid"], return_index=True)
        taken["query_weight"] = data["weight"][np.sort(first)]
    if convention.weighting == "row_weight":
        taken["row_weight"] = data["share"]
    return taken


def alone(data, convention, segment):
    """The score of the rows of one segment, which is evaluated without the others."""
    part = {name: column[data["segment"] == segment] for name, column in data.items()}
    return ra.evaluate(part["label"], part["score"], convention, **columns(part, convention))


def all_facts(segments):
    """Return all facts of segments: their names, scores with digests, and intervals."""
    scores = [[score.to_dict() for score in results.values()] for results in (*segments.values(), segments.all)]
    return list(segments), scores, segments.to_dict()
