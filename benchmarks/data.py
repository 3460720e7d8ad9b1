"""Generate data of realistic size and shape."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Data(NamedTuple):
    labels: np.ndarray
    scores: np.ndarray
    sizes: np.ndarray

    @property
    def qid(self) -> np.ndarray:
        return np.repeat(np.arange(self.sizes.size), self.sizes)


def make(n_queries: int, seed: int = 0) -> Data:
    """Return queries of lognormal length 1 to 1200 (mean 104 rows), labels 0 to 4 and normal scores."""
    rng = np.random.default_rng(seed)
    sizes = np.clip(np.round(rng.lognormal(4.2, 0.95, n_queries)), 1, 1200).astype(np.int64)
    n = int(sizes.sum())
    return Data(rng.choice(5, n, p=[0.5, 0.3, 0.13, 0.05, 0.02]).astype(float), rng.standard_normal(n), sizes)


def sparse(data: Data, share: float = 0.05, seed: int = 7) -> Data:
    """Return the same queries with labels 0 and 1; `share` of the rows is relevant."""
    relevant = np.random.default_rng(seed).random(data.labels.size) < share
    return data._replace(labels=relevant.astype(float))


def first_queries(data: Data, n_queries: int) -> Data:
    """Return only the first queries, for slow competitors."""
    n = int(data.sizes[:n_queries].sum())
    return Data(data.labels[:n], data.scores[:n], data.sizes[:n_queries])


def training_rounds(data: Data, rounds: int, share: float = 0.05) -> list[np.ndarray]:
    """Return scores of successive rounds; each round adds noise of a share of the standard deviation."""
    rng = np.random.default_rng(1)
    scores, by_round = data.scores, []
    for _ in range(rounds):
        scores = scores + share * scores.std() * rng.standard_normal(scores.size)
        by_round.append(scores)
    return by_round


def unrelated(data: Data, rounds: int) -> list[np.ndarray]:
    """Return random scores for each round, independent of the previous round."""
    rng = np.random.default_rng(2)
    return [rng.standard_normal(data.scores.size) for _ in range(rounds)]
