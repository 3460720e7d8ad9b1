"""One number of a source against ours, and what each query contributes to their difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Floats
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.presets.texts import parse
from rankadapters.parity.tolerances import FULL_DOUBLE, Tolerance, agree, width

Verdict = Literal["equal", "equal-on-this-data", "different", "not-comparable"]

SHOWN = 5  # queries that a text names


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class QueryDifferences:
    """A difference of two means, query by query; arrays of shape (n_queries,).

    Attributes
    ----------
    query_ids : array
        Query identifiers in order of first appearance.
    values, our_values : float array
        The source's value of each query and ours; NaN where it is skipped.
    contributions : float array
        What each query adds to the difference of the means, its weight included. They add up to that difference.
    """

    query_ids: NDArray[Any]
    values: Floats
    our_values: Floats
    contributions: Floats

    def largest(self, n: int = SHOWN) -> list[tuple[Any, float, float, float]]:
        """Name the queries that contribute most: (query id, the source's value, ours, contribution); no zeros.

        >>> found = QueryDifferences(
        ...     query_ids=np.array(["a", "b"]), values=np.array([1.0, 0.5]), our_values=np.array([1.0, 0.25]),
        ...     contributions=np.array([0, 0.125]),
        ... )
        >>> found.largest()
        [('b', 0.5, 0.25, 0.125)]
        """
        places = np.argsort(-np.abs(self.contributions), kind="stable")[:n]
        columns = (self.query_ids, self.values, self.our_values, self.contributions)
        return [tuple(column[i].item() if hasattr(column[i], "item") else column[i] for column in columns)
                for i in places if self.contributions[i] != 0]  # fmt: skip

    def to_dict(self) -> dict[str, list[Any]]:
        """Give plain JSON types; a NaN is None."""
        columns = {each.name: getattr(self, each.name).tolist() for each in fields(self)}
        return {name: [_plain(item) for item in column] for name, column in columns.items()}

    @classmethod
    def from_dict(cls, data: dict[str, list[Any]]) -> QueryDifferences:
        """Read what `to_dict` gave."""
        numbers = {name: np.array(data[name], float) for name in ("values", "our_values", "contributions")}
        return cls(query_ids=np.array(data["query_ids"]), **numbers)


@dataclass(frozen=True, kw_only=True, slots=True)
class ParityRow:
    """One number of a source against ours; made by `compare` or `not_comparable`.

    Attributes
    ----------
    source : str
        Who gave the number, and by which route.
    version : str
        The source's version.
    convention : Convention or None
        What our value was computed under; None where nobody said.
    value : float or None
        The source's value; None where it has none under this convention.
    our_value : float or None
        Ours; None where the convention has no value on this data.
    difference : float or None
        `value - our_value`.
    tolerance : float or None
        Largest difference, in absolute terms, that still counts as equal.
    verdict : {'equal', 'equal-on-this-data', 'different', 'not-comparable'}
        Whether they agree. `equal-on-this-data` says that the source computes another convention, and that the fields
        in which the two differ cannot matter here.
    reason : str
        What a reader must know to judge the row; may be empty.
    per_query : QueryDifferences or None
        What each query contributes to a difference; no part of equality.
    """

    source: str
    version: str
    convention: Convention | None
    value: float | None
    our_value: float | None
    difference: float | None
    tolerance: float | None
    verdict: Verdict
    reason: str
    per_query: QueryDifferences | None = field(default=None, compare=False, repr=False)

    @classmethod
    def compare(
        cls,
        source: str,
        version: str,
        convention: Convention | None,
        *,
        value: float,
        our_value: float,
        tolerance: Tolerance,
        reason: str = "",
        inert: Sequence[str] = (),
        per_query: QueryDifferences | None = None,
    ) -> ParityRow:
        """Judge two values of one convention; a NaN on either side is a difference.

        A `Printed` as tolerance wants ours to round to what was printed. With `inert`, the source's convention differs
        in these fields, which cannot matter on this data.

        Examples
        --------
        >>> from rankadapters import presets
        >>> row = ParityRow.compare(
        ...     "a paper, table 2", "2010", presets.yahoo(10), value=0.6791, our_value=0.67913, tolerance=5e-5
        ... )
        >>> row.verdict
        'equal'
        """
        equal: Verdict = "equal-on-this-data" if inert else "equal"
        value, our_value = float(value), float(our_value)
        difference = 0.0 if value == our_value else value - our_value  # of two infinities too
        return cls(
            source=source, version=version, convention=convention, value=value, our_value=our_value,
            difference=difference, tolerance=width(tolerance), reason=reason, per_query=per_query,
            verdict=equal if agree([our_value], value, tolerance).all() else "different",
        )  # fmt: skip

    @classmethod
    def not_comparable(
        cls,
        source: str,
        version: str,
        convention: Convention | None,
        *,
        our_value: float | None,
        reason: str,
        value: float | None = None,
        per_query: QueryDifferences | None = None,
    ) -> ParityRow:
        """State one value under a convention for which the other side has none."""
        return cls(
            source=source, version=version, convention=convention, value=_float(value), our_value=_float(our_value),
            difference=None, tolerance=None, verdict="not-comparable", reason=reason, per_query=per_query,
        )  # fmt: skip

    def __str__(self) -> str:
        """Write the values, the convention, the reason and the queries that contribute most on lines of their own."""
        numbers = "ours " + ("none" if self.our_value is None else repr(self.our_value))
        if self.value is not None:
            numbers = f"{self.value!r}, {numbers}"
        if self.difference is not None:
            numbers += f", difference {self.difference:.3g} (<= {self.tolerance:.3g})"
        head = " ".join(filter(None, (f"{self.verdict}: {self.source}", self.version)))
        return "\n    ".join([f"{head}: {numbers}", *filter(None, (self.signature, *self.details()))])

    @property
    def signature(self) -> str:
        """The convention as text; empty where there is none."""
        return "" if self.convention is None else str(self.convention)

    def details(self) -> list[str]:
        """Return the lines of the reason, and of the queries that contribute most to the difference."""
        largest = [] if self.per_query is None else self.per_query.largest()
        lines = [f"  query {name}: {_contribution(theirs, ours, part)}" for name, theirs, ours, part in largest]
        return [*self.reason.splitlines(), *(["the queries that contribute most:"] if lines else []), *lines]

    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON types: the convention as its signature, a number that is not finite as None."""
        values = {each.name: _plain(getattr(self, each.name)) for each in fields(self)}
        per_query = None if self.per_query is None else self.per_query.to_dict()
        return {**values, "convention": self.signature, "per_query": per_query}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ParityRow:
        """Read what `to_dict` gave."""
        per_query = data["per_query"] and QueryDifferences.from_dict(data["per_query"])
        convention = parse(data["convention"]) if data["convention"] else None
        return cls(**{**data, "convention": convention, "per_query": per_query})


def _contribution(theirs: float, ours: float, part: float) -> str:
    """Say what a query contributes to a difference, and by what: its value, or its share of the mean.

    >>> _contribution(1.0, 0.8, 0.1), _contribution(float("nan"), 1.0, -0.25)
    ('1, ours 0.8, contributes +0.1', 'left out, ours 1, contributes -0.25')
    >>> _contribution(0.5, 0.5, 0.01)  # the same value in a mean of fewer queries
    '0.5 in both, with 0.02 more of the mean than in ours: contributes +0.01'
    """
    if math.isclose(theirs, ours, rel_tol=FULL_DOUBLE):
        share = part / ours
        more = "more" if share > 0 else "less"
        return f"{ours:.6g} in both, with {abs(share):.3g} {more} of the mean than in ours: contributes {part:+.3g}"
    value, our_value = ("left out" if math.isnan(number) else f"{number:.6g}" for number in (theirs, ours))
    return f"{value}, ours {our_value}, contributes {part:+.3g}"


def _float(value: float | None) -> float | None:
    return None if value is None else float(value)


def _plain(value: Any) -> Any:
    """Leave what JSON knows as it is; what is not finite is None, and any other id its text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int, float)) else str(value)
