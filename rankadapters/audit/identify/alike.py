"""Values of a field that cannot be told apart on given rows, whatever the scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.audit.field_grid import Values
from rankadapters.core.binding.lowering import Bound
from rankadapters.core.binding.plans import Plan, RankedPlan, WholePlan
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.evaluation.members import Member


def lowered(base: Convention, bound: Bound, name: str, values: Iterable[Any]) -> tuple[dict[Any, Plan], dict[Any, str]]:
    """Plan of a convention under each value of a field, and why some values have none on these labels."""
    found: dict[Any, Plan] = {}
    refused: dict[Any, str] = {}
    for value in values:
        try:
            found[value] = base.replace(**{name: value}).lower(bound)
        except ConventionError:  # it does not go together with the other fields
            continue
        except InputError as error:
            refused[value] = str(error).partition("\n")[0]
    return found, refused


def classes(plans: dict[Any, Plan]) -> list[Values]:
    """Put together the values whose plans are the same."""
    found: dict[object, list[Any]] = {}
    for value, plan in plans.items():
        found.setdefault(plan_key(plan), []).append(value)
    return [tuple(values) for values in found.values()]


def keys_of(plan: Plan) -> object:
    """Name the columns that the rows of a plan bring."""
    return tuple(column.key for column in plan.columns.values()) if isinstance(plan, RankedPlan) else plan.kernel


def plan_key(plan: Plan) -> object:
    """Name all that a plan computes with: plans of equal keys give equal values for any scores."""
    return plan.kernel, *plan.options.values(), plan.rows.order.tobytes(), *(_bytes(array) for array in _arrays(plan))


def formula_key(plan: RankedPlan) -> object:
    """Name what a plan makes of what stands at the ranks."""
    arrays = (plan.empty, *plan.by_rank.values(), *plan.by_query.values())
    return plan.kernel, *plan.options.values(), *(_bytes(array) for array in arrays)


def member_key(member: Member) -> object:
    """Name all that a bound convention computes with: members of equal keys give equal values for any scores."""
    settled, precision = member.settled, getattr(member.plan, "precision", None)
    arrays = (settled.status, settled.fixed, settled.weights, settled.divisors)
    over = (member.convention.over, member.convention.floor, precision)
    return plan_key(member.plan), over, *(_bytes(array) for array in arrays)


def _arrays(plan: Plan) -> Iterator[NDArray[Any]]:
    yield plan.rows.indptr
    yield plan.empty
    if isinstance(plan, WholePlan):
        yield from (*plan.columns.values(), *plan.offsets.values(), plan.mass)
    else:
        yield from (
            *(column.values for column in plan.columns.values()),
            *plan.by_rank.values(),
            *plan.by_query.values(),
        )


def _bytes(array: NDArray[Any]) -> bytes:
    return (array + 0.0 if array.dtype == np.float64 else array).tobytes()  # + 0.0 makes -0.0 and 0.0 one value
