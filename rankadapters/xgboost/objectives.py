"""Objectives for `xgb.train(obj=)` and `xgb.cv(obj=)`, and translation into XGBoost's own parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xgboost as xgb

from rankadapters import objectives
from rankadapters.callbacks.arguments import refuse_other_toolkit, refused_as_scorer
from rankadapters.callbacks.dataset_columns import DatasetColumns
from rankadapters.callbacks.objectives import ToolkitObjective
from rankadapters.core.declaration.guesses import LAMBDARANK, shows_call
from rankadapters.core.errors import ConventionError, InputError, UnsupportedConventionError
from rankadapters.objectives import Objective, PositionBias
from rankadapters.objectives.base import as_objective
from rankadapters.objectives.lambda_rank import Trading
from rankadapters.objectives.pairwise import BY_ROUND, BeyondKWord, NormalizationWord
from rankadapters.presets.tool import split_spec
from rankadapters.xgboost.metrics import columns_of

LEAST_HESSIAN = float(np.float32(1e-6))  # lower bound of a sum of hessians; XGBoost's kRtEps
SEEDING = (3, 4)  # the first XGBoost release whose parameter `seed` seeds the random pairs of `mean`


class ObjectiveCallback(ToolkitObjective):
    """An objective for XGBoost's `obj=`; made by `objective` or `lambdarank`."""

    __name__ = "rankadapters"  # XGBoost uses the name in messages

    def __call__(self, preds: Any, dmatrix: Any, *labels: Any) -> Any:
        """Return gradients and hessians for raw margins; the DMatrix needs groups."""
        del labels  # which a search of scikit-learn passes
        if (refused := refused_as_scorer(preds)) is not None:
            return refused
        refuse_other_toolkit("xgboost", "objective", preds, dmatrix)
        if not isinstance(dmatrix, xgb.DMatrix):
            raise InputError(
                "XGBoost's scikit-learn estimators do not pass queries to an objective.",
                hint="xgb.train(params, dmatrix, obj=objective), or "
                "ra.sklearn.QueryRanker(XGBRanker()).set_params(estimator__objective=objective); LGBMRanker "
                "takes ra.lightgbm.objective(...)",
            )
        columns = columns_of(dmatrix)
        factors = _factors(columns) if self.objective.uses_weights else []
        return self.gradients(dmatrix, columns, factors, preds)

    def replay_params(self, dmatrix: xgb.DMatrix, *, base_score: float | None = None) -> dict[str, Any]:
        """Return parameters that give `xgb.train(obj=)` the base score and feature bins of a built-in objective.

        XGBoost estimates `base_score` for a built-in objective, and starts a callable objective from 0.5. It also
        assumes a constant hessian for a callable objective, as for squared error, so `tree_method="approx"` keeps the
        bins of the first round.

        Parameters
        ----------
        dmatrix : DMatrix
            The training set.
        base_score : float, optional
            The `base_score` of both trainings. None uses XGBoost's estimate. From 3.4 on a replay of XGBoost's `mean`
            needs a number: XGBoost draws pairs for the estimate too, so its first round uses the second draw.

        Returns
        -------
        dict
            `base_score`, by default the float32 Newton step from margins of 0; and the parameters of
            `native_objective`, if there is one.

        Raises
        ------
        InputError
            `base_score` is None, but XGBoost would draw pairs for its estimate.

        References
        ----------
        XGBoost 3.2.0, src/objective/init_estimation.cc, `FitIntercept::InitEstimation`; src/tree/fit_stump.cc;
        src/tree/updater_approx.cc. Run with 3.1.2, 3.2.0, 3.3.0 and 3.4.1: the same estimate, and the same predictions.

        Examples
        --------
        >>> import numpy as np, rankadapters as ra, xgboost as xgb
        >>> rng = np.random.default_rng(0)
        >>> data = xgb.DMatrix(rng.random((60, 3)), label=rng.integers(0, 3, 60), qid=np.repeat([0, 1], 30))
        >>> objective = ra.xgboost.objective(ra.objectives.xgboost.pairwise())
        >>> params = objective.replay_params(data)
        >>> params["objective"], abs(params["base_score"]) < 1e-6
        ('rank:pairwise', True)
        """
        try:
            params = native_objective(self.objective)
        except UnsupportedConventionError:
            params = {}
        if base_score is None:
            if params and self.objective.to_dict().get("seed", BY_ROUND) != BY_ROUND:
                msg = "base_score=None cannot replay `mean`: XGBoost's first round uses the second draw of pairs."
                hint = "replay_params(dmatrix, base_score=0.5), or XGBRanker(base_score=0.5) in QueryRanker"
                raise InputError(msg, hint=hint)
            base_score = self._estimate(dmatrix)
        return params | {"base_score": base_score}

    def _estimate(self, dmatrix: xgb.DMatrix) -> float:
        """Return XGBoost's estimate of `base_score`."""
        start = np.zeros(dmatrix.num_row(), np.float32)
        # A separate callback, so that the estimate uses up no random numbers of the training.
        grad, hess = ObjectiveCallback(self.objective, self._n_threads)(start, dmatrix)
        # XGBoost sums in row order in float64, as cumsum does; numpy's sum adds pairwise.
        total_grad, total_hess = (np.cumsum(array, dtype=np.float64)[-1] for array in (grad, hess))
        return float(np.float32(-total_grad / max(total_hess, LEAST_HESSIAN)))


