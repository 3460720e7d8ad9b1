"""The numbers that are searched for: which model and cutoff each of them is of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rankadapters.audit.models import as_models, queries_by_model
from rankadapters.audit.printed import Printed, read
from rankadapters.core.data.columns import Array
from rankadapters.core.data.models import scores_by_model
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.number_fields import NumberOrWord, as_cutoff
from rankadapters.core.errors import ConventionError, InputError, choices
from rankadapters.statistics.cells import spelled
from rankadapters.statistics.grid import has_cutoff
from rankadapters.statistics.search import Cutoffs

UPTO = 100
NEARBY = 0.1  # of the number: the numbers that are this close show how many conventions a random one has
LEAST = 5  # numbers with as many digits on either side
UNKNOWN = "unknown"
EXAMPLE = "{'ndcg@5': '0.4382', 10: '0.4711'}, or a list with k=[5, 10]"


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """A printed number: whose it is, and where it was cut.

    Attributes
    ----------
    measure : type of Convention
        What was measured.
    name : str
        Model, measure and cutoff, such as `ndcg@10` or `bm25 ndcg@10`.
    printed : Printed
        The number and its decimals.
    bounded : bool
        Whether no value on these rows lies outside [0, 1].
    queries, scores : Queries, array
        What was ranked.
    cutoffs : tuple of int or None
        Where it may have been cut.
    """

    measure: type[Convention]
    name: str
    printed: Printed
    bounded: bool
    queries: Queries
    scores: Array
    cutoffs: Cutoffs

    @property
    def unit(self) -> float:
        """Distance between two printed numbers with as many digits."""
        return 2 * float(self.printed.half)

    @property
    def window(self) -> float:
        """Largest distance of the numbers among which conventions are counted, to tell how many a random one has."""
        return max(NEARBY * abs(float(self.printed.value)), (LEAST + 0.5) * self.unit)

    def at_cutoff(self, convention: Convention) -> Convention:
        """Give the convention at the cutoff of the number, where this is known."""
        known = len(self.cutoffs) == 1 and has_cutoff(type(convention))
        return convention.at(self.cutoffs[0]) if known else convention

    def __str__(self) -> str:
        """Write the number after its name."""
        return f"{self.name} = {self.printed}"

    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON types."""
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
    """Read one number, or several by cutoff, by model, or by both; those that were not cut come last.

    Raises
    ------
    InputError, ConventionError
        As `identify` says.
    """
    models, values = {"": scores}, {"": value}
    if scores_by_model(scores) is not None:
        models = dict(as_models(scores))
        values = _by_model(value, models)
    queries = queries_by_model(labels, {name: models[name] for name in values}, columns)
    numbers = []
    for model, printed in values.items():
        own = queries[model].weighed_by("query_weight")
        bounded, array = not _may_leave_the_unit_interval(measure, own), own.check_scores(models[model])
        for cutoff, text in _by_cutoff(printed, k, measure):
            name = f"{model} {measure.measure}".strip()
            if cutoff != UNKNOWN and has_cutoff(measure):
                name = f"{name}@{spelled(cutoff)}"
            number = read(text, decimals, negative=not bounded)
            numbers.append(Number(measure, name, number, bounded, own, array, cutoffs_searched(measure, cutoff)))
    _check_cutoffs(numbers, len(values))
    return sorted(numbers, key=lambda number: number.cutoffs == (None,))


def cutoffs_searched(measure: type[Convention], k: object) -> Cutoffs:
    """Give the cutoffs that are searched: those that are likely where it is unknown.

    Raises
    ------
    ConventionError
        It is not a cutoff, or the measure has none.
    """
    unknown = isinstance(k, str) and k == UNKNOWN
    if not has_cutoff(measure):
        if k is not None and not unknown:
            msg = f"k={k!r:.80}, but {measure.__name__} has no cutoff.\nHint: leave k out."
            raise ConventionError(msg)
        return (None,)
    if unknown:
        return (*range(1, UPTO + 1), None)
    return (None if k is None else as_cutoff(k),)


def _may_leave_the_unit_interval(measure: type[Convention], queries: Queries) -> bool:
    """Tell whether a value may lie outside [0, 1]: the measure's may, labels are below 0, or rows are given labels."""
    judged = slice(None) if queries.judged is None else queries.judged
    graded = queries.judged is not None and isinstance(measure.declared()["unjudged"], NumberOrWord)
    return not measure.in_unit_interval or graded or bool((queries.labels[judged] < 0).any())


def _by_model(value: object, models: Mapping[str, object]) -> dict[str, object]:
    if not isinstance(value, Mapping):
        msg = f"scores has {len(models)} models, but value={value!r:.80} does not say whose number is which."
        raise InputError(f"{msg}\nHint: {{{next(iter(models))!r}: '0.4382', ...}}, a number for each model's name.")
    found = {str(name): number for name, number in value.items()}
    for name in found:
        if name not in models:
            msg = f"value has a number of model {name!r:.80}; the models of scores are {choices(models)}."
            raise InputError(f"{msg}\nHint: a model's numbers by cutoff are {{'model': {{10: '0.4382'}}}}.")
    _refuse_none(found)
    return found


def _by_cutoff(value: object, k: object, measure: type[Convention]) -> Iterator[tuple[object, object]]:
    """Give every number of a model with its cutoff."""
    if isinstance(value, Mapping):
        _refuse_none(value)
        for key, number in value.items():
            yield _cutoff_of(key, measure), number
    elif isinstance(value, (list, tuple)):
        cutoffs = k if isinstance(k, (list, tuple)) else [k]
        if len(cutoffs) != len(value):
            msg = f"value has {len(value)} numbers, but k={k!r:.80} does not say the cutoff of each."
            raise InputError(f"{msg}\nHint: {EXAMPLE}.")
        yield from zip(cutoffs, value, strict=True)
    else:
        yield k, value


def _cutoff_of(key: object, measure: type[Convention]) -> object:
    """Read a cutoff, or a text such as `ndcg@10`."""
    if not isinstance(key, str):
        return key
    word, _, cutoff = key.strip().lower().rpartition("@")
    if word not in {"", measure.measure}:
        msg = f"value has a number named {key!r:.80}, but it is searched for in measure={measure.measure!r}."
        raise ConventionError(f"{msg}\nHint: measure=..., once for the numbers of each measure.")
    if cutoff == "all":
        return None
    if not cutoff.isdecimal():
        msg = f"value has a number named {key!r:.80}, which says no cutoff.\nHint: {EXAMPLE}."
        raise ConventionError(msg)
    return int(cutoff)


def _refuse_none(values: Mapping[Any, object]) -> None:
    if not values:
        msg = f"value has no number.\nHint: '0.4382', or several: {EXAMPLE}."
        raise InputError(msg)


def _check_cutoffs(numbers: list[Number], n_models: int) -> None:
    """Refuse numbers of which some have an unknown cutoff that need not be the others'."""
    unknown = [number for number in numbers if len(number.cutoffs) > 1]
    if unknown and (len(unknown) < len(numbers) or len(numbers) > n_models):
        msg = f"the cutoff of {unknown[0].name} is unknown, beside other cutoffs."
        raise InputError(f"{msg}\nHint: say all of them, {EXAMPLE}.")
