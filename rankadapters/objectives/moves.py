"""The gains, discounts and divisors of a measure, for objectives that swap rows or move them to other ranks."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np

from rankadapters.core.arrays import Array, Floats
from rankadapters.core.binding.gains import discounts_of
from rankadapters.core.binding.plans import Plan
from rankadapters.core.binding.policies import COMPUTE, refuse_ignored
from rankadapters.core.data.queries import Queries, Rows
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import border
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.measures import AP, DCG, ERR, NDCG, RR, FilteredDCG
from rankadapters.core.ranking.jit import writable
from rankadapters.evaluation.passes import bind
from rankadapters.objectives.bound_gradients import all_rows, kernel_order, row_number
from rankadapters.objectives.kernels import changes
from rankadapters.objectives.kernels.stochastic_filter import Filtered
from rankadapters.objectives.kernels.stochastic_rank import CASCADE, DISCOUNTED, HITS, SHARE_OF_FOUND

LARGEST_GAIN = 1e30  # larger gains could overflow float32 gradients
NOTHING = np.zeros(0)
MEASURES: tuple[type[Convention], ...] = (NDCG, DCG, ERR, RR, AP)  # measures whose change kernels compute


class Moves(NamedTuple):
    """Gains, discounts and divisors of each query; arrays by row are in the order of `rows`."""

    rows: Rows
    gains: Array  # gain, probability to stop, or relevance
    rest: Floats  # probability to continue; empty unless rows move under ERR or RR
    inverse: Floats  # 1 / divisor of each query; 0 for a query without a gradient
    discounts: Floats  # one more than there are ranks, for a row that moves below them all
    k: int  # number of top ranks; a pair without a row in them does not count
    kind: int  # how kernels compute a change: of `kernels.changes` if rows swap, else of `kernels.stochastic_rank`


class Kernels(NamedTuple):
    """How kernels handle a measure."""

    stops: bool  # whether gain / scale is the probability that a reader stops at the row
    move: int  # the kind of `kernels.stochastic_rank` that computes the change when a row moves
    swap: int  # the kind of `kernels.changes` when two rows swap
    lambdamart: int  # the kind of the weights in CatBoost's LambdaMart
    yetirank: int  # the kind of the weights in CatBoost's YetiRank


OF_DCG = Kernels(stops=False, move=DISCOUNTED, swap=changes.DCG, lambdamart=changes.DCG, yetirank=changes.DCG)
OF_ERR = Kernels(
    stops=True, move=CASCADE, swap=changes.CASCADE, lambdamart=changes.CATBOOST_CASCADE,
    yetirank=changes.YETIRANK_CASCADE,
)  # fmt: skip
OF_RR = Kernels(
    stops=False, move=CASCADE, swap=changes.FIRST_RANK, lambdamart=changes.CATBOOST_FIRST_RANK,
    yetirank=changes.YETIRANK_FIRST_RANK,
)  # fmt: skip
OF_AP = Kernels(
    stops=False, move=HITS, swap=changes.PRECISIONS, lambdamart=changes.CATBOOST_PRECISIONS,
    yetirank=changes.YETIRANK_PRECISIONS,
)  # fmt: skip
KERNELS: dict[type[Convention], Kernels] = {DCG: OF_DCG, NDCG: OF_DCG, ERR: OF_ERR, RR: OF_RR, AP: OF_AP}


def kernel_kinds(convention: Convention) -> Kernels:
    """Return the kernels for a convention."""
    kernels = KERNELS[type(convention)]
    if isinstance(convention, AP) and convention.divisor == "found":
        return kernels._replace(move=SHARE_OF_FOUND, swap=changes.PRECISIONS_FOUND)
    return kernels


def moves_of(queries: Queries, convention: Convention) -> Moves:
    """Compute the gains, discounts and divisors of a convention under which single rows move."""
    plan, computed = _bind(queries, convention, ties="input")  # noisy scores have no ties
    stops, move, *_ = kernel_kinds(convention)
    # Divide only by divisors that do not change when a row moves; the divisors of a DCG are 1.
    divided = move != SHARE_OF_FOUND and type(convention) is not DCG
    gains = _only(plan.columns).astype(np.float64)
    if stops:
        gains = _chances(queries, plan.rows, gains, convention)
    elif isinstance(convention, DCG):  # DCG is not divided, so large gains give large gradients
        problem = f"whose gain {{:g}} is too large for float32; allowed are gains up to {LARGEST_GAIN:g}"
        _refuse_gains(queries, plan.rows, gains, np.abs(gains) > LARGEST_GAIN, problem=problem, hint="another gain=")
    rest = 1.0 - gains if move == CASCADE else NOTHING
    inverse = _inverse(plan, computed) if divided else computed.astype(np.float64)
    return Moves(plan.rows, gains, rest, inverse, _discounts(plan, convention, cut=True), cast("int", plan.k), move)


def swaps_of(queries: Queries, convention: Convention, *, cut: bool, catboost: bool = False) -> Moves:
    """Compute the gains, discounts and divisors of a convention under which two rows swap.

    With `cut`, the discounts beyond k are 0. With `catboost`, use CatBoost's weights: they are not divided, and stop
    probabilities are float32. If the convention averages over ties, they rank in row order.
    """
    ties = convention.to_dict()["ties"]
    plan, computed = _bind(queries, convention, **({"ties": "input"} if ties in {"average", "together"} else {}))
    rows, gains, kernels = plan.rows, _only(plan.columns), kernel_kinds(convention)
    if ties in {"worst", "best"}:
        rows, gains = _by_gain(rows, gains, falling=ties == "best")
    inverse = _inverse(plan, computed)
    if catboost or kernels.swap == changes.PRECISIONS_FOUND:  # the kernel divides, if needed
        inverse = np.sign(inverse)
    if kernels.stops:
        gains = _chances(queries, rows, gains, convention)
        gains = gains.astype(np.float32).astype(np.float64) if catboost else gains
    k = (plan.k if cut else None) or int(rows.sizes.max(initial=1))
    kind = kernels.lambdamart if catboost else kernels.swap
    return Moves(rows, gains, NOTHING, inverse, _discounts(plan, convention, cut=cut), k, kind)


def labels_alone(queries: Queries, kind: int) -> Moves:
    """Return `Moves` for an objective without a measure: labels are the gains, and no query is excluded."""
    rows = all_rows(queries)
    discounts = np.zeros(int(rows.sizes.max(initial=1)) + 1)
    return Moves(rows, rows.take(queries.labels), NOTHING, np.ones(queries.n_queries), discounts, queries.n_docs, kind)


def filtered_rows(queries: Queries, convention: FilteredDCG) -> Filtered:
    """Compute what the kernel of StochasticFilter needs: gains, discounts and the score border of a FilteredDCG."""
    plan, computed = _bind(queries, convention)
    word, threshold = border(convention.retrieve) or ("from", 0.0)
    active = computed & (plan.rows.sizes > 0)
    gains, discounts = _only(plan.columns).astype(np.float64), _discounts(plan, convention, cut=True)
    order, indptr = kernel_order(plan.rows), writable(plan.rows.indptr)
    return Filtered(order, indptr, gains, discounts, active, threshold, word == "above")


def _bind(queries: Queries, convention: Convention, **fields: object) -> tuple[Plan, Array]:
    """Bind a convention with changed fields; also return which queries have a gradient.

    Gradients ignore empty and missing queries, so any policy for them will do.
    """
    refuse_ignored([convention], queries)
    fields = {"empty": 0, "missing": "zero", **fields}
    [member] = bind(queries, [convention.replace(**{k: v for k, v in fields.items() if k in convention.fields()})])
    return member.plan, member.decisions.status == COMPUTE


def _only(columns: Any) -> Any:
    [column] = columns.values()
    return column


def _inverse(plan: Plan, computed: Array) -> Floats:
    """Return 1 / divisor of each query; 0 for a query without a gradient."""
    divisors = next(iter(plan.by_query.values()), np.ones(computed.size))
    inverse: Floats = np.divide(1.0, divisors, out=np.zeros(computed.size), where=computed)
    return inverse


def _discounts(plan: Plan, convention: Convention, *, cut: bool) -> Floats:
    """Return the discounts of all ranks; with `cut`, those beyond k are 0."""
    name = convention.get("discount")
    discounts = discounts_of(name, int(plan.rows.sizes.max(initial=1)) + 1)
    if cut:
        discounts[plan.k :] = 0.0
    return discounts


def _by_gain(rows: Rows, gains: Array, *, falling: bool) -> tuple[Rows, Array]:
    """Sort each query's rows by gain. Equal gains keep the row order: values do not depend on it, but pairs do."""
    order = kernel_order(rows)
    order = order if order.size else np.arange(gains.size, dtype=order.dtype)
    keys = gains.astype(np.float64)
    inner = np.lexsort((order, -keys if falling else keys, np.repeat(np.arange(rows.sizes.size), rows.sizes)))
    return Rows(order[inner], rows.indptr), gains[inner]


