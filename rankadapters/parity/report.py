"""A parity report: rows of numbers against ours, whether they agree, and how they are shown."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rankadapters.core.declaration.number_fields import is_whole
from rankadapters.core.errors import InputError, RankAdaptersError, choices
from rankadapters.parity.rows import ParityRow

UNDECLARED = "no convention was declared"
COLUMNS = ("verdict", "source", "version", "its value", "our value", "difference", "tolerance")


class ParityError(RankAdaptersError, AssertionError):
    """A parity report has a row that differs, or none that was compared; the message is the report."""


@dataclass(frozen=True, slots=True)
class ParityReport:
    """Numbers of one or more sources against ours.

    Attributes
    ----------
    rows : tuple of ParityRow
        What was looked at.
    unmet : str
        What was required and is not there, although no row differs; empty where nothing is missing.

    Examples
    --------
    >>> from rankadapters import presets
    >>> given = dict(value=0.5, our_value=0.25, tolerance=1e-6, reason="query 7 was cut")
    >>> print(ParityReport((ParityRow.compare("trainer's log", "1.0", presets.yahoo(10), **given),)))
    parity fails: 1 different
    different: trainer's log 1.0: 0.5, ours 0.25, difference 0.25 (<= 1e-06)
        ndcg@10/gain=exp2/discount=log2/ideal=cutoff/ties=input/precision=float64/short=pad/empty=1/...
        query 7 was cut
    """

    rows: tuple[ParityRow, ...]
    unmet: str = ""

    @property
    def ok(self) -> bool:
        """Whether something was compared, nothing differs, and nothing that was required is missing."""
        compared = [row.verdict for row in self.rows if row.verdict != "not-comparable"]
        return bool(compared) and "different" not in compared and not self.unmet

    @property
    def summary(self) -> str:
        """One line of outcome."""
        found = [row.verdict for row in self.rows]
        counts = ", ".join(f"{found.count(verdict)} {verdict}" for verdict in dict.fromkeys(found)) or "no rows"
        return f"parity {'holds' if self.ok else 'fails'}: {counts}" + (f"; {self.unmet}" if self.unmet else "")

    def __str__(self) -> str:
        """Write one line of outcome, then the rows."""
        return "\n".join([self.summary, *map(str, self.rows)])

    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON types."""
        return {"ok": self.ok, "unmet": self.unmet, "rows": [row.to_dict() for row in self.rows]}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ParityReport:
        """Read what `to_dict` gave."""
        return cls(tuple(map(ParityRow.from_dict, data["rows"])), data["unmet"])

    def to_json(self) -> str:
        """Write `to_dict` as text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def to_markdown(self) -> str:
        """Write the outcome, a table of the rows, and what a reader must know of each."""
        table = ["| " + " | ".join(COLUMNS) + " |", "|" + " --- |" * len(COLUMNS)]
        table += ["| " + " | ".join(map(_for_markdown, _cells(row))) + " |" for row in self.rows]
        said = [f"`{row.signature}`" if row.signature else UNDECLARED for row in self.rows]
        lines = ["".join(f"  \n   {_for_markdown(line)}" for line in _details(row)) for row in self.rows]
        notes = [f"{place}. {head}{below}" for place, (head, below) in enumerate(zip(said, lines, strict=True), 1)]
        return "\n".join([f"**{_for_markdown(self.summary)}**", "", *table, "", *notes])

    def to_html(self) -> str:
        """Write the same as `to_markdown` for a notebook or a page; no script, no style sheet."""
        head = "".join(f'<th scope="col">{name}</th>' for name in COLUMNS)
        body = "".join(f"<tr>{''.join(f'<td>{html.escape(c)}</td>' for c in _cells(row))}</tr>" for row in self.rows)
        said = [[row.signature or UNDECLARED, *map(html.escape, _details(row))] for row in self.rows]
        notes = "".join(
            f"<li><code>{head}</code>{''.join(f'<br>{line}' for line in lines)}</li>" for head, *lines in said
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if self.rows else ""
        return f"<div><p><strong>{html.escape(self.summary)}</strong></p>{table}<ol>{notes}</ol></div>"

    def _repr_html_(self) -> str:
        return self.to_html()

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def raise_if_failed(self) -> None:
        """Turn a report that is not `ok` into an exception.

        Raises
        ------
        ParityError
            Its message is the report.
        """
        __tracebackhide__ = True  # so that pytest shows the line that asked
        if not self.ok:
            raise ParityError(str(self))

    def differences(self) -> ParityRow:
        """Give the row whose difference is known query by query: the first that differs, else the first at all.

        Raises
        ------
        InputError
            No row has such a difference: the numbers agree, or nothing but means is known.
        """
        known = [row for row in self.rows if row.per_query is not None]
        for row in sorted(known, key=lambda row: row.verdict != "different"):
            return row
        msg = "no row of this report has differences by query.\nHint: they are kept where numbers do not agree."
        raise InputError(msg)

    def plot(self, *, n: int = 20, ax: Any = None) -> Any:
        """Draw what the queries contribute to the difference of `differences()`, the largest first.

        Parameters
        ----------
        n : int
            Queries shown at most.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        InputError
            No row has differences by query, or `n` is not a number of queries.
        MissingToolkitError
            matplotlib is not installed.
        """
        from rankadapters.plotting.parity import contributions

        if not is_whole(n) or n < 1:
            msg = f"n={n!r:.60}; allowed are whole numbers from 1 on.\nHint: n=20."
            raise InputError(msg)
        row = self.differences()
        found = row.per_query.largest(n) if row.per_query else []
        bars = [(str(name), part) for name, _, _, part in found]
        return contributions(bars, title=f"{row.source} {row.version} less ours", ax=ax)


def rendered(summary: str, reports: list[tuple[str, ParityReport]], form: str) -> str:
    """Write several reports, each under its name, in one of `FORMS`."""
    if form not in FORMS:
        msg = f"{form!r} is not a form of a report; allowed are {choices(FORMS)}."
        raise InputError(msg)
    return "\n".join(FORMS[form](summary, reports)) + "\n"


Named = list[tuple[str, ParityReport]]


def _as_text(summary: str, reports: Named) -> Iterator[str]:
    yield summary
    for name, report in reports:
        yield f"\n{name}\n{report}"


def _as_markdown(summary: str, reports: Named) -> Iterator[str]:
    yield f"# Parity\n\n{summary}"
    for name, report in reports:
        yield f"\n## {_for_markdown(name)}\n\n{report.to_markdown()}"


def _as_html(summary: str, reports: Named) -> Iterator[str]:
    yield '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Parity</title></head><body>'
    yield f"<h1>Parity</h1><p>{html.escape(summary)}</p>"
    for name, report in reports:
        yield f"<h2>{html.escape(name)}</h2>{report.to_html()}"
    yield "</body></html>"


def _as_json(summary: str, reports: Named) -> Iterator[str]:
    found = [{"name": name, **report.to_dict()} for name, report in reports]
    whole = {"ok": all(report.ok for _, report in reports), "summary": summary, "reports": found}
    yield json.dumps(whole, indent=2, allow_nan=False)


FORMS: dict[str, Callable[[str, Named], Iterator[str]]] = {
    "txt": _as_text,
    "md": _as_markdown,
    "html": _as_html,
    "json": _as_json,
}


def _cells(row: ParityRow) -> list[str]:
    numbers = (row.value, row.our_value)
    shown = ["" if number is None else repr(number) for number in numbers]
    bounds = ["" if number is None else f"{number:.3g}" for number in (row.difference, row.tolerance)]
    return [row.verdict, row.source, row.version, *shown, *bounds]


def _details(row: ParityRow) -> list[str]:
    return [line.strip() for line in (*row.reason.splitlines(), *row.queries())]


def _for_markdown(text: str) -> str:
    """Keep what a table or a reader would take for markup as it is."""
    return "".join(f"\\{char}" if char in "\\|*_`<>[]" else char for char in text)
