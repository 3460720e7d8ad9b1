"""What tells that no query is in two tallies: the queries' ids, or a partition of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.errors import InputError

Ids = NDArray[np.uint64]
_TWICE = "Hint: each query in one part only, and qid= rather than group_sizes= (which numbers from 0 each time)."


@dataclass(frozen=True, slots=True)
class Parts:
    """Some parts of a partition of all queries.

    Attributes
    ----------
    scheme : str
        What assigns a query to its part.
    count : int
        Parts that the partition has.
    indexes : frozenset of int
        The parts that are here, from 0.
    """

    scheme: str
    count: int
    indexes: frozenset[int]

    @classmethod
    def one(cls, scheme: object, count: object, index: object) -> Parts:
        """Check and name one part.

        Raises
        ------
        InputError
            The scheme is not a text, or the index not from 0 to `count` - 1.
        """
        whole = all(isinstance(each, (int, np.integer)) and not isinstance(each, bool) for each in (count, index))
        if not isinstance(scheme, str) or not whole or not 0 <= index < count:  # type: ignore[operator]
            raise InputError(
                f"scheme={scheme!r}, parts={count!r}, index={index!r} is not a part of a partition.",
                hint="a text that names what assigns queries to parts, how many there are, and which from 0 this is",
            )
        return cls(scheme, int(count), frozenset([int(index)]))  # type: ignore[call-overload]

    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON types."""
        return {"scheme": self.scheme, "count": self.count, "indexes": sorted(self.indexes)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Parts:
        """Read what `to_dict` gave."""
        return _join_parts([cls.one(data["scheme"], data["count"], index) for index in data["indexes"]])


Held = tuple[Ids | None, Parts | None, NDArray[Any] | None]


def as_ids(ids: object, n_queries: int) -> Ids:
    """Take what should be the ids of a tally.

    Raises
    ------
    InputError
        They are not hashes, not as many as queries, or one is there twice.
    """
    array = np.asarray(ids)
    if array.dtype != np.uint64 or array.shape != (n_queries,):
        raise InputError(
            f"this is not a tally: it has {array.size} ids of dtype {array.dtype} for {n_queries} queries.",
            hint="np.concatenate the uint64 ids of all tallies",
        )
    _, twice = _joined([array])
    if twice.size:
        first, second, *_ = np.flatnonzero(array == twice[0])
        msg = f"this is not a tally: ids[{first}] and ids[{second}] are one query.\n{_TWICE}"
        raise InputError(msg)
    return array


def join(tallies: list[Held]) -> tuple[Ids | None, Parts | None]:
    """Join the ids or the parts of tallies, each given as its ids, its parts and its queries' own ids if at hand.

    Raises
    ------
    InputError
        A query or a part is in two tallies, or nothing tells that none is.
    """
    if len(tallies) == 1:
        return tallies[0][:2]
    hashes = [ids for ids, _, _ in tallies if ids is not None]
    if len(hashes) == len(tallies):
        joined, twice = _joined(hashes)
        if twice.size:
            raise _in_two(tallies, twice)
        return joined, None
    parts = [each for _, each, _ in tallies if each is not None]
    if len(parts) < len(tallies):
        raise _unknown(tallies)
    return None, _join_parts(parts)


def _joined(ids: list[Ids]) -> tuple[Ids, Ids]:
    """All ids, sorted, and those of them that are there twice."""
    # A stable sort merges runs that are sorted already, such as those of a tally that was merged before.
    joined = np.sort(np.concatenate(ids), kind="stable")
    return joined, joined[1:][joined[1:] == joined[:-1]]


def _in_two(tallies: list[Held], twice: Ids) -> InputError:
    """Name the first query that is in two tallies: by its id where one of them has the ids at hand."""
    (first, place), (second, _) = found = [
        (number, int(place)) for number, (ids, _, _) in enumerate(tallies) for place in np.flatnonzero(ids == twice[0])
    ][:2]
    named = [ids[place] for number, place in found if (ids := tallies[number][2]) is not None]
    who = f"query {named[0]}" if named else f"query number {place} of tally {first}"
    more = f", and {twice.size - 1} more queries are in two" if twice.size > 1 else ""
    return InputError(f"{who} is in tallies {first} and {second}{more}.\n{_TWICE}")


def _unknown(tallies: list[Held]) -> InputError:
    number, parts = next((number, parts) for number, (ids, parts, _) in enumerate(tallies) if ids is None)
    why = "has no ids and is not a part of a partition" if parts is None else "is a part of a partition, others are not"
    return InputError(
        f"tally {number} {why}, so that a query in two tallies would not be found.",
        hint="Tally.from_limbs(..., ids=...), or part_of(scheme, parts, index) of every tally",
    )


def _join_parts(several: list[Parts]) -> Parts:
    first, seen = several[0], dict[int, int]()
    for number, each in enumerate(several):
        if (each.scheme, each.count) != (first.scheme, first.count):
            raise InputError(
                (
                    f"tallies 0 and {number} are parts of different partitions, {first.scheme!r} in {first.count} and "
                    f"{each.scheme!r} in {each.count}, so that a query in both would not be found."
                ),
                hint="one partition for all, or tallies with ids",
            )
        for index in sorted(each.indexes):
            if index in seen:
                raise InputError(
                    f"part {index} of {first.scheme!r} is in tallies {seen[index]} and {number}.", hint="each part once"
                )
            seen[index] = number
    return Parts(first.scheme, first.count, frozenset(seen))
