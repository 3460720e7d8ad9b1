"""Generated ranking cases with what makes toolkits differ: ties, empty, short and one-document queries, weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import rankadapters as ra
from tests.helpers.depth import examples

N_CASES = examples(200)
CUTOFFS = (1, 3, 5, 10, None)


class Case(NamedTuple):
    labels: np.ndarray
    scores: np.ndarray
    sizes: np.ndarray
    weights: np.ndarray | None

    def queries(self, *, weighted: bool) -> ra.Queries:
        """With docids, which some conventions break ties by."""
        docid = [f"d{row:03}" for row in range(self.labels.size)]
        weights = self.weights if weighted else None
        return ra.Queries(self.labels, group_sizes=self.sizes, query_weight=weights, docid=docid)


def case(seed: int) -> Case:
    """A third is weighted, a fifth has fractional labels, a fifth scores that tie in float32 only, half ties proper."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 15, rng.integers(1, 12))
    n = int(sizes.sum())
    kind = seed % 5
    labels = np.round(rng.random(n) * 3, 2) if kind == 1 else rng.integers(0, (2, 4, 5)[seed % 3], n).astype(float)
    labels *= np.repeat(rng.random(sizes.size) < 0.8, sizes)
    scores = rng.integers(0, 6, n) / 4 if seed % 2 else rng.normal(size=n)
    if kind == 2:
        scores = 1 + rng.integers(0, 4, n) * 1e-9
    return Case(labels, scores, sizes, rng.uniform(0.1, 3, sizes.size) if seed % 3 == 0 else None)


def declared(seed: int, toolkit: str) -> list[ra.Convention]:
    """The toolkit's own convention, and one of the presets in turn."""
    k = CUTOFFS[seed % len(CUTOFFS)]
    names = ra.presets.names()
    return [getattr(ra.presets, toolkit)(k), getattr(ra.presets, names[seed % len(names)])(k)]
