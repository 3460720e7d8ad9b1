"""Read the printed numbers that are searched for, each with its model and its cutoff."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rankadapters.audit.models import as_models, queries_by_model
from rankadapters.audit.printed import Printed, read
from rankadapters.core.data.columns import Array
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import as_cutoff
from rankadapters.core.errors import ConventionError, InputError, choices
from rankadapters.core.evaluation.evaluate import scores_by_model
from rankadapters.statistics.attainable import LEAST_NEARBY, NEARBY
from rankadapters.statistics.cells import spelled
from rankadapters.statistics.grid import has_cutoff
from rankadapters.statistics.printed import as_printed
from rankadapters.statistics.search import Cutoffs

LARGEST_CUTOFF = 100  # the largest k to try if the cutoff is unknown
UNKNOWN = "unknown"
EXAMPLE = "{'ndcg@5': '0.4382', 10: '0.4711'}, or a list with k=[5, 10]"


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """A printed number, with its model and its cutoff.

    Attributes
    ----------
    measure : type of Convention
        The measure.
    name : str
        Model, measure and cutoff, such as `ndcg@10` or `bm25 ndcg@10`.
    printed : Printed
        The number and its decimals.
    bounded : bool
        Whether every possible value on these rows is in [0, 1].
    queries, scores : Queries, array
        The data, and the scores of the model.
    cutoffs : tuple of int or None
        The possible cutoffs.
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
        """Distance between consecutive numbers with this many decimals."""
        return 2 * float(self.printed.half)

    @property
    def window(self) -> float:
        """Largest difference between the printed number and those that `Chance` counts if all numbers are possible."""
        return max(NEARBY * abs(float(self.printed.value)), (LEAST_NEARBY + 0.5) * self.unit)

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
    """Read one number, or one per cutoff, per model, or per model and cutoff; numbers without a cutoff come last.

    Raises
    ------
    InputError, ConventionError
        As in `identify`.
    """
    models, values = {"": scores}, {"": value}
    if scores_by_model(scores) is not None:
        models = dict(as_models(scores))
        values = _by_model(value, models)
    queries = queries_by_model(labels, {name: models[name] for name in values}, columns)
    numbers = []
    for model, printed in values.items():
        weighted = queries[model].weighed_by("query_weight")
        bounded, array = not _may_leave_unit_interval(measure, weighted), weighted.check_scores(models[model])
        for cutoff, text in _by_cutoff(printed, k, measure):
            name = f"{model} {measure.measure}".strip()
            if not _is_unknown(cutoff) and has_cutoff(measure):
                name = f"{name}@{spelled(cutoff)}"
            mistakable = as_printed(text).decimals > 0  # such as a percentage, which a mistake may explain
            number = read(text, decimals, negative=not bounded or mistakable)
            numbers.append(Number(measure, name, number, bounded, weighted, array, cutoffs_searched(measure, cutoff)))
    _check_cutoffs(numbers, len(values))
    return sorted(numbers, key=lambda number: number.cutoffs == (None,))


def cutoffs_searched(measure: type[Convention], k: object) -> Cutoffs:
    """Return the cutoffs to search: the given one, or all likely ones if it is unknown.

    Raises
    ------
    ConventionError
        `k` is not a cutoff, or the measure has no cutoff.
    """
    unknown = _is_unknown(k)
    if not has_cutoff(measure):
        if k is not None and not unknown:
            msg = f"k={k!r:.80}, but {measure.__name__} has no cutoff.\nHint: omit k."
            raise ConventionError(msg)
        return (None,)
    if unknown:
        return (*range(1, LARGEST_CUTOFF + 1), None)
    return (None if k is None else as_cutoff(k),)


def _is_unknown(k: object) -> bool:
    return isinstance(k, str) and k == UNKNOWN


def _may_leave_unit_interval(measure: type[Convention], queries: Queries) -> bool:
    """Return whether values outside [0, 1] are possible because of the measure, of labels, or of unjudged rows."""
    judged = slice(None) if queries.judged is None else queries.judged
    graded = queries.judged is not None and measure.declared()["unjudged"].numbers is not None
    return not measure.in_unit_interval or graded or bool((queries.labels[judged] < 0).any())


def _by_model(value: object, models: Mapping[str, object]) -> dict[str, object]:
    if not isinstance(value, Mapping):
        msg = f"scores has {len(models)} models, but value={value!r:.80} does not name the model of each number."
        raise InputError(
            f"{msg}\nHint: map each model's name to its number, {{{next(iter(models))!r}: '0.4382', ...}}."
        )
    numbers = {str(name): number for name, number in value.items()}
    for name in numbers:
        if name not in models:
            msg = f"value has a number for the model {name!r:.80}; the models in scores are {choices(models)}."
            raise InputError(f"{msg}\nHint: write the numbers of a model by cutoff as {{'model': {{10: '0.4382'}}}}.")
    _require_numbers(numbers)
    return numbers


def _by_cutoff(value: object, k: object, measure: type[Convention]) -> Iterator[tuple[object, object]]:
    """Yield pairs of a cutoff and a number for one model."""
    if isinstance(value, Mapping):
        _require_numbers(value)
        for key, number in value.items():
            yield _cutoff_of(key, measure), number
    elif isinstance(value, (list, tuple)):
        cutoffs = k if isinstance(k, (list, tuple)) else [k]
        if len(cutoffs) != len(value):
            msg = f"value has {len(value)} numbers, but k={k!r:.80} is not a list of as many cutoffs."
            raise InputError(f"{msg}\nHint: pass {EXAMPLE}.")
        yield from zip(cutoffs, value, strict=True)
    else:
        yield k, value


def _cutoff_of(key: object, measure: type[Convention]) -> object:
    """Return the cutoff of a key, which is a cutoff or a text such as `ndcg@10`."""
    if not isinstance(key, str):
        return key
    word, _, cutoff = key.strip().lower().rpartition("@")
    if word not in {"", measure.measure}:
        msg = f"value has a number named {key!r:.80}, but the measure is {measure.measure!r}."
        raise ConventionError(f"{msg}\nHint: call identify once per measure, with measure=.")
    if cutoff == "all":
        return None
    if not cutoff.isdecimal():
        msg = f"value has a number named {key!r:.80}, which has no cutoff.\nHint: pass {EXAMPLE}."
        raise ConventionError(msg)
    return int(cutoff)


def _require_numbers(values: Mapping[Any, object]) -> None:
    if not values:
        msg = f"value has no number.\nHint: pass '0.4382', or {EXAMPLE}."
        raise InputError(msg)


def _check_cutoffs(numbers: list[Number], n_models: int) -> None:
    """Raise if only some of the cutoffs are known, or if a model has several numbers at an unknown cutoff."""
    unknown = [number for number in numbers if len(number.cutoffs) > 1]
    if unknown and (len(unknown) < len(numbers) or len(numbers) > n_models):
        msg = f"the cutoff of {unknown[0].name} is unknown, but other cutoffs are known."
        raise InputError(f"{msg}\nHint: pass all cutoffs, {EXAMPLE}.")
