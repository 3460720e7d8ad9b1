"""Sums over the queries of each segment, which can be merged, and the scores computed from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, UnsupportedConventionError
from rankadapters.core.exact_sums import Limbs
from rankadapters.evaluation.assignment import Assignment, in_order
from rankadapters.evaluation.measured import Measured
from rankadapters.evaluation.score import Score
from rankadapters.evaluation.tally import Tally, standard_error

# By segment, None for all queries: an array with a line for each convention, the limbs of its tally and, if there are
# segments, `Measured.squares`. Such arrays add up element by element.
Segmented = Mapping[Any, Limbs]


class Outcome(NamedTuple):
    """A score and its standard error, which is NaN if it is undefined or was not computed."""

    score: Score
    standard_error: float


def refuse_pooled(conventions: Iterable[Convention]) -> None:
    """Raise an error if a convention takes all rows as one query, so that parts of the rows cannot be added up."""
    for convention in conventions:
        if convention.over == "rows":
            msg = f"{convention.name} takes all rows as one query (pool='rows'), so parts cannot be added."
            raise UnsupportedConventionError(msg, hint="ra.evaluate, which holds all rows in memory, or pool='queries'")


def sums_by_segment(measured: Measured, segments: Assignment | None) -> Segmented:
    """Return the sums over all queries and over each segment; without segments, there are no sums of squares."""
    if segments is None:
        return {None: _tallies(measured)}
    parts = {None: measured, **{name: measured.of_queries(numbers) for name, numbers in segments.items()}}
    return {name: np.hstack([_tallies(part), part.squares]) for name, part in parts.items()}


def _tallies(measured: Measured) -> Limbs:
    return np.stack([tally.to_limbs() for tally in measured.tallies.values()])


def merged(parts: Iterable[Segmented]) -> dict[Any, Limbs]:
    """Merge the sums of several parts of the data; the parts may have different segments."""
    by_segment: dict[Any, Limbs] = {}
    for part in parts:
        for name, limbs in part.items():
            by_segment[name] = by_segment[name] + limbs if name in by_segment else limbs
    return by_segment


def outcomes(sums: Segmented, conventions: Sequence[Convention]) -> dict[Any, dict[Convention, Outcome]]:
    """Return the outcome of each convention in each segment; segments are sorted, and all queries come last.

    Raises
    ------
    InputError
        A segment has nothing left to average; the message names it.
    """
    names = [*in_order(name for name in sums if name is not None), None]
    return {name: _outcomes(name, sums[name], conventions) for name in names}


def _outcomes(name: Any, sums: Limbs, conventions: Sequence[Convention]) -> dict[Convention, Outcome]:
    by_convention = {}
    for convention, line in zip(conventions, sums, strict=True):
        tally, squares = Tally.from_limbs(line[: Tally.N_LIMBS], convention), line[Tally.N_LIMBS :]
        with naming(name):
            error = standard_error(tally, squares) if squares.size else np.nan
            by_convention[convention] = Outcome(tally.score(), error)
    return by_convention


@contextmanager
def naming(segment: Any) -> Iterator[None]:
    """Add the segment's name to an error raised in the block."""
    try:
        yield
    except InputError as error:
        raise (error if segment is None else error.about(f"segment {segment!r}")) from None
