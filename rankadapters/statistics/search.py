"""One search for all that compares conventions: a grid and data in, groups of equal value out.

The values of the queries are computed once for the fields that decide them (gain, ties, cutoff, ...). The policies
(`short`, `empty`, `missing`, `average`) are then applied to these values as arrays, which come from the core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import Plan, RankedPlan
from rankadapters.core.binding.policies import PolicyDecisions
from rankadapters.core.binding.ranks import comparable_scores
from rankadapters.core.data.columns import Array, Floats
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.spelling import border
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.evaluation.members import Member, Work
from rankadapters.core.evaluation.threads import as_n_threads
from rankadapters.core.kernels import COMPUTE, dispatch
from rankadapters.statistics.grid import REFUSAL, Block, Values
from rankadapters.statistics.plan_keys import classes, columns_key, plan_key, plan_keys, rows_read
from rankadapters.statistics.policy_choices import POLICIES, Lowered, Policies

Cutoffs = tuple[int | None, ...]
Progress = Callable[[int, int], object]

AT_ONCE = 1 << 22  # values of queries in memory together
DEEP = 128  # the cutoffs up to this one whose ideal lists are summed up in one pass


class Data(NamedTuple):
    """Queries with their scores, and the cutoffs to search: at step i the conventions are cut at `cutoffs[i]`."""

    queries: Queries
    scores: Array
    cutoffs: Cutoffs = (None,)


class Search:
    """Every convention of a grid on one data set or several, grouped by the values that it gives.

    Parameters
    ----------
    measure : type of Convention
        The measure.
    grid : dict of str to tuple
        The values of each field but the cutoff. An average may not weigh rows or pairs, nor be geometric.
    data : sequence of Data
        What to evaluate on; all have as many cutoffs. The cutoffs of the first decide which spellings are left out
        because they mean the same as others.

    Attributes
    ----------
    notes : dict of str to None
        Which values these data refuse, and why; complete once `groups` has ended.
    """

    def __init__(self, measure: type[Convention], grid: Block, data: Sequence[Data]) -> None:
        self.notes: dict[str, None] = {}
        pools = {name: grid[name] for name, kind in measure.declared().items() if kind.group == "pool"}
        self._spaces = [
            _Space(base, {**grid, **chosen}, data, self.notes)
            for chosen in ({n: (v,) for n, v in zip(pools, pool, strict=True)} for pool in product(*pools.values()))
            if (base := _base(measure, {**grid, **chosen})) is not None
        ]

    def groups(self, progress: Progress | None = None) -> Iterator[Groups]:
        """Yield the groups of conventions, in parts that share their cutoffs and the queries of their policies."""
        batches = [(space, batch) for space in self._spaces for batch in space.batches()]
        for done, (space, batch) in enumerate(batches):
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what overflows has no mean
                yield from space.groups(batch)
            if progress is not None:
                progress(done + 1, len(batches))


class Groups:
    """Conventions that give every query the same value under any policy, with every choice of the policies.

    Attributes
    ----------
    blocks : list of list of Block
        The fields that decide the values of the queries, for each value.
    policies : Policies
        The choices of the policies that differ on these data.
    cutoffs : list of tuple
        The cutoffs on each data set, at all of which the values are the same.
    means : float64 array, shape (n_values, n_policies, n_data)
        What the conventions give; NaN where they have no value.
    """

    def __init__(
        self, blocks: list[list[Block]], values: list[Floats], policies: Policies, cutoffs: list[Cutoffs]
    ) -> None:
        self.blocks, self.policies, self.cutoffs, self._values = blocks, policies, cutoffs, values
        self.means = np.stack([policies.means(*each) for each in enumerate(values)], axis=-1)

    def conventions(self, value: int, policy: int, data: int = 0) -> list[Block]:
        """Return the conventions of a group as blocks, cut as on one of the data sets."""
        k: Block = {} if self.cutoffs[data] == () else {"k": self.cutoffs[data]}
        return [{**k, **one, **other} for one in self.blocks[value] for other in self.policies.blocks[policy]]

    def key(self, value: int, policy: int, data: int) -> object:
        """Name the values of all queries and how they enter the mean: groups of equal keys give equal numbers."""
        return self.policies.key(policy, data, self._values[data][value])


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One data set as the conventions of a space look at it."""

    binding: Binding
    scores: Array
    cutoffs: Cutoffs
    undecided: PolicyDecisions

    @classmethod
    def of(cls, base: Convention, data: Data) -> _Side:
        """Pool the rows as a convention says."""
        queries, over_rows = data.queries, base.over == "rows"
        if over_rows:
            weights = queries.query_weight if base.weighting == "query_weight" else None
            queries = queries.as_one(row_weight=None if weights is None else queries.per_row(weights))
        upto = max((k for k in data.cutoffs if k is not None and k <= DEEP), default=0)
        n, zeros = queries.n_queries, np.zeros(queries.n_queries)
        undecided = PolicyDecisions(np.full(n, COMPUTE, np.uint8), zeros, zeros, zeros, zeros > 0, zeros > 0)
        return cls(Binding(queries, None, over_rows=over_rows, upto=upto), data.scores, data.cutoffs, undecided)

    def values(self, lowered: Sequence[Lowered]) -> list[Floats | None]:
        """Numerator of each query before any policy, 0 where a policy decides; None where a score is refused."""
        dispatch.expect_rows(sum(rows_read(plan) for _, plan in lowered))
        values = self._numerators([Member(convention, plan, self.undecided) for convention, plan in lowered])
        for numerators, (_, plan) in zip(values, lowered, strict=True):
            if numerators is not None:
                numerators[plan.empty | (plan.retrieved.sizes == 0)] = 0.0
                np.add(numerators, 0.0, out=numerators)  # makes -0.0 and 0.0 one value
        return values

    def _numerators(self, members: list[Member]) -> list[Floats | None]:
        try:
            return list(Work(members).numerators(self.scores, as_n_threads(None)))
        except InputError:
            if any(isinstance(member.plan, RankedPlan) for member in members):
                raise  # a score is not finite
            return [None] if len(members) == 1 else [n for member in members for n in self._numerators([member])]


