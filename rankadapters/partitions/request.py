"""The request to evaluate a frame: conventions, the names of columns, and how queries are split over partitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Required, Self, TypedDict, get_args

from rankadapters.core.declaration.arguments import choice
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, UnsupportedConventionError
from rankadapters.evaluation.assignment import segments_by_id
from rankadapters.partitions.rows import Names
from rankadapters.presets.texts import as_conventions

Partitions = Literal["whole", "shuffle"]
TIES_BY_ROW_ORDER = {"input", "reverse"}


class FrameKeywords(TypedDict, total=False):
    """Keywords of `evaluate` and `per_query`, for type checkers."""

    label: str
    score: str
    qid: str
    partitions: Required[Partitions]
    query_weight: str | None
    row_weight: str | None
    docid: str | None
    order: str | None


class SegmentKeywords(FrameKeywords):
    """Keywords of `evaluate` when it returns Segments."""

    by: Required[object]


def as_partitions(partitions: object) -> str:
    """Check how the partitions hold the queries."""
    hint = "'shuffle' works for every frame; 'whole' moves no rows, but each query must be in one partition"
    return choice("partitions", partitions, get_args(Partitions), hint=hint)


@dataclass(frozen=True, kw_only=True)
class FrameRequest:
    """The checked arguments of a call of `evaluate` or `per_query`, which are sent to every worker.

    Attributes
    ----------
    conventions : tuple of Convention
        The requested conventions; they may repeat.
    is_one : bool
        Whether the caller gave a single convention, not an iterable.
    names : Names
        Names of the columns.
    partitions : str
        How the partitions hold the queries: `whole` or `shuffle`.
    by : dict or None
        Segment of each query by its id; None if there are no segments or they are a column.
    """

    conventions: tuple[Convention, ...]
    is_one: bool
    names: Names
    partitions: str
    by: Mapping[Any, Any] | None

    @classmethod
    def of(
        cls,
        convention: Convention | str | Iterable[Convention | str],
        partitions: object,
        names: Names,
        by: object = None,
    ) -> Self:
        """Check the arguments of a call; `by` may be a mapping of query ids to segments.

        Raises
        ------
        ConventionError
            A convention is invalid.
        UnsupportedConventionError
            A convention pools all rows, or takes given pairs of rows, which a frame does not hold.
        InputError
            A convention needs a column that was not named, or an argument is not allowed.
        """
        is_one = isinstance(convention, (Convention, str))
        conventions = tuple(as_conventions([convention] if is_one else convention))
        refuse_pooled(conventions)
        for checked in conventions:
            _refuse_unfit(checked, names)
        return cls(
            conventions=conventions, is_one=is_one, names=names, partitions=as_partitions(partitions),
            by=segments_by_id(by) if isinstance(by, Mapping) else None,
        )  # fmt: skip

    def without_repeats(self) -> Self:
        """Return the request without repeated conventions, for a table with one column per name."""
        return replace(self, conventions=tuple({c.name: c for c in self.conventions}.values()))

    @property
    def has_segments(self) -> bool:
        """Whether the queries are divided into segments."""
        return self.by is not None or self.names.by is not None


def refuse_pooled(conventions: Iterable[Convention]) -> None:
    """Raise an error if a convention takes all rows as one query, so that parts of the rows cannot be added up."""
    for convention in conventions:
        if convention.over == "rows":
            msg = f"{convention.name} takes all rows as one query (pool='rows'), so parts cannot be added."
            raise UnsupportedConventionError(msg, hint="ra.evaluate, which holds all rows in memory, or pool='queries'")


def _refuse_unfit(convention: Convention, names: Names) -> None:
    if convention.get("pairs") == "given":
        msg = f"{convention.name} takes given pairs of rows, but rows of a cluster have no numbers for them."
        raise UnsupportedConventionError(f"{msg}\nHint: pairs='label', or ra.evaluate(pairs=) in one process.")
    ties = convention.get("ties")
    if ties in TIES_BY_ROW_ORDER and names.order is None:
        msg = f"{convention.name} breaks ties by row order (ties={ties!r}), but rows of a cluster have no order."
        hint = "order=, a column of numbers that sorts the rows of a query, or convention.replace(ties='average')"
        raise InputError(f"{msg}\nHint: {hint}.")
    if ties.startswith("docid") and names.docid is None:
        msg = f"{convention.name} breaks ties by document (ties={ties!r}), but docid= was not given."
        raise InputError(f"{msg}\nHint: docid=, a column of strings or integers.")
