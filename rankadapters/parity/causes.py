"""Search for the cause if a source's number differs from ours; common exact causes are tried before uncertain ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Context, Decimal
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from rankadapters import presets
from rankadapters.core.arrays import Floats
from rankadapters.core.classes import lazy_property
from rankadapters.core.declaration.convention import Convention
from rankadapters.parity import report
from rankadapters.statistics import rivals
from rankadapters.statistics.attainable import attainable_values, steps_nearby
from rankadapters.statistics.grid import replaced
from rankadapters.statistics.printed import Printed, as_printed
from rankadapters.statistics.rivals import FEW_DECIMALS, OurNumber

Changes = Iterator[tuple[str, float] | tuple[str, float, Convention]]  # a text, the value, the convention if changed

MAX_NAMED = 3  # largest number of causes that a report names from one search
NEIGHBORS = 100  # numbers of the same precision around the value, to test how likely a match by chance is
MAX_LIKELY = 0.05  # if changes give a larger share of the neighbors than this, they may also give the value by chance
LAST_BITS = 1e-12  # difference that a different order of summation can cause, relative for numbers above 1
SAME_DECIMAL = 1e-14  # largest relative difference between two programs' values of the same decimal number
MAX_DECIMALS = 12
EXACT = Context(prec=400)  # holds every float64 exactly
MIN_STEPS = 20  # a rounded number smaller than this many units of its last decimal may match by chance
CUTOFFS = (1, 3, 5, 10, 20, None)
MAX_CUTOFF = 100  # largest cutoff of those that are tried up to the longest query
SAME = 12  # values that agree to this many decimals count as one
CLOSENESS = 1e-3  # largest error of a cause, as a share of the difference that the cause explains
NOT_A_SUM = (
    "The value is not a sum over the queries, so that only its fields and whole columns were tried, and no query has a "
    "part in it."
)


class Cause(NamedTuple):
    """An explanation of a number in words, and the convention that gives the number if it is not the declared one."""

    text: str
    convention: Convention | None = None


def judge(
    base: OurNumber, value: float, source: str, version: str, *, notes: Iterable[str] = (),
    tolerance: report.Tolerance | None = None,
) -> report.ParityRow:  # fmt: skip
    """Compare a source's value with ours; if they differ, search for the cause."""
    allowed = report.relative(report.FULL_DOUBLE, base.value) if tolerance is None else tolerance
    row = report.ParityRow.compare(
        source, version, base.convention, value=value, our_value=base.value, tolerance=allowed, reason="\n".join(notes)
    )
    if row.verdict == "equal":
        return row
    candidates = causes(base, value=value, tolerance=allowed)
    text = "; ".join(cause.text for cause in candidates) or "none of the changes tried gives it"
    not_a_sum = "" if base.convention.is_sum else NOT_A_SUM
    reason = "\n".join(filter(None, [row.reason, f"Looking for the cause: {text}.", not_a_sum]))
    cause_convention = next((cause.convention for cause in candidates if cause.convention is not None), None)
    differences = None
    if cause_convention is not None:
        theirs = OurNumber.of(base.queries, base.scores, cause_convention, ignore_weights=True)
        differences = report.QueryDifferences.between(theirs, base)
    return replace(row, reason=reason, per_query=differences)


