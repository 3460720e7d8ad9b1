"""Objectives for `xgb.train(obj=)` and `xgb.cv(obj=)`, and objectives as XGBoost's own parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from rankadapters import objectives
from rankadapters.callbacks.judged import Judged
from rankadapters.callbacks.objectives import Trained
from rankadapters.core.data.keywords import needs
from rankadapters.core.errors import ConventionError, InputError, UnsupportedConventionError
from rankadapters.core.presets.tool import spec_of
from rankadapters.objectives import Objective, PositionBias
from rankadapters.objectives.base import as_objective
from rankadapters.objectives.lambda_rank import NEEDED, Trading
from rankadapters.objectives.pairwise_fields import BeyondKWord, NormalizationWord
from rankadapters.xgboost.metrics import judged_of
from rankadapters.xgboost.pair_draws import TrainingDraws, other_draws, seeds_pairs

Array = NDArray[Any]

LEAST_HESSIAN = float(np.float32(1e-6))  # XGBoost's kRtEps


class ObjectiveCallback(Trained):
    """An objective for `obj=`; made by `objective` or `lambdarank`."""

    __name__ = "rankadapters"  # XGBoost asks for it in messages

    def __init__(
        self, value: Objective | str, n_threads: int | None, position_bias: PositionBias | str | None = None
    ) -> None:
        super().__init__(value, n_threads, position_bias)
        self._draws = TrainingDraws()

    def __call__(self, preds: Array, dmatrix: xgb.DMatrix) -> tuple[Array, Array]:
        """Differentiate raw margins on a DMatrix with groups."""
        if not isinstance(dmatrix, xgb.DMatrix):
            msg = (
                "XGBoost's scikit-learn estimators hand an objective no queries.\n"
                "Hint: xgb.train(params, dmatrix, obj=objective), or "
                "ra.sklearn.QueryRanker(XGBRanker()).set_params(estimator__objective=objective)."
            )
            raise InputError(msg)
        judged = judged_of(dmatrix)
        factors = _factors(judged) if self.objective.uses_weights else []
        begins = not self._training.knows(dmatrix)
        drawn = self._draws.before_training(self.objective, dmatrix) if begins else 0
        return self._training.gradients(dmatrix, judged, factors, preds, drawn=drawn)

    def replay_params(self, dmatrix: xgb.DMatrix, *, base_score: float | None = None) -> dict[str, Any]:
        """Parameters with which `xgb.train(obj=)` starts and bins as it does under a built-in objective.

        XGBoost estimates `base_score` for a built-in objective and starts a callable one from 0.5; and it takes a
        callable one for squared error, whose hessian is constant, so that `tree_method="approx"` keeps the bins of the
        first round.

        Parameters
        ----------
        dmatrix : DMatrix
            What is trained on.
        base_score : float, optional
            The one that both trainings are told. None takes XGBoost's estimate. From 3.4 on XGBoost's `mean` draws once
            for the estimate, so a training on this DMatrix that starts from it begins with the second draw.

        Returns
        -------
        dict
            `base_score`, by default the float32 Newton step from margins of 0; and `native_objective`, where there is
            one.

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
        estimate = self._estimate(dmatrix) if base_score is None else None
        self._draws.expect(dmatrix, estimate)
        return params | {"base_score": base_score if estimate is None else estimate}

    def _estimate(self, dmatrix: xgb.DMatrix) -> float:
        """Estimate `base_score` as XGBoost does."""
        start = np.zeros(dmatrix.num_row(), np.float32)
        # By a callback of its own: what this one draws at random belongs to the training.
        grad, hess = ObjectiveCallback(self.objective, self._training.n_threads)(start, dmatrix)
        # XGBoost adds one by one in float64, where numpy's sum would add by halves.
        total_grad, total_hess = (np.cumsum(array, dtype=np.float64)[-1] for array in (grad, hess))
        return float(np.float32(-total_grad / max(total_hess, LEAST_HESSIAN)))


