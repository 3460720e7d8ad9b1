"""Options of presets: each maps its value to fields of a convention, and a convention back to values."""

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

ANY_WEIGHTS = dict.fromkeys(("query", "row", None))  # values of `weights` for a metric that ignores them


class Fields(TypedDict, total=False):
    """Fields of conventions by name, as presets and options declare them."""

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
    """An option of presets, with the fields that each of its values changes."""

    @abstractmethod
    def changes(self, name: str, value: object) -> Fields | Convention:
        """Return the fields that a value changes, or a whole convention to use instead of the preset's."""

    @abstractmethod
    def near(self, convention: Any) -> Iterable[Any]:
        """Return the option's values that could give this convention."""


Options = Mapping[str, Option]  # options by argument name


class Choice(Option):
    """An option with a few possible words, each with the fields that it changes.

    Parameters
    ----------
    words : mapping
        The changed fields by word; a word may also be True, False or None.
    near : callable, optional
        Returns the word that comes nearest to a convention; by default, all words are tried.
    """

    def __init__(self, words: Mapping[Any, Fields | Convention], near: Callable[[Any], object] | None = None) -> None:
        self.words = words
        self._near = near

    def changes(self, name: str, value: object) -> Fields | Convention:
        """Return the fields that a word changes."""
        changes: Fields | Convention = one_of(name, value, self.words)
        return changes

    def near(self, convention: Any) -> Iterable[Any]:
        """Return the word nearest to the convention; all words if there is no function that chooses."""
        return self.words if self._near is None else (self._near(convention),)


class Computed(Option):
    """An option whose changed fields are computed from its value.

    Parameters
    ----------
    changes : callable
        Returns the changed fields, given the option's name and value.
    near : callable, optional
        Returns the values that come nearest to a convention; for tools that write conventions.
    """

    def __init__(
        self, changes: Callable[[str, Any], Fields], near: Callable[[Any], Iterable[Any]] = lambda _: ()
    ) -> None:
        self._changes = changes
        self._near = near

    def changes(self, name: str, value: object) -> Fields:
        """Return the fields that a value changes."""
        return self._changes(name, value)

    def near(self, convention: Any) -> Iterable[Any]:
        """Return the values nearest to the convention."""
        return self._near(convention)


def if_true(**fields: Unpack[Fields]) -> Choice:
    """Return an option that changes these fields if True, and nothing if False."""
    return Choice({True: fields, False: {}})


def same_as(field: str) -> Computed:
    """Return an option that sets a field to the option's value."""
    return Computed(lambda _, value: cast("Fields", {field: value}), lambda convention: (getattr(convention, field),))


def least_grade(field: str, form: str = "from_{}") -> Computed:
    """Return an option for the lowest grade that is relevant or that has a gain."""

    def changes(name: str, level: object) -> Fields:
        if not is_whole(level):
            msg = f"{name}={level!r}; allowed are whole numbers, the lowest relevant grade."
            raise ConventionError(msg)
        return cast("Fields", {field: form.format(level)})

    def near(convention: Any) -> tuple[int]:
        level = as_whole(str(getattr(convention, field, "")).removeprefix(form.format("")))
        return (1 if level is None else level,)

    return Computed(changes, near)


def one_of(name: str, value: object, allowed: Mapping[Any, Any]) -> Any:
    """Return the entry of a value in a mapping, or raise ConventionError if the value is not allowed."""
    if not isinstance(value, (str, bool, NoneType)) or value not in allowed:
        msg = f"{name}={value!r}; allowed are {choices(allowed)}."
        raise ConventionError(msg)
    return allowed[value]


def flag(name: str, value: object) -> bool:
    """Return a bool, or raise ConventionError."""
    return bool(one_of(name, value, {True: True, False: False}))
