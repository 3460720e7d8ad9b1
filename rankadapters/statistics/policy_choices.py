"""Every choice of the policies for missing, short and empty queries and for the average, as arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import Plan, WholePlan
from rankadapters.core.binding.policies import PolicyDecisions, Sizes, decide_policies
from rankadapters.core.data.columns import Floats
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.kernels import COMPUTE, FIXED, SKIP
from rankadapters.statistics.grid import REFUSAL, Block, merged

POLICIES = ("short", "missing", "empty", "average")  # the fields that `decide_policies` reads

Lowered = tuple[Convention, Plan]


class Policies:
    """The choices of the policies that differ on given data, for plans of the same empty queries.

    Parameters
    ----------
    values : dict of str to tuple
        The values of each policy.
    lowered : sequence of (Convention, Plan)
        A convention with its plan on each data set.
    bindings : sequence of Binding
        The queries of each data set.

    Attributes
    ----------
    blocks : list of list of Block
        The policies of each choice.
    decisions : list of list of PolicyDecisions
        What each choice decides on each data set.
    """

    def __init__(self, values: Block, lowered: Sequence[Lowered], bindings: Sequence[Binding]) -> None:
        self._lowered, self._bindings, first = lowered, bindings, lowered[0][0]
        numbers = [value for value in values.get("empty", ()) if isinstance(value, float)]
        # An empty query that counts 0 is alike under every average, and would hide that averages differ.
        concerned = {"empty": max(numbers)} if numbers else {}
        alike: dict[object, list[Block]] = {}
        self.decisions: list[list[PolicyDecisions]] = []
        axes = {name: self._axis(name, _spelled(first, concerned, name, values[name]), concerned) for name in values}
        for chosen in product(*axes.values()):
            block = dict(zip(axes, chosen, strict=True))
            decisions = self._settle({name: _first(several) for name, several in block.items()})
            if decisions and (key := tuple(map(_key, decisions))) not in alike:
                self.decisions.append(decisions)
                alike[key] = []
            if decisions:
                alike[key].append(block)
        self.blocks = [merged(several) for several in alike.values()]
        self._arrays = [self._of_data(number) for number in range(len(lowered))]

    def means(self, data: int, values: Floats) -> Floats:
        """Return the value under each choice on a data set, shape (n_values, n_choices); NaN where there is none.

        Parameters
        ----------
        values : float64 array, shape (n_values, n_queries)
            Numerators of the queries before any policy.
        """
        weights, fixed, divisors = self._arrays[data]
        convention = self._lowered[data][0]
        means: Floats = (values @ weights.T + fixed) / divisors
        if type(convention).link is not Convention.link:
            means = np.vectorize(convention.link, otypes=[float])(means)
        return means

    def key(self, choice: int, data: int, values: Floats) -> object:
        """Name the values of all queries under a choice, and how they enter the mean."""
        decisions, decided = self.decisions[choice][data], values.copy()
        decisions.decide(decided)
        arrays = (decided + 0.0, np.where(decisions.status == SKIP, 0.0, decisions.weights), decisions.divisors)
        return hashlib.blake2b(b"".join(array.tobytes() for array in arrays), digest_size=16).digest()

    def _axis(self, name: str, values: tuple[Any, ...], concerned: dict[str, Any]) -> list[tuple[Any, ...]]:
        """Return the values one by one, or all together where they concern no query."""
        decisions = [self._settle({**concerned, name: value}) for value in values]
        alike = len({tuple(map(_key, each)) for each in decisions}) == 1
        return [values] if alike and all(decisions) else [(value,) for value in values]

    def _settle(self, fields: dict[str, Any]) -> list[PolicyDecisions]:
        """Apply policies to each data set; nothing where they are refused."""
        try:
            return [
                decide_policies(
                    convention.replace(**fields),
                    binding.queries,
                    Sizes(plan.retrieved.sizes, binding.judged.sizes, plan.empty),
                    plan.mass if isinstance(plan, WholePlan) and plan.pooled else None,
                )
                for (convention, plan), binding in zip(self._lowered, self._bindings, strict=True)
            ]
        except (ConventionError, InputError):
            return []

    def _of_data(self, data: int) -> tuple[Floats, Floats, Floats]:
        """Weights of the queries that are computed, the sum of the others, and the divisor, by choice."""
        several = [decisions[data] for decisions in self.decisions]
        n_queries = self._bindings[data].queries.n_queries
        weights = np.array([np.where(s.status == COMPUTE, s.weights, 0.0) for s in several]).reshape(-1, n_queries)
        fixed = np.array([float(np.sum(s.weights * s.fixed, where=s.status == FIXED)) for s in several])
        return weights, fixed, np.array([float(s.divisors.sum()) for s in several])


def _spelled(convention: Convention, concerned: dict[str, Any], name: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the values that the convention does not spell otherwise."""
    found = []
    for value in values:
        try:
            changed = convention.replace(**{**concerned, name: value})
        except ConventionError:
            continue
        if getattr(changed, name) == value:
            found.append(value)
    return tuple(found)


def _first(values: tuple[Any, ...]) -> Any:
    """Return the first value that refuses no query, or else the refusal."""
    return next((value for value in values if value != REFUSAL), REFUSAL)


def _key(decisions: PolicyDecisions) -> bytes:
    arrays = (decisions.status, decisions.fixed + 0.0, decisions.weights, decisions.divisors)
    return b"".join(array.tobytes() for array in arrays)
