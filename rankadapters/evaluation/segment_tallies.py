"""The class SegmentTallies: sums of models under conventions by segment, which merge and keep what intervals need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rankadapters.core.declaration.arguments import members
from rankadapters.core.errors import IncomparableScoresError, InputError, RankAdaptersError
from rankadapters.evaluation.assignment import Segment, text_of
from rankadapters.evaluation.score import Shape
from rankadapters.evaluation.segment_sums import Segmented, merged, outcomes
from rankadapters.evaluation.segments import Segments
from rankadapters.evaluation.tally import Ids, Tally, as_ids, as_text, from_text, merged_ids
from rankadapters.presets.texts import as_convention


class SegmentTallies:
    """Exact sums over some queries, such as those of an hour, by segment; made by `ra.tally_table`.

    Tallies of disjoint queries merge in any order, and the result is bit for bit that of all their queries at once.

    Attributes
    ----------
    ids : uint64 array, shape (n_queries,)
        A hash of each query's id, of 8 bytes, to detect a query that is in two tallies.

    Examples
    --------
    >>> import rankadapters as ra
    >>> hours = [{"qid": [h, h], "label": [1, 0], "score": [h % 2, 0.5], "market": ["se", "se"]} for h in range(24)]
    >>> day = ra.SegmentTallies.merge(ra.tally_table(hour, "textbook@1", by="market") for hour in hours)
    >>> print(ra.SegmentTallies.from_dict(day.to_dict()).result())
    Segments, intervals of 95 %
    segment  name              value  queries  scored  empty  short     low    high
    se       ndcg@1/textbook  0.5000       24      24      0      0  0.2843  0.7157
    all      ndcg@1/textbook  0.5000       24      24      0      0  0.2843  0.7157
    """

    def __init__(self, shape: Shape, sums: Mapping[str, Segmented], ids: Ids) -> None:
        self._shape, self._sums, self.ids = shape, sums, ids

    def __repr__(self) -> str:
        """Show the numbers of queries and of segments."""
        return f"SegmentTallies({self.ids.size} queries, {len(next(iter(self._sums.values()))) - 1} segments)"

    @staticmethod
    def merge(tallies: Iterable[SegmentTallies]) -> SegmentTallies:
        """Merge tallies of disjoint queries, which may have different segments.

        Parameters
        ----------
        tallies : iterable of SegmentTallies
            At least one.

        Raises
        ------
        InputError
            There is no tally, an item is not a tally, or a query is in two of them.
        IncomparableScoresError
            The conventions or the models differ.
        """
        items = members(tallies) or []
        if not items or not all(isinstance(item, SegmentTallies) for item in items):
            raise InputError(f"tallies={items!r:.60}.", hint="SegmentTallies.merge([ra.tally_table(...), ...])")
        first = items[0]
        if any(item._shape != first._shape or list(item._sums) != list(first._sums) for item in items):  # noqa: SLF001
            raise IncomparableScoresError("tallies of different conventions or models do not add up.")
        sums = {name: merged(item._sums[name] for item in items) for name in first._sums}  # noqa: SLF001
        return SegmentTallies(first._shape, sums, merged_ids(items))  # noqa: SLF001

    def result(self) -> Segments[Any]:
        """Return what `ra.evaluate_table(..., by=)` returns for these queries: scores and intervals.

        Raises
        ------
        InputError
            A segment has nothing left to average.
        """
        conventions = self._shape.conventions
        return Segments(self._shape, {name: outcomes(sums, conventions) for name, sums in self._sums.items()})

    def to_dict(self) -> dict[str, Any]:
        """Return exact plain JSON types: 11 bytes for each query, and 4 kB for each segment, model and convention.

        A segment that is neither a text nor a number becomes its text.
        """
        sums = [
            {"model": model, "segment": _as_json(segment), "sums": as_text(limbs)}
            for model, by_segment in self._sums.items()
            for segment, limbs in by_segment.items()
        ]
        conventions = [{"name": c.name, "signature": str(c)} for c in self._shape.conventions]
        return {**self._shape._asdict(), "conventions": conventions, "tallies": sums, "ids": as_text(self.ids)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SegmentTallies:
        """Read what `to_dict` wrote.

        Raises
        ------
        InputError
            The data are something else.
        """
        try:
            conventions = [as_convention({each["name"]: each["signature"]}) for each in data["conventions"]]
            shape = Shape(conventions, data["one_convention"], data["one_model"])
            sums: dict[str, dict[Any, Any]] = {}
            for part in data["tallies"]:
                limbs = from_text(part["sums"], np.int64).reshape(len(conventions), -1)
                sums.setdefault(part["model"], {})[_segment(part["segment"])] = limbs
            tally = Tally.from_limbs(next(iter(sums.values()))[None][0, : Tally.N_LIMBS], conventions[0])
            return cls(shape, sums, as_ids(from_text(data["ids"], np.uint64), tally.n_queries))
        except RankAdaptersError:
            raise
        except (LookupError, StopIteration, TypeError, ValueError) as error:
            raise InputError(
                f"these are no tallies: {error!r}.", hint="what SegmentTallies.to_dict() returned"
            ) from None


def _as_json(segment: Any) -> Any:
    if isinstance(segment, Segment):
        return dict(zip(segment.columns, map(_as_json, segment), strict=True))
    return segment if isinstance(segment, (str, int, float, type(None))) else text_of(segment)


def _segment(value: Any) -> Any:
    return Segment(value, value.values()) if isinstance(value, dict) else value
