"""The request to evaluate a frame: conventions, the names of columns, and how queries are split over partitions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from textwrap import indent
from typing import Any, Literal, Required, Self, TypedDict, TypeVar, get_args

from rankadapters.core.declaration.arguments import choice, refusal, whole
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, UnsupportedConventionError, choices
from rankadapters.presets.texts import as_conventions
from rankadapters.segments.assignment import segments_by_id

IDS_UP_TO = 100_000_000  # ids of this many queries take 800 MB, and sorting them takes half a minute

Partitions = Literal["whole", "sorted", "shuffle"]
PARTITIONS: tuple[str, ...] = get_args(Partitions)
TIES_BY_ROW_ORDER = {"input", "reverse"}

KEYWORDS = """\
label, score, qid : str
    Names of the columns of labels, predicted scores and query ids. Labels and scores are finite numbers; float32
    stays float32. Query ids are integers or strings.
partitions : str
    How the partitions hold the queries. `whole`: each query is in one partition, which is checked by comparing ids.
    `sorted`: each partition is sorted by qid, and the partitions' ranges of qid do not overlap, so only the first and
    the last query of a partition can be cut; these are ranked in the calling process. `shuffle`: in any way; the rows
    are moved so that each query is in one partition.
query_weight : str, optional
    Column of query weights, equal within a query.
row_weight : str, optional
    Column of row weights.
docid : str, optional
    Column of document identifiers, strings or integers, unique within a query.
by : str or mapping, optional
    Column with the segment of each row, equal within a query: strings, numbers or bools. Or a mapping of every query's
    id to its segment.
order : str, optional
    Column of numbers or times that orders the rows of a query. `ties="input"` and `ties="reverse"` need it, because
    rows of a cluster have no order; for losses, it decides the last bit.
ids_up_to : int
    Up to this number of queries, their ids are compared to check that no query is in two partitions. For more queries,
    `shuffle` and `sorted` need no ids, and `whole` raises an error."""
RETURNS = """\
Score, mapping of Convention to Score, or Segments
    A Score for one convention; a mapping of Convention to Score for an iterable, as `ra.evaluate` returns. With `by`,
    Segments: such a result for each segment and for all queries."""
RAISES = """\
InputError
    A query is cut, an entry is missing, an argument is not allowed, or `ra.evaluate` would raise it. The message names
    the query or the partition, and counts rows from 0 within the partition.
UnsupportedConventionError
    A convention pools all rows (`pool="rows"`), so partitions cannot be added up, or it takes given pairs of rows."""

F = TypeVar("F", bound=Callable[..., Any])


class FrameKeywords(TypedDict, total=False):
    """Keywords of `evaluate` and `per_query` on every engine; `FrameRequest.of` has their defaults."""

    label: str
    score: str
    qid: str
    partitions: Required[Partitions]
    query_weight: str | None
    row_weight: str | None
    docid: str | None
    order: str | None
    ids_up_to: int


class SegmentKeywords(FrameKeywords):
    """Keywords of `evaluate` when it returns Segments."""

    by: Required[str | Mapping[Any, Any]]


def frame_function(function: F) -> F:
    """Add the keywords of `FrameRequest.of` to a function's signature, and their descriptions to its docstring."""
    keywords = [p for p in signature(FrameRequest.of).parameters.values() if p.kind is Parameter.KEYWORD_ONLY]
    if function.__name__ == "per_query":
        keywords = [keyword for keyword in keywords if keyword.name != "by"]
    old = signature(function)
    shown = old.replace(parameters=[*list(old.parameters.values())[:-1], *keywords])
    function.__signature__ = shown  # type: ignore[attr-defined]  # `inspect.signature` returns it
    texts = {"KEYWORDS": KEYWORDS, "RETURNS": RETURNS, "RAISES": RAISES}
    for name, text in texts.items():
        function.__doc__ = (function.__doc__ or "").replace(f"    {{{name}}}", indent(text, "    "))
    return function


