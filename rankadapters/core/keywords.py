"""The keywords of `Queries`: which there are, and what other libraries call them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypedDict

from rankadapters.core.errors import InputError, choices

ROWS = ("qid", "row_weight", "docid", "retrieved", "judged")  # one entry per row

# What other libraries call our columns.
_OTHERS = {
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
    """The keywords of `Queries`, which other functions pass on."""

    qid: Any
    group_sizes: Any
    query_weight: Any
    row_weight: Any
    pairs: Any
    docid: Any
    retrieved: Any
    judged: Any


GROUPS = ("qid", "group_sizes", "query_weight")  # those that say how rows form queries, and what each weighs


def refuse_other_names(columns: Mapping[str, object], taken: Collection[str] = tuple(Columns.__annotations__)) -> None:
    """Refuse a keyword that is not one of the columns taken, with what we call it."""
    unknown = [name for name in columns if name not in taken]
    if unknown:
        hint = f"\nHint: {_OTHERS[unknown[0]]}." if unknown[0] in _OTHERS else ""
        raise InputError(f"{unknown[0]!r} is not a column that is taken here; allowed are {choices(taken)}.{hint}")
