"""The keywords of `Queries`, and hints at them for the names that other libraries use."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypedDict

from rankadapters.core.errors import InputError, choices

ROWS = ("qid", "row_weight", "docid", "retrieved", "judged")  # one entry per row
GROUPS = ("qid", "group_sizes", "query_weight")  # the columns that group rows into queries and weight the queries

# Names that other libraries use, each with a hint at ours.
_FOREIGN_NAMES = {
    "group": "group_sizes= takes the rows of each query, qid= one id per row",
    "groups": "qid= takes one id per row, group_sizes= the rows of each query",
    "qids": "qid= takes one id per row",
    "query_id": "qid= takes one id per row",
    "group_id": "qid= takes one id per row",
    "sample_weight": "row_weight= takes one weight per row, query_weight= one per query",
    "weight": "row_weight= takes one weight per row, query_weight= one per query",
    "weights": "row_weight= takes one weight per row, query_weight= one per query",
    "group_weight": "query_weight= takes one weight per query",
    "docids": "docid= takes one string per row",
}


class Columns(TypedDict, total=False):
    """The keywords of `Queries`, for functions that pass them on."""

    qid: Any
    group_sizes: Any
    query_weight: Any
    row_weight: Any
    pairs: Any
    docid: Any
    retrieved: Any
    judged: Any


def refuse_other_names(
    columns: Mapping[str, object], allowed: Collection[str] = tuple(Columns.__annotations__)
) -> None:
    """Raise InputError for a keyword that is not an allowed column, with a hint at our name for it."""
    unknown = [name for name in columns if name not in allowed]
    if unknown:
        msg = f"{unknown[0]!r} is not an accepted column; allowed are {choices(allowed)}."
        raise InputError(msg, hint=_FOREIGN_NAMES.get(unknown[0], ""))
