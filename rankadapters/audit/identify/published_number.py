"""Which conventions give a published number."""

from __future__ import annotations

from typing import Literal, Unpack

from rankadapters.audit.evaluation import passes
from rankadapters.audit.field_grid import Values, has_cutoff, measure_named
from rankadapters.audit.identify.candidates import Block, Candidates, Cutoffs, Progress
from rankadapters.audit.identify.further_numbers import AMONG, tell_apart
from rankadapters.audit.identify.grid_search import search
from rankadapters.audit.identify.known_presets import USUAL, NearestPresets, named, nearest, nearest_of
from rankadapters.audit.identify.matches import Match, Matches
from rankadapters.audit.identify.near_misses import NearMisses
from rankadapters.audit.printed import read
from rankadapters.core.columns import Array, Floats
from rankadapters.core.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.core.keywords import Columns
from rankadapters.core.number_fields import NumberOrWord, as_cutoff
from rankadapters.core.panel import Panel
from rankadapters.core.queries import Queries, as_queries
from rankadapters.core.score import Score
from rankadapters.progress import advance, shows

UPTO = 100


@shows("searching")
def identify(
    value: object,
    labels: object,
    scores: object,
    *,
    measure: str = "ndcg",
    k: int | Literal["unknown"] | None = "unknown",
    decimals: int | None = None,
    progress: Progress | None = None,
    **columns: Unpack[Columns],
) -> Matches:
    """Find the conventions that give a published number.

    Searched are all combinations of the values that each field of the measure says are worth trying, hence all its
    presets too: for NDCG gains by formula and by the presets' tables, ties by docid where there are docids, `empty` 0,
    0.5, 1 and skip, and so on. Conventions that give every query the same value on this data are one match.

    Parameters
    ----------
    value : str, float or Decimal
        The number as it was printed; text keeps the zeros at its end.
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels.
    scores : array-like, shape (n_docs,)
        Predicted scores, higher is better.
    measure : str
        What was measured, as signatures name it, such as `ndcg` or `ap`.
    k : int, None or 'unknown'
        The cutoff, None for all ranks; unknown searches 1 to 100 and None. A measure without one takes None or unknown.
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
        The value is not a number in [0, 1] (a DCG, and labels below 0, allow any), or has other decimals than
        `decimals` says.
    ConventionError
        There is no such measure, or k is not a cutoff.

    Examples
    --------
    >>> found = identify("0.5000", [0, 1, 0], [2, 1, 1], k=1, group_sizes=[2, 1])
    >>> len(found), found[0].presets[0]
    (1, 'lightgbm')
    """
    kind = measure_named(measure)
    queries = as_queries(labels, **columns).weighed_by("query_weight")
    array = queries.check_scores(scores)
    printed = read(value, decimals, negative=_may_leave_the_unit_interval(kind, queries))
    cutoffs = _cutoffs(kind, k)
    found = search(queries, array, kind, printed, cutoffs, progress=progress or advance)
    matches, values = _confirmed(queries, array, kind, found)
    if matches:
        known = {match.convention: score for match, score in matches}
        telling = tell_apart(queries, array, printed, known, values)
        several = [match for match, _ in matches]
        return Matches(several, printed=printed, telling=telling, notes=tuple(found.left_out))
    near = _nearest(queries, array, kind, found)
    if near is None:
        return Matches([], printed=printed, notes=tuple(found.left_out))
    usual = tuple(dict.fromkeys((getattr(near.convention, "k", None), *USUAL))) if len(cutoffs) > 1 else cutoffs
    others = tuple(c for c in _cutoffs(kind, "unknown") if c not in cutoffs) if len(cutoffs) == 1 else ()
    notes = NearMisses(queries, array, kind, printed).notes(usual, others)
    cut = (f"{near} gives it cut off, not rounded",) if printed.truncates(near.value) else ()
    return Matches([], printed=printed, nearest=near, notes=(*cut, *notes, *found.left_out))


def _may_leave_the_unit_interval(measure: type[Convention], queries: Queries) -> bool:
    """Tell whether a value may lie outside [0, 1]: the measure's may, labels are below 0, or rows are given labels."""
    judged = slice(None) if queries.judged is None else queries.judged
    graded = queries.judged is not None and isinstance(measure.declared()["unjudged"], NumberOrWord)
    return not measure.in_unit_interval or graded or bool((queries.labels[judged] < 0).any())


def _cutoffs(measure: type[Convention], k: object) -> Cutoffs:
    unknown = isinstance(k, str) and k == "unknown"
    if not has_cutoff(measure):
        if k is not None and not unknown:
            msg = f"k={k!r:.80}, but {measure.__name__} has no cutoff.\nHint: leave k out."
            raise ConventionError(msg)
        return (None,)
    if unknown:
        return (*range(1, UPTO + 1), None)
    return (None if k is None else as_cutoff(k),)


def _confirmed(
    queries: Queries, scores: Array, measure: type[Convention], found: Candidates
) -> tuple[list[tuple[Match, Score]], dict[Convention, Floats]]:
    """Evaluate one convention of each group for real, and keep those that print as the number, the likeliest first.

    Of the first of them the values of all queries are kept too.
    """
    groups = [(nearest_of(measure, blocks), blocks) for blocks in map(_merged, found.groups.values())]
    groups.sort(key=lambda group: group[0].cost)
    scored: dict[Convention, Score] = {}
    values: dict[Convention, Floats] = {}
    for measured in passes(queries, scores, (near.convention for near, _ in groups)):
        holding = {one: score for one, score in measured.scores.items() if found.printed.holds(score.value)}
        scored |= holding
        apart = [one for one in holding if one.over != "rows"][: AMONG - len(values)]
        values |= measured.under(apart).per_query
    matches = [
        (_match(near, blocks, scored[near.convention].value), scored[near.convention])
        for near, blocks in groups
        if near.convention in scored
    ]
    return matches, values


def _nearest(queries: Queries, scores: Array, measure: type[Convention], found: Candidates) -> Match | None:
    _, block = found.nearest
    if not block:
        return None
    near = nearest(measure, block)
    [score] = Panel(queries, [near.convention]).evaluate(scores).values()
    return _match(near, [block], score.value)


def _match(near: NearestPresets, blocks: list[Block], value: float) -> Match:
    values = {name: dict.fromkeys(v for block in blocks for v in block[name]) for name in blocks[0]}
    ordered = {name: tuple(values[name]) for name in near.convention.fields()}
    alike = {name: several for name, several in ordered.items() if len(several) > 1}
    presets = named(type(near.convention), blocks)
    return Match(
        convention=near.convention, value=value, presets=presets, near=presets or near.presets, changes=near.changes,
        alike=alike, blocks=tuple(blocks),
    )  # fmt: skip


def _merged(blocks: list[Block]) -> list[Block]:
    """Make blocks that differ in their cutoff only one."""
    cutoffs: dict[tuple[tuple[str, Values], ...], list[int | None]] = {}
    if "k" not in blocks[0]:
        return blocks
    for block in blocks:
        rest = tuple((name, values) for name, values in block.items() if name != "k")
        cutoffs.setdefault(rest, []).extend(block["k"])
    return [{"k": tuple(dict.fromkeys(ks)), **dict(rest)} for rest, ks in cutoffs.items()]
