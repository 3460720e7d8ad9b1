"""Checking an implementation by the vectors of a convention."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rankadapters.conformance.report import Conformance, Failure
from rankadapters.conformance.vectors import Vector, vectors
from rankadapters.core.declaration.arguments import choice, number, refusal
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.core.presets.texts import as_convention
from rankadapters.statistics.probing.answers import TAKES, Function, Reply
from rankadapters.statistics.probing.cases import Case, value_of
from rankadapters.statistics.probing.diagnosis import at_other_cutoff, diagnose
from rankadapters.statistics.probing.examination import examine, grades_of

SAME = 1e-12  # the difference of sums in another order


def check(
    function: Callable[..., Any],
    convention: Convention | str,
    *,
    takes: str,
    labels: Sequence[float] | None = None,
    tolerance: float = 1e-9,
) -> Conformance:
    """Ask an implementation about the vectors of a convention, and say by field what is wrong.

    Parameters
    ----------
    function : callable
        The implementation; it gets numpy arrays and returns a number. Where the convention has no value it has to
        raise, or to return None or NaN.
    convention : Convention or str
        What it should compute.
    takes : {"query", "queries", "groups"}
        How it is called: `function(labels, scores)` for one query, `function(labels, scores, qid)` with the query of
        each row, or `function(labels, scores, group_sizes)` with the rows of each query.
    labels : sequence of float, optional
        The grades that it accepts, as in `vectors`.
    tolerance : float, default 1e-9
        The largest difference, relative to values above 1, that counts as none; 1e-6 for what computes in float32.

    Returns
    -------
    Conformance
        Which cases fail, and which field or mistake explains it.

    Raises
    ------
    InputError
        An argument is wrong.
    ConventionError
        The convention cannot be computed from labels and scores alone.

    Examples
    --------
    >>> import numpy as np
    >>> import rankadapters as ra
    >>> def hits(labels, scores):
    ...     return np.mean(labels[np.argsort(-scores, kind="stable")[:3]] > 0)
    >>> ra.conformance.check(hits, "letor4.p@3", takes="query").fields
    {'divisor': ('k', 'retrieved')}
    """
    if not callable(function):
        raise refusal("function", function, "callables", "a function of labels and scores")
    declared, bound = as_convention(convention), number("tolerance", tolerance, least=0)
    asked = Function(function, choice("takes", takes, TAKES))
    vectors_here = [v for v in vectors(declared, labels=labels).vectors if len(v.group_sizes) <= asked.n_queries]
    answers = [asked.ask(vector.case) for vector in vectors_here]
    for vector in reversed(vectors_here):
        asked.repeat(vector.case)
    failures = [
        Failure(id=i, vector=v, answer=None if math.isnan(a.value) else a.value, problem=a.problem)
        for i, (v, a) in enumerate(zip(vectors_here, answers, strict=True), 1)
        if _wrong(v, a, bound)
    ]
    explicable = any(f.answer is not None for f in failures) and not asked.faults
    fields, explanation = _why(asked, declared, labels, bound) if explicable else ({}, "")
    return Conformance(
        convention=declared, n_cases=len(vectors_here), failures=tuple(failures), fields=fields,
        explanation=explanation, faults=tuple(asked.faults),
    )  # fmt: skip


def _wrong(vector: Vector, answer: Reply, tolerance: float) -> bool:
    """Tell whether an answer is not the one of the convention."""
    if vector.value is None or answer.problem:
        return not answer.problem or (vector.value is not None and not vector.optional)
    return abs(answer.value - vector.value) > tolerance * max(1.0, abs(vector.value))


def _why(
    function: Function, convention: Convention, labels: Sequence[float] | None, tolerance: float
) -> tuple[dict[str, tuple[Any, Any]], str]:
    """Probe a function that fails: return the fields whose other values explain its answers, or else a mistake."""
    grades, k = grades_of(function, labels), getattr(convention, "k", None)
    elimination = examine(function, (type(convention),), k, grades, tolerance)
    if not elimination.left:
        elimination = at_other_cutoff(elimination, grades) or elimination
    if not elimination.fits:
        return {}, diagnose(elimination, grades)[1]
    computed = min(elimination.pool.members(elimination.left), key=lambda other: len(convention.diff(other)))
    cases = [case for case, answer in function.answers.items() if not answer.problem]
    return {name: v for name, v in convention.diff(computed).items() if _shows(computed, name, v[0], cases)}, ""


def _shows(computed: Convention, name: str, declared: object, cases: list[Case]) -> bool:
    """Tell whether the declared value of a field gives other values than the computed convention has."""
    try:
        other = computed.replace(**{name: declared})
    except ConventionError:
        return True
    values, others = ([value_of(convention, case) for case in cases] for convention in (computed, other))
    return not np.allclose(values, others, rtol=0, atol=SAME, equal_nan=True)
