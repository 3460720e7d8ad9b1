"""Fields that hold a number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, TypeGuard

from rankadapters.core.declaration.fields import NONE, Field
from rankadapters.core.declaration.spelling import as_float, as_number, as_whole, number
from rankadapters.core.errors import ConventionError, choices

LARGEST_CUTOFF = 2**63 - 1


@dataclass(frozen=True, kw_only=True)
class Cutoff(Field):
    """The last rank that counts, or None for all ranks."""

    type_name: ClassVar[str] = "int or None"

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        return "a whole number from 1 on, or None for all"

    def check(self, name: str, value: Any) -> int | None:
        """Return an int, or None."""
        del name
        return None if value is None else as_cutoff(value)

    def read(self, text: str) -> Any:
        """Return None for `all`, the number for digits, and any other text unchanged."""
        return None if text == NONE else _whole_or_text(text)


@dataclass(frozen=True, kw_only=True)
class NumberOrWord(Field):
    """A number within bounds, or one of a few words."""

    type_name: ClassVar[str] = "float or str"

    low: float
    high: float
    words: Mapping[str, str]
    number: str = "that value"  # what a number means, for docstrings

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        return choices((f"a number in [{number(self.low)}, {number(self.high)}]", *self.words))

    def check(self, name: str, value: Any) -> float | str:
        """Return a float or a word."""
        if isinstance(value, str) and value in self.words:
            return value
        numeric = as_float(value)
        if not self.low <= numeric <= self.high:
            raise self.refusal(name, value)
        return numeric + 0.0

    def read(self, text: str) -> Any:
        """Return the number, or the text if it is not a number."""
        parsed = as_number(text)
        return text if parsed is None else parsed

    def meanings(self) -> dict[str, str]:
        """Return the meaning of a number and of each word."""
        return {f"{number(self.low)} to {number(self.high)}": self.number, **self.words}


@dataclass(frozen=True, kw_only=True)
class FloatField(Field):
    """A finite number within bounds."""

    type_name: ClassVar[str] = "float"

    least: float
    most: float = math.inf
    strict: bool = False  # whether `least` itself is excluded

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        if self.most < math.inf:
            least = f"above {number(self.least)}, up" if self.strict else f"from {number(self.least)}"
            return f"numbers {least} to {number(self.most)}"
        return f"finite numbers {'above' if self.strict else 'from'} {number(self.least)}{'' if self.strict else ' on'}"

    def check(self, name: str, value: Any) -> float:
        """Return a float."""
        numeric = as_float(value)
        above = numeric > self.least if self.strict else numeric >= self.least
        if not (above and numeric <= self.most and math.isfinite(numeric)):
            msg = f"{name}={value!r}; allowed are {self.allowed}."
            raise ConventionError(msg)
        return numeric + 0.0

    def read(self, text: str) -> Any:
        """Return the number, or the text if it is not a number."""
        parsed = as_number(text)
        return text if parsed is None else parsed


@dataclass(frozen=True, kw_only=True)
class WholeField(Field):
    """A whole number within bounds, or None if None has a meaning."""

    type_name: ClassVar[str] = "int"

    least: int
    most: int | None = None
    none: str = ""  # the meaning of None; empty if None is not allowed

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        upto = " on" if self.most is None else f" to {self.most}"
        return f"whole numbers from {self.least}{upto}" + (f", or None for {self.none}" if self.none else "")

    def check(self, name: str, value: Any) -> int | None:
        """Return an int, or None."""
        if value is None and self.none:
            return None
        if not is_whole(value) or int(value) < self.least or (self.most is not None and int(value) > self.most):
            msg = f"{name}={value!r}; allowed are {self.allowed}."
            raise ConventionError(msg)
        return int(value)

    def read(self, text: str) -> Any:
        """Return None for `all`, the number for digits, and any other text unchanged."""
        return None if text == NONE else _whole_or_text(text)


def _whole_or_text(text: str) -> int | str:
    parsed = as_whole(text)
    return text if parsed is None else parsed


def as_cutoff(k: object) -> int:
    """Return a cutoff other than None as an int, or raise ConventionError."""
    if not is_whole(k) or not 1 <= int(k) <= LARGEST_CUTOFF:
        msg = f"k={k!r:.80} is not a cutoff; allowed are whole numbers from 1 on, or None for all rows, up to 2^63 - 1."
        raise ConventionError(msg, hint="k=10; several cutoffs are several conventions, [conv.at(5), conv.at(10)]")
    return int(k)


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a value is an integer of Python or numpy; a bool does not count."""
    return isinstance(value, Integral) and not isinstance(value, bool)
