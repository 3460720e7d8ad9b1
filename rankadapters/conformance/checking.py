"""Check an implementation against the vectors of a convention."""

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
from rankadapters.presets.texts import as_convention
from rankadapters.statistics.probing.answers import TAKES, Function, Reply
from rankadapters.statistics.probing.cases import Case, value_of
from rankadapters.statistics.probing.diagnosis import at_actual_cutoff, diagnose
from rankadapters.statistics.probing.examination import examine, grades_of

SAME = 1e-12  # the order of summation changes a value by less than this


def check(
    function: Callable[..., Any],
    convention: Convention | str,
    *,
    takes: str,
    labels: Sequence[float] | None = None,
    tolerance: float = 1e-9,
) -> Conformance:
    """Run an implementation on the vectors of a convention, and report the fields that it computes differently.

    Parameters
    ----------
    function : callable
        The implementation; it receives numpy arrays and returns a number. If the convention has no value, it must
        raise an error or return None or NaN.
    convention : Convention or str
        The convention that it should compute.
    takes : {"query", "queries", "groups"}
        How it is called: `function(labels, scores)` for one query, `function(labels, scores, qid)` with the query of
        each row, or `function(labels, scores, group_sizes)` with the rows of each query.
    labels : sequence of float, optional
        The grades that it accepts, as in `vectors`.
    tolerance : float, default 1e-9
        The largest difference that counts as equal, relative for values above 1. Use 1e-6 for float32 arithmetic.

    Returns
    -------
    Conformance
        The cases that fail, and the fields or the mistake that explain the failures.

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
    declared, tolerance = as_convention(convention), number("tolerance", tolerance, least=0)
    tested = Function(function, choice("takes", takes, TAKES))
    usable = [v for v in vectors(declared, labels=labels).vectors if len(v.group_sizes) <= tested.n_queries]
    answers = [tested.ask(vector.case) for vector in usable]
    for vector in reversed(usable):
        tested.repeat(vector.case)
    failures = [
        Failure(id=i, vector=v, answer=None if math.isnan(a.value) else a.value, problem=a.problem)
        for i, (v, a) in enumerate(zip(usable, answers, strict=True), 1)
        if _is_wrong(v, a, tolerance)
    ]
    explicable = any(f.answer is not None for f in failures) and not tested.faults
    fields, explanation = _explain(tested, declared, labels, tolerance) if explicable else ({}, "")
    return Conformance(
        convention=declared, n_cases=len(usable), failures=tuple(failures), fields=fields,
        explanation=explanation, faults=tuple(tested.faults),
    )  # fmt: skip


def _is_wrong(vector: Vector, answer: Reply, tolerance: float) -> bool:
    if vector.value is None or answer.problem:
        return not answer.problem or (vector.value is not None and not vector.optional)
    return abs(answer.value - vector.value) > tolerance * max(1.0, abs(vector.value))


def _explain(
    function: Function, convention: Convention, labels: Sequence[float] | None, tolerance: float
) -> tuple[dict[str, tuple[Any, Any]], str]:
    """Probe a function that fails: return the fields that it computes differently, or the mistake that it makes."""
    grades, k = grades_of(function, labels), getattr(convention, "k", None)
    elimination = examine(function, (type(convention),), k, grades, tolerance)
    if not elimination.remaining:
        elimination = at_actual_cutoff(elimination, grades) or elimination
    if not elimination.fits:
        return {}, diagnose(elimination, grades)[1]
    computed = min(elimination.pool.members(elimination.remaining), key=lambda c: len(convention.diff(c)))
    cases = [case for case, answer in function.answers.items() if not answer.problem]
    return {name: v for name, v in convention.diff(computed).items() if _matters(computed, name, v[0], cases)}, ""


def _matters(computed: Convention, name: str, declared: object, cases: list[Case]) -> bool:
    """Return whether values change if one field of the computed convention gets its declared value."""
    try:
        variant = computed.replace(**{name: declared})
    except ConventionError:
        return True
    values, variant_values = ([value_of(c, case) for case in cases] for c in (computed, variant))
    return not np.allclose(values, variant_values, rtol=0, atol=SAME, equal_nan=True)
