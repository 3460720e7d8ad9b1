"""What every objective is: a frozen value in which no field has a default, with a signature."""

from __future__ import annotations

import dataclasses
import math
import re
from abc import ABC, abstractmethod
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

from rankadapters.core.convention import Convention
from rankadapters.core.errors import ConventionError, choices
from rankadapters.core.fields import is_whole, number
from rankadapters.core.queries import Queries
from rankadapters.core.signature import parse as parse_convention

if TYPE_CHECKING:
    from rankadapters.core.gradients import Gradients

VERSION = 1

_SIGNATURE = re.compile(r"(?P<kind>[a-z-]+)(?P<fields>(/[a-z_]+=[^/]+)*)/v(?P<version>[0-9]+)(/(?P<convention>.+))?")

OBJECTIVES: dict[str, type[Objective]] = {}


class Objective(ABC):
    """What decides a gradient, all of it declared.

    Objectives compare and hash by their fields. `str(objective)` is the signature, and
    `ra.objectives.parse(str(objective)) == objective`.
    """

    __slots__ = ()

    kind: ClassVar[str]
    allowed: ClassVar[dict[str, str]]  # what each field may be, for messages

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Let `parse` find the class by its kind."""
        super().__init_subclass__(**kwargs)
        if "kind" in cls.__dict__:
            OBJECTIVES[cls.kind] = cls

    def __new__(cls, *args: object, **fields: object) -> Self:
        """Refuse an incomplete declaration with the choices of what is left out."""
        names = [f.name for f in dataclasses.fields(cls)]  # type: ignore[arg-type]
        unknown, missing = set(fields) - set(names), [name for name in names if name not in fields]
        if unknown:
            msg = f"{cls.__name__} has no field {min(unknown)!r}; its fields are {choices(names)}."
            raise ConventionError(msg)
        if args:
            msg = f"{cls.__name__} takes its fields as keywords: {choices(names)}."
            raise ConventionError(msg)
        if missing:
            lines = "\n".join(f"  {name}: {cls.allowed[name]}" for name in missing)
            msg = (
                f"{cls.__name__} needs every field declared; left out:\n{lines}\n"
                "Hint: start from a preset, ra.objectives.lightgbm_lambdarank().replace(...)."
            )
            raise ConventionError(msg)
        return object.__new__(cls)

    @abstractmethod
    def bind(self, queries: Queries, *, n_threads: int | None = None, state: Any = None) -> Gradients:
        """Prepare for queries; `state` goes on where an earlier binding to the same queries left off."""

    @property
    def uses_weights(self) -> bool:
        """Whether the weights of a dataset multiply the gradients."""
        return True

    @property
    def refuses_negative_labels(self) -> bool:
        """Whether labels below 0 have no meaning."""
        return False

    def to_dict(self) -> dict[str, Any]:
        """Give the fields and their values in the order of the signature."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]

    def replace(self, **fields: object) -> Self:
        """Return the objective with some fields changed."""
        return type(self)(**{**self.to_dict(), **fields})

    def __str__(self) -> str:
        """Write the signature; a convention stands at its end, as it writes itself."""
        fields = self.to_dict()
        convention = fields.pop("convention", None)
        parts = [self.kind, *(f"{name}={_text(value)}" for name, value in fields.items()), f"v{VERSION}"]
        return "/".join(parts if convention is None else [*parts, str(convention)])

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the fields, so that a copy is validated like the original."""
        return _restore, (type(self), self.to_dict())


def parse(signature: str) -> Objective:
    """Read an objective back from its signature; `parse(str(objective)) == objective`.

    Raises
    ------
    ConventionError
        The signature is truncated, misspells a field, or has an unknown kind or version.

    Examples
    --------
    >>> from rankadapters import objectives
    >>> parse(str(objectives.lightgbm_lambdarank())) == objectives.lightgbm_lambdarank()
    True
    """
    match = _SIGNATURE.fullmatch(str(signature))
    kind = OBJECTIVES.get(match["kind"]) if match else None
    if match is None or kind is None or (match["convention"] and "convention" not in kind.allowed):
        msg = f"{signature!r} is no objective's signature.\nHint: str(objective); the kinds are {choices(OBJECTIVES)}."
        raise ConventionError(msg)
    if match["version"] != str(VERSION):
        found = f"{signature!r} has version 'v{match['version']}'"
        msg = f"{found}; this rankadapters knows 'v{VERSION}'.\nHint: upgrade it."
        raise ConventionError(msg)
    pairs = [part.partition("=") for part in match["fields"].split("/")[1:]]
    fields: dict[str, Any] = {name: _value(text) for name, _, text in pairs}
    if match["convention"]:
        fields["convention"] = parse_convention(match["convention"])
    objective = kind(**fields)
    if str(objective) != signature:
        msg = f"{signature!r} is not how an objective writes itself.\nHint: {str(objective)!r}."
        raise ConventionError(msg)
    return objective


def as_positive(name: str, value: object) -> float:
    """Check a finite number above 0."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < math.inf:
        msg = f"{name}={value!r}; allowed are finite numbers above 0."
        raise ConventionError(msg)
    return float(value)


def as_share(name: str, value: object) -> float:
    """Check a number from 0 to 1."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) <= 1:
        msg = f"{name}={value!r}; allowed are numbers from 0 to 1."
        raise ConventionError(msg)
    return float(value)


def as_count(name: str, value: object, *, least: int = 1, none: str | None = None) -> int | None:
    """Check a whole number, or None where that means something."""
    if value is None and none is not None:
        return None
    if not is_whole(value) or int(value) < least:  # type: ignore[call-overload]
        otherwise = "" if none is None else f", or None for {none}"
        msg = f"{name}={value!r}; allowed are whole numbers from {least} on{otherwise}."
        raise ConventionError(msg)
    return int(value)  # type: ignore[call-overload, no-any-return]


def as_choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Check one of a few words."""
    if not isinstance(value, str) or value not in allowed:
        msg = f"{name}={value!r} is not a choice; allowed are {choices(allowed)}."
        raise ConventionError(msg)


def require_objective(value: object) -> Objective:
    """Check that a callback was given an objective."""
    if not isinstance(value, Objective):
        hint = "ra.objectives.lightgbm_lambdarank()"
        if isinstance(value, Convention):
            hint = "lambdarank(convention, truncation=30) makes an objective of a convention"
        msg = f"{value!s:.80} is no objective.\nHint: {hint}."
        raise ConventionError(msg)
    return value


def _restore(cls: type[Objective], fields: dict[str, Any]) -> Objective:
    return cls(**fields)


def _text(value: object) -> str:
    if value is None:
        return "all"
    return number(value) if isinstance(value, float) else str(value)


def _value(text: str) -> object:
    if text == "all":
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text
