"""The values that each field of a convention can take on a data set; audits search and vary them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rankadapters import presets
from rankadapters.core.data.columns import Columns
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, choices
from rankadapters.core.measures import MEASURES
from rankadapters.presets.texts import measure_called

REFUSAL = "error"  # the policy value that raises an error for an affected query

Values = tuple[Any, ...]
Block = dict[str, Values]  # values by field; a block means every combination of them


def grid(measure: type[Convention], queries: Queries) -> dict[str, Values]:
    """Return the values to try for each field of a measure except the cutoff, as far as the queries' columns allow.

    Ties can follow docids only where there are docids; with query weights, no mean may ignore them.

    >>> import rankadapters as ra
    >>> grid(ra.NDCG, Queries([1, 0], group_sizes=[2]))["ties"]
    ('input', 'reverse', 'average', 'worst', 'best')
    """
    return {
        name: tuple(value for value in field.tried if field.fits(value, queries.columns))
        for name, field in measure.declared().items()
        if field.group != "head"
    }


def values_to_search(measure: type[Convention], queries: Queries, *, further: bool = False) -> dict[str, Values]:
    """Return the grid, plus those values of formula, ranking and pool that only the measure's presets use.

    With `further`, also add the values worth trying where the caller chooses the data.
    """
    fields, values_by_field = measure.declared(), grid(measure, queries)
    conventions = [presets.make(name, None) for name in presets.names(measure.measure)]
    for name, values in values_by_field.items():
        if fields[name].group in {"value", "ranking", "pool"}:
            candidates = [*(getattr(c, name) for c in conventions), *(fields[name].further if further else ())]
            fitting = (value for value in candidates if fields[name].fits(value, queries.columns))
            values_by_field[name] = tuple(dict.fromkeys((*values, *fitting)))
    return values_by_field


def with_refusals(measure: type[Convention], values: dict[str, Values]) -> dict[str, Values]:
    """Add "error" to the values of every field that allows it."""
    extended = dict(values)
    for name, field in measure.declared().items():
        if name in values and REFUSAL in getattr(field, "words", ()):
            extended[name] = (REFUSAL, *values[name]) if field.group == "retrieval" else (*values[name], REFUSAL)
    return extended


def merged(blocks: list[Block]) -> list[Block]:
    """Merge blocks that differ in a single field.

    >>> merged([{"a": (1,), "b": (1,)}, {"a": (1,), "b": (2,)}, {"a": (2,), "b": (1, 2)}])
    [{'a': (1, 2), 'b': (1, 2)}]
    """
    for name in reversed(blocks[0]):
        values: dict[object, dict[Any, None]] = {}
        firsts: dict[object, Block] = {}
        for block in blocks:
            rest = tuple(field_values for field, field_values in block.items() if field != name)
            values.setdefault(rest, {}).update(dict.fromkeys(block[name]))
            firsts.setdefault(rest, block)
        blocks = [{**firsts[rest], name: tuple(merged_values)} for rest, merged_values in values.items()]
    return blocks


def replaced(convention: Convention, fields: Mapping[str, Any]) -> Convention | None:
    """Return the convention with other values of some fields; None if it cannot have these values or fields."""
    try:
        return convention.replace(**fields)
    except ConventionError:
        return None


def has_cutoff(measure: type[Convention]) -> bool:
    """Return whether a measure has a cutoff."""
    return any(field.group == "head" for field in measure.declared().values())


def measure_named(name: object) -> type[Convention]:
    """Return the measure whose signatures begin with this word, or that tools call so, as 'map'."""
    measure = MEASURES.get(measure_called(name) or "") if isinstance(name, str) else None
    if measure is None:
        raise ConventionError(f"measure={name!r:.80}; allowed are {choices(MEASURES)}.", hint="measure='ndcg'")
    return measure


def omission_notes(measure: type[Convention], queries: Queries) -> Iterator[str]:
    """Yield a sentence for each value that the grid omits because the queries have or lack some column.

    >>> import rankadapters as ra
    >>> list(omission_notes(ra.AUC, Queries([1, 0], group_sizes=[2], query_weight=[2])))
    ['average=uniform was not searched: there are query weights']
    """
    for name, field in measure.declared().items():
        reasons: dict[str, list[str]] = {}
        for value in field.tried:
            if not field.fits(value, queries.columns):
                missing = [c for c in Columns.__annotations__ if field.fits(value, {*queries.columns, c})]
                conflicting = [c for c in queries.columns if field.fits(value, {*queries.columns} - {c})]
                column = (missing or conflicting)[0].replace("_", " ").removesuffix("s")
                reason = f"there are {'no ' if missing else ''}{column}s"
                reasons.setdefault(reason, []).append(field.spell(value))
        for reason, values in reasons.items():
            were = "was" if len(values) == 1 else "were"
            yield f"{name}={' and '.join(values)} {were} not searched: {reason}"
