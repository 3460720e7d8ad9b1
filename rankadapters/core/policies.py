"""Policies: which queries are computed, fixed or skipped, and what each weighs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core._kernels.measures import COMPUTE, FIXED, SKIP
from rankadapters.core.convention import NDCG, Convention
from rankadapters.core.errors import InputError
from rankadapters.core.queries import Queries

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Sizes(NamedTuple):
    """What the policies ask of each query."""

    retrieved: NDArray[np.int64]
    judged: NDArray[np.int64]
    empty: Flags  # nothing to find


@dataclass(frozen=True, eq=False)
class Settled:
    """How each query gets its value and enters the average; arrays of shape (n_queries,)."""

    status: NDArray[np.uint8]  # COMPUTE, FIXED or SKIP
    fixed: Floats  # value of a FIXED query
    weights: Floats  # multiplier of the value
    divisors: Floats  # part of the divisor
    n_empty: int
    n_short: int

    @property
    def n_scored(self) -> int:
        """Queries in the mean."""
        return int(np.count_nonzero(self.status != SKIP))


def settle(convention: Convention, queries: Queries, sizes: Sizes) -> Settled:
    """Apply `missing`, then `short`, then `empty`, then `average`: the first that concerns a query decides.

    Raises
    ------
    InputError
        A query meets a policy that says `error`; the message names it.
    """
    missing = (sizes.retrieved == 0) & (sizes.judged > 0)
    short = sizes.retrieved < convention.k if convention.k else np.zeros(queries.n_queries, np.bool_)
    by_short = short & ~missing & (convention.short != "pad")
    by_empty = sizes.empty & ~missing & ~by_short
    status, fixed = np.full(queries.n_queries, COMPUTE, np.uint8), np.zeros(queries.n_queries)
    policies: list[tuple[str, Flags, float | str]] = [
        ("missing", missing, convention.missing),
        ("short", by_short, convention.short),
        ("empty", by_empty, convention.empty if isinstance(convention, NDCG) else "skip"),
    ]
    for name, which, choice in policies:
        if choice == "error" and which.any():
            raise _refusal(name, queries, int(np.argmax(which)))
        status[which] = SKIP if choice == "skip" else FIXED
        fixed[which] = choice if isinstance(choice, float) else 0.0
    divisors = np.ones(queries.n_queries) if queries.query_weight is None else queries.query_weight.copy()
    divisors[status == SKIP] = 0.0
    unweighted = by_empty & (status == FIXED) & (convention.average == "query-except-empty")
    weights = np.where(unweighted, 1.0, divisors)
    return Settled(status, fixed, weights, divisors, n_empty=int(sizes.empty.sum()), n_short=int(short.sum()))


def _refusal(name: str, queries: Queries, query: int) -> InputError:
    reason = {"empty": "has nothing to find", "missing": "is judged but nothing of it was retrieved"}[name]
    who = queries.query_ids[query]
    return InputError(
        f"query {who} {reason}, and the convention says {name}='error'.\nHint: convention.replace({name}=...)."
    )
