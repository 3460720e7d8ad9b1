"""What is asked of a frame: conventions, the columns they are computed from, and how its partitions hold queries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from textwrap import indent
from typing import Any, Literal, Required, Self, TypedDict, TypeVar, get_args

from rankadapters.core.declaration.arguments import choice, refusal, whole
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, UnsupportedConventionError, choices
from rankadapters.core.presets.texts import as_conventions
from rankadapters.segments.assignment import segments_by_id

IDS_UP_TO = 100_000_000  # queries: 800 MB of ids, which the process that asks sorts in half a minute

Partitions = Literal["whole", "sorted", "shuffle"]
PARTITIONS: tuple[str, ...] = get_args(Partitions)
BY_ROW_ORDER = {"input", "reverse"}

KEYWORDS = """\
label, score, qid : str
    Columns of labels, predicted scores and queries: finite numbers, of which float32 stays float32, and integers or
    strings.
partitions : str
    How the partitions hold the queries. `whole`: each query in one partition, which is checked by ids. `sorted`: the
    rows of each partition are sorted by qid, and no partition begins inside another, so that only the first and last
    query of each are cut; these are ranked in this process. `shuffle`: in any way; the rows are moved so that each
    query is in one partition.
query_weight : str, optional
    Column of query weights, equal within a query.
row_weight : str, optional
    Column of row weights.
docid : str, optional
    Column of document identifiers, strings or integers, unique within a query.
by : str or mapping, optional
    Column of the segment of each row, equal within a query: strings, numbers or bools. Or a mapping of every query's
    id to its segment.
order : str, optional
    Column of numbers or times that puts the rows of a query in order. `ties="input"` and `ties="reverse"` need it,
    for rows of a cluster have no order; for losses, it decides the last bit.
ids_up_to : int
    Queries up to which their ids are compared. Beyond it, that no query is in two partitions rests on the shuffle, or
    on the qids' ranges; `whole` then has nothing to rest on."""
RETURNS = """\
Score, mapping of Convention to Score, or Segments
    One Score under one convention; a mapping of Convention to Score under several, as `ra.evaluate` returns. With
    `by`, Segments: such a result for each segment and for all queries."""
RAISES = """\
InputError
    A query is cut (it is named), an entry is missing, an argument is not allowed, or as in `ra.evaluate`; rows are
    counted from 0 in the partition that the message names.
UnsupportedConventionError
    A convention is over all rows (`pool="rows"`), whose parts do not add up, or over given pairs."""

F = TypeVar("F", bound=Callable[..., Any])


class FrameKeywords(TypedDict, total=False):
    """Keywords of `evaluate` and `per_query` on every engine; `Asked.of` has their defaults."""

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
    """Keywords of `evaluate` where it returns Segments."""

    by: Required[str | Mapping[Any, Any]]


