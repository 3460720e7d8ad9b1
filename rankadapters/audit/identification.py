"""Find the conventions that give a published number, or several numbers of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import Literal, Unpack

import numpy as np

from rankadapters.audit.candidates import SAME, Candidates, find_candidates
from rankadapters.audit.evaluation import evaluate_usable, measure_in_passes
from rankadapters.audit.matches import MISTAKE, POSSIBLE, Match, Matches
from rankadapters.audit.numbers import Number, read_numbers, refuse_outside
from rankadapters.core.data.columns import Columns
from rankadapters.core.data.queries import describes_columns
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.guesses import IDENTIFY, shows_call
from rankadapters.evaluation.evaluator import Evaluator
from rankadapters.progress import advance, shows
from rankadapters.statistics import known_presets, rivals
from rankadapters.statistics.grid import Block, measure_named, merged
from rankadapters.statistics.plan_keys import classes
from rankadapters.statistics.rivals import OurNumber
from rankadapters.statistics.search import Progress

N_CUTOFFS = 4  # cutoffs at which mistakes are tried if the cutoff is unknown

Values = dict[tuple[Convention, str], float]  # by preset and mistake


@describes_columns
@shows_call(IDENTIFY)
@shows("searching")
def identify(
    labels: object,
    scores: object,
    *,
    value: object,
    measure: str = "ndcg",
    k: int | Literal["unknown", "all"] | None = "unknown",
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
    value : str, float or Decimal, or a mapping of them
        The number as it was printed; text keeps trailing zeros. Pass several numbers of a model by their cutoffs,
        `{5: "0.4382", 10: "0.4711"}`. For several models, pass a mapping from their names to their numbers.
    measure : str
        The measure, as named in signatures, such as `ndcg` or `ap`.
    k : int, None, 'all' or 'unknown'
        The cutoff of a number that is not given by its cutoff; None or 'all' for all ranks. 'unknown' searches 1 to 100
        and None, the same for all models. For a measure without a cutoff, pass None or 'unknown'.
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
        `chance` reports how many of the numbers nearby match too. If nothing matches, the list is empty; for one
        number, `nearest` is the nearest convention; for several, `notes` name each number without which the rest match.

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
    matches = _confirmed(candidates, tuple(range(len(numbers))))
    if not matches or matches[0].changes:  # a preset without a mistake is likelier than one with a mistake
        matches = _with_mistakes(candidates, matches)
    if matches:
        chance = candidates.chance(matches[0].convention)
        return Matches(matches, numbers=numbers, chance=chance, notes=candidates.notes)
    for number in numbers:
        if number.bounded:
            refuse_outside(number.printed, number.printed)
    nearest = _nearest(candidates) if len(numbers) == 1 else None
    chance = candidates.chance(nearest.convention if nearest else None)
    notes = [*_without_one(candidates), *candidates.notes]
    return Matches([], numbers=numbers, chance=chance, nearest=nearest, notes=notes)


def _confirmed(candidates: Candidates, indices: tuple[int, ...]) -> list[Match]:
    """Evaluate a convention of each group exactly; return those whose values round to the numbers, likeliest first."""
    numbers = [candidates.numbers[index] for index in indices]
    measure, blocks_of_groups = numbers[0].measure, map(merged, candidates.groups(indices))
    groups = [(known_presets.nearest_to_blocks(measure, blocks), blocks) for blocks in blocks_of_groups]
    groups.sort(key=lambda group: group[0].cost)
    values: dict[Convention, tuple[float, ...]] = {near.convention: () for near, _ in groups}
    for number in numbers:
        at_cutoff = {convention: number.at_cutoff(convention) for convention in values}
        scores = evaluate_usable(number.queries, number.scores, at_cutoff.values())
        values = {
            convention: (*values[convention], scores[variant].value)
            for convention, variant in at_cutoff.items()
            if variant in scores and number.printed.holds(scores[variant].value)
        }
    return [
        _match(numbers, near, blocks, values[near.convention]) for near, blocks in groups if near.convention in values
    ]


def _match(
    numbers: Sequence[Number], near: known_presets.NearestPresets, blocks: list[Block], values: tuple[float, ...]
) -> Match:
    values_by_field = {name: dict.fromkeys(v for block in blocks for v in block[name]) for name in blocks[0]}
    alike = {name: tuple(values_by_field[name]) for name in near.convention.fields() if len(values_by_field[name]) > 1}
    presets = known_presets.preset_labels(type(near.convention), blocks)
    return Match(
        conventions=tuple(number.at_cutoff(near.convention) for number in numbers), values=values, presets=presets,
        near=presets or near.presets, changes=near.changes, alike=alike, blocks=tuple(blocks),
    )  # fmt: skip


def _nearest(candidates: Candidates) -> Match | None:
    """Return the convention whose value is nearest to the only number."""
    [number], (_, block) = candidates.numbers, candidates.nearest
    if not block:
        return None
    near = known_presets.nearest_to_blocks(number.measure, [block])
    [score] = Evaluator.of(number.queries, [near.convention]).evaluate(number.scores).values()
    return _match([number], near, [block], (score.value,))


def _without_one(candidates: Candidates) -> Iterator[str]:
    """Yield a note on each number without which the other numbers match."""
    indices = range(len(candidates.numbers))
    for left_out, number in enumerate(candidates.numbers):
        rest = tuple(index for index in indices if index != left_out)
        matches = _confirmed(candidates, rest) if rest else []
        if matches:
            yield f"without {number}, {len(matches)} fit; the likeliest is {matches[0]}"


def _with_mistakes(candidates: Candidates, matches: list[Match]) -> list[Match]:
    """Add the presets that give the numbers with a mistake: after those with one changed field, before all others."""
    numbers, first = candidates.numbers, candidates.numbers[0]
    cutoffs = first.cutoffs if len(first.cutoffs) == 1 else known_presets.USUAL_CUTOFFS[:N_CUTOFFS]
    labels: dict[Convention, list[str]] = {}
    for k in cutoffs:
        for label, convention in known_presets.presets_by_label(first.measure, k).items():
            labels.setdefault(convention, []).append(label)
    bases = [_bases(number, labels) for number in numbers]
    n_simpler = sum(len(match.changes) < 2 for match in matches)  # noqa: PLR2004 - none or one
    n_changes = 2 if n_simpler else 1  # a mistake counts as so many changed fields: what comes first is likelier
    with_all_data = [_mistaken(*pair) for pair in zip(numbers, bases, strict=True)]
    mistaken = _matches_of(with_all_data, candidates, labels, n_changes)
    if matches or mistaken:
        return [*matches[:n_simpler], *mistaken, *matches[n_simpler:]]
    without_a_query = [_without_queries(*pair) for pair in zip(numbers, bases, strict=True)]
    mistaken = _matches_of(without_a_query, candidates, labels, n_changes)  # so many that most numbers may match
    doubtful = not mistaken or candidates.chance(mistaken[0].convention).share(1) >= POSSIBLE
    return [] if doubtful else mistaken


def _bases(number: Number, conventions: Iterable[Convention]) -> dict[Convention, OurNumber]:
    """Return our number under each preset that has a value on the data, by the preset at the first number's cutoff."""
    at_cutoff = {convention: number.at_cutoff(convention) for convention in conventions}
    ours: dict[Convention, OurNumber] = {}
    for measured in measure_in_passes(number.queries, number.scores, at_cutoff.values()):
        for convention in measured.scores:
            ours[convention] = OurNumber.under(convention, number.queries, number.scores, measured.under([convention]))
    return {convention: ours[variant] for convention, variant in at_cutoff.items() if variant in ours}


