"""Checks that no query is in two tallies (partial sums of a measure), by query ids or a partition of all queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.declaration.fields import is_whole
from rankadapters.core.errors import InputError

Ids = NDArray[np.uint64]
_HINT = "each query in one part only, and qid= rather than group_sizes= (which numbers from 0 each time)"


@dataclass(frozen=True, slots=True)
class Parts:
    """Some parts of a partition of all queries.

    Attributes
    ----------
    scheme : str
        Name of the rule that assigns queries to parts.
    count : int
        Number of parts in the whole partition.
    indexes : frozenset of int
        Indexes of these parts, from 0.
    """

    scheme: str
    count: int
    indexes: frozenset[int]

    @classmethod
    def one(cls, scheme: object, count: object, index: object) -> Parts:
        """Return a single part, checked.

        Raises
        ------
        InputError
            The scheme is not a text, or the index is not a whole number from 0 to `count` - 1.
        """
        if not isinstance(scheme, str) or not (is_whole(count) and is_whole(index)) or not 0 <= index < count:
            raise InputError(
                f"scheme={scheme!r}, parts={count!r}, index={index!r} is not a part of a partition.",
                hint="pass a text that names the partition, its number of parts, and the index of this part from 0",
            )
        return cls(scheme, int(count), frozenset([int(index)]))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain JSON types."""
        return {"scheme": self.scheme, "count": self.count, "indexes": sorted(self.indexes)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Parts:
        """Return the parts that `to_dict` wrote."""
        return _join_parts([cls.one(data["scheme"], data["count"], index) for index in data["indexes"]])


Identity = tuple[Ids | None, Parts | None, NDArray[Any] | None]  # of a tally's queries: hashed ids, parts, original ids


def as_ids(ids: object, n_queries: int) -> Ids:
    """Return the hashed query ids of a tally, checked.

    Raises
    ------
    InputError
        They are not uint64, not one per query, or not distinct.
    """
    array = np.asarray(ids)
    if array.dtype != np.uint64 or array.shape != (n_queries,):
        raise InputError(
            f"this is not a tally: it has {array.size} ids of dtype {array.dtype} for {n_queries} queries.",
            hint="np.concatenate the uint64 ids of all tallies",
        )
    _, repeated = _joined([array])
    if repeated.size:
        first, second, *_ = np.flatnonzero(array == repeated[0])
        msg = f"this is not a tally: ids[{first}] and ids[{second}] are one query."
        raise InputError(msg, hint=_HINT)
    return array


def join(tallies: list[Identity]) -> tuple[Ids | None, Parts | None]:
    """Merge what identifies the queries of tallies: hashed ids if all tallies have them, else parts.

    Raises
    ------
    InputError
        A query or a part is in two tallies, or this cannot be excluded.
    """
    if len(tallies) == 1:
        return tallies[0][:2]
    hashes = [ids for ids, _, _ in tallies if ids is not None]
    if len(hashes) == len(tallies):
        joined, repeated = _joined(hashes)
        if repeated.size:
            raise _in_two(tallies, repeated)
        return joined, None
    all_parts = [parts for _, parts, _ in tallies if parts is not None]
    if len(all_parts) < len(tallies):
        raise _unidentified(tallies)
    return None, _join_parts(all_parts)


def _joined(ids: list[Ids]) -> tuple[Ids, Ids]:
    """Return all ids, sorted, and the ids that occur more than once."""
    # A stable sort is fast if the input has long sorted stretches, such as the ids of a merged tally.
    joined = np.sort(np.concatenate(ids), kind="stable")
    return joined, joined[1:][joined[1:] == joined[:-1]]


def _in_two(tallies: list[Identity], repeated: Ids) -> InputError:
    """Return the error for the first query that is in two tallies, with its original id if a tally knows it."""
    (first, row), (second, _) = matches = [
        (number, int(row)) for number, (ids, _, _) in enumerate(tallies) for row in np.flatnonzero(ids == repeated[0])
    ][:2]
    original_ids = [ids[row] for number, row in matches if (ids := tallies[number][2]) is not None]
    query = f"query {original_ids[0]}" if original_ids else f"query number {row} of tally {first}"
    more = f", and {repeated.size - 1} more queries are in two" if repeated.size > 1 else ""
    return InputError(f"{query} is in tallies {first} and {second}{more}.", hint=_HINT)


def _unidentified(tallies: list[Identity]) -> InputError:
    number, parts = next((number, parts) for number, (ids, parts, _) in enumerate(tallies) if ids is None)
    why = "has no ids and is not a part of a partition" if parts is None else "is a part of a partition, others are not"
    return InputError(
        f"tally {number} {why}, so that a query in two tallies would not be found.",
        hint="Tally.from_limbs(..., ids=...), or part_of(scheme, parts, index) of every tally",
    )


def _join_parts(all_parts: list[Parts]) -> Parts:
    first, tally_of = all_parts[0], dict[int, int]()
    for number, parts in enumerate(all_parts):
        if (parts.scheme, parts.count) != (first.scheme, first.count):
            raise InputError(
                (
                    f"tallies 0 and {number} are parts of different partitions, {first.scheme!r} in {first.count} and "
                    f"{parts.scheme!r} in {parts.count}, so that a query in both would not be found."
                ),
                hint="one partition for all, or tallies with ids",
            )
        for index in sorted(parts.indexes):
            if index in tally_of:
                msg = f"part {index} of {first.scheme!r} is in tallies {tally_of[index]} and {number}."
                raise InputError(msg, hint="each part once")
            tally_of[index] = number
    return Parts(first.scheme, first.count, frozenset(tally_of))
