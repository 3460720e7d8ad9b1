"""Arrays for every combination of the fields `missing`, `short`, `empty` and `average`."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from rankadapters.core.arrays import Floats
from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import Plan
from rankadapters.core.binding.policies import COMPUTE, SKIP, PolicyDecisions, Sizes, decide_policies
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.statistics.grid import REFUSAL, Block, merged

POLICIES = ("short", "missing", "empty", "average")  # fields that `decide_policies` reads

Lowered = tuple[Convention, Plan]


class Policies:
    """The combinations of policy values with different effects on the data, for plans with the same empty queries.

    Parameters
    ----------
    values : dict of str to tuple
        The values of each policy.
    lowered : sequence of (Convention, Plan)
        For each data set, a convention and its plan.
    bound : sequence of (Binding, list of slice)
        The bound queries of each data set, and the queries of each of its parts.

    Attributes
    ----------
    blocks : list of list of Block
        The policy values of each choice.
    decisions : list of list of PolicyDecisions
        The decisions of each choice on each data set.
    """

    def __init__(self, values: Block, lowered: Sequence[Lowered], bound: Sequence[tuple[Binding, list[slice]]]) -> None:
        self._lowered, self._bindings, first = lowered, [binding for binding, _ in bound], lowered[0][0]
        self._parts = [parts for _, parts in bound]
        numbers = [value for value in values.get("empty", ()) if isinstance(value, float)]
        # With the value 0, empty queries add nothing to any average, so that different averages could look equal.
        example = {"empty": max(numbers)} if numbers else {}
        alike: dict[object, list[Block]] = {}
        self.decisions: list[list[PolicyDecisions]] = []
        self._of_nothing: list[float] = []  # for each choice, the value of a pooled part without any mass
        axes = {name: self._axis(name, _accepted(first, example, name, values[name]), example) for name in values}
        for combination in product(*axes.values()):
            block = dict(zip(axes, combination, strict=True))
            fields = {name: _first(field_values) for name, field_values in block.items()}
            decisions = self._decide(fields)
            if decisions and (key := self._key_of(fields, decisions)) not in alike:
                self.decisions.append(decisions)
                self._of_nothing.append(self._value_of_nothing(fields, decisions))
                alike[key] = []
            if decisions:
                alike[key].append(block)
        self.blocks = [merged(blocks) for blocks in alike.values()]
        self._arrays = [self._of_data(number) for number in range(len(lowered))]

    def means(self, data: int, values: Floats) -> Floats:
        """Return the means on a data set, shape (n_values, n_choices, n_parts); NaN where a choice has no value.

        Parameters
        ----------
        values : float64 array, shape (n_values, n_queries)
            The queries' numerators before any policy applies.
        """
        weights, fixed, divisors = self._arrays[data]
        convention = self._lowered[data][0]
        sums = np.stack([values[:, part] @ weights[:, part].T for part in self._parts[data]], axis=-1)
        of_nothing = np.array(self._of_nothing)[:, np.newaxis]
        means: Floats = np.where(divisors == 0, of_nothing, (sums + fixed) / divisors)
        if type(convention).link is not Convention.link:
            means = np.vectorize(convention.link, otypes=[float])(means)
        return means

    def key(self, choice: int, data: int, values: Floats) -> object:
        """Return a key of the queries' values under a choice and of their weights in the mean."""
        decisions, decided = self.decisions[choice][data], values.copy()
        decisions.decide(decided)
        arrays = (decided + 0.0, np.where(decisions.status == SKIP, 0.0, decisions.weights), decisions.divisors)
        return hashlib.blake2b(b"".join(array.tobytes() for array in arrays), digest_size=16).digest()

    def _axis(self, name: str, values: tuple[Any, ...], example: dict[str, Any]) -> list[tuple[Any, ...]]:
        """Return one group per value of a field, or a single group if the field affects no query."""
        if name == "empty" and self._lowered[0][1].pooled:  # which parts have no mass depends on the other policies
            return [(value,) for value in values]
        by_value = [self._decide({**example, name: value}) for value in values]
        alike = len({tuple(map(_key, decisions)) for decisions in by_value}) == 1
        return [values] if alike and all(by_value) else [(value,) for value in values]

    def _key_of(self, fields: dict[str, Any], decisions: list[PolicyDecisions]) -> tuple[bytes, ...]:
        """Return a key of the effects of policy values: equal keys mean equal means on every part."""
        return *map(_key, decisions), repr(self._value_of_nothing(fields, decisions)).encode()

    def _value_of_nothing(self, fields: dict[str, Any], decisions: list[PolicyDecisions]) -> float:
        """Return the value of the parts of a pooled measure that have no mass; NaN without a value, or such parts."""
        empty = fields.get("empty")
        if not (isinstance(empty, float) and self._lowered[0][1].pooled):
            return math.nan
        masses = (d.divisors[part].sum() for d, parts in zip(decisions, self._parts, strict=True) for part in parts)
        return math.nan if all(masses) else empty

    def _decide(self, fields: dict[str, Any]) -> list[PolicyDecisions]:
        """Apply policy values to each data set; return an empty list if they are refused."""
        try:
            return [
                decide_policies(
                    convention.replace(**fields),
                    binding.queries,
                    Sizes(plan.retrieved.sizes, binding.missing, plan.empty),
                    plan.mass if plan.pooled else None,
                )
                for (convention, plan), binding in zip(self._lowered, self._bindings, strict=True)
            ]
        except (ConventionError, InputError):
            return []

    def _of_data(self, data: int) -> tuple[Floats, Floats, Floats]:
        """Return the weights of evaluated queries, and each part's sum of fixed values and divisor, for each choice."""
        choices = [decisions[data] for decisions in self.decisions]
        n_queries = self._bindings[data].queries.n_queries
        weights = np.array([np.where(s.status == COMPUTE, s.weights, 0.0) for s in choices]).reshape(-1, n_queries)
        fixed = self._by_part(data, [s.weights * s.fixed for s in choices])
        return weights, fixed, self._by_part(data, [s.divisors for s in choices])

    def _by_part(self, data: int, of_choices: list[Floats]) -> Floats:
        """Return the sum of each choice's array over each part of a data set, shape (n_choices, n_parts)."""
        sums = [[array[part].sum() for part in self._parts[data]] for array in of_choices]
        return np.array(sums).reshape(-1, len(self._parts[data]))


def _accepted(convention: Convention, example: dict[str, Any], name: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the values of a field that the convention accepts and does not change in `unify`."""
    accepted = []
    for value in values:
        try:
            changed = convention.replace(**{**example, name: value})
        except ConventionError:
            continue
        if getattr(changed, name) == value:
            accepted.append(value)
    return tuple(accepted)


def _first(values: tuple[Any, ...]) -> Any:
    """Return the first value other than "error", or "error" if there is no other."""
    return next((value for value in values if value != REFUSAL), REFUSAL)


def _key(decisions: PolicyDecisions) -> bytes:
    arrays = (decisions.status, decisions.fixed + 0.0, decisions.weights, decisions.divisors)
    return b"".join(array.tobytes() for array in arrays)
