"""The class Segments: the scores of segments as a mapping, a table, a DataFrame and a plot."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Any, TypeVar

import numpy as np

from rankadapters.core.classes import lazy_property
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import NotAskedError, choices
from rankadapters.evaluation.assignment import segment_value
from rankadapters.evaluation.score import Scores, Shape, frame_row, renamed, signatures
from rankadapters.evaluation.segment_sums import Outcome
from rankadapters.evaluation.table import Cell, Table, Written, distinct_decimals
from rankadapters.presets.texts import parse

Result = TypeVar("Result")  # the return type of `ra.evaluate` without `by`
ByModel = Mapping[Any, Mapping[Any, Mapping[Convention, Outcome]]]  # keys: model, segment, convention

_CONFIDENCE = 0.95
# Student's t at 0.975 with 1 to 10 degrees of freedom; above 10, `_student` is accurate to 5 digits.
_FEW_DEGREES = (12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139)


class Segments(Mapping[Any, Result], Written):
    """The result of `ra.evaluate(..., by=)`: the scores of each segment of queries, and of all queries as `all`.

    Segments are sorted by value, regardless of their order in the data: numbers first, then the other types. The result
    of a segment is bit for bit the same as `ra.evaluate` of its queries alone.

    Attributes
    ----------
    all : Score or mapping
        The result of `ra.evaluate` for all queries.

    Examples
    --------
    >>> import rankadapters as ra
    >>> country = ["se", "se", "no", "no"]
    >>> scores = ra.evaluate([1, 0, 1, 0], [2, 1, 1, 2], "textbook@2", qid=[1, 1, 2, 2], by=country)
    >>> [(segment, round(score.value, 3)) for segment, score in scores.items()], round(scores.all.value, 3)
    ([('no', 0.631), ('se', 1.0)], 0.815)
    >>> print(scores)
    Segments, intervals of 95 %
    segment  name              value  queries  scored  empty  short     low    high
    no       ndcg@2/textbook  0.6309        1       1      0      0       -       -
    se       ndcg@2/textbook  1.0000        1       1      0      0       -       -
    all      ndcg@2/textbook  0.8155        2       2      0      0  0.0000  1.0000
    """

    def __init__(self, shape: Shape, by_model: ByModel) -> None:
        self._shape, self._by_model = shape, by_model
        results: dict[Any, Result] = {}
        for segment in next(iter(by_model.values())):
            outcomes = {model: by_segment[segment] for model, by_segment in by_model.items()}
            scores = {
                model: Scores((key, renamed(outcome_of[key].score, key)) for key in shape.conventions)
                for model, outcome_of in outcomes.items()
            }
            results[segment] = shape.results(scores)
        self.all = results.pop(None)
        self._by_segment = results

    def __getitem__(self, segment: Any) -> Result:
        """Return the result of a segment."""
        try:
            return self._by_segment[segment_value(segment)]
        except (KeyError, TypeError):
            msg = f"there is no segment {segment!r}."
            raise NotAskedError(msg, hint=f"the segments are {choices(self)}; .all is all queries") from None

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the segments in order."""
        return iter(self._by_segment)

    def __len__(self) -> int:
        """Return the number of segments."""
        return len(self._by_segment)

    def __repr__(self) -> str:
        """Show the result of each segment and of all queries."""
        return f"Segments({self._by_segment!r}, all={self.all!r})"

    @lazy_property
    def _rows(self) -> list[dict[str, Any]]:
        return list(_rows_of(self._shape, self._by_model))

    def blocks(self) -> list[str | Table]:
        """Return a table with a row for each segment, convention and model, and the signatures."""
        return [table_of(self._rows), signatures(self._shape.conventions)]

    def to_dict(self) -> dict[str, Any]:
        """Return the rows of `to_frame` as plain JSON types, with None if there is no interval."""
        return {"confidence": _CONFIDENCE, "segments": plain(self._rows)}

    def to_frame(self) -> Any:
        """Return a pandas DataFrame: a row for each segment, convention and model, then rows for all queries.

        Its columns are `segment` (missing for all queries), `name`, `signature`, `model` if there is more than one,
        `value`, the counts of a Score, `standard_error`, `low` and `high`. The last two are the ends of the 95 %
        interval: value -+ t times standard error, with Student's t for `n_scored - 1` degrees of freedom, cut at the
        limits of the measure, such as 0 and 1. They are NaN for fewer than two scored queries and for conventions over
        all rows.

        Raises
        ------
        MissingToolkitError
            pandas is not installed.
        """
        return segment_column(super().to_frame(), [row["segment"] for row in self._rows])

    def _frame_rows(self) -> list[dict[str, Any]]:
        return self._rows

    def plot(self) -> Any:
        """Return a matplotlib Figure of each segment's value and interval, with a line at the value over all queries.

        Raises
        ------
        MissingToolkitError
            matplotlib is not installed.
        """
        from rankadapters.plotting.plots import Interval, intervals

        rows = [row for row in self._rows if row["segment"] is not None] or self._rows
        whole = [row["value"] for row in self._rows if row["segment"] is None]
        names = [name for name in ("model", "name") if len({row.get(name) for row in rows}) > 1]
        lines = [
            Interval(
                ", ".join(str(row[name]) for name in ("segment", *names)),
                row["value"], row["low"], row["high"], str(row.get("model", "")),
            )
            for row in rows
        ]  # fmt: skip
        x_name = "value" if "name" in names else rows[0]["name"]
        reference = whole[0] if len(whole) == 1 else None
        return intervals(lines, f"{x_name}, 95 % interval", "Values of segments", reference=reference)