def objective(
    objective: Objective | str, *, position_bias: PositionBias | str | None = None, n_threads: int | None = None
) -> ObjectiveCallback:
    """Make an objective for `obj=` of `xgb.train` and `xgb.cv`.

    Called directly as `obj(preds, dmatrix)`, it returns `grad, hess`. Query weights, divided by their mean as in
    XGBoost, multiply the gradients, unless the objective's convention says `average="uniform"`.

    To get the same bits as a built-in objective, add `obj.replay_params(dmatrix)` to the parameters. Without them,
    XGBoost starts a callable objective from a `base_score` of 0.5 but its own objective from an estimate. Margins then
    differ by up to 0.5 and sums round differently.

    Parameters
    ----------
    objective : Objective or str
        An objective of `ra.objectives`, or its text.
    position_bias : PositionBias or str, optional
        The position bias to learn and to remove from the gradients: `ra.objectives.xgboost.unbiased()`, any other, or a
        signature. A row's position is its index in its query. None learns no bias. `obj.learned_bias` is the result.
    n_threads : int, optional
        None uses all CPUs. The gradients are the same for any number.

    Returns
    -------
    ObjectiveCallback
        A callable. Its random draws and its position bias continue from round to round on each DMatrix, also in a
        training that continues an earlier one. They start anew in a pickle or deep copy, and after `reset()`, which a
        second training on the same DMatrix needs.

    Raises
    ------
    ConventionError
        `objective` is not an objective, or has a position bias but no pairs; or the position bias needs positions,
        which a DMatrix does not have.
    InputError
        In training: the DMatrix has no group, labels changed between rounds, or predictions are not finite. The message
        names round and row.

    Notes
    -----
    XGBoost's `mean` draws its pairs at random, and its own training draws different pairs than ours in a different
    release, and under a different `seed` or `seed_per_iteration`. From 3.4 on also if rows, features or dropped trees
    are random (`subsample`, `colsample_*`, `rate_drop` and similar), because they share a generator with the pairs.

    References
    ----------
    XGBoost 3.2.0, python-package: `core.Booster.update`. XGBoost 3.4.1, src/objective/lambdarank_obj.cc,
    `LambdaRankObj::GetGradient`; src/learner.cc, `LearnerImpl::UpdateOneIter`, for the generator.

    Examples
    --------
    >>> import numpy as np, rankadapters as ra, xgboost as xgb
    >>> rng = np.random.default_rng(0)
    >>> data = xgb.DMatrix(rng.random((60, 3)), label=rng.integers(0, 3, 60), qid=np.repeat([0, 1], 30))
    >>> params = {"max_depth": 2, "nthread": 1}
    >>> objective = ra.xgboost.objective(ra.objectives.xgboost.ndcg())
    >>> ours = xgb.train(params | objective.replay_params(data), data, 3, obj=objective)
    >>> built_in = xgb.train(params | {"objective": "rank:ndcg"}, data, 3)
    >>> bool((ours.predict(data) == built_in.predict(data)).all())
    True
    """
    callback = ObjectiveCallback(objective, n_threads, position_bias)
    if callback.position_bias is not None and callback.position_bias.needs_positions:
        msg = f"{callback.position_bias} needs positions, which a DMatrix does not have."
        raise ConventionError(msg, hint="positions='rows'")
    return callback


