"""A parity report: rows that compare a source's number with ours, the overall outcome, and its printed forms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Floats
from rankadapters.core.classes import frozen_class
from rankadapters.core.declaration.arguments import whole
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, RankAdaptersError
from rankadapters.evaluation.score import signatures
from rankadapters.evaluation.table import Cell, Table
from rankadapters.statistics.document import Document, as_csv, fields_as_dict
from rankadapters.statistics.printed import Printed
from rankadapters.statistics.rivals import OurNumber

Verdict = Literal["equal", "equal-on-this-data", "different", "not-comparable"]

SHOWN = 5  # how many queries a report lists at most
UNDECLARED = "no convention was declared"
COLUMNS = ("verdict", "source", "version", "its value", "our value", "difference", "tolerance")

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


@frozen_class
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
        order = np.argsort(-np.abs(self.contributions), kind="stable")[: min(n, np.count_nonzero(self.contributions))]
        columns = (self.query_ids, self.values, self.our_values, self.contributions)
        return list(zip(*(column[order].tolist() for column in columns), strict=True))

    @classmethod
    def between(cls, first: OurNumber, second: OurNumber) -> Self | None:
        """Return each query's contribution to `first - second`; None if one of them is not a sum over queries."""
        if not (first.convention.is_sum and second.convention.is_sum):
            return None
        return cls(
            query_ids=second.queries.query_ids, values=first.terms.values, our_values=second.terms.values,
            contributions=first.terms.shares - second.terms.shares,
        )  # fmt: skip


