"""Policies: which queries are computed, fixed or skipped, and what each weighs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Flags, Floats, Ints
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.kernels import COMPUTE, FIXED, SKIP


class Sizes(NamedTuple):
    """What the policies ask of each query; arrays of shape (n_queries,)."""

    retrieved: Ints  # rows
    judged: Ints
    empty: Flags  # nothing to find


@dataclass(frozen=True, eq=False)
class Settled:
    """How each query gets its numerator and mass; arrays of shape (n_queries,)."""

    status: NDArray[np.uint8]  # COMPUTE, FIXED or SKIP
    fixed: Floats  # value of a FIXED query
    weights: Floats  # multiplier of the numerator
    divisors: Floats  # mass, with its weight
    empty: Flags
    short: Flags

    def decide(self, values: Floats) -> None:
        """Write the value of each query that a policy decides: what it is fixed at, or NaN where it is skipped."""
        np.copyto(values, self.fixed, where=self.status == FIXED)
        np.copyto(values, np.nan, where=self.status == SKIP)

    @cached_property
    def skipped(self) -> Ints:
        """Queries that are skipped, by number."""
        return np.flatnonzero(self.status == SKIP)

    @property
    def n_empty(self) -> int:
        """Queries with nothing to find."""
        return int(self.empty.sum())

    @property
    def n_short(self) -> int:
        """Queries with fewer than `k` retrieved rows."""
        return int(self.short.sum())

    def take(self, numbers: Ints) -> Settled:
        """Return the decisions for the queries of these numbers."""
        return Settled(**{each.name: getattr(self, each.name)[numbers] for each in fields(self)})

    @property
    def n_scored(self) -> int:
        """Queries in the mean."""
        return self.status.size - self.skipped.size


def settle(convention: Convention, queries: Queries, sizes: Sizes, mass: Floats | None) -> Settled:
    """Apply `missing`, then `short`, then `empty`, then `average`: the first that concerns a query decides.

    Parameters
    ----------
    convention : Convention
        Its policies; one that it does not declare concerns no query.
    queries : Queries
        Their weights count where the convention's average says so.
    sizes : Sizes
        Rows of each query, and whether it has anything to find.
    mass : float array, shape (n_queries,), or None
        Of pooled measures, whose empty queries add nothing; None is 1 for each.

    Raises
    ------
    InputError
        A query meets a policy that says `error`; the message names it.
    """
    k = getattr(convention, "k", None)
    retrieved, judged, empty = sizes
    missing = (retrieved == 0) & (judged > 0)
    short = retrieved < k if k else np.zeros(queries.n_queries, np.bool_)
    by_short = short & ~missing & (getattr(convention, "short", "pad") != "pad")
    by_empty = empty & ~missing & ~by_short
    status, fixed = np.full(queries.n_queries, COMPUTE, np.uint8), np.zeros(queries.n_queries)
    policies: list[tuple[str, Flags, float | str]] = [
        ("missing", missing, getattr(convention, "missing", "zero")),
        ("short", by_short, getattr(convention, "short", "pad")),
        ("empty", by_empty, getattr(convention, "empty", "skip") if mass is None else "skip"),
    ]
    for name, which, choice in policies:
        if choice == "error" and which.any():
            raise _refusal(name, queries, int(np.argmax(which)))
        status[which] = SKIP if choice == "skip" else FIXED
        fixed[which] = choice if isinstance(choice, float) else 0.0
    weights = _weights(convention, queries)
    divisors = weights.copy() if mass is None else weights * mass
    divisors[status == SKIP] = 0.0
    unweighted = by_empty & (status == FIXED) & (convention.average == "query-except-empty")
    weights = np.where(unweighted, 1.0, divisors if mass is None else weights)
    return Settled(status, fixed, weights, divisors, empty, short)


def _weights(convention: Convention, queries: Queries) -> Floats:
    """Weight of each query, 1 where they do not count."""
    if queries.query_weight is None or convention.weighting != "query_weight":
        return np.ones(queries.n_queries)
    return queries.query_weight


def _refusal(name: str, queries: Queries, query: int) -> InputError:
    reason = {"empty": "has nothing to find", "missing": "is judged but nothing of it was retrieved"}[name]
    who = queries.query_ids[query]
    return InputError(
        f"query {who} {reason}, and the convention says {name}='error'.", hint=f"convention.replace({name}=...)"
    )


def refuse_ignored(conventions: list[Convention], queries: Queries) -> None:
    """Refuse weights that a convention would ignore, naming it, and what those say that use them.

    Raises
    ------
    InputError
        A column of weights was given, and a convention's average does not count it.
    """
    for column in queries.weights:
        blind = [c for c in conventions if not _counts(c, column)]
        if not blind:
            continue
        others = [c for c in conventions if c not in blind]
        said = f"{blind[0].name} says average={blind[0].average!r}" if len(conventions) > 1 else (
            f"the convention says average={blind[0].average!r}"
        )  # fmt: skip
        disagree = f", while {others[0].name} says {others[0].average!r} and uses it" if others else ""
        apart = "; evaluate them apart, the first on queries.with_weights()" if others else f", or drop {column}"
        better = {"query_weight": "'query'", "row_weight": "'row'", "pair_weight": "'pair'"}[column]
        raise InputError(
            f"{column} was given but {said}, which would ignore it{disagree}.",
            hint=f"convention.replace(average={better}) where the measure has it{apart}",
        )


def _counts(convention: Convention, column: str) -> bool:
    if column == "pair_weight" and getattr(convention, "pairs", "") != "given":
        return True  # weights belong to the pairs, which this measure does not look at
    return convention.weighting == column
