"""Why two conventions give two numbers: the gap split over the fields in which they differ."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

import numpy as np

from rankadapters.audit.explanation.explanation import Explanation
from rankadapters.audit.explanation.shapley import split, split_columns, subsets
from rankadapters.core.data.columns import Floats
from rankadapters.core.data.keywords import Columns
from rankadapters.core.data.queries import Queries, as_queries
from rankadapters.core.declaration import arguments
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.evaluation.panel import Measured, Panel
from rankadapters.core.evaluation.score import Score
from rankadapters.core.presets.texts import as_convention
from rankadapters.core.presets.tool import as_text
from rankadapters.progress import shows
from rankadapters.statistics.grid import REFUSAL


@shows("explaining")
def explain(
    labels: object,
    scores: object,
    a: Convention | str,
    b: Convention | str,
    *,
    top: int = 10,
    n_threads: int | None = None,
    **columns: Unpack[Columns],
) -> Explanation:
    """Split the gap between two conventions over the fields in which they differ.

    Each field's part is its Shapley value over all mixtures of the two conventions: what taking the field from `b`
    changes, averaged over all orders in which the fields can be taken. A mixture is `a.replace(...)` with some fields
    of `b`, and its worth is what `evaluate` gives under it. Mixtures that mean the same (with `k=None` a query is never
    short) are one convention and have one value.

    A convention may refuse this data by a policy `error`, as `sklearn` refuses rows without judgment. Where the other
    convention does not, its value of that field is taken for both, and `Explanation.set_aside` says so.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels.
    scores : array-like, shape (n_docs,)
        Predicted scores, higher is better.
    a, b : Convention or str
        Of one measure.
    top : int
        How many queries the printed forms show; `Explanation.per_query` has all.
    n_threads : int, optional
        None takes all CPUs.
    qid, group_sizes, query_weight, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    Explanation
        Its `contributions` add up to `b.value - a.value`. Where the value under some mixture is not a sum over the
        queries (a geometric mean, or all rows as one query) there are these totals only, and `per_query` is None.

    Raises
    ------
    ConventionError
        The conventions are of two measures, whose values are in different units, or a mixture is not a convention.
    InputError
        A convention, or a mixture of the two, has no value on this data for another reason than a policy `error` of
        one of them.

    References
    ----------
    Shapley (1953), A value for n-person games.

    Examples
    --------
    >>> import rankadapters as ra
    >>> found = explain([0, 2, 0], [1, 0, 1], ra.presets.yahoo(2), ra.presets.letor4(2), group_sizes=[2, 1])
    >>> {name: round(part, 6) for name, part in found.contributions.items()}
    {'gain': 0.0, 'discount': 0.184535, 'short': -0.25, 'empty': -0.25}
    """
    a, b = as_convention(a), as_convention(b)
    _require_one_measure(a, b)
    top = arguments.whole("top", top, least=0, hint="top=10")
    queries = as_queries(labels, **columns)
    try:
        return explained(queries, scores, (a, b), top=top, n_threads=n_threads)
    except InputError:
        (a, one), (b, other) = _lenient(queries, scores, a, b), _lenient(queries, scores, b, a)
        if not one and not other:
            raise
    found = explained(queries, scores, (a, b), top=top, n_threads=n_threads)
    return replace(found, set_aside=_told("a", one) | _told("b", other))


def explained(
    queries: Queries,
    scores: object,
    pair: tuple[Convention, Convention],
    *,
    known: Measured | None = None,
    top: int = 10,
    n_threads: int | None = None,
) -> Explanation:
    """Explain as `explain` does, without computing once more what was measured of these scores."""
    a, b = pair
    differing = list(a.diff(b))
    mixed = {names: _mixture(a, b, names) for names in subsets(differing)}
    mixed |= {(): a, tuple(differing): b}  # with their names
    found, worth = _evaluate(queries, scores, mixed, known, n_threads)
    parts = split_columns(np.stack([worth[convention] for convention in mixed.values()])) if worth else ()
    return Explanation(
        a=found[()], b=replace(found[tuple(differing)], convention=b),
        contributions=dict(zip(differing, split([score.value for score in found.values()]), strict=True)),
        mixtures=found, query_ids=queries.query_ids,
        per_query=dict(zip(differing, parts, strict=True)) if worth else None, top=top,
    )  # fmt: skip


def _lenient(
    queries: Queries, scores: object, convention: Convention, other: Convention
) -> tuple[Convention, dict[str, tuple[object, str]]]:
    """Take the other convention's value of each policy `error` that refuses the data; say which, and why."""
    taken = {
        name: value
        for name, (mine, value) in convention.diff(other).items()
        if mine == REFUSAL and name in other.fields()
    }
    lenient = convention.replace(**taken)
    if _refusal(queries, scores, lenient) is not None:
        return convention, {}
    refusals: dict[str, tuple[object, str]] = {}
    for name, value in taken.items():
        strict = lenient.replace(**{name: REFUSAL})
        why = _refusal(queries, scores, strict)
        if why is None:
            lenient = strict
        else:
            refusals[name] = value, why
    return lenient, refusals


