"""Scores of several models at once: a mapping, a table or a matrix with a column a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np

from rankadapters.core.errors import InputError


class ScoreTable(Protocol):
    """A data frame of pandas or polars, or a table of pyarrow."""

    @property
    def columns(self) -> Iterable[Any]:
        """Names of the columns, or, in pyarrow, the columns."""

    def __getitem__(self, name: Any, /) -> Any:
        """Give a column."""


ScoresByModel = Mapping[Any, object] | ScoreTable


def scores_by_model(scores: object) -> dict[Any, object] | None:
    """Tell the models apart; None where the scores are those of one model.

    Parameters
    ----------
    scores : object
        A mapping of names to scores; a table, whose columns name the models; or a matrix, shape (n_docs, n_models),
        whose models are 0, 1, ...

    Raises
    ------
    InputError
        There is no model, or two columns of a table have one name.

    Examples
    --------
    >>> {name: column.tolist() for name, column in scores_by_model(np.array([[1, 2], [3, 4]])).items()}
    {0: [1, 3], 1: [2, 4]}
    """
    if isinstance(scores, Mapping):
        return _some(dict(scores))
    if isinstance(scores, np.ndarray):
        return _some(dict(enumerate(scores.T))) if scores.ndim == 2 else None  # noqa: PLR2004 - rows and models
    names = getattr(scores, "column_names", getattr(scores, "columns", None))
    if names is None:
        return None
    twice = [name for place, name in enumerate(names) if name in list(names)[:place]]
    if twice:
        raise InputError(f"two columns of scores are named {twice[0]!r}.", hint="each model needs a name of its own")
    return _some({name: scores[name] for name in names})  # type: ignore[index]


def _some(models: dict[Any, object]) -> dict[Any, object]:
    if not models:
        raise InputError("scores holds no model.", hint="a column of scores per model")
    return models
