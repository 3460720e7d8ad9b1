"""What would explain a number that is not ours, from the exact and everyday to the vague."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from rankadapters.core import presets
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import RankAdaptersError
from rankadapters.parity.changed_values import Cause, ChangedValues
from rankadapters.parity.data_causes import changed_data
from rankadapters.parity.number_causes import in_last_bits, number_causes
from rankadapters.parity.ours import OurNumber
from rankadapters.parity.query_causes import cut, left_out, other_divisors, other_means, swapped
from rankadapters.parity.rows import ParityRow, QueryDifferences
from rankadapters.parity.tolerances import FLOAT32, FULL_DOUBLE, Tolerance, agree, relative, width
from rankadapters.statistics.printed import Printed, as_printed

CUTOFFS = (1, 3, 5, 10, 20, None)
MOST_CUTOFFS = 100  # tried one by one
NAMED = 3  # causes of a kind that are named
AROUND = 100  # numbers of the same digits around a number, among which values of changes are counted
LIKELY = 5  # of these: where more are values of changes, a match may well be chance
FEW_DECIMALS = 8  # a float of no more was rounded
CLOSER = 1e-3  # of the difference: how far from the number what explains it may lie
NOT_A_SUM = (
    "The value is not a sum over the queries, so that only its fields and whole columns were tried, and no query has a "
    "part in it."
)

Search = Callable[[OurNumber], ChangedValues]
PerQuery = Callable[[], QueryDifferences | None]


def judge(
    ours: OurNumber, value: float, source: str, version: str, *, notes: Iterable[str] = (),
    tolerance: Tolerance | None = None, per_query: PerQuery = lambda: None,
) -> ParityRow:  # fmt: skip
    """Compare another's value with ours; where it differs, search for the cause."""
    allowed = relative(FULL_DOUBLE, ours.value) if tolerance is None else tolerance
    row = ParityRow.compare(
        source, version, ours.convention, value=value, our_value=ours.value, tolerance=allowed, reason="\n".join(notes)
    )
    if row.verdict == "equal":
        return row
    differences = per_query()
    likely = causes(ours, value=value, tolerance=allowed, per_query=differences)
    why = "; ".join(cause.text for cause in likely) or "none of the changes tried gives it"
    whole = "" if ours.convention.is_sum else NOT_A_SUM
    reason = "\n".join(filter(None, [row.reason, f"Looking for the cause: {why}.", whole]))
    other = next((cause.convention for cause in likely if cause.convention is not None), None)
    if differences is None and other is not None:
        differences = OurNumber.of(ours.queries, ours.scores, other, leaving=True).gap(ours)
    return replace(row, reason=reason, per_query=differences)


def causes(
    ours: OurNumber, *, value: float, tolerance: Tolerance, per_query: QueryDifferences | None = None
) -> list[Cause]:
    """Search for one change of the number, the convention or the data that gives a number which differs from ours.

    The search tries, in this order: our number rounded or turned into another; every field of the convention; other
    means; columns in another order, negated or grouped otherwise; each query left out, cut short or cut in two (where
    the data is not too large); weights that are ignored or swapped; presets; two changes at once. What cannot be
    excluded comes last: matches that may be chance, tied rows in another order, float32.

    Returns
    -------
    list of Cause
        One per candidate; empty where none gives the number.

    Examples
    --------
    >>> from rankadapters import Queries
    >>> queries = Queries([1, 0, 0, 1], group_sizes=[2, 2])
    >>> ours = OurNumber.of(queries, np.array([2.0, 1, 4, 3]), presets.yahoo(2))
    >>> causes(ours, value=1.0, tolerance=1e-9)[3].text  # so little data has other explanations too
    'it is the value without query 1'
    >>> causes(ours, value=0.8155, tolerance=1e-9)[0].text
    'it is ours rounded to 4 decimals: a tolerance of 5e-05 takes it'
    """
    if not np.isfinite(value):
        return [Cause(f"it is {value}, which is not a value of any convention")]
    certain = [Cause(f"it is {text}") for text in (*_ratio(per_query), *number_causes(value, ours.value, tolerance))]
    if in_last_bits(value, ours.value):
        return certain
    if not isinstance(tolerance, Printed):
        tolerance = max(tolerance, min(relative(FULL_DOUBLE, value), CLOSER * abs(value - ours.value)))
    few = isinstance(tolerance, Printed) and tolerance.decimals <= FEW_DECIMALS
    sure, chance = _search(ours, value, tolerance, tiers=1 if certain else 2 if few else 3)
    if not (certain or sure or isinstance(tolerance, Printed)):
        rounded = as_printed(value)
        if rounded.decimals <= FEW_DECIMALS and width(rounded) > tolerance:
            sure, chance = _search(ours, value, rounded, tiers=2)
            sure = [cause._replace(text=f"taken as rounded, {cause.text}") for cause in sure]
    return [*certain, *sure] or [*chance, *map(Cause, _vague(ours, value, tolerance))]


def _search(ours: OurNumber, value: float, tolerance: Tolerance, tiers: int) -> tuple[list[Cause], list[Cause]]:
    """Find the causes that fit, tier by tier until one fits, and apart from them those that may fit by chance."""
    near: set[float] = set()
    sure, chance = list[Cause](), list[Cause]()
    for tier in _tiers(ours)[:tiers]:
        for search in tier:
            candidates = search(ours)
            near |= _near(candidates, value, tolerance)
            hits = np.flatnonzero(agree(candidates.values, value, tolerance))
            (sure if len(near) <= LIKELY else chance).extend(_few(map(candidates.describe, hits.tolist())))
        if sure:
            break
    said = f"perhaps by chance, as {len(near)} of {AROUND} numbers around it would fit something"
    return sure, [Cause(f"{said}: {'; '.join(cause.text for cause in chance)}")] if chance else []


