"""Kinds of fields of declared values: each kind checks, writes, reads and explains the values of a field."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self, get_args, get_origin

from rankadapters.core.declaration.spelling import as_float, as_number, number, table
from rankadapters.core.errors import ConventionError, choices

# The groups of fields, in the order of a signature: "head" is the cutoff after @, "tail" comes after the version.
GROUPS = ("head", "value", "ranking", "policy", "retrieval", "pool", "average", "tail")

NONE = "all"  # how a signature spells None

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Field:
    """The base class of all kinds of fields, with the attributes that every field has.

    Attributes
    ----------
    group : str
        One of `GROUPS`.
    about : str
        A sentence on what the field decides, for docstrings and the documentation.
    tried : tuple
        Values that an audit tries when it searches for a convention or varies the field.
    further : tuple
        Additional values for audits that choose their own data, such as a probe of a function.
    rarity : int
        How rarely users of a tool change the field, from 0 for the most common change; reports list those first.
    column : str
        The column of Queries without which the field has no effect; empty if it needs none.
    active : tuple
        Values that have an effect without that column too.
    implied : object
        The value of a field that is left out; None for a field that must be declared. Signatures leave this value out,
        so that adding a field later does not change older signatures.
    """

    type_name: ClassVar[str] = "str"  # the type that docstrings show

    group: str
    about: str
    tried: tuple[Any, ...] = ()
    further: tuple[Any, ...] = ()
    rarity: int = 10
    column: str = ""
    active: tuple[Any, ...] = ()
    implied: Any = None

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        raise NotImplementedError

    def check(self, name: str, value: Any) -> Any:
        """Return the value in its standard form, or raise ConventionError."""
        raise NotImplementedError

    def spell(self, value: Any) -> str:
        """Return the text of a value in signatures."""
        return NONE if value is None else number(value) if isinstance(value, float) else str(value)

    def read(self, text: str) -> Any:
        """Return the value of a text that `spell` returned; return any other text unchanged, for `check` to refuse."""
        return text

    def fits(self, value: Any, columns: Collection[str]) -> bool:
        """Return whether a value of the field can be used for queries with these columns."""
        del value, columns
        return True

    def meanings(self) -> dict[str, str]:
        """Return the meaning of each value, for docstrings and the documentation."""
        return {}

    def narrowed(self, annotation: Any) -> Self:
        """Return the field restricted to the values that a class's annotation allows."""
        del annotation
        return self

    def refusal(self, name: str, value: object) -> ConventionError:
        """Return the error for a value that is not allowed."""
        return ConventionError(f"{name}={value!r} is not a choice; allowed are {self.allowed}.")


@dataclass(frozen=True, kw_only=True)
class Words(Field):
    """A field whose value is a word, such as `worst`, or a word with a number, such as `above_0.5`.

    Attributes
    ----------
    words : mapping of str to str
        Each word and its meaning; a class's `Literal[...]` selects some of them.
    numbered : mapping of str to str
        Each word that takes a number, and its meaning.
    accepts : callable
        Returns whether such a number is allowed.
    numbers : str
        The allowed numbers, for messages.
    needs : mapping of str to str
        By word, the column of Queries that it needs.
    ignores : mapping of str to str
        By word, the column of Queries that it would ignore and that the data therefore must not have.
    """

    words: Mapping[str, str]
    numbered: Mapping[str, str] = field(default_factory=dict)
    accepts: Callable[[float], bool] = math.isfinite
    numbers: str = "any finite number"
    needs: Mapping[str, str] = field(default_factory=dict)
    ignores: Mapping[str, str] = field(default_factory=dict)

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        patterns = [f"'{word}_<number>' ({self.numbers})" for word in self.numbered]
        return ", ".join([*filter(None, [choices(self.words)]), *patterns])

    def check(self, name: str, value: Any) -> str:
        """Return the word, with its number, if any, rewritten in the shortest form."""
        if isinstance(value, str):
            if value in self.words:
                return value
            word, _, text = value.rpartition("_")
            if word in self.numbered and (parameter := as_number(text)) is not None and self.takes(word, parameter):
                return f"{word}_{number(parameter)}"
        raise self.refusal(name, value)

    def takes(self, word: str, parameter: float) -> bool:
        """Return whether a word allows this number."""
        del word
        return self.accepts(parameter)

    def fits(self, value: Any, columns: Collection[str]) -> bool:
        """Return whether the columns include the one that the word needs, and lack the one that it would ignore."""
        word = value if value in self.words else value.rpartition("_")[0]
        return self.needs.get(word, "") in {"", *columns} and self.ignores.get(word) not in columns

    def meanings(self) -> dict[str, str]:
        """Return the meaning of each word."""
        return {**self.words, **{f"{word}_B": meaning for word, meaning in self.numbered.items()}}

    def narrowed(self, annotation: Any) -> Self:
        """Return the field with only the words that a class's `Literal[...]` lists."""
        listed = get_args(annotation) if get_origin(annotation) is Literal else tuple(self.words)
        trials = [value for value in self.tried or listed if value in listed or value not in self.words]
        return replace(self, words={word: self.words[word] for word in listed}, tried=tuple(trials))


@dataclass(frozen=True, kw_only=True)
class GainWords(Words):
    """A gain: a formula or a table."""

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        patterns = (f"{word}_<number>" for word in self.numbered)
        tables = "table_0_1_3 (any non-decreasing table)"
        return f"{choices((*self.words, *patterns, tables))}, or a list of gains by label"

    def check(self, name: str, value: Any) -> str:
        """Return the name of a formula, or a table in its shortest form; a list of gains by label becomes a table."""
        gains = value.tolist() if hasattr(value, "tolist") else value
        if isinstance(gains, (list, tuple)) and gains and all(math.isfinite(as_float(gain)) for gain in gains):
            value = "_".join(["table", *map(number, gains)])
        if isinstance(value, str) and value.rpartition("_")[0] in self.numbered:
            return Words.check(self, name, value)
        if not isinstance(value, str) or not (value in self.words or value.startswith("table_")):
            raise self.refusal(name, value)
        parsed = table(value)
        return value if parsed is None else "_".join(["table", *map(number, parsed)])

    def meanings(self) -> dict[str, str]:
        """Return the meaning of each formula and of a table."""
        by_label = "by integer label, here 0, 1 and 3 for the labels 0, 1 and 2; a table must not decrease"
        return {**Words.meanings(self), "table_0_1_3": by_label}


@dataclass(frozen=True, kw_only=True)
class DiscountWords(Words):
    """A discount: a formula, with a number in some cases."""

    def check(self, name: str, value: Any) -> str:
        """Return the word; `log_2` becomes `log2`."""
        word = Words.check(self, name, value)
        return "log2" if word == "log_2" else word

    def takes(self, word: str, parameter: float) -> bool:
        """Return whether this number makes the discounts positive and non-increasing."""
        return parameter > 1 if word == "log" else 0 < parameter <= 1
