"""What would explain a number that is not ours, from the exact and everyday to the vague."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Context, Decimal
from itertools import islice

import numpy as np

from rankadapters.core.errors import RankAdaptersError
from rankadapters.parity import changes, column_changes
from rankadapters.parity.changes import Cause, Changes
from rankadapters.parity.rows import (
    FLOAT32,
    FULL_DOUBLE,
    OurNumber,
    ParityRow,
    QueryDifferences,
    Tolerance,
    agree,
    relative,
    width,
)
from rankadapters.statistics.printed import Printed, as_printed

NAMED = 3  # causes of a kind that are named
AROUND = 100  # numbers of the same digits around a number, among which values of changes are counted
LIKELY = 5  # of these: where more are values of changes, a match may well be chance
FEW_DECIMALS = 8  # a float of no more was rounded
LAST_BITS = 1e-12  # of sums in another order, relative to numbers above 1
SAME = 1e-14  # of one decimal number read by two programs
MOST_DECIMALS = 12
EXACT = Context(prec=400)  # of every float64
DIGITS = 20  # steps of the last decimal that a number must be worth for its rounding to say something
CLOSER = 1e-3  # of the difference: how far from the number what explains it may lie
NOT_A_SUM = (
    "The value is not a sum over the queries, so that only its fields and whole columns were tried, and no query has a "
    "part in it."
)

TIERS: tuple[tuple[Callable[[OurNumber], Changes], ...], ...] = (  # by how likely what they find is to be the cause
    (
        changes.other_fields, changes.other_means, column_changes.other_columns, changes.left_out, changes.cut,
        changes.swapped,
    ),
    (changes.other_presets, changes.two_changes),
    (changes.other_divisors,),  # which fits numbers of few decimals by chance
)  # fmt: skip
OF_ANY_VALUE = {changes.other_fields, column_changes.other_columns, changes.other_presets}

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
    >>> from rankadapters import Queries, presets
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
    for tier in TIERS[:tiers]:
        for search in tier:
            if search not in OF_ANY_VALUE and not ours.convention.is_sum:
                continue  # no query has a part in the value
            candidates = search(ours)
            near |= _near(candidates, value, tolerance)
            hits = np.flatnonzero(agree(candidates.values, value, tolerance))
            (sure if len(near) <= LIKELY else chance).extend(_few(map(candidates.describe, hits.tolist())))
        if sure:
            break
    said = f"perhaps by chance, as {len(near)} of {AROUND} numbers around it would fit something"
    return sure, [Cause(f"{said}: {'; '.join(cause.text for cause in chance)}")] if chance else []


def _near(candidates: Changes, value: float, tolerance: Tolerance) -> set[float]:
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


def number_causes(value: float, ours: float, tolerance: Tolerance) -> Iterator[str]:
    """Say which number it is that is made of ours alone.

    >>> list(number_causes(0.6309, 0.630929753571, 1e-9))
    ['ours rounded to 4 decimals: a tolerance of 5e-05 takes it']
    >>> list(number_causes(63.0929753571, 0.630929753571, 1e-9)), list(number_causes(0.37, 0.63, 1e-9))
    (['ours as a percentage'], ['1 - ours'])
    """
    if not (math.isfinite(value) and math.isfinite(ours)):
        return
    if in_last_bits(value, ours):
        yield f"ours but for the last bits, as sums in another order are: a tolerance of {FULL_DOUBLE:g} takes it"
        return
    if written := _written(value, ours, tolerance):
        how, reach = written
        yield f"ours {how}: a tolerance of {reach:.0e} takes it"
    others = {"ours as a percentage": 100 * ours, "ours with the other sign": -ours}
    if ours not in {0, 1}:
        others["1 - ours"] = 1 - ours
    for text, number in others.items():
        if agree([number], value, tolerance).all():
            yield text
        elif written := _written(value, number, tolerance):
            yield f"{text}, {written[0]}"


def in_last_bits(value: float, ours: float) -> bool:
    """Whether two numbers differ no more than sums in another order do."""
    return abs(value - ours) <= LAST_BITS * max(1.0, abs(ours))


def _written(value: float, number: float, tolerance: Tolerance) -> tuple[str, float] | None:
    """Tell how a number was written to give a value that is another one, and how far that may take it."""
    # The zeros at the end of a text are digits: a random one ends in them as often as any.
    tried = [tolerance.decimals] if isinstance(tolerance, Printed) else range(MOST_DECIMALS, 0, -1)
    for how, mode in (("rounded", ROUND_HALF_EVEN), ("truncated", ROUND_DOWN)):
        for decimals in tried:
            step = 10.0**-decimals
            decimal = Decimal(number).quantize(Decimal(1).scaleb(-decimals), mode, EXACT)
            if step * DIGITS <= abs(number) and math.isclose(float(decimal), value, rel_tol=SAME):
                return f"{how} to {decimals} decimals", step / 2 if how == "rounded" else step
    with np.errstate(over="ignore"):
        single = np.float32(number)
    return ("in float32", float(np.spacing(single))) if float(single) == value else None
