"""A parity report: rows that compare numbers with ours, the overall outcome, and its printed forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rankadapters.core.declaration.arguments import whole
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, RankAdaptersError
from rankadapters.core.evaluation.table import Table
from rankadapters.parity.rows import ParityRow
from rankadapters.statistics.document import Document

UNDECLARED = "no convention was declared"
COLUMNS = ("verdict", "source", "version", "its value", "our value", "difference", "tolerance")


class ParityError(RankAdaptersError, AssertionError):
    """Raised for a parity report that is not `ok`; the message is the report."""


@dataclass(frozen=True, slots=True)
class ParityReport(Document):
    """A comparison of numbers from one or more sources with ours.

    Attributes
    ----------
    rows : tuple of ParityRow
        One row per comparison.
    unmet : str
        A requirement that is not met although no row differs; empty if all are met.

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
        """Return the outcome in one line, then the rows."""
        return "\n".join([self.summary, *map(str, self.rows)])

    def blocks(self) -> list[str | Table]:
        """Return the outcome, a table of the rows, and notes on each row."""
        notes = [
            "\n".join([f"{number}. {row.signature or UNDECLARED}", *(line.strip() for line in row.details())])
            for number, row in enumerate(self.rows, 1)
        ]
        table = [Table.of("The source's values and ours", COLUMNS, map(_cells, self.rows))] if self.rows else []
        return [self.summary, *table, *notes]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {"ok": self.ok, "unmet": self.unmet, "rows": [row.to_dict() for row in self.rows]}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ParityReport:
        """Read what `to_dict` returned."""
        return cls(tuple(map(ParityRow.from_dict, data["rows"])), data["unmet"])

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
        detailed = [row for row in self.rows if row.per_query is not None]
        for row in sorted(detailed, key=lambda row: row.verdict != "different"):
            return row
        msg = "no row of this report has differences by query.\nHint: they are kept where numbers do not agree."
        raise InputError(msg)

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


class ToolkitRows(NamedTuple):
    """A toolkit's rows, and the convention that was declared for it."""

    declared: Convention | None
    rows: Sequence[ParityRow]

    @property
    def is_compared(self) -> bool:
        """Whether the toolkit's number was compared under the declared convention itself."""
        return any(row.convention == self.declared and row.verdict != "not-comparable" for row in self.rows)


def report_of_toolkits(by_toolkit: Mapping[str, ToolkitRows], require: int = 1) -> ParityReport:
    """Return the rows of toolkits; the report is `ok` only if `require` toolkits were compared as declared.

    A row under a different convention, such as the nearest that a toolkit computes, shows what was compared instead. It
    does not count.
    """
    compared = [name for name, toolkit_rows in by_toolkit.items() if toolkit_rows.is_compared]
    rows = tuple(row for toolkit_rows in by_toolkit.values() for row in toolkit_rows.rows)
    return ParityReport(rows, "" if len(compared) >= require else _unmet(by_toolkit, compared, require))


def _unmet(by_toolkit: Mapping[str, ToolkitRows], compared: list[str], require: int) -> str:
    """Say that too few toolkits were compared under the declared convention, and how to mend it."""
    required = "1 toolkit" if require == 1 else f"{require} toolkits"
    could_be = f"{', '.join(compared) or 'none'} could be (of: {', '.join(by_toolkit) or 'no toolkit is installed'})"
    rows = [row for name in by_toolkit if name not in compared for row in by_toolkit[name].rows]
    nearest = dict.fromkeys(
        repr(row.convention.short_name) for row in rows if row.convention and row.verdict == "equal"
    )
    hint = "" if by_toolkit else '; pip install "rankadapters[all]"'
    if nearest:
        hint = f"; declare what was compared instead: {', '.join(nearest)}"
    return f"{required} must be compared under the declared convention, {could_be}{hint}"


def _cells(row: ParityRow) -> list[str]:
    values = ["" if number is None else repr(number) for number in (row.value, row.our_value)]
    limits = ["" if number is None else f"{number:.3g}" for number in (row.difference, row.tolerance)]
    return [row.verdict, row.source, row.version, *values, *limits]
