"""Find the conventions that give a published number, or several numbers of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, Unpack

from rankadapters.audit.evaluation import evaluate_usable, measure_in_passes
from rankadapters.audit.identification.candidates import Candidates, find_candidates
from rankadapters.audit.identification.chance import POSSIBLE, measure_chance
from rankadapters.audit.identification.further_numbers import N_COMPARED, find_distinguishing_numbers
from rankadapters.audit.identification.matches import Match, Matches
from rankadapters.audit.identification.mistaken import MistakenPresets
from rankadapters.audit.identification.near_misses import near_misses
from rankadapters.audit.identification.numbers import Number, read_numbers
from rankadapters.audit.printed import refuse_outside
from rankadapters.core.data.columns import Columns, Floats
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.evaluation.evaluator import Evaluator
from rankadapters.core.evaluation.score import Score
from rankadapters.progress import advance, shows
from rankadapters.statistics.grid import Block, measure_named, merged
from rankadapters.statistics.known_presets import NearestPresets, nearest_to_blocks, preset_labels
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

    The search covers all combinations of the values that the fields of the measure list for trial, which include all
    presets. For NDCG these are gains by formula and by the presets' tables, ties by docid if there are docids, `empty`
    of 0, 0.5, 1 and skip, and so on. Conventions with the same per-query values on this data are one match.

    If no preset gives the numbers, each preset is also tried with the mistakes that `parity.check_value` tries, such as
    one-document queries left out.

    So many combinations give many numbers, and a single number may match by chance. `chance` reports how many of the
    numbers nearby that the measure can take are given by a convention. Several numbers of one table hardly ever match
    by chance.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries, or mapping of str to Queries
        Relevance labels. Pass a Queries for each model if the models retrieved different rows.
    scores : array-like, shape (n_docs,), or mapping of str to array-like, or matrix or table, shape (n_docs, n_models)
        Predicted scores of one model or of several models; higher is better.
    value : str, float or Decimal, or a mapping or list of them
        The number as it was printed; text keeps trailing zeros. Pass several numbers of a model by their cutoffs,
        `{"ndcg@5": "0.4382", 10: "0.4711"}`, or as a list with as many cutoffs in `k`. For several models, pass a
        mapping from their names to their numbers.
    measure : str
        The measure, as named in signatures, such as `ndcg` or `ap`.
    k : int, None or 'unknown', or list
        The cutoff; None for all ranks. 'unknown' searches 1 to 100 and None, the same for all models. For a measure
        without a cutoff, pass None or 'unknown'.
    decimals : int, optional
        Number of printed decimals; by default that of `value`. A value matches if it rounds to the number; at most 12
        decimals are compared.
    progress : callable, optional
        Called with the number of finished parts of the search and their total number.
    qid, group_sizes, query_weight, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    Matches
        A list of `Match`: presets first, then by the number of fields that differ from the nearest preset; a mistake
        counts as a field. The values are those of `evaluate`, or, with a mistake, what the mistake makes of them.
        `chance` reports how many of the numbers nearby match too. If nothing matches, the list is empty, `nearest` is
        the nearest convention, and `notes` name changes that would give a match.

    Raises
    ------
    InputError
        The value is not a number in [0, 1] (any number is allowed for DCG or negative labels, or if a mistake gives it)
        or contradicts `decimals`, or the cutoff or the model of one of several numbers is unknown.
    ConventionError
        The measure does not exist, or k is not a cutoff.

    Examples
    --------
    >>> matches = identify([0, 1, 0], [2, 1, 1], value="0.5000", k=1, group_sizes=[2, 1])
    >>> len(matches), matches[0].presets[0]
    (1, 'lightgbm')

    With a second number:

    >>> matches = identify([0, 1, 0], [2, 1, 1], value={1: "0.5000", 2: "0.8155"}, group_sizes=[2, 1])
    >>> matches[0].presets[0], matches[0].values
    ('lightgbm', (0.5, 0.8154648767857288))
    """
    kind = measure_named(measure)
    numbers = read_numbers(labels, scores, kind, value=value, k=k, decimals=decimals, columns=columns)
    candidates = find_candidates(numbers, kind, progress or advance)
    confirmed, values = _confirmed(numbers, candidates.groups())
    matches, notes, first = [match for match, _ in confirmed], tuple(candidates.notes), numbers[0]
    if not matches or matches[0].changes:  # a preset without a mistake is likelier than one with a mistake
        matches = _with_mistakes(candidates, matches)
    if not matches:
        for number in numbers:
            if number.bounded:
                refuse_outside(number.printed, number.printed)
        near, near_notes = _without_match(candidates)
        chance = measure_chance(candidates, near.convention if near else None)
        return Matches([], numbers=numbers, chance=chance, nearest=near, notes=(*near_notes, *notes))
    chance = measure_chance(candidates, matches[0].convention)
    known_scores = {match.convention: score for match, score in confirmed}
    telling = find_distinguishing_numbers(first.queries, first.scores, first.printed, known_scores, values)
    return Matches(matches, numbers=numbers, chance=chance, telling=telling, notes=notes)


