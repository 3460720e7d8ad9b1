"""Tallies: exact sums over some queries, which merge into the same bits for any partition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.disjoint import Ids, Parts, as_ids, join
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import IncomparableScoresError, InputError, RankAdaptersError
from rankadapters.core.evaluation.limbs import SUM_LIMBS, Limbs, as_limbs, from_limbs, to_limbs, unsigned_limbs
from rankadapters.core.evaluation.score import COUNTS, Score
from rankadapters.core.presets.texts import parse

_DIGEST = 2**64
_UNIT = 2**1074  # the smallest float64 is one such part of 1
_CUTS = (SUM_LIMBS, 2 * SUM_LIMBS, 2 * SUM_LIMBS + len(COUNTS))  # numerator | denominator | counts | digest


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
    ids : uint64 array, shape (n_queries,), or None
        A hash of each query's id, by which a query that is in two tallies is found: 8 bytes a query.
    parts : Parts or None
        Where there are no ids: the parts of a partition that this tally is over, by `part_of`.
    N_LIMBS : int
        Length of `to_limbs()`, 146.

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
    ids: Ids | None = field(repr=False)
    parts: Parts | None = None
    N_LIMBS: ClassVar[int] = _CUTS[-1] + 2

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
            There is no tally, one is something else, a query or part is in two of them, or nothing tells that
            none is.
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
        held = [(tally.ids, tally.parts, tally.query_ids) for tally in several]
        names = ("numerator", "denominator", *COUNTS, "digest")
        sums: dict[str, Any] = {name: sum(getattr(tally, name) for tally in several) for name in names}
        sums["digest"] %= _DIGEST
        return _tally(several[0].convention, sums, *join(held))

    def part_of(self, scheme: str, parts: int, index: int) -> Tally:
        """Drop the ids: that no query is in two tallies rests on a partition of which this one is a part.

        For more queries than 8 bytes each are affordable for, beyond some 10^8.

        Parameters
        ----------
        scheme : str
            What assigns each query to one part alone, such as `"hash of qid"`; tallies of one scheme merge.
        parts : int
            Parts that the partition has.
        index : int
            Which of them this is, from 0.

        Raises
        ------
        InputError
            This is not a part of a partition.

        Examples
        --------
        >>> import rankadapters as ra
        >>> conv = ra.presets.textbook(5)
        >>> parts = [ra.Evaluator([1, 0], conv, qid=[q, q]).tally([1, 2]).part_of("qid modulo", 2, q) for q in (0, 1)]
        >>> ra.Tally.merge(parts).n_queries
        2
        """
        return replace(self, ids=None, parts=Parts.one(scheme, parts, index))

    def to_limbs(self) -> Limbs:
        """Write the sums and counts as integers that any engine adds up: the ids stay behind.

        Returns
        -------
        int64 array, shape (146,)
            Numerator and denominator as 70 limbs of 32 bits each, the lowest first, four counts, and the digest in
            two limbs. The sum of such arrays, place by place, is exact for up to 2^31 tallies, in any order.

        Examples
        --------
        >>> import rankadapters as ra
        >>> conv = ra.presets.textbook(5)
        >>> limbs = sum(ra.Evaluator([1, 0], conv, qid=[q, q]).tally([1.0, 2.0]).to_limbs() for q in "ab")
        >>> ra.Tally.from_limbs(limbs, conv).score().n_queries
        2
        """
        counts = np.array([getattr(self, name) for name in COUNTS], np.int64)
        sums = (to_limbs(self.numerator), to_limbs(self.denominator), counts, unsigned_limbs(self.digest))
        return np.concatenate(sums)

    @classmethod
    def from_limbs(
        cls, limbs: Limbs, convention: Convention, *, ids: Ids | None = None, parts: Parts | None = None
    ) -> Tally:
        """Read what `to_limbs` wrote, or the sum of several such arrays.

        Parameters
        ----------
        limbs : int64 array, shape (146,)
            The sum over tallies under one convention.
        convention : Convention
            That convention, which limbs do not tell.
        ids : uint64 array, shape (n_queries,), optional
            `ids` of these tallies in any order. Without them a query in two tallies is not found here, and the tally
            merges with others only as a part of a partition.
        parts : Parts, optional
            Which parts of a partition these tallies are.

        Raises
        ------
        InputError
            These are not the limbs of tallies, there are not as many ids as queries, or a query is there twice.
        """
        numerator, denominator, counts, digest = np.split(as_limbs(limbs, cls.N_LIMBS), _CUTS)
        sums = dict(zip(COUNTS, counts.tolist(), strict=True))
        sums |= {"numerator": from_limbs(numerator), "denominator": from_limbs(denominator)}
        sums["digest"] = from_limbs(digest) % _DIGEST
        return _tally(convention, sums, None if ids is None else as_ids(ids, sums["n_queries"]), parts)

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
            raise InputError(
                f"the weights of the scored queries add up to {self.mass:g}, by which the value is beyond float64.",
                hint="divide the weights by their mean",
            ) from None

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
        raise InputError(f"nothing is left to average: {why}.", hint="another policy than 'skip', or other weights")

    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON types, exact: big numbers as hexadecimal text."""
        return {
            "convention": str(self.convention),
            **{name: hex(getattr(self, name)) for name in ("numerator", "denominator", "digest")},
            **{name: getattr(self, name) for name in COUNTS},
            "ids": None if self.ids is None else [hex(i) for i in self.ids.tolist()],
            **({} if self.parts is None else {"parts": self.parts.to_dict()}),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Tally:
        """Read what `to_dict` gave."""
        try:
            sums = {name: int(data[name], 16) for name in ("numerator", "denominator", "digest")}
            sums |= {name: int(data[name]) for name in COUNTS}
            ids, parts = data["ids"], data.get("parts")
            if ids is not None:
                ids = as_ids(np.array([_word(i) for i in ids], np.uint64), sums["n_queries"])
            return _tally(parse(data["convention"]), sums, ids, None if parts is None else Parts.from_dict(parts))
        except RankAdaptersError:
            raise
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(f"this is not a tally: {error!r}.", hint="pass what Tally.to_dict() returned") from None


def _tally(convention: Convention, sums: dict[str, int], ids: Ids | None, parts: Parts | None) -> Tally:
    return Tally(convention, **sums, ids=ids, parts=parts)


def _as_tallies(tallies: object) -> list[Tally]:
    several = list(tallies) if isinstance(tallies, Iterable) else []
    wrong = [each for each in several if not isinstance(each, Tally)]
    if wrong or not several:
        what = f"{wrong[0]!r:.60} is not a Tally" if wrong else f"tallies={tallies!r:.60} lists no tally"
        raise InputError(f"{what}.", hint="Tally.merge([evaluator.tally(scores), ...])")
    for tally in several[1:]:
        if tally.convention != several[0].convention:
            differing = ", ".join(several[0].convention.diff(tally.convention)) or "their class"
            msg = f"tallies under different conventions do not add up: they differ in {differing}."
            raise IncomparableScoresError(msg)
    return several


def _word(text: str) -> int:
    word = int(text, 16)
    if not 0 <= word < _DIGEST:
        raise ValueError(text)
    return word
