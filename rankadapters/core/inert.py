"""What each query adds to a mean, and which fields of two conventions cannot matter on given data."""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core._kernels.measures import SKIP
from rankadapters.core.convention import Convention
from rankadapters.core.errors import ConventionError, InputError, RankAdaptersError
from rankadapters.core.evaluator import Panel
from rankadapters.core.lowering import Binder
from rankadapters.core.queries import Queries

Floats = NDArray[np.float64]

ROUNDING = 1e-12  # values that are the same number by another order of additions; any other change is far larger


class Terms(NamedTuple):
    """How the queries enter a mean: value = sum(values * weights) / sum(divisors); arrays of shape (n_queries,)."""

    values: Floats  # NaN where skipped
    weights: Floats  # 0 where skipped
    divisors: Floats

    @property
    def shares(self) -> Floats:
        """What each query adds to the mean, 0 where it is skipped."""
        terms: Floats = np.where(self.weights == 0, 0.0, self.values) * self.weights
        return terms / float(self.divisors.sum())

    def same(self, other: Terms | None) -> bool:
        """Whether every query has the same value and enters the mean alike."""
        if other is None:
            return False
        pairs = ((self.values, other.values), (self.shares, other.shares))
        return all(np.allclose(a, b, rtol=ROUNDING, atol=ROUNDING * 1e-3, equal_nan=True) for a, b in pairs)


def terms_of(queries: Queries, scores: object, convention: Convention) -> Terms:
    """Evaluate query by query; under `average="uniform"` query weights are left aside.

    Raises
    ------
    InputError
        The convention has no value on this data.
    """
    if convention.average == "uniform" and queries.query_weight is not None:
        queries = reweighted(queries, None)
    values = Panel(queries, [convention]).per_query(scores)[convention]
    binder = Binder(queries, [convention])
    settled = binder.lower(binder.conventions[0]).settled
    if not settled.divisors.any():
        msg = "nothing is left to average: every query is skipped or has weight 0.\nHint: another policy than 'skip'."
        raise InputError(msg)
    return Terms(values, np.where(settled.status == SKIP, 0.0, settled.weights), settled.divisors)


def reweighted(queries: Queries, weights: Floats | None) -> Queries:
    """The same queries with other weights, one per query; None is 1 for each."""
    other = copy.copy(queries)
    object.__setattr__(other, "query_weight", weights)
    for remembered in ("digest", "fingerprints"):  # which depend on the weights
        other.__dict__.pop(remembered, None)
    return other


def inert_fields(queries: Queries, a: Convention, b: Convention, scores: object) -> tuple[str, ...]:
    """Find the fields that `Queries.inert` names.

    A field is added to those found when switching it together with them changes nothing, from either convention. So
    the fields found are a chain of steps without effect from `a` and from `b`, whatever the measure.
    """
    for convention in (a, b):
        if not isinstance(convention, Convention):
            msg = f"{convention!r:.80} is no convention.\nHint: queries.inert(ra.presets.yahoo(10), other, scores)."
            raise ConventionError(msg)
    shared = [name for name in a.diff(b) if name in a.fields() and name in b.fields()]
    start, end = terms_of(queries, scores, a), terms_of(queries, scores, b)
    found: list[str] = []
    for name in shared:
        tried = [*found, name]
        pairs = ((start, a, b), (end, b, a))
        if all(terms.same(_mixture(queries, scores, _mixed(c, other, tried))) for terms, c, other in pairs):
            found = tried
    return tuple(found)


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
