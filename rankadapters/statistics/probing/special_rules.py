"""Explain a function's answers by a special rule for some queries, or for tied rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from operator import itemgetter

import numpy as np

from rankadapters.core.arrays import Flags
from rankadapters.core.declaration.convention import Convention
from rankadapters.statistics.probing import cases as kinds
from rankadapters.statistics.probing.cases import LONG, SAME_SCORES, TIED, Case
from rankadapters.statistics.probing.elimination import values_of
from rankadapters.statistics.probing.evidence import Finding, Search

N_TURNED = 4  # cases whose rows are reversed
LEAST = 1e-6  # smallest difference of two values that certainly matters
MOST_ALIKE = 0.6  # the largest such share with which a number of rows may be the cause
SURE = 0.1  # if at most this share of the queries with a trait fits without a special rule, the trait is the cause
SPECIAL = {
    SAME_SCORES: "queries whose scores are all equal",
    kinds.EMPTY: "queries with nothing relevant",
    kinds.NOT_FOUND: "queries with nothing relevant up to the cutoff",
    kinds.ONE_DOCUMENT: "queries of one document",
    kinds.SHORT: "queries with fewer rows than the cutoff",
    kinds.EXACT: "queries with as many rows as the cutoff",
    kinds.ONE_MORE: "queries with one row more than the cutoff",
    kinds.NEGATIVE: "scores of 0 and below",
    kinds.CLOSE: "nearly equal scores",
    kinds.LONG: "queries of more than 16 rows",
}
NO_ORDER = "it has an order of tied rows that no value of `ties` has"


def of_traits(search: Search, n_traits: int = 1, *, by_count: bool = True) -> Iterator[Finding]:
    """Yield conventions that fit but for data with some traits, those first whose data hardly ever fit."""
    found: list[tuple[tuple[bool, bool, float], tuple[str, ...], Flags, list[int]]] = []
    for traits in combinations((TIED, *SPECIAL), n_traits):
        with_trait = np.any([search.with_trait[trait] for trait in traits], axis=0)
        rows = search.rows(mask=~with_trait) if with_trait.any() else []
        if rows and not any(_fits_alone(search, rows[0], search.with_trait[trait]) for trait in traits):
            share = _share(search, rows[0], with_trait)
            found.append(((share > SURE, TIED not in traits, share), traits, with_trait, rows))
    if n_traits == 1 and by_count:
        found += [
            ((share > SURE, True, share), (text,), with_trait, rows)
            for text, with_trait, rows, share in _counts(search)
        ]
    for _, traits, with_trait, rows in sorted(found, key=itemgetter(0)):
        if search.with_trait.keys() >= set(traits) and search.contradicted(rows[0], partial(_has, search, traits)):
            continue
        rules = [
            f"it has a special rule for {SPECIAL.get(trait, trait)}"
            f"{_constant(search, rows[0], search.with_trait.get(trait, with_trait))}"
            for trait in traits
            if trait != TIED
        ]
        finding = of_ties(search, rows) if TIED in traits else Finding("", search.members(rows))
        yield finding._replace(text=" and ".join(filter(None, [*rules, finding.text])))


def _has(search: Search, traits: Sequence[str], case: Case) -> bool:
    """Return whether a case has one of the traits."""
    return not case.traits(search.examination.cutoff).isdisjoint(traits)


def _fits_alone(search: Search, row: int, with_trait: Flags) -> bool:
    """Return whether a group fits all single queries with a trait, so that the trait explains no answer."""
    alone = with_trait & search.single
    return bool(alone.any() and search.near[row, alone].all())


def _share(search: Search, row: int, with_trait: Flags) -> float:
    """Return the share of the cases with a trait that fit too, unless they return what all others return."""
    fits = search.near[row, with_trait]
    wrong = set(search.answers[with_trait][~fits].tolist())
    if len(wrong) == 1:
        fits = fits & (search.answers[with_trait] != wrong.pop())
    return float(fits.mean())


def _counts(search: Search) -> Iterator[tuple[str, Flags, list[int], float]]:
    """Yield the queries of up to, or of more than, so many rows or relevant rows, if most of these do not fit."""
    near = search.near[search.near[:, search.single].sum(axis=1).argmax()]
    wrong, fits = search.single & ~near, search.single & near
    if not (fits.any() and (wrong & ~search.with_trait[TIED]).any()):  # or only tied rows matter
        return
    if len(returned := set(search.answers[wrong].tolist())) == 1:
        fits &= search.answers != returned.pop()  # such queries may follow the rule too
    counts: dict[str, Callable[[Case], int]] = {
        "rows": lambda query: len(query.labels),
        "relevant rows": lambda query: sum(label > 0 for label in query.labels),
    }
    for word, count in counts.items():
        of_queries = [[count(query) for query in case.split()] for case in search.cases]
        least, most = np.array([min(numbers) for numbers in of_queries]), np.array([*map(max, of_queries)])
        low, high = least[wrong].min(), least[wrong].max()
        texts = {
            f"queries of at most {high} {word}": least <= high,
            f"queries of {low} {word} or more": most >= low,
        }
        for text, with_trait in texts.items():
            share = float((fits & with_trait).sum() / (search.single & with_trait).sum())
            known = any(np.array_equal(with_trait, search.with_trait[trait]) for trait in (TIED, *SPECIAL))
            rare = (search.single & with_trait).sum() <= search.single.sum() / 2
            if rare and not known and share <= MOST_ALIKE and (rows := search.rows(mask=~with_trait)):
                yield text, with_trait, rows, share


def _constant(search: Search, row: int, with_trait: Flags) -> str:
    """Say what the function returns for queries with a trait if it is one number, which the convention is not."""
    alone = with_trait & search.single
    returned = {*search.answers[alone].tolist()}
    differs = alone.sum() > 1 == len(returned) and not search.near[row, alone].all()
    return f": it returns {returned.pop():g}" if differs else ""


def of_ties(search: Search, rows: list[int]) -> Finding:
    """Say how the function orders tied rows, given the conventions that fit where no rows are tied."""
    conventions = search.members(rows)
    tied = np.flatnonzero(search.with_trait[TIED] & search.single).tolist()
    rules = ("input", "reverse", "worst", "best")
    if tied and set(rules) <= set(getattr(conventions[0].declared().get("ties"), "words", ())):
        answers, margin = search.answers[tied], search.tolerance
        cases = [search.cases[i] for i in tied]
        in_order, reverse, worst, best = (values_of(conventions[0].replace(ties=rule), cases) for rule in rules)
        matters = np.flatnonzero(np.abs(in_order - reverse) > LEAST).tolist()
        matters = sorted(matters, key=lambda i: tied[i] not in search.wrong)[:N_TURNED]
        turned = (search.cases[tied[i]].reordered(lambda n: range(n)[::-1]) for i in matters)
        if matters and np.allclose(search.ask(turned), answers[matters], rtol=0, atol=margin):
            text = "its tied rows share a rank, so that their order does not matter"
            return _apart_from_ties(search, text, conventions)
        if ((worst <= answers + margin) & (answers <= best + margin)).all():
            return _apart_from_ties(search, NO_ORDER, conventions)
    return _apart_from_ties(search, "it has a special rule for tied rows", conventions)


def _apart_from_ties(search: Search, text: str, conventions: list[Convention]) -> Finding:
    """Return the conventions that fit all queries of up to 16 rows, or else those that fit queries without ties."""
    pool = search.examination.pool
    if alike := search.verified(pool, frozenset({TIED, LONG})):
        return Finding(text, alike, names_presets=True)
    alike = [c for c in search.verified(pool, frozenset({TIED})) if c.get("ties") in {"input", "reverse"}]
    return Finding(text, alike or conventions, names_presets=bool(alike))
