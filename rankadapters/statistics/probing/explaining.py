"""Explain a function that computes no known convention: by a cutoff, a kind of data, a mistake or another measure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from rankadapters.statistics.grid import has_cutoff
from rankadapters.statistics.probing.answers import UNSTEADY
from rankadapters.statistics.probing.cases import SEVERAL, TIED
from rankadapters.statistics.probing.elimination import FEWEST, MOST_RANKS, Examination, find_cutoff
from rankadapters.statistics.probing.evidence import Finding, Search
from rankadapters.statistics.probing.special_rules import of_traits
from rankadapters.statistics.probing.wrong_data import of_columns, of_measures
from rankadapters.statistics.probing.wrong_values import (
    of_factors,
    of_formulas,
    of_gains,
    of_ideals,
    of_means,
    of_no_value,
    of_numbers,
    of_ranks,
)
from rankadapters.statistics.rivals import WRONG_DISCOUNTS

N_ASKED = 18  # further cases of one query, and half as many of several queries, that an explanation needs
UNSTABLE = "it has tied rows in no fixed order, as an unstable sort leaves them"


def explain(examination: Examination) -> Finding | None:
    """Return the first explanation of a function's answers; None if there is none.

    The function is asked a few more cases, and some cases again.
    """
    function, cases = examination.function, examination.pool.cases
    if not examination.numbers:
        return None
    several = [case for case in cases if len(case.sizes) > 1]
    single = [case for case in cases if len(case.sizes) == 1 and case not in function.answers]
    for case in (*several[: N_ASKED // 2], *single[:N_ASKED]):
        function.ask(case)
    answered = list(function.answers)
    tied = [case for case in answered if TIED in case.traits()]
    untied = [case for case in answered if case not in set(tied)]
    of_tied = [function.repeat(case) for case in tied[::4]]
    of_untied = [function.repeat(case) for case in untied[1 :: 4 if any(of_tied) else 12]]
    if not function.deterministic:
        fault = next(fault for fault in function.faults if fault.startswith(UNSTEADY))
        return Finding(UNSTABLE if any(of_tied) and not any(of_untied) else fault, [])
    return next(_findings(Search(examination)), None)


def actual_cutoff(examination: Examination) -> int | None:
    """Return the cutoff that a function applies, as far as single relevant rows show it, or else the declared one."""
    ranks, k = examination.measured.ranks, examination.maker.k
    if not any(map(has_cutoff, examination.measures)) or (k or 0) >= MOST_RANKS - 1:
        return k
    if k is not None and ranks.get(k + 1) == 0 != ranks.get(k):
        return k
    return find_cutoff(examination.function, examination.maker)


def _findings(search: Search) -> Iterator[Finding]:
    """Yield the explanations, the surest first."""
    if len(set(search.answers.tolist())) == 1 and search.answers.size >= FEWEST:
        yield Finding(f"it returns {search.answers[0]:g} for all data", [])
    if not search.pool.groups:  # the measures have no value for the labels
        yield from of_measures(search)
        return
    yield from of_numbers(search)
    yield from of_cutoffs(search)
    yield from of_no_value(search)
    yield from of_means(search)
    yield from of_columns(search)
    rows = [] if search.single.all() else search.rows(mask=search.single)
    if rows and not search.contradicted(rows[0], lambda case: len(case.sizes) > 1):
        # Whatever else is tried changes single queries too.
        yield from of_traits(search)
        yield from of_traits(search, 2)
        yield Finding("its value of a single query is right, but its mean over queries is not", search.members(rows))
        return
    yield from of_ideals(search)
    if search.examination.measured.formula in WRONG_DISCOUNTS:
        yield from of_gains(search)
    yield from of_formulas(search)
    if not _has_formula(search):
        yield from of_measures(search)
    yield from of_factors(search)
    yield from of_gains(search)
    yield from of_traits(search)
    yield from of_traits(search, 2)
    yield from of_ranks(search)
    several = search.with_trait[SEVERAL]
    rows = search.rows(mask=~several)
    if rows and search.near[rows[0], several].mean() < 1 / 2:
        yield Finding("it has a special rule for queries with several relevant rows", search.members(rows))


def _has_formula(search: Search) -> bool:
    """Return whether a convention gives all answers where no rows are tied, so that no other measure is computed.

    Queries with one relevant row each do not show it, since many measures are equal for these.
    """
    fits = search.enough(search.decided) and bool(search.near[:, search.decided].all(axis=1).any())
    return fits and not search.examination.maker.one_relevant


def of_cutoffs(search: Search) -> Iterator[Finding]:
    """Yield a different cutoff, perhaps with a special rule."""
    cutoff = actual_cutoff(search.examination)
    if cutoff != search.examination.cutoff:
        recut = Search(search.examination.at_cutoff(cutoff))
        text = f"its cutoff is {'all' if cutoff is None else cutoff}"
        yield from recut.fitting(text)
        for finding in chain(of_numbers(recut), of_factors(recut), of_traits(recut, by_count=False)):
            yield finding._replace(text=f"{text}, and {finding.text}")
