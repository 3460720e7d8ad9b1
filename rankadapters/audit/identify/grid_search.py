"""The search: every convention of the grid, computed with what they share, compared with a printed number."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, NamedTuple, cast

import numpy as np

from rankadapters.audit.field_grid import REFUSAL, Values, has_cutoff, left_out, searched
from rankadapters.audit.identify.alike import classes, formula_key, keys_of, lowered
from rankadapters.audit.identify.alike_cutoffs import AlikeCutoffs
from rankadapters.audit.identify.candidates import Block, Candidates, Cutoffs, Progress, is_convention
from rankadapters.audit.identify.policy_means import POLICIES, Flags, Policies, PolicyMeans, PolicyValues
from rankadapters.audit.identify.rank_tables import Plans, RankedRows, merged, rank
from rankadapters.audit.identify.running_values import DEEP
from rankadapters.audit.identify.whole_search import search_whole
from rankadapters.audit.printed import Printed
from rankadapters.core.binding.lowering import Bound
from rankadapters.core.binding.plans import RankedPlan
from rankadapters.core.binding.policies import Sizes
from rankadapters.core.binding.ranks import comparable
from rankadapters.core.data.columns import Array
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError


def search(
    queries: Queries,
    scores: Array,
    measure: type[Convention],
    printed: Printed,
    cutoffs: Cutoffs,
    *,
    progress: Progress | None = None,
) -> Candidates:
    """Compare every convention of a measure's grid at every cutoff with a printed number."""
    found = Candidates(measure, printed)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is left out
        if has_cutoff(measure):
            _search(queries, scores, measure, found, cutoffs=cutoffs, progress=progress)
        else:
            search_whole(queries, scores, measure, found, progress)
    found.left_out[:0] = left_out(measure, queries)
    return found


class _Task(NamedTuple):
    """Conventions whose rows bring the same to a ranking."""

    space: _Space
    base: Convention
    shared: Block


def _search(
    queries: Queries,
    scores: Array,
    measure: type[Convention],
    found: Candidates,
    *,
    cutoffs: Cutoffs,
    progress: Progress | None,
) -> None:
    values = searched(measure, queries)
    upto = max((k for k in cutoffs if k is not None and k <= DEEP), default=0) if len(cutoffs) > 1 else 0
    spaces = [_Space.of(*base, queries, values, upto) for base in _bases(measure, values)]
    tasks = [_Task(space, *task) for space in spaces for task in space.tasks()]
    refused: dict[str, None] = {}
    for number, task in enumerate(tasks):
        _search_rows(task, scores, found, cutoffs, refused)
        if progress is not None:
            progress(number + 1, len(tasks))
    found.left_out += dict.fromkeys([*refused, *(note for space in spaces for note in space.refused)])


