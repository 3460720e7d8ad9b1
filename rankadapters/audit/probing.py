"""Find out which convention a function computes, by calling it on small data that are made up."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from operator import itemgetter
from typing import Any

import numpy as np

from rankadapters.core.classes import frozen_class
from rankadapters.core.declaration.arguments import names, number
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.guesses import PROBE, shows_call
from rankadapters.evaluation.table import Table
from rankadapters.statistics.cells import spelled
from rankadapters.statistics.document import Document
from rankadapters.statistics.grid import has_cutoff, measure_named, replaced
from rankadapters.statistics.known_presets import change_cost, presets_by_label, starting_presets
from rankadapters.statistics.probing import cases as kinds
from rankadapters.statistics.probing.answers import OF_QUERIES, UNKNOWN, Function
from rankadapters.statistics.probing.case_maker import CaseMaker
from rankadapters.statistics.probing.cases import Case, value_of
from rankadapters.statistics.probing.elimination import (
    GRADES,
    Examination,
    agree,
    as_cutoff,
    confirm,
    disagree,
    examine,
    find_cutoff,
    maker_for,
)
from rankadapters.statistics.probing.evidence import Finding
from rankadapters.statistics.probing.explaining import explain
from rankadapters.statistics.probing.special_rules import NO_ORDER

MOST_CALLS = 60  # calls for a function without a convention, unless the search of its example needs a few more
FEWEST_CALLS = 30  # calls for the search of an example
MEANINGS = {
    kinds.EMPTY: "empty='error', or empty='skip' if no query is left to average",
    kinds.NOT_FOUND: "you have to leave out such queries, or set their value yourself",
    kinds.ONE_DOCUMENT: "you have to leave out queries of one document, or set their value yourself",
    kinds.SHORT: "you have to leave out shorter queries, as short='skip' does",
    kinds.NEGATIVE: "scores have to be positive",
    kinds.SEVERAL: "every query has to have exactly one relevant row",
}
ALL_REFUSED = (
    "pass a function that returns one number, and check labels= and takes=: 'query' passes labels and scores, "
    "'queries' labels, scores and qid"
)
ROUNDINGS: dict[str, Callable[[Any], Any]] = {
    "it cuts fractional labels to whole numbers": np.floor,
    "it rounds fractional labels up": np.ceil,
    "it rounds fractional labels to whole numbers": np.round,
}


@frozen_class
@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """The smallest data that the probe has found on which a function and a convention differ.

    Attributes
    ----------
    labels, scores : tuple of float
        One entry per row.
    group_sizes : tuple of int
        Rows of each query.
    value : float or None
        The value that the function returned; None if it returned no number.
    expected : float or None
        The value of the convention; None if it has no value.
    """

    labels: tuple[float, ...]
    scores: tuple[float, ...]
    group_sizes: tuple[int, ...]
    value: float | None
    expected: float | None


@frozen_class
@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """Data for which a function returned no number.

    Attributes
    ----------
    what : str
        The trait of the data.
    problem : str
        What the function did instead, in words.
    meaning : str
        The consequence for its convention or for its callers.
    """

    what: str
    problem: str
    meaning: str


@frozen_class
@dataclass(frozen=True, kw_only=True, slots=True)
class Probe(Document):
    """Result of a probe: the convention that a function computes.

    Attributes
    ----------
    convention : Convention or None
        The simplest convention that fits every answer; None if no convention does.
    conventions : tuple of Convention
        All conventions that fit; no data that the function accepts can distinguish them.
    presets : tuple of str
        Presets that compute the same, with their cutoff. If no convention fits: the presets that compute the same but
        for what `explanation` says, if it is the order of tied rows, the measure, or fractional or negative labels.
    undecided : dict of str to tuple
        Fields that calls of the function cannot determine, with the values that fit.
    measured : tuple of str
        What queries with one or two relevant rows show: the gains and the discounts, with their digits.
    refused : tuple of Refused
        Kinds of data for which the function returned no number.
    calls : int
        Number of calls of the function.
    tolerance : float
        The largest difference that counted as equal, relative for values above 1.
    nearest : Convention or None
        If no convention fits: the convention that agrees with the most answers.
    example : Example or None
        If no convention fits: the smallest data on which the function and `nearest` differ.
    explanation : str
        If no convention fits: what the function does differently; empty if that is not known.
    notes : tuple of str
        Further remarks, such as the presets that compute the same on labels 0 and 1.
    faults : tuple of str
        Further faults: the function is not deterministic, or changes its input.
    """

    convention: Convention | None
    conventions: tuple[Convention, ...]
    presets: tuple[str, ...]
    undecided: dict[str, tuple[Any, ...]]
    measured: tuple[str, ...]
    refused: tuple[Refused, ...]
    calls: int
    tolerance: float
    nearest: Convention | None = None
    example: Example | None = None
    explanation: str = ""
    notes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    def blocks(self) -> list[str | Table]:
        """Return the paragraphs and tables in reading order."""
        blocks: list[str | Table] = [self._summary()]
        if self.measured:
            blocks.append(f"Measured: {'; '.join(self.measured)}.")
        if self.convention is not None:
            notes = {name: f"not shown: {', '.join(map(spelled, fit))} fit" for name, fit in self.undecided.items()}
            fields = {name: spelled(getattr(self.convention, name)) for name in self.convention.fields()}
            lines = [(name, value, notes.get(name, "")) for name, value in fields.items()]
            blocks.append(Table.of("fields", ("field", "value", "note"), lines))
        if self.example is not None:
            blocks.append(self._example_table(self.example))
        if self.refused:
            lines = [(refused.what, refused.problem, refused.meaning) for refused in self.refused]
            blocks.append(Table.of("data without an answer", ("data", "the function", "which means"), lines))
        return [*blocks, *(f"Note: {note}." for note in (*self.notes, *self.faults))]

    def _summary(self) -> str:
        n_calls = f"{self.calls} calls"
        tools = f", as {', '.join(self.presets)}" if self.presets else ""
        if self.convention is not None:
            return f"The function computes {self.convention.name}{tools} ({n_calls}).\n{self.convention}"
        if self.nearest is None:
            reason = f": {self.explanation}" if self.explanation else ": it gave no number"
            return f"The function computes no known convention{reason} ({n_calls})."
        if self.presets:
            but = f"{tools}, but {self.explanation}"
            return f"The function computes {self.nearest.name}{but} ({n_calls}).\n{self.nearest}"
        because = f" Most likely {self.explanation}." if self.explanation else ""
        nearest = f"The nearest is {self.nearest.name}.{because}\n{self.nearest}"
        return f"The function computes no known convention ({n_calls}). {nearest}"

    def _example_table(self, example: Example) -> Table:
        nearest = "" if self.nearest is None else self.nearest.name
        caption = f"smallest example: the function returns {example.value}, {nearest} is {example.expected}"
        rows = [(f"{label:g}", repr(score)) for label, score in zip(example.labels, example.scores, strict=True)]
        if len(example.group_sizes) == 1:
            return Table.of(caption, ("label", "score"), rows)
        queries = np.repeat(np.arange(len(example.group_sizes)), example.group_sizes).tolist()
        lines = [(str(query), *row) for query, row in zip(queries, rows, strict=True)]
        return Table.of(caption, ("query", "label", "score"), lines)


@shows_call(PROBE)
def probe(
    function: Callable[..., Any],
    *,
    takes: str,
    k: int | str | None,
    measures: Sequence[str] | str = ("ndcg",),
    labels: Sequence[float] | None = None,
    tolerance: float = 1e-9,
) -> Probe:
    """Call a function on small generated data, and report which convention it computes.

    Queries with one or two relevant rows measure its gains and discounts. Then about 40 other cases eliminate
    conventions, and about 170 rare ones (special scores, long lists, many queries) confirm those that are left, so that
    a convention is named only if it gives all answers of the function.

    Parameters
    ----------
    function : callable
        The function that computes the metric; it receives numpy arrays, or lists if it refuses these, and returns a
        number. If it has a parameter `k`, it receives the cutoff.
    takes : {"query", "queries", "groups", "ranked", "items"}
        How it is called: `function(labels, scores)` for one query, `function(labels, scores, qid)` with the query of
        each row, `function(labels, scores, group_sizes)` with the rows of each query, `function(labels)` with the
        labels of one query in the order of its ranking, or `function(recommended, relevant)` with the ids of one
        query's items in the order of its ranking, and the ids of all relevant items.
    k : int, None or "unknown"
        The cutoff that it applies; None for all ranks.
    measures : sequence of str, default ("ndcg",)
        The measures that it may compute, by the first word of their signatures.
    labels : sequence of float, optional
        The grades that it accepts. By default they are 0 to 4, or fewer if the function refuses these. At the end
        fractional and negative labels are tried, which the function may refuse.
    tolerance : float, default 1e-9
        The largest difference that counts as equal, relative for values above 1. It is 1e-6 if all values that the
        function returns are float32 numbers.

    Returns
    -------
    Probe
        The convention; or, if none fits, the nearest one, what the function does differently, and the smallest
        example that shows the difference.

    Raises
    ------
    InputError
        An argument is wrong, or labels cannot be made from the grades.
    ConventionError
        There is no such measure.

    Examples
    --------
    >>> import numpy as np
    >>> import rankadapters as ra
    >>> def ndcg(labels, scores):
    ...     discounts = 1 / np.log2(np.arange(labels.size) + 2)
    ...     ideal = np.sort(labels)[::-1] @ discounts
    ...     return labels[np.argsort(scores, kind="stable")[::-1]] @ discounts / ideal if ideal else 0.0
    >>> result = ra.audit.probe(ndcg, takes="query", k=None)
    >>> result.convention.gain, result.convention.ties, result.convention.empty
    ('linear', 'reverse', 0.0)
    >>> result.measured[0]
    'gains 0, 1, 2, 3, 4 of the labels 0, 1, 2, 3, 4 (label)'
    """
    tested = Function.of(function, takes, k)
    tried = tuple(map(measure_named, names("measures", measures)))
    tolerance = number("tolerance", tolerance, least=0)
    unknown = isinstance(k, str) and k == UNKNOWN
    cutoff = None if unknown or not any(map(has_cutoff, tried)) else as_cutoff(k)
    maker = maker_for(tested, labels)
    maker = replace(maker, k=find_cutoff(tested, maker) if unknown else cutoff)
    examination = examine(tested, tried, maker, tolerance)
    if not maker.one_relevant and _refuses_all(examination, kinds.SEVERAL):
        examination = examine(tested, tried, replace(maker, grades=GRADES[-1], one_relevant=True), tolerance)
    if not (examination.enough and examination.remaining and tested.deterministic):
        finding = explain(examination)
        if finding is not None and finding.text.startswith(NO_ORDER) and finding.conventions:
            fitting, _, _ = _with_further_cases(examination, finding.conventions, labels)
            finding = finding._replace(conventions=fitting)
        return _without_convention(examination, finding)
    members, by_all = confirm(examination, _with_refusals(examination))
    if not members:
        return _without_convention(by_all, explain(by_all) or _rare_finding(by_all))
    members, finding, notes = _with_further_cases(examination, members, labels)
    return _fitted(examination, members, notes) if finding is None else _without_convention(examination, finding)


def _rare_finding(examination: Examination) -> Finding:
    """Name the kinds of rare data on which the function differs from the nearest convention."""
    nearest, numbers = examination.nearest, examination.numbers
    wrong = disagree(examination.pool.values[nearest, numbers], examination.values, examination.tolerance)
    purposes = dict.fromkeys(examination.pool.cases[numbers[i]].purpose for i in np.flatnonzero(wrong))
    return Finding(f"it has a special rule for some rare data: {', '.join(purposes)}", [])


def _refuses_all(examination: Examination, trait: str) -> bool:
    """Return whether a function refuses all data with a trait that it was asked, and accepts other data."""
    asked = [case for case in examination.function.answers if trait in case.traits(examination.maker.k)]
    return len(asked) > 1 and set(asked) <= set(examination.refused) and len(examination.numbers) > 1


def _with_refusals(examination: Examination) -> list[Convention]:
    """Return the conventions that fit, with `empty` of a function that refuses all queries with nothing relevant."""
    members, of_queries = examination.members, examination.function.takes in OF_QUERIES
    if "empty" in members[0].fields() and _refuses_all(examination, kinds.EMPTY):
        values = ("error",) if of_queries else ("error", "skip")
        members = [convention.replace(empty=value) for convention in members for value in values]
    return list(dict.fromkeys(members))


def _with_further_cases(
    examination: Examination, members: list[Convention], labels: Sequence[float] | None
) -> tuple[list[Convention], Finding | None, list[str]]:
    """Rule out conventions by answers to unusual labels or unretrieved rows, or say what the function makes of these.

    Many functions treat labels below 0 in a way that no convention has, or count every label above 0 where the nearest
    word is `gain=from_1`, so this is only a note.
    """
    function, maker, notes = examination.function, examination.maker, dict[str, None]()
    unusual = maker.unretrieved if function.takes == "items" else maker.unusual_labels
    cases = [] if maker.one_relevant or (labels is not None and function.takes != "items") else unusual()
    for case in cases:
        answer = function.ask(case)
        values = np.array([value_of(convention, case) for convention in members])
        fits = agree(values, answer.value, examination.tolerance)
        if fits.any():
            members = list(compress(members, fits))
        elif not (answer.problem or np.isnan(values).all()):
            text = f"it has a special rule for {case.purpose}"
            contradicted = list(compress(members, ~np.isnan(values)))
            if case.purpose != kinds.BELOW_ZERO and not members[0].get("gain").startswith("from_"):
                text = _rounding(examination, contradicted[0], cases) or text
                return members, Finding(text, contradicted, names_presets=True), []
            notes[text] = None
    return members, None, list(notes)


def _rounding(examination: Examination, convention: Convention, cases: Sequence[Case]) -> str:
    """Return how a function rounds fractional labels; empty if it does not."""
    fractional = [case for case in cases if case.purpose == kinds.FRACTIONAL]
    answers = np.array([examination.function.ask(case).value for case in fractional])
    for text, change in ROUNDINGS.items():
        rounded = [value_of(convention, case.with_columns(labels=change(case.labels))) for case in fractional]
        if np.allclose(answers, rounded, rtol=examination.tolerance, atol=examination.tolerance):
            return text
    return ""


def _fitted(examination: Examination, members: list[Convention], notes: list[str]) -> Probe:
    values = {name: tuple(dict.fromkeys(getattr(c, name) for c in members)) for name in members[0].fields()}
    simplest = _simplest(members)
    return _report(
        examination,
        convention=simplest,
        conventions=tuple(members),
        presets=_presets(members, ranked=examination.maker.distinct),
        undecided={name: options for name, options in values.items() if len(options) > 1},
        refused=tuple(_refusals(examination, simplest)),
        notes=(*notes, *_notes(members)),
    )


def _without_convention(examination: Examination, finding: Finding | None) -> Probe:
    refused, group = tuple(_refusals(examination, None)), examination.nearest
    explanation, conventions, names_presets = finding or Finding("", [])
    if finding is None and examination.numbers and not examination.pool.groups:
        labels = ", ".join(f"{grade:g}" for grade in examination.maker.grades)
        measures = " and ".join(measure.measure for measure in examination.measures)
        explanation = f"{measures} has no value for the labels {labels}; pass labels="
    if not conventions and group is not None:
        conventions = examination.pool.members([group])
    nearest = example = None
    if conventions:
        empty = min(conventions, key=_simplicity).get("empty")
        nearest = _simplest([c for c in conventions if c.get("empty") == empty])
    if nearest is not None and examination.function.deterministic and not explanation.startswith(NO_ORDER):
        example = _example(examination, nearest)
    presets = _presets(conventions, ranked=examination.maker.distinct) if names_presets else ()
    return _report(
        examination, convention=None, conventions=(), presets=presets, undecided={}, refused=refused, nearest=nearest,
        example=example, explanation=explanation,
    )  # fmt: skip


def _report(examination: Examination, **fields: Any) -> Probe:
    """Return a report with these fields and those that need no convention."""
    function, measured = examination.function, tuple(examination.measured.sentences())
    faults = tuple(function.faults)
    return Probe(measured=measured, calls=function.calls, tolerance=examination.tolerance, faults=faults, **fields)


def _notes(members: list[Convention]) -> Iterator[str]:
    """Yield the presets that compute the same on labels 0 and 1, if the function counts all relevant labels alike."""
    gain = members[0].get("gain")
    if gain.startswith(("from_", "above_")) or set(gain.split("_")[2:]) == {"1"}:
        alike = [convention.replace(gain=other) for other in ("linear", "exp2") for convention in members]
        if presets := _presets(alike):
            yield f"all relevant labels count the same; on labels 0 and 1 it is {', '.join(presets)}"


def _simplest(conventions: Sequence[Convention]) -> Convention:
    """Return the convention with the fewest and likeliest changes from a preset, named after that preset.

    Of several, the one of the first preset is returned, and of these, the one with the simplest field values.
    """
    k, ranked = conventions[0].get("k"), []
    for convention in conventions:
        measure, values = type(convention), convention.to_dict().items()
        presets = starting_presets(measure, k).values()
        changes = [dict(values - preset.to_dict().items()) for preset in presets]
        costs = [change_cost(measure, changed) for changed in changes]
        at = costs.index(min(costs))
        ranked.append(((costs[at], at, _simplicity(convention)), list(presets)[at], changes[at]))
    _, preset, changed = min(ranked, key=itemgetter(0))
    return preset.replace(**changed)


def _presets(conventions: Sequence[Convention], *, ranked: bool = False) -> tuple[str, ...]:
    """Return the names of the presets among the conventions; docids may be in row order or in reverse row order.

    With `ranked`, ties and precision do not count, since the function has no scores.
    """
    candidates, labels, k = set(conventions), [], conventions[0].get("k")
    measures: dict[type[Convention], None] = dict.fromkeys(map(type, conventions))
    for measure in measures:
        of_scores = {"ties", "precision"} & measure.declared().keys() if ranked else ()
        of_ranking = {name: getattr(conventions[0], name) for name in of_scores}
        for label, preset in presets_by_label(measure, k).items():
            by_docid = "docid" in str(preset.get("ties"))
            orders: list[dict[str, Any]] = [{"ties": "input"}, {"ties": "reverse"}] if by_docid else [{}]
            if candidates & {replaced(preset, fields) for fields in (*orders, of_ranking)}:
                tool, plus, changes = label.partition("+")
                labels.append(f"{tool}@{spelled(k)}{plus}{changes}" if has_cutoff(measure) else label)
    return tuple(labels)


def _simplicity(convention: Convention) -> tuple[int, ...]:
    """Return a sort key that puts simple conventions first; a field's values are tried from simple to complex."""
    values = ((kind.tried, getattr(convention, name)) for name, kind in convention.declared().items())
    return tuple(tried.index(value) if value in tried else len(tried) for tried, value in values)


