"""Explain a function's answers by what it makes of values: other numbers, means, formulas, gains and ranks."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import product

import numpy as np

from rankadapters.core.arrays import Flags, Floats, Ints
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.measures import NDCG
from rankadapters.statistics.grid import replaced
from rankadapters.statistics.known_presets import presets_by_label
from rankadapters.statistics.plan_keys import classes
from rankadapters.statistics.probing.answers import OF_QUERIES
from rankadapters.statistics.probing.cases import Case
from rankadapters.statistics.probing.elimination import OF_TIES, agree, twin_key, values_of
from rankadapters.statistics.probing.evidence import FEWEST_DIFFERENT, N_UNTIED, Finding, Search
from rankadapters.statistics.probing.measuring import FORMULAS, GAINS, formula_of
from rankadapters.statistics.rivals import (
    CHANGED_NUMBERS,
    OurNumber,
    changed_means,
    changed_values,
    different_divisors,
    without_query,
)

MOST_DECIMALS = 8  # answers with more decimals do not count as rounded
MOST_ADDED = 0.1  # to the ideal DCG, so that no query divides by 0
N_PLAIN = 20  # conventions whose mean may be mistaken, if none fits all single queries
TIES, EMPTIES = ("input", "reverse"), (0.0, 1.0, "skip")  # that programs with a mistake often have


def of_numbers(search: Search) -> Iterator[Finding]:
    """Yield conventions whose values the function rounds, or changes to percentages or the like."""
    changed = [
        (f"it returns {_general(text)}", search.pool.values * factor + offset)
        for text, (factor, offset) in CHANGED_NUMBERS.items()
    ]
    whole = [pair for pair in changed if "percentage" in pair[0]]
    every = range(MOST_DECIMALS + 1)
    decimals = next((d for d in every if np.array_equal(np.round(search.answers, d), search.answers)), None)
    rounds, margin = f"it rounds to {decimals} decimals", 0.5000001 * 10.0 ** -(decimals or 0)
    if decimals:
        yield from search.fitting(rounds, margin=margin)
    for text, values in changed:
        yield from search.fitting(text, values)
    for text, values in changed if decimals else whole if decimals == 0 else ():
        yield from search.fitting(f"{text}, and {rounds}", values, margin=margin)


def of_no_value(search: Search) -> Iterator[Finding]:
    """Yield conventions that fit where they have a value, if the function returns one number everywhere else."""
    if search.function.takes not in OF_QUERIES:
        return
    without = np.isnan(search.pool.values)
    fits = (search.near | without).all(axis=1) & without.any(axis=1)
    for row in np.flatnonzero(fits).tolist():
        returned = set(search.answers[without[row]].tolist())
        if search.enough(~without[row]) and len(returned) == 1:
            text = f"it leaves out queries that have no value, and returns {returned.pop():g} if no query is left"
            yield Finding(text, search.members([row]))
            return


def of_factors(search: Search) -> Iterator[Finding]:
    """Yield conventions whose values the function multiplies by a constant."""
    values = search.scaled(search.answers != 0)
    if rows := search.rows(values):
        first = int(np.flatnonzero(search.answers)[0])
        factor = search.answers[first] / search.pool.values[rows[0], first]
        yield Finding(f"it returns {factor:.10g} times the value", search.members(rows))


def of_means(search: Search) -> Iterator[Finding]:
    """Yield conventions with a mistake in the mean over queries.

    They fit single queries, unless the mistake leaves nothing of these, so that their values are all the same, or
    changes them too, as a rule for some queries does.
    """
    if search.single.all():
        return
    if np.unique(search.answers[search.single]).size < FEWEST_DIFFERENT:
        yield from _with_mistaken_means(search, _presets(search), ~search.single)
    rows = search.rows(mask=search.single) or search.rows(search.scaled(search.single), search.single)
    yield from _with_mistaken_means(search, (search.pool.members([row])[0] for row in rows))
    if not rows and search.near.size:
        counts = search.near[:, search.single].sum(axis=1)
        nearest = np.flatnonzero(counts == counts.max())[:N_PLAIN].tolist()
        several = ~search.single if search.enough(~search.single) else None
        yield from _with_mistaken_means(search, (search.pool.members([row])[0] for row in nearest), several)


def of_ideals(search: Search) -> Iterator[Finding]:
    """Yield conventions of NDCG with an ideal list that is cut elsewhere, or with a larger ideal DCG."""
    formula, k = search.examination.measured.formula, search.examination.cutoff
    top = search.examination.maker.at_rank(1)
    if NDCG not in search.measures or formula is None or top not in search.cases or not search.answers.any():
        return
    first = search.cases.index(top)
    for gain in GAINS.values():
        ideal = _ideal_dcgs(search.cases, gain, FORMULAS[formula], k)
        divisors = {
            f"its ideal list is cut at {cut}": _ideal_dcgs(search.cases, gain, FORMULAS[formula], cut)
            for cut in (() if k is None else (k - 1, k + 1))
        }
        added = ideal[first] / search.answers[first] - ideal[first] if search.answers[first] else 0.0
        if 0 < added < MOST_ADDED:
            divisors[f"it adds {added:.3g} to the ideal DCG"] = ideal + added
        for text, divisor in divisors.items():
            factors = np.divide(ideal, divisor, out=np.ones_like(divisor), where=divisor > 0)
            yield from search.fitting(text, search.pool.values * factors, mask=search.single)


def of_formulas(search: Search) -> Iterator[Finding]:
    """Yield presets with a mistake in the formula, evaluated on all cases at once.

    Conventions that differ only in what they make of tied rows and empty queries are first tried as one.
    """
    every = np.arange(len(search.cases))
    parts = [part for part in (search.untied[:N_UNTIED], search.filters, every) if part.size]
    others = {*OF_TIES, "empty"} if search.untied.size else set()
    tried = _presets_and_others(search) if search.enough(every >= 0) else []
    fields = {c: [pair for pair in c.to_dict().items() if pair[0] not in others] for c in tried}
    for conventions in classes({c: (type(c), *pairs) for c, pairs in fields.items()}):
        likely = _fitting_values(search, conventions[0], parts[0], None)
        for convention in conventions if likely else ():
            texts = likely
            for part in parts[1:]:
                texts = _fitting_values(search, convention, part, texts) if texts else texts
            yield from (Finding(f"it returns {text}", [convention]) for text in sorted(texts))


def _presets_and_others(search: Search) -> list[Convention]:
    """Return the presets of the measures, also with the usual orders of ties and values of empty queries."""
    conventions: dict[Convention, None] = {}
    for convention in _presets(search):
        changes = ({"ties": ties, "empty": empty} for ties, empty in product(TIES, EMPTIES))
        others = (replaced(convention, {**change, "precision": "float64"}) for change in changes)
        conventions |= dict.fromkeys(filter(None, (convention, *others)))
    return [*{twin_key(c): c for c in reversed(conventions)}.values()][::-1]  # the first of each kind


def _fitting_values(search: Search, convention: Convention, part: Ints, texts: set[str] | None) -> set[str]:
    """Return the mistakes with a formula that give the answers to these cases; only of `texts`, if any."""
    joined = Case.join([search.cases[i] for i in part], "")
    starts = np.cumsum([0, *(len(search.cases[i].sizes) for i in part)])[:-1]
    fitting: set[str] = set()
    with suppress(InputError, ConventionError), np.errstate(all="ignore"):
        base = OurNumber.of(joined.queries, np.asarray(joined.scores), convention)
        if base.terms.values.size != base.queries.n_queries:
            return fitting  # one value for all queries, as of pooled rows
        divisors = np.add.reduceat(base.terms.divisors, starts)
        for text, values in changed_values(base):
            if texts is None or text in texts:
                parts = np.where(base.terms.weights > 0, values * base.terms.weights, 0.0)
                means = np.add.reduceat(parts, starts) / divisors
                if agree(means, search.answers[part], search.tolerance).all():
                    fitting.add(text)
    return fitting


def _presets(search: Search) -> Iterator[Convention]:
    """Yield the presets of the measures."""
    for measure in search.measures:
        yield from presets_by_label(measure, search.examination.cutoff).values()


def _with_mistaken_means(
    search: Search, conventions: Iterable[Convention], mask: Flags | None = None
) -> Iterator[Finding]:
    """Yield the conventions that give the (masked) answers with a mistake in the mean."""
    by_text: dict[str, list[Convention]] = {}
    chosen = np.arange(len(search.cases)) if mask is None else np.flatnonzero(mask)
    cases, answers = [search.cases[i] for i in chosen], search.answers[chosen]
    for convention in conventions:
        values = values_of(convention, cases)
        wrong = np.flatnonzero(~agree(values, answers, search.tolerance)).tolist()
        texts: Collection[str] | None = None
        for i in [*wrong, *range(len(cases))] if wrong else ():  # the wrong ones contradict most mistakes
            changes = mistaken_means(convention, cases[i])
            tried = changes if texts is None else texts
            texts = [text for text in tried if agree(changes.get(text, values[i]), answers[i], search.tolerance)]
            if not texts:
                break
        for text in texts or ():
            by_text.setdefault(text, []).append(convention)
    yield from (Finding(f"it returns {text}", changed) for text, changed in by_text.items())


def of_gains(search: Search) -> Iterator[Finding]:
    """Yield a discount or gains that no convention has."""
    nearest, measured = search.examination.nearest, search.examination.measured
    if nearest is not None and measured.gains and (fault := measured.fault()):
        yield Finding(fault, search.members([nearest]))


def of_ranks(search: Search) -> Iterator[Finding]:
    """Yield a rank at which a single relevant row counts otherwise than under the nearest convention."""
    nearest, ranks = search.examination.nearest, search.examination.measured.ranks
    if nearest is None or search.examination.measured.gains:
        return
    columns = {rank: search.cases.index(search.examination.maker.at_rank(rank)) for rank in ranks}
    expected = {rank: search.pool.values[nearest, column] for rank, column in columns.items()}
    wrong = [rank for rank in ranks if not abs(ranks[rank] - expected[rank]) <= search.examination.tolerance]
    if wrong and len(wrong) < len(ranks) // 2:
        counts = ", ".join(f"{ranks[rank]:.6g}, not {expected[rank]:.6g}, at rank {rank}" for rank in wrong)
        yield Finding(f"one relevant row counts {counts}", search.members([nearest]))
        return
    counted = {rank: expected[rank] for rank in search.examination.measured.discounts}
    if (formula := search.examination.measured.formula) is not None and formula != formula_of(counted):
        exact = all(abs(ranks[rank] - FORMULAS[formula](rank)) <= search.examination.tolerance for rank in counted)
        relative = f"{ranks[1]:.6g} at each rank" if formula == "1" else f"{formula} in proportion to rank 1"
        yield Finding(f"one relevant row counts {formula if exact else relative}", search.members([nearest]))


def mistaken_means(convention: Convention, case: Case) -> dict[str, float]:
    """Return the value of a convention on a case with each mistake with the mean; empty if it has none."""
    with suppress(InputError, ConventionError):
        return dict(_mistaken_means(OurNumber.of(case.queries, np.asarray(case.scores), convention)))
    return {}


def _mistaken_means(base: OurNumber) -> Iterator[tuple[str, float]]:
    """Yield the mistakes with the mean in words that hold for every case; none if the value is no mean over queries."""
    is_mean = base.convention.is_sum and base.terms.values.size == base.queries.n_queries
    if not (is_mean and base.terms.divisors.any()):  # nothing is divided if a pooled measure has no pairs
        return
    yield from ((_general(text), value) for text, value in changed_means(base))
    left_out, divided = ([value for _, value in changes(base)] for changes in (without_query, different_divisors))
    for name, query in (("first", 0), ("last", -1)):
        if len(left_out) > 1:  # of one query, a program may leave out none
            yield f"the value without the {name} query", left_out[query]
        yield f"the value of the {name} query", base.terms.values[query]
    divisor = round(float(base.terms.divisors.sum()))
    for name, n in (("few", divisor - 1), ("many", divisor + 1)):
        if 0 < n <= len(divided):
            yield f"the sum of the queries' values divided by one too {name}", divided[n - 1]


def _ideal_dcgs(
    cases: Sequence[Case], gain: Callable[[float], float], discount: Callable[[int], float], cutoff: int | None
) -> Floats:
    """Return the DCG of the ideal list of each case of one query, cut at a rank."""
    ideals = [sorted((gain(max(label, 0.0)) for label in case.labels), reverse=True)[:cutoff] for case in cases]
    return np.array([sum(value * discount(rank) for rank, value in enumerate(gains, 1)) for gains in ideals])


def _general(text: str) -> str:
    """Word a mistake so that it holds for every case: as one of the value, without numbers of queries."""
    return re.sub(r"\bours\b", "the value", re.sub(r"\bthe \d+ ", "the ", text))
