"""Read the toolkits' built-in objectives, and refuse objectives that a toolkit does not have built in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from inspect import signature
from typing import Any, ClassVar

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, UnsupportedConventionError, choices
from rankadapters.core.measures import NDCG
from rankadapters.objectives.base import Objective, as_objective
from rankadapters.objectives.lambda_rank import LambdaRank
from rankadapters.objectives.position_bias import PositionBias, as_position_bias
from rankadapters.presets.tool import refuse_unknown, split_spec


class BuiltIns(ABC):
    """The objectives that a toolkit has built in."""

    toolkit: ClassVar[str]
    presets: ClassVar[Mapping[str, Any]]  # by the toolkit's name of an objective, a function of its parameters
    key: ClassVar[str] = "objective"  # the toolkit's parameter for the name
    hint: ClassVar[str] = "objective(value)"  # what to do instead of an objective that is not built in

    @abstractmethod
    def _write(self, value: Objective) -> dict[str, Any]:
        """Return the toolkit's parameters of an objective."""

    @abstractmethod
    def _write_bias(self, bias: PositionBias, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the toolkit's parameters of a position bias, given those of the objective."""

    def _read(self, name: Any, params: Mapping[str, Any]) -> Objective:
        """Return the objective of a name and other parameters."""
        if not isinstance(name, str) or name not in self.presets:
            msg = f"{name!r:.80} is none of {self.toolkit}'s ranking objectives {choices(self.presets)}."
            raise ConventionError(msg, hint=f"'{next(iter(self.presets))}'")
        refuse_unknown(name, params, tuple(signature(self.presets[name]).parameters))
        objective: Objective = self.presets[name](**params)
        return objective

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
            positions. In XGBoost, a row's position is its index in its query. CatBoost has no position bias.

        Returns
        -------
        dict
            `objective` (in CatBoost `loss_function`) and its parameters. With a position bias, LightGBM's parameters
            include `learning_rate`, which is that of the training too. XGBoost's random pairs are equal with a `seed`
            only from XGBoost 3.4 on, and without one only up to 3.3. CatBoost's LambdaMart always comes with Newton's
            leaves and `l2_leaf_reg=0`: it has the wrong sign in both derivatives, which cancels only in a Newton step
            without regularization. Under any other setting it trains backwards.

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
        >>> from rankadapters.objectives import catboost
        >>> catboost.native_objective("catboost.query_rmse")
        {'loss_function': 'QueryRMSE'}
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
            The toolkit's name, or a result of `native_objective`. In CatBoost, a loss with any of its parameters, as in
            `loss_function=`.
        **params
            Parameters of the objective; those left out have the toolkit's defaults. Without `seed`, the number of the
            round seeds the random pairs of XGBoost, as in XGBoost up to 3.3. In CatBoost, parameters that
            `native_objective` returns with the loss; they do not change the objective.

        Returns
        -------
        Objective
            For training in any toolkit. CatBoost's LambdaMart and StochasticRank ignore group weights, so their
            conventions have `average="uniform"`. Its objectives that draw at random have `seed=0`, where CatBoost draws
            a new seed for each tree.

        Raises
        ------
        ConventionError
            The toolkit has no ranking objective of this name, with a gradient for each row; or the objective has no
            such parameter, or the toolkit refuses a value.

        Examples
        --------
        >>> from rankadapters.objectives import lightgbm
        >>> lightgbm.read_objective("lambdarank", lambdarank_norm=False).normalization
        'none'
        >>> from rankadapters.objectives import catboost
        >>> catboost.read_objective("QuerySoftMax:beta=2")
        QuerySoftMax(beta=2.0, ridge=0.01)
        """
        return self._read(*split_spec(objective, self.key, params))

    def _require_native(self, objective: Objective, nearest: Objective, *, ignored: Iterable[str] = ()) -> None:
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
            msg = f"{self.toolkit} has no built-in objective with {wants}; the nearest has {has}."
            raise UnsupportedConventionError(msg, hint=self.hint, nearest=nearest)

    def _require_native_bias(self, position_bias: PositionBias, nearest: PositionBias) -> None:
        """Refuse a position bias that differs from the toolkit's built-in one."""
        if position_bias != nearest:
            msg = f"{self.toolkit} has no built-in position bias {position_bias}; the nearest is {nearest}."
            raise UnsupportedConventionError(msg, hint="objective(value, position_bias=...)")

    def _require_ndcg(self, objective: LambdaRank) -> NDCG:
        """Return the NDCG convention; refuse other measures, for which the toolkit has no built-in LambdaRank."""
        if isinstance(objective.convention, NDCG):
            return objective.convention
        msg = f"{self.toolkit} has no built-in LambdaRank for {objective.convention.measure}, only for ndcg."
        raise UnsupportedConventionError(msg, hint=self.hint)

    def _no_native(self, objective: Objective) -> ConventionError:
        """Return the error for an objective that the toolkit does not have built in."""
        msg = f"{self.toolkit} has no built-in {objective.kind}; its own are {choices(self.presets)}."
        return UnsupportedConventionError(msg, hint=self.hint)
