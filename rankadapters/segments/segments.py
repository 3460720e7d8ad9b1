"""The scores of segments: a mapping, a table, a frame and a plot."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from statistics import NormalDist
from typing import Any, TypeVar

from rankadapters.core.data.ids import id_value
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import MissingToolkitError, NotAskedError, choices
from rankadapters.core.evaluation.score import COUNTS
from rankadapters.core.evaluation.scores import named_as, shape_results
from rankadapters.core.evaluation.table import Table
from rankadapters.segments.sums import Outcome

Found = TypeVar("Found")  # what `ra.evaluate` returns without `by`
ByModel = Mapping[Any, Mapping[Any, Mapping[Convention, Outcome]]]  # model, segment, convention

_CONFIDENCE = 0.95
_NUMBERS = ("value", "low", "high")
# Student's t at 0.975 with 1 to 10 degrees of freedom; beyond, `_student` is right to 5 digits.
_FEW_DEGREES = (12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139)


class Segments(Mapping[Any, Found]):
    """What each segment of the queries scores, and `all`: what all of them score; `ra.evaluate(..., by=)` returns it.

    Segments are in the order of their values, whatever the order of the data; numbers come first, then those of each
    other type. Each holds what `ra.evaluate` returns for exactly its queries, to the last bit.

    Attributes
    ----------
    all : Score or mapping
        What `ra.evaluate` returns for all queries.

    Examples
    --------
    >>> import rankadapters as ra
    >>> country = ["se", "se", "no", "no"]
    >>> scores = ra.evaluate([1, 0, 1, 0], [2, 1, 1, 2], "textbook@2", qid=[1, 1, 2, 2], by=country)
    >>> [(segment, round(score.value, 3)) for segment, score in scores.items()], round(scores.all.value, 3)
    ([('no', 0.631), ('se', 1.0)], 0.815)
    """

    def __init__(self, conventions: Sequence[Convention], found: ByModel, *, is_one: bool, one_model: bool) -> None:
        self._found = (conventions, found, one_model)
        results: dict[Any, Found] = {}
        for segment in next(iter(found.values())):
            outcomes = {model: by_segment[segment] for model, by_segment in found.items()}
            scores = {
                model: named_as(conventions, {convention: outcome.score for convention, outcome in several.items()})
                for model, several in outcomes.items()
            }
            results[segment] = shape_results(conventions, scores, is_one=is_one, one_model=one_model)
        self.all = results.pop(None)
        self._by_segment = results

    def __getitem__(self, segment: Any) -> Found:
        """Return what a segment scores."""
        try:
            return self._by_segment[id_value(segment)]
        except (KeyError, TypeError):
            msg = f"there is no segment {segment!r}."
            raise NotAskedError(msg, hint=f"the segments are {choices(self)}; .all is all queries") from None

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the segments in their order."""
        return iter(self._by_segment)

    def __len__(self) -> int:
        """Count the segments."""
        return len(self._by_segment)

    def __repr__(self) -> str:
        """Show what each segment scores, and all queries."""
        return f"Segments({self._by_segment!r}, all={self.all!r})"

    @cached_property
    def _rows(self) -> list[dict[str, Any]]:
        conventions, found, one_model = self._found
        return list(rows_of(conventions, found, one_model=one_model))

    def table(self) -> Table:
        """Return a line for each segment, convention and model, and those of all queries."""
        return table_of(self._rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types: the rows of `to_frame`, with None where there is no interval."""
        return {"confidence": _CONFIDENCE, "segments": plain(self._rows)}

    def to_frame(self) -> Any:
        """Return a pandas DataFrame: a row for each segment, convention and model, then those of all queries.

        Its columns are `segment` (None for all queries), `name`, `signature`, `model` where there
        are several, `value`, the counts of a Score, `standard_error`, and `low` and `high`: the ends of the interval
        value -+ t times standard error, with Student's t at 95 % for `n_scored - 1` degrees of freedom. Fewer than
        two scored queries, and conventions over all rows, have no interval: NaN.

        Raises
        ------
        MissingToolkitError
            pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingToolkitError.of("pandas", "frame") from None
        return pd.DataFrame(self._rows)

    def plot(self) -> Any:
        """Draw each value with its interval, beside a line at the value of all queries: a matplotlib Figure.

        Raises
        ------
        MissingToolkitError
            matplotlib is not installed.
        """
        from rankadapters.plotting.bars import Interval, intervals

        rows = [row for row in self._rows if row["segment"] is not None]
        whole = [row["value"] for row in self._rows if row["segment"] is None]
        names = [name for name in ("model", "name") if len({row.get(name) for row in rows}) > 1]
        lines = [
            Interval(", ".join(str(row[name]) for name in ("segment", *names)), row["value"], row["low"], row["high"])
            for row in rows
        ]
        x_name = "value" if "name" in names else rows[0]["name"]
        return intervals(lines, f"{x_name}, 95 % interval", reference=whole[0] if len(whole) == 1 else None)

    def _repr_html_(self) -> str:
        return self.table().html()

    def _repr_markdown_(self) -> str:
        return self.table().markdown()


def rows_of(conventions: Sequence[Convention], found: ByModel, *, one_model: bool) -> Iterator[dict[str, Any]]:
    """Yield the facts of each segment, convention and model, all queries last."""
    for segment in next(iter(found.values())):
        for convention in conventions:
            for model, by_segment in found.items():
                score, error = by_segment[segment][convention]
                half = _student(score.n_scored - 1) * error if score.n_scored > 1 else math.nan
                yield {
                    "segment": segment, "name": convention.name, "signature": str(convention),
                    **({} if one_model else {"model": model}), "value": score.value,
                    **{count: getattr(score, count) for count in COUNTS},
                    "standard_error": error, "low": score.value - half, "high": score.value + half,
                }  # fmt: skip


def plain(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows in plain JSON types."""
    kinds = (str, int, float, bool, type(None))
    return [
        {k: None if v != v else v if isinstance(v, kinds) else str(v) for k, v in row.items()}  # noqa: PLR0124 - NaN
        for row in rows
    ]


def table_of(rows: Sequence[dict[str, Any]], form: str = ".4f") -> Table:
    """Return a table of rows."""
    columns = [column for column in rows[0] if column not in {"signature", "standard_error"}]
    lines = []
    for row in rows:
        line = {**row, "segment": "all" if row["segment"] is None else row["segment"]}
        lines.append([_number(line[name], form) if name in _NUMBERS else str(line[name]) for name in columns])
    return Table.of("Segments, intervals of 95 %", [column.removeprefix("n_") for column in columns], lines)


def _number(value: float | None, form: str) -> str:
    return "-" if value is None or math.isnan(value) else format(value, form)


def _student(degrees: int) -> float:
    """Return Student's t at 0.975: by a table, and then by its expansion (Abramowitz & Stegun 26.7.5)."""
    if degrees <= len(_FEW_DEGREES):
        return _FEW_DEGREES[degrees - 1]
    z = NormalDist().inv_cdf((1 + _CONFIDENCE) / 2)
    terms = (
        z, (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )  # fmt: skip
    return math.fsum(term / degrees**power for power, term in enumerate(terms))
