"""The errors of a table in place of columns, with the whole call to make instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from numbers import Number
from typing import Any, ParamSpec, TypeVar

import numpy as np

from rankadapters.core.data.queries import Queries, describes_columns
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.guesses import EVALUATE, USUAL_NAMES, shows_call
from rankadapters.core.errors import InputError, choices

P = ParamSpec("P")
T = TypeVar("T")

_PLACES = {"dask": "ra.dask.evaluate", "pyspark": "ra.spark.evaluate"}


def takes_columns(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function of labels, scores and a convention: a table, or arguments that are wrong, show the call.

    Its docstring describes the columns, as by `describes_columns`.
    """
    checked = shows_call(EVALUATE.replace("evaluate", function.__name__))(describes_columns(function))

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        if args and not isinstance(args[0], (np.ndarray, list, Queries)):
            _refuse_table(function.__name__, args, kwargs)
        return checked(*args, **kwargs)

    return call


def column_names(value: object) -> list[str]:
    """Return the names of a table's columns, in memory or not; none for other objects.

    >>> column_names({"label": [1, 0], "score": [0.2, 0.9]}), column_names([1, 0])
    (['label', 'score'], [])
    """
    if isinstance(value, Mapping):
        names: Iterable[Any] = value
    elif hasattr(value, "collect_schema"):  # a LazyFrame too, whose `columns` would warn
        names = value.collect_schema().names()
    else:
        names = getattr(value, "column_names", getattr(value, "columns", ()))
        names = () if getattr(value, "ndim", 2) == 1 or callable(names) else names  # a Series of Dask has `columns`
    return [str(name) for name in names]


def _refuse_table(function: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    table, columns = args[0], column_names(args[0])
    if isinstance(table, Mapping) and table and all(isinstance(value, Mapping) for value in table.values()):
        hint = "judgments = ra.io.from_qrels(qrels, run) takes qrels and runs; ra.io.read_trec(qrels, run) reads files"
        raise InputError("labels is a dict of dicts, but columns are needed.", hint=hint)
    is_by_document = isinstance(table, Mapping) and all(isinstance(value, Number) for value in table.values())
    if len(columns) > 1 and not is_by_document:
        listed = choices(columns[:6]) + ", ..." * (len(columns) > 6)  # noqa: PLR2004 - so that the message is short
        msg = f"labels is a {type(table).__name__} with the columns {listed}."
        raise InputError(msg, hint=whole_call(function, table, columns, args, named))
    if hasattr(table, "queries") and hasattr(table, "scores"):  # what `ra.io` reads
        hint = f'ra.{function}(judgments.queries, judgments.scores, "trec_eval.map")'
        raise InputError(f"labels is a {type(table).__name__}, which has queries and scores.", hint=hint)


def whole_call(
    function: str, table: object, columns: list[str], args: tuple[Any, ...], named: Mapping[str, Any]
) -> str:
    """Return the call that evaluates a table, with the columns and the convention of a call that does not."""
    conventions = [value for value in (*args[1:], named.get("convention")) if _is_convention(value)]
    convention = f'"{getattr(conventions[0], "short_name", conventions[0])}"' if conventions else '"lightgbm@10"'
    names = {role: _guess(role, columns, named) for role in USUAL_NAMES}
    if function == "order":
        roles = f'label="{names["label"]}", score=["a", "b"], qid="{names["qid"]}"'
        return f'ra.audit.order(ra.per_query_table(df, {convention}, {roles}, by="market"), by="market")'
    if function != "evaluate":
        parts = {role: f'df["{name}"]' for role, name in names.items()}
        return f"ra.{function}({parts['label']}, {parts['score']}, {convention}, qid={parts['qid']})"
    package = type(table).__module__.partition(".")[0]
    data = "df.collect()" if package == "polars" and not hasattr(table, "to_arrow") else "df"
    how = 'partitions="shuffle", ' if package in {"dask", "pyspark"} else ""
    roles = ", ".join(f'{role}="{name}"' for role, name in names.items())
    return f"{_PLACES.get(package, 'ra.evaluate_table')}({data}, {convention}, {how}{roles})"


def _is_convention(value: object) -> bool:
    return isinstance(value, Convention) or (isinstance(value, str) and "@" in value)


def _guess(role: str, columns: list[str], named: Mapping[str, Any]) -> str:
    """Return the column that a call names for a role, else the one of a usual name, else our own name."""
    if isinstance(name := named.get(role), str) and name in columns:
        return name
    by_lower = {name.lower(): name for name in columns}
    return next((by_lower[name] for name in USUAL_NAMES[role] if name in by_lower), role)
