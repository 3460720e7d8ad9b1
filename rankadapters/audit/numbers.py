"""Read the printed numbers that `identify` searches for, each with its model and its cutoff."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from rankadapters.audit.models import as_models, queries_by_model
from rankadapters.core.arrays import Array
from rankadapters.core.classes import frozen_class
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import as_cutoff, is_whole
from rankadapters.core.errors import ConventionError, InputError, choices
from rankadapters.evaluation.evaluate import scores_by_model
from rankadapters.statistics.attainable import LEAST_NEARBY, NEARBY
from rankadapters.statistics.cells import spelled
from rankadapters.statistics.grid import has_cutoff
from rankadapters.statistics.printed import Printed, as_printed
from rankadapters.statistics.search import Cutoffs

LARGEST_CUTOFF = 100  # the largest k to try if the cutoff is unknown
MOST_DECIMALS = 17  # of a float64 in [0, 1]
UNKNOWN, ALL = "unknown", "all"  # cutoffs, as the command and texts spell them
EXAMPLE = "{5: '0.4382', 10: '0.4711'}"


@frozen_class
@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """A printed number, with its model, the model's data, and its possible cutoffs."""

    measure: type[Convention]
    name: str  # model, measure and cutoff, such as `ndcg@10` or `bm25 ndcg@10`
    printed: Printed
    bounded: bool  # whether every possible value on these rows is in [0, 1]
    queries: Queries
    scores: Array
    cutoffs: Cutoffs

    @property
    def value(self) -> float:
        """The printed number."""
        return float(self.printed.value)

    @property
    def unit(self) -> float:
        """Distance between consecutive numbers with this many decimals."""
        return 2 * float(self.printed.half)

    @property
    def window(self) -> float:
        """Largest difference between the printed number and those that `Chance` counts if all numbers are possible."""
        return max(NEARBY * abs(self.value), (LEAST_NEARBY + 0.5) * self.unit)

    @property
    def reach(self) -> float:
        """Largest difference between the printed number and those that `Chance` counts if each query is 0 or 1."""
        return max(self.window, (LEAST_NEARBY + 0.5) / self.queries.n_queries)

    def at_cutoff(self, convention: Convention) -> Convention:
        """Return the convention at the number's cutoff, or unchanged if that cutoff is unknown."""
        has_known_cutoff = len(self.cutoffs) == 1 and has_cutoff(type(convention))
        return convention.at(self.cutoffs[0]) if has_known_cutoff else convention

    def __str__(self) -> str:
        """Return the name and the number."""
        return f"{self.name} = {self.printed}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {"name": self.name, "value": str(self.printed), "decimals": self.printed.decimals}


def read_numbers(
    labels: object,
    scores: object,
    measure: type[Convention],
    *,
    value: object,
    k: object,
    decimals: int | None,
    columns: Mapping[str, Any],
) -> list[Number]:
    """Read one number, or one per cutoff, per model, or per model and cutoff; numbers without a cutoff come last."""
    models, values = {"": scores}, {"": value}
    if scores_by_model(scores) is not None:
        models = dict(as_models(scores))
        values = _by_model(value, models)
    queries = queries_by_model(labels, {name: models[name] for name in values}, columns)
    numbers = []
    for model, printed in values.items():
        weighted = queries[model].weighed_by("query_weight")
        bounded, array = not _may_leave_unit_interval(measure, weighted), weighted.check_scores(models[model])
        for cutoff, text in _members(printed).items() if isinstance(printed, Mapping) else [(k, printed)]:
            cutoffs = _cutoffs(measure, cutoff)
            at = f"@{spelled(cutoffs[0])}" if len(cutoffs) == 1 and has_cutoff(measure) else ""
            number = read_number(text, decimals, bounded=bounded)
            name = f"{model} {measure.measure}{at}".strip()
            numbers.append(Number(measure, name, number, bounded, weighted, array, cutoffs))
    unknown = [number for number in numbers if len(number.cutoffs) > 1]
    if unknown and (len(unknown) < len(numbers) or len(numbers) > len(values)):
        message = f"the cutoff of {unknown[0].name} is unknown, but other cutoffs are known."
        raise InputError(message, hint=f"pass all cutoffs, {EXAMPLE}")
    return sorted(numbers, key=lambda number: number.cutoffs == (None,))


def read_number(value: object, decimals: object, *, bounded: bool = True) -> Printed:
    """Read a number; by default its number of decimals is taken from how it is written.

    If the measure is `bounded`, a whole number must be 0 or 1. A number with decimals may be a percentage or have
    another mistake, so `refuse_outside` refuses it only if no mistake explains it.

    >>> read_number("0.1620", None).decimals, read_number(0.162, None).decimals, read_number(0.162, 4).decimals
    (4, 3, 4)
    """
    printed = as_printed(value)
    written = printed.decimals
    if bounded and not written:
        refuse_outside(printed, value)
    if decimals is None:
        decimals = written
    if not is_whole(decimals) or not 1 <= int(decimals) <= MOST_DECIMALS:
        message = f"decimals={decimals!r}: allowed are 1 to {MOST_DECIMALS}, for value={value}."
        raise InputError(message, hint="pass decimals=4, or the number as text with all its digits, such as '0.5000'")
    if written > int(decimals) or (isinstance(value, str) and written != int(decimals)):
        raise InputError(f"value={value} has {written} decimals, but decimals={decimals}.", hint="omit decimals")
    return replace(printed, decimals=int(decimals))


def refuse_outside(printed: Printed, value: object) -> None:
    """Refuse a number outside [0, 1]."""
    if not 0 <= printed.value <= 1:
        hint = "divide a percentage by 100; for a DCG, use measure='dcg'"
        raise InputError(f"value={value} is outside [0, 1], the range of this measure.", hint=hint)


def _cutoffs(measure: type[Convention], k: object) -> Cutoffs:
    unknown, k = isinstance(k, str) and k == UNKNOWN, None if isinstance(k, str) and k == ALL else k
    if not has_cutoff(measure):
        if k is not None and not unknown:
            raise ConventionError(f"k={k!r:.80}, but {measure.__name__} has no cutoff.", hint="omit k")
        return (None,)
    if unknown:
        return (*range(1, LARGEST_CUTOFF + 1), None)
    return (None if k is None else as_cutoff(k),)


def _may_leave_unit_interval(measure: type[Convention], queries: Queries) -> bool:
    """Return whether values outside [0, 1] are possible because of the measure, of labels, or of unjudged rows."""
    judged = slice(None) if queries.judged is None else queries.judged
    graded = queries.judged is not None and measure.declared()["unjudged"].numbers is not None
    return not measure.in_unit_interval or graded or bool((queries.labels[judged] < 0).any())


def _by_model(value: object, models: Mapping[str, object]) -> dict[str, object]:
    if not isinstance(value, Mapping):
        message = f"scores has {len(models)} models, but value={value!r:.80} does not name the model of each number."
        hint = f"map each model's name to its number, {{{next(iter(models))!r}: '0.4382', ...}}"
        raise InputError(message, hint=hint)
    numbers = {str(name): number for name, number in _members(value).items()}
    for name in numbers:
        if name not in models:
            message = f"value has a number for the model {name!r:.80}; the models in scores are {choices(models)}."
            raise InputError(message, hint="write the numbers of a model by cutoff as {'model': {10: '0.4382'}}")
    return numbers


def _members(values: Mapping[Any, object]) -> Mapping[Any, object]:
    if not values:
        raise InputError("value has no number.", hint=f"pass '0.4382', or {EXAMPLE}")
    return values