def _refusal(queries: Queries, scores: object, convention: Convention) -> str | None:
    """Say why a convention has no value on this data; None where it has one."""
    try:
        Panel(queries, [convention]).evaluate(scores)
    except InputError as error:
        return str(error).partition("\n")[0]
    return None


def _told(which: str, refusals: dict[str, tuple[object, str]]) -> dict[str, str]:
    """Write, by field, which convention refuses the data, and what is taken for both."""
    return {
        name: f"{which} says {name}={REFUSAL!r} and refuses this data: {why.rstrip('.')}. "
        f"Both are explained with {name}={as_text(value)}."
        for name, (value, why) in refusals.items()
    }


Mixtures = dict[tuple[str, ...], Convention]


def _mixture(a: Convention, b: Convention, names: tuple[str, ...]) -> Convention:
    try:
        return a.replace(**{name: getattr(b, name) for name in names})
    except ConventionError as error:
        why = str(error).partition("\n")[0]
        msg = (
            f"a with {', '.join(names)} of b is not a convention: {why}\n"
            "Hint: explain in two steps, over a convention between the two that avoids this mixture."
        )
        raise ConventionError(msg) from None


def _require_one_measure(a: Convention, b: Convention) -> None:
    if a.measure != b.measure:
        msg = (
            f"{a.measure} and {b.measure} are different measures, "
            "whose values are in different units: the gap between them has no parts.\n"
            "Hint: two conventions of one measure."
        )
        raise ConventionError(msg)


def _evaluate(
    queries: Queries, scores: object, mixed: Mixtures, known: Measured | None, n_threads: int | None
) -> tuple[dict[tuple[str, ...], Score], dict[Convention, Floats]]:
    """Score of each mixture, and what each query adds to it; the latter is empty where one is not a sum over them."""
    given = {} if known is None else known.scores
    unknown = [convention for convention in mixed.values() if convention not in given]
    passes = [] if known is None else [known.under(mixed.values())]
    try:
        if unknown:
            passes.append(Panel(queries, unknown, n_threads=n_threads).measure(scores))
        found = {convention: score for each in passes for convention, score in each.scores.items()}
    except InputError as error:
        raise _about_a_mixture(error, queries, scores, mixed) from None
    shares: dict[Convention, Floats] = {}
    if all(convention.is_sum for convention in mixed.values()):
        shares = {convention: share for each in passes for convention, share in each.shares.items()}
    return {names: found[convention] for names, convention in mixed.items()}, shares


def _about_a_mixture(error: InputError, queries: Queries, scores: object, mixed: Mixtures) -> InputError:
    """Say which mixture has no value, where both conventions have one."""
    ends = [(), max(mixed, key=len)]
    for names in [*ends, *mixed]:
        try:
            Panel(queries, [mixed[names]]).evaluate(scores)
        except InputError as found:
            if names in ends:
                return found
            why = str(found).partition("\n")[0]
            return InputError(
                f"a with {', '.join(names)} of b has no value on this data: {why}\n"
                "Hint: explain in two steps, over a convention between the two that avoids this mixture.",
                row=found.row,
            )
    return error
