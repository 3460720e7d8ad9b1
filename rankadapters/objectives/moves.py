"""What a measure brings to objectives that move rows by rank: worths, discounts, divisors, and how they add up."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from rankadapters.core.binding.gains import discounts_of
from rankadapters.core.binding.plans import RankedPlan
from rankadapters.core.binding.policies import refuse_ignored
from rankadapters.core.data.columns import Array, Floats
from rankadapters.core.data.queries import Queries
from rankadapters.core.data.rows import Rows
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.spelling import border
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.evaluation.members import bind
from rankadapters.core.kernels import COMPUTE
from rankadapters.core.measures import AP, DCG, ERR, NDCG, RR, FilteredDCG
from rankadapters.objectives.base import require_fixed_ideal
from rankadapters.objectives.bound_gradients import all_rows
from rankadapters.objectives.kernels.stochastic_filter import Filtered
from rankadapters.objectives.kernels.stochastic_rank import CASCADE, DISCOUNTED, SHARE_OF_FOUND
from rankadapters.objectives.row_worth import worth_of

LARGEST_GAIN = 1e30  # gradients are float32
NOTHING = np.zeros(0)


class Moves(NamedTuple):
    """What the rows of each query are worth at their ranks; arrays follow `rows`."""

    rows: Rows
    worth: Floats  # gain, chance to stop, or relevance
    rest: Floats  # chance to go on; empty where nobody stops
    inverse: Floats  # of what each query is divided by; 0 where it has no gradient
    discounts: Floats  # of every rank and one more, 0 beyond the cutoff
    k: int
    kind: int


def moves_of(queries: Queries, convention: Convention) -> Moves:
    """Lower a convention for moves by rank."""
    refuse_ignored([convention], queries)
    # A gradient needs no value of an empty or missing query, and noise leaves no ties.
    lenient = {"ties": "input", "missing": "zero"} | ({"empty": 0} if "empty" in convention.fields() else {})
    [member] = bind(queries, [convention.replace(**lenient)])
    plan = cast("RankedPlan", member.plan)
    computed = member.settled.status == COMPUTE
    kind, move, *_ = worth_of(convention)
    # By what no move changes; a DCG has divisors of 1.
    divided = bool(plan.by_query) and move != SHARE_OF_FOUND and type(convention) is not DCG
    divisors = next(iter(plan.by_query.values())) if divided else np.ones(queries.n_queries)
    inverse = np.where(computed, 1.0 / np.where(computed, divisors, 1.0), 0.0)
    worth = plan.columns["ranked"].values.astype(np.float64)
    discounts = _cut(plan, plan.by_rank["discounts"] if plan.by_rank else discounts_of("reciprocal", plan.k))
    if kind == "chance":
        worth = worth / cast("ERR", convention).scale
        _refuse_labels(queries, plan.rows, worth, (worth < 0) | (worth > 1), "is taken for a probability")
    elif isinstance(convention, DCG):  # undivided gains
        _refuse_labels(queries, plan.rows, worth, np.abs(worth) > LARGEST_GAIN, "is a gain beyond float32")
    rest = 1.0 - worth if move == CASCADE else NOTHING
    if getattr(convention, "complement", "float64") == "float32":
        rest = rest.astype(np.float32).astype(np.float64)
    return Moves(plan.rows, worth, rest, inverse, discounts, plan.k, move)


def filtered_rows(queries: Queries, convention: FilteredDCG) -> Filtered:
    """Lower a convention for rows that are kept by chance."""
    refuse_ignored([convention], queries)
    [member] = bind(queries, [convention.replace(missing="zero")])
    plan = cast("RankedPlan", member.plan)
    word, threshold = border(convention.retrieve) or ("from", 0.0)
    active = (member.settled.status == COMPUTE) & (plan.rows.sizes > 0)
    gains = plan.columns["ranked"].values.astype(np.float64)
    discounts = _cut(plan, plan.by_rank["discounts"])
    return Filtered(plan.rows.order, plan.rows.indptr, gains, discounts, active, threshold, word == "above")


def labels_alone(queries: Queries) -> Moves:
    """Take the labels for worths, and every query."""
    rows = all_rows(queries)
    labels = rows.take(queries.labels)
    return Moves(rows, labels, NOTHING, np.ones(queries.n_queries), NOTHING, queries.n_docs, DISCOUNTED)


def _cut(plan: RankedPlan, discounts: Floats) -> Floats:
    """Discounts of all ranks and one more, of which those beyond the cutoff are 0."""
    rest = max(int(plan.rows.sizes.max(initial=1)) - plan.k, 0) + 1
    return np.concatenate([discounts[: plan.k], np.zeros(rest)])


def _refuse_labels(queries: Queries, rows: Rows, worth: Floats, bad: Array, what: str) -> None:
    if not bad.any():
        return
    place = int(np.argmax(bad))
    row = int(rows.order[place]) if rows.order.size else place
    allowed = "those lie in [0, 1]" if "probability" in what else f"allowed are gains up to {LARGEST_GAIN:g}"
    msg = f"labels[{row}] is {queries.labels[row]:g}, whose worth {worth[place]:g} {what}; {allowed}."
    raise InputError(f"{msg}\nHint: map your labels, or declare gain= and scale= of the convention.", row=row)


def require_moves(who: str, convention: object) -> None:
    """Refuse a convention whose change under a move is not known."""
    if not isinstance(convention, NDCG | DCG | ERR | RR | AP):
        msg = f"{who} needs a convention of NDCG, DCG, ERR, RR or AP, not {convention}."
        raise ConventionError(f"{msg}\nHint: ra.presets.textbook(10); PFound is ra.presets.catboost.pfound(10).")
    require_fixed_ideal(who, convention)
    fields = convention.to_dict()
    for name, wanted in (("retrieve", "all"), ("pool", "queries")):
        if fields.get(name, wanted) != wanted:
            msg = f"{who} moves the rows of a query by rank, but the convention says {name}={fields[name]!r}."
            raise ConventionError(f"{msg}\nHint: convention.replace({name}={wanted!r}).")
    if convention.average == "row":
        msg = f"{who} counts rows by 1, but the convention says average='row'."
        raise ConventionError(f"{msg}\nHint: convention.replace(average='query').")


def require_filter(convention: object) -> None:
    """Refuse a convention that keeps all rows, or orders those that it keeps by their scores."""
    if not isinstance(convention, FilteredDCG):
        msg = f"StochasticFilter needs a convention of FilteredDCG, not {convention}."
        raise ConventionError(f"{msg}\nHint: ra.presets.catboost.filtered_dcg().")
    if convention.precision != "none":
        msg = f"StochasticFilter keeps rows in their own order, but precision={convention.precision!r} ranks them."
        raise ConventionError(f"{msg}\nHint: convention.replace(precision='none', ties='input').")
    if convention.retrieve == "all":
        msg = "StochasticFilter keeps rows by score, but the convention says retrieve='all'."
        raise ConventionError(f"{msg}\nHint: convention.replace(retrieve='from_0').")
