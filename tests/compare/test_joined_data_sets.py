"""Data sets that are joined with a query weight of 1/n: the recipe of `docs/compare.md` for methods over data sets."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import rankadapters as ra


def test_joined_data_sets_count_alike_and_the_p_value_counts_all_sign_swaps():
    rng, convention = np.random.default_rng(0), ra.presets.textbook(4).replace(average="query")
    parts = [ra.Queries(rng.integers(0, 3, 4 * n), group_sizes=[4] * n) for n in (3, 5)]
    scores = [{name: rng.standard_normal(part.n_docs) for name in "ab"} for part in parts]
    weights = np.concatenate([np.full(part.n_queries, 1 / part.n_queries) for part in parts])
    joined = ra.Queries(
        np.concatenate([part.labels for part in parts]), group_sizes=[4] * 8, query_weight=weights
    )  # fmt: skip
    models = {name: np.concatenate([part[name] for part in scores]) for name in "ab"}
    [comparison] = ra.audit.order(joined, models, convention).comparisons
    values = [[ra.evaluate(part, by_name[name], convention).value for name in "ab"] for part, by_name in
              zip(parts, scores, strict=True)]  # fmt: skip
    assert comparison.difference == pytest.approx(np.mean([a - b for a, b in values]))
    per_query = [ra.per_query(joined, models[name], convention) for name in "ab"]
    shares = (per_query[0] - per_query[1]) * weights / 2
    sums = np.array([np.dot(signs, shares) for signs in product([1, -1], repeat=8)])
    tails = ((sums >= shares.sum() - 1e-12).sum(), (sums <= shares.sum() + 1e-12).sum())
    assert comparison.p_value == pytest.approx(min(1.0, 2 * min(tails) / 256))
