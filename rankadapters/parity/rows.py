"""Rows of a parity report: a source's number, ours, and each query's contribution to the difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Floats
from rankadapters.core.declaration.convention import Convention
from rankadapters.presets.texts import parse
from rankadapters.statistics.mistakes import OurNumber
from rankadapters.statistics.printed import Printed

Verdict = Literal["equal", "equal-on-this-data", "different", "not-comparable"]

SHOWN = 5  # how many queries a report lists at most

# Precisions: how much two computations of the same quantity may differ; `relative` scales them.
FULL_DOUBLE = 1e-9  # float64 throughout: a different order of sums changes far less, a different convention far more
IN_PART_FLOAT32 = 1e-8  # float64 with some terms rounded to float32, as in XGBoost's AUC of fractional labels
FLOAT32_COMPLEMENTS = 2e-7  # CatBoost's AUC and ERR round 1 - label to float32, by up to 2^-24; in ERR they multiply
FLOAT32 = 8 * 2.0**-23  # float32, where each of a few operations has a relative rounding error of 2^-24

Tolerance = float | Printed


def relative(precision: float, value: float) -> float:
    """Return the tolerance around a value: the precision, times the absolute value if that is above 1.

    >>> [f"{relative(FULL_DOUBLE, value):g}" for value in (0.5, 1000.0)]
    ['1e-09', '1e-06']
    """
    return precision * max(1.0, abs(value))


def agree(values: Any, number: float, tolerance: Tolerance) -> NDArray[np.bool_]:
    """Return which values agree with the number: those that round to its printed digits, or are within the tolerance.

    >>> agree([0.25, 0.26, float("nan")], 0.25, 0.02).tolist(), agree([float("inf")], float("inf"), 0).tolist()
    ([True, True, False], [True])
    """
    if isinstance(tolerance, Printed):
        return tolerance.hold(values)
    numbers = np.asarray(values, np.float64)
    with np.errstate(invalid="ignore"):  # inf - inf
        within: NDArray[np.bool_] = (np.abs(numbers - number) <= tolerance) | (numbers == number)
    return within


def half_width(tolerance: Tolerance) -> float:
    """Return the largest difference that counts as equal."""
    return float(tolerance.half if isinstance(tolerance, Printed) else tolerance)


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
        Weighted contribution of each query to the difference of the means. They add up to that difference.
    """

    query_ids: NDArray[Any]
    values: Floats
    our_values: Floats
    contributions: Floats

    def largest(self, n: int = SHOWN) -> list[tuple[Any, float, float, float]]:
        """Return the largest nonzero contributions, as (query id, the source's value, our value, contribution).

        >>> differences = QueryDifferences(
        ...     query_ids=np.array(["a", "b"]), values=np.array([1.0, 0.5]), our_values=np.array([1.0, 0.25]),
        ...     contributions=np.array([0, 0.125]),
        ... )
        >>> differences.largest()
        [('b', 0.5, 0.25, 0.125)]
        """
        order = np.argsort(-np.abs(self.contributions), kind="stable")[:n]
        columns = (self.query_ids, self.values, self.our_values, self.contributions)
        return [tuple(column[i].item() if hasattr(column[i], "item") else column[i] for column in columns)
                for i in order if self.contributions[i] != 0]  # fmt: skip

    def to_dict(self) -> dict[str, list[Any]]:
        """Return plain JSON types; a NaN becomes None."""
        columns = {attribute.name: getattr(self, attribute.name).tolist() for attribute in fields(self)}
        return {name: [_plain(item) for item in column] for name, column in columns.items()}

    @classmethod
    def between(cls, first: OurNumber, second: OurNumber) -> Self | None:
        """Return each query's contribution to `first - second`; None if one of them is not a sum over queries."""
        if not (first.convention.is_sum and second.convention.is_sum):
            return None
        return cls(
            query_ids=second.queries.query_ids, values=first.terms.values, our_values=second.terms.values,
            contributions=first.terms.shares - second.terms.shares,
        )  # fmt: skip

    @classmethod
    def from_dict(cls, data: dict[str, list[Any]]) -> QueryDifferences:
        """Read the output of `to_dict`."""
        numbers = {name: np.array(data[name], float) for name in ("values", "our_values", "contributions")}
        return cls(query_ids=np.array(data["query_ids"]), **numbers)


