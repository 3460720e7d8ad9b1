"""Scores of several models in one argument: a mapping, a table, or a matrix with one column per model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np

from rankadapters.core.errors import InputError


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