@dataclass(frozen=True, kw_only=True)
class FrameRequest:
    """The checked arguments of a call of `evaluate` or `per_query`, which are sent to every worker.

    Attributes
    ----------
    conventions : tuple of Convention
        The requested conventions; they may repeat.
    is_one : bool
        Whether the caller gave a single convention, not an iterable.
    columns : mapping of str to str
        Names of columns by role: `label`, `score`, `qid`, and optionally `query_weight`, `row_weight`, `docid`, `by`,
        `order`.
    partitions : str
        How the partitions hold the queries: `whole`, `sorted`, or `shuffle`.
    ids_up_to : int
        Maximum number of queries whose ids are compared.
    by : dict or None
        Segment of each query by its id; None if there are no segments or they are a column.
    """

    conventions: tuple[Convention, ...]
    is_one: bool
    columns: Mapping[str, str]
    partitions: str
    ids_up_to: int
    by: Mapping[Any, Any] | None

    @classmethod
    def of(
        cls,
        convention: Convention | str | Iterable[Convention | str],
        names: Collection[str],
        *,
        label: str = "label",
        score: str = "score",
        qid: str = "qid",
        partitions: Partitions,
        query_weight: str | None = None,
        row_weight: str | None = None,
        docid: str | None = None,
        by: str | Mapping[Any, Any] | None = None,
        order: str | None = None,
        ids_up_to: int = IDS_UP_TO,
    ) -> Self:
        """Check the arguments of a call; `names` are the columns of the frame.

        Raises
        ------
        ConventionError
            A convention is invalid.
        UnsupportedConventionError
            A convention pools all rows, or takes given pairs of rows, which a frame does not hold.
        InputError
            The frame lacks a column, a convention needs a column that was not named, or an argument is not allowed.
        """
        is_one = isinstance(convention, (Convention, str))
        conventions = as_conventions([convention] if is_one else convention)
        columns = {"label": label, "score": score, "qid": qid}
        segment_by_id = segments_by_id(by) if isinstance(by, Mapping) else None
        segment = None if isinstance(by, Mapping) else by
        more = {"query_weight": query_weight, "row_weight": row_weight, "docid": docid, "by": segment, "order": order}
        columns |= {role: name for role, name in more.items() if name is not None}
        hint = "'shuffle' works for every frame; 'whole' moves no rows, 'sorted' very few"
        choice("partitions", partitions, PARTITIONS, hint=hint)
        ids_up_to = whole("ids_up_to", ids_up_to, least=0, hint=f"ids_up_to={IDS_UP_TO}, the default")
        _refuse_missing(columns, names)
        for checked in conventions:
            _refuse_unfit(checked, columns)
        return cls(
            conventions=tuple(conventions), is_one=is_one, columns=columns, partitions=partitions,
            ids_up_to=ids_up_to, by=segment_by_id,
        )  # fmt: skip

    def without_repeats(self) -> Self:
        """Return the request without repeated conventions, for a table with one column per name.

        Raises
        ------
        InputError
            The request has segments, but a table of queries has none.
        """
        if self.has_segments:
            raise InputError("by was given, but per-query values have no segments.", hint="join the frame by qid")
        return replace(self, conventions=tuple({c.name: c for c in self.conventions}.values()))

    @property
    def has_segments(self) -> bool:
        """Whether the queries are divided into segments."""
        return self.by is not None or "by" in self.columns

    @property
    def names(self) -> list[str]:
        """The distinct names of the columns."""
        return list(dict.fromkeys(self.columns.values()))


def _refuse_missing(columns: Mapping[str, object], names: Collection[str]) -> None:
    for role, name in columns.items():
        if not isinstance(name, (str, int)):
            raise refusal(role, name, "names of columns")
        if name not in names:
            msg = f"{role}={name!r} is not a column of the frame, which has {choices(names)}."
            raise InputError(f"{msg}\nHint: give the name of a column; reset_index() turns an index into one.")


def _refuse_unfit(convention: Convention, columns: Collection[str]) -> None:
    if convention.over == "rows":
        msg = f"{convention.name} pools all rows (pool='rows'), so the results of partitions cannot be added up."
        hint = "pool='queries', or gather these columns in one process and call ra.evaluate"
        raise UnsupportedConventionError(f"{msg}\nHint: {hint}.")
    if getattr(convention, "pairs", None) == "given":
        msg = f"{convention.name} takes given pairs of rows, but rows of a cluster have no numbers to give pairs by."
        raise UnsupportedConventionError(f"{msg}\nHint: pairs='label', or ra.evaluate(pairs=) in one process.")
    ties = getattr(convention, "ties", "")
    if ties in TIES_BY_ROW_ORDER and "order" not in columns:
        msg = f"{convention.name} breaks ties by row order (ties={ties!r}), but rows of a cluster have no order."
        hint = "order=, a column of numbers that sorts the rows of a query, or convention.replace(ties='average')"
        raise InputError(f"{msg}\nHint: {hint}.")
    if ties.startswith("docid") and "docid" not in columns:
        msg = f"{convention.name} breaks ties by document (ties={ties!r}), but docid= was not given."
        raise InputError(f"{msg}\nHint: docid=, a column of strings or integers.")
