"""Sums over the queries of each segment, which can be merged, and the scores computed from them."""

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
    """The sums over queries under each convention."""

    limbs: Ints | None = None  # a row per convention: its tally, then `Measured.squares`; None if nothing was ranked
    largest: Mapping[Convention, float] = MappingProxyType({})  # see `Measured.largest`


Segmented = Mapping[Any, Sums]  # by segment; the key None means all queries


class Outcome(NamedTuple):
    """A score and its standard error, which is NaN if it is undefined or was not computed."""

    score: Score
    standard_error: float


def sums_by_segment(measured: Measured, segments: Assignment | None) -> Segmented:
    """Return the sums over all queries and over each segment; without segments, there are no sums of squares."""
    if segments is None:
        return {None: Sums(_tallies(measured), measured.largest)}
    parts = {None: measured, **{name: measured.of_queries(numbers) for name, numbers in segments.items()}}
    return {name: Sums(np.hstack([_tallies(part), part.squares]), part.largest) for name, part in parts.items()}


def _tallies(measured: Measured) -> Ints:
    return np.stack([tally.to_limbs() for tally in measured.tallies.values()])


def merged(parts: Sequence[Segmented]) -> dict[Any, Sums]:
    """Merge the sums of several parts of the data; the parts may have different segments."""
    by_segment: dict[Any, list[Sums]] = {}
    for part in parts:
        for name, sums in part.items():
            by_segment.setdefault(name, []).append(sums)
    return {name: _merged(part_sums) for name, part_sums in by_segment.items()}


def _merged(part_sums: Sequence[Sums]) -> Sums:
    limbs = [sums.limbs for sums in part_sums if sums.limbs is not None]
    largest: dict[Convention, float] = {}
    for sums in part_sums:
        for convention, value in sums.largest.items():
            largest[convention] = max(value, largest.get(convention, value))
    return Sums(np.sum(limbs, axis=0) if limbs else None, largest)


def outcomes(sums: Segmented, conventions: Sequence[Convention]) -> dict[Any, dict[Convention, Outcome]]:
    """Return the outcome of each convention in each segment; segments are sorted, and all queries come last.

    Raises
    ------
    InputError
        A segment has nothing left to average; the message names it.
    """
    names = [*in_order(name for name in sums if name is not None), None]
    return {name: _outcomes(name, sums[name], conventions) for name in names}


def _outcomes(name: Any, sums: Sums, conventions: Sequence[Convention]) -> dict[Convention, Outcome]:
    by_spec = {}
    for convention, (tally, squares) in _by_convention(sums, conventions).items():
        with naming(name):
            by_spec[convention] = Outcome(tally.score(), standard_error(tally, squares) if squares.size else np.nan)
    return by_spec


@contextmanager
def naming(segment: Any) -> Iterator[None]:
    """Add the segment's name to an error raised in the block."""
    try:
        yield
    except InputError as error:
        raise (error if segment is None else error.about(f"segment {segment!r}")) from None


def above_value_warnings(sums: Segmented, conventions: Sequence[Convention]) -> list[str]:
    """Return a warning for each mean that is above every query's value because of the value of empty queries."""
    messages = []
    for name, part in sums.items():
        tallies = _by_convention(part, conventions) if part.largest else {}
        warnings = [above_values(tallies[convention][0], value) for convention, value in part.largest.items()]
        messages += [message if name is None else f"segment {name!r}: {message}" for message in warnings if message]
    return messages


def _by_convention(sums: Sums, conventions: Iterable[Convention]) -> dict[Convention, tuple[Tally, Ints]]:
    assert sums.limbs is not None  # noqa: S101 - something was ranked, because there are rows
    lines = zip(conventions, sums.limbs, strict=True)
    return {spec: (Tally.from_limbs(line[: Tally.N_LIMBS], spec), line[Tally.N_LIMBS :]) for spec, line in lines}