@shows_call(LAMBDARANK["xgboost"])
def lambdarank(
    convention: Trading | str,
    *,
    truncation: int | None,
    sigma: float = 1.0,
    beyond_k: BeyondKWord = "keep",
    normalization: NormalizationWord = "xgboost",
    n_threads: int | None = None,
) -> ObjectiveCallback:
    """Make an objective callback from `ra.objectives.lambdarank`, with XGBoost's doubled hessian.

    Examples
    --------
    >>> import rankadapters as ra
    >>> ra.xgboost.lambdarank(ra.presets.letor4(10), truncation=30).objective.normalization
    'xgboost'
    """
    value = objectives.lambdarank(
        convention, truncation=truncation, sigma=sigma, beyond_k=beyond_k, normalization=normalization,
        hessian="doubled",
    )  # fmt: skip
    return ObjectiveCallback(value, n_threads)


def native_objective(objective: Objective | str, *, position_bias: PositionBias | str | None = None) -> dict[str, Any]:
    """Translate an objective into XGBoost's own parameters, as `ra.objectives.xgboost.native_objective` does.

    Raises
    ------
    UnsupportedConventionError
        As there, or because this XGBoost release draws the pairs of `mean` differently.

    Examples
    --------
    >>> native_objective("xgboost.map")["objective"]
    'rank:map'
    """
    value = as_objective(objective)
    params = objectives.xgboost.native_objective(value, position_bias=position_bias)
    _refuse_other_draws(value)
    return params


def read_objective(objective: str | Mapping[str, Any], **params: Any) -> Objective:
    """Return the objective that the installed XGBoost release optimizes under these parameters.

    This is `ra.objectives.xgboost.read_objective`, except that from 3.4 on the parameter `seed` (0 by default) seeds
    the pairs of `mean`. Up to 3.3 it does not.

    Examples
    --------
    >>> read_objective(native_objective("xgboost.ndcg")) == objectives.xgboost.ndcg()
    True
    """
    name, options = split_spec(objective, "objective", params)
    seed = {"seed": options.get("seed", 0) if _seeds_pairs() else None}
    return objectives.xgboost.read_objective(name, **options | seed)


def _factors(columns: DatasetColumns) -> list[Any]:
    """Return the factors that multiply the gradients: each row's query weight, and 1 / mean query weight."""
    if columns.weights is None:
        return []
    total = float(np.sum(columns.weights, dtype=np.float64))
    if not total > 0:
        raise InputError(f"the DMatrix's weights add up to {total:g}.", hint="some query needs a weight above 0")
    return [np.repeat(columns.weights, columns.group_sizes), columns.weights.size / total]


def _seeds_pairs() -> bool:
    """Return whether the installed XGBoost seeds the random pairs of `mean` by its parameter `seed`."""
    major, minor, *_ = xgb.__version__.split(".")
    return (int(major), int(minor)) >= SEEDING


def _refuse_other_draws(value: Objective) -> None:
    """Refuse an objective that samples other pairs of `mean` than the installed XGBoost."""
    fields = value.to_dict()
    if fields.get("samples") is None or (fields["seed"] != BY_ROUND) == _seeds_pairs():
        return
    if _seeds_pairs():
        way = "it seeds them by the parameter `seed`, and not by the round as up to 3.3"
        hint = "value.replace(seed=0), or the `seed` of your parameters; 0 is XGBoost's default"
    else:
        way = f"it seeds them by the round, and not by seed={fields['seed']} as from 3.4 on"
        hint = f"value.replace(seed={BY_ROUND!r})"
    msg = f"XGBoost {xgb.__version__} draws the pairs of `mean` differently: {way}."
    raise UnsupportedConventionError(msg, hint=hint)
