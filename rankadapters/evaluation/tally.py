"""Tallies: exact sums over some queries, whose merged result is bit-identical for any partition."""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.classes import frozen_class
from rankadapters.core.declaration.arguments import members
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.docstrings import describes
from rankadapters.core.errors import IncomparableScoresError, InputError, RankAdaptersError
from rankadapters.core.exact_sums import LIMB, SMALLEST_EXPONENT, SUM_LIMBS, Limbs, from_limbs, to_limbs
from rankadapters.evaluation.score import COUNTS, Score
from rankadapters.presets.texts import parse

Ids = NDArray[np.uint64]  # hashed query ids

_DIGEST = 2**64
_UNIT = 1 << SMALLEST_EXPONENT  # 1 in units of the smallest float64
_CUTS = (SUM_LIMBS, 2 * SUM_LIMBS, 2 * SUM_LIMBS + len(COUNTS))  # where numerator, denominator and counts end
_HINT = "each query in one part only, and qid= rather than group_sizes= (which numbers from 0 each time)"


@frozen_class
@dataclass(frozen=True, slots=True, eq=False)
@describes(Score)
class Tally:
    """Exact sums of a convention over some queries; tallies of disjoint queries add up in any order.

    Attributes
    ----------
    convention : Convention
        Defines the value of each query.
    numerator, denominator : int
        The two sums, in units of the smallest float64, 2^-1074.
    n_queries, n_scored, n_empty, n_short, digest
        As in `Score`.
    ids : uint64 array, shape (n_queries,), or None
        A hash of each query's id, of 8 bytes, to detect a query that is in two tallies.
    N_LIMBS : int
        Length of `to_limbs()`, 146.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.presets.textbook(5)
    >>> parts = [ra.Evaluator([1, 0], conv, qid=[q, q]).tally([1.0, 2.0]) for q in "abc"]
    >>> ra.Tally.merge(parts).score().n_queries, (parts[0] + parts[1]).score().n_queries
    (3, 2)
    """

    convention: Convention
    numerator: int
    denominator: int
    n_queries: int
    n_scored: int
    n_empty: int
    n_short: int
    digest: int
    ids: Ids | None
    N_LIMBS: ClassVar[int] = _CUTS[-1] + 2

    def __repr__(self) -> str:
        """Show the shortest text of the convention and the counts; the exact sums have hundreds of digits."""
        counts = ", ".join(f"{name}={getattr(self, name)}" for name in COUNTS)
        return f"Tally({self.convention.short_name!r}, {counts})"

    def __add__(self, other: object) -> Tally:
        """Merge two tallies, as `merge` does."""
        return Tally.merge([self, other]) if isinstance(other, Tally) else NotImplemented

    def __radd__(self, other: object) -> Tally:
        """Let `sum(tallies)` start from 0."""
        return self if other == 0 else NotImplemented

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
            There is no tally, an item is not a tally, a query is in two of them, or one has no ids, so that this
            cannot be checked.
        IncomparableScoresError
            The conventions differ.
        """
        tally_list = _as_tallies(tallies)
        names = ("numerator", "denominator", *COUNTS, "digest")
        sums: dict[str, Any] = {name: sum(getattr(tally, name) for tally in tally_list) for name in names}
        sums["digest"] %= _DIGEST
        return Tally(tally_list[0].convention, **sums, ids=merged_ids(tally_list))

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
        counts = [getattr(self, name) for name in COUNTS]
        digest = [self.digest % 2**LIMB, self.digest >> LIMB]
        return np.concatenate([to_limbs(self.numerator), to_limbs(self.denominator), counts, digest])

    @classmethod
    def from_limbs(cls, limbs: Limbs, convention: Convention, *, ids: Ids | None = None) -> Tally:
        """Read an array that `to_limbs` wrote, or a sum of such arrays.

        Parameters
        ----------
        limbs : int64 array, shape (146,)
            The sum over tallies under one convention.
        convention : Convention
            That convention, which limbs do not contain.
        ids : uint64 array, shape (n_queries,), optional
            `ids` of these tallies in any order. Without them, a query in two tallies is not detected, and the result
            cannot be merged with other tallies.

        Raises
        ------
        InputError
            The limbs are not those of tallies, or `ids` has a wrong length or duplicates.
        """
        array = np.asarray(limbs)
        if array.dtype.kind not in "iu" or array.shape != (cls.N_LIMBS,):
            msg = f"limbs has dtype {array.dtype} and shape {array.shape}, but a tally's are {cls.N_LIMBS} integers."
            raise InputError(msg, hint="pass what Tally.to_limbs() returned, or a sum of such arrays")
        numerator, denominator, counts, digest = np.split(array.astype(np.int64, copy=False), _CUTS)
        sums = dict(zip(COUNTS, counts.tolist(), strict=True))
        sums |= {"numerator": from_limbs(numerator), "denominator": from_limbs(denominator)}
        sums["digest"] = from_limbs(digest) % _DIGEST
        return cls(convention, **sums, ids=None if ids is None else as_ids(ids, sums["n_queries"]))

    def score(self) -> Score:
        """Return the score: the ratio of the exact sums, correctly rounded.

        Raises
        ------
        InputError
            Every query is skipped, or the weights of the others are 0 or so small that the value overflows.
        """
        if self.denominator:
            try:  # Python rounds a ratio of integers correctly, whatever their size
                ratio = self.numerator / self.denominator
            except OverflowError:
                msg = f"the weights of the scored queries add up to {self.mass:g}: the value overflows float64."
                raise InputError(msg, hint="divide the weights by their mean") from None
            value = self.convention.link(ratio)
        elif (of_nothing := self.convention.value_of_nothing) is not None:
            value = of_nothing
        else:
            reason = "the scored queries have weight 0" if self.n_scored else "every query was skipped"
            hint = "another policy than 'skip', or other weights"
            raise InputError(f"nothing is left to average: {reason}.", hint=hint)
        counts = (self.n_queries, self.n_scored, self.n_empty, self.n_short)
        return Score(value, self.convention, *counts, digest=self.digest)

    @property
    def mass(self) -> float:
        """Divisor of the sum of the numerators."""
        return self.denominator / _UNIT

    def to_dict(self) -> dict[str, Any]:
        """Return exact plain JSON types, with big numbers as hexadecimal text, and the ids in base64."""
        return {
            "convention": str(self.convention),
            **{name: hex(getattr(self, name)) for name in ("numerator", "denominator", "digest")},
            **{name: getattr(self, name) for name in COUNTS},
            "ids": None if self.ids is None else as_text(self.ids),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Tally:
        """Read a tally that `to_dict` wrote."""
        try:
            sums = {name: int(data[name], 16) for name in ("numerator", "denominator", "digest")}
            sums |= {name: int(data[name]) for name in COUNTS}
            ids = data["ids"]
            if ids is not None:
                ids = as_ids(from_text(ids, np.uint64), sums["n_queries"])
            return cls(parse(data["convention"]), **sums, ids=ids)
        except RankAdaptersError:
            raise
        except (LookupError, TypeError, ValueError, OverflowError) as error:
            raise InputError(f"this is not a tally: {error!r}.", hint="pass what Tally.to_dict() returned") from None


def standard_error(tally: Tally, limbs: Limbs) -> float:
    """Return the standard error of a tally's value, as `Measured.standard_errors` defines it.

    Parameters
    ----------
    tally : Tally
        Sums over the queries.
    limbs : int64 array, shape (211,)
        The result of `exact_sums.squares` for the same queries.

    Returns
    -------
    float
        NaN for fewer than two scored queries, or if a weight exceeds 2^500.
    """
    m, numerator, denominator = tally.n_scored, tally.numerator, tally.denominator
    *sums, [n_too_large] = np.split(limbs, [SUM_LIMBS, 2 * SUM_LIMBS, 3 * SUM_LIMBS])
    term_sum, product_sum, divisor_sum = map(from_limbs, sums)
    if m < 2 or not denominator or n_too_large or not divisor_sum:  # noqa: PLR2004 - a standard error needs two
        return math.nan
    # The sum of squared residuals, times the square of the denominator.
    squared = term_sum * denominator**2 - 2 * product_sum * numerator * denominator + divisor_sum * numerator**2
    variance = max((m * squared << SMALLEST_EXPONENT) / ((m - 1) * denominator**4), 0.0)
    return math.sqrt(variance) * tally.convention.link_slope(tally.score().value)


def as_text(array: NDArray[Any]) -> str:
    """Return integers of 8 bytes as text in base64, of 11 characters for each.

    >>> as_text(np.array([7])), from_text("BwAAAAAAAAA=", np.int64)
    ('BwAAAAAAAAA=', array([7]))
    """
    return b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode()


def from_text(text: str, kind: type[Any]) -> NDArray[Any]:
    """Return the integers that `as_text` wrote."""
    return np.frombuffer(b64decode(text, validate=True), np.dtype(kind).newbyteorder("<")).astype(kind)


def _as_tallies(tallies: object) -> list[Tally]:
    items = members(tallies) or []
    wrong = [item for item in items if not isinstance(item, Tally)]
    if wrong or not items:
        reason = f"{wrong[0]!r:.60} is not a Tally" if wrong else f"tallies={tallies!r:.60} lists no tally"
        hint = "Tally.merge([evaluator.tally(scores), ...]), or ra.SegmentTallies.merge([ra.tally_table(...), ...])"
        raise InputError(f"{reason}.", hint=hint)
    for tally in items[1:]:
        if tally.convention != items[0].convention:
            differing = ", ".join(items[0].convention.diff(tally.convention)) or "their class"
            msg = f"tallies under different conventions do not add up: they differ in {differing}."
            raise IncomparableScoresError(msg)
    return items


def merged_ids(tallies: Sequence[Any]) -> Any:
    """Return the sorted ids of all tallies; raise an error if a query is in two of them, or if this is unknown."""
    if len(tallies) == 1:
        return tallies[0].ids
    all_ids = []
    for number, tally in enumerate(tallies):
        if tally.ids is None:
            msg = f"tally {number} has no ids, so that a query in two tallies would not be found."
            raise InputError(msg, hint="Tally.from_limbs(..., ids=...)")
        all_ids.append(tally.ids)
    merged, repeated = _sorted_ids(all_ids)
    if repeated.size:
        rows = [(number, int(row)) for number, ids in enumerate(all_ids) for row in np.flatnonzero(ids == repeated[0])]
        (first, row), (second, _) = rows[:2]
        more = f", and {repeated.size - 1} more queries are in two" if repeated.size > 1 else ""
        raise InputError(f"query number {row} of tally {first} is in tallies {first} and {second}{more}.", hint=_HINT)
    return merged


def _sorted_ids(ids: list[Ids]) -> tuple[Ids, Ids]:
    """Return all ids, sorted, and the ids that occur more than once."""
    # A stable sort is fast if the input has long sorted stretches, such as the ids of a merged tally.
    merged = np.sort(np.concatenate(ids), kind="stable")
    return merged, merged[1:][merged[1:] == merged[:-1]]


def as_ids(ids: object, n_queries: int) -> Ids:
    """Return the hashed query ids of a tally; refuse other than one uint64 per query, all distinct."""
    array = np.asarray(ids)
    if array.dtype != np.uint64 or array.shape != (n_queries,):
        msg = f"this is not a tally: it has {array.size} ids of dtype {array.dtype} for {n_queries} queries."
        raise InputError(msg, hint="np.concatenate the uint64 ids of all tallies")
    _, repeated = _sorted_ids([array])
    if repeated.size:
        first, second, *_ = np.flatnonzero(array == repeated[0])
        raise InputError(f"this is not a tally: ids[{first}] and ids[{second}] are one query.", hint=_HINT)
    return array
