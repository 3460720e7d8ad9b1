"""Tallies: exact sums over some queries, which merge into the same bits for any partition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.convention import Convention
from rankadapters.core.errors import IncomparableScoresError, InputError, RankAdaptersError
from rankadapters.core.score import COUNTS, Score
from rankadapters.core.texts import parse

_DIGEST = 2**64
_UNIT = 2**1074  # the smallest float64 is one such part of 1


class _Knowing:
    """Room for the queries' own ids, which are no field of a tally: neither a copy nor a text of it has them."""

    __slots__ = ("_query_ids",)


@dataclass(frozen=True, slots=True, eq=False)
class Tally(_Knowing):
    """Exact sums of a convention over some queries; tallies of disjoint queries add up in any order.

    Attributes
    ----------
    convention : Convention
        What decides each query's value.
    numerator, denominator : int
        The two sums, in units of the smallest float64, 2^-1074.
    n_queries, n_scored, n_empty, n_short, digest : int
        As in `Score`.
    ids : uint64 array, shape (n_queries,)
        A hash of each query's id, by which a query that is in two tallies is found.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.presets.textbook(5)
    >>> parts = [ra.Evaluator([1, 0], conv, qid=[q, q]).tally([1.0, 2.0]) for q in "ab"]
    >>> (parts[0] + parts[1]).score().n_queries
    2

    `Tally.merge` is the way to add up many.
    """

    convention: Convention
    numerator: int
    denominator: int
    n_queries: int
    n_scored: int
    n_empty: int
    n_short: int
    digest: int
    ids: NDArray[np.uint64] = field(repr=False)

    def __add__(self, other: object) -> Tally:
        """Merge two tallies, as `merge` does."""
        return Tally.merge([self, other]) if isinstance(other, Tally) else NotImplemented

    def __radd__(self, other: object) -> Tally:
        """Let `sum(tallies)` start from 0."""
        return self if other == 0 else NotImplemented

    def knowing(self, query_ids: NDArray[Any]) -> Tally:
        """Keep the queries' own ids, in the order of `ids`, so that a message can name them."""
        object.__setattr__(self, "_query_ids", query_ids)
        return self

    @property
    def query_ids(self) -> NDArray[Any] | None:
        """The queries' own ids while they are at hand: a tally travels, and is merged, without them."""
        return getattr(self, "_query_ids", None)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the queries' own ids behind: a tally travels with 8 bytes a query."""
        return Tally, tuple(getattr(self, each.name) for each in fields(self))

    @staticmethod
    def merge(tallies: Iterable[Tally]) -> Tally:
        """Merge tallies of disjoint queries under one convention, in time that grows with the number of queries.

        The same bits for any partition and order; `sum(tallies)` is the same too, but goes over what it has so far
        at every step.

        Parameters
        ----------
        tallies : iterable of Tally
            At least one.

        Raises
        ------
        InputError
            There is no tally, one is something else, or a query is in two of them.
        IncomparableScoresError
            The conventions differ.

        Examples
        --------
        >>> import rankadapters as ra
        >>> conv = ra.presets.textbook(5)
        >>> parts = (ra.Evaluator([1, 0], conv, qid=[q, q]).tally([1.0, 2.0]) for q in range(3))
        >>> ra.Tally.merge(parts).n_queries
        3
        """
        several = _as_tallies(tallies)
        # A stable sort merges runs that are sorted already, such as those of a tally that was merged before.
        ids = np.sort(np.concatenate([tally.ids for tally in several]), kind="stable")
        twice = ids[1:] == ids[:-1]
        if twice.any():
            raise _in_two(several, ids[1:][twice])
        names = ("numerator", "denominator", *COUNTS, "digest")
        sums: dict[str, Any] = {name: sum(getattr(tally, name) for tally in several) for name in names}
        sums["digest"] %= _DIGEST
        return Tally(several[0].convention, **sums, ids=ids)

    def score(self) -> Score:
        """Divide the exact sums, rounding correctly once.

        Raises
        ------
        InputError
            Every query was skipped, or those that were not have weight 0, or so little that the value is not finite.
        """
        value = self.convention.link(self._ratio()) if self.denominator else self._value_of_nothing()
        counts = (self.n_queries, self.n_scored, self.n_empty, self.n_short)
        return Score(value, self.convention, *counts, digest=self.digest)

    def _ratio(self) -> float:
        try:  # a ratio of integers is rounded correctly, whatever their size
            return self.numerator / self.denominator
        except OverflowError:
            msg = (
                f"the weights of the scored queries add up to {self.mass:g}, by which the value is beyond float64.\n"
                "Hint: divide the weights by their mean."
            )
            raise InputError(msg) from None

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
                raise InputError(f"this is not a tally: it has {n_ids} ids for {data['n_queries']} queries.")
            sums: dict[str, Any] = {name: int(data[name], 16) for name in ("numerator", "denominator", "digest")}
            counts: dict[str, Any] = {name: int(data[name]) for name in COUNTS}
            ids = np.asarray([_word(i) for i in data["ids"]], np.uint64)
            return cls(convention=convention, **sums, **counts, ids=ids)
        except RankAdaptersError:
            raise
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            msg = f"this is not a tally: {error!r}.\nHint: pass what Tally.to_dict() returned."
            raise InputError(msg) from None


def _as_tallies(tallies: object) -> list[Tally]:
    several = list(tallies) if isinstance(tallies, Iterable) else []
    wrong = [each for each in several if not isinstance(each, Tally)]
    if wrong or not several:
        what = f"{wrong[0]!r:.60} is not a Tally" if wrong else f"tallies={tallies!r:.60} lists no tally"
        msg = f"{what}.\nHint: Tally.merge([evaluator.tally(scores), ...])."
        raise InputError(msg)
    for tally in several[1:]:
        if tally.convention != several[0].convention:
            differing = ", ".join(several[0].convention.diff(tally.convention)) or "their class"
            msg = f"tallies under different conventions do not add up: they differ in {differing}."
            raise IncomparableScoresError(msg)
    return several


def _in_two(tallies: list[Tally], twice: NDArray[np.uint64]) -> InputError:
    """Name the first query that is in two tallies: by its id where one of them has the ids at hand."""
    (first, place), (second, _) = found = [
        (number, int(place)) for number, tally in enumerate(tallies) for place in np.flatnonzero(tally.ids == twice[0])
    ][:2]
    named = [ids[place] for number, place in found if (ids := tallies[number].query_ids) is not None]
    who = f"query {named[0]}" if named else f"query number {place} of tally {first}"
    more = f", and {twice.size - 1} more queries are in two" if twice.size > 1 else ""
    return InputError(
        f"{who} is in tallies {first} and {second}{more}.\n"
        "Hint: each query in one part only, and qid= rather than group_sizes= (which numbers from 0 each time)."
    )


def _word(text: str) -> int:
    word = int(text, 16)
    if not 0 <= word < _DIGEST:
        raise ValueError(text)
    return word
