"""What classes of the package share: properties that are computed when they are first read, and frozen values."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from functools import cached_property  # noqa: TID251 - its other part is what is wanted
from typing import Any, NoReturn, Self, TypeVar, overload

Class = TypeVar("Class", bound=type)
Value_co = TypeVar("Value_co", covariant=True)


class lazy_property(cached_property[Value_co]):  # noqa: N801 - a decorator, like `property`
    """A `cached_property` without a lock.

    On Python 3.11 `cached_property` holds one lock for all objects of a class, so that threads wait for each other and
    a process that is forked meanwhile waits for ever. Here two threads may compute a value at once; the first is kept.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Value_co: ...
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
        """Return the value, which `__dict__` holds from then on, so that Python does not call this again."""
        return self if instance is None else vars(instance).setdefault(str(self.attrname), self.func(instance))


def frozen_class(cls: Class) -> Class:
    """Let the objects of a class refuse any change.

    A frozen dataclass with slots needs this: `slots=True` creates the class twice, so that the methods that dataclass
    makes raise an unclear TypeError for names that are no fields.
    """
    cls.__setattr__ = cls.__delattr__ = _refuse_change  # type: ignore[assignment]
    return cls


def _refuse_change(value: object, name: str, *_: object) -> NoReturn:
    hint = getattr(value, "_changed_copy", "dataclasses.replace(...) returns a changed copy")
    msg = f"{type(value).__name__} is frozen, so {name!r} cannot be set or deleted."
    raise FrozenInstanceError(f"{msg}\nHint: {hint}.")
