"""Read the values of queries that `per_query` computed, so that models can be compared without their rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rankadapters.audit.models import ModelScores, check_models, positions_of
from rankadapters.core.arrays import Array
from rankadapters.core.binding.plans import whole_plan
from rankadapters.core.binding.policies import COMPUTE, SKIP, PolicyDecisions
from rankadapters.core.data.columns import as_column, as_numbers, refused_entry
from rankadapters.core.data.ids import id_value
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError, UnsupportedConventionError, choices
from rankadapters.evaluation.measured import Measured
from rankadapters.evaluation.passes import Member
from rankadapters.evaluation.table_calls import column_names
from rankadapters.presets.texts import as_conventions, parse

# Hints
_MAKE = (
    'ra.per_query_table(df, convention, score=["a", "b"]) returns such a table; or one for each model, {"A": a, "B": b}'
)
_NAME = "convention={'ndcg_10': 'textbook@10'} says what a column of this name has"


def read_values(
    values: object, convention: Convention | str | Iterable[Convention | str] | None, by: object
) -> tuple[ModelScores, Any]:
    """Return the scores of models from tables of values, and `by` with columns in place of their names.

    Parameters
    ----------
    values : table, or mapping of str to table
        A table with the columns `qid`, `model` and one for each convention, and a row for each query and model; or a
        table without `model` for each model, by its name.
    convention : Convention or str, iterable of these, or None
        The conventions to read; None means every column whose name `ra.parse` reads.
    by : object
        Names of columns, or as in `ra.evaluate`.
    """
    tables = _by_model(values)
    check_models(tables, 2)
    first = next(iter(tables.values()))
    conventions = _named_conventions(first) if convention is None else list(dict.fromkeys(as_conventions(convention)))
    model_scores = ModelScores(tuple(conventions), {}, {}, {}, {}, 0, [])
    for name, table in tables.items():
        queries = _queries(name, table)
        measured = Measured(queries, *_members(queries, table, conventions))
        model_scores.measured[name], model_scores.scores[name] = measured, measured.scores
        first_queries = next(iter(model_scores.measured.values())).queries
        positions = model_scores.positions[name] = positions_of(name, first_queries, queries)
        model_scores.values[name] = {c: column[positions] for c, column in measured.per_query.items()}
    if isinstance(by, str):
        by = column_of(first, by)
    elif isinstance(by, list) and any(isinstance(name, str) and name in first for name in by):
        by = {name: column_of(first, name) for name in by}
    return model_scores._replace(n_queries=first_queries.n_queries), by


def _by_model(values: Any) -> dict[str, dict[str, Array]]:
    """Return the columns of each model's table."""
    if isinstance(values, Mapping) and "qid" not in values:
        return {name: _columns(table) for name, table in values.items()}
    table = _columns(values)
    models = column_of(table, "model")
    names = dict.fromkeys(map(str, models.tolist()))
    return {name: {key: column[models == name] for key, column in table.items() if key != "model"} for name in names}


def _columns(table: Any) -> dict[str, Array]:
    names = column_names(table)
    if "qid" not in names:
        kind = type(table).__name__
        raise InputError(
            f"values of queries have a column 'qid', but a {kind} has {choices(names) or 'none'}.", hint=_MAKE
        )
    return {name: as_column(name, table[name]) for name in names}


def column_of(table: Mapping[str, Array], name: str) -> Array:
    """Return a column of a table of values."""
    if name not in table:
        raise InputError(f"the values have no column {name!r}; they have {choices(table)}.", hint=_MAKE)
    return table[name]


def _named_conventions(table: Mapping[str, Array]) -> list[Convention]:
    conventions = []
    for name in table:
        try:
            conventions += [parse(name)] if "/" in name else []
        except ConventionError:  # a name that ends in a hash
            raise InputError(f"the convention of column {name!r} is unknown.", hint=_NAME) from None
    if not conventions:
        raise InputError(f"the values have no column of a convention; they have {choices(table)}.", hint=_NAME)
    return conventions


def _queries(name: str, table: Mapping[str, Array]) -> Queries:
    """Return the queries of a table, with one row each."""
    ids = table["qid"]
    queries = Queries(np.zeros(ids.size), qid=ids)
    if queries.n_queries < ids.size:
        query = queries.query_ids[int(np.argmax(np.diff(queries.indptr) > 1))]
        raise InputError(
            f"model {name!r} has several rows of query {id_value(query)!r}.", hint="one row per query and model"
        )
    weights = table.get("query_weight")
    return queries if weights is None else queries.with_weights(as_numbers("query_weight", weights))


def _members(
    queries: Queries, table: Mapping[str, Array], conventions: list[Convention]
) -> tuple[list[Member], list[Array]]:
    """Return the conventions bound to the queries as values decide it, NaN for a skipped query, and the values."""
    none = np.zeros(queries.n_queries, np.bool_)
    empty = table.get("empty", none).astype(np.bool_)
    members, values = [], []
    for convention in conventions:
        weighted = queries.query_weight is not None and convention.weighting == "query_weight"
        if not is_mean(convention) or (weighted and convention.average == "query-except-empty"):
            msg = f"{convention.name} is not the mean of the queries' values, so it needs the rows."
            raise UnsupportedConventionError(msg, hint="ra.audit.order(labels, scores, convention)")
        column = as_numbers(convention.name, column_of(table, convention.name)).astype(np.float64)
        if np.isinf(column).any():
            raise refused_entry(convention.name, column, np.isinf(column), ", but values are finite", _MAKE)
        status = np.where(np.isnan(column), SKIP, COMPUTE).astype(np.uint8)
        weights = queries.query_weight if weighted and queries.query_weight is not None else np.ones(column.size)
        divisors = np.where(status == SKIP, 0.0, weights)
        decisions = PolicyDecisions(status, np.zeros(column.size), weights, divisors, empty, none)
        members.append(Member(convention, whole_plan(_no_formula, queries, empty=empty), decisions))
        values.append(column)
    return members, values


def is_mean(convention: Convention) -> bool:
    """Return whether the value is a mean of queries' values, each with the weight 1 or that of its query."""
    return convention.over != "rows" and not convention.pooled and convention.weighting in {None, "query_weight"}


def _no_formula(*_: Any, **__: Any) -> Any:
    raise NotImplementedError
