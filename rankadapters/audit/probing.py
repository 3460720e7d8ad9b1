"""Find out which convention a function computes, by calling it on small data that are made up."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankadapters.core.declaration.arguments import names, number
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.core.evaluation.table import Table
from rankadapters.statistics.cells import spelled
from rankadapters.statistics.document import Document
from rankadapters.statistics.grid import has_cutoff, measure_named
from rankadapters.statistics.known_presets import presets_by_label
from rankadapters.statistics.probing.answers import OF_QUERIES, UNKNOWN, Function
from rankadapters.statistics.probing.case_maker import CaseMaker
from rankadapters.statistics.probing.cases import (
    BELOW_ZERO,
    EMPTY,
    FRACTIONAL,
    NEGATIVE,
    ONE_DOCUMENT,
    SEVERAL,
    SHORT,
    TRAITS,
    Case,
    value_of,
)  # fmt: skip
from rankadapters.statistics.probing.examination import (
    GRADES,
    Examination,
    as_cutoff,
    examine,
    find_cutoff,
    maker_for,
    with_one_relevant,
)
from rankadapters.statistics.probing.explaining import NO_ORDER, Finding, explain
from rankadapters.statistics.probing.shrinking import shrink

MOST_CALLS = 60  # calls for a function without a convention, unless the search of its example needs a few more
FEWEST_CALLS = 12  # calls for the search of an example
MEANINGS = {
    EMPTY: "empty='error', or empty='skip' if no query is left to average",
    ONE_DOCUMENT: "you have to leave out queries of one document, or set their value yourself",
    SHORT: "you have to leave out shorter queries, as short='skip' does",
    NEGATIVE: "scores have to be positive",
    SEVERAL: "every query has to have exactly one relevant row",
}
ALL_REFUSED = "pass a function that takes what takes= says and returns one number; check takes= and labels="
ROUNDINGS: dict[str, Callable[[Any], Any]] = {
    "it cuts fractional labels to whole numbers": np.floor,
    "it rounds fractional labels up": np.ceil,
    "it rounds fractional labels to whole numbers": np.round,
}


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
            lines = [
                (name, spelled(getattr(self.convention, name)), self._note(name)) for name in self.convention.fields()
            ]
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

    def _note(self, name: str) -> str:
        if name not in self.undecided:
            return ""
        return f"not shown: {', '.join(map(spelled, self.undecided[name]))} fit"

    def _example_table(self, example: Example) -> Table:
        nearest = "" if self.nearest is None else self.nearest.name
        caption = f"smallest example: the function returns {example.value}, {nearest} is {example.expected}"
        rows = [(f"{label:g}", repr(score)) for label, score in zip(example.labels, example.scores, strict=True)]
        if len(example.group_sizes) == 1:
            return Table.of(caption, ("label", "score"), rows)
        queries = np.repeat(np.arange(len(example.group_sizes)), example.group_sizes).tolist()
        lines = [(str(query), *row) for query, row in zip(queries, rows, strict=True)]
        return Table.of(caption, ("query", "label", "score"), lines)


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

    Queries with one or two relevant rows measure its gains and discounts. Then about 40 other cases confirm the
    conventions that are left, so that a convention is named only if it gives all answers of the function.

    Parameters
    ----------
    function : callable
        The function that computes the metric; it receives numpy arrays, or lists if it refuses these, and returns a
        number. If it has a parameter `k`, it receives the cutoff.
    takes : {"query", "queries", "groups", "ranked", "items"}
        How it is called: `function(labels, scores)` for one query, `function(labels, scores, qid)` with the query of
        each row, `function(labels, scores, group_sizes)` with the rows of each query, `function(labels)` with the
        labels of one query in the order of its ranking, or `function(recommended, relevant)` with the ids of one
        query's items in the order of its ranking, and the ids of the relevant ones among them.
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
    kinds = tuple(map(measure_named, names("measures", measures)))
    tolerance = number("tolerance", tolerance, least=0)
    unknown = isinstance(k, str) and k == UNKNOWN
    cutoff = None if unknown else as_cutoff(k)
    maker = maker_for(tested, labels)
    maker = replace(maker, k=find_cutoff(tested, maker) if unknown else cutoff)
    examination = examine(tested, kinds, maker, tolerance)
    if not maker.one_relevant and _refuses_all(examination, SEVERAL):
        examination = examine(tested, kinds, with_one_relevant(maker), tolerance)
    if not (examination.fits and tested.deterministic):
        return _without_convention(examination, explain(examination))
    members = _with_refusals(examination, examination.elimination.members)
    cases = _further_cases(examination, labels)
    members, finding, notes = _with_further_cases(examination, members, cases)
    return _fitted(examination, members, notes) if finding is None else _without_convention(examination, finding)


def _refuses_all(examination: Examination, trait: str) -> bool:
    """Return whether a function refuses all data with a trait that it was asked, and accepts other data."""
    cutoff, refused = examination.maker.k, set(examination.elimination.refused)
    asked = [case for case in examination.function.answers if trait in case.traits(cutoff)]
    return len(asked) > 1 and refused.issuperset(asked) and len(examination.elimination.numbers) > 1


def _with_refusals(examination: Examination, members: list[Convention]) -> list[Convention]:
    """Set `empty` and `short` for a function that refuses all queries with nothing relevant, or all short ones.

    Only the refusal of queries that are short and nothing else shows `short="skip"`.
    """
    k, of_queries = examination.maker.k, examination.function.takes in OF_QUERIES
    only_short = [case for case in examination.elimination.refused if case.traits(k) <= {SHORT, SEVERAL}]
    values = {"empty": ("error",) if of_queries else ("error", "skip"), "short": ("skip",)}
    refuses_short = not of_queries and len(only_short) > 1 and _refuses_all(examination, SHORT)
    shown = {"empty": _refuses_all(examination, EMPTY), "short": refuses_short}
    for field in (name for name, is_shown in shown.items() if is_shown and name in members[0].fields()):
        members = [convention.replace(**{field: value}) for convention in members for value in values[field]]
    return list(dict.fromkeys(members))


def _further_cases(examination: Examination, labels: Sequence[float] | None) -> list[Case]:
    """Return the cases with unusual labels or unretrieved rows, as far as the function may take them."""
    maker = examination.maker
    if examination.function.takes == "items":
        return [] if maker.one_relevant else maker.unretrieved()
    return maker.unusual_labels() if labels is None and not maker.one_relevant else []


def _with_further_cases(
    examination: Examination, members: list[Convention], cases: Sequence[Case]
) -> tuple[list[Convention], Finding | None, list[str]]:
    """Rule out conventions by answers to unusual cases, or say what the function makes of these.

    Many functions treat labels below 0 in a way that no convention has, or count every label above 0 where the nearest
    word is `gain=from_1`, so this is only a note.
    """
    function, notes = examination.function, list[str]()
    for case in cases:
        answer = function.ask(case)
        values = np.array([value_of(convention, case) for convention in members])
        margin = examination.elimination.tolerance * max(1.0, abs(answer.value))
        fits = np.abs(values - answer.value) <= margin
        if fits.any():
            members = [convention for convention, fit in zip(members, fits, strict=True) if fit]
        elif not (answer.problem or np.isnan(values).any()):
            text = f"it has a special rule for {case.purpose}"
            binary = getattr(members[0], "gain", "").startswith("from_")
            if case.purpose != BELOW_ZERO and not binary:
                text = _rounding(examination, members[0], cases) or text
                return members, Finding(text, members, names_presets=True), notes
            notes.append(text)
    return members, None, list(dict.fromkeys(notes))


def _rounding(examination: Examination, convention: Convention, cases: Sequence[Case]) -> str:
    """Return how a function rounds fractional labels; empty if it does not."""
    function, tolerance = examination.function, examination.elimination.tolerance
    fractional = [case for case in cases if case.purpose == FRACTIONAL]
    answers = np.array([function.ask(case).value for case in fractional])
    for text, change in ROUNDINGS.items():
        rounded = [value_of(convention, case.with_columns(labels=change(case.labels))) for case in fractional]
        if np.allclose(answers, rounded, rtol=tolerance, atol=tolerance):
            return text
    return ""


def _fitted(examination: Examination, members: list[Convention], notes: list[str]) -> Probe:
    values = {name: tuple(dict.fromkeys(getattr(c, name) for c in members)) for name in members[0].fields()}
    simplest = _simplest(members)
    return Probe(
        convention=simplest,
        conventions=tuple(members),
        presets=_presets(members, ranked=examination.maker.distinct),
        undecided={name: options for name, options in values.items() if len(options) > 1},
        notes=(*notes, *_notes(members)),
        **_common(examination, simplest),
    )


def _notes(members: list[Convention]) -> Iterator[str]:
    """Yield the presets that compute the same on labels 0 and 1, if the function counts all relevant labels alike."""
    gain = getattr(members[0], "gain", "")
    if gain.startswith(("from_", "above_")) or set(gain.split("_")[2:]) == {"1"}:
        alike = [replaced for other in ("linear", "exp2") for c in members for replaced in [c.replace(gain=other)]]
        if presets := _presets(alike):
            yield f"all relevant labels count the same; on labels 0 and 1 it is {', '.join(presets)}"


def _simplest(conventions: Sequence[Convention]) -> Convention:
    """Return the first convention that is a preset; if none is, the one with the simplest field values."""
    candidates, kinds, cutoff = set(conventions), dict.fromkeys(map(type, conventions)), _cutoff(conventions[0])
    presets = (preset for kind in kinds for preset in presets_by_label(kind, cutoff).values())
    return next((preset for preset in presets if preset in candidates), min(conventions, key=_simplicity))


def _presets(conventions: Sequence[Convention], *, ranked: bool = False) -> tuple[str, ...]:
    """Return the names of the presets among the conventions; docids may be in row order or in reverse row order.

    With `ranked`, ties and precision do not count, since the function has no scores.
    """
    candidates, labels = set(conventions), []
    kinds: dict[type[Convention], None] = dict.fromkeys(map(type, conventions))
    for kind in kinds:
        names = {"ties", "precision"} & kind.declared().keys() if ranked else ()
        of_ranking = {name: getattr(conventions[0], name) for name in names}
        for label, preset in presets_by_label(kind, _cutoff(conventions[0])).items():
            by_docid = "docid" in str(getattr(preset, "ties", ""))
            alike = [preset.replace(ties=ties) for ties in ("input", "reverse")] if by_docid else [preset]
            with suppress(ConventionError):
                alike.append(preset.replace(**of_ranking))
            if not candidates.isdisjoint(alike):
                tool, plus, changes = label.partition("+")
                labels.append(f"{tool}@{spelled(_cutoff(preset))}{plus}{changes}" if has_cutoff(kind) else label)
    return tuple(labels)


def _without_convention(examination: Examination, finding: Finding | None) -> Probe:
    elimination, function = examination.elimination, examination.function
    group = elimination.nearest()
    conventions = finding.conventions if finding and finding.conventions else []
    if not conventions and group is not None:
        conventions = elimination.pool.members([group])
    nearest = None
    if conventions:
        empty = getattr(min(conventions, key=_simplicity), "empty", None)
        nearest = _simplest([c for c in conventions if getattr(c, "empty", None) == empty])
    names_presets = finding is not None and finding.names_presets
    in_no_order = finding is not None and finding.text.endswith(NO_ORDER)
    shows = nearest is not None and function.deterministic and not in_no_order
    common = _common(examination, None)
    return Probe(
        convention=None,
        conventions=(),
        presets=_presets(conventions, ranked=examination.maker.distinct) if names_presets else (),
        undecided={},
        nearest=nearest,
        example=_example(examination, nearest) if nearest is not None and shows else None,
        explanation=_explanation(examination, finding),
        **{**common, "calls": function.calls},
    )


def _explanation(examination: Examination, finding: Finding | None) -> str:
    if finding is not None:
        return finding.text
    if examination.elimination.numbers and not examination.elimination.pool.groups:
        labels = ", ".join(f"{grade:g}" for grade in examination.maker.grades)
        measures = " and ".join(measure.measure for measure in examination.measures)
        return f"{measures} has no value for the labels {labels}; pass labels="
    return ""


def _example(examination: Examination, convention: Convention) -> Example | None:
    """Shrink the smallest case on which the function and a convention differ."""
    function, tolerance = examination.function, examination.elimination.tolerance

    def differs(case: Case) -> bool:
        answer, expected = function.ask(case), value_of(convention, case)
        if answer.problem or math.isnan(expected):
            return False
        return abs(answer.value - expected) > tolerance * max(1.0, abs(expected))

    differing = [case for case in list(function.answers) if differs(case)]
    if not differing:
        return None
    smallest = min(differing, key=lambda case: (len(case.labels), len(case.sizes)))
    case = shrink(smallest, differs, max(FEWEST_CALLS, MOST_CALLS - function.calls))
    return Example(
        labels=case.labels, scores=case.scores, group_sizes=case.sizes,
        value=function.ask(case).value, expected=value_of(convention, case),
    )  # fmt: skip


def _common(examination: Examination, convention: Convention | None) -> dict[str, Any]:
    function = examination.function
    refused = list(_refusals(examination, convention))
    grades, widest = examination.maker.grades, CaseMaker(GRADES[0], examination.maker.k)
    refuses_too = convention is not None and math.isnan(value_of(convention, widest.every_grade()))
    if grades in GRADES[1:] and function.takes != "items" and not refuses_too:
        meaning = f"it takes the labels {', '.join(f'{grade:g}' for grade in grades)}"
        refused.insert(0, Refused(what="labels up to 4", problem="raised an error", meaning=meaning))
    if examination.maker.one_relevant and SEVERAL not in [refusal.what for refusal in refused]:
        refused.append(Refused(what=SEVERAL, problem="raised an error", meaning=MEANINGS[SEVERAL]))
    if function.form != function.forms[0]:
        takes = f"it takes {function.form}"
        refused.insert(0, Refused(what=function.forms[0], problem="raised an error", meaning=takes))
    return {
        "refused": tuple(refused), "calls": function.calls, "measured": tuple(examination.measured.sentences()),
        "tolerance": examination.elimination.tolerance, "faults": tuple(function.faults),
    }  # fmt: skip


def _refusals(examination: Examination, convention: Convention | None) -> Iterator[Refused]:
    """Yield each kind of data for which the function returned no number, unless another kind already implies it.

    A refusal is left out if the convention has no value for such data either, unless a field decides about such data.
    """
    k, answers = examination.maker.k, examination.function.answers
    refused = {case: reply for case, reply in answers.items() if reply.problem}
    if refused and len(refused) == len(answers):
        yield Refused(what="all data", problem=next(iter(refused.values())).problem, meaning=ALL_REFUSED)
        return
    unexplained = dict(refused)
    for trait in TRAITS:
        with_trait = [case for case in answers if trait in case.traits(k)]
        if not with_trait or not all(case in refused for case in with_trait):
            continue
        implied = [case for case in with_trait if case in unexplained]
        first = next(iter(implied), None)
        for case in implied:
            del unexplained[case]
        by_field = trait == EMPTY or (trait == SHORT and convention is not None and "short" in convention.fields())
        no_value = first and convention is not None and math.isnan(value_of(convention, first))
        if first and (by_field or not no_value):
            meaning = MEANINGS.get(trait, "such data have no value")
            yield Refused(what=trait, problem=refused[first].problem, meaning=meaning)
    for case, reply in unexplained.items():
        if convention is None or not math.isnan(value_of(convention, case)):
            what = f"labels {case.labels} with scores {case.scores}"
            yield Refused(what=f"{what:.80}", problem=reply.problem, meaning="some such data have no value")
            return


def _simplicity(convention: Convention) -> tuple[int, ...]:
    """Return a sort key that puts simple conventions first; a field's values are tried from simple to complex."""
    fields = convention.declared()
    return tuple(
        kind.tried.index(value) if (value := getattr(convention, name)) in kind.tried else len(kind.tried)
        for name, kind in fields.items()
    )


def _cutoff(convention: Convention) -> int | None:
    cutoff: int | None = getattr(convention, "k", None)
    return cutoff