def segment_column(frame: Any, segments: list[Any]) -> Any:
    """Return the data frame with its column `segment`, in which integers stay integers next to None."""
    if any(isinstance(segment, int) for segment in segments):  # pandas makes floats of integers and None
        frame["segment"] = np.fromiter(segments, object, len(segments))
    return frame


def exact_segment(segment: Any) -> Any:
    """Return a segment as results show it."""
    return float(segment) if isinstance(segment, Fraction) else segment


def name_of_all(segments: Iterable[Any]) -> str:
    """Return the name of all queries, which none of the segments has: `all`, or `all queries`."""
    names, total = set(map(str, segments)), "all"
    while total in names:
        total += " queries"
    return total


def _rows_of(shape: Shape, by_model: ByModel) -> Iterator[dict[str, Any]]:
    """Yield a row for each segment, convention and model; the rows of all queries come last."""
    for segment in next(iter(by_model.values())):
        for convention in shape.conventions:
            for model, by_segment in by_model.items():
                score, error = by_segment[segment][convention]
                low, high = _interval(convention, score.value, error, score.n_scored)
                yield {
                    "segment": exact_segment(segment),
                    **frame_row(score, convention, **shape.model(model)),
                    "standard_error": error, "low": low, "high": high,
                }  # fmt: skip


def plain(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with only JSON types; NaN becomes None."""
    kinds = (str, int, float, bool, type(None))
    return [
        {k: None if v != v else v if isinstance(v, kinds) else str(v) for k, v in row.items()}  # noqa: PLR0124 - NaN
        for row in rows
    ]


def table_of(rows: Sequence[dict[str, Any]], decimals: int | None = None) -> Table:
    """Return the rows as a table; by default, its numbers have as many decimals as tell models of a segment apart."""
    columns = [column for column in rows[0] if column not in {"signature", "standard_error"}]
    contests: dict[Any, list[float]] = {}
    for row in rows:
        contests.setdefault((row["segment"], row["signature"]), []).append(row["value"])
    form = f"{{:.{max(map(distinct_decimals, contests.values())) if decimals is None else decimals}f}}"
    conventions = {signature: parse(signature) for signature in dict.fromkeys(row["signature"] for row in rows)}
    lines, total = [], name_of_all(row["segment"] for row in rows)
    for row in rows:
        contest = (row["segment"], row["signature"]) if "model" in row else None
        value = Cell(form, row["value"], contest=contest, worth=conventions[row["signature"]].worth(row["value"]))
        ends = {end: _number(row[end], form) for end in ("low", "high")}
        line = {**row, "segment": total if row["segment"] is None else row["segment"], "value": value, **ends}
        lines.append([cell if isinstance(cell := line[name], str) else str(cell) for name in columns])
    return Table.of("Segments, intervals of 95 %", [column.removeprefix("n_") for column in columns], lines)


def _number(value: float | None, form: str) -> str:
    return "-" if value is None or math.isnan(value) else Cell(form, value)


def _interval(convention: Convention, value: float, error: float, n_scored: int) -> tuple[float, float]:
    """Return the ends of the interval, cut at the limits of the queries' values; NaN if there is none."""
    half = _student(n_scored - 1) * error if n_scored > 1 else math.nan
    if math.isnan(half):
        return math.nan, math.nan
    least, most = convention.limits_of_queries()  # weights may take a value beyond them, which is then an end
    return min(value, max(least, value - half)), max(value, min(most, value + half))


def _student(degrees: int) -> float:
    """Return Student's t at 0.975: from a table up to 10 degrees, then by Abramowitz & Stegun 26.7.5."""
    if degrees <= len(_FEW_DEGREES):
        return _FEW_DEGREES[degrees - 1]
    z = NormalDist().inv_cdf((1 + _CONFIDENCE) / 2)
    terms = (
        z, (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )  # fmt: skip
    return math.fsum(term / degrees**power for power, term in enumerate(terms))
