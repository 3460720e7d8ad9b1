"""The values that each field of a convention can take on given data: what is searched, and what is varied."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from rankadapters.core import presets
from rankadapters.core.data.keywords import Columns
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import Field
from rankadapters.core.errors import ConventionError, choices
from rankadapters.core.measures import MEASURES

REFUSAL = "error"  # the value of a policy under which a query that it concerns is refused

Values = tuple[Any, ...]
Block = dict[str, Values]  # conventions: every combination of these values


def grid(measure: type[Convention], queries: Queries) -> dict[str, Values]:
    """Values worth trying of each field of a measure but the cutoff, as far as the queries' columns allow.

    Without docids ties cannot follow them, and with query weights a mean cannot leave them out.

    >>> import rankadapters as ra
    >>> grid(ra.NDCG, Queries([1, 0], group_sizes=[2]))["ties"]
    ('input', 'reverse', 'average', 'worst', 'best')
    """
    return {
        name: tuple(value for value in kind.tried if kind.fits(value, queries.columns))
        for name, kind in measure.declared().items()
        if kind.group != "head"
    }


def searched(measure: type[Convention], queries: Queries, *, further: bool = False) -> dict[str, Values]:
    """Values of the grid, and those that the measure's presets have beside them in its formula and its ranking.

    With `further`, also those that are worth trying where the data can be chosen.
    """
    kinds, found = measure.declared(), grid(measure, queries)
    made = [presets.make(name, None) for name in presets.names(measure.measure)]
    for name, values in found.items():
        if kinds[name].group in {"value", "ranking"}:
            others = (getattr(preset, name) for preset in made)
            beside = (*others, *kinds[name].further) if further else others
            fitting = (value for value in beside if kinds[name].fits(value, queries.columns))
            found[name] = tuple(dict.fromkeys((*values, *fitting)))
    return found


def with_refusals(measure: type[Convention], values: dict[str, Values]) -> dict[str, Values]:
    """Add the value that refuses queries to the values of the fields that have it."""
    found = dict(values)
    for name, kind in measure.declared().items():
        if name in values and REFUSAL in getattr(kind, "words", ()):
            found[name] = (REFUSAL, *values[name]) if kind.group == "retrieval" else (*values[name], REFUSAL)
    return found


def merged(blocks: list[Block]) -> list[Block]:
    """Merge blocks that differ in a single field.

    >>> merged([{"a": (1,), "b": (1,)}, {"a": (1,), "b": (2,)}, {"a": (2,), "b": (1, 2)}])
    [{'a': (1, 2), 'b': (1, 2)}]
    """
    for name in reversed(blocks[0]):
        values: dict[object, dict[Any, None]] = {}
        firsts: dict[object, Block] = {}
        for block in blocks:
            rest = tuple(several for other, several in block.items() if other != name)
            values.setdefault(rest, {}).update(dict.fromkeys(block[name]))
            firsts.setdefault(rest, block)
        blocks = [{**firsts[rest], name: tuple(several)} for rest, several in values.items()]
    return blocks


def has_cutoff(measure: type[Convention]) -> bool:
    """Tell whether a measure has a cutoff."""
    return any(kind.group == "head" for kind in measure.declared().values())


def measure_named(name: object) -> type[Convention]:
    """Find a measure by the first word of its signatures.

    Raises
    ------
    ConventionError
        There is none of that name.
    """
    found = MEASURES.get(name) if isinstance(name, str) else None
    if found is None:
        msg = f"measure={name!r:.80}; allowed are {choices(MEASURES)}.\nHint: measure='ndcg'."
        raise ConventionError(msg)
    return found


def left_out(measure: type[Convention], queries: Queries) -> Iterator[str]:
    """Say which values are not in the grid because a column is not there, or because it is.

    >>> import rankadapters as ra
    >>> list(left_out(ra.AUC, Queries([1, 0], group_sizes=[2], query_weight=[2])))
    ['average=uniform was not searched: there are query weights']
    """
    for name, kind in measure.declared().items():
        reasons: dict[str, list[str]] = {}
        for value in kind.tried:
            if not kind.fits(value, queries.columns):
                reasons.setdefault(_reason(kind, value, queries.columns), []).append(kind.spell(value))
        for reason, values in reasons.items():
            were = "was" if len(values) == 1 else "were"
            yield f"{name}={' and '.join(values)} {were} not searched: {reason}"


def _reason(kind: Field, value: Any, columns: Collection[str]) -> str:
    wanted = [name for name in Columns.__annotations__ if kind.fits(value, {*columns, name})]
    unwanted = [name for name in columns if kind.fits(value, {*columns} - {name})]
    no, name = ("no ", wanted[0]) if wanted else ("", unwanted[0])
    return f"there are {no}{name.replace('_', ' ').removesuffix('s')}s"
