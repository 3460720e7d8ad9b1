"""Fields of declared values: a field checks, writes, reads and explains its values."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, Self, TypeGuard

import numpy as np

from rankadapters.core.errors import ConventionError, brief

# The groups of fields, in the order of a signature: "head" is the cutoff after @, "tail" comes after the version.
GROUPS = ("head", "value", "ranking", "policy", "retrieval", "pool", "average", "tail")

NONE = "all"  # how a signature spells None
LARGEST_CUTOFF = 2**63 - 1

_MOST_DIGITS = 100  # longest number to read; Python may be set to refuse more than 640 digits


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a value is an integer of Python or numpy; a bool does not count."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def as_whole(text: str) -> int | None:
    """Return the whole number of a text of digits 0 to 9; None for other texts, and for very long ones.

    >>> as_whole("10"), as_whole("-1"), as_whole("\u0663"), as_whole("1" * 5000)
    (10, None, None, None)
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


def read_cutoff(text: object, upto: int = 2**31 - 1) -> int | None:
    """Return the cutoff that digits spell; None if the text is not a cutoff."""
    k = as_whole(text) if isinstance(text, str) and not text.startswith("0") else None
    return k if k is not None and k <= upto else None


def as_float(value: object) -> float:
    """Return a number as a float; NaN for other values, and for numbers that are too large for a float."""
    try:  # bools become NaN, since a user who writes empty=True hardly means 1
        return float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        return math.nan


def as_number(text: str) -> float | None:
    """Return the finite number of a text; None for other texts, including `1_000` and texts with outer spaces."""
    try:
        value = float(text) if text.isascii() and "_" not in text and text == text.strip() else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def spell_number(value: float) -> str:
    """Return a number in its shortest exact form: `1`, not `1.0`.

    >>> spell_number(1.0), spell_number(0.5), spell_number(1e22), spell_number(1e-5)
    ('1', '0.5', '1e22', '1e-05')
    """
    return repr(float(value) + 0.0).removesuffix(".0").replace("+", "")  # + 0.0 turns -0.0 into 0.0


def border(text: str) -> tuple[str, float] | None:
    """Split a text such as `above_0.5` into its word and its number; None if it has no number.

    >>> border("above_0.5"), border("label")
    (('above', 0.5), None)
    """
    word, _, parameter = text.rpartition("_")
    value = as_number(parameter) if word else None
    return None if value is None else (word, value)


def label_threshold(text: str) -> tuple[str, float] | None:
    """Split a text such as `from_0.7`; the number also suits labels in float32, as all toolkits hold them.

    `from_0.7` accepts the float32 of 0.7, which is less than 0.7. `above_0.3` refuses that of 0.3, which is more.

    >>> label_threshold("from_0.7"), label_threshold("above_0.3"), label_threshold("from_0.5")
    (('from', 0.699999988079071), ('above', 0.30000001192092896), ('from', 0.5))
    """
    threshold = border(text)
    if threshold is None:
        return None
    word, level = threshold
    with np.errstate(over="ignore", under="ignore"):
        rounded = float(np.float32(level))
    if not math.isfinite(rounded) or not rounded:  # too large or too small for float32
        rounded = level
    return word, max(level, rounded) if word == "above" else min(level, rounded)


def gain_table(gain: str) -> tuple[float, ...] | None:
    """Return the gains of a table, for labels 0, 1, ...; None if the gain is a formula.

    >>> gain_table("table_0_1_3"), gain_table("exp2")
    ((0.0, 1.0, 3.0), None)
    """
    if not gain.startswith("table_"):
        return None
    numbers = [as_number(text) for text in gain.split("_")[1:]]
    gains = tuple(value for value in numbers if value is not None)
    if len(gains) < max(len(numbers), 1):
        raise ConventionError(
            f"gain={gain!r} is not a table of numbers.", hint="write one gain per label from 0 on, like 'table_0_1_3'"
        )
    if any(map(operator.gt, gains, gains[1:])):
        raise ConventionError(
            f"gain={gain!r} decreases, so the ideal order by label would not be the ideal order by gain.",
            hint="give gains that never decrease with the label",
        )
    return gains