def _chances(queries: Queries, rows: Rows, gains: Array, convention: Convention) -> Floats:
    """Return gains / scale of an ERR; these must be probabilities."""
    chances: Floats = gains / cast("ERR", convention).scale
    problem = "whose probability to stop a reader is {:g}; allowed is 0 to 1"
    _refuse_gains(
        queries, rows, chances, (chances < 0) | (chances > 1), problem=problem, hint="scale= the largest gain"
    )
    return chances


def _refuse_gains(queries: Queries, rows: Rows, values: Array, bad: Array, *, problem: str, hint: str) -> None:
    if bad.any():
        index = int(np.argmax(bad))
        row = row_number(rows, index)
        msg = f"labels[{row}] is {queries.labels[row]:g}, {problem.format(values[index])}."
        raise InputError(msg, hint=f"{hint}, or map your labels", row=row)


def require_gradients(objective: str, convention: Convention) -> None:
    """Refuse an ideal DCG that depends on the scores, which gradients take for constant, and RR over several rows."""
    if convention.get("ideal") == "top-only":
        msg = f"{objective} needs an ideal DCG that no score changes, but the convention says ideal='top-only'."
        raise ConventionError(msg, hint="train under convention.replace(ideal='cutoff'); evaluate under any")
    count = convention.get("count")
    if count != "first":
        msg = (
            f"{objective} has gradients of the first relevant row's rank only, but the convention says count={count!r}."
        )
        raise ConventionError(msg, hint="train under convention.replace(count='first'); evaluate under any")


