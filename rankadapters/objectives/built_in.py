"""Whether an objective that a toolkit has built in is the one declared."""

from __future__ import annotations

from rankadapters.core.errors import ConventionError, UnsupportedConventionError
from rankadapters.core.measures import NDCG
from rankadapters.objectives.base import Objective
from rankadapters.objectives.lambdarank import LambdaRank
from rankadapters.objectives.position_bias import PositionBias


def require_native(toolkit: str, wanted: Objective, nearest: Objective) -> None:
    """Refuse an objective that differs from the nearest built-in one in anything a gradient depends on.

    Raises
    ------
    UnsupportedConventionError
        It names the fields, and what the toolkit has instead.
    """
    fields = {name: (value, getattr(nearest, name)) for name, value in wanted.to_dict().items() if name != "convention"}
    if isinstance(wanted, LambdaRank) and isinstance(nearest, LambdaRank):
        fields |= wanted.convention.diff(nearest.convention)
        if wanted.uses_weights:
            fields.pop("average", None)  # weights multiply the gradients, whatever their mean is
    found = {name: pair for name, pair in fields.items() if pair[0] != pair[1] and name not in wanted.idle}
    if found:
        wants = ", ".join(f"{name}={pair[0]}" for name, pair in found.items())
        has = ", ".join(f"{name}={pair[1]}" for name, pair in found.items())
        msg = f"{toolkit} has no built-in objective with {wants}; the nearest has {has}.\nHint: objective(value)."
        raise UnsupportedConventionError(msg)


def require_native_bias(toolkit: str, wanted: PositionBias, nearest: PositionBias) -> None:
    """Refuse a position bias that is not the one that a toolkit has built in.

    Raises
    ------
    UnsupportedConventionError
        It names what the toolkit has instead.
    """
    if wanted != nearest:
        msg = f"{toolkit} has no built-in position bias {wanted}; the nearest is {nearest}."
        raise UnsupportedConventionError(f"{msg}\nHint: objective(value, position_bias=...).")


def require_ndcg(toolkit: str, wanted: LambdaRank) -> NDCG:
    """Refuse LambdaRank for another measure than NDCG, which no toolkit has built in.

    Raises
    ------
    UnsupportedConventionError
        It names the measure.
    """
    if isinstance(wanted.convention, NDCG):
        return wanted.convention
    msg = f"{toolkit} has no built-in LambdaRank for {wanted.convention.measure}, only for ndcg."
    raise UnsupportedConventionError(f"{msg}\nHint: objective(value).")


def no_native(toolkit: str, objective: Objective, own: str) -> ConventionError:
    """Say that a toolkit has nothing of the kind."""
    msg = f"{toolkit} has no built-in {objective.kind}; its own are {own}.\nHint: objective(value)."
    return UnsupportedConventionError(msg)
