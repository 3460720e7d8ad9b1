"""Which conventions give a published number."""

from __future__ import annotations

from typing import Any, Literal, Unpack

from rankadapters.audit.field_grid import evaluated
from rankadapters.audit.identify.further_numbers import tell_apart
from rankadapters.audit.identify.grid_search import Found, Progress, search
from rankadapters.audit.identify.known_presets import USUAL, Block, Near, named, nearest, nearest_of
from rankadapters.audit.identify.matches import Match, Matches
from rankadapters.audit.identify.near_misses import needed
from rankadapters.audit.printed import Printed, read
from rankadapters.core.columns import Array
from rankadapters.core.fields import as_cutoff
from rankadapters.core.keywords import Columns
from rankadapters.core.panel import Panel
from rankadapters.core.queries import Queries, as_queries

UPTO = 100


def identify(
    value: object,
    labels: object,
    scores: object,
    *,
    k: int | Literal["unknown"] | None = "unknown",
    decimals: int | None = None,
    progress: Progress | None = None,
    **columns: Unpack[Columns],
) -> Matches:
    """Find the conventions that give a published number.

    Searched are all combinations of gain (the formulas and the presets' tables), discount, ideal, ties (those by docid
    where there are docids), precision, short, empty (0, 0.5, 1 and skip), missing, unjudged and average, hence all
    presets too. Conventions that give every query the same value on this data are one match.

    Parameters
    ----------
    value : str, float or Decimal
        The number as it was printed; text keeps the zeros at its end.
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels.
    scores : array-like, shape (n_docs,)
        Predicted scores, higher is better.
    k : int, None or 'unknown'
        The cutoff; None is no cutoff; unknown searches 1 to 100 and None.
    decimals : int, optional
        How many were printed; by default those of `value`. A value matches that rounds to the number; of more than 12
        decimals 12 are compared.
    progress : callable, optional
        Called with how many parts of the search are done, and how many there are.
    qid, group_sizes, query_weight, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    Matches
        A list of `Match`: presets first, then by how many fields differ from the nearest preset. Each value is what
        `evaluate` gives. Empty where nothing matches; then `nearest` and `notes` say what comes near, and what would
        be needed.

    Raises
    ------
    InputError
        The value is no number in [0, 1] (labels below 0 allow any), or has other decimals than `decimals` says.
    ConventionError
        k is no cutoff.

    Examples
    --------
    >>> found = identify("0.5000", [0, 1, 0], [2, 1, 1], k=1, group_sizes=[2, 1])
    >>> len(found), found[0].presets[0]
    (1, 'lightgbm')
    """
    queries = as_queries(labels, **columns).weighed_by("query_weight")
    array = queries.check_scores(scores)
    printed = read(value, decimals, negative=_has_negative_labels(queries))
    cutoffs = _cutoffs(k)
    found = search(queries, array, printed, cutoffs, progress)
    matches = _confirmed(queries, array, printed, found)
    if matches:
        telling = tell_apart(queries, array, printed, [match.convention for match in matches])
        return Matches(matches, printed=printed, telling=telling, notes=tuple(found.left_out))
    near = _nearest(queries, array, found)
    others = () if len(cutoffs) > 1 else tuple(c for c in _cutoffs("unknown") if c not in cutoffs)
    usual = dict.fromkeys((near.convention.k, *USUAL)) if near and len(cutoffs) > 1 else cutoffs
    notes = () if near is None else tuple(needed(queries, array, printed, usual, others))
    cut = () if near is None or not printed.truncates(near.value) else (f"{near} gives it cut off, not rounded",)
    return Matches([], printed=printed, nearest=near, notes=(*cut, *dict.fromkeys(notes), *found.left_out))


def _has_negative_labels(queries: Queries) -> bool:
    judged = slice(None) if queries.judged is None else queries.judged
    return bool((queries.labels[judged] < 0).any())


def _cutoffs(k: object) -> tuple[int | None, ...]:
    if isinstance(k, str) and k == "unknown":
        return (*range(1, UPTO + 1), None)
    return (None if k is None else as_cutoff(k),)


def _confirmed(queries: Queries, scores: Array, printed: Printed, found: Found) -> list[Match]:
    """Evaluate one convention of each group for real, and keep those that print as the number."""
    groups = [(nearest_of(blocks), blocks) for blocks in map(_merged, found.groups.values())]
    values = evaluated(queries, scores, (near.convention for near, _ in groups))
    matches = [
        (near, _match(near, blocks, values[near.convention].value))
        for near, blocks in groups
        if near.convention in values and printed.holds(values[near.convention].value)
    ]
    return [match for _, match in sorted(matches, key=lambda pair: pair[0].cost)]


def _nearest(queries: Queries, scores: Array, found: Found) -> Match | None:
    _, block = found.nearest
    if not block:
        return None
    near = nearest(block)
    [score] = Panel(queries, [near.convention]).evaluate(scores).values()
    return _match(near, [block], score.value)


def _match(near: Near, blocks: list[Block], value: float) -> Match:
    values = {name: dict.fromkeys(v for block in blocks for v in block[name]) for name in blocks[0]}
    ordered = {name: tuple(values[name]) for name in near.convention.fields()}
    alike = {name: several for name, several in ordered.items() if len(several) > 1}
    presets = named(blocks)
    return Match(
        convention=near.convention, value=value, presets=presets, near=presets or near.presets, changes=near.changes,
        alike=alike, blocks=tuple(blocks),
    )  # fmt: skip


def _merged(blocks: list[Block]) -> list[Block]:
    """Make blocks that differ in their cutoff only one."""
    cutoffs: dict[tuple[tuple[str, tuple[Any, ...]], ...], list[int | None]] = {}
    for block in blocks:
        rest = tuple((name, values) for name, values in block.items() if name != "k")
        cutoffs.setdefault(rest, []).extend(block["k"])
    return [{"k": tuple(dict.fromkeys(ks)), **dict(rest)} for rest, ks in cutoffs.items()]
