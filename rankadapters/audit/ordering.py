"""Whether the choice of the convention, or the segment of queries, changes which model wins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, Unpack, overload

import numpy as np

from rankadapters.audit.models import as_models, score_models
from rankadapters.audit.order_report import OrderReport, Progress, Resampling, compare_models
from rankadapters.audit.query_values import read_values
from rankadapters.audit.segment_order_report import SegmentOrderReport, compare_segments
from rankadapters.core.data.columns import Columns, refuse_other_names
from rankadapters.core.data.queries import describes_columns
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.guesses import ORDER, shows_call, wrong_call
from rankadapters.core.docstrings import describes
from rankadapters.core.errors import InputError
from rankadapters.evaluation.evaluate import evaluate
from rankadapters.evaluation.table_calls import column_names, whole_call
from rankadapters.progress import shows
from rankadapters.statistics.significance import checked_resampling


@overload
def order(
    labels: object, scores: Mapping[str, object] | object = ...,
    convention: Convention | str | Iterable[Convention | str] | None = ..., *,
    by: None = ..., n_resamples: int = ..., confidence: float = ...,
    random_state: int | np.random.Generator | np.random.RandomState = ..., n_threads: int | None = ...,
    progress: Progress | None = ..., **columns: Unpack[Columns],
) -> OrderReport: ...  # fmt: skip
@overload
def order(
    labels: object, scores: Mapping[str, object] | object = ...,
    convention: Convention | str | Iterable[Convention | str] | None = ..., *,
    by: object, n_resamples: int = ..., confidence: float = ...,
    random_state: int | np.random.Generator | np.random.RandomState = ..., n_threads: int | None = ...,
    progress: Progress | None = ..., **columns: Unpack[Columns],
) -> SegmentOrderReport: ...  # fmt: skip
@describes_columns
@describes(evaluate)
@shows_call(ORDER)
@shows("comparing")
def order(
    labels: object,
    scores: Mapping[str, object] | object = None,
    convention: Convention | str | Iterable[Convention | str] | None = None,
    *,
    by: object = None,
    n_resamples: int = 9999,
    confidence: float = 0.95,
    random_state: int | np.random.Generator | np.random.RandomState = 0,
    n_threads: int | None = None,
    progress: Progress | None = None,
    **columns: Unpack[Columns],
) -> Any:
    """Order models under one or more conventions, test their differences, and report where the order changes.

    A mean over other queries is another measure. Models may score different queries under a convention: runs that lack
    queries do so under `missing="skip"`. Then they are compared over the queries that all of them scored, and a note
    says how many queries each model scored.

    With `by`, each model is compared with the first one in every segment and over all queries, and the p-values are
    corrected over all of these comparisons. If `labels` has a Queries for each model, the rows are those of the first
    model's. For values of queries, `by` also takes names of columns.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries, or mapping of str to Queries, or table
        Relevance labels. Pass a Queries for each model if the models retrieved different rows of the same queries.
        Without `scores`, it has the values of the queries: a table as `ra.per_query(..., frame=True)` and
        `ra.per_query_table` return it for two or more models; or a table for each model by its name, as
        `ra.dask.per_query` and `ra.spark.per_query` make them. All models have the same queries; the resamples follow
        the order of the rows.
    scores : mapping of str to array-like, shape (n_docs,), or matrix or table, shape (n_docs, n_models)
        Scores of at least two models, by name. Each column of a DataFrame or a matrix is a model; the models of a
        matrix are named "0", "1" and so on.
    convention : Convention or str, or sequence of these, or mapping of str to these
        The conventions under which the models are compared; for values of queries, by default those of all columns.
    by
        As in `evaluate`.
    n_resamples : int
        The number of resamples of each randomization test and each bootstrap.
    confidence : float
        The confidence of the intervals; the level of the tests is 1 - confidence.
    random_state : int, numpy Generator or RandomState
        The same seed gives the same report.
    n_threads : int, optional
        The number of threads; None uses all CPUs.
    progress : callable, optional
        Called with the number of finished parts of the tests and their total number.
    qid, group_sizes, query_weight, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    OrderReport, or SegmentOrderReport
        Values, rank correlations, comparisons of every pair, and the pairs that change places. There are no tests under
        a convention whose value is not a sum over the queries (a geometric mean, or all rows as one query). With `by`,
        a SegmentOrderReport: such a report for each segment and for all queries.

    Raises
    ------
    ConventionError
        No convention is given, or an entry is neither a convention nor the text of one.
    InputError
        There are fewer than two models, the numbers of rows differ, a convention has no value on the data, or no query
        was scored for every model. With `by`, as in `ra.evaluate`; the message names the segment.
    UnsupportedConventionError
        With `by`, a convention takes all rows as one query, so segments have no part of its value. Or the labels are
        values of queries, and a convention is not their mean.

    Examples
    --------
    >>> import rankadapters as ra
    >>> models = {"a": [3, 2, 1, 1, 1], "b": [1, 2, 3, 2, 1]}
    >>> report = order([2, 0, 1, 0, 1], models, [ra.presets.yahoo(1), ra.presets.catboost(5)], group_sizes=[3, 2])
    >>> [change.models for change in report.changes], [comparison.p_value for comparison in report.comparisons]
    ([], [1.0, 1.0])
    """
    n_resamples, confidence, seed = checked_resampling(n_resamples, confidence, random_state)
    if scores is None or convention is None:
        if scores is not None or not column_names(labels):
            missing = [name for name, value in {"scores": scores, "convention": convention}.items() if value is None]
            msg, names = f"order() has no {' and no '.join(missing)}", column_names(labels)
            if isinstance(labels, str | PathLike) or (names and not isinstance(labels, Mapping)):
                call = whole_call("order", labels, names, (labels, scores), {**columns, "convention": convention})
                raise InputError(f"{msg}.", hint=call)
            raise wrong_call(msg, columns, ORDER)
        refuse_other_names(columns, ())
        model_scores, by = read_values(labels, convention, by)
    else:
        model_scores = score_models(labels, as_models(scores), convention, n_threads, columns)
    tests: Resampling = {"n_resamples": n_resamples, "confidence": confidence, "seed": seed, "progress": progress}
    return compare_models(model_scores, **tests) if by is None else compare_segments(model_scores, by, **tests)
