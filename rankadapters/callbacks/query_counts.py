"""Check the number of queries in a set, since toolkits silently cut queries at the end of a batch or partition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankadapters.core.declaration.arguments import refusal
from rankadapters.core.declaration.fields import is_whole
from rankadapters.core.errors import InputError


class QueryCounts:
    """The declared number of queries of each set.

    `n_queries` is the number of queries, or a mapping of set names to numbers; None checks nothing. `hint` is the hint
    of the error if a set has a different number.
    """

    def __init__(self, n_queries: int | Mapping[str, int] | None, hint: str) -> None:
        self._expected = _as_counts(n_queries)
        self._hint = hint

    def refuse_sets(self, sets: Sequence[str]) -> None:
        """Refuse declared numbers for unknown sets, and a single number if there are several sets."""
        named = [name for name in self._expected if name is not None]
        if (None in self._expected and len(sets) > 1) or not set(named) <= set(sets):
            example = dict.fromkeys(sets, "...")
            counts = self._expected.get(None, named)
            raise InputError(f"n_queries={counts} does not say of which of {list(sets)}.", hint=str(example))

    def refuse(self, set_name: str | None, n_queries: int, where: str = "") -> None:
        """Refuse a wrong number of queries in a set; `set_name` is None if the toolkit does not name it."""
        expected = self._expected.get(set_name, self._expected.get(None, n_queries))
        if n_queries == expected:
            return
        why = "some are cut" if n_queries > expected else "some are missing, or joined with their neighbors"
        who = "the data" if set_name is None else repr(set_name)
        msg = f"{who} has {n_queries} queries{where}, not n_queries={expected}: {why}."
        raise InputError(msg, hint=self._hint)


def _as_counts(n_queries: object) -> dict[str | None, int]:
    """Return the number of queries by set name; a number under the key None is for a set of any name."""
    counts: dict[Any, Any] = dict(n_queries) if isinstance(n_queries, Mapping) else {None: n_queries}
    if n_queries is None:
        counts = {}
    if not all(is_whole(count) and count > 0 for count in counts.values()):
        raise refusal("n_queries", n_queries, "whole numbers from 1 on, or a mapping of a set's name to one")
    return counts