@needs(objective="'xgboost.ndcg', or another objective")
def objective(
    objective: Objective | str, *, position_bias: PositionBias | str | None = None, n_threads: int | None = None
) -> ObjectiveCallback:
    """Make an objective for `obj=` of `xgb.train` and `xgb.cv`.

    Called directly as `obj(preds, dmatrix)` it gives `grad, hess`. Query weights multiply, divided by their mean as in
    XGBoost, unless the objective's convention says `average="uniform"`.

    A built-in objective is replayed to the last bit with `obj.replay_params(dmatrix)` among the parameters. Without
    them XGBoost starts a callable objective from a `base_score` of 0.5 and its own from an estimate, so that margins
    are 0.5 apart and sums round otherwise.

    Parameters
    ----------
    objective : Objective or str
        One of `ra.objectives`, or its text.
    position_bias : PositionBias or str, optional
        What is learned of the positions at which rows were shown, and taken out of the objective:
        `ra.objectives.xgboost.unbiased()`, or another, or its signature. A row's position is its place in its query.
        None models no position bias. `obj.learned_bias` is what was learned.
    n_threads : int, optional
        None takes all CPUs; the gradients are the same for any number.

    Returns
    -------
    ObjectiveCallback
        Callable. What it draws at random, and what it learns of positions, goes on from round to round on each DMatrix,
        also after pickling and in a training that continues another; it starts anew in a deep copy and after `reset()`,
        which a second training on the same DMatrix needs.

    Raises
    ------
    ConventionError
        `objective` is none, or is not one of pairs and has a position bias; or the position bias needs
        positions, which a DMatrix does not have.
    InputError
        In training: a DMatrix without group, labels changed between rounds, or predictions that are not finite; the
        message names round and row.

    Warns
    -----
    UserWarning
        In the first round of a training, where the objective is XGBoost's `mean` but XGBoost's own training would draw
        other pairs: in another release, or under another `seed` or `seed_per_iteration`. From 3.4 on also where rows,
        features or dropped trees are drawn (`subsample`, `colsample_*`, `rate_drop` and their kin), because one
        generator serves these and the pairs.

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
    made = ObjectiveCallback(objective, n_threads, position_bias)
    if made.position_bias is not None and made.position_bias.needs_positions:
        msg = f"{made.position_bias} needs positions, which a DMatrix does not have.\nHint: positions='rows'."
        raise ConventionError(msg)
    return made


@needs(**NEEDED)
def lambdarank(
    convention: Trading | str,
    *,
    truncation: int | None,
    sigma: float = 1.0,
    beyond_k: BeyondKWord = "keep",
    normalization: NormalizationWord = "xgboost",
    n_threads: int | None = None,
) -> ObjectiveCallback:
    """Make an objective of `ra.objectives.lambdarank`, with its parameters and XGBoost's doubled hessian.

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
        This release draws the pairs of `mean` otherwise, too.

    Examples
    --------
    >>> native_objective("xgboost.map")["objective"]
    'rank:map'
    """
    value = as_objective(objective)
    params = objectives.xgboost.native_objective(value, position_bias=position_bias)
    draws = other_draws(value)
    if draws:
        raise UnsupportedConventionError(draws)
    return params


def read_objective(objective: str | Mapping[str, Any], **params: Any) -> Objective:
    """Read what this release of XGBoost trains under, as `ra.objectives.xgboost.read_objective` does.

    From 3.4 on, pairs of `mean` are seeded by the parameter `seed`, which is 0 where it is left out; before, it seeds
    no pairs.

    Examples
    --------
    >>> read_objective(native_objective("xgboost.ndcg")) == objectives.xgboost.ndcg()
    True
    """
    name, options = spec_of(objective, "objective", params)
    seed = {"seed": options.get("seed", 0) if seeds_pairs() else None}
    return objectives.xgboost.read_objective(name, **options | seed)


def _factors(judged: Judged) -> list[Any]:
    """Each row's query weight, then the one number by which XGBoost divides weights by their mean."""
    if judged.weights is None:
        return []
    total = float(np.sum(judged.weights, dtype=np.float64))
    if not total > 0:
        msg = f"the DMatrix's weights add up to {total:g}.\nHint: some query needs a weight above 0."
        raise InputError(msg)
    return [np.repeat(judged.weights, judged.group_sizes), judged.weights.size / total]
