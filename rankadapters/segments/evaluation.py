"""Evaluate columns in memory: one score, a score for each segment of queries, or a value for each query."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Unpack, overload

import numpy as np

from rankadapters.core.data.columns import Floats
from rankadapters.core.data.keywords import Columns, by_name, needs
from rankadapters.core.data.models import ScoresByModel, scores_by_model
from rankadapters.core.declaration.arguments import flag
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import AboveValuesWarning, MissingToolkitError, warn_caller
from rankadapters.core.evaluation.panel import Measured, Panel
from rankadapters.core.evaluation.score import Score
from rankadapters.core.evaluation.scores import ByConvention, Scores, ScoresOfModels, shape_results
from rankadapters.presets.label_rules import warn_of_labels
from rankadapters.presets.texts import as_convention, is_one
from rankadapters.segments.assignment import Assignment, assign
from rankadapters.segments.segments import Segments
from rankadapters.segments.sums import Outcome, above_value_warnings, naming, outcomes, sums_by_segment

Conventions = Convention | str | Iterable[Convention | str]
_HINT = "ra.evaluate(labels, scores, 'letor4@10', qid=qid), or another convention"


@overload
def evaluate(  # type: ignore[overload-overlap]  # anything but a mapping or a table is one model's scores
    labels: object,
    scores: ScoresByModel,
    convention: Convention | str,
    *,
    n_threads: int | None = None,
    **columns: Unpack[Columns],
) -> ScoresOfModels: ...
@overload
def evaluate(  # type: ignore[overload-overlap]  # a text is not a sequence of texts here
    labels: object,
    scores: object,
    convention: Convention | str,
    *,
    n_threads: int | None = None,
    **columns: Unpack[Columns],
) -> Score: ...
@overload
def evaluate(  # type: ignore[overload-overlap]  # anything but a mapping or a table is one model's scores
    labels: object,
    scores: ScoresByModel,
    convention: Iterable[Convention | str],
    *,
    n_threads: int | None = None,
    **columns: Unpack[Columns],
) -> Scores[ScoresOfModels]: ...
@overload
def evaluate(
    labels: object,
    scores: object,
    convention: Iterable[Convention | str],
    *,
    n_threads: int | None = None,
    **columns: Unpack[Columns],
) -> Scores[Score]: ...
@overload
def evaluate(
    labels: object,
    scores: object,
    convention: Convention | str | Iterable[Convention | str],
    *,
    by: object,
    n_threads: int | None = None,
    **columns: Unpack[Columns],
) -> Segments[Any]: ...
@needs(convention=_HINT)
@by_name
def evaluate(
    labels: object,
    scores: object,
    convention: Convention | str | Iterable[Convention | str],
    *,
    by: object = None,
    n_threads: int | None = None,
    **columns: Unpack[Columns],
) -> Any:
    """Evaluate predictions under one or more declared conventions.

    Conventions that rank alike share one ranking.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels.
    scores : array-like, shape (n_docs,) or (n_docs, n_models), table, or mapping of names to array-likes
        Predicted scores, higher is better: one model, or a column for each of more models. A matrix is accepted only
        with a sequence of conventions, because with one convention it is usually a `predict_proba` by mistake.
    convention : Convention or str, or sequence of these
        The convention to compute; a text such as `"letor4@10"` is read by `ra.parse`.
    qid, group_sizes : array-like
        Exactly one of the two, as in `Queries`.
    query_weight, row_weight, pairs, docid, retrieved, judged : array-like, optional
        As in `Queries`.
    by : array-like, shape (n_docs,), or mapping, optional
        Segment of each row, equal within a query, or segment of each query by its id. The result then has a score for
        each segment. No segment may be missing; a mapping has exactly the queries of the data.
    n_threads : int, optional
        Number of threads; None means all CPUs.

    Returns
    -------
    Score, mapping of Convention to Score, or Segments
        For one convention, a Score. For a sequence, a mapping in the same order; its keys can be looked up as
        conventions or as their texts. For more than one model, each Score becomes a dict of model to Score, which has
        `to_markdown` and `to_latex` too; the models of a matrix are 0, 1, ... With `by`, such a result for each segment
        and for all queries.

    Raises
    ------
    ConventionError
        `convention` is neither a convention, nor a text of one, nor a sequence of these.
    InputError
        The data have no value under this convention; the message gives the reason and suggests a fix. Or there is no
        model, or two models have one name. With `by`, a segment is missing, varies within a query (the message names
        the row), or has nothing left to average (the message names the segment).

    Warns
    -----
    AboveValuesWarning
        Under `average="query-except-empty"`, small weights lift the mean above every query's value.
    LabelsWarning
        The preset's own tool refuses or changes such labels, or ERR or PFound reads a label as a probability above 1.

    Examples
    --------
    >>> import rankadapters as ra
    >>> print(ra.evaluate([0, 1, 0, 0], [3, 2, 1, 0], ra.presets.lightgbm(3), group_sizes=[2, 2]).value)
    0.8154648767857288
    >>> scores = ra.evaluate([0, 1], [2, 1], ["yahoo@1", "yahoo@2"], group_sizes=[2])
    >>> [round(score.value, 3) for score in scores.values()]
    [0.0, 0.631]
    >>> round(scores["yahoo@2"].value, 3)
    0.631
    >>> by_model = ra.evaluate([0, 1], {"up": [1, 2], "down": [2, 1]}, "yahoo@1", group_sizes=[2])
    >>> max(by_model, key=by_model.get)
    'up'
    """
    panel, models, one_model = _panel_and_models(labels, scores, convention, n_threads, columns)
    is_single = is_one(convention)
    if by is None:
        by_model = {name: _scores(panel, column) for name, column in models.items()}
        return shape_results(panel.conventions, by_model, is_one=is_single, one_model=one_model)
    segments = assign(by, panel.queries)
    by_segment = {name: _outcomes(panel, column, segments) for name, column in models.items()}
    return Segments(panel.conventions, by_segment, is_one=is_single, one_model=one_model)


@needs(convention=_HINT)
@by_name
def per_query(
    labels: object,
    scores: object,
    convention: Conventions,
    *,
    frame: bool = False,
    n_threads: int | None = None,
    **columns: Unpack[Columns],
) -> Any:
    """Return the value of each query under one or more declared conventions.

    Parameters
    ----------
    labels, scores, convention, qid, group_sizes, query_weight, row_weight, pairs, docid, retrieved, judged, n_threads
        As in `evaluate`.
    frame : bool
        Whether to return a pandas DataFrame, which can be joined with other data about the queries.

    Returns
    -------
    float64 array, shape (n_queries,), mapping, or DataFrame
        Values in the order in which the queries first appear, NaN for a skipped query. For a sequence of conventions, a
        mapping of Convention to such arrays; for more than one model, dicts of model to array. As a frame, a row per
        query (and model) with the columns `qid`, `model` (if there is more than one) and one for each convention's
        `name`, as in `ra.dask.per_query`.

    Raises
    ------
    InputError, ConventionError
        As in `evaluate`.
    UnsupportedConventionError
        A convention is over all rows, so there are no values per query.
    MissingToolkitError
        `frame=True`, but pandas is not installed.

    Examples
    --------
    >>> import pandas as pd
    >>> import rankadapters as ra
    >>> values = ra.per_query([1, 0, 0, 1], [2, 1, 4, 3], "textbook@2", qid=["a", "a", "b", "b"], frame=True)
    >>> about = pd.DataFrame({"qid": ["b", "a"], "words": [5, 2]})
    >>> values.merge(about, on="qid", validate="one_to_one").round(3)
      qid  ndcg@2/textbook  words
    0   a            1.000      2
    1   b            0.631      5
    """
    as_frame = flag("frame", frame)
    panel, models, one_model = _panel_and_models(labels, scores, convention, n_threads, columns)
    values = {name: panel.per_query(column) for name, column in models.items()}
    if as_frame:
        return _frame(panel, values, one_model=one_model)
    return shape_results(panel.conventions, values, is_one=is_one(convention), one_model=one_model)


def _panel_and_models(
    labels: object, scores: object, convention: Conventions, n_threads: int | None, columns: Columns
) -> tuple[Panel, dict[Any, object], bool]:
    """Return the panel, the scores of each model, and whether `scores` is of a single model without a name."""
    is_single = is_one(convention)
    panel = Panel(labels, [as_convention(convention)] if is_single else convention, n_threads=n_threads, **columns)
    warn_of_labels(panel.queries, panel.conventions)
    models = None if is_single and isinstance(scores, (np.ndarray, list)) else scores_by_model(scores)
    return panel, {None: scores} if models is None else models, models is None


def _scores(panel: Panel, scores: object) -> Scores[Score]:
    measured = panel.measure(scores)
    measured.warn_above_values()
    return measured.scores


def _outcomes(panel: Panel, scores: object, segments: Assignment) -> dict[Any, dict[Convention, Outcome]]:
    by_segment, messages = outcomes_of(panel, scores, panel.measure(scores), segments)
    for message in messages:
        warn_caller(message, AboveValuesWarning)
    return by_segment


def outcomes_of(
    panel: Panel, scores: object, measured: Measured, segments: Assignment | None
) -> tuple[dict[Any, dict[Convention, Outcome]], list[str]]:
    """Return the outcomes by segment (None means all queries), and warnings of means above every query's value.

    For measures over all rows, each segment's rows are ranked separately.
    """
    if segments is None:
        return {None: _without_errors(measured)}, measured.above_values()
    over_rows = [convention for convention in panel.conventions if convention.over == "rows"]
    over_queries = [convention for convention in panel.conventions if convention.over != "rows"]
    by_segment: dict[Any, dict[Convention, Outcome]] = {name: {} for name in (*segments, None)}
    messages: list[str] = []
    if over_queries:
        sums = sums_by_segment(measured.under(over_queries), segments)
        by_segment, messages = outcomes(sums, over_queries), above_value_warnings(sums, over_queries)
    if over_rows:
        array = panel.queries.check_scores(scores)
        for name, numbers in segments.items():
            queries, rows = panel.queries.select(numbers)
            with naming(name):
                part = Panel(queries, over_rows, n_threads=panel.n_threads).measure(array[rows])
                by_segment[name] |= _without_errors(part)
        by_segment[None] |= _without_errors(measured.under(over_rows))
    return by_segment, messages


def _without_errors(measured: Measured) -> dict[Convention, Outcome]:
    return {convention: Outcome(score, math.nan) for convention, score in measured.scores.items()}


def _frame(panel: Panel, values: Mapping[Any, ByConvention[Floats]], *, one_model: bool) -> Any:
    try:
        import pandas as pd
    except ImportError:
        raise MissingToolkitError.of("pandas", "frame") from None
    tables = [
        pd.DataFrame(
            {
                "qid": panel.query_ids,
                **({} if one_model else {"model": name}),
                **{convention.name: by_convention[convention] for convention in panel.conventions},
            }
        )
        for name, by_convention in values.items()
    ]
    return tables[0] if one_model else pd.concat(tables, ignore_index=True)
