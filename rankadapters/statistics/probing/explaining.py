"""Explain a function that computes no known convention: by a cutoff, a kind of data, a mistake or another measure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, combinations, islice, product
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from rankadapters.core.arrays import Flags, Floats, Ints
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.measures import MEASURES, NDCG
from rankadapters.statistics.grid import has_cutoff, replaced
from rankadapters.statistics.known_presets import presets_by_label
from rankadapters.statistics.probing import cases as kinds
from rankadapters.statistics.probing.answers import OF_QUERIES, UNSTEADY
from rankadapters.statistics.probing.cases import LONG, SAME_SCORES, SEVERAL, TIED, Case
from rankadapters.statistics.probing.elimination import (
    FEWEST,
    MOST_RANKS,
    OF_TIES,
    Examination,
    Grid,
    Group,
    Measures,
    Pool,
    cached_pool,
    find_cutoff,
    grids_of,
    is_untied,
    members_of,
    narrowed_grids,
    twin_key,
    values_of,
)
from rankadapters.statistics.probing.measuring import FORMULAS, GAINS, formula_of
from rankadapters.statistics.probing.rare_cases import SCORES, rare_cases
from rankadapters.statistics.rivals import (
    CHANGED_NUMBERS,
    WRONG_DISCOUNTS,
    OurNumber,
    changed_columns,
    changed_means,
    changed_values,
    different_divisors,
    without_query,
)

Change = Callable[[OurNumber], Iterable[tuple[str, float]]]

N_ASKED = 18  # further cases of one query, and half as many of several queries, that an explanation needs
N_TURNED = 4  # cases whose rows are reversed
N_UNTIED = 3  # cases without tied rows on which formulas are tried first
N_FILTERS = 6  # cases on which what is left is tried next
N_WRONG = 4  # cases whose answers no convention gives, on which it is tried too
N_SAMPLED = 20  # cases that show which conventions a mistake with the data leaves
MOST_MEMBERS = 6  # conventions of a group that further answers may contradict
FEWEST_DIFFERENT = 2  # answers; an explanation of equal ones may fit by chance
MOST_DECIMALS = 8  # answers with more decimals do not count as rounded
MOST_ADDED = 0.1  # to the ideal DCG, so that no query divides by 0
LEAST = 1e-6  # smallest difference of two values that certainly matters
N_PLAIN = 20  # conventions whose mean may be mistaken, if none fits all single queries
TIES, EMPTIES = ("input", "reverse"), (0.0, 1.0, "skip")  # that programs with a mistake often have
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
UNSTABLE = "it has tied rows in no fixed order, as an unstable sort leaves them"
NO_ORDER = "it has an order of tied rows that no value of `ties` has"


class Finding(NamedTuple):
    """An explanation of a function's answers."""

    text: str  # what the function does, as the end of a sentence
    conventions: list[Convention]  # that the function computes but for what the text says
    names_presets: bool = False  # whether presets among the conventions describe the function


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
    return next(_Search(examination).findings(), None)


def actual_cutoff(examination: Examination) -> int | None:
    """Return the cutoff that a function applies, as far as single relevant rows show it, or else the declared one."""
    ranks, k = examination.measured.ranks, examination.maker.k
    if not any(map(has_cutoff, examination.measures)) or (k or 0) >= MOST_RANKS - 1:
        return k
    if k is not None and ranks.get(k + 1) == 0 != ranks.get(k):
        return k
    return find_cutoff(examination.function, examination.maker)