def frame_function(function: F) -> F:
    """Show the keywords of `Asked.of` in a function's signature, and what they mean in its docstring."""
    keywords = [each for each in signature(Asked.of).parameters.values() if each.kind is Parameter.KEYWORD_ONLY]
    if function.__name__ == "per_query":
        keywords = [each for each in keywords if each.name != "by"]
    own = signature(function)
    shown = own.replace(parameters=[*list(own.parameters.values())[:-1], *keywords])
    function.__signature__ = shown  # type: ignore[attr-defined]  # what `inspect.signature` gives first
    texts = {"KEYWORDS": KEYWORDS, "RETURNS": RETURNS, "RAISES": RAISES}
    for name, text in texts.items():
        function.__doc__ = (function.__doc__ or "").replace(f"    {{{name}}}", indent(text, "    "))
    return function


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Conventions, and which columns of a frame they are computed from; it travels to every worker.

    Attributes
    ----------
    conventions : tuple of Convention
        As asked for: two may be equal.
    is_one : bool
        Whether one convention was asked for, and not a sequence of them.
    columns : mapping of str to str
        Names of columns by role: `label`, `score`, `qid`, and, where named, `query_weight`, `row_weight`, `docid`,
        `order`.
    partitions : str
        How the partitions hold the queries: `whole`, `sorted`, or `shuffle`.
    ids_up_to : int
        Queries up to which their ids are compared.
    by : dict or None
        Segment of each query by its id; a column of segments is among `columns`.
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
        """Check what is asked of a frame with columns of these names.

        Raises
        ------
        ConventionError
            One of the conventions is not one.
        UnsupportedConventionError
            A convention is over all rows, or over given pairs, which a frame does not hold.
        InputError
            A column is missing, or one that a convention needs was not given; or an argument is not allowed.
        """
        is_one = isinstance(convention, (Convention, str))
        conventions = as_conventions([convention] if is_one else convention)
        columns = {"label": label, "score": score, "qid": qid}
        of_queries = segments_by_id(by) if isinstance(by, Mapping) else None
        segment = None if isinstance(by, Mapping) else by
        more = {"query_weight": query_weight, "row_weight": row_weight, "docid": docid, "by": segment, "order": order}
        columns |= {role: name for role, name in more.items() if name is not None}
        hint = "'shuffle' fits every frame; 'whole' moves no row, 'sorted' next to none"
        choice("partitions", partitions, PARTITIONS, hint=hint)
        ids_up_to = whole("ids_up_to", ids_up_to, least=0, hint=f"ids_up_to={IDS_UP_TO}, the default")
        _refuse_missing(columns, names)
        for each in conventions:
            _refuse_unfit(each, columns)
        return cls(
            conventions=tuple(conventions), is_one=is_one, columns=columns, partitions=partitions,
            ids_up_to=ids_up_to, by=of_queries,
        )  # fmt: skip

    def with_each_name_once(self) -> Self:
        """Return what is asked without repeated conventions, for a table with a column by each name.

        Raises
        ------
        InputError
            Segments are asked for, of which no query has a value.
        """
        if self.has_segments:
            raise InputError("by was given, but a value of a query has no segments.", hint="join the frame by qid")
        return replace(self, conventions=tuple({each.name: each for each in self.conventions}.values()))

    @property
    def has_segments(self) -> bool:
        """Whether the queries are segmented."""
        return self.by is not None or "by" in self.columns

    @property
    def names(self) -> list[str]:
        """Names of the columns, each once."""
        return list(dict.fromkeys(self.columns.values()))


def _refuse_missing(columns: Mapping[str, object], names: Collection[str]) -> None:
    for what, name in columns.items():
        if not isinstance(name, (str, int)):
            raise refusal(what, name, "names of columns")
        if name not in names:
            msg = f"{what}={name!r} is not a column of the frame, which has {choices(names)}."
            raise InputError(f"{msg}\nHint: the name of a column; an index becomes one by reset_index().")


def _refuse_unfit(convention: Convention, columns: Collection[str]) -> None:
    if convention.over == "rows":
        msg = f"{convention.name} is over all rows at once (pool='rows'), whose parts do not add up."
        hint = "pool='queries', or gather these columns in one process and call ra.evaluate"
        raise UnsupportedConventionError(f"{msg}\nHint: {hint}.")
    if getattr(convention, "pairs", None) == "given":
        msg = f"{convention.name} takes given pairs of rows, which have no numbers in a frame."
        raise UnsupportedConventionError(f"{msg}\nHint: pairs='label', or ra.evaluate(pairs=) in one process.")
    ties = getattr(convention, "ties", "")
    if ties in BY_ROW_ORDER and "order" not in columns:
        msg = f"{convention.name} breaks ties by the order of rows (ties={ties!r}), and rows of a cluster have none."
        hint = "order=, a column of numbers that sorts the rows of a query, or convention.replace(ties='average')"
        raise InputError(f"{msg}\nHint: {hint}.")
    if ties.startswith("docid") and "docid" not in columns:
        msg = f"{convention.name} breaks ties by document (ties={ties!r}), but docid= was not given."
        raise InputError(f"{msg}\nHint: docid=, a column of strings or integers.")