@dataclass(frozen=True)
class Range:
    """The finite numbers, or the whole numbers, between two bounds.

    >>> str(Range(0, 1, above=True)), str(Range(1, whole=True))
    ('numbers above 0, up to 1', 'whole numbers from 1 on')

    Attributes
    ----------
    least, most : float
        The bounds.
    above, below : bool
        Whether `least` or `most` itself is excluded.
    whole : bool
        Whether only whole numbers are allowed.
    """

    least: float = -math.inf
    most: float = math.inf
    above: bool = False
    below: bool = False
    whole: bool = False

    def take(self, value: object) -> float | None:
        """Return the value as a float, or as an int in a range of whole numbers; None if the range lacks it."""
        parameter = as_float(value) if not self.whole else int(value) if is_whole(value) else math.nan
        if not self.least <= parameter <= self.most or abs(parameter) == math.inf:
            return None
        if (self.above and parameter == self.least) or (self.below and parameter == self.most):
            return None
        return parameter + 0  # turns -0.0 into 0.0

    def __str__(self) -> str:
        """Describe the numbers in a message."""
        kind = "whole numbers" if self.whole else "finite numbers" if self.most == math.inf else "numbers"
        lower = "" if self.least == -math.inf else f" {'above' if self.above else 'from'} {spell_number(self.least)}"
        if self.most == math.inf:
            return f"{kind}{lower}{'' if self.above or not lower else ' on'}"
        joint = "" if not lower else " and" if self.below else ", up" if self.above else ""
        most = int(self.most) if self.whole else spell_number(self.most)
        return f"{kind}{lower}{joint} {'below' if self.below else 'to'} {most}"


@dataclass(frozen=True, kw_only=True)
class Field:
    """A field whose value is a word, a word with a number, such as `above_0.5`, a number of a range, or None.

    Attributes
    ----------
    group : str
        One of `GROUPS`.
    about : str
        A sentence on what the field decides, for docstrings and the documentation.
    words : mapping of str to str
        Each word and its meaning; a class's `Literal[...]` selects some of them.
    numbered : mapping of str to str
        Each word that takes a number, and its meaning.
    ranges : mapping of str to Range
        By word that takes a number, the allowed numbers; every finite number if the word is missing.
    numbers : Range or None
        The allowed numbers; None if the value is no number.
    meaning : str
        What a number means, in a field that also has words.
    none : str
        The meaning of None; empty if None is not allowed.
    needs : mapping of str to str
        By word, the column of Queries that it needs.
    ignores : mapping of str to str
        By word, the column of Queries that it would ignore and that the data therefore must not have.
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

    group: str
    about: str
    words: Mapping[str, str] = field(default_factory=dict)
    numbered: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, Range] = field(default_factory=dict)
    numbers: Range | None = None
    meaning: str = "that value"
    none: str = ""
    needs: Mapping[str, str] = field(default_factory=dict)
    ignores: Mapping[str, str] = field(default_factory=dict)
    tried: tuple[Any, ...] = ()
    further: tuple[Any, ...] = ()
    rarity: int = 10
    column: str = ""
    active: tuple[Any, ...] = ()
    implied: Any = None

    @property
    def type_name(self) -> str:
        """The type that docstrings show."""
        kinds = [] if self.numbers is None else ["int" if self.numbers.whole else "float"]
        kinds += ["str"] if self.words or not kinds else []
        return " or ".join([*kinds, *(["None"] if self.none else [])])

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        allowed = [str(self.numbers)] if self.numbers else []
        allowed += [repr(word) for word in self.words]
        allowed += [f"'{word}_<number>' ({self.range_of(word)})" for word in self.numbered]
        return ", ".join([*allowed, *([f"or None for {self.none}"] if self.none else [])])

    def range_of(self, word: str) -> Range:
        """Return the numbers that a word takes."""
        return self.ranges.get(word, Range())

    def check(self, name: str, value: Any) -> Any:
        """Return the value in its standard form, its number in the shortest one, or raise ConventionError."""
        parameter: float | None
        if value is None and self.none:
            return None
        if self.numbers and (parameter := self.numbers.take(value)) is not None:
            return parameter
        if isinstance(value, str):
            if value in self.words:
                return value
            word, _, text = value.rpartition("_")
            if word in self.numbered and (parameter := self.range_of(word).take(as_number(text))) is not None:
                return f"{word}_{spell_number(parameter)}"
        raise ConventionError(f"{name}={brief(value)}; allowed are {self.allowed}.")

    def spell(self, value: Any) -> str:
        """Return the text of a value in signatures."""
        return NONE if value is None else spell_number(value) if isinstance(value, float) else str(value)

    def read(self, text: str) -> Any:
        """Return the value of a text that `spell` returned; return any other text unchanged, for `check` to refuse."""
        if text == NONE and self.none:
            return None
        value = None if self.numbers is None else as_whole(text) if self.numbers.whole else as_number(text)
        return text if value is None else value

    def fits(self, value: Any, columns: Collection[str]) -> bool:
        """Return whether the columns include the one that the value needs, and lack the one that it would ignore."""
        word = value.rpartition("_")[0] if isinstance(value, str) and value not in self.words else value
        return self.needs.get(word, "") in {"", *columns} and self.ignores.get(word) not in columns

    def meanings(self) -> dict[str, str]:
        """Return the meaning of each value, for docstrings and the documentation; none of a field of numbers alone."""
        if not (self.words or self.numbered):
            return {}
        bounds = self.numbers and f"{spell_number(self.numbers.least)} to {spell_number(self.numbers.most)}"
        of_numbers = {bounds: self.meaning} if bounds else {}
        return {**of_numbers, **self.words, **{f"{word}_B": meaning for word, meaning in self.numbered.items()}}

    def narrowed(self, words: Collection[Any]) -> Self:
        """Return the field with only the words that a class's `Literal[...]` lists, or all if it lists none."""
        listed = [word for word in words if word in self.words] or [*self.words]
        trials = tuple(value for value in self.tried or listed if value in listed or value not in self.words)
        return replace(self, words={word: self.words[word] for word in listed}, tried=trials)


