"""Evaluate several models under several conventions on the same queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.ids import id_values
from rankadapters.core.data.queries import Queries, as_queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, RankAdaptersError
from rankadapters.core.evaluation.evaluate import scores_by_model
from rankadapters.core.evaluation.evaluator import Evaluator, Measured
from rankadapters.core.evaluation.score import Score
from rankadapters.presets.texts import as_conventions

Floats = NDArray[np.float64]


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
    """Evaluate every model under every convention.

    Raises
    ------
    InputError
        There are fewer models than `least`, a model's rows or queries differ, or a convention has no value on the data.
    """
    _check(models, least)
    queries = queries_by_model(labels, models, columns)
    distinct = list(dict.fromkeys(as_conventions(convention)))
    first = next(iter(queries.values()))
    evaluators = _evaluators(queries, distinct, n_threads, queries_differ=isinstance(labels, Mapping))
    model_scores = ModelScores(tuple(evaluators[id(first)].conventions), {}, {}, {}, {}, first.n_queries)
    over_queries = [convention for convention in model_scores.conventions if convention.over != "rows"]
    sums = [convention for convention in over_queries if convention.is_sum]
    for name, scores in models.items():
        evaluator = evaluators[id(queries[name])]
        order = _positions(name, first, queries[name])
        try:
            measured = evaluator.measure(scores)
            model_scores.measured[name], model_scores.scores[name] = measured, measured.scores
            per_query, shares = measured.under(over_queries).per_query, measured.under(sums).shares
            model_scores.values[name] = {c: column[order] for c, column in per_query.items()}
            model_scores.shares[name] = {c: column[order] for c, column in shares.items()}
        except RankAdaptersError as error:
            raise error.about(f"model {name!r}") from None
    return model_scores


def _evaluators(
    queries_by_model: dict[str, Queries], conventions: list[Convention], n_threads: int | None, *, queries_differ: bool
) -> dict[int, Evaluator]:
    """Return the Evaluator of each Queries object, keyed by `id(queries)`; if queries differ, errors name the model."""
    evaluators: dict[int, Evaluator] = {}
    for name, queries in queries_by_model.items():
        try:
            evaluators[id(queries)] = evaluators.get(id(queries)) or Evaluator.of(
                queries, conventions, n_threads=n_threads
            )
        except RankAdaptersError as error:
            raise (error.about(f"model {name!r}") if queries_differ else error) from None
    return evaluators


def as_models(models: object) -> Mapping[str, object]:
    """Return the scores of each model by its name, from a mapping or from a matrix or table with a column per model.

    The models of a matrix are named "0", "1" and so on.

    >>> list(as_models(np.zeros((3, 2))))
    ['0', '1']

    Raises
    ------
    InputError
        `models` is of another type, or two columns have the same name.
    """
    if isinstance(models, Mapping):
        return models
    columns = scores_by_model(models)
    if columns is None:
        kind = f"an array of shape {models.shape}" if isinstance(models, np.ndarray) else f"a {type(models).__name__}"
        msg = (
            f"scores is {kind}, not a mapping from model names to scores.\n"
            "Hint: pass {'a': scores, 'b': scores}, or a matrix or a table with one column per model."
        )
        raise InputError(msg)
    return {str(name): column for name, column in columns.items()}


def _check(models: Mapping[str, object], least: int) -> None:
    if len(models) < least:
        msg = (
            f"scores has {len(models)} model{'s' * (len(models) != 1)}; at least {least} must be given.\n"
            "Hint: pass {'a': scores, 'b': scores}; to evaluate a single model, use ra.evaluate."
        )
        raise InputError(msg)
    for name in models:
        if not isinstance(name, str):
            msg = f"the model name {name!r:.80} is not a string.\nHint: pass {{'a': scores, 'b': scores}}."
            raise InputError(msg)
        if not name.isprintable():
            msg = f"the model name {name!r:.80} contains a line break or another unprintable character."
            raise InputError(msg)


def queries_by_model(labels: object, models: Mapping[str, object], columns: Mapping[str, object]) -> dict[str, Queries]:
    """Return the queries of each model: those in `labels` if it is a mapping, else the same queries for all models.

    Raises
    ------
    InputError
        `labels` is a mapping that lacks a model.
    """
    if not isinstance(labels, Mapping):
        return dict.fromkeys(models, as_queries(labels, **columns))
    missing = [name for name in models if name not in labels]
    if missing:
        msg = f"labels has no queries for model {missing[0]!r}.\nHint: pass a Queries for each model, or one for all."
        raise InputError(msg)
    return {name: as_queries(labels[name], **columns) for name in models}


def _positions(name: str, first: Queries, queries: Queries) -> NDArray[np.intp]:
    """Return, for each query of the first model, its position among the queries of the named model."""
    if queries is first:
        return np.arange(first.n_queries)
    position_of = {query: position for position, query in enumerate(id_values(queries.query_ids))}
    first_ids = id_values(first.query_ids)
    if len(position_of) != len(first_ids) or any(query not in position_of for query in first_ids):
        msg = (
            f"model {name!r} and the first model have different queries ({len(position_of)} and {len(first_ids)}).\n"
            "Hint: evaluate all models over the same queries."
        )
        raise InputError(msg)
    positions = np.array([position_of[query] for query in first_ids], np.intp)
    judgments = _judgments(first, np.arange(first.n_queries)), _judgments(queries, np.argsort(positions))
    if not all(map(np.array_equal, *judgments)):
        column = "weights" if all(map(np.array_equal, *(columns[:2] for columns in judgments))) else "judged labels"
        msg = (
            f"model {name!r} has the same queries as the first model, but different {column}.\n"
            "Hint: evaluate all models over the same judgments; only the retrieved rows may differ."
        )
        raise InputError(msg)
    return positions


def _judgments(queries: Queries, numbers: NDArray[np.intp]) -> tuple[Floats, ...]:
    """Return the query number and the label of every judged row, sorted, and the weights by query number."""
    judged = slice(None) if queries.judged is None else queries.judged
    of_row, labels = numbers[queries.query_of_row][judged].astype(np.float64), queries.labels[judged]
    order = np.lexsort((labels, of_row))
    weights = np.ones(queries.n_queries) if queries.query_weight is None else queries.query_weight
    return of_row[order], labels[order], weights[np.argsort(numbers)]
