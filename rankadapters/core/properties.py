"""Properties that are computed when they are first read."""

from __future__ import annotations

from functools import cached_property  # noqa: TID251 - its other part is what is wanted
from typing import Any, Self, TypeVar, overload

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
