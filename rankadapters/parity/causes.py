"""Search for the cause if a source's number differs from ours; common exact causes are tried before uncertain ones."""

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
    half_width,
    relative,
)
from rankadapters.statistics.printed import Printed, as_printed

MAX_NAMED = 3  # largest number of causes that a report names from one search
NEIGHBORS = 100  # numbers of the same precision around the value, to test how likely a match by chance is
MAX_LIKELY = 5  # if changes give more of the neighbors than this, they may also give the value by chance
FEW_DECIMALS = 8  # a float with at most this many decimals was probably rounded
LAST_BITS = 1e-12  # difference that a different order of summation can cause, relative for numbers above 1
SAME_DECIMAL = 1e-14  # largest relative difference between two programs' values of the same decimal number
MAX_DECIMALS = 12
EXACT = Context(prec=400)  # holds every float64 exactly
MIN_STEPS = 20  # a rounded number smaller than this many units of its last decimal may match by chance
CLOSENESS = 1e-3  # largest error of a cause, as a share of the difference that the cause explains
NOT_A_SUM = (
    "The value is not a sum over the queries, so that only its fields and whole columns were tried, and no query has a "
    "part in it."
)

TIERS: tuple[tuple[Callable[[OurNumber], Changes], ...], ...] = (  # searches, the likeliest causes first
    (
        changes.different_fields, changes.different_means, column_changes.different_columns, changes.without_query,
        changes.cut_queries, changes.swapped_weights,
    ),
    (changes.different_presets, changes.two_changes),
    (changes.different_divisors,),  # matches numbers with few decimals by chance
)  # fmt: skip
FOR_ANY_MEASURE = {changes.different_fields, column_changes.different_columns, changes.different_presets}

PerQuery = Callable[[], QueryDifferences | None]


def judge(
    base: OurNumber, value: float, source: str, version: str, *, notes: Iterable[str] = (),
    tolerance: Tolerance | None = None, per_query: PerQuery = lambda: None,
) -> ParityRow:  # fmt: skip
    """Compare a source's value with ours; if they differ, search for the cause."""
    allowed = relative(FULL_DOUBLE, base.value) if tolerance is None else tolerance
    row = ParityRow.compare(
        source, version, base.convention, value=value, our_value=base.value, tolerance=allowed, reason="\n".join(notes)
    )
    if row.verdict == "equal":
        return row
    differences = per_query()
    candidates = causes(base, value=value, tolerance=allowed, per_query=differences)
    text = "; ".join(cause.text for cause in candidates) or "none of the changes tried gives it"
    not_a_sum = "" if base.convention.is_sum else NOT_A_SUM
    reason = "\n".join(filter(None, [row.reason, f"Looking for the cause: {text}.", not_a_sum]))
    cause_convention = next((cause.convention for cause in candidates if cause.convention is not None), None)
    if differences is None and cause_convention is not None:
        differences = OurNumber.of(base.queries, base.scores, cause_convention, ignore_weights=True).gap(base)
    return replace(row, reason=reason, per_query=differences)


def causes(
    base: OurNumber, *, value: float, tolerance: Tolerance, per_query: QueryDifferences | None = None
) -> list[Cause]:
    """Search for changes of our number, of the convention or of the data that give the source's value.

    The search tries, in this order: our number rounded, negated or as a percentage; every field of the convention;
    other means; columns reordered, negated or regrouped; each query left out, cut short or cut in two (where the data
    is not too large); weights that are ignored or swapped; presets; two changes at once. Uncertain causes come last:
    matches that may be chance, tied rows in a different order, float32.

    Returns
    -------
    list of Cause
        One per matching change; empty where none gives the value.

    Examples
    --------
    >>> from rankadapters import Queries, presets
    >>> queries = Queries([1, 0, 0, 1], group_sizes=[2, 2])
    >>> base = OurNumber.of(queries, np.array([2.0, 1, 4, 3]), presets.yahoo(2))
    >>> causes(base, value=1.0, tolerance=1e-9)[3].text  # other changes explain so little data too
    'it is the value without query 1'
    >>> causes(base, value=0.8155, tolerance=1e-9)[0].text
    'it is ours rounded to 4 decimals: a tolerance of 5e-05 takes it'
    """
    if not np.isfinite(value):
        return [Cause(f"it is {value}, which is not a value of any convention")]
    texts = (*_constant_ratio(per_query), *number_causes(value, base.value, tolerance))
    exact = [Cause(f"it is {text}") for text in texts]
    if in_last_bits(value, base.value):
        return exact
    if not isinstance(tolerance, Printed):
        tolerance = max(tolerance, min(relative(FULL_DOUBLE, value), CLOSENESS * abs(value - base.value)))
    is_short = isinstance(tolerance, Printed) and tolerance.decimals <= FEW_DECIMALS
    likely, chance = _search_tiers(base, value, tolerance, tiers=1 if exact else 2 if is_short else 3)
    if not (exact or likely or isinstance(tolerance, Printed)):
        rounded = as_printed(value)
        if rounded.decimals <= FEW_DECIMALS and half_width(rounded) > tolerance:
            likely, chance = _search_tiers(base, value, rounded, tiers=2)
            likely = [cause._replace(text=f"taken as rounded, {cause.text}") for cause in likely]
    return [*exact, *likely] or [*chance, *map(Cause, _uncertain_causes(base, value, tolerance))]


