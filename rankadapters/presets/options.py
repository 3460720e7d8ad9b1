"""Options of presets: each maps its value to fields of a convention, and a convention back to values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import Any

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import as_whole, is_whole
from rankadapters.core.errors import ConventionError, choices

ANY_WEIGHTS = dict.fromkeys(("query", "row", None))  # values of `weights` for a metric that ignores them

Fields = Mapping[str, Any]  # fields of conventions by name


@dataclass(frozen=True, slots=True)
class Option:
    """An option of presets.

    Attributes
    ----------
    changes : callable
        Returns the changed fields, or a whole convention to use instead of the preset's, given the option's name and
        its value.
    near : callable
        Returns the option's values that could give a convention; only tools that write conventions need it.
    words : mapping
        The changes by word, for an option with a few words.
    """

    changes: Callable[[str, Any], Fields | Convention]
    near: Callable[[Any], Iterable[Any]] = lambda _: ()
    words: Mapping[Any, Fields | Convention] = field(default_factory=dict)


Options = Mapping[str, Option]  # options by argument name


def choice(words: Mapping[Any, Fields | Convention], near: Callable[[Any], object] | None = None) -> Option:
    """Return an option with a few words, which may also be True, False or None, and the fields that each changes.

    `near` returns the word that comes nearest to a convention; by default, all words are tried.
    """
    return Option(
        lambda name, value: one_of(name, value, words),
        lambda convention: words if near is None else (near(convention),),
        words,
    )


def if_true(**fields: Any) -> Option:
    """Return an option that changes these fields if True, and nothing if False."""
    return choice({True: fields, False: {}})


def same_as(name: str) -> Option:
    """Return an option that sets a field to the option's value."""
    return Option(lambda _, value: {name: value}, lambda convention: (getattr(convention, name),))


def least_grade(name: str, form: str = "from_{}") -> Option:
    """Return an option for the lowest grade that is relevant or that has a gain."""

    def changes(option: str, level: object) -> Fields:
        if not is_whole(level):
            msg = f"{option}={level!r}; allowed are whole numbers, the lowest relevant grade."
            raise ConventionError(msg)
        return {name: form.format(level)}

    def near(convention: Any) -> tuple[int]:
        level = as_whole(str(getattr(convention, name, "")).removeprefix(form.format("")))
        return (1 if level is None else level,)

    return Option(changes, near)


def one_of(name: str, value: object, allowed: Mapping[Any, Any]) -> Any:
    """Return the entry of a value in a mapping, or raise ConventionError if the value is not allowed."""
    if not isinstance(value, (str, bool, NoneType)) or value not in allowed:
        msg = f"{name}={value!r}; allowed are {choices(allowed)}."
        raise ConventionError(msg)
    return allowed[value]


def flag(name: str, value: object) -> bool:
    """Return a bool, or raise ConventionError."""
    return bool(one_of(name, value, {True: True, False: False}))
