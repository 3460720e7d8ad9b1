"""Find the fields in which two conventions differ, but which cannot change the value on the given data.

`search.py` evaluates every combination of a grid; here at most two mixtures of the conventions per field suffice.
Unlike the search, this also handles averages that weigh rows or pairs and geometric means, treats sums in a different
order as equal, and names the first query that differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Unpack

import numpy as np

from rankadapters.core.arrays import Floats
from rankadapters.core.classes import frozen_class
from rankadapters.core.data.columns import Columns
from rankadapters.core.data.queries import Queries, as_queries, describes_columns
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import RankAdaptersError
from rankadapters.evaluation.evaluator import Evaluator
from rankadapters.evaluation.measured import Measured
from rankadapters.presets.texts import as_convention
from rankadapters.statistics.grid import replaced

SUBNORMAL = 1e-300  # much smaller float64 numbers lose precision
ROUNDING = 1e-12  # relative rounding error of sums; a real change is far larger


class Terms(NamedTuple):
    """The parts of a mean, arrays of shape (n_queries,): value = sum(values * weights) / sum(divisors).

    A measure over all rows has a single entry, its value.
    """

    values: Floats  # NaN for a skipped query
    weights: Floats  # 0 for a skipped query
    divisors: Floats
    shares: Floats  # each query's contribution to the value, 0 for a skipped query

    def same(self, other: Terms | None) -> bool:
        """Return whether every query has the same value and the same contribution to the mean."""
        if other is None or other.values.size != self.values.size:
            return False
        pairs = ((self.values, other.values), (self.shares, other.shares))
        return all(np.allclose(a, b, rtol=ROUNDING, atol=SUBNORMAL, equal_nan=True) for a, b in pairs)


def terms_of(queries: Queries, scores: object, convention: Convention) -> Terms:
    """Evaluate each query, ignoring weights that the convention does not use."""
    return terms_in(Evaluator.of(with_counted_weights(queries, convention), [convention]).measure(scores), convention)


def terms_in(measured: Measured, convention: Convention) -> Terms:
    """Return the terms of a convention that an Evaluator has evaluated."""
    if not convention.is_sum:
        value, unit = np.array([measured.scores[convention].value]), np.ones(1)
        return Terms(value, unit, unit, value)
    weights, divisors = measured.enters(convention)
    return Terms(measured.per_query[convention], weights, divisors, measured.shares[convention])


def with_counted_weights(queries: Queries, convention: Convention) -> Queries:
    """Return the queries with only the weights that a convention uses."""
    if all(name == convention.weighting for name in queries.weights):
        return queries
    return queries.weighed_by(convention.weighting)


@frozen_class
@dataclass(frozen=True, slots=True)
class Inert:
    """The fields in which two conventions differ but that cannot matter, and a reason for every differing field.

    Attributes
    ----------
    fields : tuple of str
        The fields that cannot matter, in the order of the signature; iteration yields them.
    reasons : dict of str to str
        For each field in which the conventions differ: why it does not matter here, or that it does.
    """

    fields: tuple[str, ...]
    reasons: dict[str, str]

    def __iter__(self) -> Iterator[str]:
        """Yield the fields that cannot matter."""
        return iter(self.fields)

    @property
    def same(self) -> bool:
        """Whether no differing field matters, so that every query has the same value under both conventions."""
        return len(self.fields) == len(self.reasons)


@describes_columns
def inert(
    labels: object, scores: object, a: Convention | str, b: Convention | str, **columns: Unpack[Columns]
) -> Inert:
    """Return the fields in which two conventions differ but that cannot matter on this data, with the reasons.

    For example, `ties` cannot matter without ties, nor `empty` without empty queries. Evaluation decides: switching
    these fields from either convention's values to the other's changes no query's value and no query's
    contribution to the mean. If no other field differs (`.same`), both conventions give the same number.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels.
    scores : array-like, shape (n_docs,)
        Predicted scores, higher is better.
    a, b : Convention or str
        The two conventions; both must have a value on this data.
    qid, group_sizes, query_weight, row_weight, pairs, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    Inert
        `.fields` of `a.diff(b)` that cannot matter, `.reasons`, and `.same`.

    Raises
    ------
    ConventionError
        `a` or `b` is not a convention.
    InputError
        A convention has no value on this data, or the columns contradict each other.

    Examples
    --------
    >>> from rankadapters import presets
    >>> queries = Queries([1, 0, 0, 2], group_sizes=[2, 2])
    >>> a, b = presets.sklearn(10), presets.catboost(10)
    >>> inert(queries, [0.1, 0.2, 0.3, 0.4], a, b).fields
    ('ties', 'empty')
    >>> of_tie = inert(queries, [0.1, 0.1, 0.3, 0.4], a, b)
    >>> of_tie.fields, of_tie.same, of_tie.reasons["ties"]
    (('empty',), False, "matters: ties='average' or 'worst' changes query 0")
    """
    queries = as_queries(labels, **columns)
    a, b = as_convention(a), as_convention(b)
    return inert_of(queries, a, b, scores, {convention: terms_of(queries, scores, convention) for convention in (a, b)})


def inert_of(
    queries: Queries, a: Convention, b: Convention, scores: object, terms: Mapping[Convention, Terms]
) -> Inert:
    """Return what `inert` returns, for two conventions that are already evaluated."""
    names: list[str] = []
    reasons = dict.fromkeys(a.diff(b), "matters: only one of the conventions has it")
    evaluated: dict[Convention | None, Terms | None] = dict(terms.items())
    for name in [name for name in reasons if name in a.fields() and name in b.fields()]:
        reasons[name] = f"{name}={getattr(a, name)!r} or {getattr(b, name)!r}"
        for start, target in ((a, b), (b, a)):
            mixed = replaced(start, {field: getattr(target, field) for field in [*names, name]})
            if mixed not in evaluated:
                evaluated[mixed] = _mixture(queries, scores, mixed)
            change = _change(terms[start], evaluated[mixed], queries)
            if change:  # it matters in one direction, which suffices
                reasons[name] = f"matters: {reasons[name]}{change}"
                break
        else:
            names.append(name)
            reasons[name] += " leaves the value of every query and its part in the mean as they are"
    return Inert(tuple(names), reasons)


def _change(before: Terms, after: Terms | None, queries: Queries) -> str:
    """Say which query changes first; empty if none does."""
    if after is None:
        return ", the two conventions mixed, has no value on this data"
    if before.same(after):
        return ""
    if before.values.size == after.values.size == queries.n_queries:
        for first, second, part in ((before.values, after.values, ""), (before.shares, after.shares, "the part of ")):
            changed = ~np.isclose(first, second, rtol=ROUNDING, atol=SUBNORMAL, equal_nan=True)
            if changed.any():
                return f" changes {part}query {queries.query_ids[int(np.argmax(changed))]}"
    return " changes the value"


def _mixture(queries: Queries, scores: object, convention: Convention | None) -> Terms | None:
    """Evaluate a convention with fields from two others; return None if it has no value on this data."""
    try:
        return None if convention is None else terms_of(queries, scores, convention)
    except RankAdaptersError:
        return None