@dataclass(frozen=True, kw_only=True)
class Gain(Field):
    """A gain: a formula or a table."""

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        return f"{super().allowed}, table_0_1_3 (any non-decreasing table), or a list of gains by label"

    def check(self, name: str, value: Any) -> str:
        """Return the name of a formula, or a table in its shortest form; a list of gains by label becomes a table."""
        gains = value.tolist() if hasattr(value, "tolist") else value
        if isinstance(gains, (list, tuple)) and gains and all(math.isfinite(as_float(gain)) for gain in gains):
            value = "_".join(["table", *map(spell_number, gains)])
        gains = gain_table(value) if isinstance(value, str) else None
        return str(Field.check(self, name, value)) if gains is None else "_".join(["table", *map(spell_number, gains)])

    def meanings(self) -> dict[str, str]:
        """Return the meaning of each formula and of a table."""
        by_label = "by integer label, here 0, 1 and 3 for the labels 0, 1 and 2; a table must not decrease"
        return {**Field.meanings(self), "table_0_1_3": by_label}


@dataclass(frozen=True, kw_only=True)
class Cutoff(Field):
    """The last rank that counts, or None for all ranks."""

    numbers: Range | None = Range(1, LARGEST_CUTOFF, whole=True)
    none: str = NONE

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        return "a whole number from 1 on, or None for all"

    def check(self, name: str, value: Any) -> int | None:
        """Return an int, or None."""
        del name
        return None if value is None else as_cutoff(value)


def as_cutoff(k: object) -> int:
    """Return a cutoff other than None as an int, or raise ConventionError."""
    if not is_whole(k) or not 1 <= int(k) <= LARGEST_CUTOFF:
        msg = f"k={k!r:.80} is not a cutoff; allowed are whole numbers from 1 on, or None for all rows, up to 2^63 - 1."
        raise ConventionError(msg, hint="k=10; several cutoffs are several conventions, [conv.at(5), conv.at(10)]")
    return int(k)