def _tiers(ours: OurNumber) -> list[list[Search]]:
    """Searches by how likely what they find is to be the cause; the last fits numbers of few decimals by chance."""
    if not ours.convention.is_sum:  # no query has a part in the value
        return [[_fields, changed_data], [_presets]]
    retrieval = ours.queries.retrieved is not None or ours.queries.judged is not None
    of_queries = [left_out, *([] if retrieval else [cut]), swapped]
    return [[_fields, other_means, changed_data, *of_queries], [_presets, _two_changes], [other_divisors]]


def _near(candidates: ChangedValues, value: float, tolerance: Tolerance) -> set[float]:
    """Count in steps of the tolerance, which of the numbers around a value are values of candidates."""
    with np.errstate(all="ignore"):
        steps = np.round((candidates.values - value) / (2 * width(tolerance)))
    return set(steps[np.abs(steps) <= AROUND // 2].tolist())


def _few(causes: Iterator[Cause]) -> list[Cause]:
    several = list(islice(causes, NAMED + 1))
    several[NAMED:] = [Cause(f"and others, such as: {last.text}") for last in several[NAMED:]]
    return several


def _ratio(per_query: QueryDifferences | None) -> Iterator[str]:
    """A constant ratio of the source's value of every query to ours."""
    if per_query is None:
        return
    theirs, ours = per_query.values, per_query.our_values
    both = np.isfinite(theirs) & np.isfinite(ours) & (ours != 0)
    if len(set(ours[both].tolist())) > 1:
        ratio = theirs[both][0] / ours[both][0]
        if ratio != 1 and np.allclose(theirs, ratio * ours, rtol=FULL_DOUBLE, atol=0, equal_nan=True):
            yield f"{ratio:.6g} times ours on every query"


def _fields(ours: OurNumber) -> ChangedValues:
    return _under(ours, _flips(ours))


def _presets(ours: OurNumber) -> ChangedValues:
    return _under(ours, _named(ours))


def _two_changes(ours: OurNumber) -> ChangedValues:
    """Another field or preset, and one-document queries left out, as by a loop over scikit-learn's function."""
    several = np.flatnonzero(ours.sizes > 1)
    if several.size in {0, ours.sizes.size}:
        return ChangedValues.of([])
    queries, rows = ours.queries.take(several)
    part = ours._replace(queries=queries, scores=ours.scores[rows])
    return _under(part, (*_flips(ours), *_named(ours)), ", without the one-document queries")


def _under(ours: OurNumber, conventions: Iterable[tuple[str, Convention]], aside: str = "") -> ChangedValues:
    listed = list(conventions)
    values = np.array([ours.changed(convention=convention) for _, convention in listed], np.float64)

    def describe(place: int) -> Cause:
        text, convention = listed[place]
        return Cause(f"it is the value under {text}{aside}", None if aside else convention)

    return ChangedValues(values, describe)


def _named(ours: OurNumber) -> Iterator[tuple[str, Convention]]:
    """Presets, with what each changes."""
    for name in presets.names(ours.convention.measure):
        other = presets.make(name, getattr(ours.convention, "k", None))
        yield f"presets.{name}, that is {_spelled(ours.convention, other)}", other


def _flips(ours: OurNumber) -> Iterator[tuple[str, Convention]]:
    """Conventions with another value of one field."""
    convention = ours.convention
    values: dict[str, tuple[Any, ...]] = {name: kind.tried for name, kind in convention.declared().items()}
    if "k" in values:
        k = convention.to_dict()["k"]
        longest = min(ours.queries.longest, MOST_CUTOFFS)
        values["k"] = tuple(dict.fromkeys((*CUTOFFS, *range(1, longest + 1), *(() if k is None else (k + 1,)))))
    for name in convention.fields():
        for value in values[name]:
            try:
                other = convention.replace(**{name: value})
            except RankAdaptersError:
                continue
            if other != convention:
                yield _spelled(convention, other), other


def _spelled(convention: Convention, other: Convention) -> str:
    pairs = other.diff(convention).items()
    return ", ".join(f"{name}={new!r} in place of {name}={old!r}" for name, (new, old) in pairs)


def _vague(ours: OurNumber, value: float, tolerance: Tolerance) -> Iterator[str]:
    """What is a range and no number, so that it is looked at last."""
    if abs(value - ours.value) <= (reach := relative(FLOAT32, ours.value)):
        yield f"it is within {reach:.0e} of ours, as where something is computed in float32"
    declared = getattr(ours.convention, "ties", None)
    worst, best = (_with_ties(ours, ties) for ties in ("worst", "best"))
    low, high, reach = min(worst, best), max(worst, best), width(tolerance)
    if high - low > reach and low - reach <= value <= high + reach:
        yield (
            f"tied rows in another order than ties={declared!r} are not excluded: "
            f"the orders of ties give {low:.6g} to {high:.6g}"
        )


def _with_ties(ours: OurNumber, ties: str) -> float:
    try:
        return ours.changed(convention=ours.convention.replace(ties=ties))
    except RankAdaptersError:  # the measure has no such order
        return np.nan
