"""What queries add up to, by segment: sums that merge, and the scores that they make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from rankadapters.core.data.columns import Ints
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.above_values import above_values
from rankadapters.core.evaluation.panel import Measured
from rankadapters.core.evaluation.score import Score
from rankadapters.core.evaluation.spread import standard_error
from rankadapters.core.evaluation.tally import Tally
from rankadapters.segments.assignment import Assignment, in_order


class Sums(NamedTuple):
    """What queries add up to under each convention."""

    limbs: Ints | None = None  # a line for each: that of its tally, then `Measured.squares`; None where nothing ranked
    largest: Mapping[Convention, float] = MappingProxyType({})  # as `Measured.largest`


Segmented = Mapping[Any, Sums]  # by segment; None is all queries, since no segment may be missing


class Outcome(NamedTuple):
    """A score and its standard error; NaN where there is none, or where it was not asked for."""

    score: Score
    standard_error: float


def sums_by_segment(measured: Measured, segments: Assignment | None) -> Segmented:
    """Add up all queries, and those of each segment; without segments there are no sums of squares."""
    if segments is None:
        return {None: Sums(_tallies(measured), measured.largest)}
    parts = {None: measured, **{name: measured.of_queries(numbers) for name, numbers in segments.items()}}
    return {name: Sums(np.hstack([_tallies(part), part.squares]), part.largest) for name, part in parts.items()}


def _tallies(measured: Measured) -> Ints:
    return np.stack([tally.to_limbs() for tally in measured.tallies.values()])


def merged(parts: Sequence[Segmented]) -> dict[Any, Sums]:
    """Merge the sums of parts of the data, which may hold other segments."""
    by_segment: dict[Any, list[Sums]] = {}
    for part in parts:
        for name, sums in part.items():
            by_segment.setdefault(name, []).append(sums)
    return {name: _merged(several) for name, several in by_segment.items()}


def _merged(several: Sequence[Sums]) -> Sums:
    limbs = [sums.limbs for sums in several if sums.limbs is not None]
    largest: dict[Convention, float] = {}
    for sums in several:
        largest |= {each: max(value, largest.get(each, value)) for each, value in sums.largest.items()}
    return Sums(np.sum(limbs, axis=0) if limbs else None, largest)


def outcomes(sums: Segmented, conventions: Sequence[Convention]) -> dict[Any, dict[Convention, Outcome]]:
    """Return the outcome of each convention in each segment, the segments in their order and all queries last.

    Raises
    ------
    InputError
        A segment, which the message names, has nothing left to average.
    """
    names = [*in_order(name for name in sums if name is not None), None]
    return {name: _outcomes(name, sums[name], conventions) for name in names}


def _outcomes(name: Any, sums: Sums, conventions: Sequence[Convention]) -> dict[Convention, Outcome]:
    found = {}
    for convention, (tally, squares) in _by_convention(sums, conventions).items():
        with naming(name):
            found[convention] = Outcome(tally.score(), standard_error(tally, squares) if squares.size else np.nan)
    return found


@contextmanager
def naming(segment: Any) -> Iterator[None]:
    """Name the segment in which an evaluation fails."""
    try:
        yield
    except InputError as error:
        raise (error if segment is None else error.about(f"segment {segment!r}")) from None


def lifted(sums: Segmented, conventions: Sequence[Convention]) -> list[str]:
    """Say where empty queries lift a mean above every query's value; as `Measured.above_values`."""
    messages = []
    for name, part in sums.items():
        tallies = _by_convention(part, conventions) if part.largest else {}
        found = [above_values(tallies[each][0], value) for each, value in part.largest.items()]
        messages += [message if name is None else f"segment {name!r}: {message}" for message in found if message]
    return messages


def _by_convention(sums: Sums, conventions: Iterable[Convention]) -> dict[Convention, tuple[Tally, Ints]]:
    assert sums.limbs is not None  # noqa: S101 - there are rows, so that something was ranked
    lines = zip(conventions, sums.limbs, strict=True)
    return {each: (Tally.from_limbs(line[: Tally.N_LIMBS], each), line[Tally.N_LIMBS :]) for each, line in lines}
