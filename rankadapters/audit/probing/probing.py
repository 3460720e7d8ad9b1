"""Finding out which convention a function computes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from rankadapters.audit.identification.known_presets import known
from rankadapters.audit.probing.report import Example, Probe, Refused
from rankadapters.core.declaration.arguments import choice, names, number, refusal
from rankadapters.core.declaration.convention import Convention
from rankadapters.statistics.grid import has_cutoff, measure_named
from rankadapters.statistics.probing.answers import FORMS, TAKES, Function
from rankadapters.statistics.probing.case_maker import other_labels
from rankadapters.statistics.probing.cases import (
    EMPTY,
    LONG,
    NEGATIVE,
    ONE_DOCUMENT,
    SHORT,
    Case,
    value_of,
)  # fmt: skip
from rankadapters.statistics.probing.diagnosis import diagnose
from rankadapters.statistics.probing.elimination import Elimination, values_of
from rankadapters.statistics.probing.examination import as_cutoff, examine, find_cutoff, grades_of
from rankadapters.statistics.probing.mistakes import EXCEPTIONS
from rankadapters.statistics.probing.shrinking import shrunk

QUESTIONS, SECONDS = 400, 5.0  # to a function at most, while the smallest example is looked for

MEANINGS = {
    EMPTY: "empty='error', or empty='skip' where nothing is left to average",
    ONE_DOCUMENT: "queries of one document have to be left out or valued by hand",
    SHORT: "shorter queries have to be left out, as short='skip' does",
    NEGATIVE: "scores have to be positive",
}
ALL_REFUSED = "give probe a function of labels and scores that returns one number; see takes= and labels="
UNKNOWN = "unknown"  # the cutoff that is looked for


def probe(
    function: Callable[..., Any],
    *,
    takes: str,
    k: int | str | None,
    measures: Sequence[str] | str = ("ndcg",),
    labels: Sequence[float] | None = None,
    tolerance: float = 1e-9,
) -> Probe:
    """Call a function on small data made for it, and say which convention it computes.

    Parameters
    ----------
    function : callable
        What computes the metric; it gets numpy arrays and returns a number.
    takes : {"query", "queries", "groups"}
        How it is called: `function(labels, scores)` for one query, `function(labels, scores, qid)` with the query of
        each row, or `function(labels, scores, group_sizes)` with the rows of each query.
    k : int, None or "unknown"
        The cutoff that it applies; None for all ranks.
    measures : sequence of str, default ("ndcg",)
        The measures that it may compute, by the first word of their signatures.
    labels : sequence of float, optional
        The grades that it accepts. By default 0 to 4, then fewer where it refuses these, and at the end fractional
        and negative ones, where a refusal is an answer.
    tolerance : float, default 1e-9
        The largest difference, relative to values above 1, that counts as none. A function whose answers are all
        numbers of float32 is compared with 1e-6.

    Returns
    -------
    Probe
        The convention, or the nearest one and the smallest example that shows the difference.

    Raises
    ------
    InputError
        An argument is wrong, or no labels can be made of the grades.
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
    >>> found = ra.audit.probe(ndcg, takes="query", k=None)
    >>> found.convention.gain, found.convention.ties, found.convention.empty
    ('linear', 'reverse', 0.0)
    """
    if not callable(function):
        raise refusal("function", function, "callables", "a function of labels and scores")
    asked = Function(function, choice("takes", takes, TAKES))
    kinds = tuple(map(measure_named, names("measures", measures)))
    bound = number("tolerance", tolerance, least=0)
    unknown = isinstance(k, str) and k == UNKNOWN
    cutoff = None if unknown else as_cutoff(k)
    grades = grades_of(asked, labels)
    if unknown:
        cutoff = find_cutoff(asked, grades)
    elimination = examine(asked, kinds, cutoff, grades, bound)
    if elimination.fits and asked.deterministic:
        fitting = _with_refusals(elimination, elimination.pool.members(elimination.left))
        return _fitted(elimination, fitting if labels is not None else _by_other_labels(elimination, fitting))
    return _unexplained(elimination, grades)


def _with_refusals(elimination: Elimination, fitting: list[Convention]) -> list[Convention]:
    """Let policies say that a query is refused or skipped where the function gave no number for it."""
    refused = {case.purpose for case, _ in elimination.refused}
    single = elimination.function.takes == "query"
    words = {
        EMPTY: ("empty", ("error", "skip") if single else ("error",)),
        SHORT: ("short", ("skip",) if single else ()),
    }
    for field, values in [words[purpose] for purpose in words if purpose in refused]:
        if values and field in fitting[0].fields():
            fitting = [convention.replace(**{field: value}) for convention in fitting for value in values]
    return list(dict.fromkeys(fitting))


def _by_other_labels(elimination: Elimination, fitting: list[Convention]) -> list[Convention]:
    """Rule out conventions by fractional and negative labels; an answer that no convention gives says nothing."""
    for case in other_labels(elimination.cutoff, elimination.function.n_queries):
        values = values_of(fitting, case)
        if np.unique(np.round(values, 10), equal_nan=True).size > 1:
            answer = elimination.function.ask(case)
            if answer.problem:
                elimination.refused.append((case, answer))
                continue
            fits = np.abs(values - answer.value) <= elimination.tolerance * max(1.0, abs(answer.value))
            fitting = [c for c, fit in zip(fitting, fits, strict=True) if fit] or fitting
    return fitting


def _fitted(elimination: Elimination, fitting: list[Convention]) -> Probe:
    presets = _presets(fitting)
    values = {name: tuple(dict.fromkeys(getattr(c, name) for c in fitting)) for name in fitting[0].fields()}
    return Probe(
        convention=_simplest(fitting),
        conventions=tuple(fitting),
        presets=tuple(presets),
        undecided={name: several for name, several in values.items() if len(several) > 1},
        **_common(elimination, _simplest(fitting)),
    )


def _simplest(conventions: list[Convention]) -> Convention:
    """Return the convention of a preset if there is one, else that of the values which are tried first."""
    every = set(conventions)
    known_here = (
        c for kind in dict.fromkeys(map(type, conventions)) for c in known(kind, _cut(conventions[0])).values()
    )
    return next((convention for convention in known_here if convention in every), min(conventions, key=_rank))


def _presets(conventions: list[Convention]) -> tuple[str, ...]:
    """Name the presets that compute the same; those that order ties by docid may have been given any docids."""
    every, found = set(conventions), []
    for kind in dict.fromkeys(map(type, conventions)):
        for label, preset in known(kind, _cut(conventions[0])).items():
            by_docid = "docid" in str(getattr(preset, "ties", ""))
            alike = [preset.replace(ties=ties) for ties in ("input", "reverse")] if by_docid else [preset]
            if not every.isdisjoint(alike):
                found.append(
                    f"{label}@{'all' if _cut(preset) is None else _cut(preset)}" if has_cutoff(kind) else label
                )
    return tuple(found)


def _unexplained(elimination: Elimination, grades: tuple[float, ...]) -> Probe:
    nearest, explanation = diagnose(elimination, grades)
    steady = elimination.function.deterministic
    convention = None
    if nearest:
        empty = getattr(min(nearest, key=_rank), "empty", None)
        convention = _simplest([c for c in nearest if getattr(c, "empty", None) == empty])
    example = _example(elimination, convention) if convention is not None and steady else None
    alike = nearest if explanation == EXCEPTIONS[LONG] else []  # presets do not speak of such sorts
    return Probe(
        convention=None, conventions=(), presets=_presets(alike), undecided={},
        nearest=convention, example=example, explanation=explanation, **_common(elimination, None),
    )  # fmt: skip


def _example(elimination: Elimination, convention: Convention) -> Example | None:
    """Shrink the smallest case on which the function and a convention differ."""
    function = elimination.function

    def differs(case: Case) -> bool:
        answer, expected = function.ask(case), value_of(convention, case)
        if answer.problem or math.isnan(expected):
            return False
        return abs(answer.value - expected) > elimination.tolerance * max(1.0, abs(expected))

    different = [case for case in list(function.answers) if differs(case)]
    if not different:
        return None
    questions = min(QUESTIONS, int(SECONDS * function.calls / max(function.seconds, SECONDS / QUESTIONS)))
    case = shrunk(min(different, key=lambda case: len(case.labels)), differs, questions)
    return Example(
        labels=case.labels, scores=case.scores, group_sizes=case.sizes,
        value=function.ask(case).value, expected=value_of(convention, case),
    )  # fmt: skip


def _common(elimination: Elimination, convention: Convention | None) -> dict[str, Any]:
    function = elimination.function
    refused = list(_refusals(elimination, convention))
    if function.form != next(iter(FORMS)):
        refused.insert(0, Refused(what="numpy arrays", problem="raised an error", meaning=f"it takes {function.form}"))
    return {
        "refused": tuple(refused), "calls": function.calls,
        "tolerance": elimination.tolerance, "faults": tuple(function.faults),
    }  # fmt: skip


def _refusals(elimination: Elimination, convention: Convention | None) -> Iterator[Refused]:
    """Yield the kinds of data that the function has no number for, each once, and without what follows from another.

    Where the convention itself has no value, a refusal says nothing beside what its fields say.
    """
    if elimination.refused and not elimination.told:
        yield Refused(what="all data", problem=elimination.refused[0][1].problem, meaning=ALL_REFUSED)
        return
    first = {case.purpose: (case, answer) for case, answer in reversed(elimination.refused)}
    for purpose, (case, answer) in reversed(first.items()):
        implied = (case.traits(elimination.cutoff) & first.keys()) - {purpose}
        silent = convention is not None and math.isnan(value_of(convention, case))
        by_field = purpose == EMPTY or (purpose == SHORT and "short" in elimination.pool.groups[0].measure.fields())
        if not implied and (by_field or not silent):
            meaning = MEANINGS.get(purpose, "such data have no value")
            yield Refused(what=purpose, problem=answer.problem, meaning=meaning)


def _rank(convention: Convention) -> tuple[int, ...]:
    """Sort key: the values that are tried first are the simplest."""
    fields = convention.declared()
    return tuple(
        kind.tried.index(value) if (value := getattr(convention, name)) in kind.tried else len(kind.tried)
        for name, kind in fields.items()
    )


def _cut(convention: Convention) -> int | None:
    """Return the cutoff of a convention, if its measure has one."""
    cutoff: int | None = getattr(convention, "k", None)
    return cutoff