@dataclass(frozen=True, kw_only=True, slots=True)
class ParityRow:
    """A comparison of a source's number with ours; made by `compare` or `not_comparable`.

    Attributes
    ----------
    source : str
        Who reported the number, and by which route.
    version : str
        The source's version.
    convention : Convention or None
        The convention of our value; None where none was declared.
    value : float or None
        The source's value; None where it has none under this convention.
    our_value : float or None
        Our value; None where the convention has no value on this data.
    difference : float or None
        `value - our_value`.
    tolerance : float or None
        Largest difference, in absolute terms, that still counts as equal.
    verdict : {'equal', 'equal-on-this-data', 'different', 'not-comparable'}
        Whether they agree. `equal-on-this-data` means that the source computes a different convention, but the fields
        in which the two differ cannot matter on this data.
    reason : str
        Explanation of the verdict; may be empty.
    per_query : QueryDifferences or None
        Each query's contribution to the difference; ignored when rows are compared with `==`.
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
        """Compare a source's value with ours under one convention; if either is NaN, they differ.

        With a `Printed` as tolerance, our value must round to the printed one. `inert` names the fields in which the
        source's convention differs although they cannot matter on this data.

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
        difference = 0.0 if value == our_value else value - our_value  # 0 for two equal infinities
        return cls(
            source=source, version=version, convention=convention, value=value, our_value=our_value,
            difference=difference, tolerance=half_width(tolerance), reason=reason, per_query=per_query,
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
        """Return a row for values that cannot be compared, such as when the source or we have none."""
        return cls(
            source=source, version=version, convention=convention, value=_float(value), our_value=_float(our_value),
            difference=None, tolerance=None, verdict="not-comparable", reason=reason, per_query=per_query,
        )  # fmt: skip

    def __str__(self) -> str:
        """Return lines: the values, the convention, the reason and the queries that contribute most."""
        numbers = "ours " + ("none" if self.our_value is None else repr(self.our_value))
        if self.value is not None:
            numbers = f"{self.value!r}, {numbers}"
        if self.difference is not None:
            numbers += f", difference {self.difference:.3g} (<= {self.tolerance:.3g})"
        title = " ".join(filter(None, (f"{self.verdict}: {self.source}", self.version)))
        return "\n    ".join([f"{title}: {numbers}", *filter(None, (self.signature, *self.details()))])

    @property
    def signature(self) -> str:
        """The convention as text; empty if no convention was declared."""
        return "" if self.convention is None else str(self.convention)

    def details(self) -> list[str]:
        """Return the lines of the reason, then a line for each query that contributes most to the difference."""
        largest = [] if self.per_query is None else self.per_query.largest()
        lines = [f"  query {name}: {_contribution(*numbers)}" for name, *numbers in largest]
        return [*self.reason.splitlines(), *(["the queries that contribute most:"] if lines else []), *lines]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types: the convention as its signature, a non-finite number as None."""
        values = {attribute.name: _plain(getattr(self, attribute.name)) for attribute in fields(self)}
        per_query = None if self.per_query is None else self.per_query.to_dict()
        return {**values, "convention": self.signature, "per_query": per_query}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ParityRow:
        """Read the output of `to_dict`."""
        per_query = data["per_query"] and QueryDifferences.from_dict(data["per_query"])
        convention = parse(data["convention"]) if data["convention"] else None
        return cls(**{**data, "convention": convention, "per_query": per_query})


def _contribution(value: float, our_value: float, contribution: float) -> str:
    """Describe a query's contribution to the difference: by a different value, or a different share of the mean.

    >>> _contribution(1.0, 0.8, 0.1), _contribution(float("nan"), 1.0, -0.25)
    ('1, ours 0.8, contributes +0.1', 'left out, ours 1, contributes -0.25')
    >>> _contribution(0.5, 0.5, 0.01)  # the same value in a mean of fewer queries
    '0.5 in both, with 0.02 more of the mean than in ours: contributes +0.01'
    """
    if math.isclose(value, our_value, rel_tol=FULL_DOUBLE):
        share = contribution / our_value
        more = "more" if share > 0 else "less"
        text = f"{our_value:.6g} in both, with {abs(share):.3g} {more} of the mean than in ours"
        return f"{text}: contributes {contribution:+.3g}"
    value_text, our_text = ("left out" if math.isnan(number) else f"{number:.6g}" for number in (value, our_value))
    return f"{value_text}, ours {our_text}, contributes {contribution:+.3g}"


def _float(value: float | None) -> float | None:
    return None if value is None else float(value)


def _plain(value: Any) -> Any:
    """Convert a value for JSON: non-finite numbers become None, and values of other types become text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int, float)) else str(value)
