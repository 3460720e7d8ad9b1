"""What the toolkits' built-in objectives share: how one is read, and whether it is the one declared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from typing import Any

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, UnsupportedConventionError, choices
from rankadapters.core.measures import NDCG
from rankadapters.core.presets.tool import no_others, spec_of
from rankadapters.objectives.base import Objective
from rankadapters.objectives.lambda_rank import LambdaRank
from rankadapters.objectives.position_bias import PositionBias

OURS = "objective(value)"  # the hint of toolkits that take a callable


def read_built_in(
    toolkit: str,
    presets: Mapping[str, Callable[..., Objective]],
    objective: str | Mapping[str, Any],
    params: Mapping[str, Any],
) -> Objective:
    """Read an objective in a toolkit's own words, as its `native_objective` writes it."""
    name, options = spec_of(objective, "objective", params)
    if not isinstance(name, str) or name not in presets:
        msg = f"{name!r:.80} is none of {toolkit}'s ranking objectives {choices(presets)}."
        raise ConventionError(f"{msg}\nHint: '{next(iter(presets))}'.")
    no_others(name, options, tuple(signature(presets[name]).parameters))
    return presets[name](**options)


def require_native(
    toolkit: str, wanted: Objective, nearest: Objective, *, ignored: Iterable[str] = (), hint: str = OURS
) -> None:
    """Refuse an objective that differs from the nearest built-in one in anything a gradient depends on."""
    fields = wanted.diff(nearest)
    mine, theirs = fields.pop("convention", (None, None))
    if isinstance(mine, Convention) and isinstance(theirs, Convention):
        fields |= mine.diff(theirs)
        if wanted.uses_weights and nearest.uses_weights:
            fields.pop("average", None)  # weights multiply the gradients, whatever their mean is
    left_out = {*ignored, *wanted.idle}
    different = {name: pair for name, pair in fields.items() if name not in left_out}
    if different:
        wants, has = (", ".join(f"{name}={pair[side]}" for name, pair in different.items()) for side in (0, 1))
        msg = f"{toolkit} has no built-in objective with {wants}; the nearest has {has}.\nHint: {hint}."
        raise UnsupportedConventionError(msg, nearest=nearest)


def require_native_bias(toolkit: str, wanted: PositionBias, nearest: PositionBias) -> None:
    """Refuse a position bias that is not the one that a toolkit has built in."""
    if wanted != nearest:
        msg = f"{toolkit} has no built-in position bias {wanted}; the nearest is {nearest}."
        raise UnsupportedConventionError(f"{msg}\nHint: objective(value, position_bias=...).")


def require_ndcg(toolkit: str, wanted: LambdaRank) -> NDCG:
    """Refuse LambdaRank for another measure than NDCG, which no toolkit has built in."""
    if isinstance(wanted.convention, NDCG):
        return wanted.convention
    msg = f"{toolkit} has no built-in LambdaRank for {wanted.convention.measure}, only for ndcg."
    raise UnsupportedConventionError(f"{msg}\nHint: {OURS}.")


def no_native(toolkit: str, objective: Objective, own: Iterable[str], hint: str = OURS) -> ConventionError:
    """Return the error for an objective of which a toolkit has no kind."""
    msg = f"{toolkit} has no built-in {objective.kind}; its own are {choices(own)}.\nHint: {hint}."
    return UnsupportedConventionError(msg)
