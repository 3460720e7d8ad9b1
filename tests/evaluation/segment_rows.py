"""Rows with segments, and the score of the rows of one segment by `ra.evaluate`."""

from __future__ import annotations

import numpy as np

import rankadapters as ra
from tests.helpers.conventions import WITH_PRESET, first_preset


def conventions():
    return [first_preset(measure) for measure in WITH_PRESET]


def rows(seed=0, n_queries=40):
    """Return columns of queries whose rows are scattered, with a segment for each query."""
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


def label_pairs(label, qid, share):
    """Return winners, losers and weights of all pairs of rows of one query whose labels differ."""
    winner, loser = np.nonzero((qid[:, None] == qid) & (label[:, None] > label))
    return winner, loser, share[winner]


def evaluate_columns(data, convention):
    arguments = {"qid": data["qid"], "docid": data["docid"]}
    if getattr(convention, "pairs", None) == "given":
        arguments["pairs"] = label_pairs(data["label"], data["qid"], data["share"])
    if convention.weighting == "query_weight":
        _, first = np.unique(data["qid"], return_index=True)
        arguments["query_weight"] = data["weight"][np.sort(first)]
    if convention.weighting == "row_weight":
        arguments["row_weight"] = data["share"]
    return arguments


def evaluate_segment(data, convention, segment):
    part = {name: column[data["segment"] == segment] for name, column in data.items()}
    return ra.evaluate(part["label"], part["score"], convention, **evaluate_columns(part, convention))


def segment_results(segments):
    """Return the names of segments, the dicts of their scores, and the dict with their intervals."""
    scores = [[score.to_dict() for score in results.values()] for results in (*segments.values(), segments.all)]
    return list(segments), scores, segments.to_dict()
