"""Models evaluated under several conventions on the same queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.ids import id_values
from rankadapters.core.data.models import scores_by_model
from rankadapters.core.data.queries import Queries, as_queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, RankAdaptersError
from rankadapters.core.evaluation.panel import Measured, Panel
from rankadapters.core.evaluation.score import Score
from rankadapters.core.presets.texts import as_conventions

Floats = NDArray[np.float64]


class ModelScores(NamedTuple):
    """What each model reaches, and what each query adds to it; queries in the order of the first model's.

    A convention over all rows has no values of queries, and one that is not a sum over them no shares either.
    """

    conventions: tuple[Convention, ...]
    measured: dict[str, Measured]  # in the order of the model's own queries
    scores: dict[str, Mapping[Convention, Score]]
    values: dict[str, dict[Convention, Floats]]  # of each query, NaN where it is skipped
    shares: dict[str, dict[Convention, Floats]]
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
        Fewer models than `least`, one with other rows or queries, or a convention without a value on the data.
    """
    _check(models, least)
    queries = queries_by_model(labels, models, columns)
    several = list(dict.fromkeys(as_conventions(convention)))
    first = next(iter(queries.values()))
    panels = _panels(queries, several, n_threads, apart=isinstance(labels, Mapping))
    found = ModelScores(tuple(panels[id(first)].conventions), {}, {}, {}, {}, first.n_queries)
    apart = [convention for convention in found.conventions if convention.over != "rows"]
    sums = [convention for convention in apart if convention.is_sum]
    for name, scores in models.items():
        panel = panels[id(queries[name])]
        place = _places(name, first, queries[name])
        try:
            measured = panel.measure(scores)
            found.measured[name], found.scores[name] = measured, measured.scores
            found.values[name] = {c: column[place] for c, column in measured.under(apart).per_query.items()}
            found.shares[name] = {c: column[place] for c, column in measured.under(sums).shares.items()}
        except RankAdaptersError as error:
            raise error.about(f"model {name!r}") from None
    return found


def _panels(
    queries: dict[str, Queries], conventions: list[Convention], n_threads: int | None, *, apart: bool
) -> dict[int, Panel]:
    """Bind the conventions to the queries of all models, or of each, which an error then names."""
    panels: dict[int, Panel] = {}
    for name, each in queries.items():
        try:
            panels[id(each)] = panels.get(id(each)) or Panel(each, conventions, n_threads=n_threads)
        except RankAdaptersError as error:
            raise (error.about(f"model {name!r}") if apart else error) from None
    return panels


def as_models(models: object) -> Mapping[str, object]:
    """Take scores by name, or a matrix or a table with a column for each model.

    The columns of a matrix are named by their numbers from 0 on.

    >>> list(as_models(np.zeros((3, 2))))
    ['0', '1']

    Raises
    ------
    InputError
        It is neither, or two columns have one name.
    """
    if isinstance(models, Mapping):
        return models
    found = scores_by_model(models)
    if found is None:
        what = f"an array of shape {models.shape}" if isinstance(models, np.ndarray) else f"a {type(models).__name__}"
        msg = (
            f"scores is {what}, not scores by name of a model.\n"
            "Hint: {'a': scores, 'b': scores}, or a matrix or a table with a column for each model."
        )
        raise InputError(msg)
    return {str(name): column for name, column in found.items()}


def _check(models: Mapping[str, object], least: int) -> None:
    if len(models) < least:
        msg = (
            f"{len(models)} of at least {least} models {'was' if len(models) == 1 else 'were'} given.\n"
            "Hint: scores by name; ra.evaluate takes one model and many conventions."
        )
        raise InputError(msg)
    for name in models:
        if not isinstance(name, str):
            msg = f"the model's name {name!r:.80} is not a text.\nHint: {{'a': scores, 'b': scores}}."
            raise InputError(msg)
        if not name.isprintable():
            msg = f"the model's name {name!r:.80} has a line break or another character that is not printed."
            raise InputError(msg)


def queries_by_model(labels: object, models: Mapping[str, object], columns: Mapping[str, object]) -> dict[str, Queries]:
    """Give each model's queries, which are those of all models unless `labels` has them by model.

    Raises
    ------
    InputError
        A model has no queries.
    """
    if not isinstance(labels, Mapping):
        return dict.fromkeys(models, as_queries(labels, **columns))
    missing = [name for name in models if name not in labels]
    if missing:
        msg = f"model {missing[0]!r} has no queries.\nHint: a Queries for each model, or one for all."
        raise InputError(msg)
    return {name: as_queries(labels[name], **columns) for name in models}


def _places(name: str, first: Queries, other: Queries) -> NDArray[np.intp]:
    """Where the first model's queries stand among another's."""
    if other is first:
        return np.arange(first.n_queries)
    places = {query: place for place, query in enumerate(id_values(other.query_ids))}
    wanted = id_values(first.query_ids)
    if len(places) != len(wanted) or any(query not in places for query in wanted):
        msg = (
            f"model {name!r} has other queries than the first one ({len(places)} and {len(wanted)}).\n"
            "Hint: evaluate all models over the same queries."
        )
        raise InputError(msg)
    found = np.array([places[query] for query in wanted], np.intp)
    _refuse_other_judgments(name, first, other, found)
    return found


def _refuse_other_judgments(name: str, first: Queries, other: Queries, places: NDArray[np.intp]) -> None:
    """Refuse queries of the same ids with other judged labels or weights; the rows retrieved may differ."""
    one, two = _judged_labels(first, np.arange(first.n_queries)), _judged_labels(other, np.argsort(places))
    same_labels = all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    mine, theirs = first.query_weight, other.query_weight
    same_weights = mine is theirs or (mine is not None and theirs is not None and np.array_equal(mine, theirs[places]))
    if not (same_labels and same_weights):
        what = "weights" if same_labels else "judged labels"
        msg = (
            f"model {name!r} has the first one's queries with other {what}.\n"
            "Hint: evaluate all models over the same judgments; only the rows that were retrieved may differ."
        )
        raise InputError(msg)


def _judged_labels(queries: Queries, number: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Number of the query and label of every judged row, sorted by both."""
    judged = slice(None) if queries.judged is None else queries.judged
    of_row, labels = number[queries.query_of_row][judged], queries.labels[judged]
    order = np.lexsort((labels, of_row))
    return of_row[order], labels[order]