def _bases(measure: type[Convention], values: dict[str, Values]) -> Iterator[tuple[Convention, Values]]:
    """Give a convention of each way to pool, and the averages that go with it.

    Where all rows are one query these say the same: with query weights the grid has but one average that counts them.
    """
    kinds = measure.declared()
    pools = [name for name, kind in kinds.items() if kind.group == "pool"]
    first: dict[str, Any] = {name: tried[0] for name, tried in values.items()}
    for chosen in product(*(values[name] for name in pools)):
        fields = {"k": None, **first, **dict(zip(pools, chosen, strict=True))}
        found: dict[str, Convention] = {}
        for average in values["average"]:
            with suppress(ConventionError):  # an average that means nothing with this pool
                found[average] = measure(**{**fields, "average": average})
        if found:
            yield next(iter(found.values())), tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class _Space:
    """The fields of a measure by what they decide, on given queries.

    Attributes
    ----------
    rows : dict of str to list of tuple
        Fields that decide what rows there are and what they bring, and the values that are alike.
    formula, ranking : dict of str to tuple
        Fields that decide what becomes of it, and how the rows are ranked.
    refused : list of str
        Values that these labels have none under, and why.
    """

    base: Convention
    bound: Bound
    policies: PolicyValues
    rows: dict[str, list[Values]] = field(default_factory=dict)
    formula: dict[str, Values] = field(default_factory=dict)
    ranking: dict[str, Values] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, base: Convention, averages: Values, queries: Queries, values: dict[str, Values], upto: int) -> _Space:
        """Sort the fields by lowering the convention under each of their values."""
        policies = replace(PolicyValues.of(type(base), queries), average=averages)
        if base.over == "rows":
            weights = queries.query_weight if base.weighting == "query_weight" else None
            queries = queries.as_one(row_weight=None if weights is None else queries.per_row(weights))
        bound = Bound(queries, None, over_rows=base.over == "rows", upto=upto)
        found = cls(base, bound, policies)
        for name, kind in base.declared().items():
            if kind.group == "ranking":
                found.ranking[name] = values[name]
            elif kind.group == "value" or (kind.group == "retrieval" and name not in POLICIES):
                base = found._sort(base, name, kind.group, values[name])
        return found

    def _sort(self, base: Convention, name: str, group: str, tried: Values) -> Convention:
        several = tried if group == "value" else (REFUSAL, *tried)
        plans, refused = lowered(base, self.bound, name, several)
        if group == "value" and len({keys_of(plan) for plan in plans.values()}) == 1 < len(plans):
            self.formula[name] = tried  # what overflows here may not under another gain
        else:
            self.rows[name] = classes(plans)
            self.refused.extend(
                f"{name}={value} was not searched: {why}" for value, why in refused.items() if value != REFUSAL
            )
        return base.replace(**{name: next(iter(plans))}) if plans else base

    def tasks(self) -> Iterator[tuple[Convention, Block]]:
        """Give each choice of what the rows bring."""
        pool = {name: (getattr(self.base, name),) for name, k in self.base.declared().items() if k.group == "pool"}
        for chosen in product(*self.rows.values()):
            fields = dict(zip(self.rows, chosen, strict=True))
            yield self.base.replace(**{name: values[0] for name, values in fields.items()}), {**pool, **fields}


class _Formula(NamedTuple):
    """Values of the formula's fields that say the same here, with their plans and what the policies need of them."""

    fields: Block
    plans: Plans
    policies: Policies
    usable: Flags  # shape (n_cutoffs,)

    @property
    def first(self) -> dict[str, Any]:
        """The first value of each field."""
        return {name: values[0] for name, values in self.fields.items()}

    @classmethod
    def of(cls, fields: Block, plans: Plans, space: _Space, cutoffs: AlikeCutoffs) -> _Formula:
        """Look at each cutoff that differs from the others."""
        sizes = Sizes(plans.first.retrieved.sizes, space.bound.judged.sizes, plans.empty[:, cutoffs.place])
        policies = Policies.of(space.policies, space.bound.queries.query_weight, sizes, cutoffs.first)
        return cls(fields, plans, policies, plans.usable[cutoffs.place])


def _search_rows(task: _Task, scores: Array, found: Candidates, asked: Cutoffs, refused: dict[str, None]) -> None:
    """Search all conventions whose rows bring the same to a ranking."""
    space = task.space
    cutoffs = AlikeCutoffs.of(asked, space.bound.longest)
    rankings = _rankings(task, scores, refused)
    *outer, inner = [*space.formula] or [""]
    for chosen in product(*(space.formula[name] for name in outer)):
        fixed = dict(zip(outer, chosen, strict=True))
        formulas: dict[object, list[_Formula]] = {}
        for ranked in rankings:
            if ranked.form not in formulas:
                fields = {**fixed, **ranked.choices[0]}
                formulas[ranked.form] = list(_formulas(task, fields, inner, cutoffs))
            for formula in formulas[ranked.form]:
                if not _go_together(task.base, {**fixed, **formula.first}, ranked.choices, cutoffs):
                    continue
                values = ranked.table(formula.plans)[:, cutoffs.place]
                means = formula.policies.means(values, formula.usable)
                fields = {**task.shared, **{name: (value,) for name, value in fixed.items()}, **formula.fields}
                _collect(means, fields, ranked, found, cutoffs.alike)