def _mistaken(number: Number, bases: dict[Convention, OurNumber]) -> Values:
    """Return the value of each preset with each mistake with the whole data."""
    values: Values = {}
    changes: dict[object, list[tuple[str, float]]] = {}
    for convention, base in bases.items():
        formula = [kind.group in {"value", "ranking"} for kind in base.convention.declared().values()]
        fields = tuple(compress(base.convention.to_dict().values(), formula))
        key = fields, base.terms.values.tobytes(), base.terms.shares.tobytes(), base.convention.weighting
        if key not in changes:  # presets of one formula whose queries count the same are equal with a mistake too
            means = rivals.changed_means(base) if base.convention.is_sum else ()
            numbers = ((text, a * base.value + b) for text, (a, b) in (rivals.CHANGED_NUMBERS | rivals.FACTORS).items())
            changes[key] = [*rivals.changed_formulas(base), *means, *numbers]
        k = f"k={getattr(base.convention, 'k', None)}"
        for text, value in changes[key]:  # in the same words for every cutoff, and of the preset's value, not ours
            values[convention, text.replace("ours", "the value", 1).replace(k, "k")] = value
    values |= _of_others(number, bases)
    for text, queries, scores in rivals.changed_columns(number.queries, number.scores):
        scored = evaluate_usable(queries, scores, (base.convention for base in bases.values()))
        values |= {
            (convention, text): scored[base.convention].value
            for convention, base in bases.items()
            if base.convention in scored
        }
    return values


