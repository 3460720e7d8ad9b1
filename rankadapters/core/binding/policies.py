"""Policies: which queries are computed, fixed or skipped, and their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Flags, Floats, Ints
from rankadapters.core.classes import lazy_property
from rankadapters.core.data.queries import Queries, rows_of
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError

COMPUTE, FIXED, SKIP = 0, 1, 2  # how a query gets its value


class Sizes(NamedTuple):
    """The facts of each query that the policies depend on; arrays of shape (n_queries,)."""

    ranked: Ints  # number of retrieved rows, without those that `unjudged` drops
    missing: Flags  # whether nothing was retrieved, not even a row that `unjudged` drops
    empty: Flags  # whether there is nothing to find, such as no relevant row


@dataclass(frozen=True, eq=False)
class PolicyDecisions:
    """How each query enters the mean: computed, fixed or skipped, and its weight; arrays of shape (n_queries,)."""

    status: NDArray[np.uint8]  # COMPUTE, FIXED or SKIP
    fixed: Floats  # value of a FIXED query, 0 for the others
    weights: Floats  # multiplier of the numerator
    divisors: Floats  # mass times weight: what the query adds to the denominator
    empty: Flags
    short: Flags

    def decide(self, values: Floats) -> None:
        """Overwrite the values that a policy decides: with the fixed value, or with NaN if the query is skipped."""
        np.copyto(values, self.fixed, where=self.status == FIXED)
        np.copyto(values, np.nan, where=self.status == SKIP)

    @lazy_property
    def skipped(self) -> Ints:
        """Indices of the skipped queries."""
        return np.flatnonzero(self.status == SKIP)

    def take(self, numbers: Ints) -> PolicyDecisions:
        """Return the decisions for the queries with these indices."""
        return PolicyDecisions(**{field.name: getattr(self, field.name)[numbers] for field in fields(self)})

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of queries: in the mean, with nothing to find, and with fewer than `k` retrieved rows."""
        return self.status.size - self.skipped.size, int(self.empty.sum()), int(self.short.sum())


def decide_policies(convention: Convention, queries: Queries, sizes: Sizes, mass: Floats | None) -> PolicyDecisions:
    """Apply the policies `missing`, `short`, `empty` and `average`; for each query, the first that applies decides.

    Under `empty="skip"` a missing query with nothing to find is left out, whatever `missing` says: tools that skip such
    queries never count them as missing.

    Parameters
    ----------
    convention : Convention
        Declares the policies; a policy that it does not declare applies to no query.
    queries : Queries
        Their weights are used if the convention's average says so.
    sizes : Sizes
        Rows of each query, and whether it has anything to find.
    mass : float array, shape (n_queries,), or None
        Mass of each query of a pooled measure, whose empty queries add nothing; None means 1 for every query.

    Raises
    ------
    InputError
        The policy for a query is `error`; the message names the query.
    """
    k, by_policy = convention.get("k"), {name: convention.get(name) for name in ("missing", "short", "empty")}
    ranked, missing, empty = sizes
    # A tool that skips missing queries counts empty lists 0, unless it divides by their length.
    has_fixed_length = getattr(convention, "divisor", None) != "retrieved"
    if queries.no_results is not None and by_policy["missing"] == "skip" and has_fixed_length:
        missing = missing & (rows_of(queries, queries.no_results).sizes == 0)
    short = ranked < k if k else np.zeros(queries.n_queries, np.bool_)
    by_short = short & ~missing & (by_policy["short"] != "pad")
    by_missing = missing & ~empty if by_policy["empty"] == "skip" else missing
    by_empty = empty & ~by_missing & ~by_short
    status, fixed = np.full(queries.n_queries, COMPUTE, np.uint8), np.zeros(queries.n_queries)
    if mass is not None:
        by_policy["empty"] = "skip"
    for (name, choice), affected in zip(by_policy.items(), (by_missing, by_short, by_empty), strict=True):
        if choice == "error" and affected.any():
            raise _refusal(name, queries, int(np.argmax(affected)))
        status[affected] = SKIP if choice == "skip" else FIXED
        fixed[affected] = choice if isinstance(choice, float) else 0.0
    weights = _weights(convention, queries)
    divisors = weights.copy() if mass is None else weights * mass
    divisors[status == SKIP] = 0.0
    unweighted = by_empty & (status == FIXED) & (convention.average == "query-except-empty")
    weights = np.where(unweighted, 1.0, divisors if mass is None else weights)
    return PolicyDecisions(status, fixed, weights, divisors, empty, short)


def _weights(convention: Convention, queries: Queries) -> Floats:
    """Return the weight of each query, 1 if the average ignores weights."""
    if queries.query_weight is None or convention.weighting != "query_weight":
        return np.ones(queries.n_queries)
    return queries.query_weight


def _refusal(name: str, queries: Queries, query: int) -> InputError:
    reason = {"empty": "has nothing to find", "missing": "is judged but nothing of it was retrieved"}[name]
    query_id = queries.query_ids[query]
    return InputError(
        f"query {query_id} {reason}, and the convention says {name}='error'.", hint=f"convention.replace({name}=...)"
    )


def refuse_ignored(conventions: Sequence[Convention], queries: Queries) -> None:
    """Refuse weights that a convention would ignore, naming that convention and one that uses them.

    Raises
    ------
    InputError
        Weights were given that a convention's average does not use.
    """
    for column in queries.weights:
        ignoring = [c for c in conventions if not _uses(c, column)]
        if not ignoring:
            continue
        using = [c for c in conventions if _uses(c, column)]
        name = ignoring[0].name if len(conventions) > 1 else "the convention"
        contrast = f", while {using[0].name} says {using[0].average!r} and uses it" if using else ""
        remedy = "; evaluate them separately, the first on queries.with_weights()" if using else f", or drop {column}"
        average = {"query_weight": "'query'", "row_weight": "'row'", "pair_weight": "'pair'"}[column]
        raise InputError(
            f"{column} was given but {name} says average={ignoring[0].average!r}, which would ignore it{contrast}.",
            hint=f"convention.replace(average={average}) where the measure has it{remedy}",
        )


def _uses(convention: Convention, column: str) -> bool:
    if column == "pair_weight" and convention.get("pairs") != "given":
        return True  # a measure that does not use the given pairs needs no weights for them
    return convention.weighting == column
