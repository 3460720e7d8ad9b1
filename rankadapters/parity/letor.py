"""LETOR's MeanNDCG: the average of NDCG@1, ..., NDCG@n of each query, n being its number of rows."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from rankadapters.core.data.columns import Columns
from rankadapters.core.data.queries import as_queries, describes_columns
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.measures import NDCG
from rankadapters.evaluation.evaluator import Evaluator
from rankadapters.presets.texts import as_convention

AT_ONCE = 50  # cutoffs per evaluator: more would save ranking passes, but each needs memory for a value per query


@describes_columns
def letor_mean_ndcg(
    labels: object,
    scores: object,
    convention: NDCG | str,
    *,
    n_threads: int | None = None,
    **columns: Unpack[Columns],
) -> float:
    """Return LETOR's MeanNDCG: the mean over the queries of the mean of NDCG@1, ..., NDCG@n, n being the query's rows.

    No convention expresses it, since the cutoffs differ between queries, so the result is a bare number and not a
    `Score`. The `short` of the convention is ignored, since no cutoff is beyond a query's last row.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels.
    scores : array-like, shape (n_docs,)
        Predicted scores, higher is better.
    n_threads : int, optional
        Number of threads; None means all CPUs.
    convention : NDCG
        The convention of every NDCG@k, without a cutoff: `letor4@all` or `mslr@all` for the scripts that print
        MeanNDCG.
    qid, group_sizes, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    float
        Mean over the queries that are not skipped.

    Raises
    ------
    ConventionError
        The convention is not an NDCG, has a cutoff, or averages by query weights.
    InputError
        As from `evaluate`.

    References
    ----------
    Eval-Score-4.0.pl (LETOR 4.0, 2009) and eval-score-mslr.pl (2010), MeanNDCG. Run: equal to 1e-11.

    Examples
    --------
    NDCG@1 is 0 and NDCG@2 is 1, as LETOR's second rank has no discount:

    >>> letor_mean_ndcg([0, 1], [2, 1], "letor4@all", group_sizes=[2])
    0.5
    """
    ndcg = as_convention(convention)
    hint = "letor_mean_ndcg(labels, scores, 'letor4@all')"
    if not isinstance(ndcg, NDCG) or ndcg.average != "uniform":
        raise ConventionError("MeanNDCG averages an NDCG with average='uniform'.", hint=hint)
    if ndcg.k is not None:
        message = f"MeanNDCG averages NDCG over all cutoffs, but {ndcg.name} has the cutoff {ndcg.k}."
        raise ConventionError(message, hint=hint)
    queries = as_queries(labels, **columns)
    base, longest = ndcg.replace(short="pad"), queries.longest
    retrieved = np.ones(queries.n_docs) if queries.retrieved is None else queries.retrieved.astype(float)
    sizes = np.maximum(np.add.reduceat(queries.take(retrieved), queries.indptr[:-1]), 1)
    sums = np.zeros(queries.n_queries)
    for first in range(1, longest + 1, AT_ONCE):
        cutoffs = range(first, min(first + AT_ONCE, longest + 1))
        evaluator = Evaluator.of(queries, [base.at(k) for k in cutoffs], n_threads=n_threads)
        for k, values in zip(cutoffs, evaluator.per_query(scores).values(), strict=True):
            sums += np.where(k <= sizes, values, 0.0)
    scored = np.isfinite(sums)
    if not scored.any():
        raise InputError("nothing is left to average: every query was skipped.", hint="another policy than 'skip'")
    return float(np.mean(sums[scored] / sizes[scored]))
