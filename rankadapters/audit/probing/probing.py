"""Find out which convention a function computes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from rankadapters.audit.probing.report import Example, Probe, Refused
from rankadapters.core.declaration.arguments import choice, names, number, refusal
from rankadapters.core.declaration.convention import Convention
from rankadapters.statistics.grid import has_cutoff, measure_named
from rankadapters.statistics.known_presets import presets_by_label
from rankadapters.statistics.probing.answers import FORMS, TAKES, Function
from rankadapters.statistics.probing.case_maker import unusual_label_cases
from rankadapters.statistics.probing.cases import EMPTY, LONG, NEGATIVE, ONE_DOCUMENT, SHORT, Case, value_of
from rankadapters.statistics.probing.diagnosis import diagnose
from rankadapters.statistics.probing.elimination import Elimination, values_of
from rankadapters.statistics.probing.examination import as_cutoff, examine, find_cutoff, grades_of
from rankadapters.statistics.probing.mistakes import EXCEPTIONS
from rankadapters.statistics.probing.shrinking import shrink

QUESTIONS, SECONDS = 400, 5.0  # limits on the function's calls, and on their time, for shrinking an example

MEANINGS = {
    EMPTY: "empty='error', or empty='skip' if no query is left to average",
    ONE_DOCUMENT: "you have to leave out queries of one document, or set their value yourself",
    SHORT: "you have to leave out shorter queries, as short='skip' does",
    NEGATIVE: "scores have to be positive",
}
ALL_REFUSED = "pass a function of labels and scores that returns one number; check takes= and labels="
UNKNOWN = "unknown"  # the value of k that makes `probe` find the cutoff


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

    Parameters
    ----------
    function : callable
        The function that computes the metric; it receives numpy arrays and returns a number.
    takes : {"query", "queries", "groups"}
        How it is called: `function(labels, scores)` for one query, `function(labels, scores, qid)` with the query of
        each row, or `function(labels, scores, group_sizes)` with the rows of each query.
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
        The convention; or, if none fits, the nearest one and the smallest example that shows the difference.

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
    """
    if not callable(function):
        raise refusal("function", function, "callables", "a function of labels and scores")
    tested = Function(function, choice("takes", takes, TAKES))
    kinds = tuple(map(measure_named, names("measures", measures)))
    tolerance = number("tolerance", tolerance, least=0)
    unknown = isinstance(k, str) and k == UNKNOWN
    cutoff = None if unknown else as_cutoff(k)
    grades = grades_of(tested, labels)
    if unknown:
        cutoff = find_cutoff(tested, grades)
    elimination = examine(tested, kinds, cutoff, grades, tolerance)
    if elimination.fits and tested.deterministic:
        fitting = _with_refusals(elimination, elimination.pool.members(elimination.remaining))
        return _fitted(elimination, fitting if labels is not None else _by_other_labels(elimination, fitting))
    return _unexplained(elimination, grades)


def _with_refusals(elimination: Elimination, fitting: list[Convention]) -> list[Convention]:
    """Set `empty` or `short` to "error" or "skip" if the function returned no number for empty or short queries."""
    refused = {case.purpose for case, _ in elimination.refused}
    single = elimination.function.takes == "query"
    policies = {
        EMPTY: ("empty", ("error", "skip") if single else ("error",)),
        SHORT: ("short", ("skip",) if single else ()),
    }
    for field, values in [policies[purpose] for purpose in policies if purpose in refused]:
        if values and field in fitting[0].fields():
            fitting = [convention.replace(**{field: value}) for convention in fitting for value in values]
    return list(dict.fromkeys(fitting))


def _by_other_labels(elimination: Elimination, fitting: list[Convention]) -> list[Convention]:
    """Rule out conventions by answers for fractional and negative labels; ignore answers that no convention fits."""
    for case in unusual_label_cases(elimination.cutoff, elimination.function.n_queries):
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
        undecided={name: options for name, options in values.items() if len(options) > 1},
        **_common(elimination, _simplest(fitting)),
    )


def _simplest(conventions: list[Convention]) -> Convention:
    """Return the first convention that is a preset; if none is, the one with the simplest field values."""
    candidates, kinds, cutoff = set(conventions), dict.fromkeys(map(type, conventions)), _cutoff(conventions[0])
    presets = (preset for kind in kinds for preset in presets_by_label(kind, cutoff).values())
    return next((preset for preset in presets if preset in candidates), min(conventions, key=_simplicity))


def _presets(conventions: list[Convention]) -> tuple[str, ...]:
    """Return the names of the presets among the conventions; docids may be in row order or in reverse row order."""
    candidates, labels = set(conventions), []
    for kind in dict.fromkeys(map(type, conventions)):
        for label, preset in presets_by_label(kind, _cutoff(conventions[0])).items():
            by_docid = "docid" in str(getattr(preset, "ties", ""))
            alike = [preset.replace(ties=ties) for ties in ("input", "reverse")] if by_docid else [preset]
            if not candidates.isdisjoint(alike):
                k = "all" if _cutoff(preset) is None else _cutoff(preset)
                labels.append(f"{label}@{k}" if has_cutoff(kind) else label)
    return tuple(labels)


def _unexplained(elimination: Elimination, grades: tuple[float, ...]) -> Probe:
    nearest, explanation = diagnose(elimination, grades)
    convention = None
    if nearest:
        empty = getattr(min(nearest, key=_simplicity), "empty", None)
        convention = _simplest([c for c in nearest if getattr(c, "empty", None) == empty])
    deterministic = elimination.function.deterministic
    example = _example(elimination, convention) if convention is not None and deterministic else None
    alike = nearest if explanation == EXCEPTIONS[LONG] else []  # no preset models an unstable sort: ignore its effect
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

    differing = [case for case in list(function.answers) if differs(case)]
    if not differing:
        return None
    questions = min(QUESTIONS, int(SECONDS * function.calls / max(function.seconds, SECONDS / QUESTIONS)))
    case = shrink(min(differing, key=lambda case: len(case.labels)), differs, questions)
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
    """Yield each kind of data for which the function returned no number, unless another kind already implies it.

    A refusal is left out if the convention has no value for such data either, unless a field decides about such data.
    """
    if elimination.refused and not elimination.values:
        yield Refused(what="all data", problem=elimination.refused[0][1].problem, meaning=ALL_REFUSED)
        return
    first = {case.purpose: (case, answer) for case, answer in reversed(elimination.refused)}
    for purpose, (case, answer) in reversed(first.items()):
        implied = (case.traits(elimination.cutoff) & first.keys()) - {purpose}
        no_value = convention is not None and math.isnan(value_of(convention, case))
        by_field = purpose == EMPTY or (purpose == SHORT and "short" in elimination.pool.groups[0].measure.fields())
        if not implied and (by_field or not no_value):
            meaning = MEANINGS.get(purpose, "such data have no value")
            yield Refused(what=purpose, problem=answer.problem, meaning=meaning)


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
