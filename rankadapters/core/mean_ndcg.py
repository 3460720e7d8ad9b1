"""LETOR's MeanNDCG: the average of NDCG@1, ..., NDCG@n of each query, n being its number of rows."""

from __future__ import annotations

import numpy as np

from rankadapters.core.convention import NDCG
from rankadapters.core.errors import ConventionError
from rankadapters.core.evaluator import Panel
from rankadapters.core.queries import as_queries


def mean_ndcg(
    labels: object, scores: object, convention: NDCG, *, n_threads: int | None = None, **columns: object
) -> float:
    """Average NDCG over all cutoffs of each query, then over queries.

    No convention expresses it, since every query has cutoffs of its own; so it is a bare number, and `convention` says
    what it was made from. Its `k` does not matter, and no query is short of its own cutoffs.

    Parameters
    ----------
    labels, scores, n_threads
        As in `evaluate`.
    convention : NDCG
        What each NDCG@k is: `presets.letor4(k)` or `presets.mslr(k)` for the scripts that print MeanNDCG.
    qid, group_sizes, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    float
        Mean over the queries that are not skipped.

    Raises
    ------
    ConventionError
        The convention is no NDCG, or averages by query weights.
    InputError
        As from `evaluate`.

    References
    ----------
    Eval-Score-4.0.pl (LETOR 4.0, 2009) and eval-score-mslr.pl (2010), MeanNDCG. Run: equal to 1e-11.

    Examples
    --------
    >>> from rankadapters import presets
    >>> round(mean_ndcg([0, 1], [2, 1], presets.letor4(10), group_sizes=[2]), 3)
    0.5
    """
    if not isinstance(convention, NDCG) or convention.average != "uniform":
        msg = (
            "MeanNDCG averages an NDCG with average='uniform'.\nHint: mean_ndcg(labels, scores, ra.presets.letor4(10))."
        )
        raise ConventionError(msg)
    queries = as_queries(labels, **columns)
    base, longest = convention.replace(short="pad"), int(np.diff(queries.indptr).max())
    panel = Panel(queries, [base.at(k) for k in range(1, longest + 1)], n_threads)
    values = np.stack(list(panel.per_query(scores).values()))
    retrieved = np.ones(queries.n_docs) if queries.retrieved is None else queries.retrieved.astype(float)
    in_order = retrieved if queries.order is None else retrieved[queries.order]
    sizes = np.maximum(np.add.reduceat(in_order, queries.indptr[:-1]), 1)
    within = np.arange(longest)[:, None] < sizes
    return float(np.nanmean(np.sum(values, axis=0, where=within) / sizes))
