"""Tallies: exact sums over some queries, whose merged result is bit-identical for any partition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.disjoint import Ids, Parts, as_ids, join
from rankadapters.core.declaration.arguments import members
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import IncomparableScoresError, InputError, RankAdaptersError
from rankadapters.core.evaluation.limbs import SUM_LIMBS, Limbs, as_limbs, from_limbs, to_limbs, unsigned_limbs
from rankadapters.core.evaluation.score import COUNTS, Score
from rankadapters.presets.texts import parse

_DIGEST = 2**64
_UNIT = 2**1074  # 1 in units of the smallest float64
_CUTS = (SUM_LIMBS, 2 * SUM_LIMBS, 2 * SUM_LIMBS + len(COUNTS))  # where numerator, denominator and counts end


class _QueryIds:
    """Holds a tally's original query ids outside its dataclass fields, so that copies and `repr` leave them out."""

    __slots__ = ("_query_ids",)


@dataclass(frozen=True, slots=True, eq=False)
class Tally(_QueryIds):
    """Exact sums of a convention over some queries; tallies of disjoint queries add up in any order.

    Attributes
    ----------
    convention : Convention
        Defines the value of each query.
    numerator, denominator : int
        The two sums, in units of the smallest float64, 2^-1074.
    n_queries, n_scored, n_empty, n_short, digest : int
        As in `Score`.
    ids : uint64 array, shape (n_queries,), or None
        A hash of each query's id, of 8 bytes, to detect a query that is in two tallies.
    parts : Parts or None
        Without ids: the parts of a partition that this tally covers, set by `part_of`.
    N_LIMBS : int
        Length of `to_limbs()`, 146.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.presets.textbook(5)
    >>> parts = [ra.Evaluator([1, 0], conv, qid=[q, q]).tally([1.0, 2.0]) for q in "ab"]
    >>> (parts[0] + parts[1]).score().n_queries
    2

    Use `Tally.merge` to add up many tallies.
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
        """Store the original query ids, in the order of `ids`, so that messages can name them."""
        object.__setattr__(self, "_query_ids", query_ids)
        return self

    @property
    def query_ids(self) -> NDArray[Any] | None:
        """The original query ids, or None: pickling and merging drop them."""
        return getattr(self, "_query_ids", None)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the original query ids; their hashes take 8 bytes per query."""
        return Tally, tuple(getattr(self, field.name) for field in fields(self))

    @staticmethod
    def merge(tallies: Iterable[Tally]) -> Tally:
        """Merge tallies of disjoint queries under one convention, in time linear in the number of queries.

        The result is bit-identical for any partition and order. `sum(tallies)` returns the same, but copies the ids
        merged so far at every step.

        Parameters
        ----------
        tallies : iterable of Tally
            At least one.

        Raises
        ------
        InputError
            There is no tally, an item is not a tally, a query or part is in two of them, or this cannot be
            checked for lack of ids and parts.
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
        tally_list = _as_tallies(tallies)
        identities = [(tally.ids, tally.parts, tally.query_ids) for tally in tally_list]
        names = ("numerator", "denominator", *COUNTS, "digest")
        sums: dict[str, Any] = {name: sum(getattr(tally, name) for tally in tally_list) for name in names}
        sums["digest"] %= _DIGEST
        return _tally(tally_list[0].convention, sums, *join(identities))

    def part_of(self, scheme: str, parts: int, index: int) -> Tally:
        """Return the tally without ids, as a part of a partition, which ensures that no query is in two tallies.

        Use it if 8 bytes per query are too many, beyond some 10^8 queries.

        Parameters
        ----------
        scheme : str
            The rule that assigns each query to exactly one part, such as `"hash of qid"`; tallies of one scheme merge.
        parts : int
            Number of parts of the partition.
        index : int
            Number of this part, from 0.

        Raises
        ------
        InputError
            The scheme, the number of parts or the index is invalid.

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
        """Return sums and counts, without ids, as integers that any engine can add up.

        Returns
        -------
        int64 array, shape (146,)
            Numerator and denominator as 70 limbs of 32 bits each, the lowest first, four counts, and the digest in
            two limbs. The elementwise sum of such arrays is exact for up to 2^31 tallies, in any order.

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
        """Read an array that `to_limbs` wrote, or a sum of such arrays.

        Parameters
        ----------
        limbs : int64 array, shape (146,)
            The sum over tallies under one convention.
        convention : Convention
            That convention, which limbs do not contain.
        ids : uint64 array, shape (n_queries,), optional
            `ids` of these tallies in any order. Without them, a query in two tallies is not detected, and the tally
            merges only with other parts of a partition.
        parts : Parts, optional
            The parts of a partition that these tallies cover.

        Raises
        ------
        InputError
            The limbs are not those of tallies, or `ids` has a wrong length or duplicates.
        """
        numerator, denominator, counts, digest = np.split(as_limbs(limbs, cls.N_LIMBS), _CUTS)
        sums = dict(zip(COUNTS, counts.tolist(), strict=True))
        sums |= {"numerator": from_limbs(numerator), "denominator": from_limbs(denominator)}
        sums["digest"] = from_limbs(digest) % _DIGEST
        return _tally(convention, sums, None if ids is None else as_ids(ids, sums["n_queries"]), parts)

    def score(self) -> Score:
        """Return the score: the ratio of the exact sums, correctly rounded.

        Raises
        ------
        InputError
            Every query is skipped, or the weights of the others are 0 or so small that the value overflows.
        """
        value = self.convention.link(self._ratio()) if self.denominator else self._value_of_nothing()
        counts = (self.n_queries, self.n_scored, self.n_empty, self.n_short)
        return Score(value, self.convention, *counts, digest=self.digest)

    def _ratio(self) -> float:
        try:  # Python rounds a ratio of integers correctly, whatever their size
            return self.numerator / self.denominator
        except OverflowError:
            raise InputError(
                f"the weights of the scored queries add up to {self.mass:g}: the value overflows float64.",
                hint="divide the weights by their mean",
            ) from None

    @property
    def mass(self) -> float:
        """Divisor of the sum of the numerators.

        Raises
        ------
        InputError
            It is 0.
        """
        if not self.denominator:
            self._value_of_nothing()
        return self.denominator / _UNIT

    def _value_of_nothing(self) -> float:
        """Return the value if no query has a pair; raise an error if nothing is left to average."""
        empty = getattr(self.convention, "empty", None)
        if self.convention.over == "pairs" and isinstance(empty, float):
            return empty
        reason = "every query was skipped" if not self.n_scored else "the scored queries have weight 0"
        raise InputError(f"nothing is left to average: {reason}.", hint="another policy than 'skip', or other weights")

    def to_dict(self) -> dict[str, Any]:
        """Return exact plain JSON types, with big numbers as hexadecimal text."""
        return {
            "convention": str(self.convention),
            **{name: hex(getattr(self, name)) for name in ("numerator", "denominator", "digest")},
            **{name: getattr(self, name) for name in COUNTS},
            "ids": None if self.ids is None else [hex(i) for i in self.ids.tolist()],
            **({} if self.parts is None else {"parts": self.parts.to_dict()}),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Tally:
        """Read a tally that `to_dict` wrote."""
        try:
            sums = {name: int(data[name], 16) for name in ("numerator", "denominator", "digest")}
            sums |= {name: int(data[name]) for name in COUNTS}
            ids, parts = data["ids"], data.get("parts")
            if ids is not None:
                ids = as_ids(np.array([_word(i) for i in ids], np.uint64), sums["n_queries"])
            return _tally(parse(data["convention"]), sums, ids, None if parts is None else Parts.from_dict(parts))
        except RankAdaptersError:
            raise
        except (LookupError, TypeError, ValueError, OverflowError) as error:
            raise InputError(f"this is not a tally: {error!r}.", hint="pass what Tally.to_dict() returned") from None


def _tally(convention: Convention, sums: dict[str, int], ids: Ids | None, parts: Parts | None) -> Tally:
    return Tally(convention, **sums, ids=ids, parts=parts)


def _as_tallies(tallies: object) -> list[Tally]:
    items = members(tallies) or []
    wrong = [item for item in items if not isinstance(item, Tally)]
    if wrong or not items:
        reason = f"{wrong[0]!r:.60} is not a Tally" if wrong else f"tallies={tallies!r:.60} lists no tally"
        raise InputError(f"{reason}.", hint="Tally.merge([evaluator.tally(scores), ...])")
    for tally in items[1:]:
        if tally.convention != items[0].convention:
            differing = ", ".join(items[0].convention.diff(tally.convention)) or "their class"
            msg = f"tallies under different conventions do not add up: they differ in {differing}."
            raise IncomparableScoresError(msg)
    return items


def _word(text: str) -> int:
    word = int(text, 16)
    if not 0 <= word < _DIGEST:
        raise ValueError(text)
    return word
