"""What the options of presets change in a convention: data that is read in both directions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from types import NoneType
from typing import Any, Literal, TypedDict, Unpack, cast

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.number_fields import is_whole
from rankadapters.core.declaration.spelling import as_whole
from rankadapters.core.errors import ConventionError, choices
from rankadapters.core.measures.ranked import Empty, Graded, Missing, Precision, Short

ANY_WEIGHTS = dict.fromkeys(("query", "row", None))  # where a metric means the same with any


class Fields(TypedDict, total=False):
    """Fields of conventions, by name, as presets and options declare them."""

    k: int | None
    gain: str
    discount: str
    scale: float
    persistence: float
    relevant: str
    divisor: Literal["relevant", "cutoff", "found", "k", "retrieved", "one"]
    beta_squared: float
    pairs: str
    variant: Literal["b", "c"]
    complement: Literal["float64", "float32"]
    alpha: float
    beta: float
    ideal: Literal["cutoff", "retrieved", "all", "ones"]
    ties: Literal[
        "input", "reverse", "average", "worst", "best", "docid-descending", "docid-ascending", "together", "mean-rank"
    ]  # fmt: skip
    precision: Precision | Literal["none"]
    retrieve: str
    short: Short
    empty: Empty
    constant: float
    missing: Missing
    unjudged: Graded
    pool: Literal["queries", "pairs", "rows"]
    average: str


class Option(ABC):
    """What an option of presets changes."""

    @abstractmethod
    def changes(self, name: str, value: object) -> Fields | Convention:
        """Give the fields that a value changes, or the convention that it stands for."""

    @abstractmethod
    def near(self, convention: Any) -> Iterable[Any]:
        """Give the values to try where a convention is to be reached."""


Options = Mapping[str, Option]  # by the names of arguments


class Choice(Option):
    """An option that is one of some words, each with the fields that it changes.

    Parameters
    ----------
    words : mapping
        The words, which may be True, False and None too, and what each changes.
    near : callable, optional
        Finds the word that comes nearest to a convention; all of them are tried by default.
    """

    def __init__(self, words: Mapping[Any, Fields | Convention], near: Callable[[Any], object] | None = None) -> None:
        self.words = words
        self._near = near

    def changes(self, name: str, value: object) -> Fields | Convention:
        """Look the fields of a word up."""
        changes: Fields | Convention = one_of(name, value, self.words)
        return changes

    def near(self, convention: Any) -> Iterable[Any]:
        """Give the nearest word, or all of them."""
        return self.words if self._near is None else (self._near(convention),)


class Computed(Option):
    """An option whose fields follow from its value.

    Parameters
    ----------
    changes : callable
        Makes the fields of the option's name and value.
    near : callable, optional
        Finds the values that come nearest to a convention; for tools that write conventions.
    """

    def __init__(
        self, changes: Callable[[str, Any], Fields], near: Callable[[Any], Iterable[Any]] = lambda _: ()
    ) -> None:
        self._changes = changes
        self._near = near

    def changes(self, name: str, value: object) -> Fields:
        """Make the fields of a value."""
        return self._changes(name, value)

    def near(self, convention: Any) -> Iterable[Any]:
        """Give the nearest values."""
        return self._near(convention)


def if_true(**fields: Unpack[Fields]) -> Choice:
    """Make an option of True and False where True changes fields."""
    return Choice({True: fields, False: {}})


def same_as(field: str) -> Computed:
    """Make an option that is a field under the tool's own name."""
    return Computed(lambda _, value: cast("Fields", {field: value}), lambda like: (getattr(like, field),))


def least_grade(field: str, form: str = "from_{}") -> Computed:
    """Make an option that is the least grade which is relevant, or which has a gain."""

    def changes(name: str, level: object) -> Fields:
        if not is_whole(level):
            msg = f"{name}={level!r}; allowed are whole numbers, the least grade that is relevant."
            raise ConventionError(msg)
        return cast("Fields", {field: form.format(level)})

    def near(convention: Any) -> tuple[int]:
        level = as_whole(str(getattr(convention, field, "")).removeprefix(form.format("")))
        return (1 if level is None else level,)

    return Computed(changes, near)


def one_of(name: str, value: object, allowed: Mapping[Any, Any]) -> Any:
    """Look an option up among the tool's words for it."""
    if not isinstance(value, (str, bool, NoneType)) or value not in allowed:
        msg = f"{name}={value!r}; allowed are {choices(allowed)}."
        raise ConventionError(msg)
    return allowed[value]


def flag(name: str, value: object) -> bool:
    """Check an option that is True or False."""
    return bool(one_of(name, value, {True: True, False: False}))