def require_moves(objective: str, convention: object, measures: tuple[type[Convention], ...] = MEASURES) -> None:
    """Refuse a convention for which no kernel computes the change when rows move or swap."""
    if not isinstance(convention, Convention) or not isinstance(convention, measures):
        *names, last = (measure.__name__ for measure in measures)
        allowed = f"{', '.join(names)} or {last}" if names else last
        msg = f"{objective} needs a convention of {allowed}, not {convention}."
        pfound = "; PFound is ra.presets.catboost.pfound(10)" if ERR in measures else ""
        raise ConventionError(msg, hint=f"ra.presets.lightgbm(30), or ra.NDCG(...){pfound}")
    require_gradients(objective, convention)
    fields = convention.to_dict()
    required = {
        "retrieve": ("all", "keeps rows whatever their score"),
        "pool": ("queries", "ranks the rows of each query"),
    }
    if convention.weighting == "row_weight":
        required["average"] = "query", "gives all rows the same weight"
    for name, (word, reason) in required.items():
        if fields.get(name, word) != word:
            msg = f"{objective} {reason}, but the convention says {name}={fields[name]!r}."
            raise ConventionError(msg, hint=f"convention.replace({name}={word!r})")


def require_filter(convention: object) -> None:
    """Refuse a convention that keeps all rows, or ranks the kept rows by score."""
    if not isinstance(convention, FilteredDCG):
        msg = f"StochasticFilter needs a convention of FilteredDCG, not {convention}."
        raise ConventionError(msg, hint="ra.presets.catboost.filtered_dcg()")
    if convention.precision != "none":
        msg = f"StochasticFilter does not rank rows by score, but precision={convention.precision!r} does."
        raise ConventionError(msg, hint="convention.replace(precision='none', ties='input')")
    if convention.retrieve == "all":
        msg = "StochasticFilter drops rows by score, but the convention says retrieve='all'."
        raise ConventionError(msg, hint="convention.replace(retrieve='from_0')")
