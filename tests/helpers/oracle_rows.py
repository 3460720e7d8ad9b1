"""Random rows as the oracles take them, and the same rows as columns of `ra.Queries`."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import rankadapters as ra
from tests.oracles.rows import Row


@st.composite
def ragged_queries(draw: st.DrawFn, *, probabilities: bool = False, weighted: bool = True) -> list[list[Row]]:
    """Draw queries of different lengths with ties, unjudged and unretrieved rows, weights and pairs."""
    seed, n_queries = draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, 8))
    rng = np.random.default_rng(seed)
    levels = draw(st.sampled_from([1, 2, 5, 50, 10**9]))
    longest = draw(st.sampled_from([1, 3, 12, 30, 90]))
    spoilt_share = draw(st.sampled_from([0.0, 0.3]))
    top_label = draw(st.sampled_from([0, 1, 3]))
    queries = []
    for _ in range(n_queries):
        n = int(rng.integers(1, longest + 1))
        scores = rng.integers(0, levels, n) / levels * draw(st.sampled_from([1.0, 1e-7, -1e6]))
        judged, retrieved = rng.random(n) >= spoilt_share, rng.random(n) >= spoilt_share
        retrieved |= ~judged
        labels = rng.integers(0, top_label + 1, n)
        docids = [f"d{i}" for i in rng.permutation(n)]
        weights = rng.choice([0.0, 0.25, 1.0, 1.0, 2.5], n) if weighted else np.ones(n)
        opponents, pair_weights = rng.integers(0, n, (n, 2)).tolist(), rng.choice([0.5, 1.0], (n, 2)).tolist()
        beats = [tuple((j, w) for j, w in zip(opponents[i], pair_weights[i], strict=True) if j != i) for i in range(n)]
        if probabilities:
            labels = labels / 4
        queries.append([Row(float(labels[i]), float(scores[i]), docids[i], bool(retrieved[i]), bool(judged[i]),
                            float(weights[i]), beats[i]) for i in range(n)])  # fmt: skip
    return queries


def columns_and_scores(queries: list[list[Row]]) -> tuple[dict[str, object], list[float]]:
    rows = [row for query in queries for row in query]
    return {
        "labels": [row.label for row in rows],
        "group_sizes": [len(query) for query in queries],
        "docid": [row.docid for row in rows],
        "retrieved": [row.retrieved for row in rows],
        "judged": [row.judged for row in rows],
    }, [row.score for row in rows]


def takes_probabilities(convention: ra.Convention) -> bool:
    return getattr(convention, "pairs", "") == "unit" or isinstance(convention, ra.QueryCrossEntropy)


def weights_and_pairs(queries: list[list[Row]], convention: ra.Convention) -> dict[str, object]:
    """Return the weights that a convention counts and the pairs that it needs."""
    arguments: dict[str, object] = {}
    if convention.weighting == "query_weight":
        arguments["query_weight"] = [(i * 7 % 5) / 2 + 0.5 for i in range(len(queries))]
    if convention.weighting == "row_weight":
        arguments["row_weight"] = [row.weight for query in queries for row in query]
    if getattr(convention, "pairs", "") == "given":
        starts = np.cumsum([0, *map(len, queries)])
        pairs = [(start + i, start + j, weight) for start, query in zip(starts, queries, strict=False)
                 for i, row in enumerate(query) for j, weight in row.beats]  # fmt: skip
        winners, losers, weights = (np.array(column) for column in zip(*pairs, strict=True)) if pairs else ([], [], [])
        arguments["pairs"] = (winners, losers, weights) if convention.average == "pair" else (winners, losers)
    return arguments