def _go_together(base: Convention, formula: dict[str, Any], choices: list[dict[str, Any]], at: AlikeCutoffs) -> bool:
    """Tell whether the fields of a formula go together with any choice of the ranking's fields."""
    k = next((k for k in at.different if k is not None), None)
    for choice in choices:
        with suppress(ConventionError):
            base.replace(k=k, **formula, **choice)
            return True
    return False


def _rankings(task: _Task, scores: Array, refused: dict[str, None]) -> list[RankedRows]:
    """Choices of the ranking's fields that differ on these scores."""
    space, several = task.space, []
    for chosen in product(*reversed(space.ranking.values())):
        choice = dict(zip(space.ranking, reversed(chosen), strict=True))
        try:
            plan = task.base.replace(**choice).lower(space.bound)
        except ConventionError:  # the fields do not go together
            continue
        compared = comparable(plan.ranking, scores)
        if (np.isinf(compared) & np.isfinite(scores)).any():
            [name] = [name for name, value in choice.items() if value == plan.ranking.precision]
            refused[f"{name}={choice[name]} was not searched: a score is beyond {choice[name]}"] = None
            continue
        several.append(rank(plan, compared, choice))
    return merged(several)


def _formulas(task: _Task, fields: dict[str, Any], inner: str, cutoffs: AlikeCutoffs) -> Iterator[_Formula]:
    """Give the values of the last field of the formula that differ here, all others being fixed."""
    found: dict[object, tuple[list[Any], list[RankedPlan | None]]] = {}
    for value in task.space.formula.get(inner, (None,)):
        last = {inner: value} if inner else {}
        plans = {k: _plan(task, {**fields, **last}, k) for k in dict.fromkeys((*cutoffs.different, None))}
        key = _key(task.space, list(plans.values())) or value
        found.setdefault(key, ([], [plans[k] for k in cutoffs.different]))[0].append(value)
    for values, several in found.values():
        usable = Plans.of(several)
        if usable is not None:
            yield _Formula.of({inner: tuple(values)} if inner else {}, usable, task.space, cutoffs)


def _key(space: _Space, plans: list[RankedPlan | None]) -> object:
    """Name what plans say; None where a query retrieved fewer rows than are judged, so that they agree by chance."""
    some = [plan for plan in plans if plan is not None]
    if any((plan.retrieved.sizes < space.bound.judged.sizes).any() for plan in some[:1]):
        return None
    return tuple(None if plan is None else formula_key(plan) for plan in plans)


def _plan(task: _Task, fields: dict[str, Any], k: int | None) -> RankedPlan | None:
    """Lower a convention; None where it is not one, means the same as another one, or has no value here."""
    try:
        convention = task.base.replace(k=k, **fields)
        if any(getattr(convention, name) != value for name, value in fields.items()):
            return None
        return cast("RankedPlan", convention.lower(task.space.bound))
    except (ConventionError, InputError):
        return None


def _blocks(cutoffs: Cutoffs, fields: Block, choices: list[dict[str, Any]]) -> Iterator[Block]:
    """Give the conventions of each choice of the ranking's fields at cutoffs."""
    for k, choice in product(cutoffs, choices):
        chosen = {**fields, **({"short": ("pad",)} if k is None and "short" in fields else {})}
        yield {"k": (k,), **chosen, **{name: (value,) for name, value in choice.items()}}


def _collect(means: PolicyMeans, fields: Block, ranked: RankedRows, found: Candidates, cutoffs: list[Cutoffs]) -> None:
    """Keep the means that are near the printed number, and the nearest of all."""
    distances = found.distances(means.means)
    least = float(np.fmin.reduce(distances, axis=None))  # passes over NaN
    if least < found.nearest[0]:
        number, column = np.argwhere(distances == least)[0].tolist()
        for block in _blocks(cutoffs[column], {**fields, **means.fields(number, column)}, ranked.choices):
            if is_convention(found.measure, block):
                found.nearest = (least, block)
                break
    for number, column in np.argwhere(distances <= found.window).tolist():
        blocks = _blocks(cutoffs[column], {**fields, **means.fields(number, column)}, ranked.choices)
        key = means.key(number, column) if found.prints(distances[number, column]) else None
        found.add(float(means.means[number, column]), key, blocks)