def _with_mistakes(candidates: Candidates, matches: list[Match]) -> list[Match]:
    """Add the presets that give the numbers with a mistake: after those with one changed field, before all others."""
    n_simpler = sum(len(match.changes) < 2 for match in matches)  # noqa: PLR2004 - none or one
    mistaken = MistakenPresets(candidates, n_changes=2 if n_simpler else 1)  # what comes first is likelier
    matches = [*matches[:n_simpler], *mistaken.with_the_whole_data(), *matches[n_simpler:]]
    if matches:
        return matches
    without = mistaken.without_a_query()  # so many that most numbers may match
    doubtful = not without or measure_chance(candidates, without[0].convention).share(1) >= POSSIBLE
    return [] if doubtful else without


def _confirmed(
    numbers: Sequence[Number], groups: list[list[Block]]
) -> tuple[list[tuple[Match, Score]], dict[Convention, Floats]]:
    """Evaluate one convention of each group exactly, and keep the groups for which the values round to the numbers.

    Return the matches with their scores for the first number, the likeliest first, and the per-query values of the
    first `N_COMPARED` matches.
    """
    by_cost = [(nearest_to_blocks(numbers[0].measure, blocks), blocks) for blocks in map(merged, groups)]
    by_cost.sort(key=lambda group: group[0].cost)
    first, *further = numbers
    scored: dict[Convention, list[Score]] = {}
    values: dict[Convention, Floats] = {}
    for measured in measure_in_passes(first.queries, first.scores, (near.convention for near, _ in by_cost)):
        fitting = {c: [score] for c, score in measured.scores.items() if first.printed.holds(score.value)}
        scored |= fitting
        over_queries = [convention for convention in fitting if convention.over != "rows"]
        values |= measured.under(over_queries[: N_COMPARED - len(values)]).per_query
    for number in further:
        variants = {convention: number.at_cutoff(convention) for convention in scored}
        usable = evaluate_usable(number.queries, number.scores, variants.values())
        scores = {convention: usable[variant] for convention, variant in variants.items() if variant in usable}
        scored = {c: [*scored[c], score] for c, score in scores.items() if number.printed.holds(score.value)}
    matches = [
        (_match(near, blocks, tuple(score.value for score in scored[near.convention])), scored[near.convention][0])
        for near, blocks in by_cost
        if near.convention in scored
    ]
    return matches, {convention: column for convention, column in values.items() if convention in scored}


def _without_match(candidates: Candidates) -> tuple[Match | None, tuple[str, ...]]:
    """Return the nearest convention (None for several numbers), and notes on what prevents a match."""
    numbers = candidates.numbers
    if len(numbers) > 1:
        return None, tuple(_without_one(candidates))
    [number], (_, block) = numbers, candidates.nearest
    if not block:
        return None, ()
    preset = nearest_to_blocks(number.measure, [block])
    [score] = Evaluator.of(number.queries, [preset.convention]).evaluate(number.scores).values()
    near = _match(preset, [block], (score.value,))
    notes = near_misses(number, getattr(near.convention, "k", None))
    truncated = (f"{near} gives it cut off, not rounded",) if number.printed.truncates(near.value) else ()
    return near, (*truncated, *notes)


def _without_one(candidates: Candidates) -> Iterator[str]:
    for i, number in enumerate(candidates.numbers):
        rest = [candidate for candidate in candidates.numbers if candidate is not number]
        matches, _ = _confirmed(rest, candidates.groups(without=i))
        if matches:
            yield f"without {number}, {len(matches)} fit; the likeliest is {matches[0][0]}"


def _match(near: NearestPresets, blocks: list[Block], values: tuple[float, ...]) -> Match:
    values_by_field = {name: dict.fromkeys(v for block in blocks for v in block[name]) for name in blocks[0]}
    ordered = {name: tuple(values_by_field[name]) for name in near.convention.fields()}
    alike = {name: options for name, options in ordered.items() if len(options) > 1}
    presets = preset_labels(type(near.convention), blocks)
    return Match(
        convention=near.convention, values=values, presets=presets, near=presets or near.presets, changes=near.changes,
        alike=alike, blocks=tuple(blocks),
    )  # fmt: skip
