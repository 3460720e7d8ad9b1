"""Evaluate every convention of a grid on data, and group the conventions that give equal values.

The queries' values are computed once for the fields that determine them (gain, ties, cutoff, ...). The policies
(`short`, `empty`, `missing`, `average`) are then applied to these values as arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, product
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from rankadapters.core.arrays import Array, Floats
from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import Plan
from rankadapters.core.binding.policies import COMPUTE, PolicyDecisions
from rankadapters.core.classes import frozen_class
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import border
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.evaluation import passes
from rankadapters.evaluation.threads import as_n_threads
from rankadapters.statistics.cutoffs import ROWS_AT_ONCE, Copies, Cuts
from rankadapters.statistics.grid import REFUSAL, Block, Values, replaced
from rankadapters.statistics.plan_keys import classes, columns_key, plan_key, plan_keys
from rankadapters.statistics.policy_choices import POLICIES, Lowered, Policies

Cutoffs = tuple[int | None, ...]
Progress = Callable[[int, int], object]

AT_ONCE = 1 << 22  # number of per-query values in memory at once


class Data(NamedTuple):
    """Queries, their scores and the cutoffs to search; step i of the search uses the cutoff `cutoffs[i]`.

    A data set may consist of parts: the first `parts[0]` queries, the next `parts[1]`, and so on. Every part has means
    of its own, as if it were a data set, but conventions are lowered only once for all parts. Such queries have no
    columns but labels, and their rows are contiguous. `None` is one part with all queries.
    """

    queries: Queries
    scores: Array
    cutoffs: Cutoffs = (None,)
    parts: Sequence[int] | None = None


class Search:
    """Every convention of a grid on one or more data sets, grouped by the values they give.

    Parameters
    ----------
    measure : type of Convention
        The measure.
    grid : dict of str to tuple
        The values of each field except the cutoff. No average may weigh rows or pairs or be geometric.
    data : sequence of Data
        The data sets, all with the same number of cutoffs. The cutoffs of the first decide which conventions are
        skipped because they are the same as others in the grid.

    Attributes
    ----------
    notes : dict of str to None
        A sentence for each value that the data rule out, with the reason; complete once `groups` has ended.
    """

    def __init__(self, measure: type[Convention], grid: Block, data: Sequence[Data]) -> None:
        self.notes: dict[str, None] = {}
        pools = {name: grid[name] for name, kind in measure.declared().items() if kind.group == "pool"}
        self._subgrids = [
            _Subgrid(base, {**grid, **fixed}, data, self.notes)
            for fixed in ({n: (v,) for n, v in zip(pools, pool, strict=True)} for pool in product(*pools.values()))
            if (base := _base(measure, {**grid, **fixed})) is not None
        ]

    def groups(self, progress: Progress | None = None) -> Iterator[Groups]:
        """Yield the groups in parts; the groups of a part share their cutoffs and the effects of policies."""
        batches = [(subgrid, batch) for subgrid in self._subgrids for batch in subgrid.batches()]
        for n_done, (subgrid, batch) in enumerate(batches, 1):
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # after an overflow there is no mean
                yield from subgrid.groups(batch)
            if progress is not None:
                progress(n_done, len(batches))


class Groups:
    """Part of a search: groups of conventions with equal per-query values, under each combination of policies.

    Attributes
    ----------
    blocks : list of list of Block
        For each value, the blocks of fields that produce it.
    policies : Policies
        The policy choices that differ on the data.
    cutoffs : list of tuple
        For each data set, the cutoffs that all give these values.
    means : float64 array, shape (n_values, n_policies, n_parts)
        The conventions' values on each part of the data sets; NaN where they have none.
    """

    def __init__(
        self, blocks: list[list[Block]], values: list[Floats], policies: Policies, cutoffs: list[Cutoffs]
    ) -> None:
        self.blocks, self.policies, self.cutoffs, self._values = blocks, policies, cutoffs, values
        self.means = np.concatenate([policies.means(i, numerators) for i, numerators in enumerate(values)], axis=-1)

    def conventions(self, value: int, policy: int, data: int = 0) -> list[Block]:
        """Return the conventions of a group as blocks of field values, with the cutoffs of one data set."""
        k: Block = {} if self.cutoffs[data] == () else {"k": self.cutoffs[data]}
        return [{**k, **fields, **choice} for fields in self.blocks[value] for choice in self.policies.blocks[policy]]

    def key(self, value: int, policy: int, data: int) -> object:
        """Return a key of the queries' values and weights in the mean: equal keys mean equal measure values."""
        return self.policies.key(policy, data, self._values[data][value])


