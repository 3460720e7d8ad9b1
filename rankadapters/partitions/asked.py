"""What is asked of a frame: conventions, the columns they are computed from, and how its partitions hold queries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, Required, Self, TypedDict, get_args

from rankadapters.core.declaration.arguments import choice, whole
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, UnsupportedConventionError, choices
from rankadapters.core.presets.texts import as_conventions

IDS_UP_TO = 100_000_000  # queries: 800 MB of ids, which the process that asks sorts in half a minute

Partitions = Literal["whole", "sorted", "shuffle"]
PARTITIONS: tuple[str, ...] = get_args(Partitions)
BY_ROW_ORDER = {"input", "reverse"}


class FrameKeywords(TypedDict, total=False):
    """Keywords of `evaluate` on every engine."""

    label: str
    score: str
    qid: str
    partitions: Required[Partitions]
    query_weight: str | None
    row_weight: str | None
    docid: str | None
    order: str | None
    ids_up_to: int


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Conventions, and which columns of a frame they are computed from; it travels to every worker.

    Attributes
    ----------
    conventions : tuple of Convention
        As asked for: two may be equal.
    columns : mapping of str to str
        Names of columns by role: `label`, `score`, `qid`, and, where named, `query_weight`, `row_weight`, `docid`,
        `order`.
    partitions : str
        How the partitions hold the queries: `whole`, `sorted`, or `shuffle`.
    ids_up_to : int
        Queries up to which their ids are compared.
    """

    conventions: tuple[Convention, ...]
    columns: Mapping[str, str]
    partitions: str
    ids_up_to: int

    @classmethod
    def of(
        cls,
        convention: Convention | str | Iterable[Convention | str],
        names: Collection[str],
        *,
        partitions: str,
        ids_up_to: int,
        **columns: str | None,
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
        conventions = as_conventions([convention] if isinstance(convention, (Convention, str)) else convention)
        given = {what: name for what, name in columns.items() if name is not None}
        hint = "'shuffle' fits every frame; 'whole' moves no row, 'sorted' next to none"
        partitions = choice("partitions", partitions, PARTITIONS, hint=hint)
        ids_up_to = whole("ids_up_to", ids_up_to, least=0, hint=f"ids_up_to={IDS_UP_TO}, the default")
        _refuse_missing(given, names)
        for each in conventions:
            _refuse_unfit(each, given)
        return cls(conventions=tuple(conventions), columns=given, partitions=partitions, ids_up_to=ids_up_to)

    def with_each_name_once(self) -> Self:
        """Return what is asked without repeated conventions, for a table with a column by each name."""
        return replace(self, conventions=tuple({each.name: each for each in self.conventions}.values()))

    @property
    def names(self) -> list[str]:
        """Names of the columns, each once."""
        return list(dict.fromkeys(self.columns.values()))


def _refuse_missing(columns: Mapping[str, object], names: Collection[str]) -> None:
    for what, name in columns.items():
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
