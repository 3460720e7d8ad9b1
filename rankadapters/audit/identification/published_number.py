"""Which conventions give a published number, or several of one table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, Unpack

from rankadapters.audit.evaluation import evaluated, passes
from rankadapters.audit.identification.candidates import Candidates, find_candidates
from rankadapters.audit.identification.chance import measure_chance
from rankadapters.audit.identification.further_numbers import AMONG, tell_apart
from rankadapters.audit.identification.known_presets import NearestPresets, named, nearest_of
from rankadapters.audit.identification.matches import Match, Matches
from rankadapters.audit.identification.near_misses import near_misses
from rankadapters.audit.identification.numbers import Number, read_numbers
from rankadapters.core.data.columns import Floats
from rankadapters.core.data.keywords import Columns
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.evaluation.panel import Panel
from rankadapters.core.evaluation.score import Score
from rankadapters.progress import advance, shows
from rankadapters.statistics.grid import Block, measure_named, merged
from rankadapters.statistics.search import Progress


@shows("searching")
def identify(
    labels: object,
    scores: object,
    *,
    value: object,
    measure: str = "ndcg",
    k: int | Literal["unknown"] | Sequence[int | None] | None = "unknown",
    decimals: int | None = None,
    progress: Progress | None = None,
    **columns: Unpack[Columns],
) -> Matches:
    """Find the conventions that give a published number, or several numbers at once.

    Searched are all combinations of the values that each field of the measure says are worth trying, hence all its
    presets too: for NDCG gains by formula and by the presets' tables, ties by docid where there are docids, `empty` 0,
    0.5, 1 and skip, and so on. Conventions that give every query the same value on this data are one match.

    So many combinations give many numbers, and a single number may be one of them by chance. `chance` says how many
    conventions give the other numbers around it. Several numbers of one table leave little to chance.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries, or mapping of str to Queries
        Relevance labels. A Queries for each model serves models that retrieved other rows.
    scores : array-like, shape (n_docs,), or mapping of str to array-like, or matrix or table, shape (n_docs, n_models)
        Predicted scores, higher is better, of one model or several.
    value : str, float or Decimal, or a mapping or list of them
        The number as it was printed; text keeps the zeros at its end. Several numbers of a model are given by their
        cutoffs, `{"ndcg@5": "0.4382", 10: "0.4711"}`, or as a list with as many cutoffs in `k`. With the scores of
        several models it maps their names to their numbers.
    measure : str
        What was measured, as signatures name it, such as `ndcg` or `ap`.
    k : int, None or 'unknown', or list
        The cutoff, None for all ranks; unknown searches 1 to 100 and None, the same for all models. A measure without
        one takes None or unknown.
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
        `evaluate` gives. `chance` says what random numbers match. Empty where nothing matches; then `nearest` and
        `notes` say what comes near, and what would be needed.

    Raises
    ------
    InputError
        The value is not a number in [0, 1] (a DCG, and labels below 0, allow any), or has other decimals than
        `decimals` says; of several numbers the cutoff or the model is not known.
    ConventionError
        There is no such measure, or k is not a cutoff.

    Examples
    --------
    >>> found = identify([0, 1, 0], [2, 1, 1], value="0.5000", k=1, group_sizes=[2, 1])
    >>> len(found), found[0].presets[0]
    (1, 'lightgbm')

    With a second number:

    >>> found = identify([0, 1, 0], [2, 1, 1], value={1: "0.5000", 2: "0.8155"}, group_sizes=[2, 1])
    >>> found[0].presets[0], found[0].values
    ('lightgbm', (0.5, 0.8154648767857288))
    """
    kind = measure_named(measure)
    numbers = read_numbers(labels, scores, kind, value=value, k=k, decimals=decimals, columns=columns)
    candidates = find_candidates(numbers, kind, progress or advance)
    chance, notes = measure_chance(candidates), tuple(candidates.notes)
    confirmed, values = _confirmed(numbers, candidates.groups())
    if not confirmed:
        near, missing = _missing(candidates)
        return Matches([], numbers=numbers, chance=chance, nearest=near, notes=(*missing, *notes))
    first = numbers[0]
    known = {match.convention: score for match, score in confirmed}
    telling = tell_apart(first.queries, first.scores, first.printed, known, values)
    matches = [match for match, _ in confirmed]
    return Matches(matches, numbers=numbers, chance=chance, telling=telling, notes=notes)


def _confirmed(
    numbers: Sequence[Number], groups: list[list[Block]]
) -> tuple[list[tuple[Match, Score]], dict[Convention, Floats]]:
    """Evaluate one convention of each group for real, and keep those that print as the numbers, the likeliest first.

    Each match has its score for the first number. Of the first matches the values of all queries are kept too.
    """
    several = [(nearest_of(numbers[0].measure, blocks), blocks) for blocks in map(merged, groups)]
    several.sort(key=lambda group: group[0].cost)
    first, *others = numbers
    scored: dict[Convention, list[Score]] = {}
    values: dict[Convention, Floats] = {}
    for measured in passes(first.queries, first.scores, (near.convention for near, _ in several)):
        holding = {one: [score] for one, score in measured.scores.items() if first.printed.holds(score.value)}
        scored |= holding
        apart = [one for one in holding if one.over != "rows"][: AMONG - len(values)]
        values |= measured.under(apart).per_query
    for number in others:
        at = {convention: number.at_cutoff(convention) for convention in scored}
        scores = evaluated(number.queries, number.scores, at.values())
        held = {one: scores[c] for one, c in at.items() if c in scores and number.printed.holds(scores[c].value)}
        scored = {convention: [*scored[convention], score] for convention, score in held.items()}
    matches = [
        (_match(near, blocks, tuple(score.value for score in scored[near.convention])), scored[near.convention][0])
        for near, blocks in several
        if near.convention in scored
    ]
    return matches, {convention: column for convention, column in values.items() if convention in scored}


def _missing(candidates: Candidates) -> tuple[Match | None, tuple[str, ...]]:
    """Say what comes nearest to a single number, and what would be needed; of several, which one does not fit."""
    numbers = candidates.numbers
    if len(numbers) > 1:
        return None, tuple(_without_one(candidates))
    [number], (_, block) = numbers, candidates.nearest
    if not block:
        return None, ()
    preset = nearest_of(number.measure, [block])
    [score] = Panel(number.queries, [preset.convention]).evaluate(number.scores).values()
    near = _match(preset, [block], (score.value,))
    notes = near_misses(number, getattr(near.convention, "k", None))
    cut = (f"{near} gives it cut off, not rounded",) if number.printed.truncates(near.value) else ()
    return near, (*cut, *notes)


def _without_one(candidates: Candidates) -> Iterator[str]:
    for i, number in enumerate(candidates.numbers):
        others = [other for other in candidates.numbers if other is not number]
        matches, _ = _confirmed(others, candidates.groups(without=i))
        if matches:
            yield f"without {number}, {len(matches)} fit; the likeliest is {matches[0][0]}"


def _match(near: NearestPresets, blocks: list[Block], values: tuple[float, ...]) -> Match:
    tried = {name: dict.fromkeys(v for block in blocks for v in block[name]) for name in blocks[0]}
    ordered = {name: tuple(tried[name]) for name in near.convention.fields()}
    alike = {name: several for name, several in ordered.items() if len(several) > 1}
    presets = named(type(near.convention), blocks)
    return Match(
        convention=near.convention, values=values, presets=presets, near=presets or near.presets, changes=near.changes,
        alike=alike, blocks=tuple(blocks),
    )  # fmt: skip
