"""Evaluate several models under several conventions on the same queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Floats
from rankadapters.core.data.ids import id_values
from rankadapters.core.data.queries import Queries, as_queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, RankAdaptersError
from rankadapters.core.evaluation.evaluate import scores_by_model
from rankadapters.core.evaluation.evaluator import Evaluator, Measured
from rankadapters.core.evaluation.score import Score
from rankadapters.presets.texts import as_conventions

BY_MODEL = "pass {'a': scores, 'b': scores}"  # a hint


class ModelScores(NamedTuple):
    """Scores of each model, and contributions of the queries in the order in which the first model has them.

    A convention that treats all rows as one query has neither `values` nor `shares`. A convention whose value is not a
    sum over the queries has no `shares`.
    """

    conventions: tuple[Convention, ...]
    measured: dict[str, Measured]  # the queries are in each model's own order
    scores: dict[str, Mapping[Convention, Score]]
    values: dict[str, dict[Convention, Floats]]  # per query, NaN for skipped queries
    shares: dict[str, dict[Convention, Floats]]  # what each query adds to the score
    n_queries: int


def score_models(
    labels: object,
    models: Mapping[str, object],
    convention: Convention | str | Iterable[Convention | str],
    n_threads: int | None,
    columns: Mapping[str, object],
    *,
    least: int = 2,
) -> ModelScores:
    """Evaluate every model, at least so many, under every convention."""
    _check(models, least)
    queries = queries_by_model(labels, models, columns)
    distinct = list(dict.fromkeys(as_conventions(convention)))
    first = next(iter(queries.values()))
    evaluators: dict[int, Evaluator] = {}  # by `id(queries)`
    for name, of_model in queries.items():
        try:
            if id(of_model) not in evaluators:
                evaluators[id(of_model)] = Evaluator.of(of_model, distinct, n_threads=n_threads)
        except RankAdaptersError as error:
            raise (error.about(f"model {name!r}") if isinstance(labels, Mapping) else error) from None
    model_scores = ModelScores(tuple(evaluators[id(first)].conventions), {}, {}, {}, {}, first.n_queries)
    over_queries = [convention for convention in model_scores.conventions if convention.over != "rows"]
    sums = [convention for convention in over_queries if convention.is_sum]
    for name, scores in models.items():
        order = _positions(name, first, queries[name])
        try:
            measured = evaluators[id(queries[name])].measure(scores)
            model_scores.measured[name], model_scores.scores[name] = measured, measured.scores
            per_query, shares = measured.under(over_queries).per_query, measured.under(sums).shares
            model_scores.values[name] = {c: column[order] for c, column in per_query.items()}
            model_scores.shares[name] = {c: column[order] for c, column in shares.items()}
        except RankAdaptersError as error:
            raise error.about(f"model {name!r}") from None
    return model_scores


def as_models(models: object) -> Mapping[str, object]:
    """Return the scores of each model by its name, from a mapping or from a matrix or table with a column per model.

    The models of a matrix are named "0", "1" and so on.

    >>> list(as_models(np.zeros((3, 2))))
    ['0', '1']
    """
    if isinstance(models, Mapping):
        return models
    columns = scores_by_model(models)
    if columns is None:
        kind = f"an array of shape {models.shape}" if isinstance(models, np.ndarray) else f"a {type(models).__name__}"
        hint = f"{BY_MODEL}, or a matrix or a table with one column per model"
        raise InputError(f"scores is {kind}, not a mapping from model names to scores.", hint=hint)
    return {str(name): column for name, column in columns.items()}


def _check(models: Mapping[str, object], least: int) -> None:
    if len(models) < least:
        message = f"scores has {len(models)} model{'s' * (len(models) != 1)}; at least {least} must be given."
        raise InputError(message, hint=f"{BY_MODEL}; to evaluate a single model, use ra.evaluate")
    for name in models:
        if not isinstance(name, str):
            raise InputError(f"the model name {name!r:.80} is not a string.", hint=BY_MODEL)
        if not name.isprintable():
            raise InputError(f"the model name {name!r:.80} contains a line break or another unprintable character.")


def queries_by_model(labels: object, models: Mapping[str, object], columns: Mapping[str, object]) -> dict[str, Queries]:
    """Return the queries of each model: those in `labels` if it is a mapping, else the same queries for all models."""
    if not isinstance(labels, Mapping):
        return dict.fromkeys(models, as_queries(labels, **columns))
    missing = [name for name in models if name not in labels]
    if missing:
        hint = "pass a Queries for each model, or one for all"
        raise InputError(f"labels has no queries for model {missing[0]!r}.", hint=hint)
    return {name: as_queries(labels[name], **columns) for name in models}


def _positions(name: str, first: Queries, queries: Queries) -> NDArray[np.intp]:
    """Return, for each query of the first model, its position among the queries of the named model."""
    if queries is first:
        return np.arange(first.n_queries)
    position_of = {query: position for position, query in enumerate(id_values(queries.query_ids))}
    first_ids = id_values(first.query_ids)
    if len(position_of) != len(first_ids) or any(query not in position_of for query in first_ids):
        sizes = f"({len(position_of)} and {len(first_ids)})"
        message = f"model {name!r} and the first model have different queries {sizes}."
        raise InputError(message, hint="evaluate all models over the same queries")
    positions = np.array([position_of[query] for query in first_ids], np.intp)
    judgments = _judgments(first, np.arange(first.n_queries)), _judgments(queries, np.argsort(positions))
    if not all(map(np.array_equal, *judgments)):
        column = "weights" if all(map(np.array_equal, *(columns[:2] for columns in judgments))) else "judged labels"
        message = f"model {name!r} has the same queries as the first model, but different {column}."
        hint = "evaluate all models over the same judgments; only the retrieved rows may differ"
        raise InputError(message, hint=hint)
    return positions


def _judgments(queries: Queries, numbers: NDArray[np.intp]) -> tuple[Floats, ...]:
    """Return the query number and the label of every judged row, sorted, and the weights by query number."""
    judged = slice(None) if queries.judged is None else queries.judged
    of_row, labels = numbers[queries.query_of_row][judged].astype(np.float64), queries.labels[judged]
    order = np.lexsort((labels, of_row))
    weights = np.ones(queries.n_queries) if queries.query_weight is None else queries.query_weight
    return of_row[order], labels[order], weights[np.argsort(numbers)]