@frozen_class
@dataclass(frozen=True, slots=True, eq=False)
class _PreparedData:
    """A data set, prepared for evaluating the conventions of a `_Subgrid`, which begin with a base convention."""

    base: Convention
    binding: Binding
    scores: Array
    cutoffs: Cutoffs
    undecided: PolicyDecisions
    parts: list[slice]  # the queries of each part

    @classmethod
    def of(cls, base: Convention, data: Data) -> _PreparedData:
        """Prepare a data set; if the convention pools rows, all rows of a part become one query."""
        queries, over_rows = data.queries, base.over == "rows"
        ends = np.cumsum([queries.n_queries] if data.parts is None else data.parts)
        if over_rows and data.parts is None:
            weights = queries.query_weight if base.weighting == "query_weight" else None
            queries = queries.as_one(row_weight=None if weights is None else queries.per_row(weights))
        elif over_rows:
            queries = Queries(queries.labels, group_sizes=np.diff(queries.indptr[ends], prepend=0))
        if over_rows:
            ends = np.arange(1, queries.n_queries + 1)
        n, zeros = queries.n_queries, np.zeros(queries.n_queries)
        undecided = PolicyDecisions(np.full(n, COMPUTE, np.uint8), zeros, zeros, zeros, zeros > 0, zeros > 0)
        parts = list(map(slice, [0, *ends[:-1]], ends))
        return cls(base, Binding(queries, None, over_rows=over_rows), data.scores, data.cutoffs, undecided, parts)

    def values(self, plans: Sequence[tuple[Plan, Cuts]]) -> list[Floats | None]:
        """Return each query's numerator before policies, 0 if a policy sets its value; None if scores are refused.

        The numerators of a plan have the shape (n_cutoffs, n_queries).
        """
        copies = Copies(self.scores)
        at_once = {
            i: cuts.numerators(plan, copies)
            for i, (plan, cuts) in enumerate(plans)
            if len(cuts.plans) > 1 and 2 * self.scores.size <= ROWS_AT_ONCE and cuts.alike
        }
        singly = [plan for i, (first, cuts) in enumerate(plans) if i not in at_once for plan in cuts.at_each(first)]
        numerators = iter(self._numerators([passes.Member(self.base, plan, self.undecided) for plan in singly]))
        values: list[Floats | None] = []
        for i, (_, cuts) in enumerate(plans):
            rows = list(at_once[i] if i in at_once else islice(numerators, len(cuts.plans)))
            usable = np.array([row for row in rows if row is not None])
            refused = len(usable) < len(rows)
            values.append(None if refused else np.where(cuts.undecided, 0.0, usable) + 0.0)  # turns -0.0 into 0.0
        return values

    def _numerators(self, members: list[passes.Member]) -> list[Floats | None]:
        try:
            return list(passes.numerators(members, self.scores, as_n_threads(None))) if members else []
        except InputError:
            if any(member.plan.k is not None for member in members):
                raise  # the scores are not finite
            return [None] if len(members) == 1 else [n for member in members for n in self._numerators([member])]


@dataclass(slots=True)
class _Family:
    """Blocks whose first conventions differ at most in how they rank: what else they are at each of some cutoffs."""

    plans: dict[int, list[Plan]] = field(default_factory=dict)  # of each block at the first cutoff, on each data set
    steps: list[tuple[int, ...]] = field(default_factory=list)  # equivalent ones have one cutoff for all
    policies: list[Policies] = field(default_factory=list)
    cuts: list[Cuts] = field(default_factory=list)  # on each data set
    places: list[list[int]] = field(default_factory=list)  # the indices of the cutoffs of each list of steps