class _Space:
    """The conventions of a grid that pool alike."""

    def __init__(self, base: Convention, grid: Block, data: Sequence[Data], notes: dict[str, None]) -> None:
        self.base, self.grid, self.notes = base, grid, notes
        self.sides = [_Side.of(base, each) for each in data]
        self.steps = self._steps()
        self.decisions: dict[object, Policies] = {}
        self.policies = {name: values for name, values in grid.items() if name in POLICIES}
        self.axes: dict[str, list[Values]] = {}
        kinds = base.declared()
        for name in [name for name in grid if name not in POLICIES]:
            if name == "precision":
                borders = [found[1] for found in map(border, grid.get("retrieve", ())) if found]
                self.axes[name] = self._precisions(grid[name], borders)
            elif kinds[name].group in {"value", "retrieval"}:
                self.axes[name] = self._classes(name, kinds[name].group, grid[name])
            else:
                self.axes[name] = [(value,) for value in grid[name]]

    def _steps(self) -> list[list[int]]:
        """Put together the steps whose cutoffs are beyond all rows alike."""
        alike: dict[object, list[int]] = {}
        for step, ks in enumerate(zip(*(side.cutoffs for side in self.sides), strict=True)):
            key = tuple(k and min(k, side.binding.longest + 1) for k, side in zip(ks, self.sides, strict=True))
            alike.setdefault(key, []).append(step)
        return list(alike.values())

    def _cutoffs(self, steps: tuple[int, ...]) -> list[Cutoffs]:
        """Return the cutoffs of steps on each data set."""
        cut = "k" in self.base.fields()
        return [tuple(side.cutoffs[step] for step in steps) if cut else () for side in self.sides]

    def _classes(self, name: str, group: str, values: Values) -> list[Values]:
        """Put together the values of a field that bring the same to every row, and note those that are refused."""
        plans: dict[Any, list[Plan]] = {}
        refused: dict[Any, str] = {}
        for value in values:
            try:
                convention = self.base.replace(**{name: value})
                plans[value] = [convention.lower(side.binding) for side in self.sides]
            except ConventionError:
                continue
            except InputError as error:
                refused[value] = str(error).partition("\n")[0]
        columns = {tuple(columns_key(plan) for plan in several) for several in plans.values()}
        if group == "value" and len(columns) == 1 < len(plans):
            return [(value,) for value in values]  # the rows bring the same; what overflows here may not elsewhere
        self.notes.update({f"{name}={v} was not searched: {why}": None for v, why in refused.items() if v != REFUSAL})
        self.base = self.base.replace(**{name: next(iter(plans), getattr(self.base, name))})
        return classes({v: (*map(plan_key, several), *self._spelled(name, v)) for v, several in plans.items()})

    def _spelled(self, name: str, value: Any) -> Iterator[tuple[str, Any]]:
        """Yield the values of the other fields that mean something of their own beside a value of a field."""
        for other, values in self.grid.items():
            for each in values if other != name else ():
                with suppress(ConventionError):
                    convention = self.base.replace(**{name: value, other: each})
                    if getattr(convention, other) == each:
                        yield other, each

    def _precisions(self, values: Values, borders: list[float]) -> list[Values]:
        """Put together the precisions in which the same scores are equal, unless a measure computes with scores."""
        keys: dict[Any, object] = {value: value for value in values}
        with suppress(ConventionError):  # precisions that go with other fields than the first
            for value in values:
                plans = [self.base.replace(precision=value).lower(side.binding) for side in self.sides]
                if not all(isinstance(plan, RankedPlan) for plan in plans):
                    break
                orders = [_order(*each, borders) for each in zip(self.sides, plans, strict=True)]
                keys[value] = tuple(orders)
                if None in orders:
                    self.notes[f"precision={value} was not searched: a score is beyond {value}"] = None
                    del keys[value]
        return classes(keys)

    def batches(self) -> list[list[Block]]:
        """Split the combinations of the fields that decide values, so that the values of a part fit into memory."""
        combinations = [dict(zip(self.axes, chosen, strict=True)) for chosen in product(*self.axes.values())]
        size = max(1, AT_ONCE // (len(self.steps) * sum(side.binding.queries.n_queries for side in self.sides)))
        return [combinations[first : first + size] for first in range(0, len(combinations), size)]

    def groups(self, batch: list[Block]) -> Iterator[Groups]:
        """Evaluate combinations at every cutoff, and group those of equal values and equal policies."""
        tasks = [task for steps in self.steps for block in batch for task in self._tasks(steps, block)]
        numerators = [side.values([lowered[i] for _, _, lowered in tasks]) for i, side in enumerate(self.sides)]
        parts: dict[tuple[tuple[int, ...], Policies], tuple[list[list[Block]], list[tuple[Floats, ...]]]] = {}
        known: dict[object, list[Block]] = {}
        for (steps, block, lowered), *values in zip(tasks, *numerators, strict=True):
            if any(each is None for each in values):
                continue
            part = steps, self._policies(steps[0], lowered)
            key = part, *(each.tobytes() for each in values)
            if key not in known:
                blocks, several = parts.setdefault(part, ([], []))
                blocks.append(known.setdefault(key, []))
                several.append(tuple(values))
            known[key].append(block)
        for (steps, policies), (blocks, several) in parts.items():
            if policies.blocks:
                arrays = [np.stack(each) for each in zip(*several, strict=True)]
                yield Groups(blocks, arrays, policies, self._cutoffs(steps))

    def _tasks(self, steps: list[int], block: Block) -> Iterator[tuple[tuple[int, ...], Block, list[Lowered]]]:
        """Lower the conventions of a block at steps that are alike, one by one where a value depends on k itself."""
        fields = {name: values[0] for name, values in block.items()}
        first = self._lowered(fields, steps[0])
        if not first or len(steps) == 1 or plan_keys(first) == plan_keys(self._lowered(fields, steps[-1])):
            parts = [tuple(steps)] if first else []
        else:
            parts = [(step,) for step in steps]
        for part in parts:
            lowered = first if part[0] == steps[0] else self._lowered(fields, part[0])
            if lowered:
                yield part, block, lowered

    def _lowered(self, fields: dict[str, Any], step: int) -> list[Lowered]:
        """Lower a convention for each data set; nothing where it is refused, or another spelling of one in the grid."""
        found: list[Lowered] = []
        conventions: dict[int | None, Convention] = {}
        try:
            for side in self.sides:
                k = side.cutoffs[step] if "k" in self.base.fields() else None
                if k not in conventions:
                    cut = {"k": k} if "k" in self.base.fields() else {}
                    conventions[k] = self.base.replace(**fields, **cut)
                convention = conventions[k]
                if not found and any(getattr(convention, name) != value for name, value in fields.items()):
                    return []
                found.append((convention, convention.lower(side.binding)))
        except (ConventionError, InputError):
            return []
        return found

    def _policies(self, step: int, lowered: list[Lowered]) -> Policies:
        arrays = ((plan.retrieved.sizes, plan.empty, getattr(plan, "mass", None)) for _, plan in lowered)
        key = step, *(array if array is None else array.tobytes() for several in arrays for array in several)
        if key not in self.decisions:
            self.decisions[key] = Policies(self.policies, lowered, [side.binding for side in self.sides])
        return self.decisions[key]


def _order(side: _Side, plan: RankedPlan, borders: list[float]) -> object:
    """Name the order of scores and borders in the precision of a plan; None where a score is beyond it."""
    scores = side.scores
    compared = comparable_scores(plan.ranking, scores)
    if (np.isinf(compared) & np.isfinite(scores)).any():
        return None
    values = np.append(compared.astype(np.float64), borders)
    return plan.ranking.tied, np.unique(values, return_inverse=True)[1].tobytes()


def _base(measure: type[Convention], grid: Block) -> Convention | None:
    """Return a convention of the grid that refuses no query, with the first average that its pool has."""
    k = {"k": None} if "k" in measure.fields() else {}
    first = {name: next((v for v in values if v != REFUSAL), REFUSAL) for name, values in grid.items()}
    for average in grid["average"]:
        with suppress(ConventionError):
            return measure(**{**k, **first, "average": average})
    return None
