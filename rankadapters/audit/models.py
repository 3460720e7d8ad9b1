"""Evaluate several models under several conventions on the same queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Floats, Ints
from rankadapters.core.data.ids import id_values
from rankadapters.core.data.queries import Queries, as_queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.guesses import ORDER
from rankadapters.core.errors import InputError, RankAdaptersError
from rankadapters.evaluation.doubts import warn_of_scores
from rankadapters.evaluation.evaluate import scores_by_model
from rankadapters.evaluation.evaluator import Evaluator
from rankadapters.evaluation.measured import Measured
from rankadapters.evaluation.score import Score
from rankadapters.presets.texts import as_conventions

BY_MODEL = "pass {'a': scores, 'b': scores}"  # a hint


class ModelScores(NamedTuple):
    """Scores of each model, and values of the queries in the order in which the first model has them.

    A convention that treats all rows as one query has no `values`.
    """

    conventions: tuple[Convention, ...]
    measured: dict[str, Measured]  # the queries are in each model's own order
    scores: dict[str, Mapping[Convention, Score]]
    values: dict[str, dict[Convention, Floats]]  # per query, NaN for skipped queries
    positions: dict[str, NDArray[np.intp]]  # of each query of the first model in the model's own order
    n_queries: int
    without_results: list[str]  # models that retrieved nothing

    def n_scored(self, convention: Convention) -> dict[str, int]:
        """Return the number of queries that each model scored; empty if all models scored the same queries."""
        if convention.over == "rows":
            return {}
        is_scored = self._is_scored(convention)
        counts = dict(zip(self.scores, is_scored.sum(axis=1).tolist(), strict=True))
        return counts if (is_scored != is_scored[0]).any() else {}

    def _is_scored(self, convention: Convention) -> NDArray[np.bool_]:
        """Return whether each model scored each query, shape (n_models, n_queries)."""
        return np.array([~np.isnan(values[convention]) for values in self.values.values()])

    def of_queries(self, numbers: Ints) -> ModelScores:
        """Return the scores over only the queries with these indices among those of the first model.

        Raises
        ------
        UnsupportedConventionError
            A convention takes all rows as one query.
        """
        measured = {name: m.of_queries(self.positions[name][numbers]) for name, m in self.measured.items()}
        scores: dict[str, Mapping[Convention, Score]] = {name: results.scores for name, results in measured.items()}
        values = {name: {c: column[numbers] for c, column in of.items()} for name, of in self.values.items()}
        positions = dict.fromkeys(measured, np.arange(numbers.size))
        return self._replace(
            measured=measured, scores=scores, values=values, positions=positions, n_queries=numbers.size
        )

    def common(self, convention: Convention) -> CommonScores:
        """Return the scores under a convention over the queries that every model scored.

        Raises
        ------
        InputError
            The models scored different queries, and none in common.
        """
        measured = {name: results.under([convention]) for name, results in self.measured.items()}
        orders, n_queries, n_scored = self.positions, self.n_queries, self.n_scored(convention)
        if n_scored:
            is_common = self._is_scored(convention).all(axis=0)
            n_queries = int(is_common.sum())
            if not n_queries:
                message = f"no query has a value for every model under {convention.name}: {listed(n_scored)}."
                raise InputError(message, hint="compare fewer models, or convention.replace(missing='zero')")
            measured = {name: m.of_queries(orders[name][is_common]) for name, m in measured.items()}
            orders = dict.fromkeys(measured, np.arange(n_queries))
        scores = {name: results.scores[convention] for name, results in measured.items()}
        summed = measured if convention.is_sum else {}
        shares = {name: results.shares[convention][orders[name]] for name, results in summed.items()}
        return CommonScores(scores, shares, n_queries, n_scored)


class CommonScores(NamedTuple):
    """The scores of the models under one convention, over the queries that every model scored."""

    scores: dict[str, Score]
    shares: dict[str, Floats]  # what each query adds to the score; empty if the score is not a sum over the queries
    n_queries: int
    n_scored: dict[str, int]  # queries that each model scored; empty if all models scored the same queries


def listed(n_scored: Mapping[str, int]) -> str:
    """Say how many queries each model scored.

    >>> listed({"bm25": 40, "dense": 12})
    'bm25 scored 40 queries, dense scored 12'
    """
    first, *rest = n_scored.items()
    return ", ".join([f"{first[0]} scored {first[1]} queries", *(f"{name} scored {n}" for name, n in rest)])


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
    check_models(models, least)
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
    without_results = [
        name for name, of_model in queries.items() if of_model.retrieved is not None and not of_model.retrieved.any()
    ]
    conventions = tuple(evaluators[id(first)].conventions)
    model_scores = ModelScores(conventions, {}, {}, {}, {}, first.n_queries, without_results)
    over_queries = [convention for convention in conventions if convention.over != "rows"]
    for name, scores in models.items():
        positions = model_scores.positions[name] = positions_of(name, first, queries[name])
        try:
            measured = evaluators[id(queries[name])].measure(scores)
            model_scores.measured[name], model_scores.scores[name] = measured, measured.scores
            per_query = measured.under(over_queries).per_query
            model_scores.values[name] = {c: column[positions] for c, column in per_query.items()}
        except RankAdaptersError as error:
            about = ", which has no results for any query" if name in without_results else ""
            raise error.about(f"model {name!r}{about}") from None
        warn_of_scores(evaluators[id(queries[name])], {name: scores})
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
        hint = f"{ORDER}; a matrix or a table has one column per model"
        raise InputError(f"scores is {kind}, not a mapping from model names to scores.", hint=hint)
    return {str(name): column for name, column in columns.items()}


def check_models(models: Mapping[str, object], least: int) -> None:
    """Raise InputError for fewer models, and for names that are no text or would break a line."""
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


def positions_of(name: str, first: Queries, queries: Queries) -> NDArray[np.intp]:
    """Return, for each query of the first model, its position among the queries of the named model."""
    if queries is first:
        return np.arange(first.n_queries)
    positions = _matches(name, first, queries)
    judgments = _judgments(first, np.arange(first.n_queries)), _judgments(queries, np.argsort(positions))
    if not all(map(np.array_equal, *judgments)):
        column = "weights" if all(map(np.array_equal, *(columns[:2] for columns in judgments))) else "judged labels"
        message = f"model {name!r} has the same queries as the first model, but different {column}."
        hint = "evaluate all models over the same judgments; only the retrieved rows may differ"
        raise InputError(message, hint=hint)
    return positions


def _matches(name: str, first: Queries, queries: Queries) -> NDArray[np.intp]:
    """Return the position of each query of the first model by its id."""
    if first.query_ids.dtype == queries.query_ids.dtype != object and np.array_equal(
        first.query_ids, queries.query_ids
    ):
        return np.arange(first.n_queries)
    position_of = {query: position for position, query in enumerate(id_values(queries.query_ids))}
    first_ids = id_values(first.query_ids)
    if len(position_of) != len(first_ids) or any(query not in position_of for query in first_ids):
        sizes = f"({len(position_of)} and {len(first_ids)})"
        message = f"model {name!r} and the first model have different queries {sizes}."
        raise InputError(message, hint="keep the queries that all have, such as a[a['qid'].isin(b['qid'])] of frames")
    return np.array([position_of[query] for query in first_ids], np.intp)


def _judgments(queries: Queries, numbers: NDArray[np.intp]) -> tuple[Floats, ...]:
    """Return the query number and the label of every judged row, sorted, and the weights by query number."""
    judged = slice(None) if queries.judged is None else queries.judged
    of_row, labels = numbers[queries.query_of_row][judged].astype(np.float64), queries.labels[judged]
    order = np.lexsort((labels, of_row))
    weights = np.ones(queries.n_queries) if queries.query_weight is None else queries.query_weight
    return of_row[order], labels[order], weights[np.argsort(numbers)]