def _example(examination: Examination, convention: Convention) -> Example | None:
    """Shrink the smallest case on which the function and a convention differ."""
    function = examination.function

    def differs(case: Case) -> bool:
        return bool(disagree(function.ask(case).value, value_of(convention, case), examination.tolerance))

    differing = [case for case in list(function.answers) if differs(case)]
    if not differing:
        return None
    smallest = min(differing, key=lambda case: (len(case.labels), len(case.sizes)))
    case = kinds.shrink(smallest, differs, max(FEWEST_CALLS, MOST_CALLS - function.calls))
    value, expected = function.ask(case).value, value_of(convention, case)
    return Example(labels=case.labels, scores=case.scores, group_sizes=case.sizes, value=value, expected=expected)


def _refusals(examination: Examination, convention: Convention | None) -> Iterator[Refused]:
    """Yield what the function does not take: types of arguments, labels, kinds of data."""
    function, maker = examination.function, examination.maker
    error = "raised an error"
    if function.form != function.forms[0]:
        yield Refused(what=function.forms[0], problem=error, meaning=f"it takes {function.form}")
    every_grade = CaseMaker(GRADES[0], maker.k).every_grade()
    refuses_too = convention is not None and math.isnan(value_of(convention, every_grade))
    if maker.grades in GRADES[1:] and function.takes != "items" and not refuses_too:
        labels = ", ".join(f"{grade:g}" for grade in maker.grades)
        yield Refused(what="labels up to 4", problem=error, meaning=f"it takes the labels {labels}")
    refused = list(_refused_data(examination, convention))
    yield from refused
    if maker.one_relevant and kinds.SEVERAL not in [refusal.what for refusal in refused]:
        yield Refused(what=kinds.SEVERAL, problem=error, meaning=MEANINGS[kinds.SEVERAL])