def causes(base: OurNumber, *, value: float, tolerance: report.Tolerance) -> list[Cause]:
    """Search for changes of our number, of the convention or of the data that give the source's value.

    The search tries, in this order: our number rounded, negated or as a percentage; every field of the convention; the
    mistakes of `statistics.rivals`; presets; two changes at once; other divisors. Uncertain causes come last: matches
    that may be chance, tied rows in a different order, float32.

    >>> from rankadapters import Queries, presets
    >>> queries = Queries([1, 0, 0, 1], group_sizes=[2, 2])
    >>> base = OurNumber.of(queries, np.array([2.0, 1, 4, 3]), presets.yahoo(2))
    >>> causes(base, value=1.0, tolerance=1e-9)[0].text.partition(":")[0]  # two queries of two rows have three values
    'perhaps by chance, as 3 of 3 numbers around it would fit something'
    >>> causes(base, value=0.8155, tolerance=1e-9)[0].text
    'it is ours rounded to 4 decimals: a tolerance of 5e-05 takes it'
    """
    if not np.isfinite(value):
        return [Cause(f"it is {value}, which is not a value of any convention")]
    exact = [Cause(f"it is {text}") for text in number_causes(value, base.value, tolerance)]
    if in_last_bits(value, base.value):
        return exact
    if not isinstance(tolerance, Printed):
        tolerance = max(tolerance, min(report.relative(report.FULL_DOUBLE, value), CLOSENESS * abs(value - base.value)))
    is_short = isinstance(tolerance, Printed) and tolerance.decimals <= FEW_DECIMALS
    neighbors = _Neighbors(base, value, tolerance)
    likely, chance = _search_tiers(base, value, neighbors, exact, n_tiers=2 if is_short else 3)
    if not (likely or isinstance(tolerance, Printed) or neighbors.are_few):
        rounded = as_printed(value)
        if rounded.decimals <= FEW_DECIMALS and report.half_width(rounded) > tolerance:
            likely, chance = _search_tiers(base, value, _Neighbors(base, value, rounded), [], n_tiers=2)
            likely = [cause._replace(text=f"taken as rounded, {cause.text}") for cause in likely]
    return likely or [*chance, *map(Cause, _uncertain_causes(base, value, tolerance))]


def _search_tiers(
    base: OurNumber, value: float, neighbors: _Neighbors, exact: list[Cause], n_tiers: int
) -> tuple[list[Cause], list[Cause]]:
    """Run the searches tier by tier until a likely cause is found; return likely causes, and chance matches.

    `exact` are causes that need no search. If they are likely, only the first tier is searched.
    """
    likely, chance = list[Cause](), list[Cause]()
    if exact:
        neighbors.add(np.array([value]))
        (likely if neighbors.are_rare else chance).extend(exact)
    for tier in TIERS[: 1 if likely else n_tiers]:
        for search in tier:
            if search not in FOR_ANY_MEASURE and not base.convention.is_sum:
                continue  # these searches need a measure that is a sum over queries
            changes = list(search(base))
            values = np.array([change[1] for change in changes], np.float64)
            neighbors.add(values)
            hits = np.flatnonzero(report.agree(values, value, neighbors.tolerance)).tolist()
            if hits:
                matches = _first_causes(Cause(f"it is {changes[i][0]}", *changes[i][2:]) for i in hits)
                (likely if neighbors.are_rare else chance).extend(matches)
        if likely:
            break
    text = "; ".join(cause.text for cause in chance)
    return likely, [Cause(f"perhaps by chance, as {neighbors} would fit something: {text}")] if chance else []