@frozen_class
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
    declared : dict of str to (float or None)
        Our value under each declared convention, by signature, for the row of a trained model.
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
    declared: dict[str, float | None] = field(default_factory=dict, hash=False)

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
        declared: dict[str, float | None] | None = None,
    ) -> ParityRow:
        """Return a row for values that cannot be compared, such as when the source or we have none."""
        value, our_value = (None if number is None else float(number) for number in (value, our_value))
        return cls(
            source=source, version=version, convention=convention, value=value, our_value=our_value,
            difference=None, tolerance=None, verdict="not-comparable", reason=reason, per_query=per_query,
            declared=declared or {},
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
        values = {**fields_as_dict(self), "convention": self.signature}
        return {name: value for name, value in values.items() if name != "declared" or value}


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


class ParityError(RankAdaptersError, AssertionError):
    """Raised for a parity report that is not `ok`; the message is the report."""


@frozen_class
@dataclass(frozen=True, slots=True)
class ParityReport(Document):
    """A comparison of numbers from one or more sources with ours.

    Attributes
    ----------
    rows : tuple of ParityRow
        One row per comparison.
    unmet : str
        A requirement that is not met although no row differs; empty if all are met.
    conventions : tuple of Convention
        The declared conventions under which each trained model has our value; empty for given scores.

    Examples
    --------
    >>> from rankadapters import presets
    >>> numbers = dict(value=0.5, our_value=0.25, tolerance=1e-6, reason="query 7 was cut")
    >>> print(ParityReport((ParityRow.compare("trainer's log", "1.0", presets.yahoo(10), **numbers),)))
    parity fails: 1 different
    different: trainer's log 1.0: 0.5, ours 0.25, difference 0.25 (<= 1e-06)
        ndcg@10/gain=exp2/discount=log2/ideal=cutoff/ties=input/precision=float64/short=pad/empty=1/...
        query 7 was cut
    """

    rows: tuple[ParityRow, ...]
    unmet: str = ""
    conventions: tuple[Convention, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the declared convention was compared, nothing differs, and every requirement is met."""
        compared = [row.verdict for row in self.rows if row.verdict != "not-comparable"]
        return bool(compared) and "different" not in compared and not self.unmet

    @property
    def summary(self) -> str:
        """The outcome in one line."""
        verdicts = [row.verdict for row in self.rows]
        counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts)) or "no rows"
        return f"parity {'holds' if self.ok else 'fails'}: {counts}" + (f"; {self.unmet}" if self.unmet else "")

    def __str__(self) -> str:
        """Return the outcome in one line, then the rows; for trained models, a table with our values."""
        return Document.__str__(self) if self.conventions else "\n".join([self.summary, *map(str, self.rows)])

    def blocks(self) -> list[str | Table]:
        """Return the outcome, a table of the rows, and notes on each row."""
        notes = [
            "\n".join([f"{number}. {row.signature or UNDECLARED}", *(line.strip() for line in row.details())])
            for number, row in enumerate(self.rows, 1)
        ]
        if self.conventions:
            return [self.summary, *self._values_of_models(), *notes]
        table = [Table.of("The source's values and ours", COLUMNS, map(_cells, self.rows))] if self.rows else []
        return [self.summary, *table, *notes]

    def _values_of_models(self) -> Iterator[str | Table]:
        """Yield a table with our value under each declared convention, and the signatures of these conventions."""
        head = ("toolkit", "its own", "ours", "difference", *(convention.name for convention in self.conventions))
        yield Table.of("Each toolkit's own value of its model, and ours", head, map(_cells_of_model, self.rows))
        yield signatures(self.conventions)
        compared = {row.convention for row in self.rows if row.verdict != "not-comparable"}
        only_ours = [convention.name for convention in self.conventions if convention not in compared]
        if only_ours:
            yield f"These columns are our values alone, as no toolkit was compared under them: {', '.join(only_ours)}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        values = {"ok": self.ok, "unmet": self.unmet, **Document.to_dict(self)}
        return {name: value for name, value in values.items() if name != "conventions" or value}

    def _frame_rows(self) -> list[dict[str, Any]]:
        """Return a row for each comparison, with a column for our value under each declared convention."""
        names = ("source", "version", "value", "our_value", "difference", "tolerance", "verdict", "reason", "signature")
        declared = [convention.name for convention in self.conventions]
        return [
            {name: getattr(row, name) for name in names} | dict(zip(declared, row.declared.values(), strict=False))
            for row in self.rows
        ]

    def to_csv(self) -> str:
        """Return the rows as CSV, with a column per declared convention for trained models."""
        if not self.conventions:
            return Document.to_csv(self)
        head = [*COLUMNS, *map(str, self.conventions), "reason"]
        return as_csv([head, *([*_cells(row), *row.declared.values(), row.reason] for row in self.rows)])

    def raise_if_failed(self) -> None:
        """Raise an error if the report is not `ok`.

        Raises
        ------
        ParityError
            Its message is the report.
        """
        __tracebackhide__ = True  # so that pytest shows the caller's line
        if not self.ok:
            raise ParityError(str(self))

    def differences(self) -> ParityRow:
        """Return the first row that differs among the rows with contributions by query, or else the first of these.

        Raises
        ------
        InputError
            No row has such a difference: the numbers agree, or only their means are known.
        """
        for row in sorted(self.rows, key=lambda row: row.verdict != "different"):
            if row.per_query is not None:
                return row
        hint = "they are kept where numbers do not agree"
        raise InputError("no row of this report has differences by query.", hint=hint)

    def plot(self, *, n: int = 20, ax: Any = None) -> Any:
        """Draw each query's contribution to the difference of `differences()`, the largest first.

        Parameters
        ----------
        n : int
            Queries shown at most.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Figure
            The new figure, or that of `ax`.

        Raises
        ------
        InputError
            No row has differences by query, or `n` is not a number of queries.
        MissingToolkitError
            matplotlib is not installed.
        """
        from rankadapters.plotting.plots import contributions

        n, row = whole("n", n, hint="n=20"), self.differences()
        largest = row.per_query.largest(n) if row.per_query else []
        bars = [(str(name), part) for name, _, _, part in largest]
        return contributions(bars, title=f"{row.source} {row.version} less ours", ax=ax)


def report_of_toolkits(
    by_toolkit: Mapping[str, Sequence[ParityRow]], declared: Mapping[str, Convention | None], require: int = 1
) -> ParityReport:
    """Return the rows of toolkits; the report is `ok` only if `require` toolkits were compared as declared.

    A row under a different convention, such as the nearest that a toolkit computes, shows what was compared instead. It
    does not count.
    """
    compared = [
        name
        for name, rows in by_toolkit.items()
        if any(row.convention == declared[name] and row.verdict != "not-comparable" for row in rows)
    ]
    all_rows = tuple(row for rows in by_toolkit.values() for row in rows)
    if len(compared) >= require:
        return ParityReport(all_rows)
    required = "1 toolkit" if require == 1 else f"{require} toolkits"
    could_be = f"{', '.join(compared) or 'none'} could be (of: {', '.join(by_toolkit) or 'no toolkit is installed'})"
    rows = [row for name in by_toolkit if name not in compared for row in by_toolkit[name]]
    nearest = dict.fromkeys(
        repr(row.convention.short_name) for row in rows if row.convention and row.verdict == "equal"
    )
    hint = "" if by_toolkit else '; pip install "rankadapters[all]"'
    if nearest:
        hint = f"; declare what was compared instead: {', '.join(nearest)}"
    return ParityReport(all_rows, f"{required} must be compared under the declared convention, {could_be}{hint}")


def _cells(row: ParityRow) -> list[str]:
    values = ["" if number is None else Cell("{!r}", number) for number in (row.value, row.our_value)]
    limits = ["" if number is None else f"{number:.3g}" for number in (row.difference, row.tolerance)]
    return [row.verdict, row.source, row.version, *values, *limits]


def _cells_of_model(row: ParityRow) -> list[str]:
    values = ["-" if v is None else Cell("{:.6f}", v) for v in (row.value, row.our_value, *row.declared.values())]
    difference = "-" if row.difference is None else f"{row.difference:.0e}" if row.difference else "0"
    return [f"{row.source} {row.version}".rstrip(), *values[:2], difference, *values[2:]]