def _refused_data(examination: Examination, convention: Convention | None) -> Iterator[Refused]:
    """Yield each kind of data for which the function returned no number, unless another kind already implies it.

    A refusal is left out if the convention has no value for such data either, unless a field decides about such data.
    """
    k, answers = examination.maker.k, examination.function.answers
    refused = {case: reply for case, reply in answers.items() if reply.problem}
    if refused and len(refused) == len(answers):
        yield Refused(what="all data", problem=next(iter(refused.values())).problem, meaning=ALL_REFUSED)
        return
    unexplained = dict(refused)
    for trait in kinds.TRAITS:
        with_trait = [case for case in answers if trait in case.traits(k)]
        implied = [case for case in with_trait if case in unexplained]
        if not implied or not all(case in refused for case in with_trait):
            continue
        for case in implied:
            del unexplained[case]
        has_short = convention is not None and "short" in convention.fields()
        by_field = trait == kinds.EMPTY or (trait == kinds.SHORT and has_short)
        if by_field or convention is None or not math.isnan(value_of(convention, implied[0])):
            meaning = MEANINGS.get(trait, "such data have no value")
            yield Refused(what=trait, problem=refused[implied[0]].problem, meaning=meaning)
    for case, reply in unexplained.items():
        if convention is None or not math.isnan(value_of(convention, case)):
            what = f"labels {case.labels} with scores {case.scores}"
            yield Refused(what=f"{what:.80}", problem=reply.problem, meaning="some such data have no value")
            return
