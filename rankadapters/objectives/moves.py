"""The gains, discounts and divisors of a measure, for objectives that move rows to other ranks."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from rankadapters.core.binding.lowering import discounts_of
from rankadapters.core.binding.plans import RankedPlan
from rankadapters.core.binding.policies import COMPUTE, refuse_ignored
from rankadapters.core.data.columns import Array, Floats
from rankadapters.core.data.queries import Queries, Rows
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import border
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.evaluation.evaluator import bind
from rankadapters.core.measures import AP, DCG, ERR, NDCG, RR, FilteredDCG
from rankadapters.core.ranking.jit import writable
from rankadapters.objectives.base import require_gradients
from rankadapters.objectives.bound_gradients import all_rows, kernel_order, row_number
from rankadapters.objectives.kernels.stochastic_filter import Filtered
from rankadapters.objectives.kernels.stochastic_rank import CASCADE, DISCOUNTED, SHARE_OF_FOUND
from rankadapters.objectives.measure_kernels import kernel_kinds

LARGEST_GAIN = 1e30  # larger gains could overflow float32 gradients
NOTHING = np.zeros(0)


class Moves(NamedTuple):
    """Gains, discounts and divisors of each query; arrays by row are in the order of `rows`."""

    rows: Rows
    gains: Floats  # gain, probability to stop, or relevance
    rest: Floats  # probability to continue; empty unless a reader stops, as in ERR
    inverse: Floats  # 1 / divisor of each query; 0 for a query without a gradient
    discounts: Floats  # one more than there are ranks; 0 beyond the cutoff
    k: int
    kind: int


def moves_of(queries: Queries, convention: Convention) -> Moves:
    """Compute the gains, discounts and divisors of a convention."""
    refuse_ignored([convention], queries)
    # Any policy will do: gradients ignore empty and missing queries, and noisy scores have no ties.
    lenient = {"ties": "input", "missing": "zero"} | ({"empty": 0} if "empty" in convention.fields() else {})
    [member] = bind(queries, [convention.replace(**lenient)])
    plan = cast("RankedPlan", member.plan)
    computed = member.decisions.status == COMPUTE
    row_value, move, *_ = kernel_kinds(convention)
    # Divide only by divisors that do not change when a row moves; the divisors of a DCG are 1.
    divided = bool(plan.by_query) and move != SHARE_OF_FOUND and type(convention) is not DCG
    divisors = next(iter(plan.by_query.values())) if divided else np.ones(queries.n_queries)
    inverse = np.where(computed, 1.0 / np.where(computed, divisors, 1.0), 0.0)
    gains = _only_column(plan)
    discounts = _cut(plan, _only_discounts(plan) if plan.by_rank else discounts_of("reciprocal", plan.k))
    if row_value == "chance":
        gains = gains / cast("ERR", convention).scale
        _refuse_labels(queries, plan.rows, gains, (gains < 0) | (gains > 1), "is not a probability")
    elif isinstance(convention, DCG):  # DCG is not divided, so large gains give large gradients
        _refuse_labels(queries, plan.rows, gains, np.abs(gains) > LARGEST_GAIN, "is too large for float32")
    rest = 1.0 - gains if move == CASCADE else NOTHING
    return Moves(plan.rows, gains, rest, inverse, discounts, plan.k, move)


def filtered_rows(queries: Queries, convention: FilteredDCG) -> Filtered:
    """Compute what the kernel of StochasticFilter needs: gains, discounts and the score border of a FilteredDCG."""
    refuse_ignored([convention], queries)
    [member] = bind(queries, [convention.replace(missing="zero")])
    plan = cast("RankedPlan", member.plan)
    word, threshold = border(convention.retrieve) or ("from", 0.0)
    active = (member.decisions.status == COMPUTE) & (plan.rows.sizes > 0)
    gains, discounts = _only_column(plan), _cut(plan, _only_discounts(plan))
    order, indptr = kernel_order(plan.rows), writable(plan.rows.indptr)
    return Filtered(order, indptr, gains, discounts, active, threshold, word == "above")


def labels_alone(queries: Queries) -> Moves:
    """Return `Moves` for an objective without a measure: labels are the gains, and no query is excluded."""
    rows = all_rows(queries)
    labels = rows.take(queries.labels)
    return Moves(rows, labels, NOTHING, np.ones(queries.n_queries), NOTHING, queries.n_docs, DISCOUNTED)


def _only_column(plan: RankedPlan) -> Floats:
    [column] = plan.columns.values()
    return column.values.astype(np.float64)


def _only_discounts(plan: RankedPlan) -> Floats:
    [discounts] = plan.by_rank.values()
    return discounts


def _cut(plan: RankedPlan, discounts: Floats) -> Floats:
    """Return discounts for one more rank than the longest query has, with 0 beyond the cutoff."""
    rest = max(int(plan.rows.sizes.max(initial=1)) - plan.k, 0) + 1
    return np.concatenate([discounts[: plan.k], np.zeros(rest)])


def _refuse_labels(queries: Queries, rows: Rows, gains: Floats, bad: Array, problem: str) -> None:
    if not bad.any():
        return
    index = int(np.argmax(bad))
    row = row_number(rows, index)
    allowed = "allowed is 0 to 1" if "probability" in problem else f"allowed are gains up to {LARGEST_GAIN:g}"
    msg = f"labels[{row}] is {queries.labels[row]:g}, whose gain {gains[index]:g} {problem}; {allowed}."
    raise InputError(f"{msg}\nHint: map your labels, or declare gain= and scale= of the convention.", row=row)


def require_moves(objective: str, convention: object) -> None:
    """Refuse a convention for which no kernel computes the change when a row moves."""
    if not isinstance(convention, NDCG | DCG | ERR | RR | AP):
        msg = f"{objective} needs a convention of NDCG, DCG, ERR, RR or AP, not {convention}."
        raise ConventionError(f"{msg}\nHint: ra.presets.textbook(10); PFound is ra.presets.catboost.pfound(10).")
    require_gradients(objective, convention)
    fields = convention.to_dict()
    for name, required in (("retrieve", "all"), ("pool", "queries")):
        if fields.get(name, required) != required:
            msg = f"{objective} moves rows within a query, but the convention says {name}={fields[name]!r}."
            raise ConventionError(f"{msg}\nHint: convention.replace({name}={required!r}).")
    if convention.average == "row":
        msg = f"{objective} gives all rows the same weight, but the convention says average='row'."
        raise ConventionError(f"{msg}\nHint: convention.replace(average='query').")


def require_filter(convention: object) -> None:
    """Refuse a convention that keeps all rows, or ranks the kept rows by score."""
    if not isinstance(convention, FilteredDCG):
        msg = f"StochasticFilter needs a convention of FilteredDCG, not {convention}."
        raise ConventionError(f"{msg}\nHint: ra.presets.catboost.filtered_dcg().")
    if convention.precision != "none":
        msg = f"StochasticFilter does not rank rows by score, but precision={convention.precision!r} does."
        raise ConventionError(f"{msg}\nHint: convention.replace(precision='none', ties='input').")
    if convention.retrieve == "all":
        msg = "StochasticFilter drops rows by score, but the convention says retrieve='all'."
        raise ConventionError(f"{msg}\nHint: convention.replace(retrieve='from_0').")
