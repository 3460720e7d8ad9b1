"""A query that returns after another one: refused, merged, or counted as one more query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array, text_column
from rankadapters.core.declaration.arguments import choice
from rankadapters.core.errors import InputError

SPLIT_QUERIES = ("error", "merge", "separate")


def split(qid: Array, starts: NDArray[Any], split_queries: str, place: Callable[[int], str]) -> Array:
    """Apply `split_queries`.

    Parameters
    ----------
    qid : array, shape (n_docs,)
        Query of each row.
    starts : int array
        First row of each stretch of rows that are surely one query.
    split_queries : str
        `error`, `merge` (all its rows are one query) or `separate` (each return is a query of its own, `7#2` for the
        second stretch of query 7).
    place : callable
        File and line of a row.

    Examples
    --------
    >>> split(np.array(["7", "8", "7"]), np.arange(3), "separate", str).tolist()
    ['7', '8', '7#2']
    """
    check(split_queries)
    stretches = qid[starts].tolist()
    if split_queries == "merge" or len(set(stretches)) == len(stretches):
        return qid
    if split_queries == "error":
        raise _returns(stretches, starts, place)
    names = text_column(_separate([str(name) for name in stretches]))
    return np.repeat(names, np.diff(starts, append=qid.size))


def check(split_queries: str) -> None:
    """Refuse an unknown choice."""
    choice("split_queries", split_queries, SPLIT_QUERIES)


def _separate(stretches: Sequence[str]) -> list[str]:
    taken, count, names = set(stretches), dict.fromkeys(stretches, 0), []
    for stretch in stretches:
        count[stretch] += 1
        name = stretch
        while count[stretch] > 1 and name in taken:
            name = f"{stretch}#{count[stretch]}"
            count[stretch] += name in taken
        taken.add(name)
        names.append(name)
    return names


def _returns(stretches: list[Any], starts: NDArray[Any], place: Callable[[int], str]) -> InputError:
    seen: dict[Any, int] = {}
    again = next(i for i, stretch in enumerate(stretches) if seen.setdefault(stretch, i) != i)
    first = place(int(starts[seen[stretches[again]]]))
    return InputError(
        f"{place(int(starts[again]))}: query {stretches[again]} returns after it began in {first}.\n"
        "Hint: --split-queries merge takes it as one query, separate as a new one (split_queries= in Python).",
        row=int(starts[again]),
    )
