"""What a field of a declared value may hold: each kind of field checks, spells, reads and explains itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any, Literal, Self, get_args, get_origin

from rankadapters.core.errors import ConventionError, choices
from rankadapters.core.spelling import as_number, number, table

# Where a field stands in a signature: behind the measure's @, then by group, then behind the version.
GROUPS = ("head", "value", "ranking", "policy", "retrieval", "pool", "average", "tail")

LARGEST_CUTOFF = 2**63 - 1

NONE = "all"  # how a signature spells None

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Field:
    """What every field says of itself.

    Attributes
    ----------
    group : str
        One of `GROUPS`.
    about : str
        A sentence for the documentation.
    tried : tuple
        Values worth trying where a convention is searched for or a field is varied.
    rarity : int
        How rarely a tool's user changes it, from 0 on: the more common change is named first.
    column : str
        The column of Queries without which the field decides nothing; empty where it always can.
    implied : object
        Of a field that came later: what a declaration without it means, and no signature spells, so that those written
        before it still read as they did. None for every other field, which must be declared.
    """

    group: str
    about: str
    tried: tuple[Any, ...] = ()
    rarity: int = 10
    column: str = ""
    implied: Any = None

    @property
    def allowed(self) -> str:
        """What the field may be, for messages."""
        raise NotImplementedError

    def check(self, name: str, value: Any) -> Any:
        """Return the value in its one spelling, or raise ConventionError."""
        raise NotImplementedError

    def spell(self, value: Any) -> str:
        """Write a value as signatures do."""
        return NONE if value is None else number(value) if isinstance(value, float) else str(value)

    def read(self, text: str) -> Any:
        """Read what `spell` wrote; what it cannot have written is left for `check` to refuse."""
        return text

    def fits(self, value: Any, columns: Collection[str]) -> bool:
        """Tell whether a value can be evaluated on queries that have these columns."""
        del value, columns
        return True

    def meanings(self) -> dict[str, str]:
        """What each value means, for the documentation."""
        return {}

    def narrowed(self, annotation: Any) -> Self:
        """Return the field as one class annotates it."""
        del annotation
        return self

    def refusal(self, name: str, value: object) -> ConventionError:
        """Say what the field may be."""
        return ConventionError(f"{name}={value!r} is not a choice; allowed are {self.allowed}.")


@dataclass(frozen=True, kw_only=True)
class Words(Field):
    """One of some words, or one of some words with a number, such as `above_0.5`.

    Attributes
    ----------
    words : mapping of str to str
        Each word and its meaning; a class's `Literal[...]` picks some of them.
    numbered : mapping of str to str
        Each word that a number follows, and its meaning.
    accepts : callable
        Whether that number is allowed.
    numbers : str
        Which numbers are allowed, for messages.
    needs : mapping of str to str
        By word: the column of Queries that it needs.
    ignores : mapping of str to str
        By word: the column of Queries that may not be there, since it would be ignored.
    """

    words: Mapping[str, str]
    numbered: Mapping[str, str] = field(default_factory=dict)
    accepts: Callable[[float], bool] = math.isfinite
    numbers: str = "any finite number"
    needs: Mapping[str, str] = field(default_factory=dict)
    ignores: Mapping[str, str] = field(default_factory=dict)

    @property
    def allowed(self) -> str:
        """What the field may be, for messages."""
        patterns = [f"'{word}_<number>' ({self.numbers})" for word in self.numbered]
        return ", ".join([*filter(None, [choices(self.words)]), *patterns])

    def check(self, name: str, value: Any) -> str:
        """Return a word, with its number in shortest form."""
        if isinstance(value, str):
            if value in self.words:
                return value
            word, _, text = value.rpartition("_")
            if word in self.numbered and (parameter := as_number(text)) is not None and self.takes(word, parameter):
                return f"{word}_{number(parameter)}"
        raise self.refusal(name, value)

    def takes(self, word: str, parameter: float) -> bool:
        """Tell whether a word takes a number."""
        del word
        return self.accepts(parameter)

    def fits(self, value: Any, columns: Collection[str]) -> bool:
        """Tell whether the columns have what the word needs, and none that it would ignore."""
        word = value if value in self.words else value.rpartition("_")[0]
        return self.needs.get(word, "") in {"", *columns} and self.ignores.get(word) not in columns

    def meanings(self) -> dict[str, str]:
        """What each word means."""
        return {**self.words, **{f"{word}_B": meaning for word, meaning in self.numbered.items()}}

    def narrowed(self, annotation: Any) -> Self:
        """Keep the words that a class's `Literal[...]` lists."""
        listed = get_args(annotation) if get_origin(annotation) is Literal else tuple(self.words)
        tried = [value for value in self.tried or listed if value in listed or value not in self.words]
        return replace(self, words={word: self.words[word] for word in listed}, tried=tuple(tried))


