"""The search: every convention of the grid, computed with what they share, held against a printed number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.audit.field_grid import Values, grid
from rankadapters.audit.identify.policy_means import Outcomes, Policies
from rankadapters.audit.identify.rank_sums import Cutoffs, Ranks, gains_by_rank
from rankadapters.audit.printed import Printed
from rankadapters.core.columns import Array
from rankadapters.core.errors import InputError
from rankadapters.core.gains import gains_of
from rankadapters.core.lowering import Bound
from rankadapters.core.measures import NDCG
from rankadapters.core.queries import Queries

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Progress = Callable[[int, int], object]

SLACK = 1e-9  # sums here are not exact: what comes close is evaluated

_BASE = NDCG(
    k=None, gain="exp2", discount="log2", ideal="cutoff", ties="input", precision="float64", short="pad", empty="skip",
    missing="skip", unjudged="zero", average="query",
)  # fmt: skip

Block = dict[str, tuple[Any, ...]]  # conventions: each combination of these values, which give every query one value


@dataclass(slots=True)
class Found:
    """What the search found.

    Attributes
    ----------
    groups : dict
        By what every query's value is: the blocks of conventions that give these values.
    nearest : (float, Block)
        The smallest distance to the printed number, and who has it.
    left_out : list of str
        What could not be searched, and why.
    """

    groups: dict[object, list[Block]] = field(default_factory=dict)
    nearest: tuple[float, Block] = (np.inf, {})
    left_out: list[str] = field(default_factory=list)


class Ranked(NamedTuple):
    """Conventions that rank the same gains in the same order."""

    gains: Floats
    ties: list[tuple[str, str]]  # ties and precision


def search(
    queries: Queries, scores: Array, printed: Printed, cutoffs: Cutoffs, progress: Progress | None = None
) -> Found:
    """Hold every convention of the grid at every cutoff against a printed number."""
    with np.errstate(over="ignore", invalid="ignore"):  # an ideal DCG that overflows is left out
        return _search(queries, scores, printed, cutoffs, progress)


def _search(queries: Queries, scores: Array, printed: Printed, cutoffs: Cutoffs, progress: Progress | None) -> Found:
    found, values = Found(), grid(NDCG, queries)
    if "docid-ascending" not in values["ties"]:
        found.left_out.append("ties=docid-descending and docid-ascending were not searched: there are no docids")
    if queries.query_weight is not None:
        found.left_out.append("average=uniform was not searched: there are query weights")
    ties = [(str(order), precision) for precision in _precisions(scores, found) for order in values["ties"]]
    tasks = [
        (gain, unjudged) for gain in _gain_classes(queries, values["gain"], found) for unjudged in _unjudged(queries)
    ]
    for number, ((gain_names, row_gains), unjudged) in enumerate(tasks):
        shared = {"gain": gain_names, "unjudged": unjudged}
        _search_gain(queries, row_gains, ties, scores, _Goal(printed, cutoffs, shared, found))
        if progress is not None:
            progress(number + 1, len(tasks))
    return found


class _Goal(NamedTuple):
    printed: Printed
    cutoffs: Cutoffs
    shared: Block
    found: Found


def _search_gain(queries: Queries, row_gains: Floats, ties: list[tuple[str, str]], scores: Array, goal: _Goal) -> None:
    """Search all conventions of one gain and one treatment of unjudged rows."""
    base = _base(goal.shared["gain"][0], goal.shared["unjudged"][0])
    bound = Bound(queries, None)
    retrieved = bound.retrieved(base.unjudged).sizes
    policies = Policies.of(queries, retrieved, bound.judged.sizes, goal.cutoffs)
    ranks, rankings = Ranks.of(retrieved), _rankings(bound, base, ties, scores)
    for discount in grid(NDCG, queries)["discount"]:
        ideals = list(_ideals(bound, row_gains, str(discount), retrieved, goal.cutoffs))
        for ranked in rankings:
            dcg = ranks.dcg(ranked.gains, str(discount), goal.cutoffs)
            for names, ideal, usable in ideals:
                fields = {**goal.shared, "discount": (discount,), "ideal": names}
                finite = usable & np.isfinite(ideal).all(axis=0)
                _collect(policies.outcomes(dcg, ideal, finite), fields, ranked, goal)


def _collect(outcomes: Outcomes, fields: Block, ranked: Ranked, goal: _Goal) -> None:
    """Keep the means that come close to the printed number, and the nearest of all."""
    distances = np.abs(outcomes.values - float(goal.printed.value))
    least = float(np.fmin.reduce(distances, axis=None))  # passes over NaN
    if least < goal.found.nearest[0]:
        number, column = np.argwhere(distances == least)[0].tolist()
        [block] = _blocks(outcomes.fields(number, column), fields, ranked.ties[:1], goal.cutoffs[column])
        goal.found.nearest = (least, block)
    for number, column in np.argwhere(distances <= float(goal.printed.half) + SLACK).tolist():
        blocks = _blocks(outcomes.fields(number, column), fields, ranked.ties, goal.cutoffs[column])
        goal.found.groups.setdefault(outcomes.key(number, column), []).extend(blocks)


def _blocks(policies: Block, fields: Block, ties: list[tuple[str, str]], k: int | None) -> list[Block]:
    chosen = {**fields, **policies, **({"short": ("pad",)} if k is None else {})}
    return [{"k": (k,), **chosen, "ties": (order,), "precision": (precision,)} for order, precision in ties]


def _base(gain: object, unjudged: object) -> NDCG:
    return _BASE.replace(gain=gain, unjudged=unjudged)


def _precisions(scores: Array, found: Found) -> tuple[str, ...]:
    with np.errstate(over="ignore", invalid="ignore"):
        beyond = bool((np.isinf(scores.astype(np.float32)) & np.isfinite(scores)).any())
    if beyond:
        found.left_out.append("precision=float32 was not searched: a score is beyond float32")
    return ("float64",) if beyond else ("float64", "float32")


def _unjudged(queries: Queries) -> list[Values]:
    """Treatments of unjudged rows that differ on this data."""
    retrieved = np.ones(queries.n_docs, np.bool_) if queries.retrieved is None else queries.retrieved
    if queries.judged is None or not (retrieved & ~queries.judged).any():
        return [("error", "zero", "drop")]
    return [("zero",), ("drop",)]


def _gain_classes(queries: Queries, gains: Values, found: Found) -> list[tuple[Values, Floats]]:
    """Gains that differ on these labels, each with what its rows are worth."""
    classes: dict[bytes, tuple[list[Any], Floats]] = {}
    for gain in gains:
        try:
            row_gains = gains_of(queries.labels, queries.judged, str(gain))
            Bound(queries, None).ideal_dcg(_base(gain, "zero"))  # refuses one that overflows
        except InputError as error:
            why = str(error).partition("\n")[0]
            found.left_out.append(f"gain={gain} was not searched: {why}")
            continue
        classes.setdefault((row_gains + 0.0).tobytes(), ([], row_gains))[0].append(gain)
    return [(tuple(names), row_gains) for names, row_gains in classes.values()]


def _rankings(bound: Bound, base: NDCG, ties: list[tuple[str, str]], scores: Array) -> list[Ranked]:
    """Orders of ties and precisions that differ on these scores."""
    found: dict[bytes, Ranked] = {}
    for order, precision in ties:
        convention = base.replace(ties=order, precision=precision)
        compared = scores.astype(np.float32) if precision == "float32" else scores
        gains = gains_by_rank(bound.ranked(convention, bound.gains(base.gain)), compared)
        found.setdefault(gains.tobytes(), Ranked(gains, [])).ties.append((order, precision))
    return list(found.values())


def _ideals(
    bound: Bound, row_gains: Floats, discount: str, retrieved: NDArray[np.int64], cutoffs: Cutoffs
) -> Iterator[tuple[Values, Floats, Flags]]:
    """Ideal DCG at each cutoff for the choices of `ideal` that differ here, and the cutoffs at which they are one."""
    queries = bound.queries
    judged = np.ones(queries.n_docs, np.bool_) if queries.judged is None else queries.judged
    rows = np.flatnonzero(judged)
    query = queries.query_of_row[rows]
    ranked = row_gains[rows][np.lexsort((-row_gains[rows], query))]
    ranks = Ranks.of(bound.judged.sizes)
    every = np.ones(len(cutoffs), np.bool_)
    alike = bool((retrieved >= bound.judged.sizes).all())
    yield ("cutoff", "retrieved") if alike else ("cutoff",), ranks.dcg(ranked, discount, cutoffs), every
    if not alike:
        yield ("retrieved",), ranks.dcg(ranked, discount, cutoffs, upto=retrieved), every
    # Without a cutoff the list is not cut at any rate.
    whole = ranks.dcg(ranked, discount, (None,))
    yield ("all",), np.repeat(whole, len(cutoffs), axis=1), np.array([k is not None for k in cutoffs])
