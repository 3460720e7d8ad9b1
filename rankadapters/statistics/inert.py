"""Which fields of two conventions cannot matter on given data.

This is no search. `search.py` evaluates every combination of a grid, up to 2^12 here, for averages that weigh queries,
and groups values by their bits. Two conventions need at most two mixtures a field. Their averages may weigh rows or
pairs, or be geometric; a sum in another order counts as the same; and the answer names the first query that differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self, Unpack

import numpy as np

from rankadapters.core.data.columns import Floats
from rankadapters.core.data.keywords import Columns
from rankadapters.core.data.queries import Queries, as_queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, RankAdaptersError
from rankadapters.core.evaluation.panel import Measured, Panel
from rankadapters.core.presets.texts import as_convention

SUBNORMAL = 1e-300  # below which numbers have fewer digits
ROUNDING = 1e-12  # values that are the same number by another order of additions; any other change is far larger


class Terms(NamedTuple):
    """How the queries enter a value: value = sum(values * weights) / sum(divisors); arrays of shape (n_queries,).

    Of a measure over all rows there is one entry, its value.
    """

    values: Floats  # NaN where skipped
    weights: Floats  # 0 where skipped
    divisors: Floats
    shares: Floats  # what each query adds to the value, 0 where it is skipped

    def same(self, other: Terms | None) -> bool:
        """Whether every query has the same value and enters the mean alike."""
        if other is None or other.values.size != self.values.size:
            return False
        pairs = ((self.values, other.values), (self.shares, other.shares))
        return all(np.allclose(a, b, rtol=ROUNDING, atol=SUBNORMAL, equal_nan=True) for a, b in pairs)


def terms_of(queries: Queries, scores: object, convention: Convention) -> Terms:
    """Evaluate query by query; weights that the convention does not count are left aside.

    Raises
    ------
    InputError
        The convention has no value on this data.
    """
    return terms_in(Panel(counted(queries, convention), [convention]).measure(scores), convention)


def terms_in(found: Measured, convention: Convention) -> Terms:
    """Read how the queries enter a value from what a Panel measured."""
    if not convention.is_sum:
        value, one = np.array([found.scores[convention].value]), np.ones(1)
        return Terms(value, one, one, value)
    weights, divisors = found.enters(convention)
    return Terms(found.per_query[convention], weights, divisors, found.shares[convention])


def counted(queries: Queries, convention: Convention) -> Queries:
    """Return the queries with the weights that a convention counts, and no others."""
    if all(name == convention.weighting for name in queries.weights):
        return queries
    return queries.weighed_by(convention.weighting)


class Inert(tuple[str, ...]):  # noqa: SLOT001 - with what it carries beside the names
    """Names of fields that cannot matter, with what became of every field in which two conventions differ.

    Attributes
    ----------
    same : bool
        Whether the conventions give the same value of every query: no other field differs.
    reasons : dict of str to str
        By field: why it does not matter here, or that it does.
    """

    same: bool
    reasons: dict[str, str]

    def __new__(cls, found: list[str], reasons: dict[str, str]) -> Self:
        """Join names and reasons."""
        names = super().__new__(cls, found)
        names.same, names.reasons = len(found) == len(reasons), reasons
        return names

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle names and reasons."""
        return Inert, (list(self), self.reasons)


def inert(
    labels: object, scores: object, a: Convention | str, b: Convention | str, **columns: Unpack[Columns]
) -> Inert:
    """Name the fields in which two conventions differ that cannot matter on this data, and say why.

    Where there are no ties, `ties` cannot; where no query is empty, neither can `empty`; and so on, judged by
    evaluation: the fields named can be switched from either convention to the other's values without changing
    any query's value or its part in the mean. When they are all that differ (`.same`), the conventions give one number.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels.
    scores : array-like, shape (n_docs,)
        Predicted scores, higher is better.
    a, b : Convention or str
        Each must have a value on this data.
    qid, group_sizes, query_weight, row_weight, pairs, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    Inert
        A tuple of some of `a.diff(b)`, in the order of the signature, with `.same` and `.reasons`.

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
    >>> inert(queries, [0.1, 0.2, 0.3, 0.4], a, b)
    ('ties', 'empty')
    >>> found = inert(queries, [0.1, 0.1, 0.3, 0.4], a, b)
    >>> tuple(found), found.same, found.reasons["ties"]
    (('empty',), False, "matters: ties='average' or 'worst' changes query 0")
    """
    queries = as_queries(labels, **columns)
    a, b = as_convention(a), as_convention(b)
    return inert_of(queries, a, b, scores, {each: terms_of(queries, scores, each) for each in (a, b)})


def inert_of(
    queries: Queries, a: Convention, b: Convention, scores: object, known: Mapping[Convention, Terms]
) -> Inert:
    """Name the fields that `inert` names where both conventions were evaluated already."""
    found: list[str] = []
    reasons = dict.fromkeys(a.diff(b), "matters: only one of the conventions has it")
    evaluated: dict[Convention | None, Terms | None] = dict(known.items())
    for name in [name for name in reasons if name in a.fields() and name in b.fields()]:
        reasons[name] = f"{name}={getattr(a, name)!r} or {getattr(b, name)!r}"
        for one, other in ((a, b), (b, a)):
            mixed = _mixed(one, other, [*found, name])
            if mixed not in evaluated:
                evaluated[mixed] = _mixture(queries, scores, mixed)
            change = _change(known[one], evaluated[mixed], queries)
            if change:  # the other way round need not be looked at
                reasons[name] = f"matters: {reasons[name]}{change}"
                break
        else:
            found.append(name)
            reasons[name] += " leaves the value of every query and its part in the mean as they are"
    return Inert(found, reasons)


def _change(one: Terms, other: Terms | None, queries: Queries) -> str:
    if other is None:
        return ", the two conventions mixed, has no value on this data"
    return "" if one.same(other) else f" changes {_first_change(one, other, queries)}"


def _first_change(one: Terms, other: Terms, queries: Queries) -> str:
    if one.values.size != queries.n_queries or other.values.size != queries.n_queries:
        return "the value"
    for first, second, what in ((one.values, other.values, ""), (one.shares, other.shares, "the part of ")):
        apart = ~np.isclose(first, second, rtol=ROUNDING, atol=SUBNORMAL, equal_nan=True)
        if apart.any():
            return f"{what}query {queries.query_ids[int(np.argmax(apart))]}"
    return "the value"


def _mixed(convention: Convention, other: Convention, names: list[str]) -> Convention | None:
    try:
        return convention.replace(**{name: getattr(other, name) for name in names})
    except ConventionError:  # these fields do not go together
        return None


def _mixture(queries: Queries, scores: object, convention: Convention | None) -> Terms | None:
    """Evaluate a mixture of two conventions; None where it has no value on this data."""
    try:
        return None if convention is None else terms_of(queries, scores, convention)
    except RankAdaptersError:
        return None