@dataclass(frozen=True, kw_only=True)
class GainWords(Words):
    """A gain: a formula or a table."""

    @property
    def allowed(self) -> str:
        """What the field may be, for messages."""
        patterns = (f"{word}_<number>" for word in self.numbered)
        return choices((*self.words, *patterns, "table_0_1_3 (any non-decreasing table)"))

    def check(self, name: str, value: Any) -> str:
        """Return a formula's name, or a table in shortest form."""
        if isinstance(value, str) and value.rpartition("_")[0] in self.numbered:
            return Words.check(self, name, value)
        if not isinstance(value, str) or not (value in self.words or value.startswith("table_")):
            raise self.refusal(name, value)
        gains = table(value)
        return value if gains is None else "_".join(["table", *map(number, gains)])

    def meanings(self) -> dict[str, str]:
        """What each formula means, and a table."""
        by_label = "by integer label, here 0, 1 and 3 for the labels 0, 1 and 2; a table must not decrease"
        return {**Words.meanings(self), "table_0_1_3": by_label}


@dataclass(frozen=True, kw_only=True)
class DiscountWords(Words):
    """A discount: a formula, which may have a number."""

    def check(self, name: str, value: Any) -> str:
        """Return a word; the logarithm to base 2 has one of its own."""
        found = Words.check(self, name, value)
        return "log2" if found == "log_2" else found

    def takes(self, word: str, parameter: float) -> bool:
        """Tell whether discounts are positive and do not grow."""
        return parameter > 1 if word == "log" else 0 < parameter <= 1


@dataclass(frozen=True, kw_only=True)
class Cutoff(Field):
    """A rank that nothing below counts, or None."""

    @property
    def allowed(self) -> str:
        """What the field may be, for messages."""
        return "a whole number from 1 on, or None for all"

    def check(self, name: str, value: Any) -> int | None:
        """Return an int, or None."""
        del name
        return None if value is None else as_cutoff(value)

    def read(self, text: str) -> Any:
        """Read digits or `all`."""
        return None if text == NONE else int(text) if text.isascii() and text.isdigit() else text


@dataclass(frozen=True, kw_only=True)
class NumberOrWord(Field):
    """A number within bounds, or one of some words."""

    low: float
    high: float
    words: Mapping[str, str]
    number: str = "that value"  # what a number means

    @property
    def allowed(self) -> str:
        """What the field may be, for messages."""
        return choices((f"a number in [{number(self.low)}, {number(self.high)}]", *self.words))

    def check(self, name: str, value: Any) -> float | str:
        """Return a float or a word."""
        if isinstance(value, str) and value in self.words:
            return value
        found = _as_float(value)
        if not self.low <= found <= self.high:
            raise self.refusal(name, value)
        return found + 0.0

    def read(self, text: str) -> Any:
        """Read a number where it is one."""
        found = as_number(text)
        return text if found is None else found

    def meanings(self) -> dict[str, str]:
        """What a number and each word mean."""
        return {f"{number(self.low)} to {number(self.high)}": self.number, **self.words}


@dataclass(frozen=True, kw_only=True)
class FloatField(Field):
    """A finite number within bounds."""

    least: float
    most: float = math.inf
    strict: bool = False  # whether `least` itself is excluded

    @property
    def allowed(self) -> str:
        """What the field may be, for messages."""
        if self.most < math.inf:
            least = f"above {number(self.least)}, up" if self.strict else f"from {number(self.least)}"
            return f"numbers {least} to {number(self.most)}"
        return f"finite numbers {'above' if self.strict else 'from'} {number(self.least)}{'' if self.strict else ' on'}"

    def check(self, name: str, value: Any) -> float:
        """Return a float."""
        found = _as_float(value)
        above = found > self.least if self.strict else found >= self.least
        if not (above and found <= self.most and math.isfinite(found)):
            msg = f"{name}={value!r}; allowed are {self.allowed}."
            raise ConventionError(msg)
        return found + 0.0

    def read(self, text: str) -> Any:
        """Read a number."""
        found = as_number(text)
        return text if found is None else found


@dataclass(frozen=True, kw_only=True)
class WholeField(Field):
    """A whole number within bounds, or None where that means something."""

    least: int
    most: int | None = None
    none: str = ""  # what None stands for; empty where it is not allowed

    @property
    def allowed(self) -> str:
        """What the field may be, for messages."""
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
        """Read digits or `all`."""
        return None if text == NONE else int(text) if text.isascii() and text.isdigit() else text


def as_cutoff(k: object) -> int:
    """Check a cutoff that is not None."""
    if not is_whole(k) or not 1 <= int(k) <= LARGEST_CUTOFF:  # type: ignore[call-overload]
        msg = f"k={k!r:.80} is not a cutoff; allowed are whole numbers from 1 on, or None for all rows, up to 2^63 - 1."
        raise ConventionError(msg)
    return int(k)  # type: ignore[call-overload, no-any-return]


def _as_float(value: object) -> float:
    """Give a number as float; NaN for what is none, or too large for one."""
    try:  # a bool is a number to Python, but empty=True hardly means 1
        return float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        return math.nan


def is_whole(value: object) -> bool:
    """Tell integers, numpy's included, from everything else; a bool is not one."""
    return isinstance(value, Integral) and not isinstance(value, bool)
