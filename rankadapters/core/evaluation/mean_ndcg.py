"""LETOR's MeanNDCG: the average of NDCG@1, ..., NDCG@n of each query, n being its number of rows."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from rankadapters.core.data.keywords import Columns, by_name
from rankadapters.core.data.queries import as_queries
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.evaluation.panel import Panel
from rankadapters.core.measures import NDCG
from rankadapters.core.presets.texts import as_convention

AT_ONCE = 50  # cutoffs per panel: more would save ranking passes, but each needs memory for a value per query


@by_name
def mean_ndcg(
    labels: object,
    scores: object,
    convention: NDCG | str,
    *,
    n_threads: int | None = None,
    **columns: Unpack[Columns],
) -> float:
    """Average NDCG over all cutoffs of each query, then over queries.

    No convention expresses MeanNDCG, since the cutoffs differ between queries, so the result is a bare number. The `k`
    and `short` of the convention are ignored.

    Parameters
    ----------
    labels, scores, n_threads
        As in `evaluate`.
    convention : NDCG
        The convention of every NDCG@k: `presets.letor4(k)` or `presets.mslr(k)` for the scripts that print MeanNDCG.
    qid, group_sizes, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    float
        Mean over the queries that are not skipped.

    Raises
    ------
    ConventionError
        The convention is not an NDCG, or averages by query weights.
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
    ndcg = as_convention(convention)
    if not isinstance(ndcg, NDCG) or ndcg.average != "uniform":
        raise ConventionError(
            "MeanNDCG averages an NDCG with average='uniform'.", hint="mean_ndcg(labels, scores, ra.presets.letor4(10))"
        )
    queries = as_queries(labels, **columns)
    base, longest = ndcg.replace(short="pad"), queries.longest
    retrieved = np.ones(queries.n_docs) if queries.retrieved is None else queries.retrieved.astype(float)
    sizes = np.maximum(np.add.reduceat(queries.by_query(retrieved), queries.indptr[:-1]), 1)
    sums = np.zeros(queries.n_queries)
    for first in range(1, longest + 1, AT_ONCE):
        cutoffs = range(first, min(first + AT_ONCE, longest + 1))
        panel = Panel(queries, [base.at(k) for k in cutoffs], n_threads=n_threads)
        for k, values in zip(cutoffs, panel.per_query(scores).values(), strict=True):
            sums += np.where(k <= sizes, values, 0.0)
    scored = np.isfinite(sums)
    if not scored.any():
        raise InputError("nothing is left to average: every query was skipped.", hint="another policy than 'skip'")
    return float(np.mean(sums[scored] / sizes[scored]))
