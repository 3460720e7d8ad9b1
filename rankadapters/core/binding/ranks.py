"""From scores to ranks, as a `Ranking` says: the one place that knows what its words mean."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankadapters.core.binding.gains import are_beyond
from rankadapters.core.binding.plans import Ranking
from rankadapters.core.data.columns import Array, Floats, Ints
from rankadapters.core.data.rows import Rows
from rankadapters.core.declaration.spelling import border
from rankadapters.core.kernels import dispatch
from rankadapters.core.kernels.ranking import ranked_columns
from rankadapters.core.kernels.views import writable

RETRIEVED = 1.0  # the score of a row that is retrieved, where scores are not compared; the others have 0


class Ranks(NamedTuple):
    """What the rows bring to their ranks, query after query."""

    outptr: Ints  # where each query's ranks begin
    columns: Floats  # shape (n_columns, n_ranks)
    ends: Ints  # where each rank's tie ends; empty where the ranking does not tell

    @classmethod
    def empty(cls, ranking: Ranking, n_columns: int, outptr: Ints) -> Ranks:
        """Make room for so many columns."""
        n_ranks = int(outptr[-1])
        return cls(outptr, np.empty((n_columns, n_ranks)), np.empty(n_ranks if ranking.has_ends else 0, np.int64))


def comparable(ranking: Ranking, scores: Array) -> Array:
    """Return the scores as they are compared; float32 ones are never widened."""
    if ranking.precision == "none":
        values = scores.astype(np.float64)
        return np.where(np.isfinite(values), are_beyond(values, ranking.retrieve), values)
    with np.errstate(over="ignore"):  # the kernel refuses what overflowed
        return writable(scores.astype(compared_in(ranking.precision, scores.dtype), copy=False))  # type: ignore[no-any-return]


def compared_in(precision: str, dtype: np.dtype[Any]) -> str:
    """Precision in which scores are compared: float32 ones in float64 as they are in float32."""
    return "float32" if dtype == np.float32 and precision != "none" else precision


def n_ranks(ranking: Ranking, sizes: Ints, k: int) -> Ints:
    """Count the ranks that queries of such sizes have, down to rank k or, with whole ties, to the last row."""
    return sizes if ranking.tied == "whole" else np.minimum(sizes, k)


def rank(ranking: Ranking, scores: Array, rows: Rows, k: int, *, columns: Array, ranks: Ranks) -> int:
    """Write what the rows bring to the ranks 1..k.

    Parameters
    ----------
    ranking : Ranking
        How rows are ranked.
    scores : float array, shape (n_docs,)
        In the caller's order, as `comparable` gives them.
    rows : Rows
        In the order that ties keep: of all queries, or of some.
    k : int
        Ranks that are looked at.
    columns : array, shape (n_columns, n_rows)
        What the rows bring, in the order of `rows`.
    ranks : Ranks
        Written to, at the ranks of these queries.

    Returns
    -------
    int
        The first row whose score is not finite, else -1.
    """
    n = int(rows.indptr[-1] - rows.indptr[0])
    retrieved = None if ranking.retrieve == "all" else _threshold(ranking)
    given = (scores, rows.order, rows.indptr, k, ranking.tied, retrieved, columns, ranks)
    return int(dispatch.run(ranked_columns, *given, rows=n))


def _threshold(ranking: Ranking) -> tuple[float, bool]:
    """Return the score from which on a row is retrieved, and whether it must be above it."""
    word, threshold = border(ranking.retrieve) or ("from", -np.inf)
    return (RETRIEVED, False) if ranking.precision == "none" else (threshold, word == "above")