class _Neighbors:
    """The numbers around a value that changes give, as offsets from it in units of its precision."""

    def __init__(self, base: OurNumber, value: float, tolerance: report.Tolerance) -> None:
        self._base, self._value, self.tolerance = base, value, tolerance
        self._unit = 2 * report.half_width(tolerance)
        self._given = np.empty(0)

    def add(self, values: Floats) -> None:
        """Count these values too."""
        with np.errstate(all="ignore"):
            self._given = np.union1d(self._given, np.round((values - self._value) / self._unit) + 0.0)

    @lazy_property
    def _attainable(self) -> Floats | None:
        """The numbers that ours can be under other scores, if these include the value and are few; otherwise None."""
        values = attainable_values(self._base.queries, self._base.scores, self._base.convention)
        if values is None or not (np.abs(values - self._value) <= self._unit / 2).any():
            return None
        nearby = steps_nearby(values, self._value, self._unit)
        return nearby if nearby.size < np.ptp(nearby) / 2 else None

    def _counts(self) -> tuple[int, int]:
        if self._attainable is None:
            return int(np.count_nonzero(np.abs(self._given) <= NEIGHBORS // 2)), NEIGHBORS
        return int(np.isin(self._given, self._attainable).sum()), self._attainable.size

    @property
    def are_few(self) -> bool:
        """Whether the value is one of the few that ours can be under other scores."""
        return self._attainable is not None

    @property
    def are_rare(self) -> bool:
        """Whether so few of the numbers are given that a match is hardly chance."""
        n_given, n_numbers = self._counts()
        return n_given <= MAX_LIKELY * n_numbers

    def __str__(self) -> str:
        return "{} of {} numbers around it".format(*self._counts())


def _first_causes(causes: Iterator[Cause]) -> list[Cause]:
    named = list(islice(causes, MAX_NAMED + 1))
    named[MAX_NAMED:] = [Cause(f"and others, such as: {last.text}") for last in named[MAX_NAMED:]]
    return named


def _uncertain_causes(base: OurNumber, value: float, tolerance: report.Tolerance) -> Iterator[str]:
    """Yield causes that explain any value within a range, such as float32 rounding or the order of ties."""
    if abs(value - base.value) <= (reach := report.relative(report.FLOAT32, base.value)):
        yield f"it is within {reach:.0e} of ours, as after a computation in float32"
    declared = base.convention.get("ties")
    variants = [replaced(base.convention, {"ties": ties}) for ties in ("worst", "best")]
    worst, best = (np.nan if c is None else base.changed(convention=c) for c in variants)
    low, high, reach = min(worst, best), max(worst, best), report.half_width(tolerance)
    if high - low > reach and low - reach <= value <= high + reach:
        yield (
            f"tied rows in another order than ties={declared!r} are not excluded: "
            f"the orders of ties give {low:.6g} to {high:.6g}"
        )


def number_causes(value: float, our_value: float, tolerance: report.Tolerance) -> Iterator[str]:
    """Yield the variants of our value that equal the source's value: rounded, as a percentage, and so on.

    >>> list(number_causes(0.6309, 0.630929753571, 1e-9))
    ['ours rounded to 4 decimals: a tolerance of 5e-05 takes it']
    >>> list(number_causes(63.0929753571, 0.630929753571, 1e-9)), list(number_causes(0.37, 0.63, 1e-9))
    (['ours as a percentage'], ['1 - ours'])
    """
    if not (math.isfinite(value) and math.isfinite(our_value)):
        return
    if in_last_bits(value, our_value):
        tolerance = report.FULL_DOUBLE
        yield f"ours but for the last bits, as from a different order of sums: a tolerance of {tolerance:g} takes it"
        return
    if match := _as_written(value, our_value, tolerance):
        description, reach = match
        yield f"ours {description}: a tolerance of {reach:.0e} takes it"
    for text, (factor, offset) in (rivals.CHANGED_NUMBERS | rivals.FACTORS).items():
        number = factor * our_value + offset
        if text == "1 - ours" and our_value in {0, 1}:
            continue
        if report.agree([number], value, tolerance).all():
            yield text
        elif match := _as_written(value, number, tolerance):
            yield f"{text}, {match[0]}"


def in_last_bits(value: float, our_value: float) -> bool:
    """Return whether two numbers differ so little that a different order of sums can explain it."""
    return abs(value - our_value) <= LAST_BITS * max(1.0, abs(our_value))


def _as_written(value: float, number: float, tolerance: report.Tolerance) -> tuple[str, float] | None:
    """Return a kind of rounding that turns the number into the value, and its largest error; None if there is none."""
    # A printed value's trailing zeros count as decimals, since they are as likely as other digits.
    decimal_counts = (
        [min(tolerance.decimals, MAX_DECIMALS)] if isinstance(tolerance, Printed) else range(MAX_DECIMALS, 0, -1)
    )
    for verb, mode in (("rounded", ROUND_HALF_EVEN), ("truncated", ROUND_DOWN)):
        for decimals in decimal_counts:
            step = 10.0**-decimals
            decimal = Decimal(number).quantize(Decimal(1).scaleb(-decimals), mode, EXACT)
            if step * MIN_STEPS <= abs(number) and math.isclose(float(decimal), value, rel_tol=SAME_DECIMAL):
                return f"{verb} to {decimals} decimals", step / 2 if verb == "rounded" else step
    with np.errstate(over="ignore"):
        single = np.float32(number)
    return ("in float32", float(np.spacing(single))) if float(single) == value else None


def different_columns(base: OurNumber) -> Changes:
    """Mistake the formula, and evaluate the convention on the columns as changed by each mistake in turn."""
    yield from rivals.changed_formulas(base)
    for text, queries, scores in rivals.changed_columns(base.queries, base.scores):
        yield text, base.changed(queries=queries, scores=scores)


def different_fields(base: OurNumber) -> Changes:
    """Change the fields of the convention, one at a time."""
    for text, convention in _field_changes(base):
        yield f"the value under {text}", base.changed(convention=convention), convention


def different_presets(base: OurNumber) -> Changes:
    """Replace the convention with each preset of its measure."""
    for text, convention in _presets(base):
        yield f"the value under {text}", base.changed(convention=convention), convention


def other_measures(base: OurNumber) -> Changes:
    """Replace the convention with those of other measures, and with gains that are often taken for its own."""
    for text, convention in rivals.other_conventions(base.convention, base.queries.labels):
        yield text, base.changed(convention=convention), convention


def two_changes(base: OurNumber) -> Changes:
    """Change a field or use a preset, and also mistake the formula or omit one-document queries."""
    conventions = [*_field_changes(base), *_presets(base)]
    multi_row = np.flatnonzero(base.sizes > 1)
    if multi_row.size not in {0, base.sizes.size}:  # a loop over sklearn's ndcg_score must omit them
        queries, rows = base.queries.subset(multi_row)
        part = base._replace(queries=queries, scores=base.scores[rows])
        for text, convention in conventions:
            yield f"the value under {text}, without the one-document queries", part.changed(convention=convention)
    alone = dict(rivals.changed_formulas(base))
    known = {round(value, SAME) for value in alone.values()}
    k = base.convention.get("k")
    for text, convention in conventions if any(text.startswith(rivals.COMMONEST) for text in alone) else ():
        if convention.get("k") != k:
            continue  # too many cutoffs
        terms = base.changed_terms(convention=convention)
        if terms is not None:
            for mistake, value in rivals.changed_formulas(base._replace(convention=convention, terms=terms)):
                if (
                    mistake.startswith(rivals.COMMONEST) and round(value, SAME) not in known
                ):  # otherwise the mistake alone explains it
                    yield f"{mistake}, under {text}", value


def _presets(base: OurNumber) -> Iterator[tuple[str, Convention]]:
    for name in presets.names(base.convention.measure):
        other = presets.make(name, base.convention.get("k"))
        yield f"presets.{name}, that is {_describe_fields(base.convention, other)}", other


def _field_changes(base: OurNumber) -> Iterator[tuple[str, Convention]]:
    convention = base.convention
    values: dict[str, tuple[Any, ...]] = {
        name: (*kind.tried, *kind.further) for name, kind in convention.declared().items()
    }
    if "k" in values:
        k = convention.to_dict()["k"]
        longest = min(base.queries.longest, MAX_CUTOFF)
        values["k"] = tuple(dict.fromkeys((*CUTOFFS, *range(1, longest + 1), *(() if k is None else (k + 1,)))))
    for name in convention.fields():
        for value in values[name]:
            other = replaced(convention, {name: value})
            if other is not None and other != convention:
                yield _describe_fields(convention, other), other


def _describe_fields(convention: Convention, other: Convention) -> str:
    pairs = other.diff(convention).items()
    return ", ".join(f"{name}={new!r} in place of {name}={old!r}" for name, (new, old) in pairs)


TIERS: tuple[tuple[Callable[[OurNumber], Changes], ...], ...] = (  # searches, the likeliest causes first
    (different_fields, rivals.changed_means, different_columns, rivals.without_query),
    (other_measures, different_presets, two_changes),
    (rivals.different_divisors,),  # matches numbers with few decimals by chance
)
FOR_ANY_MEASURE = {different_fields, different_columns, other_measures, different_presets}
