"""Read the toolkits' built-in objectives, and refuse objectives that a toolkit does not have built in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from typing import Any

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, UnsupportedConventionError, choices
from rankadapters.core.measures import NDCG
from rankadapters.objectives.base import Objective
from rankadapters.objectives.lambda_rank import LambdaRank
from rankadapters.objectives.position_bias import PositionBias
from rankadapters.presets.tool import refuse_unknown, split_spec

USE_CALLABLE = "objective(value)"  # the hint for toolkits that accept a callable objective


def read_built_in(
    toolkit: str,
    presets: Mapping[str, Callable[..., Objective]],
    objective: str | Mapping[str, Any],
    params: Mapping[str, Any],
) -> Objective:
    """Return the objective that a toolkit trains for this name and these parameters; inverse of `native_objective`."""
    name, options = split_spec(objective, "objective", params)
    if not isinstance(name, str) or name not in presets:
        msg = f"{name!r:.80} is none of {toolkit}'s ranking objectives {choices(presets)}."
        raise ConventionError(f"{msg}\nHint: '{next(iter(presets))}'.")
    refuse_unknown(name, options, tuple(signature(presets[name]).parameters))
    return presets[name](**options)


def require_native(
    toolkit: str, objective: Objective, nearest: Objective, *, ignored: Iterable[str] = (), hint: str = USE_CALLABLE
) -> None:
    """Refuse an objective that differs from the nearest built-in one in a field that gradients depend on."""
    fields = objective.diff(nearest)
    convention, nearest_convention = fields.pop("convention", (None, None))
    if isinstance(convention, Convention) and isinstance(nearest_convention, Convention):
        fields |= convention.diff(nearest_convention)
        if objective.uses_weights and nearest.uses_weights:
            fields.pop("average", None)  # every weighted average multiplies gradients by the weights
    left_out = {*ignored, *objective.idle}
    different = {name: pair for name, pair in fields.items() if name not in left_out}
    if different:
        wants, has = (", ".join(f"{name}={pair[side]}" for name, pair in different.items()) for side in (0, 1))
        msg = f"{toolkit} has no built-in objective with {wants}; the nearest has {has}.\nHint: {hint}."
        raise UnsupportedConventionError(msg, nearest=nearest)


def require_native_bias(toolkit: str, position_bias: PositionBias, nearest: PositionBias) -> None:
    """Refuse a position bias that differs from the toolkit's built-in one."""
    if position_bias != nearest:
        msg = f"{toolkit} has no built-in position bias {position_bias}; the nearest is {nearest}."
        raise UnsupportedConventionError(f"{msg}\nHint: objective(value, position_bias=...).")


def require_ndcg(toolkit: str, objective: LambdaRank) -> NDCG:
    """Return the NDCG convention; refuse other measures, for which the toolkit has no built-in LambdaRank."""
    if isinstance(objective.convention, NDCG):
        return objective.convention
    msg = f"{toolkit} has no built-in LambdaRank for {objective.convention.measure}, only for ndcg."
    raise UnsupportedConventionError(f"{msg}\nHint: {USE_CALLABLE}.")


def no_native(toolkit: str, objective: Objective, names: Iterable[str], hint: str = USE_CALLABLE) -> ConventionError:
    """Return the error for an objective that the toolkit does not have built in."""
    msg = f"{toolkit} has no built-in {objective.kind}; its own are {choices(names)}.\nHint: {hint}."
    return UnsupportedConventionError(msg)