class _Search:
    """Search for what explains the answers of a function."""

    def __init__(self, examination: Examination) -> None:
        self.examination, self.function, self.measures = examination, examination.function, examination.measures
        self.answers, self.margins, numbers = examination.values, examination.margins, examination.numbers
        self.cases = [examination.pool.cases[i] for i in numbers]
        self.pool = Pool(self.cases, examination.pool.groups, examination.pool.values[:, numbers])
        self.changed_cases: dict[int, dict[str, Case]] = {}  # by mistake, for each case that was changed
        self.unexplained: dict[Convention, list[Case]] = {}  # the further cases with another answer
        self.near: Flags = np.abs(self.pool.values - self.answers) <= self.margins  # shape (n_groups, n_cases)
        self.traits = [case.traits(examination.cutoff) for case in self.cases]
        self.single = np.array([len(case.sizes) == 1 for case in self.cases], bool)
        usual = [i for i, case in enumerate(self.cases) if case.purpose in {kinds.PLAIN, kinds.TIED, kinds.ANY}]
        self.filters = np.array(sorted(usual, key=lambda i: -len(self.cases[i].sizes))[:N_FILTERS], int)
        untied = [i for i, has in enumerate(self.traits) if is_untied(has)]
        plain_first = sorted(untied, key=lambda i: self.cases[i].purpose != kinds.PLAIN)
        self.untied = np.array(plain_first[: 2 * N_UNTIED], int)
        self.wrong = np.flatnonzero(~self.near.any(axis=0))  # the cases whose answers no convention gives

    def findings(self) -> Iterator[Finding]:
        """Yield the explanations, the surest first."""
        if len(set(self.answers.tolist())) == 1 and self.answers.size >= FEWEST:
            yield Finding(f"it returns {self.answers[0]:g} for all data", [])
        if not self.pool.groups:  # the measures have no value for the labels
            yield from self._of_measures()
            return
        yield from self._of_numbers()
        yield from self._of_cutoffs()
        yield from self._of_no_value()
        yield from self._of_means()
        yield from self._of_columns()
        rows = [] if self.single.all() else self._rows(mask=self.single)
        if rows and not self._contradicted(rows[0], lambda case: len(case.sizes) > 1):
            # Whatever else is tried changes single queries too.
            yield from self._of_traits()
            yield from self._of_traits(2)
            yield Finding("its value of a single query is right, but its mean over queries is not", self._members(rows))
            return
        yield from self._of_ideals()
        if self.examination.measured.formula in WRONG_DISCOUNTS:
            yield from self._of_gains()
        yield from self._of_formulas()
        if not self._has_formula():
            yield from self._of_measures()
        yield from self._of_factors()
        yield from self._of_gains()
        yield from self._of_traits()
        yield from self._of_traits(2)
        yield from self._of_ranks()
        without_several = np.array([SEVERAL not in has for has in self.traits], bool)
        rows = self._rows(mask=without_several)
        if rows and self.near[rows[0], ~without_several].mean() < 1 / 2:
            yield Finding("it has a special rule for queries with several relevant rows", self._members(rows))

    def _has_formula(self) -> bool:
        """Return whether a convention gives all answers where no rows are tied, so that no other measure is computed.

        Queries with one relevant row each do not show it, since many measures are equal for these.
        """
        untied = np.array([is_untied(has) for has in self.traits], bool)
        fits = self._enough(untied) and bool(self.near[:, untied].all(axis=1).any())
        return fits and not self.examination.maker.one_relevant

    def _of_cutoffs(self) -> Iterator[Finding]:
        """Yield a different cutoff, perhaps with a special rule."""
        cutoff = actual_cutoff(self.examination)
        if cutoff != self.examination.cutoff:
            recut = _Search(self.examination.at_cutoff(cutoff))
            text = f"its cutoff is {'all' if cutoff is None else cutoff}"
            yield from recut._fitting(text)
            for finding in chain(recut._of_numbers(), recut._of_factors(), recut._of_traits(by_count=False)):
                yield finding._replace(text=f"{text}, and {finding.text}")

    def _members(self, rows: list[int]) -> list[Convention]:
        """Return the conventions of groups, at the declared cutoff."""
        k = self.examination.maker.k
        return [c.replace(k=k) if has_cutoff(type(c)) else c for c in self.pool.members(rows)]

    def _of_numbers(self) -> Iterator[Finding]:
        """Yield conventions whose values the function rounds, or changes to percentages or the like."""
        changed = [
            (f"it returns {_general(text)}", self.pool.values * factor + offset)
            for text, (factor, offset) in CHANGED_NUMBERS.items()
        ]
        whole = [pair for pair in changed if "percentage" in pair[0]]
        every = range(MOST_DECIMALS + 1)
        decimals = next((d for d in every if np.array_equal(np.round(self.answers, d), self.answers)), None)
        rounds, margin = f"it rounds to {decimals} decimals", 0.5000001 * 10.0 ** -(decimals or 0)
        if decimals:
            yield from self._fitting(rounds, margin=margin)
        for text, values in changed:
            yield from self._fitting(text, values)
        for text, values in changed if decimals else whole if decimals == 0 else ():
            yield from self._fitting(f"{text}, and {rounds}", values, margin=margin)

    def _of_no_value(self) -> Iterator[Finding]:
        """Yield conventions that fit where they have a value, if the function returns one number everywhere else."""
        if self.function.takes not in OF_QUERIES:
            return
        without = np.isnan(self.pool.values)
        fits = (self.near | without).all(axis=1) & without.any(axis=1)
        for row in np.flatnonzero(fits).tolist():
            returned = set(self.answers[without[row]].tolist())
            if self._enough(~without[row]) and len(returned) == 1:
                text = f"it leaves out queries that have no value, and returns {returned.pop():g} if no query is left"
                yield Finding(text, self._members([row]))
                return

    def _of_factors(self) -> Iterator[Finding]:
        """Yield conventions whose values the function multiplies by a constant."""
        values = self._scaled(self.answers != 0)
        if rows := self._rows(values):
            first = int(np.flatnonzero(self.answers)[0])
            factor = self.answers[first] / self.pool.values[rows[0], first]
            yield Finding(f"it returns {factor:.10g} times the value", self._members(rows))

    def _scaled(self, mask: Flags) -> Floats:
        """Return the values of the pool, each convention's multiplied so that its first one is right."""
        first = next(iter(np.flatnonzero(mask & (self.answers != 0))), None)
        if first is None:
            return np.full(self.pool.values.shape, np.nan)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.pool.values * (self.answers[first] / self.pool.values[:, [first]]))

    def _of_traits(self, n_traits: int = 1, *, by_count: bool = True) -> Iterator[Finding]:
        """Yield conventions that fit but for data with some traits, those first whose data hardly ever fit."""
        found: list[tuple[tuple[bool, bool, float], tuple[str, ...], Flags, list[int]]] = []
        named: dict[str, Flags] = {
            SPECIAL.get(trait, ""): np.array([trait in has for has in self.traits], bool) for trait in (TIED, *SPECIAL)
        }
        for texts in combinations(named, n_traits):
            with_trait = np.any([named[text] for text in texts], axis=0)
            rows = self._rows(mask=~with_trait) if with_trait.any() else []
            if rows and not any(self._fits_alone(rows[0], named[text]) for text in texts):
                share = self._share(rows[0], with_trait)
                found.append(((share > SURE, "" not in texts, share), texts, with_trait, rows))
        if n_traits == 1 and by_count:
            found += [
                ((share > SURE, True, share), (text,), with_trait, rows)
                for text, with_trait, rows, share in self._counts(named)
            ]
        for _, texts, with_trait, rows in sorted(found, key=itemgetter(0)):
            if set(texts) <= set(named) and self._contradicted(rows[0], partial(self._has_trait, texts)):
                continue
            constants = {text: self._constant(rows[0], named.get(text, with_trait)) for text in texts if text}
            rules = [f"it has a special rule for {text}{constant}" for text, constant in constants.items()]
            finding = self._of_ties(rows) if "" in texts else Finding("", self._members(rows))
            yield finding._replace(text=" and ".join(filter(None, [*rules, finding.text])))

    def _has_trait(self, texts: Collection[str], case: Case) -> bool:
        """Return whether a case has one of the traits with these texts."""
        traits = {trait for trait in (TIED, *SPECIAL) if SPECIAL.get(trait, "") in texts}
        return not traits.isdisjoint(case.traits(self.examination.cutoff))

    def _fits_alone(self, row: int, with_trait: Flags) -> bool:
        """Return whether a group fits all single queries with a trait, so that the trait explains no answer."""
        alone = with_trait & self.single
        return bool(alone.any() and self.near[row, alone].all())

    def _contradicted(self, row: int, exempt: Callable[[Case], object]) -> bool:
        """Return whether answers to further cases, if they are not exempt, differ from each convention of a group."""
        members = [*{twin_key(c): c for c in self.pool.members([row])}.values()][:MOST_MEMBERS]
        return all(not all(map(exempt, self._unexplained(convention))) for convention in members)

    def _unexplained(self, convention: Convention) -> list[Case]:
        """Return the further cases whose answers a convention does not give."""
        if convention not in self.unexplained:
            known = set(self.examination.pool.cases)
            asked = [(case, reply.value) for case, reply in self.function.answers.items() if not reply.problem]
            further = [(case, value) for case, value in asked if case not in known]
            answers, values = np.array([v for _, v in further]), values_of(convention, [case for case, _ in further])
            far = np.abs(values - answers) > self.examination.tolerance * np.maximum(1.0, np.abs(answers))
            self.unexplained[convention] = [further[i][0] for i in np.flatnonzero(far)]
        return self.unexplained[convention]

    def _share(self, row: int, with_trait: Flags) -> float:
        """Return the share of the cases with a trait that fit too, unless they return what all others return."""
        fits = self.near[row, with_trait]
        wrong = set(self.answers[with_trait][~fits].tolist())
        if len(wrong) == 1:
            fits = fits & (self.answers[with_trait] != wrong.pop())
        return float(fits.mean())

    def _counts(self, named: dict[str, Flags]) -> Iterator[tuple[str, Flags, list[int], float]]:
        """Yield the queries of up to, or of more than, so many rows or relevant rows, if most of these do not fit."""
        near = self.near[self.near[:, self.single].sum(axis=1).argmax()]
        wrong, fits = self.single & ~near, self.single & near
        if not (fits.any() and (wrong & ~named[""]).any()):  # or only tied rows matter
            return
        if len(returned := set(self.answers[wrong].tolist())) == 1:
            fits &= self.answers != returned.pop()  # such queries may follow the rule too
        counts: dict[str, Callable[[Case], int]] = {
            "rows": lambda query: len(query.labels),
            "relevant rows": lambda query: sum(label > 0 for label in query.labels),
        }
        for word, count in counts.items():
            of_queries = [[count(query) for query in case.split()] for case in self.cases]
            least, most = np.array([min(numbers) for numbers in of_queries]), np.array([*map(max, of_queries)])
            low, high = least[wrong].min(), least[wrong].max()
            texts = {
                f"queries of at most {high} {word}": least <= high,
                f"queries of {low} {word} or more": most >= low,
            }
            for text, with_trait in texts.items():
                share = float((fits & with_trait).sum() / (self.single & with_trait).sum())
                known = any(np.array_equal(with_trait, other) for other in named.values())
                rare = (self.single & with_trait).sum() <= self.single.sum() / 2
                if rare and not known and share <= MOST_ALIKE and (rows := self._rows(mask=~with_trait)):
                    yield text, with_trait, rows, share

    def _constant(self, row: int, with_trait: Flags) -> str:
        """Say what the function returns for queries with a trait if it is one number, which the convention is not."""
        alone = with_trait & self.single
        returned = {*self.answers[alone].tolist()}
        differs = alone.sum() > 1 == len(returned) and not self.near[row, alone].all()
        return f": it returns {returned.pop():g}" if differs else ""

    def _of_ties(self, rows: list[int]) -> Finding:
        """Say how the function orders tied rows, given the conventions that fit where no rows are tied."""
        conventions = self._members(rows)
        tied = [i for i, has in enumerate(self.traits) if TIED in has and len(self.cases[i].sizes) == 1]
        rules = ("input", "reverse", "worst", "best")
        if tied and set(rules) <= set(getattr(conventions[0].declared().get("ties"), "words", ())):
            answers, margin = self.answers[tied], self.examination.tolerance
            cases = [self.cases[i] for i in tied]
            in_order, reverse, worst, best = (values_of(conventions[0].replace(ties=rule), cases) for rule in rules)
            matters = np.flatnonzero(np.abs(in_order - reverse) > LEAST).tolist()
            matters = sorted(matters, key=lambda i: tied[i] not in self.wrong)[:N_TURNED]
            turned = (self.cases[tied[i]].reordered(lambda n: range(n)[::-1]) for i in matters)
            values = [self.function.ask(case).value for case in turned]
            if matters and np.allclose(values, answers[matters], rtol=0, atol=margin):
                text = "its tied rows share a rank, so that their order does not matter"
                return self._apart_from_ties(text, conventions)
            if ((worst <= answers + margin) & (answers <= best + margin)).all():
                return self._apart_from_ties(NO_ORDER, conventions)
        return self._apart_from_ties("it has a special rule for tied rows", conventions)

    def _verified(self, pool: Pool, without: frozenset[str] = frozenset()) -> list[Convention]:
        """Ask the cases that are left, and return the conventions that fit all cases without this set of traits."""
        usable = [i for i, case in enumerate(pool.cases) if not without or not without <= case.traits()]
        replies = [self.function.ask(pool.cases[i]) for i in usable]
        answers = np.array([reply.value for reply in replies])
        near = np.abs(pool.values[:, usable] - answers) <= self.examination.tolerance * np.maximum(1.0, np.abs(answers))
        fits = (near | [bool(reply.problem) for reply in replies]).all(axis=1)
        return pool.members(np.flatnonzero(fits).tolist())

    def _apart_from_ties(self, text: str, conventions: list[Convention]) -> Finding:
        """Return the conventions that fit all queries of up to 16 rows, or else those that fit queries without ties."""
        pool = self.examination.pool
        if alike := self._verified(pool, frozenset({TIED, LONG})):
            return Finding(text, alike, names_presets=True)
        alike = [c for c in self._verified(pool, frozenset({TIED})) if c.get("ties") in {"input", "reverse"}]
        return Finding(text, alike or conventions, names_presets=bool(alike))

    def _of_gains(self) -> Iterator[Finding]:
        """Yield a discount or gains that no convention has."""
        nearest, measured = self.examination.nearest, self.examination.measured
        if nearest is not None and measured.gains and (fault := measured.fault()):
            yield Finding(fault, self._members([nearest]))

    def _of_ranks(self) -> Iterator[Finding]:
        """Yield a rank at which a single relevant row counts otherwise than under the nearest convention."""
        nearest, ranks = self.examination.nearest, self.examination.measured.ranks
        if nearest is None or self.examination.measured.gains:
            return
        columns = {rank: self.cases.index(self.examination.maker.at_rank(rank)) for rank in ranks}
        expected = {rank: self.pool.values[nearest, column] for rank, column in columns.items()}
        wrong = [rank for rank in ranks if not abs(ranks[rank] - expected[rank]) <= self.examination.tolerance]
        if wrong and len(wrong) < len(ranks) // 2:
            counts = ", ".join(f"{ranks[rank]:.6g}, not {expected[rank]:.6g}, at rank {rank}" for rank in wrong)
            yield Finding(f"one relevant row counts {counts}", self._members([nearest]))
            return
        counted = {rank: expected[rank] for rank in self.examination.measured.discounts}
        if (formula := self.examination.measured.formula) is not None and formula != formula_of(counted):
            exact = all(abs(ranks[rank] - FORMULAS[formula](rank)) <= self.examination.tolerance for rank in counted)
            text = f"one relevant row counts {formula}{'' if exact else ' in proportion to rank 1'}"
            yield Finding(text, self._members([nearest]))

    def _of_columns(self) -> Iterator[Finding]:
        """Yield mistakes with scores, labels and queries.

        Only conventions that give the answers to the cases that a mistake leaves as they are can explain the others.
        """
        whole = grids_of(self.measures, self.cases[0].queries, ranked=self.examination.maker.distinct)
        step = max(1, len(self.cases) // N_SAMPLED)
        sample = sorted({*self.wrong[:N_SAMPLED], *self.filters, *self.untied, *range(0, len(self.cases), step)})
        grids = {}
        for text in dict.fromkeys(chain.from_iterable(self._changed(i) for i in sample)):
            unchanged = [i for i in sample if self._with_mistake(text, i) == self.cases[i]]
            rows = np.flatnonzero(self.near[:, unchanged].all(axis=1))
            if rows.size and len(unchanged) < len(sample):
                grids[text] = narrowed_grids(whole, [self.pool.groups[row] for row in rows])
        for text, _, conventions in self._matching(grids, self.measures):
            if self._agrees_on_special_scores(text, conventions[0]):
                yield Finding(f"it returns {text}", conventions)

    def _changed(self, i: int) -> dict[str, Case]:
        """Return a case with each mistake with the data."""
        if i not in self.changed_cases:
            self.changed_cases[i] = mistaken_columns(self.cases[i])
        return self.changed_cases[i]

    def _with_mistake(self, text: str, i: int) -> Case:
        """Return a case with a mistake with the data, or as it is if the mistake changes nothing, or there is none."""
        return self._changed(i).get(text, self.cases[i]) if text else self.cases[i]

    def _agrees_on_special_scores(self, text: str, convention: Convention) -> bool:
        """Return whether a mistake also explains the answers that are numbers to queries of special scores."""
        rare = [case for case in rare_cases(self.examination.maker, several=False) if case.purpose == SCORES]
        cases = [case for case in rare if not self.function.ask(case).problem]
        if not cases:
            return True
        answers = np.array([self.function.ask(case).value for case in cases])
        values = values_of(convention, [mistaken_columns(case).get(text, case) for case in cases])
        margins = self.examination.tolerance * np.maximum(1.0, np.abs(answers))
        return bool((np.isnan(values) | (np.abs(values - answers) <= margins)).all())

    def _of_measures(self) -> Iterator[Finding]:
        """Yield the conventions of other measures that fit."""
        ranked = self.examination.maker.distinct
        for name, measure in MEASURES.items():
            whole = grids_of((measure,), self.cases[0].queries, further=True, ranked=ranked)
            for _, grids, _ in self._matching({"": whole}, (measure,)) if measure not in self.measures else ():
                pool = Pool.over(self.examination.pool.cases, grids, self.examination.cutoff)
                if conventions := self._verified(pool):
                    capped = name == "precision" and {c.get("divisor") for c in conventions} == {"relevant"}
                    what = f"{name} with the divisor min(k, R), or capped recall" if capped else name
                    text = f"it computes {what}, not {' or '.join(other.measure for other in self.measures)}"
                    yield Finding(text, conventions, names_presets=True)

    def _matching(
        self, grids_by_text: Mapping[str, list[Grid]], measures: Measures
    ) -> Iterator[tuple[str, list[Grid], list[Convention]]]:
        """Yield the mistakes with which conventions of some grids give all answers, with smaller grids of these.

        Cases without tied rows rule out most formulas, for all mistakes at once; then some cases of each kind do.
        """
        lowest = min(self.examination.maker.grades)
        for text, grids in self._with_formulas(grids_by_text, measures):
            cases = [self._with_mistake(text, i) for i in range(len(self.cases))]
            usable = np.array([min(case.labels) >= lowest for case in cases], bool)
            first = np.append(self.wrong[:N_WRONG], self.filters)
            parts = [first[usable[first]], np.flatnonzero(usable)]
            for part in filter(len, parts) if self._enough(usable) else ():
                groups = self._groups_that_fit(grids, [cases[i] for i in part], part)
                if not groups:
                    break
                if part is parts[-1]:
                    yield text, grids, members_of(groups)

    def _with_formulas(
        self, grids_by_text: Mapping[str, list[Grid]], measures: Measures
    ) -> Iterator[tuple[str, list[Grid]]]:
        """Yield the mistakes with which some formulas give the answers to cases without tied rows, and their grids.

        A mistake that gives all such cases tied rows keeps its grids.
        """
        parts: dict[str, list[int]] = {}
        for text in grids_by_text:
            changed = ((i, self._with_mistake(text, i)) for i in self.untied.tolist())
            usable = (i for i, case in changed if self._is_usual(case) and is_untied(case.traits()))
            parts[text] = [*islice(usable, N_UNTIED)]
        cases = tuple(self._with_mistake(text, i) for text, part in parts.items() for i in part)
        numbers = np.array([i for part in parts.values() for i in part], int)
        pool = Pool([], [], np.empty((0, len(cases))))
        if cases:
            with suppress(InputError):  # no convention of the measures accepts these labels
                further = not set(measures) <= set(self.measures)
                pool = cached_pool(cases, measures, self.examination.cutoff, further=further, untied=True)
        near = np.abs(pool.values - self.answers[numbers]) <= self.margins[numbers]
        first = 0
        for text, part in parts.items():
            rows = np.flatnonzero(near[:, first : first + len(part)].all(axis=1))
            first += len(part)
            if not part:
                yield text, grids_by_text[text]
            elif rows.size:
                groups = [pool.groups[row] for row in rows]
                yield text, narrowed_grids(grids_by_text[text], groups, formula_only=True)

    def _is_usual(self, case: Case) -> bool:
        """Return whether every label of a case could be a grade, so that no convention refuses it."""
        lowest = min(self.examination.maker.grades)
        return all(label.is_integer() and label >= lowest for label in case.labels)

    def _groups_that_fit(self, grids: list[Grid], cases: Sequence[Case], part: Ints) -> list[Group]:
        """Return the groups of grids that give the answers to the cases with these indices, as changed."""
        with suppress(InputError):  # no convention of the measures accepts these labels
            pool = Pool.over(cases, grids, self.examination.cutoff)
            fits = (np.abs(pool.values - self.answers[part]) <= self.margins[part]).all(axis=1)
            return [pool.groups[row] for row in np.flatnonzero(fits)]
        return []

    def _of_formulas(self) -> Iterator[Finding]:
        """Yield presets with a mistake in the formula, evaluated on all cases at once.

        Conventions that differ only in what they make of tied rows and empty queries are first tried as one.
        """
        every = np.arange(len(self.cases))
        parts = [part for part in (self.untied[:N_UNTIED], self.filters, every) if part.size]
        alike: dict[object, list[Convention]] = {}
        for convention in self._presets_and_others() if self._enough(every >= 0) else ():
            others = {*OF_TIES, "empty"} if self.untied.size else set()
            fields = [pair for pair in convention.to_dict().items() if pair[0] not in others]
            alike.setdefault((type(convention), *fields), []).append(convention)
        for conventions in alike.values():
            likely = self._fitting_values(conventions[0], parts[0], None)
            for convention in conventions if likely else ():
                texts = likely
                for part in parts[1:]:
                    texts = self._fitting_values(convention, part, texts) if texts else texts
                yield from (Finding(f"it returns {text}", [convention]) for text in sorted(texts))

    def _presets_and_others(self) -> list[Convention]:
        """Return the presets of the measures, also with the usual orders of ties and values of empty queries."""
        conventions: dict[Convention, None] = {}
        for convention in self._presets():
            changes = ({"ties": ties, "empty": empty} for ties, empty in product(TIES, EMPTIES))
            others = (replaced(convention, {**change, "precision": "float64"}) for change in changes)
            conventions |= dict.fromkeys(filter(None, (convention, *others)))
        return [*{twin_key(c): c for c in reversed(conventions)}.values()][::-1]  # the first of each kind

    def _fitting_values(self, convention: Convention, part: Ints, texts: set[str] | None) -> set[str]:
        """Return the mistakes with a formula that give the answers to these cases; only of `texts`, if any."""
        joined = Case.join([self.cases[i] for i in part], "")
        starts = np.cumsum([0, *(len(self.cases[i].sizes) for i in part)])[:-1]
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
                    if (np.abs(means - self.answers[part]) <= self.margins[part]).all():
                        fitting.add(text)
        return fitting

    def _of_means(self) -> Iterator[Finding]:
        """Yield conventions with a mistake in the mean over queries.

        They fit single queries, unless the mistake leaves nothing of these, so that their values are all the same, or
        changes them too, as a rule for some queries does.
        """
        if self.single.all():
            return
        if np.unique(self.answers[self.single]).size < FEWEST_DIFFERENT:
            yield from self._of_changes(self._presets(), mistaken_means, ~self.single)
        rows = self._rows(mask=self.single) or self._rows(self._scaled(self.single), self.single)
        yield from self._of_changes((self.pool.members([row])[0] for row in rows), mistaken_means)
        if not rows and self.near.size:
            counts = self.near[:, self.single].sum(axis=1)
            nearest = np.flatnonzero(counts == counts.max())[:N_PLAIN].tolist()
            several = ~self.single if self._enough(~self.single) else None
            yield from self._of_changes((self.pool.members([row])[0] for row in nearest), mistaken_means, several)

    def _of_ideals(self) -> Iterator[Finding]:
        """Yield conventions of NDCG with an ideal list that is cut elsewhere, or with a larger ideal DCG."""
        formula, k, top = self.examination.measured.formula, self.examination.cutoff, self.examination.maker.at_rank(1)
        if NDCG not in self.measures or formula is None or top not in self.cases or not self.answers.any():
            return
        first, discount = self.cases.index(top), FORMULAS[formula]
        for gain in GAINS.values():
            ideal = np.array([_ideal_dcg(case, gain, discount, k) for case in self.cases])
            divisors = {
                f"its ideal list is cut at {cut}": np.array(
                    [_ideal_dcg(case, gain, discount, cut) for case in self.cases]
                )
                for cut in (() if k is None else (k - 1, k + 1))
            }
            added = ideal[first] / self.answers[first] - ideal[first] if self.answers[first] else 0.0
            if 0 < added < MOST_ADDED:
                divisors[f"it adds {added:.3g} to the ideal DCG"] = ideal + added
            for text, divisor in divisors.items():
                factors = np.divide(ideal, divisor, out=np.ones_like(divisor), where=divisor > 0)
                yield from self._fitting(text, self.pool.values * factors, mask=self.single)

    def _presets(self) -> Iterator[Convention]:
        """Yield the presets of the measures."""
        for measure in self.measures:
            yield from presets_by_label(measure, self.examination.cutoff).values()

    def _of_changes(
        self, conventions: Iterable[Convention], change: Change, mask: Flags | None = None
    ) -> Iterator[Finding]:
        """Yield the conventions that give the (masked) answers if their numbers are changed."""
        by_text: dict[str, list[Convention]] = {}
        cases = [(i, case) for i, case in enumerate(self.cases) if mask is None or mask[i]]
        for convention in conventions:
            values = values_of(convention, [case for _, case in cases])
            wrong = [place for place, (i, _) in enumerate(cases) if not self._agrees(values[place], i)]
            texts: Collection[str] | None = None
            for place in [*wrong, *range(len(cases))] if wrong else ():  # the wrong ones contradict most mistakes
                i, case = cases[place]
                changes = mistaken_values(change, convention, case)
                tried = changes if texts is None else texts
                texts = [text for text in tried if self._agrees(changes.get(text, values[place]), i)]
                if not texts:
                    break
            for text in texts or ():
                by_text.setdefault(text, []).append(convention)
        yield from (Finding(f"it returns {text}", changed) for text, changed in by_text.items())

    def _agrees(self, value: float, i: int) -> bool:
        return bool(abs(value - self.answers[i]) <= self.margins[i])

    def _fitting(
        self, text: str, values: Floats | None = None, mask: Flags | None = None, margin: float | None = None
    ) -> Iterator[Finding]:
        """Yield the conventions of the pool that `_rows` finds."""
        if rows := self._rows(values, mask, margin):
            yield Finding(text, self._members(rows))

    def _enough(self, mask: Flags) -> bool:
        """Return whether there are enough different answers to the masked cases that nothing fits them by chance."""
        return bool(mask.sum() >= FEWEST and np.unique(self.answers[mask]).size >= FEWEST_DIFFERENT)

    def _rows(self, values: Floats | None = None, mask: Flags | None = None, margin: float | None = None) -> list[int]:
        """Return the indices of conventions whose (changed) values fit all (masked) answers, and most other ones."""
        values = self.pool.values if values is None else values
        near = np.abs(values - self.answers) <= (self.margins if margin is None else margin)
        mask = np.ones(len(self.cases), bool) if mask is None else mask
        fits = near[:, mask].all(axis=1)
        if not (self._enough(mask) and fits.any()):
            return []
        return np.flatnonzero(fits & (near.sum(axis=1) == near[fits].sum(axis=1).max())).tolist()


def mistaken_columns(case: Case) -> dict[str, Case]:
    """Return the case with each mistake with scores, labels and queries, by the mistake in words."""
    changes = changed_columns(case.queries, np.asarray(case.scores))
    return {text: Case.of(q.labels, scores, case.purpose, np.diff(q.indptr)) for text, q, scores in changes}


def mistaken_values(change: Change, convention: Convention, case: Case) -> dict[str, float]:
    """Return the value of a convention on a case with each mistake; empty if it has none."""
    with suppress(InputError, ConventionError):
        return dict(change(OurNumber.of(case.queries, np.asarray(case.scores), convention)))
    return {}


def mistaken_means(base: OurNumber) -> Iterator[tuple[str, float]]:
    """Yield the mistakes with the mean in words that hold for every case; none if the value is no mean over queries."""
    if base.terms.values.size != base.queries.n_queries or not base.convention.is_sum:
        return
    yield from ((_general(text), value) for text, value in changed_means(base))
    left_out, divided = without_query(base).values, different_divisors(base).values
    for name, query in (("first", 0), ("last", -1)):
        if left_out.size > 1:  # of one query, a program may leave out none
            yield f"the value without the {name} query", left_out[query]
        yield f"the value of the {name} query", base.terms.values[query]
    divisor = round(float(base.terms.divisors.sum()))
    for name, n in (("few", divisor - 1), ("many", divisor + 1)):
        if 0 < n <= divided.size:
            yield f"the sum of the queries' values divided by one too {name}", divided[n - 1]


def _ideal_dcg(
    case: Case, gain: Callable[[float], float], discount: Callable[[int], float], cutoff: int | None
) -> float:
    """Return the DCG of the ideal list of a query, cut at a rank."""
    gains = sorted((gain(max(label, 0.0)) for label in case.labels), reverse=True)[:cutoff]
    return sum(value * discount(rank) for rank, value in enumerate(gains, 1))


def _general(text: str) -> str:
    """Word a mistake so that it holds for every case: as one of the value, without numbers of queries."""
    return re.sub(r"\bours\b", "the value", re.sub(r"\bthe \d+ ", "the ", text))
