"""Scores that carry their convention, and tallies: exact sums that merge into the same bits for any partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, NoReturn, overload

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.convention import Convention
from rankadapters.core.errors import IncomparableScoresError, InputError, RankAdaptersError
from rankadapters.core.texts import parse

COUNTS = ("n_queries", "n_scored", "n_empty", "n_short")

_DIGEST = 2**64
_UNIT = 2**1074  # the smallest float64 is one such part of 1


@dataclass(frozen=True, slots=True, repr=False)
class Score:
    """A number and the convention that made it.

    Scores are equal when value and convention are. They have an order and a difference only under one convention over
    the same queries.

    Attributes
    ----------
    value : float
        Mean over the scored queries.
    convention : Convention
        What decided the value.
    n_queries, n_scored, n_empty, n_short : int
        Queries; those in the mean; those with nothing to find; those with fewer than `k` retrieved rows.

    Examples
    --------
    >>> import rankadapters as ra
    >>> score = ra.evaluate([1, 0], [0.2, 0.9], ra.presets.textbook(2), group_sizes=[2])
    >>> f"{score:.3f}", round(score, 3), float(score) == score.value
    ('0.631', 0.631, True)
    >>> score
    Score(0.6309297535714575, 'textbook@2', n_queries=1, n_scored=1, n_empty=0, n_short=0)
    >>> Score.from_dict(score.to_dict()) == score
    True
    """

    value: float
    convention: Convention
    n_queries: int = field(compare=False)
    n_scored: int = field(compare=False)
    n_empty: int = field(compare=False)
    n_short: int = field(compare=False)
    digest: int = field(compare=False, repr=False)

    def __repr__(self) -> str:
        """Show the exact value, the shortest text of the convention, and the counts."""
        counts = ", ".join(f"{name}={getattr(self, name)}" for name in COUNTS)
        return f"Score({self.value!r}, {self.convention.short_name!r}, {counts})"

    def __str__(self) -> str:
        """Write the value to four decimals and the signature."""
        return f"{self.value:.4f}  {self.convention}"

    def _repr_html_(self) -> str:
        """Show the value, the signature and the counts in a notebook."""
        counts = ", ".join(f"{name.removeprefix('n_')} {getattr(self, name)}" for name in COUNTS)
        signature = escape(str(self.convention))
        return f"<p><b>{self.value:.4f}</b> <code>{signature}</code><br><small>{counts}</small></p>"

    def __format__(self, spec: str) -> str:
        """Format the value; without a specification, as `str` does."""
        return format(self.value, spec) if spec else str(self)

    def __float__(self) -> float:
        """Return the value."""
        return self.value

    @overload
    def __round__(self) -> int: ...
    @overload
    def __round__(self, ndigits: int) -> float: ...
    def __round__(self, ndigits: int | None = None) -> float:
        """Round the value."""
        return round(self.value, ndigits)

    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON types, exact: value, the convention's name and signature, counts, and the queries' digest."""
        counts = {name: getattr(self, name) for name in COUNTS}
        named = {"value": self.value, "name": self.convention.name, "convention": str(self.convention)}
        return {**named, **counts, "digest": hex(self.digest)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Score:
        """Read what `to_dict` gave, to be compared with later scores.

        Raises
        ------
        InputError
            It is not what `to_dict` gave.
        """
        try:
            counts = {name: int(data[name]) for name in COUNTS}
            return cls(float(data["value"]), parse(data["convention"]), **counts, digest=int(data["digest"], 16))
        except RankAdaptersError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            msg = f"this is not a score: {error!r}.\nHint: pass what Score.to_dict() returned."
            raise InputError(msg) from None

    def __sub__(self, other: Score) -> float:
        """Difference of two comparable scores."""
        return self.value - self._comparable(other)

    def __rsub__(self, other: object) -> NoReturn:
        """Refuse: the other side is not a Score."""
        raise self._refusal(other)

    def __lt__(self, other: Score) -> bool:
        """Order of two comparable scores by value."""
        return self.value < self._comparable(other)

    def __le__(self, other: Score) -> bool:
        """Order of two comparable scores by value."""
        return self.value <= self._comparable(other)

    def __gt__(self, other: Score) -> bool:
        """Order of two comparable scores by value."""
        return self.value > self._comparable(other)

    def __ge__(self, other: Score) -> bool:
        """Order of two comparable scores by value."""
        return self.value >= self._comparable(other)

    def _comparable(self, other: object) -> float:
        same = isinstance(other, Score) and self.convention == other.convention
        if not same or (self.n_queries, self.digest) != (other.n_queries, other.digest):  # type: ignore[attr-defined]
            raise self._refusal(other)
        return other.value  # type: ignore[attr-defined, no-any-return]

    def _refusal(self, other: object) -> IncomparableScoresError:
        if not isinstance(other, Score):
            why = f"a Score and a {type(other).__name__} are compared, and only one says its convention"
        elif self.convention != other.convention:
            fields = ", ".join(
                f"{n}={a!r} against {b!r}" for n, (a, b) in self.convention.diff(other.convention).items()
            )
            why = f"the conventions differ in {fields or 'their class'}"
        else:
            why = "the scores were computed over different queries (ids, labels or weights)"
        return IncomparableScoresError(f"{why}.\nHint: .value gives the bare numbers, if you must.")


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Exact sums of a convention over some queries; tallies of disjoint queries add up in any order.

    Attributes
    ----------
    convention : Convention
        What decides each query's value.
    n_queries, n_scored, n_empty, n_short : int
        As in `Score`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.presets.textbook(5)
    >>> parts = [ra.Evaluator([1, 0], conv, qid=[q, q]).tally([1.0, 2.0]) for q in "ab"]
    >>> (parts[0] + parts[1]).score().n_queries
    2
    """

    convention: Convention
    numerator: int  # both in units of the smallest float64, 2^-1074
    denominator: int
    n_queries: int
    n_scored: int
    n_empty: int
    n_short: int
    digest: int
    ids: NDArray[np.uint64] = field(repr=False)

    def __add__(self, other: object) -> Tally:
        """Merge two tallies of disjoint queries under one convention."""
        if not isinstance(other, Tally):
            return NotImplemented
        if self.convention != other.convention:
            fields = ", ".join(self.convention.diff(other.convention))
            msg = f"tallies under different conventions do not add up: they differ in {fields}."
            raise IncomparableScoresError(msg)
        ids = np.concatenate([self.ids, other.ids])
        if np.unique(ids).size != ids.size:
            msg = (
                f"{ids.size - np.unique(ids).size} queries are in both tallies.\n"
                "Hint: each query in one part only, and qid= rather than group_sizes= (which numbers from 0 each time)."
            )
            raise InputError(msg)
        names = ("numerator", "denominator", *COUNTS)
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        return Tally(convention=self.convention, **sums, digest=(self.digest + other.digest) % _DIGEST, ids=ids)

    def __radd__(self, other: object) -> Tally:
        """Let `sum(tallies)` start from 0."""
        return self if other == 0 else NotImplemented

    def score(self) -> Score:
        """Divide the exact sums, rounding correctly once.

        Raises
        ------
        InputError
            Every query was skipped, or those that were not have weight 0.
        """
        if self.denominator:  # a ratio of integers is rounded correctly, whatever their size
            value = self.convention.link(self.numerator / self.denominator)
        else:
            value = self._value_of_nothing()
        counts = (self.n_queries, self.n_scored, self.n_empty, self.n_short)
        return Score(value, self.convention, *counts, digest=self.digest)

    @property
    def mass(self) -> float:
        """What the sum of the numerators is divided by.

        Raises
        ------
        InputError
            It is 0.
        """
        if not self.denominator:
            self._value_of_nothing()
        return self.denominator / _UNIT

    def _value_of_nothing(self) -> float:
        """Value where no query has a pair; where nothing is left to average there is none."""
        empty = getattr(self.convention, "empty", None)
        if self.convention.over == "pairs" and isinstance(empty, float):
            return empty
        why = "every query was skipped" if not self.n_scored else "the scored queries have weight 0"
        msg = f"nothing is left to average: {why}.\nHint: another policy than 'skip', or other weights."
        raise InputError(msg)

    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON types, exact: big numbers as hexadecimal text."""
        return {
            "convention": str(self.convention),
            **{name: hex(getattr(self, name)) for name in ("numerator", "denominator", "digest")},
            **{name: getattr(self, name) for name in COUNTS},
            "ids": [hex(i) for i in self.ids.tolist()],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Tally:
        """Read what `to_dict` gave."""
        try:
            convention, n_ids = parse(data["convention"]), len(data["ids"])
            if n_ids != data["n_queries"]:
                raise InputError(f"this is no tally: it has {n_ids} ids for {data['n_queries']} queries.")
            return cls(
                convention=convention,
                **{name: int(data[name], 16) for name in ("numerator", "denominator", "digest")},
                **{name: int(data[name]) for name in COUNTS},
                ids=np.asarray([_word(i) for i in data["ids"]], np.uint64),
            )
        except RankAdaptersError:
            raise
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            msg = f"this is no tally: {error!r}.\nHint: pass what Tally.to_dict() returned."
            raise InputError(msg) from None


def _word(text: str) -> int:
    word = int(text, 16)
    if not 0 <= word < _DIGEST:
        raise ValueError(text)
    return word
