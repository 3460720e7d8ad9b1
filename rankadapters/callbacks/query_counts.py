"""How many queries each evaluation set must have: toolkits cut queries where their parts end, and say nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankadapters.core.declaration.arguments import refusal
from rankadapters.core.declaration.number_fields import is_whole
from rankadapters.core.errors import InputError


class QueryCounts:
    """The number of queries of each set, as far as it was declared.

    `n_queries` are the queries that a set has, by its name where there are several; None expects nothing. `hint` says
    what to do where a set has another number.
    """

    def __init__(self, n_queries: int | Mapping[str, int] | None, hint: str) -> None:
        self._expected = _as_counts(n_queries)
        self._hint = hint

    def __bool__(self) -> bool:
        """Whether a number was declared."""
        return bool(self._expected)

    def refuse_sets(self, sets: Sequence[str]) -> None:
        """Refuse sets that the declared numbers do not belong to."""
        named = [name for name in self._expected if name is not None]
        if (None in self._expected and len(sets) > 1) or not set(named) <= set(sets):
            given = dict.fromkeys(sets, "...")
            what = self._expected.get(None, named)
            raise InputError(f"n_queries={what} does not say of which of {list(sets)}.\nHint: {given}.")

    def refuse(self, set_name: str | None, n_queries: int, where: str = "") -> None:
        """Refuse another number of queries than was declared for a set, None where nobody names it."""
        expected = self._expected.get(set_name, self._expected.get(None, n_queries))
        if n_queries == expected:
            return
        why = "some are cut" if n_queries > expected else "some are missing, or joined with their neighbours"
        who = "the data" if set_name is None else repr(set_name)
        msg = f"{who} has {n_queries} queries{where}, not n_queries={expected}: {why}."
        raise InputError(f"{msg}\nHint: {self._hint}.")


def _as_counts(n_queries: object) -> dict[str | None, int]:
    """Queries by name of the set; None stands for whatever the set is called."""
    counts: dict[Any, Any] = dict(n_queries) if isinstance(n_queries, Mapping) else {None: n_queries}
    if n_queries is None:
        counts = {}
    if not all(is_whole(count) and count > 0 for count in counts.values()):
        raise refusal("n_queries", n_queries, "whole numbers from 1 on, or a mapping of a set's name to one")
    return counts