def _search_tiers(base: OurNumber, value: float, tolerance: Tolerance, tiers: int) -> tuple[list[Cause], list[Cause]]:
    """Run the searches tier by tier until a likely cause is found; return likely causes, and chance matches."""
    nearby: set[float] = set()
    likely, chance = list[Cause](), list[Cause]()
    for tier in TIERS[:tiers]:
        for search in tier:
            if search not in FOR_ANY_MEASURE and not base.convention.is_sum:
                continue  # these searches need a measure that is a sum over queries
            candidates = search(base)
            nearby |= _nearby_steps(candidates, value, tolerance)
            hits = np.flatnonzero(agree(candidates.values, value, tolerance))
            matches = _first_causes(map(candidates.describe, hits.tolist()))
            (likely if len(nearby) <= MAX_LIKELY else chance).extend(matches)
        if likely:
            break
    warning = f"perhaps by chance, as {len(nearby)} of {NEIGHBORS} numbers around it would fit something"
    return likely, [Cause(f"{warning}: {'; '.join(cause.text for cause in chance)}")] if chance else []


def _nearby_steps(candidates: Changes, value: float, tolerance: Tolerance) -> set[float]:
    """Return the neighbors of the value that candidates give, as offsets from the value in units of precision."""
    with np.errstate(all="ignore"):
        steps = np.round((candidates.values - value) / (2 * half_width(tolerance)))
    return set(steps[np.abs(steps) <= NEIGHBORS // 2].tolist())


def _first_causes(causes: Iterator[Cause]) -> list[Cause]:
    named = list(islice(causes, MAX_NAMED + 1))
    named[MAX_NAMED:] = [Cause(f"and others, such as: {last.text}") for last in named[MAX_NAMED:]]
    return named


def _constant_ratio(per_query: QueryDifferences | None) -> Iterator[str]:
    if per_query is None:
        return
    values, our_values = per_query.values, per_query.our_values
    comparable = np.isfinite(values) & np.isfinite(our_values) & (our_values != 0)
    if len(set(our_values[comparable].tolist())) > 1:
        ratio = values[comparable][0] / our_values[comparable][0]
        if ratio != 1 and np.allclose(values, ratio * our_values, rtol=FULL_DOUBLE, atol=0, equal_nan=True):
            yield f"{ratio:.6g} times ours on every query"


def _uncertain_causes(base: OurNumber, value: float, tolerance: Tolerance) -> Iterator[str]:
    """Yield causes that explain any value within a range, such as float32 rounding or the order of ties."""
    if abs(value - base.value) <= (reach := relative(FLOAT32, base.value)):
        yield f"it is within {reach:.0e} of ours, as after a computation in float32"
    declared = getattr(base.convention, "ties", None)
    worst, best = (_with_ties(base, ties) for ties in ("worst", "best"))
    low, high, reach = min(worst, best), max(worst, best), half_width(tolerance)
    if high - low > reach and low - reach <= value <= high + reach:
        yield (
            f"tied rows in another order than ties={declared!r} are not excluded: "
            f"the orders of ties give {low:.6g} to {high:.6g}"
        )


def _with_ties(base: OurNumber, ties: str) -> float:
    try:
        return base.changed(convention=base.convention.replace(ties=ties))
    except RankAdaptersError:  # the measure has no such tie order
        return np.nan


def number_causes(value: float, our_value: float, tolerance: Tolerance) -> Iterator[str]:
    """Yield the variants of our value that equal the source's value: rounded, as a percentage, and so on.

    >>> list(number_causes(0.6309, 0.630929753571, 1e-9))
    ['ours rounded to 4 decimals: a tolerance of 5e-05 takes it']
    >>> list(number_causes(63.0929753571, 0.630929753571, 1e-9)), list(number_causes(0.37, 0.63, 1e-9))
    (['ours as a percentage'], ['1 - ours'])
    """
    if not (math.isfinite(value) and math.isfinite(our_value)):
        return
    if in_last_bits(value, our_value):
        yield f"ours but for the last bits, as from a different order of sums: a tolerance of {FULL_DOUBLE:g} takes it"
        return
    if match := _as_written(value, our_value, tolerance):
        description, reach = match
        yield f"ours {description}: a tolerance of {reach:.0e} takes it"
    variants = {"ours as a percentage": 100 * our_value, "ours with the other sign": -our_value}
    if our_value not in {0, 1}:
        variants["1 - ours"] = 1 - our_value
    for text, number in variants.items():
        if agree([number], value, tolerance).all():
            yield text
        elif match := _as_written(value, number, tolerance):
            yield f"{text}, {match[0]}"


def in_last_bits(value: float, our_value: float) -> bool:
    """Return whether two numbers differ so little that a different order of sums can explain it."""
    return abs(value - our_value) <= LAST_BITS * max(1.0, abs(our_value))


def _as_written(value: float, number: float, tolerance: Tolerance) -> tuple[str, float] | None:
    """Return a kind of rounding that turns the number into the value, and its largest error; None if there is none."""
    # A printed value's trailing zeros count as decimals, since they are as likely as other digits.
    decimal_counts = [tolerance.decimals] if isinstance(tolerance, Printed) else range(MAX_DECIMALS, 0, -1)
    for verb, mode in (("rounded", ROUND_HALF_EVEN), ("truncated", ROUND_DOWN)):
        for decimals in decimal_counts:
            step = 10.0**-decimals
            decimal = Decimal(number).quantize(Decimal(1).scaleb(-decimals), mode, EXACT)
            if step * MIN_STEPS <= abs(number) and math.isclose(float(decimal), value, rel_tol=SAME_DECIMAL):
                return f"{verb} to {decimals} decimals", step / 2 if verb == "rounded" else step
    with np.errstate(over="ignore"):
        single = np.float32(number)
    return ("in float32", float(np.spacing(single))) if float(single) == value else None
