"""Evaluate columns in memory: one score, a score for each segment of queries, or a value for each query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, Unpack, overload

import numpy as np

from rankadapters.core.data.columns import Columns, refuse_uncomputed
from rankadapters.core.declaration.arguments import flag
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.docstrings import describes
from rankadapters.core.errors import InputError
from rankadapters.evaluation.doubts import warn_of_scores
from rankadapters.evaluation.evaluator import Evaluator
from rankadapters.evaluation.measured import Measured
from rankadapters.evaluation.score import Score, Scores, ScoresOfModels, Shape
from rankadapters.evaluation.table import as_frame
from rankadapters.evaluation.table_calls import takes_columns


class ScoreTable(Protocol):
    """A data frame of pandas or polars, or a table of pyarrow."""

    @property
    def columns(self) -> Iterable[Any]:
        """Names of the columns; in pyarrow, the columns themselves."""

    def __getitem__(self, name: Any, /) -> Any:
        """Return a column by its name."""


ScoresByModel = Mapping[Any, object] | ScoreTable


def scores_by_model(scores: object) -> dict[Any, object] | None:
    """Return the scores of each model by its name; None if the scores belong to a single model.

    Parameters
    ----------
    scores : object
        A mapping of names to scores; a table whose column names are the models; or a matrix, shape (n_docs, n_models),
        whose models are 0, 1, ...

    Raises
    ------
    InputError
        There is no model, or two columns of a table have the same name.

    Examples
    --------
    >>> {name: column.tolist() for name, column in scores_by_model(np.array([[1, 2], [3, 4]])).items()}
    {0: [1, 3], 1: [2, 4]}
    """
    if isinstance(scores, Mapping):
        return _non_empty(dict(scores))
    if isinstance(scores, np.ndarray):
        return _non_empty(dict(enumerate(scores.T))) if scores.ndim == 2 else None  # noqa: PLR2004 - rows and models
    if hasattr(scores, "collect_schema") and hasattr(scores, "collect"):  # a LazyFrame of polars
        refuse_uncomputed("scores", scores)
    names = getattr(scores, "column_names", getattr(scores, "columns", None))
    if names is None or getattr(scores, "ndim", 2) == 1:  # a Series of Dask has `columns` too
        return None
    repeated = [name for index, name in enumerate(names) if name in list(names)[:index]]
    if repeated:
        raise InputError(f"two columns of scores are named {repeated[0]!r}.", hint="give each model a different name")
    return _non_empty({name: scores[name] for name in names})  # type: ignore[index]


def _non_empty(models: dict[Any, object]) -> dict[Any, object]:
    if not models:
        raise InputError("scores holds no model.", hint="one column of scores per model")
    return models


@overload
def evaluate(  # type: ignore[overload-overlap]  # anything but a mapping or a table is one model's scores
    labels: object, scores: ScoresByModel, convention: Convention | str, *, n_threads: int | None = ...,
    **columns: Unpack[Columns],
) -> ScoresOfModels: ...  # fmt: skip
@overload
def evaluate(  # type: ignore[overload-overlap]  # a text is not a sequence of texts here
    labels: object, scores: object, convention: Convention | str, *, n_threads: int | None = ...,
    **columns: Unpack[Columns],
) -> Score: ...  # fmt: skip
@overload
def evaluate(  # type: ignore[overload-overlap]  # anything but a mapping or a table is one model's scores
    labels: object, scores: ScoresByModel, convention: Iterable[Convention | str], *, n_threads: int | None = ...,
    **columns: Unpack[Columns],
) -> Scores[ScoresOfModels]: ...  # fmt: skip
@overload
def evaluate(
    labels: object, scores: object, convention: Iterable[Convention | str], *, n_threads: int | None = ...,
    **columns: Unpack[Columns],
) -> Scores[Score]: ...  # fmt: skip
@overload
def evaluate(
    labels: object, scores: object, convention: Convention | str | Iterable[Convention | str], *, by: object,
    n_threads: int | None = ..., **columns: Unpack[Columns],
) -> Any: ...  # fmt: skip
@takes_columns
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
    convention : Convention or str, or sequence of these, or mapping of str to these
        The convention to compute; a text such as `"letor4@10"` is read by `ra.parse`. A mapping gives a name to each,
        which results show and are looked up by.
    qid, group_sizes, query_weight, row_weight, pairs, docid, retrieved, judged
        As in `Queries`.
    by : array-like, shape (n_docs,), several of these, mapping, or pandas Series, optional
        Segment of each row, equal within a query; or segment of each query by its id, as a mapping or as a Series
        indexed by query ids. Several columns, as a sequence, a table, or a mapping of names to columns, make a segment
        of each combination: a tuple, such as `("de", "phone")`. No segment may be missing; a mapping or such a Series
        has exactly the queries of the data.
    n_threads : int, optional
        Number of threads; None means all CPUs.

    Returns
    -------
    Score, mapping of Convention to Score, or Segments
        For one convention, a Score. For a sequence, a mapping in the same order; its keys can be looked up as
        conventions or as their texts. For more than one model, each Score becomes a dict of model to Score; the models
        of a matrix are 0, 1, ... With `by`, such a result for each segment and for all queries. All of them print as
        tables and have `to_markdown`, `to_latex`, `to_frame` and `plot`.

    Raises
    ------
    ConventionError
        `convention` is neither a convention, nor a text of one, nor several of these.
    InputError
        The data have no value under this convention; the message gives the reason and suggests a fix. Or there is no
        model, or two models have one name. With `by`, a segment is missing, varies within a query (the message names
        the row), is printed like another one, such as 1 and "1", or has nothing left to average (the message names the
        segment).

    Warns
    -----
    LabelsWarning
        The preset's own tool refuses or changes such labels, or sorts tied scores by an unstable sort; ERR or PFound
        reads a label as a probability above 1; or labels and scores look swapped: most labels are different fractions,
        and the scores are a few whole numbers.

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
    evaluator = Evaluator(labels, convention, n_threads=n_threads, **columns)
    models, shape = _models(evaluator, scores)
    if by is not None:
        from rankadapters.evaluation.segment_evaluation import evaluate_segments

        segments = evaluate_segments(evaluator, models, by, shape)
        warn_of_scores(evaluator, models)
        return segments
    by_model = {name: evaluator.measure(column).scores for name, column in models.items()}
    warn_of_scores(evaluator, models)
    return shape.results(by_model)


@describes(evaluate)
@takes_columns
def per_query(
    labels: object,
    scores: object,
    convention: Convention | str | Iterable[Convention | str],
    *,
    frame: bool = False,
    n_threads: int | None = None,
    **columns: Unpack[Columns],
) -> Any:
    """Return the value of each query under one or more declared conventions.

    Parameters
    ----------
    labels, scores, convention, n_threads
        As in `evaluate`.
    qid, group_sizes, query_weight, row_weight, pairs, docid, retrieved, judged
        As in `Queries`.
    frame : bool
        Whether to return a pandas DataFrame, which can be joined with other data about the queries.

    Returns
    -------
    float64 array, shape (n_queries,), mapping, or DataFrame
        Values in the order in which the queries first appear, NaN for a skipped query. For a sequence of conventions, a
        mapping of Convention to such arrays; for more than one model, dicts of model to array. As a frame, a row per
        query (and model) with the columns `qid`, `model` (if there is more than one) and one for each convention's
        `name`, as in `ra.dask.per_query`. More columns tell about the query: `n_rows`, `n_retrieved`, `n_relevant` (if
        the conventions say by one threshold of labels which rows are relevant), `empty` (whether a convention finds
        nothing to find in it), and `query_weight` if there are weights.

    Raises
    ------
    ConventionError
        As in `evaluate`.
    InputError
        The data have no value under this convention; the message gives the reason and suggests a fix. Or there is no
        model, or two models have one name.
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
      qid  ndcg@2/textbook  n_rows  n_retrieved  empty  words
    0   a            1.000       2            2  False      2
    1   b            0.631       2            2  False      5
    """
    as_frame = flag("frame", frame)
    evaluator = Evaluator(labels, convention, n_threads=n_threads, **columns)
    models, shape = _models(evaluator, scores)
    measured = {name: evaluator.measure(column) for name, column in models.items()}
    values = {name: results.per_query for name, results in measured.items()}
    warn_of_scores(evaluator, models)
    return query_frame(measured, shape) if as_frame else shape.results(values)


def _models(evaluator: Evaluator, scores: object) -> tuple[dict[Any, object], Shape]:
    """Return the scores of each model by its name, None for a single model without a name, and the result's shape."""
    # Under one convention, a matrix is passed on too, and `Evaluator` refuses it.
    is_column = evaluator.shape.one_convention and isinstance(scores, (np.ndarray, list))
    models = None if is_column else scores_by_model(scores)
    return models or {None: scores}, evaluator.shape._replace(one_model=models is None)


def query_frame(measured: Mapping[Any, Measured], shape: Shape) -> Any:
    """Return the values of `per_query(..., frame=True)` as a pandas DataFrame, from the results of each model."""
    return as_frame(query_columns(measured, shape))


def query_columns(measured: Mapping[Any, Measured], shape: Shape) -> dict[str, Any]:
    """Return the columns of `per_query(..., frame=True)`, from the results of each model."""
    first, *_ = results = list(measured.values())
    ids = first.queries.query_ids
    names = shape.model([name for name in measured for _ in ids])
    values = [[column for _, column in of_model.per_query.items()] for of_model in results]
    columns = {c.name: np.concatenate(of) for c, of in zip(shape.conventions, zip(*values, strict=True), strict=True)}
    facts = {name: np.tile(column, len(measured)) for name, column in first.facts.items()}
    return {"qid": np.tile(ids, len(measured)), **names, **columns, **facts}