def _of_others(number: Number, bases: dict[Convention, OurNumber]) -> Values:
    """Return the value of the conventions that are often taken for each preset."""
    others = {
        (convention, text.replace(f"@{getattr(base.convention, 'k', None)}", "@k")): other
        for convention, base in bases.items()
        for text, other in rivals.other_conventions(base.convention, number.queries.labels)
    }
    scores = evaluate_usable(number.queries, number.scores, others.values())
    return {key: scores[other].value for key, other in others.items() if other in scores}


def _without_queries(number: Number, bases: dict[Convention, OurNumber]) -> Values:
    """Return the value of each preset without each query, and with another divisor if the number has enough digits."""
    n_searches = 2 if number.printed.decimals > rivals.FEW_DECIMALS else 1
    searches = (rivals.without_query, rivals.different_divisors)[:n_searches]
    return {
        (convention, text): value
        for convention, base in bases.items()
        for search in (searches if base.convention.is_sum else ())
        for text, value in search(base)
    }


def _matches_of(
    tables: Sequence[Values], candidates: Candidates, labels: dict[Convention, list[str]], n_changes: int
) -> list[Match]:
    """Return the presets that give all numbers with the same mistake, likeliest first; count all values as chance."""
    numbers = candidates.numbers
    keys = [key for key in tables[0] if all(key in table for table in tables)]
    values = np.array([[table[key] for table in tables] for key in keys]).reshape(-1, len(tables))
    reached = np.abs(values - [number.value for number in numbers]) <= [number.reach for number in numbers]
    candidates.add_means(values[reached.all(axis=1)], n_changes)
    fits = np.all([n.printed.hold(column) for n, column in zip(numbers, values.T, strict=True)], axis=0)
    rounded = np.round(values, SAME)
    groups = {i: (keys[i][1], rounded[i].tobytes()) for i in np.flatnonzero(fits).tolist()}
    matches = []
    for indices in classes(groups):
        near = tuple(dict.fromkeys(label for index in indices for label in labels[keys[index][0]]))
        (convention, mistake), given = keys[indices[0]], tuple(values[indices[0]].tolist())
        match = Match(
            conventions=tuple(number.at_cutoff(convention) for number in numbers), values=given, presets=(), near=near,
            changes={MISTAKE: mistake}, alike={}, blocks=(),
        )  # fmt: skip
        matches.append((known_presets.NearestPresets(near, convention, {}).cost, match))
    return [match for _, match in sorted(matches, key=lambda pair: pair[0])]