class _Subgrid:
    """The part of a grid with a single value of the field `pool`, which decides what is summed over."""

    def __init__(self, base: Convention, grid: Block, data: Sequence[Data], notes: dict[str, None]) -> None:
        self.base, self.grid, self.notes = base, grid, notes
        self.data_sets = [_PreparedData.of(base, data_set) for data_set in data]
        self.steps = self._steps()
        with_cutoff = [steps for steps in self.steps if self._has_cutoff(steps[0])]
        self.runs = [run for run in (with_cutoff, *([s] for s in self.steps if s not in with_cutoff)) if run]
        self.policies_by_key: dict[object, Policies] = {}
        self.policies = {name: values for name, values in grid.items() if name in POLICIES}
        self.axes: dict[str, list[Values]] = {}
        self.kinds = base.declared()
        for name in [name for name in grid if name not in POLICIES]:
            if name == "precision":
                thresholds = [limit[1] for limit in map(border, grid.get("retrieve", ())) if limit]
                self.axes[name] = self._precisions(grid[name], thresholds)
            elif self.kinds[name].group in {"value", "retrieval"}:
                self.axes[name] = self._classes(name, self.kinds[name].group, grid[name])
            else:
                self.axes[name] = [(value,) for value in grid[name]]

    def _steps(self) -> list[list[int]]:
        """Group equivalent steps: any cutoffs above the longest query's length have the same effect."""
        alike: dict[object, list[int]] = {}
        for step, ks in enumerate(zip(*(data.cutoffs for data in self.data_sets), strict=True)):
            key = tuple(k and min(k, data.binding.longest + 1) for k, data in zip(ks, self.data_sets, strict=True))
            alike.setdefault(key, []).append(step)
        return list(alike.values())

    def _has_cutoff(self, step: int) -> bool:
        return all(data.cutoffs[step] is not None for data in self.data_sets)

    def _cutoffs(self, steps: tuple[int, ...]) -> list[Cutoffs]:
        """Return the cutoffs of these steps on each data set."""
        cut = "k" in self.base.fields()
        return [tuple(data.cutoffs[step] for step in steps) if cut else () for data in self.data_sets]

    def _classes(self, name: str, group: str, values: Values) -> list[Values]:
        """Group the values of a field that are equivalent on this data, and note values that the data refuse."""
        plans: dict[Any, list[Plan]] = {}
        refused: dict[Any, str] = {}
        for value in values:
            try:
                convention = self.base.replace(**{name: value})
                plans[value] = [convention.lower(data.binding) for data in self.data_sets]
            except ConventionError:
                continue
            except InputError as error:
                refused[value] = str(error).partition("\n")[0]
        columns = {tuple(map(columns_key, per_data)) for per_data in plans.values()}
        if group == "value" and len(columns) == 1 < len(plans):
            return [(value,) for value in values]  # values that overflow alike in the base may differ in others
        self.notes.update({f"{name}={v} was not searched: {why}": None for v, why in refused.items() if v != REFUSAL})
        self.base = self.base.replace(**{name: next(iter(plans), getattr(self.base, name))})
        return classes({v: (*map(plan_key, per_data), *self._distinct(name, v)) for v, per_data in plans.items()})

    def _distinct(self, name: str, value: Any) -> Iterator[tuple[str, Any]]:
        """Yield each (field, value) that a convention with this value accepts and does not change in `unify`."""
        for other, candidates in self.grid.items():
            for candidate in candidates if other != name else ():
                convention = _with(self.base, ((name, value), (other, candidate)))
                if convention is not None and getattr(convention, other) == candidate:
                    yield other, candidate

    def _precisions(self, values: Values, thresholds: list[float]) -> list[Values]:
        """Group the precisions with the same order and ties of scores, if the measure uses only the ranking."""
        keys: dict[Any, object] = {value: value for value in values}
        with suppress(ConventionError):  # some precisions contradict the base convention
            for value in values:
                plans = [self.base.replace(precision=value).lower(data.binding) for data in self.data_sets]
                if any(plan.k is None for plan in plans):
                    break
                orders = [_order(data, plan, thresholds) for data, plan in zip(self.data_sets, plans, strict=True)]
                keys[value] = tuple(orders)
                if None in orders:
                    self.notes[f"precision={value} was not searched: a score is beyond {value}"] = None
                    del keys[value]
        return classes(keys)

    def batches(self) -> list[list[Block]]:
        """Split the combinations of values of all fields but policies into batches that fit into memory."""
        combinations = [dict(zip(self.axes, combination, strict=True)) for combination in product(*self.axes.values())]
        size = max(1, AT_ONCE // (len(self.steps) * sum(data.binding.queries.n_queries for data in self.data_sets)))
        return [combinations[first : first + size] for first in range(0, len(combinations), size)]

    def groups(self, batch: list[Block]) -> Iterator[Groups]:
        """Evaluate combinations at every cutoff, and group those with equal values and equal effects of policies."""
        for run in self.runs:
            members = [(number, family) for family in self._families(run, batch) for number in family.plans]
            members.sort(key=itemgetter(0))
            values = [
                data.values([(family.plans[number][i], family.cuts[i]) for number, family in members])
                for i, data in enumerate(self.data_sets)
            ]
            for place in range(len(run)):
                yield from self._groups_of_steps(place, batch, list(zip(members, *values, strict=True)))

    def _groups_of_steps(self, place: int, batch: list[Block], members: list[Any]) -> Iterator[Groups]:
        """Group the members of families, each with its values on every data set, at some equivalent steps."""
        parts: dict[tuple[tuple[int, ...], Policies], tuple[list[list[Block]], list[tuple[Floats, ...]]]] = {}
        blocks_by_key: dict[object, list[Block]] = {}
        for (number, family), *arrays in members:
            for index in family.places[place] if all(array is not None for array in arrays) else ():
                values, part = tuple(array[index] for array in arrays), (family.steps[index], family.policies[index])
                key = part, *(array.tobytes() for array in values)
                if key not in blocks_by_key:
                    blocks, part_values = parts.setdefault(part, ([], []))
                    blocks.append(blocks_by_key.setdefault(key, []))
                    part_values.append(values)
                blocks_by_key[key].append(batch[number])
        for (steps, policies), (blocks, part_values) in parts.items():
            if policies.blocks:
                arrays = [np.stack(data_values) for data_values in zip(*part_values, strict=True)]
                yield Groups(blocks, arrays, policies, self._cutoffs(steps))

    def _families(self, run: list[list[int]], batch: list[Block]) -> Iterable[_Family]:
        """Lower the first convention of each block at the first step, and one of each family at every step."""
        families: dict[object, _Family] = {}
        for number, block in enumerate(batch):
            fields = {name: values[0] for name, values in block.items()}
            first = self._lowered(fields, run[0][0])
            if not first:
                continue
            others = (value for name, value in fields.items() if self.kinds[name].group != "ranking")
            key = (first[0][1].formula, *others) if len(run) > 1 else number
            if key not in families:
                families[key] = self._family(run, fields, first)
            families[key].plans[number] = [plan for _, plan in first]
        return families.values()

    def _family(self, run: list[list[int]], fields: dict[str, Any], lowered_first: list[Lowered]) -> _Family:
        """Lower a convention: once for equivalent steps, or at each step if k matters, as in hits / k."""
        family, lowered = _Family(), list[list[Lowered]]()
        for steps in run:
            first = lowered_first if steps is run[0] else self._lowered(fields, steps[0])
            alike = len(steps) == 1 or plan_keys(first) == plan_keys(self._lowered(fields, steps[-1]))
            family.places.append([])
            for part in [tuple(steps)] if alike else [(step,) for step in steps]:
                at_step = first if part[0] == steps[0] else self._lowered(fields, part[0])
                if at_step:
                    family.places[-1].append(len(family.steps))
                    family.steps.append(part)
                    family.policies.append(self._policies(part[0], at_step))
                    lowered.append(at_step)
        family.cuts = [Cuts([plan for _, plan in of_data]) for of_data in zip(*lowered, strict=True)]
        return family

    def _lowered(self, fields: dict[str, Any], step: int) -> list[Lowered]:
        """Lower a convention to a plan per data set; return an empty list if it is refused or a duplicate."""
        lowered: list[Lowered] = []
        conventions: dict[int | None, Convention] = {}
        try:
            for data in self.data_sets:
                k = data.cutoffs[step] if "k" in self.base.fields() else None
                if k not in conventions:
                    cut = {"k": k} if "k" in self.base.fields() else {}
                    convention = _with(self.base, (*fields.items(), *cut.items()))
                    if convention is None:
                        return []
                    conventions[k] = convention
                convention = conventions[k]
                if not lowered and any(getattr(convention, name) != value for name, value in fields.items()):
                    return []
                lowered.append((convention, convention.lower(data.binding)))
        except (ConventionError, InputError):
            return []
        return lowered

    def _policies(self, step: int, lowered: list[Lowered]) -> Policies:
        arrays = ((plan.retrieved.sizes, plan.empty, plan.mass) for _, plan in lowered)
        key = step, *(array if array is None else array.tobytes() for parts in arrays for array in parts)
        if key not in self.policies_by_key:
            bound = [(data.binding, data.parts) for data in self.data_sets]
            self.policies_by_key[key] = Policies(self.policies, lowered, bound)
        return self.policies_by_key[key]


@lru_cache(maxsize=1 << 15)
def _with(convention: Convention, fields: tuple[tuple[str, Any], ...]) -> Convention | None:
    """Return what `replaced` does, remembered, since searches of the same grid on other data need it again."""
    return replaced(convention, dict(fields))


def _order(data: _PreparedData, plan: Plan, thresholds: list[float]) -> object:
    """Return a key of how scores and thresholds are ordered in a plan's precision; None if a score overflows."""
    scores = data.scores
    compared = plan.ranking.comparable(scores)
    if (np.isinf(compared) & np.isfinite(scores)).any():
        return None
    values = np.append(compared.astype(np.float64), thresholds)
    return plan.ranking.averaged, np.unique(values, return_inverse=True)[1].tobytes()


def _base(measure: type[Convention], grid: Block) -> Convention | None:
    """Return a valid convention from each field's first value except `error`, and the first valid average."""
    k = {"k": None} if "k" in measure.fields() else {}
    first = {name: next((v for v in values if v != REFUSAL), REFUSAL) for name, values in grid.items()}
    for average in grid["average"]:
        with suppress(ConventionError):
            return measure(**{**k, **first, "average": average})
    return None
