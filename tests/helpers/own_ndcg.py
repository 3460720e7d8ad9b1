"""An NDCG as a user writes it, with details that can be wrong."""

from __future__ import annotations

import numpy as np


def by_rank(labels, scores):
    return labels[np.argsort(-scores, kind="stable")]


def ndcg(labels, scores, k=5, *, gain=lambda y: 2.0**y - 1, discounts=None, ideal_k=None):
    """Return an NDCG; discounts by rank replace the usual ones."""
    factors = 1 / np.log2(np.arange(labels.size) + 2)
    for rank, discount in (discounts or {}).items():
        factors[rank - 1 : rank] = discount
    ideal_factors = np.where(np.arange(labels.size) < (ideal_k or k), factors, 0)
    ideal = np.sort(gain(labels))[::-1] @ ideal_factors
    return float(gain(by_rank(labels, scores))[:k] @ factors[:k] / ideal) if ideal else 0.0
