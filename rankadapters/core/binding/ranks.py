"""Rank rows by a `Ranking`; the only module that interprets its fields."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankadapters.core.binding.gains import passes_threshold
from rankadapters.core.binding.plans import Ranking
from rankadapters.core.data.columns import Array, Floats, Ints
from rankadapters.core.data.rows import Rows
from rankadapters.core.declaration.fields import border
from rankadapters.core.kernels import dispatch
from rankadapters.core.kernels.ranking import ranked_columns
from rankadapters.core.kernels.views import writable

RETRIEVED = 1.0  # score of every retrieved row if scores are not compared; other rows get 0


class Ranks(NamedTuple):
    """Columns in rank order, query after query."""

    outptr: Ints  # where each query's ranks begin
    columns: Floats  # shape (n_columns, n_ranks)
    ends: Ints  # where each rank's tie ends; empty unless the ranking has ends

    @classmethod
    def empty(cls, ranking: Ranking, n_columns: int, outptr: Ints) -> Ranks:
        """Allocate arrays for `n_columns` columns."""
        n_ranks = int(outptr[-1])
        return cls(outptr, np.empty((n_columns, n_ranks)), np.empty(n_ranks if ranking.has_ends else 0, np.int64))


def comparable_scores(ranking: Ranking, scores: Array) -> Array:
    """Return the scores in the precision in which they are compared; float32 scores stay float32."""
    if ranking.precision == "none":
        values = scores.astype(np.float64)
        return np.where(np.isfinite(values), passes_threshold(values, ranking.retrieve), values)
    with np.errstate(over="ignore"):  # the kernel refuses infinite scores
        return writable(scores.astype(comparison_dtype(ranking.precision, scores.dtype), copy=False))  # type: ignore[no-any-return]


def comparison_dtype(precision: str, dtype: np.dtype[Any]) -> str:
    """Return the precision in which scores are compared: float32 scores are never converted to float64."""
    return "float32" if dtype == np.float32 and precision != "none" else precision


def n_ranks(ranking: Ranking, sizes: Ints, k: int) -> Ints:
    """Return the number of ranks of each query: at most k, or all its rows if the kernel reads whole ties."""
    return sizes if ranking.tied == "whole" else np.minimum(sizes, k)


def rank(ranking: Ranking, scores: Array, rows: Rows, k: int, *, columns: Array, ranks: Ranks) -> int:
    """Write the columns at the ranks 1..k.

    Parameters
    ----------
    ranking : Ranking
        How rows are ranked.
    scores : float array, shape (n_docs,)
        Scores in the caller's order, from `comparable_scores`.
    rows : Rows
        Rows of all or some queries, in the order that ties keep.
    k : int
        Number of ranks.
    columns : array, shape (n_columns, n_rows)
        Values of the rows, in the order of `rows`.
    ranks : Ranks
        The output, which is written at the ranks of these queries.

    Returns
    -------
    int
        The first row whose score is not finite, else -1.
    """
    n = int(rows.indptr[-1] - rows.indptr[0])
    retrieved = None if ranking.retrieve == "all" else _threshold(ranking)
    arguments = (scores, rows.order, rows.indptr, k, ranking.tied, retrieved, columns, ranks)
    return int(dispatch.run(ranked_columns, *arguments, rows=n))


def _threshold(ranking: Ranking) -> tuple[float, bool]:
    """Return the score threshold of retrieval, and whether a row with exactly this score is not retrieved."""
    word, threshold = border(ranking.retrieve) or ("from", -np.inf)
    return (RETRIEVED, False) if ranking.precision == "none" else (threshold, word == "above")
