"""Read the toolkits' built-in objectives, and refuse objectives that a toolkit does not have built in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from typing import Any

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, UnsupportedConventionError, choices
from rankadapters.core.measures import NDCG
from rankadapters.objectives.base import Objective, as_objective
from rankadapters.objectives.lambda_rank import LambdaRank
from rankadapters.objectives.position_bias import PositionBias, as_position_bias
from rankadapters.presets.tool import refuse_unknown, split_spec

USE_CALLABLE = "objective(value)"  # the hint for toolkits that accept a callable objective


class BuiltIns:
    """The objectives that a toolkit has built in, as functions of its parameters; `write` and `write_bias` invert them.

    `write_bias` takes a position bias and the parameters of the objective.
    """

    def __init__(
        self,
        toolkit: str,
        presets: Mapping[str, Callable[..., Objective]],
        write: Callable[[Objective], dict[str, Any]],
        write_bias: Callable[[PositionBias, Mapping[str, Any]], dict[str, Any]],
    ) -> None:
        self._toolkit, self._presets, self._write, self._write_bias = toolkit, presets, write, write_bias

    def native_objective(
        self, objective: Objective | str, *, position_bias: PositionBias | str | None = None
    ) -> dict[str, Any]:
        """Translate an objective into the toolkit's own parameters; `read_objective` reads them back.

        Parameters
        ----------
        objective : Objective or str
            The objective to train under.
        position_bias : PositionBias or str, optional
            The position bias to learn. None adds no parameters: LightGBM learns a bias whenever its Dataset has
            positions. In XGBoost, a row's position is its index in its query.

        Returns
        -------
        dict
            `objective` and its parameters. With a position bias, LightGBM's have the training's `learning_rate` too.
            XGBoost's random pairs with a `seed` are equal only from XGBoost 3.4 on, others up to 3.3.

        Raises
        ------
        ConventionError
            The value is not an objective, or has a position bias but no pairs.
        UnsupportedConventionError
            The toolkit has no equal built-in objective or position bias; the message names the fields that differ.

        Examples
        --------
        >>> from rankadapters.objectives import lightgbm
        >>> lightgbm.native_objective("lightgbm.xendcg")
        {'objective': 'rank_xendcg', 'objective_seed': 5}
        """
        value = as_objective(objective)
        bias = as_position_bias(position_bias, value)
        params = self._write(value)
        return params if bias is None else params | self._write_bias(bias, params)

    def read_objective(self, objective: str | Mapping[str, Any], **params: Any) -> Objective:
        """Return the objective of the toolkit's parameters; the inverse of `native_objective`.

        Parameters
        ----------
        objective : str or mapping
            The toolkit's name, or a result of `native_objective`.
        **params
            Parameters of the objective; those left out have the toolkit's defaults. Without `seed`, the number of the
            round seeds the random pairs of XGBoost, as in XGBoost up to 3.3.

        Raises
        ------
        ConventionError
            The toolkit has no ranking objective of this name, or the objective has no such parameter.

        Examples
        --------
        >>> from rankadapters.objectives import lightgbm
        >>> lightgbm.read_objective("lambdarank", lambdarank_norm=False).normalization
        'none'
        """
        name, options = split_spec(objective, "objective", params)
        if not isinstance(name, str) or name not in self._presets:
            msg = f"{name!r:.80} is none of {self._toolkit}'s ranking objectives {choices(self._presets)}."
            raise ConventionError(f"{msg}\nHint: '{next(iter(self._presets))}'.")
        refuse_unknown(name, options, tuple(signature(self._presets[name]).parameters))
        return self._presets[name](**options)


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
